"""Similarity by edits of words: 1 - word-level Levenshtein distance / words of the longer text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rapidfuzz.distance import Levenshtein

from neardup_solr.measures import NO_DISTANCE, Comparer, Measure, Prepare, Prepared
from neardup_solr.text.normalize import words_of

if TYPE_CHECKING:
    from neardup_solr.measures.arrays import Pairs, Results


def word_distance(first: Sequence[str], second: Sequence[str], *, at_most: int) -> int | None:
    """Word-level Levenshtein distance, or None if it exceeds `at_most`.

    Counts words inserted, deleted or replaced. Levenshtein (1966); Wagner, Fischer (1974).
    """
    distance = Levenshtein.distance(first, second, score_cutoff=at_most)
    return None if distance > at_most else distance


def similarity(distance: int, longest: int) -> float:
    """Normalised similarity of two texts: 1 - distance / words of the longer; 1 for two empty."""
    return 1.0 - distance / longest if longest else 1.0


def _compare_one(form: str, texts: Sequence[str], comparer: Comparer) -> list[tuple[int, float]]:
    own = form.split()
    found = []
    for words in map(words_of, texts):
        longest = max(len(own), len(words))
        distance = word_distance(
            own, words, at_most=comparer.measure.allowed(longest, comparer.limits)
        )
        found.append(
            (NO_DISTANCE, 0.0) if distance is None else (distance, similarity(distance, longest))
        )
    return found


def _prepare(_: Comparer) -> Prepare:
    from neardup_solr.measures.distances import hashed_words

    return hashed_words


def _compare(texts: Prepared, pairs: Pairs, comparer: Comparer) -> Results:
    from neardup_solr.measures import distances

    return distances.compare(texts, pairs, comparer)


MEASURE = Measure(
    name="words",
    has_distance=True,
    prepare=_prepare,
    compare=_compare,
    compare_one=_compare_one,
    kernel_is_faster=False,  # hashing the words takes longer than rapidfuzz takes to compare them
)
