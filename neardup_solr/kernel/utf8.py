"""Bytes that are UTF-8, in compiled code."""

from __future__ import annotations

import numpy as np

from neardup_solr.kernel import inner
from neardup_solr.kernel.normal import HIGHEST, load_eight

U8, U64 = np.uint8, np.uint64
N0, N1, N2, N3, N8 = U64(0), U64(1), U64(2), U64(3), U64(8)


@inner
def is_utf8(block):
    """Tell whether bytes are UTF-8, as the Unicode Standard has it (table 3-7)."""
    at, end = N0, U64(len(block))
    while at < end:
        if block[at] < U8(0x80):
            if at + N8 <= end and load_eight(block, at) & HIGHEST == N0:
                at += N8
            else:
                at += N1
            continue
        lead = block[at]
        if lead < U8(0xC2) or lead > U8(0xF4):
            return False
        more = N1 if lead < U8(0xE0) else N2 if lead < U8(0xF0) else N3
        if at + more >= end:
            return False
        low, high = U8(0x80), U8(0xBF)  # of the byte after the first
        if lead == U8(0xE0):
            low = U8(0xA0)
        elif lead == U8(0xED):
            high = U8(0x9F)
        elif lead == U8(0xF0):
            low = U8(0x90)
        elif lead == U8(0xF4):
            high = U8(0x8F)
        if block[at + N1] < low or block[at + N1] > high:
            return False
        for offset in range(2, 4):
            if U64(offset) <= more and block[at + U64(offset)] & U8(0xC0) != U8(0x80):
                return False
        at += more + N1
    return True
