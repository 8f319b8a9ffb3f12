"""Named places at which a process ends itself, so that tests can see what is left.

$NEARDUP_FAILPOINT is the name of one of them, or NAME:N for the N-th time that it is reached.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import Final, Literal, get_args

Failpoint = Literal[
    "before-send",
    "after-send",
    "before-commit",
    "after-commit",
    "before-dead-letters",
    "after-dead-letters",
    "before-checkpoint",
    "after-checkpoint",
]
FAILPOINTS: Final = get_args(Failpoint)
VARIABLE: Final = "NEARDUP_FAILPOINT"
KILLED: Final = 137  # what a shell says of a process that SIGKILL ended
_reached: Counter[str] = Counter()


def reach(place: Failpoint) -> None:
    """End the process at once, and clean up nothing, if the variable names this place."""
    asked = os.environ.get(VARIABLE)
    if asked is None:
        return
    name, _, number = asked.partition(":")
    _reached[place] += 1
    if place == name and _reached[place] == int(number or 1):
        os._exit(KILLED)
