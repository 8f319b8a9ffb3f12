"""Candidates: pairs of documents that may be near-duplicates, all or some."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from neardup_solr.distinct import sort_distinct
from neardup_solr.errors import SettingsError
from neardup_solr.measures.pairs import NO_PAIRS, Joined, Pairs, join_halves, split_halves
from neardup_solr.settings import CAP
from neardup_solr.sizes import SIZES

MOST_PAIRS = 1 << 28
MOST_OF_ALL = 20_000_000  # pairs, if nothing selects them
# Few documents are all compared with each other, if that takes about a second: bands miss some
# pairs, and many pairs of short texts.
MEMORY = 1 << 30  # bytes for the keys and their marks
Sides = NDArray[np.uint8]
Groups = NDArray[np.uint32]
Numbers = NDArray[np.int64]
ONE_SIDE: Sides = np.empty(0, dtype=np.uint8)
ONE_GROUP: Groups = np.empty(0, dtype=np.uint32)
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # a number of a group over all bits of a key


class Copies:
    """Sets of rows whose texts are equal: of each set a row is compared, for all of them.

    `keys` (uint64, rows) are equal for equal texts. With `sides` only rows of the same side make
    a set. `firsts` has the first row of the set of each row, `distinct` each first row. A large set
    is chained, each row with the next, or is a star, each with the first: that holds together if a
    pair of it is taken out.
    """

    def __init__(self, keys: Joined, sides: Sides = ONE_SIDE, *, is_star: bool = False) -> None:
        self.keys, self._sides, self._is_star = keys, sides, is_star
        apart = keys ^ sides * SPREAD if len(sides) else keys
        _, firsts, numbers = np.unique(apart, return_index=True, return_inverse=True)
        self.firsts: Numbers = firsts[numbers]
        self.distinct: Numbers = np.sort(firsts)
        self._members = np.argsort(self.firsts, kind="stable")
        self.sizes: Numbers = np.bincount(self.firsts, minlength=len(keys))
        self._begins = np.cumsum(self.sizes) - self.sizes

    def pairs(self) -> Pairs:
        """One pair of each set of two rows or more, or of two sets that are equal across sides."""
        if len(self._sides):
            order = self.distinct[np.argsort(self.keys[self.distinct], kind="stable")]
            at = np.flatnonzero(self.keys[order[1:]] == self.keys[order[:-1]])
            return np.sort(np.stack([order[at], order[at + 1]], axis=1), axis=1).astype(np.uint32)
        at = self.distinct[self.sizes[self.distinct] > 1]
        return np.stack([at, self._members[self._begins[at] + 1]], axis=1).astype(np.uint32)

    def count_pairs(self, pairs: Pairs, cap: int) -> Numbers:
        """Count the pairs of rows of two sets that are different, for each pair of them."""
        sizes = self.sizes[self.firsts[pairs]]
        both: Numbers = sizes.sum(axis=1)
        counts: Numbers = np.where(both <= cap, sizes.prod(axis=1), both - 1)
        return counts

    def expand(self, pairs: Pairs, joining: Joining) -> tuple[Pairs, Numbers]:
        """Pair all rows of the sets of each pair, and return the origin of each new pair, too.

        More rows than `joining.cap` are chained, or each is paired with the first of the other set.

        Raises SettingsError beyond `joining.most` pairs.
        """
        first, second = self.firsts[pairs].T
        is_same = first == second
        of_first, of_second = self.sizes[first], self.sizes[second]
        are_all = np.where(is_same, of_first, of_first + of_second) <= joining.cap
        counts = np.where(are_all, of_first * of_second, of_first + of_second - 1)
        if counts.sum() > joining.most:
            raise too_many(joining, "text")
        origins = np.repeat(np.arange(len(pairs)), counts)
        nth = np.arange(len(origins)) - (np.cumsum(counts) - counts)[origins]
        size, width = of_first[origins], of_second[origins]
        is_early = nth < size  # of a star: each of the first set, then each of the second
        hub = np.where(is_same[origins] & (not self._is_star), nth - size, 0)
        left = np.where(are_all[origins], nth // width, np.where(is_early, nth, hub))
        right = np.where(are_all[origins], nth % width, np.where(is_early, 0, nth - size + 1))
        wanted = ~is_same[origins] | (left < right)
        origins, left, right = origins[wanted], left[wanted], right[wanted]
        rows = [self._members[self._begins[sets[origins]] + at]
                for sets, at in ((first, left), (second, right))]  # fmt: skip
        return np.sort(np.stack(rows, axis=1), axis=1).astype(np.uint32), origins


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """Pairs of row numbers that may be near-duplicates.

    `pairs` (uint32, pairs × 2) has each pair once, the smaller number first. `hot_keys` counts
    the band keys, shingles or words of more documents than the cap, of which not all are
    paired; those of a band key are chained, each with the next, so that they stay in a
    component. A cap of `enough` would pair them all. `beyond` are pairs of documents in a `sample`
    (row numbers, each as often as it was drawn) that share only words that are too common to make
    candidates, with the caps that would do. With `copies`, each pair stands for those of all rows
    whose texts are equal to either.
    """

    pairs: Pairs
    hot_keys: int = 0
    enough: int = 0
    beyond: Pairs = field(default_factory=lambda: NO_PAIRS)
    caps: Numbers = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    sample: Numbers = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    copies: Copies | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Joining:
    """Limits and parts of a search for candidates.

    A key of more than `cap` documents does not make candidates of all of them; keys and marks take
    at most `memory` bytes at a time (the pairs come on top, at most `most` of them). The
    work is done by `threads` threads. With `sides` (uint8, documents: 0 or 1) only documents of
    different sides are paired, with `groups` (uint32, documents) only those of the same group, of
    which each counts for the cap by itself. `sizes` (documents) says how many each stands for,
    if not for itself alone. With `fresh` (bool, documents) each pair has such a document.
    """

    cap: int = CAP
    memory: int = MEMORY
    most: int = MOST_PAIRS
    threads: int = 1
    sides: Sides = field(default_factory=lambda: ONE_SIDE)
    groups: Groups = field(default_factory=lambda: ONE_GROUP)
    sizes: Numbers = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    fresh: NDArray[np.bool_] | None = None


DEFAULT = Joining()


def too_many(joining: Joining, key: str = "band") -> SettingsError:
    """Make the error for more pairs than are allowed, which share what `key` names."""
    more_rows = ", or index with more `rows` (neardup tune)" if key == "band" else ""
    lower = f"lower `cap` from {joining.cap:,} to {joining.cap // 2:,}"
    step = f"{lower}, or increase $NEARDUP_MEMORY{more_rows}"
    reason = f"more than {joining.most:,} pairs share a {key}"
    return SettingsError(reason, step, code="too-many-pairs")


def all_candidates(count: int, joining: Joining = DEFAULT) -> Candidates:
    """Pair all of `count` records, of different sides and the same group.

    Raises SettingsError beyond 20 million pairs.
    """
    groups = joining.groups if len(joining.groups) else np.zeros(count, dtype=np.uint32)
    posted = join_halves(np.unique(groups, return_inverse=True)[1], np.arange(count))
    posted.sort()
    pairs = _count_pairs(count_rows(posted))
    if len(joining.sides):
        sides = np.unique(join_halves(groups, joining.sides), return_inverse=True)[1]
        pairs -= _count_pairs(np.bincount(sides))
    if pairs > MOST_OF_ALL:
        reason = f"{count:,} records make {pairs:,} pairs, more than the {MOST_OF_ALL:,} allowed"
        step = "set `by` to words, to compare records that share a rare word, or to bands"
        raise SettingsError(reason, step, code="too-many-pairs")
    blocks = (block.view(np.uint32) for block in pair_rows(posted, joining.sides, cap=count))
    return Candidates(pairs=np.concatenate([NO_PAIRS.ravel(), *blocks]).reshape(-1, 2))


def _count_pairs(sizes: Numbers) -> int:
    """Count the pairs within sets of these sizes."""
    return int((sizes * (sizes - 1) // 2).sum())


def count_rows(posted: Joined) -> Numbers:
    """Count the rows of each key. `posted` has each key with each of its rows, in order."""
    return np.bincount(split_halves(posted)[0].astype(np.int64))


def pair_rows(
    posted: Joined, sides: Sides, cap: int, fresh: NDArray[np.bool_] | None = None
) -> Iterator[Joined]:
    """Pair rows that share a key of at most `cap` rows, those of keys of equal size at once.

    A pair comes once for each key, as a number with its first row in the lower half. With `fresh`
    rows, each pair has one.
    """
    rows, sizes = split_halves(posted)[1].astype(np.int64), count_rows(posted)
    begins = np.cumsum(sizes) - sizes
    for size in sort_distinct(sizes[(sizes > 1) & (sizes <= cap)]).tolist():
        of_size = begins[sizes == size]
        if fresh is not None:
            has_fresh = fresh[rows[of_size[:, np.newaxis] + np.arange(size)]].any(axis=1)
            of_size = of_size[has_fresh]
        for left, right in _places(size):
            step = max(1, SIZES.candidate_block // len(left))
            for at in range(0, len(of_size), step):
                members = rows[of_size[at : at + step, np.newaxis] + np.arange(size)]
                firsts, seconds = members[:, left].ravel(), members[:, right].ravel()
                wanted = sides[firsts] != sides[seconds] if len(sides) else slice(None)
                firsts, seconds = firsts[wanted], seconds[wanted]
                if fresh is not None:
                    is_fresh = fresh[firsts] | fresh[seconds]
                    firsts, seconds = firsts[is_fresh], seconds[is_fresh]
                yield join_halves(seconds, firsts)


def _places(size: int) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield the pairs of places in a list of that size, some at a time: first and second ones."""
    step = max(1, SIZES.candidate_block // size)
    for at in range(0, size - 1, step):
        left, right = np.triu_indices(min(step, size - at), 1, size - at)
        yield left + at, right + at
