"""Signatures in compiled code: hashed, compared, and which of them share a band."""

from __future__ import annotations

import numpy as np

from neardup_solr.kernel import compiled, inner
from neardup_solr.kernel.shingle_hashes import hash_bands

_HALF, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)


@compiled("uint32[,] int64 int64 uint64[,]")
def hash_rows(signatures, first, rows, keys):
    """Fill `keys` (uint64, documents × bands) with the hashes of bands from `first` on."""
    for document in range(len(signatures)):
        hash_bands(signatures[document, first * rows :], rows, keys[document])


@compiled("uint32[,] int64 uint64[]")
def hash_whole(signatures, used, hashed):
    """Fill `hashed` (uint64, documents) with one hash over the first `used` values of each."""
    for document in range(len(signatures)):
        mixed = np.uint64(0xCBF29CE484222325)
        for value in signatures[document, :used]:
            mixed = (mixed ^ np.uint64(value)) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(32)
        hashed[document] = mixed


@compiled("uint64[] int64 int64[] uint64[] uint32[]")
def partition(column, shift, ends, keys, rows):
    """Put documents with the same upper bits of their keys together, and return the largest part.

    Part p, of the keys that are p if shifted by `shift`, becomes keys[ends[p - 1]:ends[p]] (uint64)
    of rows (uint32), which rise in it. `column` (uint64, documents) has the keys, `ends` (int64) is
    0 for each part and one more.
    """
    bits = np.uint64(shift)
    for row in range(len(column)):
        ends[(column[row] >> bits) + np.uint64(1)] += 1
    largest = 0
    for part in range(1, len(ends)):
        largest = max(largest, ends[part])
        ends[part] += ends[part - 1]
    for row in range(len(column)):
        part = column[row] >> bits
        at = ends[part]
        keys[at], rows[at] = column[row], row
        ends[part] += 1
    return largest


@compiled(
    "uint64[] uint32[] int64[] uint32[] uint32[] uint32[] int64 bool[,] int64 uint32[] uint32[]"
)
def runs(keys, rows, parts, slots, lasts, nexts, cap, hot, band, members, ends):
    """Collect the documents whose keys are equal to another's, run by run.

    `keys`, `rows` and `parts`, as its `ends`, are those of `partition`. Run r is
    members[ends[r - 1]:ends[r]], whose rows rise; gives the number of members and of runs. `hot`
    (documents, bands) marks, in this band, those of runs of more than `cap` documents. In each part
    equal keys are found by a table, and linked from the first to the last: `slots` (a power of two,
    at least twice the largest part), `lasts` and `nexts` (the largest part) are room for that.
    """
    filled, found, start = 0, 0, 0
    for part in range(len(parts) - 1):
        stop = parts[part]
        size = stop - start
        room = 2
        while room < 2 * size:
            room *= 2
        slots[:room] = 0
        end = np.uint64(room - 1)
        for at in range(size):
            key = keys[start + at]
            slot = (key ^ key >> np.uint64(32)) & end
            while slots[slot] and keys[start + slots[slot] - 1] != key:
                slot = (slot + np.uint64(1)) & end
            if slots[slot]:
                first = slots[slot] - 1
                nexts[lasts[first]] = at
                lasts[first] = at
                lasts[at] = 0
            else:
                slots[slot] = at + 1
                lasts[at] = at
        for at in range(size):
            if lasts[at] <= at:  # the only one of its key, or not the first
                continue
            before, place = filled, at
            while True:
                members[filled] = rows[start + place]
                filled += 1
                if place == lasts[at]:
                    break
                place = int(nexts[place])
            ends[found] = filled
            found += 1
            if filled - before > cap:
                for member in range(before, filled):
                    hot[members[member], band] = True
        start = stop
    return filled, found


