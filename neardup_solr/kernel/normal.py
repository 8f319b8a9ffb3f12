"""Normal forms in compiled code: characters in, UTF-8 bytes and the starts of words out."""

from __future__ import annotations

import numpy as np

from neardup_solr.kernel.machine import inner
from neardup_solr.text.normalize import CONTEXT, DROPPED, KEPT, MARK, SPACE

U8, U32, U64 = np.uint8, np.uint32, np.uint64
N0, N1, N2, N3, N4, N6 = U64(0), U64(1), U64(2), U64(3), U64(4), U64(6)
BLANK = U8(32)
SPARE = 64  # bytes after a text: murmur3 may read 3 of them, the last character may need some


@inner
def normalize_ascii(text, start, end, lower, out, at, starts):
    """The normal form of an ASCII text, and where its words start, without a branch a byte."""
    begin, words, before = at, N0, BLANK
    while start < end:
        at, words, before = _put(lower[text[start]], out, at, before, starts, words, begin)
        start += N1
    if words and before == BLANK:
        at -= N1
    return at, np.int64(words)


@inner
def _put(byte, out, at, before, starts, words, begin):
    """Write one byte: a blank after a blank is overwritten by what comes next."""
    out[at] = byte
    starts[words] = U32(at - begin)
    blank, was_blank = byte == BLANK, before == BLANK
    words += U64(was_blank and not blank)
    at += U64(not (blank and was_blank))
    return at, words, byte


@inner
def normalize_wide(text, start, end, is_normal, tables, out, at, starts):
    """The same for UTF-16; -1 words if characters depend on neighbours, or there is no room."""
    begin, words, before, last_class = at, N0, BLANK, U8(0)
    room, short_of = U64(len(out) - SPARE), tables.short
    while start < end:
        short = short_of[text[start]]
        if short:  # up to three bytes and their number: written without a further branch
            byte, last_class = U8(short & U32(255)), U8(0)
            out[at] = byte
            out[at + N1] = U8((short >> U32(8)) & U32(255))
            out[at + N2] = U8((short >> U32(16)) & U32(255))
            starts[words] = U32(at - begin)
            blank, was_blank = byte == BLANK, before == BLANK
            words += U64(was_blank and not blank)
            at += U64(short >> U32(24)) * U64(not (blank and was_blank))
            before = byte
            start += N1
        else:
            code, size = _decode(text, start, end)
            start += size
            becomes = np.int64(tables.becomes[code])
            if is_normal and becomes in (CONTEXT, MARK):
                becomes = np.int64(KEPT)
            own_class = tables.classes[code] if becomes == MARK else U8(0)
            if becomes == CONTEXT or (becomes == MARK and own_class < last_class):
                return begin, np.int64(-1)
            if becomes != DROPPED:
                last_class = own_class
                at, words, before = _put_rare(
                    code, becomes, tables, out, at, before, starts, words, begin
                )
        if at > room:
            return begin, np.int64(-1)
    if words and before == BLANK:
        at -= N1
    return at, np.int64(words)


@inner
def _put_rare(code, becomes, tables, out, at, before, starts, words, begin):
    """Write what a code point becomes: a sequence, a blank, or itself in UTF-8 (RFC 3629)."""
    if becomes > 0:
        first, stop = tables.bounds[becomes - 1], tables.bounds[becomes]
        while first < stop:
            byte = tables.sequences[first]
            at, words, before = _put(byte, out, at, before, starts, words, begin)
            first += N1
    elif becomes == SPACE:
        at, words, before = _put(BLANK, out, at, before, starts, words, begin)
    else:
        size = N2 if code < U64(0x800) else N3 if code < U64(0x10000) else N4
        shift = N6 * (size - N1)
        byte = U8((U64(0xF00) >> size) & U64(0xFF)) | U8(code >> shift)
        at, words, before = _put(byte, out, at, before, starts, words, begin)
        while shift:
            shift -= N6
            byte = U8(0x80) | U8((code >> shift) & U64(0x3F))
            at, words, before = _put(byte, out, at, before, starts, words, begin)
    return at, words, before


@inner
def _decode(text, at, end):
    """The code point at a UTF-16 code unit, and its size in units; a lone surrogate is itself."""
    unit = U64(text[at])
    if (unit >> U64(10)) == U64(0x36) and at + N1 < end:
        low = U64(text[at + N1])
        if (low >> U64(10)) == U64(0x37):
            high = (unit & U64(0x3FF)) << U64(10)
            return (high | (low & U64(0x3FF))) + U64(0x10000), N2
    return unit, N1


@inner
def characters(out, begin, end, starts):
    """Where the characters of a normal form start, and how many there are."""
    count, at = N0, begin
    while at < end:
        starts[count] = U32(at - begin)
        count += U64((out[at] & U8(0xC0)) != U8(0x80))
        at += N1
    return count
