"""Texts as the numbers of their words, to compare many pairs by edits of words.

Each word becomes one character, so that rapidfuzz compares words as fast as characters (Hyyrö
2003); pairs that have too few words in common are not compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from neardup_solr.kernel import vocabulary
from neardup_solr.measures import NO_DISTANCE, Comparer
from neardup_solr.measures.arrays import Distances, Found, Pairs
from neardup_solr.minhash.sign import packed_forms

_AT_ONCE = 1 << 18  # pairs; bounds the memory
_SURROGATES = range(0xD800, 0xE000)  # code points that no string should hold
MOST_WORDS = 0x110000 - len(_SURROGATES)
FIRST_SLOTS = 1 << 16

Numbers = NDArray[np.uint32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Worded:
    """A text as the numbers of its words, in their order and as a sorted bag."""

    numbers: Numbers
    bag: Numbers


@dataclass(slots=True)
class Vocabulary:
    """The words of all texts so far, numbered in the order of their first use.

    Words are told apart by 64-bit hashes.
    """

    _hashes: NDArray[np.uint64] = field(default_factory=lambda: np.zeros(FIRST_SLOTS, np.uint64))
    _numbers: Numbers = field(default_factory=lambda: np.zeros(FIRST_SLOTS, np.uint32))
    _count: int = 0

    def worded(self, forms: Sequence[str]) -> list[Worded]:
        """Normal forms as numbers."""
        packed, bounds = packed_forms(forms)
        # A word and the blank after it take at least two bytes.
        flat = np.empty(len(packed) // 2 + len(forms), dtype=np.uint32)
        ends = np.zeros(len(forms), dtype=np.int64)
        self._hashes, self._numbers, self._count = vocabulary.number(
            packed, bounds, self._hashes, self._numbers, self._count, flat, ends
        )
        bags = flat.copy()
        vocabulary.sort_each(bags, ends)
        # Copies, or one text that is kept would keep all texts of this call.
        return [
            Worded(numbers=flat[first:last].copy(), bag=bags[first:last].copy())
            for first, last in pairwise([0, *ends.tolist()])
        ]


def lengths(texts: Sequence[Worded]) -> NDArray[np.int64]:
    """How many words each text has."""
    return np.fromiter((len(text.numbers) for text in texts), np.int64, len(texts))


def have_enough_in_common(
    texts: Sequence[Worded], pairs: Pairs, allowed: Distances
) -> NDArray[np.bool_]:
    """Whether the texts of each pair can be within `allowed` words of each other, by their bags.

    Texts are at least as far apart as the longer one has words that the other lacks.
    """
    may_be = np.empty(len(pairs), dtype=np.bool_)
    if len(pairs):
        bags = np.concatenate([text.bag for text in texts])
        vocabulary.may_be_near(bags, np.cumsum(lengths(texts)), pairs, allowed, may_be)
    return may_be


def characters(texts: Sequence[Worded]) -> list[str]:
    """Texts as strings of one character a word, equal for equal words.

    There are 1,112,064 characters; only with more different words than that in one call can two
    words get the same one.
    """
    if not texts:
        return []
    flat = np.concatenate([text.numbers for text in texts])
    codes = np.unique(flat, return_inverse=True)[1].astype(np.uint32) % np.uint32(MOST_WORDS)
    codes += (codes >= _SURROGATES.start) * np.uint32(len(_SURROGATES))
    joined = codes.astype("<u4").tobytes().decode("utf-32-le")
    bounds = [0, *np.cumsum(lengths(texts)).tolist()]
    return [joined[first:last] for first, last in pairwise(bounds)]


def compare(texts: Sequence[Worded], pairs: Pairs, comparer: Comparer) -> Found:
    longest: Distances = lengths(texts)[pairs].max(axis=1, initial=0)
    allowed = _allowed(longest, comparer)
    distances = allowed + 1
    near = np.flatnonzero(have_enough_in_common(texts, pairs, allowed))
    for at in range(0, len(near), _AT_ONCE):
        some = near[at : at + _AT_ONCE]
        most = int(allowed[some].max())
        distances[some] = _distances(texts, pairs[some], most, comparer.threads)
    return _found(distances, longest, allowed)


def _distances(texts: Sequence[Worded], pairs: Pairs, most: int, threads: int) -> Distances:
    """The distances of pairs; those beyond `most` are some larger number."""
    rows, places = np.unique(pairs, return_inverse=True)
    spelled = characters([texts[row] for row in rows.tolist()])
    numbers = places.reshape(-1, 2)
    distances: Distances = process.cpdist(
        [spelled[row] for row in numbers[:, 0].tolist()],
        [spelled[row] for row in numbers[:, 1].tolist()],
        scorer=Levenshtein.distance,
        score_cutoff=most,
        dtype=np.int64,
        workers=threads,
    )
    return distances


def _allowed(longest: Distances, comparer: Comparer) -> Distances:
    """The largest distances that are within the limits."""
    counts, places = np.unique(longest, return_inverse=True)
    allowed = [comparer.measure.allowed(count, comparer.limits) for count in counts.tolist()]
    return np.array(allowed, dtype=np.int64)[places]


def _found(distances: Distances, longest: Distances, allowed: Distances) -> Found:
    similarities = 1.0 - distances / np.maximum(longest, 1)
    return Found(similarities, np.where(distances > allowed, NO_DISTANCE, distances))
