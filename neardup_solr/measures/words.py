"""Similarity by edits of words: 1 - word-level Levenshtein distance / words of the longer text.

Two texts are compared by rapidfuzz, many pairs by the kernel.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rapidfuzz.distance import Levenshtein

from neardup_solr.kernel import edits, shingle_hashes
from neardup_solr.measures import Comparer, Distances, Flat, Measure, Measurements, Pairs, in_parts
from neardup_solr.records import NO_DISTANCE
from neardup_solr.text.packed import pack


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
    return hash_runs(forms, 1)


def hash_runs(forms: Sequence[str], size: int, *, by_characters: bool = False) -> Flat:
    """Hash each run of `size` words, or characters, of normal forms, in their order, to 64 bits.

    A shorter form is a run.
    """
    texts = pack(forms)
    # A word and the blank after it take at least two bytes.
    room = len(texts.data) if by_characters else len(texts.data) // 2 + len(forms)
    hashed = np.empty(room, dtype=np.uint64)
    bounds = np.zeros(len(forms) + 1, dtype=np.int64)
    shingle_hashes.hash_shingles(
        texts.data, texts.bounds, by_characters, np.uint64(size), hashed, bounds[1:]
    )
    return Flat(hashed[: bounds[-1]], bounds)


def _compare(texts: Flat, pairs: Pairs, comparer: Comparer) -> Measurements:
    pairs = np.ascontiguousarray(pairs)
    lengths = texts.lengths_of(pairs)
    longest: Distances = lengths.max(axis=1, initial=0)
    of_length = np.zeros(longest.max(initial=0) + 1, dtype=np.int64)
    of_length[longest] = 1
    for length in np.flatnonzero(of_length).tolist():
        of_length[length] = comparer.measure.largest_distance(length, comparer.limits)
    allowed: Distances = of_length[longest]
    distances = np.empty(len(pairs), dtype=np.int64)

    def compare_part(part: slice) -> None:
        edits.compute_distances(*texts, pairs[part], allowed[part], distances[part])

    in_parts(compare_part, lengths.prod(axis=1) / edits.BLOCK, comparer.threads)
    similarities = 1.0 - distances / np.maximum(longest, 1)
    return Measurements(similarities, np.where(distances > allowed, NO_DISTANCE, distances))


WORDS = Measure(
    name="words",
    has_distance=True,
    prepare=lambda forms, _: hash_words(forms),
    compare=_compare,
)
AUTO = WORDS  # until the texts are read
