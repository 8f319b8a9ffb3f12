"""Many pairs of texts by edits of words: the distances of the measure words, by the kernel."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from neardup_solr.kernel import edits, pieces
from neardup_solr.measures import NO_DISTANCE, Comparer
from neardup_solr.measures.arrays import Distances, Flat, Pairs, Results, in_parts
from neardup_solr.minhash.sign import in_utf8


def hashed_words(forms: Sequence[str]) -> Flat:
    """The words of each normal form, in their order, as 64-bit hashes."""
    packed, bounds = in_utf8(forms)
    # A word and the blank after it take at least two bytes.
    words = np.empty(len(packed) // 2 + len(forms), dtype=np.uint64)
    found = np.zeros(len(forms) + 1, dtype=np.int64)
    pieces.hash_each(packed, bounds, False, np.uint64(1), words, found[1:])  # shingles of one word
    return Flat(words[: found[-1]], found)


def compare(texts: Flat, pairs: Pairs, comparer: Comparer) -> Results:
    """The distances and similarities of pairs, as far as they are within the limits."""
    lengths = texts.lengths_of(pairs)
    longest: Distances = lengths.max(axis=1, initial=0)
    allowed = _allowed(longest, comparer)
    distances = np.empty(len(pairs), dtype=np.int64)

    def compare_some(some: slice) -> None:
        edits.distances(*texts, pairs[some], allowed[some], distances[some])

    in_parts(compare_some, lengths.prod(axis=1) / edits.BLOCK, comparer.threads)
    similarities = 1.0 - distances / np.maximum(longest, 1)
    return Results(similarities, np.where(distances > allowed, NO_DISTANCE, distances))


def _allowed(longest: Distances, comparer: Comparer) -> Distances:
    """The largest distances that are within the limits."""
    of_length = np.zeros(longest.max(initial=0) + 1, dtype=np.int64)
    of_length[longest] = 1
    for length in np.flatnonzero(of_length).tolist():
        of_length[length] = comparer.measure.allowed(length, comparer.limits)
    allowed: Distances = of_length[longest]
    return allowed
