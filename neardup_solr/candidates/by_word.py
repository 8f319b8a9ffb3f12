"""Candidate pairs of short records: all that share a rare word, or simply all pairs.

Bands of word shingles miss many pairs of short records, as one changed word changes three of some
eight shingles. But two records of the same thing usually share a rare word: a name, a number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from neardup_solr.candidates.by_band import DEFAULT, Candidates, FoundPairs, Groups, Joining
from neardup_solr.errors import SettingsError
from neardup_solr.measures.arrays import Pairs

WORD_CAP = 50  # records that one word makes candidates of each other
MOST_PAIRS = 20_000_000  # if nothing selects them
SAMPLE, NEAREST = 500, 20  # records that are asked what the cap loses, and others for each
MOST_LOOKS = 10**8  # at records, to choose those others
_AT_ONCE = 1 << 20  # pairs in one block, about

Sides = NDArray[np.bool_] | NDArray[np.uint8]
_Rows = NDArray[np.int64]
_Joined = NDArray[np.uint64]  # two numbers of 32 bits in one
_HALF, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)


def word_candidates(
    forms: Sequence[str],
    *,
    sides: Sides | None = None,
    groups: Groups | None = None,
    cap: int = WORD_CAP,
    most: int = DEFAULT.most,
) -> Candidates:
    """The pairs of normal forms that share a word, as aligned, that at most `cap` of them have.

    A word of more records is hot: it makes candidates only together with the next word, if
    that is hot too and at most `cap` records have the two in a row; `hot_keys` counts hot words
    and hot pairs of words. `sides` (records) says which of two collections a record is of: then
    pairs are of one record of each, and words count in both together. `groups` (records) numbers
    groups: then pairs are of records of the same one, and words count in each by itself.

    Near-linear: a word, or pair of words, of n ≤ cap records makes n (n - 1) / 2 pairs.

    Raises SettingsError if there are more than `most` pairs.
    """
    words, rows = _numbered(forms)
    if groups is not None:
        words = np.unique(_joined(groups[rows], words), return_inverse=True)[1]
    posted = _posted(words, rows)
    is_hot = _sizes(posted)[words] > cap
    in_a_row = is_hot[:-1] & is_hot[1:] & (rows[:-1] == rows[1:])
    both = _joined(words[:-1], words[1:])[in_a_row]
    neighbours = _posted(np.unique(both, return_inverse=True)[1], rows[:-1][in_a_row])
    found = FoundPairs(Joining(key="word", cap=cap, most=most))
    for keys in (posted, neighbours):
        for block in _blocks(keys, sides, cap):
            found.add(block)
    found.keep_distinct()
    hot = sum(int(np.count_nonzero(_sizes(keys) > cap)) for keys in (posted, neighbours))
    beyond, sample = _beyond(posted, len(forms), found.pairs, sides, cap)
    return Candidates(pairs=found.pairs, hot_keys=hot, beyond=beyond, sample=sample)


def shared_words(first: str, second: str, forms: Iterable[str], *, cap: int) -> dict[str, int]:
    """What can make two normal forms candidates, and how many of the forms have it.

    That is each word of both; of two that are in more than `cap` forms, and come one after the
    other in both, the two together.
    """
    from neardup_solr.measures.aligned import aligned_words

    one, other = aligned_words(first), aligned_words(second)
    from neardup_solr.measures.aligned import aligned_words

    lists = [aligned_words(form) for form in forms]
    counts = Counter(word for words in lists for word in {*words}.intersection(one, other))
    common = {word for word, count in counts.items() if count > cap}
    runs = {
        pair for pair in {*pairwise(one)}.intersection(pairwise(other)) if common.issuperset(pair)
    }
    rows = Counter(run for words in lists for run in runs.intersection(pairwise(words)))
    return dict(counts) | {" ".join(run): count for run, count in rows.items()}


def _beyond(
    posted: _Joined, count: int, candidates: Pairs, sides: Sides | None, cap: int
) -> tuple[Pairs, _Rows]:
    """Pairs of a sample of records that share common words only, and the sample.

    Each is paired with those records that are likest by the common words (Dice of their weights, as
    `aligned` weighs them). If none of these is near it, a higher cap would hardly find one.
    """
    keys, rows = (half.astype(np.int64) for half in _halves(posted))
    sizes = _sizes(posted)
    begins = np.cumsum(sizes) - sizes
    weights = np.log1p(count / np.maximum(sizes, 1)) ** 2
    whole = np.bincount(rows, weights[keys], minlength=count)
    most = min(count, SAMPLE, max(1, MOST_LOOKS // max(count, 1)))
    sample = np.unique(np.linspace(0, count - 1, most).astype(np.int64)) if count else rows[:0]
    is_asked = np.zeros(count, dtype=np.bool_)
    is_asked[sample] = True
    asked = np.flatnonzero(is_asked[rows] & (sizes[keys] > cap))
    found = [_joined(rows[:0], rows[:0])]
    for row in np.unique(rows[asked]).tolist():
        own = keys[asked[rows[asked] == row]]
        others = np.concatenate([rows[begins[key] : begins[key] + sizes[key]] for key in own])
        both = np.bincount(others, np.repeat(weights[own], sizes[own]), minlength=count)
        both[row] = 0
        if sides is not None:
            both[sides == sides[row]] = 0
        alike = both / (whole + whole[row])
        likest = np.argpartition(alike, -min(NEAREST, count))[-min(NEAREST, count) :]
        likest = likest[both[likest] > 0]
        found.append(_joined(np.minimum(likest, row), np.maximum(likest, row)))
    known = candidates[is_asked[candidates].any(axis=1)].astype(np.int64)
    numbers = np.setdiff1d(np.concatenate(found), _joined(known[:, 0], known[:, 1]))
    return np.stack(_halves(numbers), axis=1).astype(np.uint32), sample


def all_candidates(
    count: int, sides: Sides | None = None, groups: Groups | None = None
) -> Candidates:
    """Every pair of `count` records, of different `sides` or the same of `groups`, as candidates.

    Raises SettingsError beyond 20 million pairs.
    """
    if groups is not None:
        return _all_of_groups(groups, sides)
    others = 0 if sides is None else int(np.count_nonzero(sides))
    pairs = count * (count - 1) // 2 if sides is None else others * (count - others)
    _require_possible(count, pairs)
    if sides is None:
        found = np.stack(np.triu_indices(count, 1), axis=1)
    else:
        grid = np.meshgrid(np.flatnonzero(sides == 0), np.flatnonzero(sides), indexing="ij")
        found = np.sort(np.stack(grid, axis=-1).reshape(-1, 2), axis=1)
    return Candidates(pairs=found.astype(np.uint32), hot_keys=0)


def _all_of_groups(groups: Groups, sides: Sides | None) -> Candidates:
    """The pairs of records of the same group. Raises SettingsError as `all_candidates`."""
    numbers = np.unique(groups, return_inverse=True)[1]
    posted = _joined(numbers, np.arange(len(groups)))
    posted.sort()
    sizes = np.bincount(numbers)
    _require_possible(len(groups), int((sizes * (sizes - 1) // 2).sum()))
    none = np.empty((0, 2), dtype=np.uint32)
    pairs = np.concatenate([none, *_blocks(posted, sides, cap=len(groups))])
    return Candidates(pairs=pairs, hot_keys=0)


def _require_possible(count: int, pairs: int) -> None:
    """Refuse too many pairs of `count` records, by SettingsError."""
    if pairs > MOST_PAIRS:
        raise SettingsError(
            f"{count:,} records make {pairs:,} pairs, more than the {MOST_PAIRS:,} allowed",
            "compare only those that share a rare word, or an LSH band",
        )


def _numbered(forms: Sequence[str]) -> tuple[_Rows, _Rows]:
    """The words of all forms, as numbers in the order of their first use, and their rows."""
    from neardup_solr.measures.aligned import aligned_words

    known: dict[str, int] = {}
    sizes = np.zeros(len(forms), dtype=np.int64)
    numbers: list[int] = []
    for row, form in enumerate(forms):
        words = aligned_words(form)
        sizes[row] = len(words)
        numbers.extend(known.setdefault(word, len(known)) for word in words)
    return np.array(numbers, dtype=np.int64), np.repeat(np.arange(len(forms)), sizes)


def _posted(keys: _Rows, rows: _Rows) -> _Joined:
    """Each key with each row that has it, once, in order. Keys are numbered from 0."""
    return np.unique(_joined(keys, rows))


def _sizes(posted: _Joined) -> _Rows:
    """How many rows each key has."""
    return np.bincount(_halves(posted)[0].astype(np.int64))


def _blocks(posted: _Joined, sides: Sides | None, cap: int) -> Iterator[Pairs]:
    """The pairs of rows that share a key of at most `cap` rows, those of keys of one size at once.

    A pair is there once a key.
    """
    rows, sizes = _halves(posted)[1].astype(np.int64), _sizes(posted)
    begins = np.cumsum(sizes) - sizes
    for size in np.unique(sizes[(sizes > 1) & (sizes <= cap)]).tolist():
        of_size = begins[sizes == size]
        for one, other in _places(size):
            step = max(1, _AT_ONCE // len(one))
            for at in range(0, len(of_size), step):
                members = rows[of_size[at : at + step, np.newaxis] + np.arange(size)]
                firsts, seconds = members[:, one].ravel(), members[:, other].ravel()
                wanted = slice(None) if sides is None else sides[firsts] != sides[seconds]
                # The first row in the lower half is the first of a pair of rows.
                numbers = np.unique(_joined(seconds[wanted], firsts[wanted]))
                yield numbers.view(np.uint32).reshape(-1, 2)


def _places(size: int) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """The pairs of places in a list of that size, some at a time: the first ones, the second."""
    step = max(1, _AT_ONCE // size)
    for at in range(0, size - 1, step):
        one, other = np.triu_indices(min(step, size - at), 1, size - at)
        yield one + at, other + at


def _joined(high: _Rows | Groups, low: _Rows) -> _Joined:
    return high.astype(np.uint64) << _HALF | low.astype(np.uint64)


def _halves(joined: _Joined) -> tuple[_Joined, _Joined]:
    return joined >> _HALF, joined & _LOW