@compiled("int64 uint32[] uint32[] uint64[,] bool[,] uint64[] uint8[] int64 bool uint32[,]")
def band_pairs(first, members, ends, keys, hot, alike, sides, band, is_first, pairs):
    """Fill `pairs`, from run `first` on, with documents that share this band and no earlier one.

    Runs that `hot` marks are chained instead, in their order; `alike` (uint64, documents) is equal
    for equal signatures. `sides` (uint8) is empty, or only documents of
    different sides are paired; `is_first` marks the first band of all.
    Gives the run where the next call goes on (the number of runs once all is done) and how many
    pairs were filled; `pairs` (uint32, room × 2) has room for the largest run.
    """
    filled = 0
    for number in range(first, len(ends)):
        run = members[ends[number - 1] if number else 0 : ends[number]]
        size = len(run)
        is_hot = hot[run[0], band]
        if filled + (2 * size if is_hot else size * (size - 1) // 2) > len(pairs):
            return number, filled
        if is_hot:
            filled = _chain(run, keys, hot, alike, sides, band, is_first, pairs, filled)
        else:
            filled = _pair_all(run, keys, hot, sides, band, pairs, filled)
    return len(ends), filled


@inner
def _pair_all(run, keys, hot, sides, band, pairs, filled):
    for at in range(len(run) - 1):
        for other in range(at + 1, len(run)):
            if not len(sides) or sides[run[at]] != sides[run[other]]:
                filled = _pair(run[at], run[other], keys, hot, band, pairs, filled)
    return filled


@inner
def _chain(run, keys, hot, alike, sides, band, is_first, pairs, filled):
    """Pair each document with the next one, or with the next and the last of the other side.

    Those of equal signatures are neighbours in every band, and chained in the first of all.
    """
    for way in (1, -1):
        met = np.full(2, -1)
        for place in range(len(run)):
            at = place if way > 0 else len(run) - 1 - place
            side = sides[run[at]] if len(sides) else 0
            other = met[1 - side] if len(sides) else met[0]
            if other >= 0 and (is_first or alike[run[at]] != alike[run[other]]):
                filled = _pair(run[at], run[other], keys, hot, band, pairs, filled)
            met[side] = at
        if not len(sides):
            break
    return filled


@inner
def _pair(one, other, keys, hot, band, pairs, filled):
    """Fill in a pair, unless an earlier band has it, and return how many there are now.

    An earlier band that is hot for the two may not have paired them.
    """
    first, second = min(one, other), max(one, other)
    for earlier in range(band):
        if keys[first, earlier] == keys[second, earlier] and not hot[first, earlier]:
            return filled
    pairs[filled, 0], pairs[filled, 1] = first, second
    return filled + 1


@compiled("uint64[] uint64[] int64[]")
def lookup_sorted(numbers, known, places):
    """Fill `places` (int64, numbers) with where each number is among the known ones, else -1.

    Both are uint64 and ascend, so that they are walked through once, side by side.
    """
    at, end = 0, len(known)
    for number in range(len(numbers)):
        wanted = numbers[number]
        while at < end and known[at] < wanted:
            at += 1
        places[number] = at if at < end and known[at] == wanted else -1


@compiled("uint64[] int64[] uint64[] int64[]")
def renumber_pairs(numbers, places, moved, kept):
    """Give pairs of rows, each a number, the rows at `places` (int64), -1 if they are gone.

    A number has the first row in its upper 32 bits. Fills `moved` (uint64) and `kept` (int64) with
    the new number of each pair of which both rows are there, the smaller first, and where the pair
    was; gives how many there are, and whether they ascend.
    """
    count, last, do_ascend = 0, np.uint64(0), True
    for number in range(len(numbers)):
        first, second = places[numbers[number] >> _HALF], places[numbers[number] & _LOW]
        if first < 0 or second < 0:
            continue
        new = np.uint64(min(first, second)) << _HALF | np.uint64(max(first, second))
        if new < last:
            do_ascend = False
        moved[count], kept[count] = new, number
        last, count = new, count + 1
    return count, do_ascend


@compiled("uint32[,] uint32[,] float64[]")
def equal_values(signatures, pairs, equal):
    """Fill `equal` (float64, pairs) with the share of equal values of two signatures."""
    hashes = signatures.shape[1]
    for pair in range(len(pairs)):
        one, other = signatures[pairs[pair, 0]], signatures[pairs[pair, 1]]
        count = 0
        for value in range(hashes):
            count += one[value] == other[value]
        equal[pair] = count / hashes
