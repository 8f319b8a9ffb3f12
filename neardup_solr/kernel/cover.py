"""Letters that the passages of pairs of texts cover, in compiled code."""

from __future__ import annotations

import numpy as np

from neardup_solr.kernel import compiled, inner
from neardup_solr.kernel.fold import CODE
from neardup_solr.kernel.growth import MASK, keep_longest, match_pair
from neardup_solr.kernel.seeds import TIMES, winnow

U32, U64 = np.uint32, np.uint64
CLOSE = 4  # runs of letters of which a seed is chosen


@compiled("uint16[] int64[] uint32[,] int64 int64[,]")
def cover_pairs(letters, bounds, pairs, least, out):
    """Count the letters that the passages of pairs of texts cover, in either, and their edits.

    A passage has at least so many letters as `least`.
    """
    room = 1 << 10
    hits, passages = np.empty((room, 3), dtype=U32), np.empty((room, 8), dtype=np.int64)
    hashes, places = np.empty((2, room), dtype=U64), np.empty((2, room), dtype=U32)
    runs, waves = np.empty(CLOSE, dtype=U64), np.empty((2, MASK + 1), dtype=np.int64)
    slots, following = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    for at in range(len(pairs)):
        first, second = np.int64(pairs[at, 0]), np.int64(pairs[at, 1])
        size, other_size = bounds[first + 1] - bounds[first], bounds[second + 1] - bounds[second]
        if _are_equal(letters, bounds, first, second):
            out[at, 0], out[at, 1], out[at, 2] = size, size, 0
            continue
        needed = 64 + 2 * max(size, other_size)
        if needed > hashes.shape[1]:
            hashes, places = np.empty((2, needed), dtype=U64), np.empty((2, needed), dtype=U32)
            following = np.empty(needed, dtype=np.int64)
        count = winnow(
            letters, bounds[first], bounds[first + 1], CLOSE, runs, hashes[0], places[0], 0
        )
        other_count = winnow(
            letters, bounds[second], bounds[second + 1], CLOSE, runs, hashes[1], places[1], 0
        )
        used = 16
        while used < 2 * other_count:
            used *= 2
        if used > len(slots):
            slots = np.empty(used, dtype=np.int64)
        _chain_seeds(hashes[1], other_count, slots, used, following)
        while True:
            filled = _join_seeds(second, hashes, places, count, slots, used, following, hits)
            if filled <= len(hits):
                break
            hits, passages = (
                np.empty((filled, 3), dtype=U32), np.empty((filled, 8), dtype=np.int64),
            )  # fmt: skip
        grown = 0
        if filled:
            grown = match_pair(first, hits, 0, filled, letters, bounds, waves, passages, 0)
        kept = keep_longest(passages, 0, grown, 0, least)
        out[at, 0], out[at, 1] = _cover(passages, kept, 2), _cover(passages, kept, 4)
        out[at, 2] = 0
        for passage in range(kept):
            out[at, 2] += passages[passage, 6]


@inner
def _are_equal(letters, bounds, first, second):
    """Tell whether two texts have the same letters."""
    size = bounds[first + 1] - bounds[first]
    if size != bounds[second + 1] - bounds[second]:
        return False
    for at in range(size):
        if (letters[bounds[first] + at] ^ letters[bounds[second] + at]) & CODE:
            return False
    return True


@inner
def _chain_seeds(hashes, count, slots, used, following):
    """Chain the seeds of a text that have a slot, the first first: `following` has the next."""
    for slot in range(used):
        slots[slot] = -1
    for seed in range(count - 1, -1, -1):
        place = np.int64(hashes[seed] & U64(used - 1))
        following[seed], slots[place] = slots[place], seed


@inner
def _join_seeds(text, hashes, places, count, slots, used, following, hits):
    """List the seeds that two texts have, each with at most `TIMES` of the other, and count them.

    Those that do not fit are only counted.
    """
    filled = 0
    for seed in range(count):
        other, times = slots[np.int64(hashes[0, seed] & U64(used - 1))], 0
        while other >= 0 and times < TIMES:
            if hashes[1, other] == hashes[0, seed]:
                if filled < len(hits):
                    hits[filled, 0], hits[filled, 1], hits[filled, 2] = (
                        U32(text), places[0, seed], places[1, other],
                    )  # fmt: skip
                filled += 1
                times += 1
            other = following[other]
    return filled


@inner
def _cover(passages, count, side):
    """Count the letters that passages cover on a side, each once. Sorts them by their starts."""
    for at in range(1, count):
        place = at
        while place > 0 and passages[place - 1, side] > passages[place, side]:
            for column in range(passages.shape[1]):
                passages[place - 1, column], passages[place, column] = (
                    passages[place, column], passages[place - 1, column],
                )  # fmt: skip
            place -= 1
    covered, reached = np.int64(0), np.int64(0)
    for at in range(count):
        start, end = max(passages[at, side], reached), passages[at, side + 1]
        if end > start:
            covered, reached = covered + end - start, end
    return covered
