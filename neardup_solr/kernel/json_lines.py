"""JSON objects, one a line, in compiled code: the columns that are needed, if each is plain.

An object is not plain, and is left to a parser of JSON, if it holds another object or a list, a
key twice or with an escape, or a number with an exponent or many digits, and if it is no JSON.
It is not, either, if the bytes are no valid UTF-8.
"""

from __future__ import annotations

import numpy as np

from neardup_solr.kernel import compiled, inner
from neardup_solr.kernel.normal import EACH, HIGHEST, load, load_eight
from neardup_solr.kernel.utf8 import is_utf8

U8, U32, U64 = np.uint8, np.uint32, np.uint64
N0, N1, N2, N3, N4, N6, N8 = U64(0), U64(1), U64(2), U64(3), U64(4), U64(6), U64(8)
ODD = U64(2**64 - 1)  # instead of a place: not plain
QUOTE, BACKSLASH, COMMA, COLON = U8(ord('"')), U8(ord("\\")), U8(ord(",")), U8(ord(":"))
OPEN, CLOSED, NEWLINE, SPACE = U8(ord("{")), U8(ord("}")), U8(10), U8(32)
TAB, RETURN, MINUS, DOT, ZERO, NINE = U8(9), U8(13), U8(45), U8(46), U8(48), U8(57)
NULL, TRUE, FALSE = U32(0x6C6C756E), U32(0x65757274), U32(0x736C6166)  # four bytes each
ASCII = U8(0x80)  # the first byte beyond
ID, TEXT, KEPT, MAY_LACK = U8(0), U8(1), U8(2), U8(3)  # kinds of columns
MOST_KEYS = 32
LEAST = 8  # bytes of a line with an object that has a text
MOST_DIGITS = 18  # which fit 64 bits


@compiled("uint8[] uint8[] uint64[] uint8[] uint8[] uint64[,] uint8[]")
def scan_objects(block, names, name_bounds, kinds, out, bounds, seen):
    """Read columns of the object in each line, or return -1 if one is not plain.

    `block` (uint8) has whole lines, each with its newline. Column c is that of the key
    names[name_bounds[c]:name_bounds[c + 1]], whose value in line n becomes
    out[bounds[c, n]:bounds[c, n + 1]], column after column, each with the room of `block`. By its
    kind, it is an `ID`, a string or a whole number; a `TEXT`, which is a string; or, as JSON with a
    comma behind it, any plain value that is `KEPT`, null if the object `MAY_LACK` it. `seen`
    becomes 1 for each column that any object has. The number of lines is returned. The bounds have
    room for the most objects that the block may hold: two, and one for each `LEAST` bytes.
    """
    if not is_utf8(block):
        return -1
    count = len(kinds)
    keys = np.empty((MOST_KEYS, 2), dtype=np.uint64)
    lines = np.full(count, -1, dtype=np.int64)  # the last ones that had the column
    ends = np.empty(count, dtype=np.uint64)  # of what is written of each column
    for column in range(count):
        ends[column] = U64(column) * U64(len(block))
    at, line = N0, 0
    while at < U64(len(block)):
        for column in range(count):
            bounds[column, line] = ends[column]
        at = _read_object(block, at, line, names, name_bounds, kinds, keys, lines, out, ends)
        if at == ODD:
            return -1
        line += 1
    for column in range(count):
        bounds[column, line] = ends[column]
        seen[column] = lines[column] >= 0
    return line


@inner
def _read_object(block, at, line, names, name_bounds, kinds, keys, lines, out, ends):
    """Read one line, and give where the next one begins."""
    count = 0
    at = _skip_blanks(block, at)
    more = block[at] == OPEN
    while more:
        at = _skip_blanks(block, at + N1)
        if block[at] != QUOTE or count == MOST_KEYS:
            return ODD
        first = at + N1
        last = _find_quote(block, first)
        if last == ODD or _is_known(block, first, last, keys, count):
            return ODD
        keys[count, 0], keys[count, 1] = first, last
        count += 1
        at = _skip_blanks(block, last + N1)
        if block[at] != COLON:
            return ODD
        at = _skip_blanks(block, at + N1)
        value, is_read = at, False
        for column in range(len(kinds)):
            start, end = name_bounds[column], name_bounds[column + 1]
            if _are_equal(block, first, last, names, start, end):
                at = _read_value(block, value, kinds[column], out, ends, column)
                if at == ODD:
                    return ODD
                lines[column] = line
                is_read = True
        if not is_read:
            at = _skip_any(block, value, out, ends[0])
        if at == ODD:
            return ODD
        at = _skip_blanks(block, at)
        more = block[at] == COMMA
    if block[at] != CLOSED:
        return ODD
    for column in range(len(kinds)):
        if lines[column] != line:
            start, end = name_bounds[column], name_bounds[column + 1]
            if kinds[column] != MAY_LACK or _may_be(block, keys, count, names, start, end):
                return ODD
            ends[column] = _write_null(out, ends[column])
    at = _skip_blanks(block, at + N1)
    return at + N1 if block[at] == NEWLINE else ODD


