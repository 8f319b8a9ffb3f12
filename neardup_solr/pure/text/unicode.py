"""The frozen character table of normalization 1: what each code point becomes.

Python's own tables grow with every version, and would change stored signatures; this one is that
of Unicode 14.0 for good (`scripts/unicode-table` wrote it). Code points unassigned there are kept
as they are. NFKC and case folding of assigned code points never change (Unicode's stability
policy), so those are Python's.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

# What a code point becomes, where it is not the number of a sequence (1, 2, …):
KEPT = 0  # itself
SPACE = -1
DROPPED = -2  # nothing: an invisible format character
CONTEXT = -3  # depends on its neighbours: it may compose with the one before
MARK = -4  # itself, a combining mark: in order of combining classes only
UNASSIGNED = -5  # itself

CODES = 0x110000


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """What each code point becomes: arrays of shape (0x110000,).

    `becomes` (int16) is one of the constants of this module or the number of one of `sequences`;
    `classes` (uint8) are canonical combining classes.
    """

    becomes: NDArray[np.int16]
    classes: NDArray[np.uint8]
    sequences: tuple[str, ...]

    def character(self, code: int) -> str:
        """What a folded code point becomes in a text: a string, often itself."""
        becomes = int(self.becomes[code])
        if becomes > 0:
            return self.sequences[becomes - 1]
        return {SPACE: " ", DROPPED: ""}.get(becomes, chr(code))


@cache
def table() -> Table:
    """The table of normalization 1, read once."""
    packed = files("neardup_solr.pure.text").joinpath("unicode14.bin").read_bytes()
    unpacked = zlib.decompress(packed)
    return Table(
        becomes=np.frombuffer(unpacked, dtype="<i2", count=CODES).astype(np.int16),
        classes=np.frombuffer(unpacked, dtype=np.uint8, count=CODES, offset=2 * CODES),
        sequences=tuple(unpacked[3 * CODES :].decode().split("\0")),
    )
