"""The measure of texts by their edited words: 1 - distance / words of the longer text."""

from __future__ import annotations

import numpy as np

from neardup_solr import measures
from neardup_solr.kernel import edits
from neardup_solr.measures import Flat, Measure, Measurements
from neardup_solr.measures.pairs import Pairs, in_parts
from neardup_solr.measures.text_hashes import hash_words
from neardup_solr.records import NO_DISTANCE


def similarity(distance: int, longest: int) -> float:
    """Normalise a distance: 1 - distance / words of the longer text, 1 for two empty texts."""
    return 1.0 - distance / longest if longest else 1.0


def _compare(texts: Flat, pairs: Pairs, comparer: measures.Comparer) -> Measurements:
    pairs = np.ascontiguousarray(pairs)
    lengths = texts.lengths_of(pairs)
    longest: measures.Distances = lengths.max(axis=1, initial=0)
    of_length = np.zeros(longest.max(initial=0) + 1, dtype=np.int64)
    of_length[longest] = 1
    for length in np.flatnonzero(of_length).tolist():
        of_length[length] = comparer.measure.largest_distance(length, comparer.limits)
    allowed: measures.Distances = of_length[longest]
    distances = np.empty(len(pairs), dtype=np.int64)

    def compare_part(part: slice) -> None:
        edits.compute_distances(*texts, pairs[part], allowed[part], distances[part])

    in_parts(compare_part, lengths.prod(axis=1) / edits.BLOCK, comparer.threads)
    similarities = 1.0 - distances / np.maximum(longest, 1)
    return Measurements(similarities, np.where(distances > allowed, NO_DISTANCE, distances))


WORDS = Measure(
    name="words", has_distance=True, prepare=lambda forms, _: hash_words(forms), compare=_compare
)
AUTO = WORDS  # until the texts are read
