"""How much tests try, by $NEARDUP_FAULTS.

Nothing: a little of each, in `scripts/test`. "full": all, by `scripts/test --all`; the tests of
faults take half an hour then. "soak": an hour of kills, by `scripts/test --soak`.
"""

from __future__ import annotations

import os
from typing import TypeVar

VARIABLE = "NEARDUP_FAULTS"
# The places at which `neardup_solr.failpoint.stop_at` may end a process.
FAILPOINTS = (
    "before-send", "after-send", "before-commit", "after-commit", "before-dead-letters",
    "after-dead-letters", "before-checkpoint", "after-checkpoint",
)  # fmt: skip
T = TypeVar("T")


def tier() -> str:
    """The tier that was asked for: "", "full" or "soak"; another one is a ValueError."""
    named = os.environ.get(VARIABLE, "")
    if named not in ("", "full", "soak"):
        raise ValueError(f"${VARIABLE} is 'full' or 'soak', or not set, but it is {named!r}")
    return named


def is_full() -> bool:
    """Whether tests run at full size."""
    return tier() == "full"


def is_soak() -> bool:
    """Whether kill loops run for an hour."""
    return tier() == "soak"


def sized(*, usual: T, full: T) -> T:
    """A size of a test: the usual one, or the full one in the tiers that have the time."""
    return full if tier() else usual
