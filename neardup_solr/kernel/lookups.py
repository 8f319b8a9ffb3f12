"""Shingles that each set looks for in the others, and the pairs that come of it, compiled."""

from __future__ import annotations

import numpy as np

from neardup_solr.kernel import compiled

U8, U16, U32, U64 = np.uint8, np.uint16, np.uint32, np.uint64
MOST = 65_535  # to which sets are counted


@compiled("uint64[] int64 int64 int64 uint16[]")
def count(hashed, shift, first, last, counts):
    """Count hashes (uint64) in `counts` (uint16), each in the slot of its bits above `shift`.

    Only slots from `first` on and before `last` are counted, so that several threads may share
    `counts`. Two hashes may share a slot, so a count is that of a hash or more, up to MOST.
    """
    bits, first, last = U64(shift), U64(first), U64(last)
    for value in hashed:
        slot = value >> bits
        if first <= slot < last:
            counts[slot] += U16(counts[slot] < U16(MOST))


@compiled("uint64[] int64[] int64[] int64 uint16[] int64 int64[] int64 uint64[] uint32[] uint8[]")
def choose(hashed, bounds, lacking, shift, counts, cap, tries, enough, keys, owners, matches):
    """Fill `keys` (uint64) and `owners` (uint32) with what each set looks for in the others.

    Set t is hashed[bounds[t]:bounds[t + 1]]; another one may lack lacking[t] of these (int64).
    It looks for the lowest of those that are counted at most `cap` times: for tries[p] of them
    (int64, 101), if p per cent at least are in the other set, or for all. If the other one may
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
            rare, most = stop - first, MOST
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
def collect(hashed, bounds, shift, is_wanted, keys, rows):
    """Fill `keys` (uint64) and `rows` (uint32) with all hashes in a slot that `is_wanted` marks.

    Sets are those of `choose`, slots those of `count`. Gives how many there are.
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
    looks[h] of them, from a place of its own on, round about. If these are all, the larger set of
    two (by `sizes`, then by row) leaves the pair to the other one. `sides` (uint8) is empty, or
    only rows of different sides are paired; `groups` (uint32) is empty, or only those of the same.
    A row has to be met matches[owner] times (uint8): `seen` (uint32, rows) notes whom it met last,
    as that row and 1, and is 0 at first, `counts` (uint8, rows) how often. Gives how many pairs
    were filled; `pairs` (uint32, room × 2) has room for all that the owners look at.
    """
    filled = 0
    for number in range(len(owners)):
        own, size = owners[number], ends[number] - begins[number]
        is_hot = looks[number] < size
        at = begins[number] + np.int64(own) % size
        for _ in range(looks[number]):
            at = at + 1 if at + 1 < ends[number] else begins[number]
            other = others[at]
            is_larger = sizes[own] > sizes[other] or (sizes[own] == sizes[other] and own >= other)
            if other == own or (is_larger and not is_hot):
                continue
            if len(sides) and sides[own] == sides[other]:
                continue
            if len(groups) and groups[own] != groups[other]:
                continue
            if seen[other] != own + U32(1):
                seen[other], counts[other] = own + U32(1), 0
            counts[other] += U8(counts[other] < U8(255))
            if counts[other] == matches[own]:
                pairs[filled, 0], pairs[filled, 1] = min(own, other), max(own, other)
                filled += 1
    return filled
