"""Words as numbers: equal words of many texts get equal ones, in compiled code."""

from __future__ import annotations

import numpy as np
from numba import njit

from neardup_solr.kernel.hashes import fnv64
from neardup_solr.kernel.normal import BLANK

N0, N1, U32, U64 = np.uint64(0), np.uint64(1), np.uint32, np.uint64


@njit(nogil=True, cache=True)
def number(forms, bounds, hashes, known, count, numbers, ends):
    """Fill `numbers` (uint32) with the number of each word, counted from 0 as they first come.

    Form d is forms[bounds[d]:bounds[d + 1]], a normal form in UTF-8; its numbers end at ends[d].
    Words are told apart by 64-bit hashes: `hashes` and `known` (a power of two of slots) have the
    `count` words that came before. Gives both, with more slots if need be, and the new count.
    """
    filled, count = 0, U32(count)
    for form in range(len(ends)):
        start = bounds[form]
        while start < bounds[form + 1]:
            stop = start
            while stop < bounds[form + 1] and forms[stop] != BLANK:
                stop += N1
            hashed = fnv64(forms, start, stop)
            slot = _slot(hashes, known, hashed)
            if not known[slot]:
                count += U32(1)
                hashes[slot], known[slot] = hashed, count
            numbers[filled] = known[slot] - U32(1)
            filled += 1
            start = stop + N1
            if 2 * count > len(known):
                hashes, known = _doubled(hashes, known)
        ends[form] = filled
    return hashes, known, count


@njit(nogil=True, cache=True)
def _slot(hashes, known, hashed):
    """Where a hash is, or would be; 0 in `known` is free."""
    mask = U64(len(hashes) - 1)
    slot = hashed & mask
    while known[slot] and hashes[slot] != hashed:
        slot = (slot + N1) & mask
    return slot


@njit(nogil=True, cache=True)
def _doubled(hashes, known):
    more, numbers = np.zeros(2 * len(hashes), np.uint64), np.zeros(2 * len(known), np.uint32)
    for at in range(len(hashes)):
        if known[at]:
            slot = _slot(more, numbers, hashes[at])
            more[slot], numbers[slot] = hashes[at], known[at]
    return more, numbers


@njit(nogil=True, cache=True)
def sort_each(numbers, ends):
    """Sort the numbers of each form."""
    for form in range(len(ends)):
        first = ends[form - 1] if form else 0
        numbers[first : ends[form]] = np.sort(numbers[first : ends[form]])


@njit(nogil=True, cache=True)
def may_be_near(bags, ends, pairs, allowed, may_be):
    """Fill `may_be` (bool, pairs): whether two texts can be at most `allowed` words apart.

    Words that only one of two texts has, in whatever order, have to be replaced or deleted;
    `bags` has the sorted numbers of the words of each.
    """
    for pair in range(len(pairs)):
        one, other = pairs[pair, 0], pairs[pair, 1]
        i, j = ends[one - 1] if one else 0, ends[other - 1] if other else 0
        longest = max(ends[one] - i, ends[other] - j)
        needed = longest - allowed[pair]  # words in common
        common = 0
        while i < ends[one] and j < ends[other] and common < needed:
            left, right = bags[i], bags[j]
            common += left == right
            i += left <= right
            j += right <= left
        may_be[pair] = common >= needed
