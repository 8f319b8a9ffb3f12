"""Candidate pairs that share shingles, at any size of the texts.

LSH bands go by all shingles of two texts, of which an excerpt and a long text have few in common.
Here each set looks for some of its shingles in the others. If another set has four fifths of them,
it has each of 23 with a probability of 0.8, if these are drawn by their hashes, and fewer than 8
with a probability of 10^-6. So 23 are enough, however long the text is, and all of a short text.
Shingles that many sets have are left out as long as the others tell enough: then the 23 become
more.

So the smaller set of a pair is sampled, and all of the larger is looked through. Other ways
need more keys for that (bands over windows; LSH Ensemble, Zhu et al., 2016), or pair all that share
a sentence (winnowing; Schleimer, Wilkerson, Aiken, 2003).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise, repeat
from math import ceil, comb, sqrt

import numpy as np
from numpy.typing import NDArray

from neardup_solr.candidates import DEFAULT, SPREAD, Candidates, Joining
from neardup_solr.candidates.pair_array import PairArray
from neardup_solr.distinct import sort_distinct
from neardup_solr.kernel import joins
from neardup_solr.measures import Flat
from neardup_solr.measures.pairs import Pairs, split_bounds
from neardup_solr.progress import prefetch, thread_pool
from neardup_solr.sizes import SIZES

ENOUGH = 8  # shingles that another set has to have, of those that a set looks for
MISSED = 1e-6  # the probability that it has fewer, though it has enough of all
COMMON = 64  # sets: a shingle that more of them have is left out if the others tell enough
_RAREST = 5  # per cent of shingles in common from which a few are enough
_ALL = 1 << 40
_SLOTS = 2  # in which a shingle is counted, for each of them, if the memory has room
_WANTED, _LEAST = 8, 10  # slots for each shingle that somebody looks for; bits of them
_COST = 64  # bytes of a shingle that somebody looks for, with all that is needed for it meanwhile
Hashes = NDArray[np.uint64]
Rows = NDArray[np.uint32]
Counts = NDArray[np.int64]
_NOTHING = np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.uint32)


def shingle_candidates(sets: Flat, least: float, *, joining: Joining = DEFAULT) -> Candidates:
    """Find the pairs of sets that may share at least the part `least` of the smaller.

    `sets` have rising hashes of shingles, as `hash_sets` makes them. If no more sets than
    `joining.cap` have a shingle, those that look for it meet all that have it; else they meet as
    many as make cap² meetings, and `hot_keys` counts it, if these are not all.

    Raises SettingsError beyond `joining.most` pairs.
    """
    search = _ShingleSearch(sets, least, joining)
    pairs, hot_keys, enough = PairArray(joining), 0, 0
    for keys, owners in search.choose_parts():
        lookups = search.find_owners(keys, owners)
        hot_keys, enough = hot_keys + lookups.hot_keys, max(enough, lookups.enough)
        for block in lookups.pairs(search.matches, sets.lengths, joining):
            pairs.add(block)
    if hot_keys:
        pairs.keep_distinct()
    return Candidates(pairs=pairs.pairs, hot_keys=hot_keys, enough=enough)


def tries_by_share() -> Counts:
    """Return how many shingles to look for if the other set has p per cent of them at least, by p.

    With so many, it has fewer than `ENOUGH` with a probability of `MISSED` at most.
    """
    tries = np.full(101, _ALL)
    count = ENOUGH
    for percent in range(100, _RAREST - 1, -1):
        share = percent / 100
        while _probability_of_fewer(count, share) > MISSED:
            count += 1
        tries[percent] = count
    return tries


def _probability_of_fewer(count: int, share: float) -> float:
    """Return the probability of fewer than ENOUGH successes of `count`, each with p = `share`."""
    return sum(
        comb(count, few) * share**few * (1 - share) ** (count - few) for few in range(ENOUGH)
    )


class _ShingleSearch:
    """Chooses the shingles that sets look for, by a table of how many sets have each."""

    def __init__(self, sets: Flat, least: float, joining: Joining) -> None:
        self._sets, self._joining = sets, joining
        sizes = sets.lengths
        shared = np.maximum(np.ceil(least * sizes).astype(np.int64), 1)
        self._lacking = np.maximum(sizes - shared, 0)
        self._tries = tries_by_share()
        self.matches = np.zeros(len(sizes), dtype=np.uint8)
        room = max(2, joining.memory // 2)  # 2 bytes each
        bits = min((_SLOTS * len(sets.values)).bit_length(), room.bit_length() - 1)
        self._shift, self._counts = 64 - bits, np.zeros(1 << bits, dtype=np.uint16)
        ends = np.linspace(0, len(self._counts), joining.threads + 1).astype(np.int64).tolist()
        with thread_pool(joining.threads) as pool:
            for values, *_ in self._blocks():
                count = partial(joins.count_hashes, values, self._shift)
                list(pool.map(count, ends[:-1], ends[1:], repeat(self._counts)))

    def choose_parts(self) -> Iterator[tuple[Hashes, Rows]]:
        """Yield what some sets look for, each shingle with its row: as much as fits the memory."""
        part, size = [_NOTHING], 0
        with thread_pool(self._joining.threads) as pool:
            chosen = prefetch(pool, self._choose, self._blocks(), at_once=self._joining.threads)
            for keys, owners, having in chosen:
                if part and (size + having) * _COST > self._joining.memory:
                    yield _concatenate(part)
                    part, size = [_NOTHING], 0
                part.append((keys, owners))
                size += having
        yield _concatenate(part)

    def _choose(self, block: tuple[Hashes, Counts, slice]) -> tuple[Hashes, Rows, int]:
        """Choose the shingles that the sets of a block look for, and bound their owners."""
        values, bounds, some = block
        keys, owners = np.empty_like(values), np.empty(len(values), dtype=np.uint32)
        filled = joins.choose_hashes(
            values, bounds, self._lacking[some], self._shift, self._counts,
            min(self._joining.cap, COMMON), self._tries, ENOUGH, keys, owners, self.matches[some],
        )  # fmt: skip
        keys, owners = keys[:filled].copy(), owners[:filled] + np.uint32(some.start)
        return keys, owners, int(self._counts[keys >> np.uint64(self._shift)].sum(dtype=np.int64))

    def find_owners(self, keys: Hashes, owners: Rows) -> _Lookups:
        """Find the sets that have the `keys`, which the `owners` look for."""
        bits = max(_LEAST, (_WANTED * len(keys)).bit_length())
        slots = (keys >> np.uint64(64 - bits)).astype(np.int64)
        is_wanted = np.zeros(1 << bits, dtype=np.bool_)
        is_wanted[slots] = True

        def collect(block: tuple[Hashes, Counts, slice]) -> tuple[Hashes, Rows]:
            values, bounds, some = block
            hashed, rows = np.empty_like(values), np.empty(len(values), dtype=np.uint32)
            filled = joins.collect_hashes(values, bounds, 64 - bits, is_wanted, hashed, rows)
            return hashed[:filled].copy(), rows[:filled] + np.uint32(some.start)

        with thread_pool(self._joining.threads) as pool:
            hashed, rows = _concatenate([_NOTHING, *pool.map(collect, self._blocks())])
        all_ends, order = np.zeros(len(is_wanted) + 1, dtype=np.int64), np.empty_like(rows)
        joins.partition(hashed, 64 - bits, all_ends, np.empty_like(hashed), order)
        ends = all_ends[slots]
        begins = np.where(slots > 0, all_ends[slots - 1], 0)
        looking, cap = np.bincount(slots, minlength=1)[slots], self._joining.cap
        looks = np.minimum(ends - begins, np.maximum(cap * cap // looking, 1))
        meetings = ((ends - begins) * looking)[looks < ends - begins]
        return _Lookups(
            others=rows[order],
            owners=owners,
            begins=begins,
            ends=ends,
            looks=looks,
            hot_keys=len(sort_distinct(slots[looks < ends - begins])),
            enough=ceil(sqrt(meetings.max(initial=0))),
        )

    def _blocks(self) -> Iterator[tuple[Hashes, Counts, slice]]:
        """Yield the hashes of some sets, their bounds, and the slice of these sets."""
        (values, bounds), groups = self._sets, self._joining.groups
        for some in split_bounds(bounds, SIZES.shingle_lookups):
            part = bounds[some.start : some.stop + 1]
            hashed = values[part[0] : part[-1]]
            if len(groups):  # equal hashes of two groups become different
                hashed = hashed ^ np.repeat(groups[some] * SPREAD, np.diff(part))
            yield hashed, part - part[0], some


def _concatenate(parts: Sequence[tuple[Hashes, Rows]]) -> tuple[Hashes, Rows]:
    keys, rows = zip(*parts, strict=True)
    return np.concatenate(keys), np.concatenate(rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lookups:
    """Shingles that sets look for, and the sets that have them.

    `others` (uint32) are the rows of sets that have a shingle, those of each together. `owners`
    (uint32, rising) look for a shingle each: it is that of the others from `begins` to `ends`, of
    whom as many as `looks` are looked at.
    """

    others: Rows
    owners: Rows
    begins: Counts
    ends: Counts
    looks: Counts
    hot_keys: int
    enough: int  # the cap with which all others are looked at

    def pairs(self, matches: NDArray[np.uint8], sizes: Counts, joining: Joining) -> Iterator[Pairs]:
        """Yield the pairs of owners and the sets that have `matches` of their shingles.

        `sizes` are those of all sets.
        """

        def pair(some: slice) -> Pairs:
            looks = self.looks[some]
            block = np.empty((int(looks.sum()), 2), dtype=np.uint32)
            filled = joins.pair_owners(
                self.owners[some], self.begins[some], self.ends[some], looks, self.others, matches,
                sizes, joining.sides, joining.groups, np.zeros(len(sizes), np.uint32),
                np.zeros(len(sizes), np.uint8), block,
            )  # fmt: skip
            return block[:filled].copy()

        with thread_pool(joining.threads) as pool:
            yield from prefetch(pool, pair, self._parts(joining.threads), at_once=joining.threads)

    def _parts(self, threads: int) -> Iterator[slice]:
        """Split the owners, each with all its lookups, into parts that fit a block, about."""
        starts = np.flatnonzero(np.diff(self.owners, prepend=~self.owners[:1]))
        before = (np.cumsum(self.looks) - self.looks)[starts]
        total = int(self.looks.sum())
        steps = np.arange(0, total, min(SIZES.candidate_block, total // threads + 1))
        chosen = starts[np.searchsorted(before, steps, side="right") - 1]
        yield from (slice(*ends) for ends in pairwise([*sort_distinct(chosen), len(self.owners)]))
