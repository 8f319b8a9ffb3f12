"""Candidate pairs that share a word, or a combination of words if these are common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, pairwise

import numpy as np

from neardup_solr.candidates import Candidates, Joining, Numbers, count_rows, pair_rows
from neardup_solr.candidates.pair_array import PairArray
from neardup_solr.distinct import mark_among, sort_distinct
from neardup_solr.measures.frequencies import split_words
from neardup_solr.measures.pairs import (
    Joined,
    Pairs,
    join_halves,
    number_pairs,
    pairs_of,
    split_halves,
)
from neardup_solr.measures.word_lists import WordLists, list_words
from neardup_solr.settings import WORD_CAP
from neardup_solr.sizes import SIZES

RAREST = 6  # hot words of a record that are combined
ENOUGH_WORDS = 2  # rare words that others have, with which a record needs no combinations
MOST_LOOKS = 10**8  # at records, to choose those others
WORD_DEFAULT = Joining(cap=WORD_CAP)


def word_candidates(
    forms: Sequence[str], joining: Joining = WORD_DEFAULT, lists: WordLists | None = None
) -> Candidates:
    """Pair the normal forms that share a word, as aligned, that at most `cap` of them have.

    The `lists` are those of the words of these forms, if they are known.

    A word of more records is hot: it makes candidates only together with the next word, if that is
    hot, too, or, in a record with fewer than `ENOUGH` words that pair it with others, with more of
    its `RAREST` hot words: two of them, or as many as it takes until at most `cap` records have
    all; those of a hot combination are chained in alphabetical order, forwards and backwards.
    `hot_keys` counts hot words and combinations. Words count in both sides together, and in each
    group by itself.

    Near-linear: a word, or combination, of n ≤ cap records makes n (n - 1) / 2 pairs.

    Raises SettingsError beyond `joining.most` pairs.
    """
    lists = lists or list_words(forms)
    words, rows = lists.numbers, lists.texts
    if len(joining.groups):
        words = np.unique(join_halves(joining.groups[rows], words), return_inverse=True)[1]
    posted = sort_distinct(join_halves(words, rows))
    is_hot = count_rows(posted)[words] > joining.cap
    in_a_row = is_hot[:-1] & is_hot[1:] & (rows[:-1] == rows[1:])
    both = np.unique(join_halves(words[:-1], words[1:])[in_a_row], return_inverse=True)[1]
    neighbours = sort_distinct(join_halves(both, rows[:-1][in_a_row]))
    pairs = PairArray(joining, "word")
    hot, places = 0, list[Numbers]()
    for keys in (posted, neighbours, *_combine(posted, joining.cap)):
        for block in pair_rows(keys, joining.sides, joining.cap, joining.fresh):
            pairs.add(sort_distinct(block).view(np.uint32).reshape(-1, 2))
        is_hot = count_rows(keys) > joining.cap
        hot += int(np.count_nonzero(is_hot))
        if keys is not posted and keys is not neighbours and is_hot.any():
            places = places or [_place(forms), _place([form[::-1] for form in forms])]
            for order in places:
                pairs.add(_chain(keys[is_hot[split_halves(keys)[0]]], order, joining))
    pairs.keep_distinct()
    if joining.fresh is not None:  # an earlier run has told of all that are beyond
        return Candidates(pairs=pairs.pairs, hot_keys=hot)
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
    if joining.fresh is not None:
        pairs = pairs[joining.fresh[pairs].any(axis=1)]
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
        joined = []
        for some in combinations(range(RAREST), size):
            parts = [hot[part] for part in combinations(some, size - 1)]
            at = columns_of[some] = np.flatnonzero(np.min(parts, axis=0) >= 0)
            joined.append(join_halves(hot[some[:-1]][at], words[some[-1]][at]))
        numbers = np.unique(np.concatenate(joined), return_inverse=True)[1]
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
    most = min(count, SIZES.cap_sample, max(1, MOST_LOOKS // max(count, 1)))
    ends = np.cumsum(joining.sizes) if len(joining.sizes) else np.arange(1, count + 1)
    drawn = (
        sort_distinct(np.linspace(0, ends[-1] - 1, most).astype(np.int64)) if count else rows[:0]
    )
    sample = np.searchsorted(ends, drawn, side="right")
    is_sampled = np.zeros(count, dtype=np.bool_)
    is_sampled[sample] = True
    places = np.flatnonzero(is_sampled[rows] & (sizes[keys] > joining.cap))
    joined, caps = [join_halves(rows[:0], rows[:0])], [rows[:0]]
    for row in sort_distinct(rows[places]).tolist():
        common = keys[places[rows[places] == row]]
        others = np.concatenate([rows[begins[key] : begins[key] + sizes[key]] for key in common])
        both = np.bincount(others, np.repeat(weights[common], sizes[common]), minlength=count)
        both[row] = 0
        if len(joining.sides):
            both[joining.sides == joining.sides[row]] = 0
        alike = 2 * both / (whole + whole[row]) + both / np.fmax(
            np.minimum(whole, whole[row]), 1e-9
        )
        likest = np.argpartition(alike, -min(SIZES.cap_neighbours, count))[
            -min(SIZES.cap_neighbours, count) :
        ]
        likest = likest[both[likest] > 0]
        joined.append(join_halves(np.minimum(likest, row), np.maximum(likest, row)))
        rarest = np.full(count, count)
        np.minimum.at(rarest, others, np.repeat(sizes[common], sizes[common]))
        caps.append(rarest[likest])
    paired = number_pairs(candidates[is_sampled[candidates].any(axis=1)])
    numbers, places = np.unique(np.concatenate(joined), return_index=True)
    is_beyond = ~mark_among(numbers, paired)
    least = np.concatenate(caps)[places[is_beyond]]
    return pairs_of(numbers[is_beyond]), least, sample
