"""JSON objects, one a line, in compiled code: their ids and texts, if nothing is odd about them.

What is odd is left to a parser of JSON: an object or a list within another, a key that comes
twice or has an escape, a number that is not short and plain, whatever is no JSON at all.
"""

from __future__ import annotations

import numpy as np

from neardup_solr.kernel.hashes import EACH, HIGHEST, load_eight
from neardup_solr.kernel.machine import compiled, inner

U8, U32, U64 = np.uint8, np.uint32, np.uint64
N0, N1, N2, N3, N4, N6, N8 = U64(0), U64(1), U64(2), U64(3), U64(4), U64(6), U64(8)
ODD = U64(2**64 - 1)
QUOTE, BACKSLASH, COMMA, COLON = U8(ord('"')), U8(ord("\\")), U8(ord(",")), U8(ord(":"))
OPEN, CLOSED, NEWLINE, SPACE = U8(ord("{")), U8(ord("}")), U8(10), U8(32)
TAB, RETURN, MINUS, DOT, ZERO, NINE = U8(9), U8(13), U8(45), U8(46), U8(48), U8(57)
NULL, TRUE, FALSE = U32(0x6C6C756E), U32(0x65757274), U32(0x736C6166)  # four bytes each
MOST_KEYS = 32
LONGEST_ID = 512  # bytes
LONGEST_NUMBER = 18  # digits, which fit 64 bits


@compiled
def scan(block, id_key, text_key, longest, out, bounds, ids, begins):
    """Read the id and the text of the object in each line; how many there are, -1 if one is odd.

    `block` (uint8) has whole lines, each with its newline. Line n begins at begins[n], and its id
    is block[ids[n, 0]:ids[n, 1]], a string or a whole number. Its text is
    out[bounds[n]:bounds[n + 1]], UTF-8; none may have more than `longest` bytes. `out` needs
    some bytes more than `block` has.
    """
    keys = np.empty((MOST_KEYS, 2), dtype=np.uint64)
    at, to, end, line = N0, N0, U64(len(block)), 0
    while at < end:
        begins[line], bounds[line] = at, to
        at, to = _object(block, at, id_key, text_key, longest, keys, out, to, ids[line])
        if at == ODD:
            return -1
        line += 1
    begins[line], bounds[line] = at, to
    return line


@inner
def _object(block, at, id_key, text_key, longest, keys, out, to, id):
    """Read one line; where the next one begins, and where the text ends in `out`."""
    count, has_id, has_text, begin = 0, False, False, to
    at = _after_blanks(block, at)
    more = block[at] == OPEN
    while more:
        at = _after_blanks(block, at + N1)
        if block[at] != QUOTE or count == MOST_KEYS:
            return ODD, to
        first = at + N1
        last = _plain_string(block, first)
        if last == ODD or _is_known(block, first, last, keys, count):
            return ODD, to
        keys[count, 0], keys[count, 1] = first, last
        count += 1
        at = _after_blanks(block, last + N1)
        if block[at] != COLON:
            return ODD, to
        at = _after_blanks(block, at + N1)
        if _equals(block, first, last, id_key):
            at = _id(block, at, id)
            has_id = True
        elif block[at] == QUOTE:
            at, stop = _string(block, at + N1, out, to)
            if _equals(block, first, last, text_key):
                to = stop
                has_text = True
        elif _equals(block, first, last, text_key):
            return ODD, to
        else:
            at = _value(block, at)
        if at == ODD:
            return ODD, to
        at = _after_blanks(block, at)
        more = block[at] == COMMA
    if not has_id or not has_text or to - begin > longest or block[at] != CLOSED:
        return ODD, to
    at = _after_blanks(block, at + N1)
    return (at + N1 if block[at] == NEWLINE else ODD), to


@inner
def _after_blanks(block, at):
    while block[at] == SPACE or block[at] == TAB or block[at] == RETURN:
        at += N1
    return at


@inner
def _equals(block, first, last, key):
    if last - first != U64(len(key)):
        return False
    for offset in range(len(key)):  # noqa: SIM110 - numba has no all()
        if block[first + U64(offset)] != key[U64(offset)]:
            return False
    return True


@inner
def _is_known(block, first, last, keys, count):
    """Whether the object had that key before."""
    for known in range(count):
        start = keys[known, 0]
        if keys[known, 1] - start == last - first:
            offset = N0
            while first + offset < last and block[first + offset] == block[start + offset]:
                offset += N1
            if first + offset == last:
                return True
    return False


@inner
def _id(block, at, id):
    """What follows an id: a string of some bytes, or a whole number."""
    if block[at] == QUOTE:
        first = at + N1
        last = _plain_string(block, first)
        if last in (ODD, first) or last - first > U64(LONGEST_ID):
            return ODD
        at = last + N1
    else:
        first = at
        at, is_whole = _number(block, first)
        if at == ODD or not is_whole or (block[first] == MINUS and block[first + N1] == ZERO):
            return ODD
        last = at
    id[0], id[1] = first, last
    return at


