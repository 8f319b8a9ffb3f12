"""Candidate pairs that share terms: shingles, at any size of the texts, or rare words.

Sets of shingles: LSH bands go by all shingles of two texts, of which an excerpt and a long text
have few in common. Here each set looks for some of its shingles in the others. If another set has
four fifths of them, it has each of 23 with a probability of 0.8, if these are drawn by their
hashes, and fewer than 8 with a probability of 10^-6. So 23 are enough, however long the text is,
and all of a short text. Shingles that many sets have are left out as long as the others tell
enough: then the 23 become more.

So the smaller set of a pair is sampled, and all of the larger is looked through. Other ways
need more keys for that (bands over windows; LSH Ensemble, Zhu et al., 2016), or pair all that share
a sentence (winnowing; Schleimer, Wilkerson, Aiken, 2003).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, pairwise, repeat
from math import ceil, comb, sqrt

import numpy as np
from numpy.typing import NDArray

from neardup_solr.candidates import (
    DEFAULT,
    ROOM,
    SPREAD,
    Candidates,
    Joining,
    Numbers,
    PairArray,
    count_rows,
    pair_rows,
)
from neardup_solr.kernel import joins
from neardup_solr.measures import Flat
from neardup_solr.measures.frequencies import split_words
from neardup_solr.measures.pairs import (
    Joined,
    Pairs,
    join_halves,
    number_pairs,
    pairs_of,
    split_halves,
)
from neardup_solr.progress import prefetch, thread_pool
from neardup_solr.settings import WORD_CAP

ENOUGH = 8  # shingles that another set has to have, of those that a set looks for
MISSED = 1e-6  # the probability that it has fewer, though it has enough of all
COMMON = 64  # sets: a shingle that more of them have is left out if the others tell enough
_RAREST = 5  # per cent of shingles in common from which a few are enough
_ALL = 1 << 40
_AT_ONCE = 1 << 20  # shingles that are looked at together
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
            hot_keys=len(np.unique(slots[looks < ends - begins])),
            enough=ceil(sqrt(meetings.max(initial=0))),
        )

    def _blocks(self) -> Iterator[tuple[Hashes, Counts, slice]]:
        """Yield the hashes of some sets, their bounds, and the slice of these sets."""
        (values, bounds), groups = self._sets, self._joining.groups
        first, sets = 0, len(bounds) - 1
        while first < sets:
            last = int(np.searchsorted(bounds, bounds[first] + _AT_ONCE, side="right")) - 1
            last = max(first + 1, last)
            part = bounds[first : last + 1]
            hashed = values[part[0] : part[-1]]
            if len(groups):  # equal hashes of two groups become different
                hashed = hashed ^ np.repeat(groups[first:last] * SPREAD, np.diff(part))
            yield hashed, part - part[0], slice(first, last)
            first = last


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
        """Split the owners, each with all its lookups, into parts of about ROOM looks or less."""
        starts = np.flatnonzero(np.diff(self.owners, prepend=~self.owners[:1]))
        before = (np.cumsum(self.looks) - self.looks)[starts]
        total = int(self.looks.sum())
        steps = np.arange(0, total, min(ROOM, total // threads + 1))
        chosen = starts[np.searchsorted(before, steps, side="right") - 1]
        yield from (slice(*ends) for ends in pairwise([*np.unique(chosen), len(self.owners)]))


RAREST = 6  # hot words of a record that are combined
ENOUGH_WORDS = 2  # rare words that others have, with which a record needs no combinations
SAMPLE, NEAREST = 500, 100  # records that tell what the cap loses, and others for each
MOST_LOOKS = 10**8  # at records, to choose those others
WORD_DEFAULT = Joining(cap=WORD_CAP)


def word_candidates(forms: Sequence[str], joining: Joining = WORD_DEFAULT) -> Candidates:
    """Pair the normal forms that share a word, as aligned, that at most `cap` of them have.

    A word of more records is hot: it makes candidates only together with the next word, if that is
    hot, too, or, in a record with fewer than `ENOUGH` words that pair it with others, with more of
    its `RAREST` hot words: two of them, or as many as it takes until at most `cap` records have
    all; those of a hot combination are chained in alphabetical order, forwards and backwards.
    `hot_keys` counts hot words and combinations. Words count in both sides together, and in each
    group by itself.

    Near-linear: a word, or combination, of n ≤ cap records makes n (n - 1) / 2 pairs.

    Raises SettingsError beyond `joining.most` pairs.
    """
    words, rows = _number_words(forms)
    if len(joining.groups):
        words = np.unique(join_halves(joining.groups[rows], words), return_inverse=True)[1]
    posted = np.unique(join_halves(words, rows))
    is_hot = count_rows(posted)[words] > joining.cap
    in_a_row = is_hot[:-1] & is_hot[1:] & (rows[:-1] == rows[1:])
    both = np.unique(join_halves(words[:-1], words[1:])[in_a_row], return_inverse=True)[1]
    neighbours = np.unique(join_halves(both, rows[:-1][in_a_row]))
    pairs = PairArray(joining, "word")
    hot, places = 0, list[Numbers]()
    for keys in (posted, neighbours, *_combine(posted, joining.cap)):
        for block in pair_rows(keys, joining.sides, joining.cap):
            pairs.add(np.unique(block).view(np.uint32).reshape(-1, 2))
        is_hot = count_rows(keys) > joining.cap
        hot += int(np.count_nonzero(is_hot))
        if keys is not posted and keys is not neighbours and is_hot.any():
            places = places or [_place(forms), _place([form[::-1] for form in forms])]
            for order in places:
                pairs.add(_chain(keys[is_hot[split_halves(keys)[0]]], order, joining))
    pairs.keep_distinct()
    beyond, caps, sample = _sample_beyond(posted, len(forms), pairs.pairs, joining)
    return Candidates(pairs=pairs.pairs, hot_keys=hot, beyond=beyond, caps=caps, sample=sample)


def _place(forms: Sequence[str]) -> Numbers:
    """Number the forms by their places in alphabetical order."""
    return np.argsort(sorted(range(len(forms)), key=forms.__getitem__))


def _chain(posted: Joined, places: Numbers, joining: Joining) -> Pairs:
    """Pair each row of a hot combination with the next in an order of the forms.

    Sorted neighbourhoods: Hernández and Stolfo, "The merge/purge problem for large databases"
    (1995).
    """
    keys, rows = (half.astype(np.int64) for half in split_halves(posted))
    order = np.lexsort((places[rows], keys))
    keys, rows = keys[order], rows[order]
    pairs = np.sort(np.stack([rows[:-1], rows[1:]], axis=1)[keys[:-1] == keys[1:]], axis=1)
    if len(joining.sides):
        pairs = pairs[joining.sides[pairs[:, 0]] != joining.sides[pairs[:, 1]]]
    return pairs.astype(np.uint32)


def _combine(posted: Joined, cap: int) -> Iterator[Joined]:
    """Combine two hot words of a row, then three, and so on, as long as each part of them is hot.

    Yields the combinations of a size with each of their rows, in order. Agrawal and Srikant, "Fast
    algorithms for mining association rules" (1994).
    """
    keys, rows = (half.astype(np.int64) for half in split_halves(posted))
    sizes = count_rows(posted)[keys]
    shared = np.bincount(rows, (sizes > 1) & (sizes <= cap))
    order = np.lexsort((keys, sizes, rows))
    order = order[(sizes[order] > cap) & (shared[rows[order]] < ENOUGH_WORDS)]
    keys, rows = keys[order], rows[order]
    places = np.arange(len(rows)) - np.searchsorted(rows, rows)
    is_rare = places < RAREST
    owners, columns = np.unique(rows[is_rare], return_inverse=True)
    words = np.full((RAREST, len(owners)), -1)
    words[places[is_rare], columns] = keys[is_rare]
    # By places among the words of a row: the number of their combination, -1 if it is not hot.
    hot: dict[tuple[int, ...], Numbers] = {(place,): words[place] for place in range(RAREST)}
    for size in range(2, RAREST + 1):
        columns_of: dict[tuple[int, ...], Numbers] = {}
        made = []
        for some in combinations(range(RAREST), size):
            parts = [hot[part] for part in combinations(some, size - 1)]
            at = columns_of[some] = np.flatnonzero(np.min(parts, axis=0) >= 0)
            made.append(join_halves(hot[some[:-1]][at], words[some[-1]][at]))
        numbers = np.unique(np.concatenate(made), return_inverse=True)[1]
        if not len(numbers):
            return
        combined = np.sort(join_halves(numbers, owners[np.concatenate([*columns_of.values()])]))
        yield combined
        numbers[count_rows(combined)[numbers] <= cap] = -1
        ends = np.cumsum([len(at) for at in columns_of.values()])
        for (some, at), part in zip(columns_of.items(), np.split(numbers, ends[:-1]), strict=True):
            hot[some] = np.full(len(owners), -1)
            hot[some][at] = part


def count_shared_words(
    first: str, second: str, forms: Iterable[str], *, cap: int
) -> dict[str, int]:
    """Count the distinct forms that have what can make two normal forms candidates.

    That is each word of both. If all are in more than `cap` forms: two words in a row in
    both, and the combinations of the rarest such words of both.
    """
    words, other_words = split_words(first), split_words(second)
    lists = [split_words(form) for form in {*forms}]
    wanted = {*words, *other_words}
    of_each = Counter(word for listed in lists for word in wanted & {*listed})
    counts = {word: of_each[word] for word in {*words}.intersection(other_words) if word in of_each}
    if min(counts.values(), default=0) <= cap:
        return counts

    def rarest(listed: Sequence[str]) -> list[str]:
        common = (word for word in {*listed} if of_each[word] > cap)
        return sorted(common, key=lambda word: (of_each[word], word))[:RAREST]

    runs = {*pairwise(words)}.intersection(pairwise(other_words))
    rare = sorted({*rarest(words)}.intersection(rarest(other_words)))
    hot: set[tuple[str, ...]] = {(word,) for word in rare}
    for size in range(2, len(rare) + 1):
        for some in combinations(rare, size):
            if hot.issuperset(combinations(some, size - 1)):
                count = counts[" ".join(some)] = sum(map({*some}.issubset, lists))
                if count > cap:
                    hot.add(some)
    rows = Counter(run for listed in lists for run in runs.intersection(pairwise(listed)))
    return counts | {" ".join(run): count for run, count in rows.items()}


def _sample_beyond(
    posted: Joined, count: int, candidates: Pairs, joining: Joining
) -> tuple[Pairs, Numbers, Numbers]:
    """Pair a sample of records that share common words only, and return caps and sample, too.

    Each is paired with those records that are likest by the common words (Dice and containment of
    their weights, as of `aligned`). If none is near it, a higher cap would hardly find any. The cap
    of a pair is how many records have the rarest word of both.
    """
    keys, rows = (half.astype(np.int64) for half in split_halves(posted))
    sizes = count_rows(posted)
    begins = np.cumsum(sizes) - sizes
    weights = np.log1p(count / np.maximum(sizes, 1)) ** 2
    whole = np.bincount(rows, weights[keys], minlength=count)
    most = min(count, SAMPLE, max(1, MOST_LOOKS // max(count, 1)))
    ends = np.cumsum(joining.sizes) if len(joining.sizes) else np.arange(1, count + 1)
    drawn = np.unique(np.linspace(0, ends[-1] - 1, most).astype(np.int64)) if count else rows[:0]
    sample = np.searchsorted(ends, drawn, side="right")
    is_sampled = np.zeros(count, dtype=np.bool_)
    is_sampled[sample] = True
    places = np.flatnonzero(is_sampled[rows] & (sizes[keys] > joining.cap))
    joined, caps = [join_halves(rows[:0], rows[:0])], [rows[:0]]
    for row in np.unique(rows[places]).tolist():
        common = keys[places[rows[places] == row]]
        others = np.concatenate([rows[begins[key] : begins[key] + sizes[key]] for key in common])
        both = np.bincount(others, np.repeat(weights[common], sizes[common]), minlength=count)
        both[row] = 0
        if len(joining.sides):
            both[joining.sides == joining.sides[row]] = 0
        alike = 2 * both / (whole + whole[row]) + both / np.fmax(
            np.minimum(whole, whole[row]), 1e-9
        )
        likest = np.argpartition(alike, -min(NEAREST, count))[-min(NEAREST, count) :]
        likest = likest[both[likest] > 0]
        joined.append(join_halves(np.minimum(likest, row), np.maximum(likest, row)))
        rarest = np.full(count, count)
        np.minimum.at(rarest, others, np.repeat(sizes[common], sizes[common]))
        caps.append(rarest[likest])
    paired = number_pairs(candidates[is_sampled[candidates].any(axis=1)])
    numbers, places = np.unique(np.concatenate(joined), return_index=True)
    is_beyond = np.isin(numbers, paired, invert=True)
    least = np.concatenate(caps)[places[is_beyond]]
    return pairs_of(numbers[is_beyond]), least, sample


def _number_words(forms: Sequence[str]) -> tuple[Numbers, Numbers]:
    """Number the words of all forms in the order of their first use, with their rows."""
    numbered: dict[str, int] = {}
    sizes = np.zeros(len(forms), dtype=np.int64)
    numbers: list[int] = []
    for row, form in enumerate(forms):
        words = split_words(form)
        sizes[row] = len(words)
        numbers.extend(numbered.setdefault(word, len(numbered)) for word in words)
    return np.array(numbers, dtype=np.int64), np.repeat(np.arange(len(forms)), sizes)