@inner
def _read_value(block, at, kind, out, ends, column):
    """Write a value of a column, and give what follows it."""
    if kind == ID:
        return _read_id(block, at, out, ends, column)
    to = ends[column]
    if kind == TEXT:
        if block[at] != QUOTE:
            return ODD
        at, ends[column] = _read_string(block, at + N1, out, to)
        return at
    after = _skip_any(block, at, out, to)
    if after != ODD:
        while at < after:
            out[to] = block[at]
            at += N1
            to += N1
        out[to] = COMMA
        ends[column] = to + N1
    return after


@inner
def _skip_any(block, at, out, to):
    """Find what follows a plain value. Strings are written where others will be."""
    if block[at] == QUOTE:
        return _read_string(block, at + N1, out, to)[0]
    return _skip_value(block, at)


@inner
def _write_null(out, to):
    for offset in range(4):
        out[to + U64(offset)] = U8(NULL >> U32(8 * offset))
    out[to + N4] = COMMA
    return to + N4 + N1


@inner
def _may_be(block, keys, count, names, start, end):
    """Tell whether a key may stand for a name that it does not equal: in other case, or beyond."""
    for known in range(count):
        first, last = keys[known, 0], keys[known, 1]
        if first == last:
            continue
        if block[first] == SPACE or block[last - N1] == SPACE:
            return True
        are_alike = last - first == end - start
        for at in range(first, last):
            if block[at] >= ASCII:
                return True
            if are_alike:
                are_alike = _lower(block[at]) == _lower(names[start + U64(at) - first])
        if are_alike:
            return True
    return False


@inner
def _lower(byte):
    return byte | SPACE if byte >= U8(ord("A")) and byte <= U8(ord("Z")) else byte


@inner
def _skip_blanks(block, at):
    while block[at] == SPACE or block[at] == TAB or block[at] == RETURN:
        at += N1
    return at


@inner
def _are_equal(block, first, last, others, start, end):
    """Compare block[first:last] with others[start:end]."""
    if last - first != end - start:
        return False
    while first < last:
        if block[first] != others[start]:
            return False
        first += N1
        start += N1
    return True


@inner
def _is_known(block, first, last, keys, count):
    """Tell whether the object had a key before."""
    for known in range(count):
        if _are_equal(block, first, last, block, keys[known, 0], keys[known, 1]):
            return True
    return False


@inner
def _find_quote(block, at):
    """Find where a string without escapes ends."""
    while block[at] != QUOTE:
        if block[at] < SPACE or block[at] == BACKSLASH:
            return ODD
        at += N1
    return at


@inner
def _read_id(block, at, out, ends, column):
    """Write an id, and give what follows it."""
    first = at
    if block[at] == QUOTE:
        first += N1
        last = _find_quote(block, first)
        at = last if last == ODD else last + N1
    else:
        at, is_whole = _skip_number(block, first)
        last = at
        if not is_whole or (block[first] == MINUS and block[first + N1] == ZERO):
            at = ODD
    if at != ODD:
        to = ends[column]
        while first < last:
            out[to] = block[first]
            first += N1
            to += N1
        ends[column] = to
    return at


@inner
def _skip_value(block, at):
    """Find what follows a number, true, false or null."""
    if block[at] == MINUS or (block[at] >= ZERO and block[at] <= NINE):
        return _skip_number(block, at)[0]
    if at + N6 > U64(len(block)):
        return ODD
    four = load(block, at)
    if four in (NULL, TRUE):
        return at + N4
    return at + N4 + N1 if four == FALSE and block[at + N4] == U8(ord("e")) else ODD