@inner
def _value(block, at):
    """What follows a number, true, false or null."""
    if block[at] == MINUS or (block[at] >= ZERO and block[at] <= NINE):
        return _number(block, at)[0]
    if block[at] == NEWLINE:
        return ODD
    four = U32(0)
    for offset in range(4):
        # Nothing is read past a newline, which the block ends with.
        byte = block[at + U64(offset)]
        if byte == NEWLINE:
            return ODD
        four |= U32(byte) << U32(8 * offset)
    if four in (NULL, TRUE):
        return at + N4
    return at + N4 + N1 if four == FALSE and block[at + N4] == U8(ord("e")) else ODD


@inner
def _number(block, at):
    """What follows a number, and whether it is a whole one; one with an exponent is odd."""
    at += U64(block[at] == MINUS)
    first = at
    while block[at] >= ZERO and block[at] <= NINE:
        at += N1
    digits = at - first
    is_odd = digits == N0 or digits > U64(LONGEST_NUMBER) or (block[first] == ZERO and digits > N1)
    is_whole = block[at] != DOT
    if not is_whole:
        at += N1
        first = at
        while block[at] >= ZERO and block[at] <= NINE:
            at += N1
        is_odd = is_odd or at == first
    is_odd = is_odd or block[at] | U8(32) == U8(ord("e"))
    return (ODD if is_odd else at), is_whole


@inner
def _plain_string(block, at):
    """Where a string without escapes ends."""
    while block[at] != QUOTE:
        if block[at] < SPACE or block[at] == BACKSLASH:
            return ODD
        size = N1 if block[at] < U8(128) else _size(block, at)
        if size == N0:
            return ODD
        at += size
    return at


@inner
def _string(block, at, out, to):
    """Write a string without its escapes; what follows it, and where it ends in `out`."""
    end = U64(len(block))
    while True:
        while at + N8 <= end:
            eight = load_eight(block, at)
            if _has_special(eight):
                break
            for offset in range(8):
                out[to + U64(offset)] = U8(eight >> U64(8 * offset))
            at += N8
            to += N8
        byte = block[at]
        while byte >= SPACE and byte < U8(128) and byte != QUOTE and byte != BACKSLASH:
            out[to] = byte
            at += N1
            to += N1
            byte = block[at]
        if byte == QUOTE:
            return at + N1, to
        if byte == BACKSLASH:
            at, to = _escaped(block, at + N1, out, to)
            if at == ODD:
                return ODD, to
        else:
            size = _size(block, at) if byte >= U8(128) else N0
            if size == N0:
                return ODD, to
            for offset in range(size):
                out[to + U64(offset)] = block[at + U64(offset)]
            at += size
            to += size


@inner
def _has_special(eight):
    """Whether one of eight bytes is a control character, a quote, a backslash or no ASCII.

    Where a byte is smaller than another, or none, subtracting sets its highest bit; see "Bit
    Twiddling Hacks" (Anderson), "Determine if a word has a byte less than n".
    """
    quote, backslash = eight ^ EACH * U64(QUOTE), eight ^ EACH * U64(BACKSLASH)
    low = eight - EACH * U64(SPACE) | quote - EACH | backslash - EACH
    return ((low & ~eight) | eight) & HIGHEST != N0


@inner
def _size(block, at):
    """The bytes of a character of UTF-8, 0 if it is none (RFC 3629)."""
    byte, second = block[at], block[at + N1]
    if byte < U8(0xC2) or byte > U8(0xF4) or second & U8(0xC0) != U8(0x80):
        return N0
    if byte < U8(0xE0):
        return N2
    if block[at + N2] & U8(0xC0) != U8(0x80):
        return N0
    if byte < U8(0xF0):
        is_low = byte == U8(0xE0) and second < U8(0xA0)
        is_surrogate = byte == U8(0xED) and second >= U8(0xA0)
        return N0 if is_low or is_surrogate else N3
    is_low = byte == U8(0xF0) and second < U8(0x90)
    is_high = byte == U8(0xF4) and second >= U8(0x90)
    return N0 if is_low or is_high or block[at + N3] & U8(0xC0) != U8(0x80) else N4


@inner
def _escaped(block, at, out, to):
    """Write what follows a backslash."""
    byte = block[at]
    if byte == U8(ord("u")):
        return _escaped_code(block, at + N1, out, to)
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
    out[to] = byte
    return at + N1, to + N1


@inner
def _escaped_code(block, at, out, to):
    """Write a character of four hexadecimal digits, or of two halves of four each."""
    code = _hexadecimal(block, at)
    at += N4
    if code >> U64(10) == U64(0x36) and block[at] == BACKSLASH and block[at + N1] == U8(ord("u")):
        low = _hexadecimal(block, at + N2)
        if low >> U64(10) != U64(0x37):
            return ODD, to
        code = ((code & U64(0x3FF)) << U64(10) | (low & U64(0x3FF))) + U64(0x10000)
        at += N6
    if code == ODD or code >> U64(11) == U64(0x1B):  # half of a character
        return ODD, to
    if code < U64(0x80):
        out[to] = U8(code)
        return at, to + N1
    size = N2 if code < U64(0x800) else N3 if code < U64(0x10000) else N4
    shift = N6 * (size - N1)
    out[to] = U8((U64(0xF00) >> size) & U64(0xFF)) | U8(code >> shift)
    while shift:
        shift -= N6
        to += N1
        out[to] = U8(0x80) | U8((code >> shift) & U64(0x3F))
    return at, to + N1


@inner
def _hexadecimal(block, at):
    """The number that four digits make, ODD if they are none; stops at the end of a line."""
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
