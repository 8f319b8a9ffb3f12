"""The compiled kernel: from UTF-8 bytes to MinHash signatures and LSH bands, without a string.

A shingle of a normalised text is a contiguous slice of its UTF-8 bytes, which murmur3 hashes where
it lies. Everything releases the GIL. Indices are unsigned: numba checks signed ones for wrapping
at each access. Compiled on first use and cached on the disk; where numba is absent,
`neardup_solr.pure.signing` has equal results from numpy.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from neardup_solr.pure.unicode import CONTEXT, DROPPED, KEPT, MARK, SPACE

U8, U32, U64 = np.uint8, np.uint32, np.uint64
N0, N1, N2, N3, N4, N6 = U64(0), U64(1), U64(2), U64(3), U64(4), U64(6)
BLANK = U8(32)
BLOCK = U64(256)  # shingle hashes that are folded into a signature at once
LANES = U64(16)  # a block is padded to a multiple of it, and so fills vector registers
SPARE = 64  # bytes past a text: murmur3 may read 3 of them, a last character may need some
WORDS, CHARACTERS = 0, 1
AFFINE, XOR = 0, 1


class Tables(NamedTuple):
    """What characters become: `lower` for ASCII; `short` where it is up to three bytes of UTF-8.

    `short` (uint32, 65,536) has those bytes, the first one lowest, and their number in the
    highest; 0 sends to `becomes` and `classes`, which are those of `unicode.Table`. Sequence n is
    sequences[bounds[n - 1]:bounds[n]], UTF-8.
    """

    lower: Any
    short: Any
    becomes: Any
    classes: Any
    sequences: Any
    bounds: Any


class Shape(NamedTuple):
    """What shapes a signature: shingles of `size` words or characters, a family's coefficients."""

    kind: int
    size: Any
    seed: Any
    family: int
    multiplier: Any
    offset: Any
    bands: int
    rows: int


class Texts(NamedTuple):
    """Texts to sign: text d is ascii[begins[d]:ends[d]], or wide[...] where `is_wide`.

    `ascii` has bytes (uint8), `wide` UTF-16 code units (uint16), as Python encodes fastest.
    """

    ascii: Any
    wide: Any
    is_wide: Any
    begins: Any
    ends: Any


@njit(nogil=True, cache=True)
def sign(texts, is_normal, tables, shape, out, bounds, words, signatures, keys):
    """Normal forms, signatures and band hashes of texts.

    The normal form of text d is out[bounds[d]:bounds[d + 1]]; `words` counts its words, -1 where
    its characters depend on each other (the caller then normalises it himself and passes it
    again, with `is_normal`); signatures (texts, hashes) and keys (texts, bands) are filled for
    texts that have words.
    """
    block = np.empty(BLOCK + LANES, dtype=np.uint32)
    longest = N0
    for document in range(len(words)):
        longest = max(longest, texts.ends[document] - texts.begins[document])
    starts = np.empty(longest + U64(SPARE), dtype=np.uint32)
    at = N0
    bounds[0] = at
    for document in range(len(words)):
        first, last, begin = texts.begins[document], texts.ends[document], at
        if texts.is_wide[document]:
            at, count = _normalize_wide(texts.wide, first, last, is_normal, tables, out, at, starts)
        else:
            at, count = _normalize_ascii(texts.ascii, first, last, tables.lower, out, at, starts)
        words[document], bounds[document + 1] = count, at
        if count <= 0:
            continue
        if shape.kind == CHARACTERS:
            pieces, gap = _characters(out, begin, at, starts), N0
        else:
            pieces, gap = U64(count), N1
        _minhash(out, begin, at, starts, pieces, gap, shape, block, signatures[document])
        _band(signatures[document], shape.rows, keys[document])


@njit(nogil=True, cache=True)
def _normalize_ascii(text, start, end, lower, out, at, starts):
    """The normal form of an ASCII text, and where its words start, without a branch a byte."""
    begin, words, before = at, N0, BLANK
    while start < end:
        at, words, before = _put(lower[text[start]], out, at, before, starts, words, begin)
        start += N1
    if words and before == BLANK:
        at -= N1
    return at, np.int64(words)


@njit(nogil=True, cache=True)
def _put(byte, out, at, before, starts, words, begin):
    """Write one byte: a blank after a blank is overwritten by what comes next."""
    out[at] = byte
    starts[words] = U32(at - begin)
    blank, was_blank = byte == BLANK, before == BLANK
    words += U64(was_blank and not blank)
    at += U64(not (blank and was_blank))
    return at, words, byte


@njit(nogil=True, cache=True)
def _normalize_wide(text, start, end, is_normal, tables, out, at, starts):
    """The same for UTF-16; -1 words where neighbours or room have to be looked after."""
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


@njit(nogil=True, cache=True)
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


@njit(nogil=True, cache=True)
def _decode(text, at, end):
    """The code point at a UTF-16 code unit, and its size in units; a lone surrogate is itself."""
    unit = U64(text[at])
    if (unit >> U64(10)) == U64(0x36) and at + N1 < end:
        low = U64(text[at + N1])
        if (low >> U64(10)) == U64(0x37):
            high = (unit & U64(0x3FF)) << U64(10)
            return (high | (low & U64(0x3FF))) + U64(0x10000), N2
    return unit, N1


