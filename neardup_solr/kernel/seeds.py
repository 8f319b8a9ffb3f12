"""Seeds of shared passages, in compiled code.

A seed is a run of letters whose hash is least in a window of runs (winnowing: Schleimer, Wilkerson,
Aiken, "Winnowing: local algorithms for document fingerprinting", 2003), so that a run that two
texts share has the same seeds in both.
"""

from __future__ import annotations

import numpy as np

from neardup_solr.kernel import compiled, inner
from neardup_solr.kernel.fold import CODE

U16, U32, U64 = np.uint16, np.uint32, np.uint64
RUN = 16  # letters of a seed
TIMES = 4  # that a text may have a seed; more say no more
MULTIPLIER = U64(0x9E3779B97F4A7C15)


@compiled("uint16[] int64[] int64 uint64[] uint32[] int64[]")
def collect_seeds(letters, bounds, window, hashes, places, ends):
    """Write the seeds of texts: hashes, and the places of their first letters, text by text.

    Text d has those up to ends[d]. Returns the number of texts that were done: the others do not
    fit.
    """
    longest = 0
    for document in range(len(ends)):
        longest = max(longest, bounds[document + 1] - bounds[document])
    runs = np.empty(window, dtype=U64)
    slots = 1
    while slots < longest:
        slots *= 2
    slots = min(max(2 * slots, 16), 1 << 24)
    counted, counts, stamps = (
        np.empty(slots, dtype=U64), np.empty(slots, dtype=np.uint8), np.zeros(slots, dtype=U32),
    )  # fmt: skip
    filled = 0
    for document in range(len(ends)):
        first, last = bounds[document], bounds[document + 1]
        if filled + (last - first) > len(hashes):
            return np.int64(document)
        start = filled
        filled = winnow(letters, first, last, window, runs, hashes, places, filled)
        size = 16
        while size < 2 * (filled - start) and size < slots:
            size *= 2
        filled = _keep_few(
            hashes, places, start, filled, counted, counts, stamps, size, U32(document + 1)
        )
        ends[document] = filled
    return np.int64(len(ends))


@inner
def winnow(letters, first, last, window, runs, hashes, places, filled):
    """Write the run of least hash in each window, once, or in all runs if they are fewer."""
    count = last - first - RUN + 1
    if count < 1:
        return filled
    power, rolled = U64(1), U64(0)
    for at in range(RUN):
        power *= MULTIPLIER
        rolled = rolled * MULTIPLIER + U64(letters[first + at] & CODE) + U64(1)
    least, place = ~U64(0), -1  # of the window
    size = min(window, count)
    for at in range(count):
        if at:
            left, entered = letters[first + at - 1] & CODE, letters[first + at + RUN - 1] & CODE
            rolled = rolled * MULTIPLIER + (U64(entered) + U64(1)) - power * (U64(left) + U64(1))
        hashed = _mix(rolled)
        runs[at % size] = hashed
        if hashed < least or place < 0:
            least, place = hashed, at
            is_new = True
        elif place <= at - size:
            least, place, is_new = ~U64(0), at, True
            for earlier in range(at - size + 1, at + 1):
                if runs[earlier % size] <= least:
                    least, place = runs[earlier % size], earlier
        else:
            is_new = at == size - 1
        if is_new and at >= size - 1:
            hashes[filled], places[filled] = least, U32(place)
            filled += 1
    return filled


@inner
def _mix(value):
    """Mix the bits of a rolled hash (the finaliser of murmur3, Appleby 2011)."""
    value = (value ^ value >> U64(33)) * U64(0xFF51AFD7ED558CCD)
    value = (value ^ value >> U64(33)) * U64(0xC4CEB9FE1A85EC53)
    return value ^ value >> U64(33)


@inner
def _keep_few(hashes, places, start, end, counted, counts, stamps, size, stamp):
    """Keep each hash of a text at most `TIMES`, by a table of which `size` slots are used."""
    filled = start
    for at in range(start, end):
        slot = np.int64(hashes[at] & U64(size - 1))
        for _ in range(32):
            if stamps[slot] != stamp or counted[slot] == hashes[at]:
                break
            slot = (slot + 1) & (size - 1)
        if stamps[slot] != stamp or counted[slot] != hashes[at]:
            counted[slot], counts[slot], stamps[slot] = hashes[at], 0, stamp
        if counts[slot] < TIMES:
            counts[slot] += 1
            hashes[filled], places[filled] = hashes[at], places[at]
            filled += 1
    return filled