@inner
def _skip_number(block, at):
    """Find what follows a number, and tell whether it is a whole one."""
    at += U64(block[at] == MINUS)
    first = at
    at = _skip_digits(block, at)
    digits = at - first
    is_odd = digits == N0 or digits > U64(MOST_DIGITS) or (block[first] == ZERO and digits > N1)
    is_whole = block[at] != DOT
    if not is_whole:
        first = at + N1
        at = _skip_digits(block, first)
        is_odd = is_odd or at == first
    is_odd = is_odd or block[at] | U8(32) == U8(ord("e"))
    return (ODD if is_odd else at), is_whole


@inner
def _skip_digits(block, at):
    while block[at] >= ZERO and block[at] <= NINE:
        at += N1
    return at


@inner
def _read_string(block, at, texts, to):
    """Write a string without its escapes, and give what follows it and where it ends."""
    end = U64(len(block))
    while True:
        moved = copy_plain(block, at, end, texts, to)
        at += moved
        to += moved
        byte = block[at]
        while byte >= SPACE and byte != QUOTE and byte != BACKSLASH:
            texts[to] = byte
            at += N1
            to += N1
            byte = block[at]
        if byte == QUOTE:
            return at + N1, to
        if byte != BACKSLASH:
            return ODD, to
        at, to = _read_escape(block, at + N1, texts, to)
        if at == ODD:
            return ODD, to


@inner
def copy_plain(data, first, last, out, at):
    """Copy bytes, eight at once, up to the first eight with a special one, and count them."""
    begin = first
    while first + N8 <= last:
        eight = load_eight(data, first)
        if _has_special(eight):
            break
        for offset in range(8):
            out[at + U64(offset)] = U8(eight >> U64(8 * offset))
        first += N8
        at += N8
    return first - begin


@inner
def _has_special(eight):
    """Tell whether one of eight bytes is a control character, a quote or a backslash.

    Where a byte is smaller than another, or none, subtracting sets its highest bit; see "Bit
    Twiddling Hacks" (Anderson), "Determine if a word has a byte less than n".
    """
    quote, backslash = eight ^ EACH * U64(QUOTE), eight ^ EACH * U64(BACKSLASH)
    low = eight - EACH * U64(SPACE) | quote - EACH | backslash - EACH
    return low & ~eight & HIGHEST != N0


@inner
def _read_escape(block, at, texts, to):
    """Write what follows a backslash."""
    byte = block[at]
    if byte == U8(ord("u")):
        return _read_code(block, at + N1, texts, to)
    if byte == U8(ord("n")):
        byte = NEWLINE
    elif byte == U8(ord("t")):
        byte = TAB
    elif byte == U8(ord("r")):
        byte = RETURN
    elif byte == U8(ord("b")):
        byte = U8(8)
    elif byte == U8(ord("f")):
        byte = U8(12)
    elif byte != QUOTE and byte != BACKSLASH and byte != U8(ord("/")):
        return ODD, to
    texts[to] = byte
    return at + N1, to + N1


@inner
def _read_code(block, at, texts, to):
    """Write a character of four hexadecimal digits, or of two surrogates of four each."""
    code = _read_hexadecimal(block, at)
    at += N4
    if code >> U64(10) == U64(0x36) and block[at] == BACKSLASH and block[at + N1] == U8(ord("u")):
        low = _read_hexadecimal(block, at + N2)
        if low >> U64(10) != U64(0x37):
            return ODD, to
        code = ((code & U64(0x3FF)) << U64(10) | (low & U64(0x3FF))) + U64(0x10000)
        at += N6
    if code == ODD or code >> U64(11) == U64(0x1B):  # a lone surrogate
        return ODD, to
    if code < U64(0x80):
        texts[to] = U8(code)
        return at, to + N1
    size = N2 if code < U64(0x800) else N3 if code < U64(0x10000) else N4
    shift = N6 * (size - N1)
    texts[to] = U8((U64(0xF00) >> size) & U64(0xFF)) | U8(code >> shift)
    while shift:
        shift -= N6
        to += N1
        texts[to] = U8(0x80) | U8((code >> shift) & U64(0x3F))
    return at, to + N1


@inner
def _read_hexadecimal(block, at):
    """Read the number of four digits, ODD if they are none. Nothing is read behind the others."""
    code = N0
    for offset in range(4):
        byte = block[at + U64(offset)]
        letter = byte | U8(32)
        if byte >= ZERO and byte <= NINE:
            digit = U64(byte) - U64(48)
        elif letter >= U8(ord("a")) and letter <= U8(ord("f")):
            digit = U64(letter) - U64(87)
        else:
            return ODD
        code = code << N4 | digit
    return code
