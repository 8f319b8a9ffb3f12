"""Signatures and sets of shingles in compiled code: which of them share a band, or shingles."""

from __future__ import annotations

import numpy as np

from neardup_solr.kernel import compiled, inner
from neardup_solr.kernel.shingle_hashes import hash_bands

U8, U16, U32, U64 = np.uint8, np.uint16, np.uint32, np.uint64
MOST_COUNTED = 65_535  # sets that have a shingle
_HALF, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)


@compiled("uint32[,] int64 int64 int64 uint64[,]")
def hash_columns(signatures, first, rows, at, keys):
    """Fill `keys` (uint64, bands × documents), from document `at`, with bands from `first` on."""
    for document in range(len(signatures)):
        hash_bands(signatures[document, first * rows :], rows, keys[:, at + document])


@compiled("uint32[,] int64 int64 uint64[]")
def hash_values(signatures, first, last, hashed):
    """Fold the values first..last - 1 of each signature into `hashed` (uint64, documents)."""
    for document in range(len(signatures)):
        mixed = hashed[document]
        for value in signatures[document, first:last]:
            mixed = (mixed ^ np.uint64(value)) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(32)
        hashed[document] = mixed


@compiled("uint64[] int64 int64[] uint64[] uint32[]")
def partition(column, shift, ends, keys, rows):
    """Put documents with the same upper bits of their keys together, and return the largest part.

    Part p, of the keys that are p if shifted by `shift`, becomes keys[ends[p - 1]:ends[p]] (uint64)
    of rows (uint32), which rise in it. `column` (uint64, documents) has the keys, `ends` (int64) is
    0 for each part and at the end.
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


@compiled("uint64[] uint32[] int64[] uint32[] uint32[] uint32[] int64 bool[] uint32[] uint32[]")
def runs(keys, rows, parts, slots, lasts, nexts, cap, hot, members, ends):
    """Collect the documents whose keys are equal to another's, run by run.

    `keys`, `rows` and `parts`, as its `ends`, are those of `partition`. Run r is
    members[ends[r - 1]:ends[r]], whose rows rise; gives the number of members and of runs. `hot`
    (bool, documents) marks those of runs of more than `cap` documents. In each part equal keys are
    found by a table, and linked from the first to the last: `slots` (a power of two, at least twice
    the largest part), `lasts` and `nexts` (the largest part) are room for that.
    """
    filled, count, start = 0, 0, 0
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
            if lasts[at] <= at:  # alone with its key, or not the first
                continue
            before, place = filled, at
            while True:
                members[filled] = rows[start + place]
                filled += 1
                if place == lasts[at]:
                    break
                place = int(nexts[place])
            ends[count] = filled
            count += 1
            if filled - before > cap:
                for member in range(before, filled):
                    hot[members[member]] = True
        start = stop
    return filled, count


@compiled("int64 uint32[] uint32[] uint64[,] bool[,] uint64[] uint8[] int64 bool uint32[,]")
def band_pairs(first, members, ends, keys, hot, alike, sides, band, is_first, pairs):
    """Fill `pairs`, from run `first` on, with documents that share this band and no earlier band.

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
        is_hot = hot[band, run[0]]
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
    """Pair each document with the next, or with the next and the last of the other side.

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
def _pair(row, other_row, keys, hot, band, pairs, filled):
    """Fill in a pair, unless an earlier band has it, and return the number of pairs.

    An earlier band that is hot for the two may not have paired them.
    """
    first, second = min(row, other_row), max(row, other_row)
    for earlier in range(band):
        if keys[earlier, first] == keys[earlier, second] and not hot[earlier, first]:
            return filled
    pairs[filled, 0], pairs[filled, 1] = first, second
    return filled + 1


@compiled("uint64[] uint64[] int64[]")
def lookup_sorted(numbers, sorted_numbers, places):
    """Fill `places` (int64, numbers) with the place of each number in `sorted_numbers`, or -1.

    Both are uint64 and ascend, so that they are walked through once, side by side.
    """
    at, end = 0, len(sorted_numbers)
    for number in range(len(numbers)):
        wanted = numbers[number]
        while at < end and sorted_numbers[at] < wanted:
            at += 1
        places[number] = at if at < end and sorted_numbers[at] == wanted else -1


@compiled("uint64[] int64[] uint64[] int64[]")
def renumber_pairs(numbers, places, moved, kept):
    """Give pairs of rows, each a number, the rows at `places` (int64), -1 if they are gone.

    A number has the first row in its upper 32 bits. Fills `moved` (uint64) and `kept` (int64) with
    the new number of each pair of which both rows remain, the smaller first, and where the pair
    was; gives their number, and whether they ascend.
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
        signature, other_signature = signatures[pairs[pair, 0]], signatures[pairs[pair, 1]]
        count = 0
        for value in range(hashes):
            count += signature[value] == other_signature[value]
        equal[pair] = count / hashes


@compiled("uint32[,] uint32[,] int64 int64 int64[]")
def equal_bands(signatures, pairs, bands, rows, counts):
    """Fill `counts` (int64, pairs) with the number of bands of `rows` values that two share."""
    for pair in range(len(pairs)):
        signature, other_signature = signatures[pairs[pair, 0]], signatures[pairs[pair, 1]]
        count = 0
        for band in range(bands):
            row = 0
            while row < rows and signature[band * rows + row] == other_signature[band * rows + row]:
                row += 1
            count += row == rows
        counts[pair] = count


