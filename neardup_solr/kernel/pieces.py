"""The shingles of normal forms in compiled code: spelled as JSON, or hashed, and compared."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neardup_solr.kernel.hashes import hash64, murmur3
from neardup_solr.kernel.machine import compiled, inner
from neardup_solr.kernel.normal import BLANK, characters, room_for_starts

U8, U32, U64 = np.uint8, np.uint32, np.uint64
N0, N1, N2 = U64(0), U64(1), U64(2)
QUOTE, COMMA = U8(ord('"')), U8(ord(","))


@compiled
def spell(forms, bounds, by_characters, size, longest, out, ends):
    """Write the set of shingles of each form as `"one","two"`, in order of first appearance.

    Form d is forms[bounds[d]:bounds[d + 1]], a normal form in UTF-8, in which nothing needs
    escaping; ends[d] is where its JSON ends in `out`, or the end of the form before if a shingle
    exceeds `longest` bytes (the caller spells those itself).
    """
    starts = room_for_starts(bounds)
    slots = np.empty(_slots_for(len(starts)), dtype=np.uint32)
    at = N0
    for form in range(len(ends)):
        begin = bounds[form]
        pieces, gap = _cut(forms, begin, bounds[form + 1], by_characters, starts)
        at = _spell_one(forms, begin, starts, pieces, gap, size, longest, slots, out, at)
        ends[form] = at


@inner
def _cut(forms, begin, end, by_characters, starts):
    """The number of pieces of a form, and the bytes between two; `starts` gets their places."""
    if by_characters:
        pieces, gap = characters(forms, begin, end, starts), N0
    else:
        pieces, gap = words(forms, begin, end, starts), N1
    starts[pieces] = U32(end - begin + gap)
    return pieces, gap


@inner
def _slots_for(pieces):
    """A power of two that is at least twice the pieces, so that probing stays short."""
    slots = 64
    while slots < 2 * pieces:
        slots *= 2
    return slots


@inner
def words(form, begin, end, starts):
    """Where the words of a normal form start, and how many there are."""
    starts[0] = U32(0)
    count, at = U64(begin < end), begin
    while at < end:
        starts[count] = U32(at + N1 - begin)
        count += U64(form[at] == BLANK)
        at += N1
    return count


@inner
def _spell_one(form, begin, starts, pieces, gap, size, longest, slots, out, at):
    first, size = at, min(size, pieces)
    used = _slots_for(pieces)
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
            known = begin + U64(starts[other])
            if begin + U64(starts[other + size]) - gap - known == length and _same(
                form, start, known, length
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
def _same(form, one, other, length):
    for offset in range(length):  # noqa: SIM110 - numba has no all()
        if form[one + U64(offset)] != form[other + U64(offset)]:
            return False
    return True


def shingle_sets(
    forms: NDArray[np.uint8],
    bounds: NDArray[np.uint64],
    by_characters: bool,
    size: np.uint64,
    hashed: NDArray[np.uint64],
    ends: NDArray[np.int64],
) -> None:
    """Fill `hashed` (uint64) with the rising 64-bit hashes of each form's set of shingles.

    Form d is forms[bounds[d]:bounds[d + 1]], a normal form in UTF-8; its hashes end at ends[d].
    """
    hash_each(forms, bounds, by_characters, size, hashed, ends)
    first = 0
    for last in ends.tolist():
        hashed[first:last].sort()
        first = last
    keep_distinct(hashed, ends)


@compiled
def hash_each(forms, bounds, by_characters, size, hashed, ends):
    """Fill `hashed` with the hashes of the shingles of each form, in their order."""
    starts = room_for_starts(bounds)
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


@compiled
def hash_texts(data, bounds, hashed):
    """Fill `hashed` (uint64) with the hash of each whole text, data[bounds[t]:bounds[t + 1]]."""
    for text in range(len(hashed)):
        hashed[text] = hash64(data, bounds[text], bounds[text + 1])


@compiled
def keep_distinct(hashed, ends):
    """Keep one of equal neighbours of each form, and move its end."""
    kept, first = 0, 0
    for form in range(len(ends)):
        last, own = ends[form], kept
        for at in range(first, last):
            if kept == own or hashed[at] != hashed[kept - 1]:
                hashed[kept] = hashed[at]
                kept += 1
        ends[form], first = kept, last


@compiled
def common(hashed, bounds, pairs, shared):
    """Fill `shared` (int64, pairs) with the number of hashes that both sets of a pair have.

    Set t is hashed[bounds[t]:bounds[t + 1]], rising.
    """
    for pair in range(len(pairs)):
        one, other = pairs[pair, 0], pairs[pair, 1]
        i, j = bounds[one], bounds[other]
        last_i, last_j, count = bounds[one + 1], bounds[other + 1], 0
        while i < last_i and j < last_j:
            left, right = hashed[i], hashed[j]
            count += left == right
            i += left <= right
            j += right <= left
        shared[pair] = count
