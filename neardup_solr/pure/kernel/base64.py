"""Rows of base64 of one length, decoded in compiled code."""

from __future__ import annotations

import numpy as np
from numba import njit

PAD = np.uint8(ord("="))


@njit(nogil=True, cache=True)
def decode_rows(characters, sixes, out):
    """Fill `out` (uint8, rows × bytes) from `characters` (uint8, rows × length); gives success.

    `sixes` (uint8, 256) has the six bits of each character, 64 and more for one that is none. A
    row that is not just the base64 of so many bytes, with padding, ends it.
    """
    size, length = out.shape[1], characters.shape[1]
    pads = length // 4 * 3 - size
    for row in range(len(out)):
        at = 0
        for four in range(0, length, 4):
            bits, bad = np.uint32(0), np.uint8(0)
            for place in range(four, four + 4):
                six = sixes[characters[row, place]]
                if place >= length - pads:
                    if characters[row, place] != PAD:
                        return False
                    six = np.uint8(0)
                bad |= six
                bits = bits << np.uint32(6) | np.uint32(six)
            if bad > 63:
                return False
            for shift in (16, 8, 0):
                if at < size:
                    out[row, at] = np.uint8(bits >> np.uint32(shift) & np.uint32(255))
                at += 1
    return True