@compiled("uint64[] int64 int64 int64 uint16[]")
def count_hashes(hashed, shift, first, last, counts):
    """Count hashes (uint64) in `counts` (uint16), each in the slot of its bits above `shift`.

    Only slots from `first` on and before `last` are counted, so that several threads may share
    `counts`. Two hashes may share a slot, so a count is that of a hash or more, up to MOST_COUNTED.
    """
    bits, first, last = U64(shift), U64(first), U64(last)
    for value in hashed:
        slot = value >> bits
        if first <= slot < last:
            counts[slot] += U16(counts[slot] < U16(MOST_COUNTED))


@compiled("uint64[] int64[] int64[] int64 uint16[] int64 int64[] int64 uint64[] uint32[] uint8[]")
def choose_hashes(
    hashed, bounds, lacking, shift, counts, cap, tries, enough, keys, owners, matches
):
    """Fill `keys` (uint64) and `owners` (uint32) with what each set looks for in the others.

    Set t is hashed[bounds[t]:bounds[t + 1]]; another set may lack lacking[t] of these (int64).
    It looks for the lowest of those that are counted at most `cap` times: for tries[p] of them
    (int64, 101), if p per cent at least are in the other set, or for all. If the other set may
    lack all of them, it looks among others, too. matches[t] (uint8) becomes how many another set
    has to have: `enough`, or what is sure if all are looked for. What is counted once is in no
    other set; if too few of the rest are left, the set looks for none. Gives how many were filled.
    """
    filled, bits = 0, U64(shift)
    for number in range(len(lacking)):
        first, stop, missing = bounds[number], bounds[number + 1], lacking[number]
        rare, most = 0, cap
        for at in range(first, stop):
            rare += int(counts[hashed[at] >> bits] <= cap)
        if rare <= missing:
            rare, most = stop - first, MOST_COUNTED
        share = 100 * (rare - missing) // max(rare, 1)
        wanted = min(tries[share], rare)
        least = enough if wanted < rare else min(rare - missing, 255)
        begin = filled
        for at in range(first, stop):
            if wanted == 0:
                break
            having = int(counts[hashed[at] >> bits])
            if having <= most:
                keys[filled], owners[filled] = hashed[at], number
                filled += int(having > 1)
                wanted -= 1
        if filled - begin < least:
            filled = begin
        matches[number] = least
    return filled


@compiled("uint64[] int64[] int64 bool[] uint64[] uint32[]")
def collect_hashes(hashed, bounds, shift, is_wanted, keys, rows):
    """Fill `keys` (uint64) and `rows` (uint32) with all hashes in a slot that `is_wanted` marks.

    Sets are those of `choose_hashes`, slots those of `count_hashes`. Gives their number.
    """
    filled, bits = 0, U64(shift)
    for number in range(len(bounds) - 1):
        for at in range(bounds[number], bounds[number + 1]):
            keys[filled], rows[filled] = hashed[at], number
            filled += is_wanted[hashed[at] >> bits]
    return filled


@compiled(
    "uint32[] int64[] int64[] int64[] uint32[] uint8[] int64[] uint8[] uint32[] uint32[] uint8[]"
    " uint32[,]"
)
def pair_owners(
    owners, begins, ends, looks, others, matches, sizes, sides, groups, seen, counts, pairs
):
    """Fill `pairs` with the owners of hashes and others that have enough of these.

    `others` (uint32) are the rows that have a hash, those of each hash together. Hash h of row
    owners[h] (uint32, rising) is that of others[begins[h]:ends[h]] (int64); its owner looks at
    looks[h] of them, from a place that depends on its row, round about. If these are all, the
    larger set of two (by `sizes`, then by row) leaves the pair to the other. `sides` (uint8) is
    empty, or only rows of different sides are paired; `groups` (uint32) is empty, or only those of
    the same. A row has to be met matches[owner] times (uint8): `seen` (uint32, rows) notes whom it
    met last, as that row and 1, and is 0 at first, `counts` (uint8, rows) how often. Gives how many
    pairs were filled; `pairs` (uint32, room × 2) has room for all that the owners look at.
    """
    filled = 0
    for number in range(len(owners)):
        row, size = owners[number], ends[number] - begins[number]
        is_hot = looks[number] < size
        at = begins[number] + np.int64(row) % size
        for _ in range(looks[number]):
            at = at + 1 if at + 1 < ends[number] else begins[number]
            other_row = others[at]
            is_larger = sizes[row] > sizes[other_row] or (
                sizes[row] == sizes[other_row] and row >= other_row
            )
            if other_row == row or (is_larger and not is_hot):
                continue
            if len(sides) and sides[row] == sides[other_row]:
                continue
            if len(groups) and groups[row] != groups[other_row]:
                continue
            if seen[other_row] != row + U32(1):
                seen[other_row], counts[other_row] = row + U32(1), 0
            counts[other_row] += U8(counts[other_row] < U8(255))
            if counts[other_row] == matches[row]:
                pairs[filled, 0], pairs[filled, 1] = min(row, other_row), max(row, other_row)
                filled += 1
    return filled
