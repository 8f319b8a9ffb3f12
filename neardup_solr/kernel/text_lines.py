"""Lines `id text`, or of text alone, in compiled code: their ids and texts, if no line is odd.

Odd are blank lines, those with an id alone or that begin with a tab, NUL bytes, and bytes that are
no UTF-8.
"""

from __future__ import annotations

import numpy as np

from neardup_solr.kernel import compiled, inner
from neardup_solr.kernel.normal import EACH, HIGHEST, load_eight
from neardup_solr.kernel.utf8 import is_utf8

U8, U64 = np.uint8, np.uint64
N0, N1, N2, N3, N8 = U64(0), U64(1), U64(2), U64(3), U64(8)
NUL, TAB, NEWLINE, RETURN, SPACE = U8(0), U8(9), U8(10), U8(13), U8(32)
SEPARATORS, ASCII = U8(28), U8(0x80)  # the first of four control characters; what is beyond


@compiled("uint8[] bool uint8[] uint64[] uint8[] uint64[]")
def scan_lines(block, has_ids, ids, id_bounds, texts, text_bounds):
    """Read the ids and the texts of lines, or return -1 if one is odd.

    `block` (uint8) has whole lines, each with its newline. The text of line n becomes
    texts[text_bounds[n]:text_bounds[n + 1]], without carriage returns at its end, and so does its
    id, which goes up to the first blank as Python's `str.split` has it. The number of lines is
    returned. The arrays for bytes are as large as `block`, the bounds have room for a line of each
    byte, and one more.
    """
    if not is_utf8(block):
        return -1
    at, end, line = N0, U64(len(block)), 0
    id_end, text_end = N0, N0
    while at < end:
        id_bounds[line], text_bounds[line] = id_end, text_end
        last = _find_end(block, at)
        if block[last] == NUL:
            return -1
        after = last + N1
        while last > at and block[last - N1] == RETURN:
            last -= N1
        first = _skip_blanks(block, at, last)
        if first == last:  # a blank line
            return -1
        if has_ids:
            if block[at] == TAB:
                return -1
            while first < last and _blank_size(block, first) == N0:
                ids[id_end] = block[first]
                id_end += N1
                first += N1
            at = _skip_blanks(block, first, last)
            if at == last:  # an id alone
                return -1
        while at < last:
            texts[text_end] = block[at]
            text_end += N1
            at += N1
        at = after
        line += 1
    id_bounds[line], text_bounds[line] = id_end, text_end
    return line


@compiled("uint8[] uint64[] uint8[] uint64[] uint8[] uint64[]")
def join_texts(first, first_bounds, second, second_bounds, out, bounds):
    """Join texts of two columns, row by row, with a newline between them.

    `out` and `bounds` have room for both, and a newline a row.
    """
    to = N0
    bounds[0] = to
    for row in range(len(first_bounds) - 1):
        for at in range(first_bounds[row], first_bounds[row + 1]):
            out[to] = first[at]
            to += N1
        out[to] = NEWLINE
        to += N1
        for at in range(second_bounds[row], second_bounds[row + 1]):
            out[to] = second[at]
            to += N1
        bounds[row + 1] = to


@inner
def _find_end(block, at):
    """Find the next newline or NUL byte. The last byte of a block is a newline."""
    end = U64(len(block))
    while True:
        while at + N8 <= end:
            eight = load_eight(block, at)
            if (eight - EACH * (U64(NEWLINE) + N1)) & ~eight & HIGHEST != N0:
                break
            at += N8
        while block[at] > NEWLINE:
            at += N1
        if block[at] == NEWLINE or block[at] == NUL:
            return at
        at += N1


@inner
def _skip_blanks(block, at, last):
    while at < last:
        size = _blank_size(block, at)
        if size == N0:
            break
        at += size
    return at


@inner
def _blank_size(block, at):
    """Count the bytes of a blank, as `str.isspace` has it: 0 if there is none."""
    byte = block[at]
    if byte < ASCII:
        is_blank = (
            byte == SPACE
            or (byte >= TAB and byte <= RETURN)
            or (byte >= SEPARATORS and byte < SPACE)
        )
        return N1 if is_blank else N0
    if byte == U8(0xC2):
        next_byte = block[at + N1]
        return N2 if next_byte == U8(0x85) or next_byte == U8(0xA0) else N0
    if byte < U8(0xE1) or byte > U8(0xE3):
        return N0
    second, third = block[at + N1], block[at + N2]
    is_blank = (
        (byte == U8(0xE1) and second == U8(0x9A) and third == U8(0x80))
        or (byte == U8(0xE3) and second == U8(0x80) and third == U8(0x80))
        or (byte == U8(0xE2) and second == U8(0x81) and third == U8(0x9F))
        or (
            byte == U8(0xE2)
            and second == U8(0x80)
            and (third <= U8(0x8A) or third == U8(0xA8) or third == U8(0xA9) or third == U8(0xAF))
        )
    )
    return N3 if is_blank else N0
