"""How far one word stands for another in compiled code; equal to pure/comparing/alignment.py."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

BITS = np.uint32(31)  # a letter is in one of 32 sets, by its lowest bits
PAIRS, FOURS, EIGHTS = np.uint32(0x55555555), np.uint32(0x33333333), np.uint32(0x0F0F0F0F)


class Vocabulary(NamedTuple):
    """Word w has letters[bounds[w]:bounds[w + 1]] (code points), a weight, maybe digits.

    `sets` are those of `letter_sets`.
    """

    letters: Any
    bounds: Any
    sets: Any
    weights: Any
    numeric: Any


class Rules(NamedTuple):
    """The constants of pure/comparing/alignment.py; acronyms have `fewest` to `most` letters."""

    abbreviated: float
    initial: float
    slips: float
    longest: int
    fewest: int
    most: int


@njit(nogil=True, cache=True)
def letter_sets(letters, bounds):
    """The letters of each word as a set of 32 bits; words of different sets have other letters."""
    sets = np.zeros(len(bounds) - 1, dtype=np.uint32)
    for word in range(len(sets)):
        for at in range(bounds[word], bounds[word + 1]):
            sets[word] |= np.uint32(1) << (letters[at] & BITS)
    return sets


@njit(nogil=True, cache=True)
def may_stand(size, other_size, letters, other_letters, rules):
    """Whether sizes and letters allow that one word stands for the other."""
    longer, difference = max(size, other_size), abs(size - other_size)
    if longer > rules.longest:
        return False
    shared = letters & other_letters
    if shared == (letters if size < other_size else other_letters):
        return True  # the shorter one may be an abbreviation
    most = int(longer * rules.slips)
    return difference <= most and _bits(letters ^ other_letters) <= 2 * most


@njit(nogil=True, cache=True)
def word_similarity(short, long, vocabulary, rules, table):
    """How far a word stands for another one; neither is too long, `short` has no digit."""
    bounds, letters = vocabulary.bounds, vocabulary.letters
    if vocabulary.numeric[long]:
        return 0.0
    if bounds[short + 1] - bounds[short] > bounds[long + 1] - bounds[long]:
        short, long = long, short
    begin, size = bounds[short], bounds[short + 1] - bounds[short]
    other, other_size = bounds[long], bounds[long + 1] - bounds[long]
    if letters[begin] == letters[other]:
        same = 0
        while same < size and letters[begin + same] == letters[other + same]:
            same += 1
        if same == size:
            return rules.abbreviated if size > 1 else rules.initial
        if size > 1 and letters[begin + size - 1] == letters[other + other_size - 1]:
            for at in range(other + same, other + other_size):
                if same < size and letters[at] == letters[begin + same]:
                    same += 1
            if same == size:
                return rules.abbreviated
    most = int(other_size * rules.slips)
    if other_size - size > most:
        return 0.0
    slips = _slips(letters[begin : begin + size], letters[other : other + other_size], most, table)
    return 1.0 - slips / other_size if slips <= most else 0.0


@njit(nogil=True, cache=True)
def _bits(letters):
    """The number of set bits."""
    letters = np.uint32(letters - ((letters >> np.uint32(1)) & PAIRS))
    letters = np.uint32((letters & FOURS) + ((letters >> np.uint32(2)) & FOURS))
    letters = np.uint32((letters + (letters >> np.uint32(4))) & EIGHTS)
    letters = np.uint32(letters + (letters >> np.uint32(8)))
    return np.int64(letters + (letters >> np.uint32(16))) & 63


@njit(nogil=True, cache=True)
def _slips(first, second, most, table):
    """Optimal string alignment distance (Boytsov 2011, section 2.1), or more than `most`."""
    before, last, row = table[0], table[1], table[2]
    for at in range(len(second) + 1):
        last[at] = at
    for at in range(1, len(first) + 1):
        row[0] = least = at
        for place in range(1, len(second) + 1):
            differ = first[at - 1] != second[place - 1]
            cost = min(last[place - 1] + differ, last[place] + 1, row[place - 1] + 1)
            if at > 1 and place > 1 and differ:
                swapped = first[at - 1] == second[place - 2] and first[at - 2] == second[place - 1]
                if swapped:
                    cost = min(cost, before[place - 2] + 1)
            row[place] = cost
            least = min(least, cost)
        if least > most:
            return most + 1
        before, last, row = last, row, before
    return last[len(second)]