@njit(nogil=True, cache=True)
def _characters(out, begin, end, starts):
    """Where the characters of a normal form start, and how many there are."""
    count, at = N0, begin
    while at < end:
        starts[count] = U32(at - begin)
        count += U64((out[at] & U8(0xC0)) != U8(0x80))
        at += N1
    return count


@njit(nogil=True, cache=True)
def _minhash(out, begin, end, starts, pieces, gap, shape, block, signature):
    """Fold the hash of each shingle into a signature; a short text is its own only shingle."""
    signature[:] = U32(0xFFFFFFFF) if shape.family == AFFINE else U32(0x80000000)
    starts[pieces] = U32(end - begin + gap)
    size = min(shape.size, pieces)
    filled, piece = N0, N0
    while piece + size <= pieces:
        first = begin + U64(starts[piece])
        block[filled] = murmur3(out, first, begin + U64(starts[piece + size]) - gap, shape.seed)
        filled += N1
        piece += N1
        if filled == BLOCK or piece + size > pieces:
            while filled % LANES:  # a repeated value changes no extreme
                block[filled] = block[filled - N1]
                filled += N1
            if shape.family == AFFINE:
                _fold_affine(block, filled, shape.multiplier, shape.offset, signature)
            else:
                _fold_xor(block, filled, shape.multiplier, signature)
            filled = N0


@njit(nogil=True, cache=True)
def murmur3(text, start, end, seed):
    """murmur3, 32 bits, of text[start:end] (Appleby 2011); reads up to 3 bytes past the end."""
    hashed, at, size = seed, start, end - start
    last = start + ((size >> N2) << N2)
    while at < last:
        hashed ^= _scrambled(_load(text, at))
        hashed = (hashed << U32(13)) | (hashed >> U32(19))
        hashed = U32(hashed * U32(5) + U32(0xE6546B64))
        at += N4
    tail = U32(size & N3)
    hashed ^= _scrambled(_load(text, at) & ((U32(1) << (tail << U32(3))) - U32(1)))
    hashed ^= U32(size)
    hashed = U32((hashed ^ (hashed >> U32(16))) * U32(0x85EBCA6B))
    hashed = U32((hashed ^ (hashed >> U32(13))) * U32(0xC2B2AE35))
    return hashed ^ (hashed >> U32(16))


@njit(nogil=True, cache=True)
def _load(text, at):
    low = U32(text[at]) | (U32(text[at + N1]) << U32(8))
    return low | (U32(text[at + N2]) << U32(16)) | (U32(text[at + N3]) << U32(24))


@njit(nogil=True, cache=True)
def _scrambled(word):
    word = U32(word * U32(0xCC9E2D51))
    return U32(((word << U32(15)) | (word >> U32(17))) * U32(0x1B873593))


@njit(nogil=True, cache=True)
def _fold_affine(block, filled, multiplier, offset, signature):
    """Minima of a·x + b, four functions at a time: one load of x serves them all."""
    hashes, at = U64(len(signature)), N0
    while at + N4 <= hashes:
        a, b, c, d = multiplier[at], multiplier[at + N1], multiplier[at + N2], multiplier[at + N3]
        e, f, g, h = offset[at], offset[at + N1], offset[at + N2], offset[at + N3]
        i, j, k, m = signature[at], signature[at + N1], signature[at + N2], signature[at + N3]
        for number in range(filled):
            x = block[number]
            i = min(i, U32(x * a + e))
            j = min(j, U32(x * b + f))
            k = min(k, U32(x * c + g))
            m = min(m, U32(x * d + h))
        signature[at], signature[at + N1], signature[at + N2], signature[at + N3] = i, j, k, m
        at += N4
    while at < hashes:
        for number in range(filled):
            value = U32(block[number] * multiplier[at] + offset[at])
            signature[at] = min(signature[at], value)
        at += N1


@njit(nogil=True, cache=True)
def _fold_xor(block, filled, masks, signature):
    """Maxima of x XOR mask as signed integers: unsigned ones with the sign bit turned."""
    turn = U32(0x80000000)
    for at in range(len(signature)):
        mask, most = masks[at] ^ turn, signature[at] ^ turn
        for number in range(filled):
            most = max(most, block[number] ^ mask)
        signature[at] = most ^ turn


@njit(nogil=True, cache=True)
def _band(signature, rows, keys):
    """The hash of each band, as `bands.hash_bands` defines it."""
    at = 0
    for band in range(len(keys)):
        hashed = N0
        for _ in range(rows):
            hashed ^= U64(signature[at])
            hashed = (hashed ^ (hashed >> U64(33))) * U64(0xFF51AFD7ED558CCD)
            hashed = (hashed ^ (hashed >> U64(33))) * U64(0xC4CEB9FE1A85EC53)
            hashed ^= hashed >> U64(33)
            at += 1
        keys[band] = hashed
