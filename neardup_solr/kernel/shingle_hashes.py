"""From UTF-8 bytes to signatures and band hashes without a string, and sets of shingles.

A shingle of a normalised text is a contiguous slice of its UTF-8 bytes, which is hashed in place,
or spelled as JSON. Indices are unsigned: numba checks signed ones for wrapping at each access.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from neardup_solr.kernel import compiled, inner, normal
from neardup_solr.kernel.normal import find_characters, load, load_eight, make_starts, normalize
from neardup_solr.text.packed import SPARE

U8, U32, U64 = np.uint8, np.uint32, np.uint64
N0, N1, N2, N3, N4, N8 = U64(0), U64(1), U64(2), U64(3), U64(4), U64(8)
WORDS, CHARACTERS = 0, 1
AFFINE, XOR = 0, 1
BLOCK = U64(256)  # shingle hashes that are folded into a signature at once
LANES = U64(16)  # a block is padded to a multiple of it, and so fills vector registers
QUOTE, COMMA = U8(ord('"')), U8(ord(","))


class Tables(NamedTuple):
    """Normal form of each character: `lower` for ASCII, `short` up to three bytes of UTF-8.

    `short` (uint32, 65,536) has those bytes, the first lowest, and their number in the
    highest; 0 sends to `becomes` and `classes`, which are those of `CharacterTable`. Sequence n is
    sequences[bounds[n - 1]:bounds[n]], UTF-8.
    """

    lower: Any
    short: Any
    becomes: Any
    classes: Any
    sequences: Any
    bounds: Any


TABLES = Tables, "uint8[] uint32[] int16[] uint8[] uint8[] uint64[]"


class Shape(NamedTuple):
    """Parameters of a signature: shingles of `size` words or characters, family coefficients."""

    kind: int
    size: Any
    seed: Any
    family: int
    multiplier: Any
    offset: Any
    bands: int
    rows: int


SHAPE = Shape, "int64 uint64 uint32 int64 uint32[] uint32[] int64 int64"


@compiled("uint8[] uint64[]", TABLES, "uint8[] uint64[] int64[]")
def normalize_texts(texts, begins, tables, out, bounds, words):
    """Write the normal forms of texts, with arguments as for `sign`."""
    starts = make_starts(begins)
    at = N0
    bounds[0] = at
    for document in range(len(words)):
        first, last = begins[document], begins[document + 1]
        at, words[document] = normalize(texts, first, last, False, tables, out, at, starts)
        bounds[document + 1] = at


@compiled(
    "uint8[] uint64[] bool", TABLES, SHAPE,
    "uint8[] uint64[] int64[] uint32[,] uint64[,]",
)  # fmt: skip
def sign(texts, begins, is_normal, tables, shape, out, bounds, words, signatures, keys):
    """Write normal forms, signatures and band hashes of texts: texts[begins[d]:begins[d + 1]].

    The normal form of text d is out[bounds[d]:bounds[d + 1]]; `words` counts its words, -1 if its
    characters depend on each other (the caller then normalises it and passes it again, with
    `is_normal`); signatures (texts, hashes) and keys (texts, bands) are filled for
    texts that have words.
    """
    block = np.empty(BLOCK + LANES, dtype=np.uint32)
    starts = make_starts(begins)
    at = N0
    bounds[0] = at
    for document in range(len(words)):
        first, last, begin = begins[document], begins[document + 1], at
        at, count = normalize(texts, first, last, is_normal, tables, out, at, starts)
        words[document], bounds[document + 1] = count, at
        if count <= 0:
            continue
        if shape.kind == CHARACTERS:
            if at - begin + U64(SPARE) > U64(len(starts)):  # a normal form may be longer
                starts = np.empty(at - begin + U64(SPARE), dtype=np.uint32)
            pieces, gap = find_characters(out, begin, at, starts), N0
        else:
            pieces, gap = U64(count), N1
        minhash(out, begin, at, starts, pieces, gap, shape, block, signatures[document])
        hash_bands(signatures[document], shape.rows, keys[document])


@inner
def minhash(out, begin, end, starts, pieces, gap, shape, block, signature):
    """Fold the hash of each shingle into a signature. A short text is its only shingle."""
    _clear(shape.family, signature)
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
            _fold_block(block, filled, shape.family, shape.multiplier, shape.offset, signature)
            filled = N0


@compiled("uint32[] int64 uint32[] uint32[] uint32[]")
def fold(hashed, family, multiplier, offset, signature):
    """Make the signature of a set of shingles of their hashes (uint32)."""
    _clear(family, signature)
    for at in range(0, len(hashed), np.int64(BLOCK)):
        part = hashed[at : at + np.int64(BLOCK)]
        _fold_block(part, U64(len(part)), family, multiplier, offset, signature)


@inner
def _clear(family, signature):
    signature[:] = U32(0xFFFFFFFF) if family == AFFINE else U32(0x80000000)


@inner
def _fold_block(block, filled, family, multiplier, offset, signature):
    if family == AFFINE:
        _fold_affine(block, filled, multiplier, offset, signature)
    else:
        _fold_xor(block, filled, multiplier, signature)


@inner
def murmur3(text, start, end, seed):
    """Hash text[start:end] by murmur3, 32 bits (Appleby 2011). Reads up to 3 bytes past the end."""
    hashed, at, size = seed, start, end - start
    last = start + ((size >> N2) << N2)
    while at < last:
        hashed ^= _scramble(load(text, at))
        hashed = (hashed << U32(13)) | (hashed >> U32(19))
        hashed = U32(hashed * U32(5) + U32(0xE6546B64))
        at += N4
    tail = U32(size & N3)
    hashed ^= _scramble(load(text, at) & ((U32(1) << (tail << U32(3))) - U32(1)))
    hashed ^= U32(size)
    hashed = U32((hashed ^ (hashed >> U32(16))) * U32(0x85EBCA6B))
    hashed = U32((hashed ^ (hashed >> U32(13))) * U32(0xC2B2AE35))
    return hashed ^ (hashed >> U32(16))


@inner
def _scramble(word):
    word = U32(word * U32(0xCC9E2D51))
    return U32(((word << U32(15)) | (word >> U32(17))) * U32(0x1B873593))


@inner
def _fold_affine(block, filled, multiplier, offset, signature):
    """Minima of a·x + b, four functions at a time: a load of x serves them all."""
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


@inner
def _fold_xor(block, filled, masks, signature):
    """Maxima of x XOR mask as signed integers: unsigned ones with the sign bit turned."""
    turn = U32(0x80000000)
    for at in range(len(signature)):
        mask, most = masks[at] ^ turn, signature[at] ^ turn
        for number in range(filled):
            most = max(most, block[number] ^ mask)
        signature[at] = most ^ turn


@inner
def hash_bands(signature, rows, keys):
    """Hash each band, as `sign.hash_bands` defines it."""
    at = 0
    for number in range(len(keys)):
        hashed = N0
        for _ in range(rows):
            hashed ^= U64(signature[at])
            hashed = (hashed ^ (hashed >> U64(33))) * U64(0xFF51AFD7ED558CCD)
            hashed = (hashed ^ (hashed >> U64(33))) * U64(0xC4CEB9FE1A85EC53)
            hashed ^= hashed >> U64(33)
            at += 1
        keys[number] = hashed


@inner
def hash64(data, first, last):
    """Hash data[first:last] to 64 bits, eight bytes at a time. Reads up to 8 past the end.

    For telling pieces apart, within a run or from a run to the next (then, if it is changed, with
    the FORMAT of what is remembered). Two seeds of murmur3 are no 64 bits, as
    what collides under either is likely to collide under the other. Each step can be undone,
    so pieces of equal length up to eight bytes have different hashes; the constants are those of
    the finaliser of murmur3 (Appleby 2011).
    """
    hashed, at = (last - first) * U64(0x9E3779B97F4A7C15), first
    while at + N8 <= last:
        hashed = _stir(hashed ^ load_eight(data, at))
        at += N8
    tail = (last - at) << U64(3)
    rest = load_eight(data, at) & ((N1 << tail) - N1)
    hashed = _stir(hashed ^ rest) * U64(0xC4CEB9FE1A85EC53)
    return hashed ^ (hashed >> U64(33))


@inner
def _stir(hashed):
    hashed = (hashed ^ (hashed >> U64(33))) * U64(0xFF51AFD7ED558CCD)
    return hashed ^ (hashed >> U64(33))


@compiled("uint8[] uint64[] bool uint64 uint64 uint8[] uint64[]")
def spell(forms, bounds, by_characters, size, longest, out, ends):
    """Write the set of shingles of each form as `"one","two"`, in order of first appearance.

    Form d is forms[bounds[d]:bounds[d + 1]], a normal form in UTF-8, in which nothing needs
    escaping; ends[d] is where its JSON ends in `out`, or the end of the form before if a shingle
    exceeds `longest` bytes (the caller spells those itself).
    """
    starts = make_starts(bounds)
    slots = np.empty(_count_slots(len(starts)), dtype=np.uint32)
    at = N0
    for form in range(len(ends)):
        begin = bounds[form]
        pieces, gap = _cut(forms, begin, bounds[form + 1], by_characters, starts)
        at = _spell_one(forms, begin, starts, pieces, gap, size, longest, slots, out, at)
        ends[form] = at


@inner
def _cut(forms, begin, end, by_characters, starts):
    """Count the pieces of a form and the bytes between two, and fill `starts` with their places."""
    if by_characters:
        pieces, gap = find_characters(forms, begin, end, starts), N0
    else:
        pieces, gap = find_words(forms, begin, end, starts), N1
    starts[pieces] = U32(end - begin + gap)
    return pieces, gap


@inner
def _count_slots(pieces):
    """A power of two that is at least twice the pieces, so that probing stays short."""
    slots = 64
    while slots < 2 * pieces:
        slots *= 2
    return slots


@inner
def find_words(form, begin, end, starts):
    """Find where the words of a normal form start, and count them."""
    starts[0] = U32(0)
    count, at = U64(begin < end), begin
    while at < end:
        starts[count] = U32(at + N1 - begin)
        count += U64(form[at] == normal.BLANK)
        at += N1
    return count


@inner
def _spell_one(form, begin, starts, pieces, gap, size, longest, slots, out, at):
    first, size = at, min(size, pieces)
    used = _count_slots(pieces)
    slots[:used] = U32(0)
    mask = U64(used - 1)
    piece = N0
    while pieces and piece + size <= pieces:
        start = begin + U64(starts[piece])
        length = begin + U64(starts[piece + size]) - gap - start
        if length > longest:
            return first
        slot = U64(murmur3(form, start, start + length, U32(0))) & mask
        while slots[slot]:  # occupied by piece slots[slot] - 1
            other = U64(slots[slot] - U32(1))
            place = begin + U64(starts[other])
            if begin + U64(starts[other + size]) - gap - place == length and _are_equal(
                form, start, place, length
            ):
                break
            slot = (slot + N1) & mask
        if not slots[slot]:
            slots[slot] = U32(piece + N1)
            out[at] = QUOTE
            for offset in range(length):
                out[at + N1 + U64(offset)] = form[start + U64(offset)]
            out[at + length + N1] = QUOTE
            out[at + length + N2] = COMMA
            at += length + U64(3)
        piece += N1
    return at


@inner
def _are_equal(form, place, other_place, length):
    for offset in range(length):
        if form[place + U64(offset)] != form[other_place + U64(offset)]:
            return False
    return True


@compiled("uint8[] uint64[] bool uint64 uint64[] int64[]")
def hash_shingles(forms, bounds, by_characters, size, hashed, ends):
    """Fill `hashed` with the hashes of the shingles of each form, in their order."""
    starts = make_starts(bounds)
    filled = 0
    for form in range(len(ends)):
        begin = bounds[form]
        pieces, gap = _cut(forms, begin, bounds[form + 1], by_characters, starts)
        length = min(size, pieces)
        piece = N0
        while pieces and piece + length <= pieces:
            start = begin + U64(starts[piece])
            stop = begin + U64(starts[piece + length]) - gap
            hashed[filled] = hash64(forms, start, stop)
            filled += 1
            piece += N1
        ends[form] = filled


@compiled("uint8[] uint64[] uint64[]")
def hash_texts(data, bounds, hashed):
    """Fill `hashed` (uint64) with the hash of each whole text, data[bounds[t]:bounds[t + 1]]."""
    for text in range(len(hashed)):
        hashed[text] = hash64(data, bounds[text], bounds[text + 1])


@compiled("uint64[] int64[]")
def keep_distinct(hashed, ends):
    """Keep the first of equal neighbours of each form, and move its end."""
    kept, first = 0, 0
    for form in range(len(ends)):
        last, begin = ends[form], kept
        for at in range(first, last):
            if kept == begin or hashed[at] != hashed[kept - 1]:
                hashed[kept] = hashed[at]
                kept += 1
        ends[form], first = kept, last


@compiled("uint64[] int64[] uint32[,] int64[]")
def count_common(hashed, bounds, pairs, shared):
    """Fill `shared` (int64, pairs) with the number of hashes that both sets of a pair have.

    Set t is hashed[bounds[t]:bounds[t + 1]], rising.
    """
    for pair in range(len(pairs)):
        first, second = pairs[pair, 0], pairs[pair, 1]
        i, j = bounds[first], bounds[second]
        last_i, last_j, count = bounds[first + 1], bounds[second + 1], 0
        while i < last_i and j < last_j:
            left, right = hashed[i], hashed[j]
            count += left == right
            i += left <= right
            j += right <= left
        shared[pair] = count


@compiled("uint64[] int64[] uint32[,] int64 float64[] float64[]")
def weigh_common(hashed, bounds, pairs, shift, weights, shared):
    """Fill `shared` (float64, pairs) with the weights of the hashes that both sets of a pair have.

    Set t is hashed[bounds[t]:bounds[t + 1]], rising. A hash weighs weights[hash >> shift].
    """
    bits = np.uint64(shift)
    for pair in range(len(pairs)):
        first, second = pairs[pair, 0], pairs[pair, 1]
        i, j = bounds[first], bounds[second]
        last_i, last_j, total = bounds[first + 1], bounds[second + 1], 0.0
        while i < last_i and j < last_j:
            left, right = hashed[i], hashed[j]
            if left == right:
                total += weights[left >> bits]
            i += left <= right
            j += right <= left
        shared[pair] = total
