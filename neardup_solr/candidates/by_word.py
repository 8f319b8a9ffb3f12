"""Candidate pairs of short records: all that share a rare word, or simply all pairs.

Bands of word shingles miss many pairs of short records, as one changed word changes three of some
eight shingles. But two records of the same thing usually share a rare word: a name, a number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from neardup_solr.candidates import (
    Candidates,
    FoundPairs,
    Joined,
    Joining,
    Numbers,
    count_rows,
    join_halves,
    pair_rows,
    split_halves,
)
from neardup_solr.measures.aligned import split_words
from neardup_solr.measures.arrays import Pairs
from neardup_solr.settings import WORD_CAP

SAMPLE, NEAREST = 500, 20  # records that are asked what the cap loses, and others for each
MOST_LOOKS = 10**8  # at records, to choose those others
DEFAULT = Joining(cap=WORD_CAP)


def word_candidates(forms: Sequence[str], joining: Joining = DEFAULT) -> Candidates:
    """Pair the normal forms that share a word, as aligned, that at most `cap` of them have.

    A word of more records is hot: it makes candidates only together with the next word, if
    that is hot too and at most `cap` records have the two in a row; `hot_keys` counts hot words
    and hot pairs of words. Words count in both sides together, and in each group by itself.

    Near-linear: a word, or pair of words, of n ≤ cap records makes n (n - 1) / 2 pairs.

    Raises SettingsError if there are more pairs than `joining.most`.
    """
    words, rows = _number_words(forms)
    if len(joining.groups):
        words = np.unique(join_halves(joining.groups[rows], words), return_inverse=True)[1]
    posted = np.unique(join_halves(words, rows))
    is_hot = count_rows(posted)[words] > joining.cap
    in_a_row = is_hot[:-1] & is_hot[1:] & (rows[:-1] == rows[1:])
    both = np.unique(join_halves(words[:-1], words[1:])[in_a_row], return_inverse=True)[1]
    neighbours = np.unique(join_halves(both, rows[:-1][in_a_row]))
    found = FoundPairs(joining, "word")
    for keys in (posted, neighbours):
        for block in pair_rows(keys, joining.sides, joining.cap):
            found.add(np.unique(block).view(np.uint32).reshape(-1, 2))
    found.keep_distinct()
    hot = sum(int(np.count_nonzero(count_rows(k) > joining.cap)) for k in (posted, neighbours))
    beyond, sample = _sample_beyond(posted, len(forms), found.pairs, joining)
    return Candidates(pairs=found.pairs, hot_keys=hot, beyond=beyond, sample=sample)


def count_shared_words(
    first: str, second: str, forms: Iterable[str], *, cap: int
) -> dict[str, int]:
    """Count the forms that have what can make two normal forms candidates.

    That is each word of both; of two that are in more than `cap` forms, and come one after the
    other in both, the two together.
    """
    one, other = split_words(first), split_words(second)
    lists = [split_words(form) for form in forms]
    counts = Counter(word for words in lists for word in {*words}.intersection(one, other))
    common = {word for word, count in counts.items() if count > cap}
    runs = {
        pair for pair in {*pairwise(one)}.intersection(pairwise(other)) if common.issuperset(pair)
    }
    rows = Counter(run for words in lists for run in runs.intersection(pairwise(words)))
    return dict(counts) | {" ".join(run): count for run, count in rows.items()}


def _sample_beyond(
    posted: Joined, count: int, candidates: Pairs, joining: Joining
) -> tuple[Pairs, Numbers]:
    """Pair a sample of records that share common words only, and return the sample, too.

    Each is paired with those records that are likest by the common words (Dice of their weights, as
    `aligned` weighs them). If none of these is near it, a higher cap would hardly find one.
    """
    keys, rows = (half.astype(np.int64) for half in split_halves(posted))
    sizes = count_rows(posted)
    begins = np.cumsum(sizes) - sizes
    weights = np.log1p(count / np.maximum(sizes, 1)) ** 2
    whole = np.bincount(rows, weights[keys], minlength=count)
    most = min(count, SAMPLE, max(1, MOST_LOOKS // max(count, 1)))
    sample = np.unique(np.linspace(0, count - 1, most).astype(np.int64)) if count else rows[:0]
    is_asked = np.zeros(count, dtype=np.bool_)
    is_asked[sample] = True
    asked = np.flatnonzero(is_asked[rows] & (sizes[keys] > joining.cap))
    found = [join_halves(rows[:0], rows[:0])]
    for row in np.unique(rows[asked]).tolist():
        own = keys[asked[rows[asked] == row]]
        others = np.concatenate([rows[begins[key] : begins[key] + sizes[key]] for key in own])
        both = np.bincount(others, np.repeat(weights[own], sizes[own]), minlength=count)
        both[row] = 0
        if len(joining.sides):
            both[joining.sides == joining.sides[row]] = 0
        alike = both / (whole + whole[row])
        likest = np.argpartition(alike, -min(NEAREST, count))[-min(NEAREST, count) :]
        likest = likest[both[likest] > 0]
        found.append(join_halves(np.minimum(likest, row), np.maximum(likest, row)))
    known = candidates[is_asked[candidates].any(axis=1)].astype(np.int64)
    numbers = np.setdiff1d(np.concatenate(found), join_halves(known[:, 0], known[:, 1]))
    return np.stack(split_halves(numbers), axis=1).astype(np.uint32), sample


def _number_words(forms: Sequence[str]) -> tuple[Numbers, Numbers]:
    """Number the words of all forms in the order of their first use, with their rows."""
    known: dict[str, int] = {}
    sizes = np.zeros(len(forms), dtype=np.int64)
    numbers: list[int] = []
    for row, form in enumerate(forms):
        words = split_words(form)
        sizes[row] = len(words)
        numbers.extend(known.setdefault(word, len(known)) for word in words)
    return np.array(numbers, dtype=np.int64), np.repeat(np.arange(len(forms)), sizes)
