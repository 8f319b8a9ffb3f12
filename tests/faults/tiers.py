"""How long the tests of faults may take, by $NEARDUP_FAULTS.

Nothing: some minutes, as part of all tests. "full": less than half an hour, by `scripts/test
--faults`. "soak": an hour of kills, by `scripts/test --soak`.
"""

from __future__ import annotations

import os
from typing import TypeVar

import pytest

VARIABLE = "NEARDUP_FAULTS"
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


only_full = pytest.mark.skipif(tier() == "", reason="at full size only")


def is_soak() -> bool:
    """Whether kill loops run for an hour."""
    return tier() == "soak"


def sized(*, usual: T, full: T) -> T:
    """A size of a test: the usual one, or the full one in the tiers that have the time."""
    return full if tier() else usual
