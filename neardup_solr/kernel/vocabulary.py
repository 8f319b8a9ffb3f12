"""Words as numbers: equal words of many texts get equal ones, in compiled code."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neardup_solr.kernel.hashes import fnv64
from neardup_solr.kernel.machine import compiled, inner
from neardup_solr.kernel.normal import BLANK

N1, U32, U64 = np.uint64(1), np.uint32, np.uint64


def number(
    forms: NDArray[np.uint8],
    bounds: NDArray[np.uint64],
    hashes: NDArray[np.uint64],
    known: NDArray[np.uint32],
    count: int,
    numbers: NDArray[np.uint32],
    ends: NDArray[np.int64],
) -> tuple[NDArray[np.uint64], NDArray[np.uint32], int]:
    """Fill `numbers` (uint32) with the number of each word, counted from 0 as they first come.

    Form d is forms[bounds[d]:bounds[d + 1]], a normal form in UTF-8; its numbers end at ends[d].
    Words are told apart by 64-bit hashes: `hashes` and `known` (a power of two of slots) have the
    `count` words that came before. Gives both, with more slots if need be, and the new count.
    """
    form, start, filled = 0, int(bounds[0]), 0
    while form < len(ends):
        form, start, filled, count = number_until_full(
            forms, bounds, hashes, known, numbers, ends, form, start, filled, count
        )
        if form < len(ends):
            more = np.zeros(2 * len(hashes), np.uint64), np.zeros(2 * len(known), np.uint32)
            move(hashes, known, *more)
            hashes, known = more
    return hashes, known, count


@compiled
def number_until_full(forms, bounds, hashes, known, numbers, ends, form, start, filled, count):
    """Number the words from byte `start` of a form on, until half of the slots are taken.

    Gives where it stopped: form, start, filled and count; past the last form once all is done.
    """
    at = U64(start)
    while form < len(ends):
        while at < bounds[form + 1]:
            if 2 * count >= len(known):
                return form, np.int64(at), filled, count
            stop = at
            while stop < bounds[form + 1] and forms[stop] != BLANK:
                stop += N1
            hashed = fnv64(forms, at, stop)
            slot = _slot(hashes, known, hashed)
            if not known[slot]:
                count += 1
                hashes[slot], known[slot] = hashed, U32(count)
            numbers[filled] = known[slot] - U32(1)
            filled += 1
            at = stop + N1
        ends[form] = filled
        form += 1
        if form < len(ends):
            at = bounds[form]
    return form, np.int64(at), filled, count


@inner
def _slot(hashes, known, hashed):
    """Where a hash is, or would be; 0 in `known` is free."""
    mask = U64(len(hashes) - 1)
    slot = hashed & mask
    while known[slot] and hashes[slot] != hashed:
        slot = (slot + N1) & mask
    return slot


@compiled
def move(hashes, known, more, numbers):
    """Put all known hashes into other slots, which are more."""
    for at in range(len(hashes)):
        if known[at]:
            slot = _slot(more, numbers, hashes[at])
            more[slot], numbers[slot] = hashes[at], known[at]


def sort_each(numbers: NDArray[np.uint32], ends: NDArray[np.int64]) -> None:
    """Sort the numbers of each form."""
    first = 0
    for last in ends.tolist():
        numbers[first:last].sort()
        first = last


@compiled
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
