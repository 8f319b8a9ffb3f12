"""Similarity by edits of words: 1 - word-level Levenshtein distance / words of the longer text.

A few texts are compared by rapidfuzz, many pairs by the kernel, which is loaded only for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rapidfuzz.distance import Levenshtein

from neardup_solr.measures import Comparer, Measure
from neardup_solr.records import NO_DISTANCE
from neardup_solr.text.normalize import words_of

if TYPE_CHECKING:
    from neardup_solr.measures.arrays import Distances, Flat, Measurements, Pairs


def word_distance(first: Sequence[str], second: Sequence[str], *, at_most: int) -> int | None:
    """Compute the word-level Levenshtein distance, or None if it exceeds `at_most`.

    Counts words inserted, deleted or replaced. Levenshtein (1966); Wagner, Fischer (1974).
    """
    distance = Levenshtein.distance(first, second, score_cutoff=at_most)
    return None if distance > at_most else distance


def similarity(distance: int, longest: int) -> float:
    """Normalise a distance: 1 - distance / words of the longer text, 1 for two empty texts."""
    return 1.0 - distance / longest if longest else 1.0


def hash_words(forms: Sequence[str]) -> Flat:
    """Hash the words of each normal form, in their order, to 64 bits."""
    import numpy as np

    from neardup_solr.kernel import shingle_hashes
    from neardup_solr.measures.arrays import Flat
    from neardup_solr.text.packed import pack

    texts = pack(forms)
    # A word and the blank after it take at least two bytes.
    words = np.empty(len(texts.data) // 2 + len(forms), dtype=np.uint64)
    found = np.zeros(len(forms) + 1, dtype=np.int64)
    one = np.uint64(1)  # word in a shingle
    shingle_hashes.hash_shingles(texts.data, texts.bounds, False, one, words, found[1:])
    return Flat(words[: found[-1]], found)


def _compare(texts: Flat, pairs: Pairs, comparer: Comparer) -> Measurements:
    import numpy as np

    from neardup_solr.kernel import edits
    from neardup_solr.measures.arrays import Measurements, in_parts

    pairs = np.ascontiguousarray(pairs)
    lengths = texts.lengths_of(pairs)
    longest: Distances = lengths.max(axis=1, initial=0)
    of_length = np.zeros(longest.max(initial=0) + 1, dtype=np.int64)
    of_length[longest] = 1
    for length in np.flatnonzero(of_length).tolist():
        of_length[length] = comparer.measure.largest_distance(length, comparer.limits)
    allowed: Distances = of_length[longest]
    distances = np.empty(len(pairs), dtype=np.int64)

    def compare_some(some: slice) -> None:
        edits.compute_distances(*texts, pairs[some], allowed[some], distances[some])

    in_parts(compare_some, lengths.prod(axis=1) / edits.BLOCK, comparer.threads)
    similarities = 1.0 - distances / np.maximum(longest, 1)
    return Measurements(similarities, np.where(distances > allowed, NO_DISTANCE, distances))


def _compare_one(form: str, texts: Sequence[str], comparer: Comparer) -> list[tuple[int, float]]:
    own = form.split()
    found = []
    for text in texts:
        words = words_of(text, comparer.settings.normalization)
        longest = max(len(own), len(words))
        distance = word_distance(
            own, words, at_most=comparer.measure.largest_distance(longest, comparer.limits)
        )
        found.append(
            (NO_DISTANCE, 0.0) if distance is None else (distance, similarity(distance, longest))
        )
    return found


WORDS = Measure(
    name="words",
    has_distance=True,
    prepare=lambda _: hash_words,
    compare=_compare,
    compare_one=_compare_one,  # hashing the words takes longer than rapidfuzz takes to compare them
)
AUTO = WORDS  # until the texts are known
