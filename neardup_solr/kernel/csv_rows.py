"""Rows of CSV in compiled code: the columns that are needed, if nothing is odd about any row.

Rows are as the csv module reads them with `strict`, but for rows without quotes, which are split at
each delimiter. Odd are rows of another width, quotes that are not closed or are followed by more,
carriage returns within a row, NUL bytes, and bytes that are no UTF-8.
"""

from __future__ import annotations

import numpy as np

from neardup_solr.kernel import compiled, inner
from neardup_solr.kernel.normal import EACH, HIGHEST, load_eight
from neardup_solr.kernel.utf8 import is_utf8

U8, U64 = np.uint8, np.uint64
N0, N1, N8 = U64(0), U64(1), U64(8)
ODD = U64(2**64 - 1)  # instead of a place
QUOTE, NEWLINE, RETURN, NUL = U8(ord('"')), U8(10), U8(13), U8(0)


@compiled("uint8[] uint8 int64[] uint8[] uint64[] uint8[] uint64[,] int64[]")
def scan_rows(block, delimiter, columns, names, name_bounds, out, bounds, begins):
    """Read the needed columns of rows, or return -1 if one is odd.

    `block` (uint8) has whole rows, each with its newline. `columns` has, for each place in a row,
    the number of the column that is read there, -1 for none. The value of column c in row n becomes
    out[bounds[c, n]:bounds[c, n + 1]], column after column, each with the room of `block`; the row
    begins in line begins[n] of the block. Rows whose first value is one of the `names`, packed with
    their bounds, are odd: they may repeat the header. The numbers of rows and of lines are
    returned. `bounds` and `begins` have room for a row of each two bytes, and one more.
    """
    if not is_utf8(block):
        return -1, -1
    at, end, row, line = N0, U64(len(block)), 0, 0
    width, count = len(columns), len(bounds)
    ends = np.empty(count, dtype=np.uint64)
    for column in range(count):
        ends[column] = U64(column) * end
    while at < end:
        if block[at] == NEWLINE:
            at += N1
            line += 1
            continue
        if block[at] == RETURN and block[at + N1] == NEWLINE:
            at += N1 + N1
            line += 1
            continue
        begins[row] = line
        for column in range(count):
            bounds[column, row] = ends[column]
        has_quote, has_return = False, False
        field, more = 0, True
        while more:
            if field == width:
                return -1, -1
            first = at
            is_quoted = block[at] == QUOTE
            if is_quoted:
                at, lines, doubled = _end_quoted(block, at + N1)
                if at == ODD:
                    return -1, -1
                line += lines
                has_quote = True
                first, last = first + N1, at - N1
            else:
                at, seen, returned = _end_plain(block, at, delimiter)
                if at == ODD:
                    return -1, -1
                has_quote, has_return = has_quote or seen, has_return or returned
                last, doubled = at, False
            more = block[at] == delimiter
            if not more:
                at = _skip_returns(block, at)
                if block[at] != NEWLINE:
                    return -1, -1
                while not is_quoted and last > first and block[last - N1] == RETURN:
                    last -= N1
            if field == 0 and _is_among(block, first, last, names, name_bounds):
                return -1, -1
            column = columns[field]
            if column >= 0:
                ends[column] = _copy(block, first, last, doubled, out, ends[column])
            at += N1
            field += 1
        if field != width or (has_quote and has_return):
            return -1, -1
        row += 1
        line += 1
    for column in range(count):
        bounds[column, row] = ends[column]
    return row, line


@inner
def _end_plain(block, at, delimiter):
    """Find the end of a value without quotes around it, at a delimiter or at the end of a line.

    Tell whether it has a quote, and a carriage return that does not end the line.
    """
    has_quote, has_return, end = False, False, U64(len(block))
    while True:
        while at + N8 <= end:
            eight = load_eight(block, at)
            # As in `json_lines`: a byte that is 13 or less, the delimiter or a quote.
            of_delimiter, of_quote = eight ^ EACH * U64(delimiter), eight ^ EACH * U64(QUOTE)
            low = eight - EACH * (U64(RETURN) + N1) | of_delimiter - EACH | of_quote - EACH
            if low & ~eight & HIGHEST != N0:
                break
            at += N8
        byte = block[at]
        while byte > RETURN and byte != delimiter and byte != QUOTE:
            at += N1
            byte = block[at]
        if byte in (delimiter, NEWLINE):
            return at, has_quote, has_return
        if byte == NUL:
            return ODD, has_quote, has_return
        if byte == QUOTE:
            has_quote = True
        elif byte == RETURN:
            after = _skip_returns(block, at)
            if block[after] == NEWLINE:
                return at, has_quote, has_return
            has_return = True
        at += N1


@inner
def _skip_returns(block, at):
    """Find what follows carriage returns. The last byte of a block is a newline."""
    while block[at] == RETURN:
        at += N1
    return at


@inner
def _end_quoted(block, at):
    """Find what follows a value in quotes, count its newlines, and tell whether it has quotes."""
    end, lines, has_quotes = U64(len(block)), 0, False
    while at < end:
        while at + N8 <= end:
            eight = load_eight(block, at)
            low = eight - EACH * (U64(NEWLINE) + N1) | (eight ^ EACH * U64(QUOTE)) - EACH
            if low & ~eight & HIGHEST != N0:
                break
            at += N8
        while at < end and block[at] > NEWLINE and block[at] != QUOTE:
            at += N1
        if at == end or block[at] == NUL:
            return ODD, lines, has_quotes
        if block[at] == QUOTE:
            at += N1
            if at == end or block[at] != QUOTE:
                return (ODD if at == end else at), lines, has_quotes
            has_quotes = True
        elif block[at] == NEWLINE:
            lines += 1
        at += N1
    return ODD, lines, has_quotes


@inner
def _is_among(block, first, last, names, bounds):
    """Tell whether block[first:last] is one of the names."""
    for name in range(len(bounds) - 1):
        start = bounds[name]
        if last - first == bounds[name + 1] - start:
            at = first
            while at < last and block[at] == names[start]:
                at += N1
                start += N1
            if at == last:
                return True
    return False


@inner
def _copy(block, first, last, doubled, out, to):
    """Copy a value, each two quotes of it as one if they are doubled, and return where it ends."""
    while first < last:
        out[to] = block[first]
        if doubled and block[first] == QUOTE:
            first += N1
        first += N1
        to += N1
    return to
