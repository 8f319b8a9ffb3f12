"""Sets of shingles as sorted hashes, and how much they overlap, in compiled code."""

from __future__ import annotations

import numpy as np
from numba import njit

from neardup_solr.pure.kernel.hashes import fnv64
from neardup_solr.pure.kernel.pieces import words
from neardup_solr.pure.kernel.texts import SPARE, characters

N0, N1, U32, U64 = np.uint64(0), np.uint64(1), np.uint32, np.uint64


@njit(nogil=True, cache=True)
def shingle_sets(forms, bounds, by_characters, size, hashed, ends):
    """Fill `hashed` (uint64) with the rising 64-bit hashes of each form's set of shingles.

    Form d is forms[bounds[d]:bounds[d + 1]], a normal form in UTF-8; its hashes end at ends[d].
    """
    most = N0
    for form in range(len(ends)):
        most = max(most, bounds[form + 1] - bounds[form])
    starts = np.empty(most + U64(SPARE), dtype=np.uint32)
    filled = 0
    for form in range(len(ends)):
        begin, end = bounds[form], bounds[form + 1]
        if by_characters:
            pieces, gap = characters(forms, begin, end, starts), N0
        else:
            pieces, gap = words(forms, begin, end, starts), N1
        starts[pieces] = U32(end - begin + gap)
        first = filled
        length = min(size, pieces)
        piece = N0
        while pieces and piece + length <= pieces:
            start = begin + U64(starts[piece])
            stop = begin + U64(starts[piece + length]) - gap
            hashed[filled] = fnv64(forms, start, stop)
            filled += 1
            piece += N1
        hashed[first:filled] = np.sort(hashed[first:filled])
        filled = _distinct(hashed, first, filled)
        ends[form] = filled


@njit(nogil=True, cache=True)
def _distinct(hashed, first, last):
    kept = first
    for at in range(first, last):
        if at == first or hashed[at] != hashed[kept - 1]:
            hashed[kept] = hashed[at]
            kept += 1
    return kept


@njit(nogil=True, cache=True)
def common(hashed, ends, pairs, shared):
    """Fill `shared` (int64, pairs) with the number of hashes that both sets of a pair have."""
    for pair in range(len(pairs)):
        one, other = pairs[pair, 0], pairs[pair, 1]
        i, j = ends[one - 1] if one else 0, ends[other - 1] if other else 0
        last_i, last_j, count = ends[one], ends[other], 0
        while i < last_i and j < last_j:
            left, right = hashed[i], hashed[j]
            count += left == right
            i += left <= right
            j += right <= left
        shared[pair] = count
