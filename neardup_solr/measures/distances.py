"""Many pairs of texts by edits of words: the distances of the measure words, by the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from neardup_solr.kernel import edits
from neardup_solr.measures import NO_DISTANCE, Comparer
from neardup_solr.measures.arrays import Distances, Found, Pairs
from neardup_solr.minhash.sign import packed_forms

AT_ONCE = 1 << 12  # pairs that a thread compares

Hashes = NDArray[np.uint64]


def hashed_words(forms: Sequence[str]) -> list[Hashes]:
    """The words of each normal form, in their order, as 64-bit hashes."""
    packed, bounds = packed_forms(forms)
    # A word and the blank after it take at least two bytes.
    words = np.empty(len(packed) // 2 + len(forms), dtype=np.uint64)
    ends = np.zeros(len(forms), dtype=np.int64)
    edits.hash_words(packed, bounds, words, ends)
    # Copies, or one text that is kept would keep all texts of this call.
    return [words[first:last].copy() for first, last in pairwise([0, *ends.tolist()])]


def compare(texts: Sequence[Hashes], pairs: Pairs, comparer: Comparer) -> Found:
    """The distances and similarities of pairs, as far as they are within the limits."""
    if not len(pairs):
        return Found(np.empty(0), np.empty(0, dtype=np.int64))
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    longest: Distances = lengths[pairs].max(axis=1)
    allowed = _allowed(longest, comparer)
    words, ends = np.concatenate(texts), np.cumsum(lengths)
    distances = np.empty(len(pairs), dtype=np.int64)

    def compare_some(at: int) -> None:
        some = slice(at, at + AT_ONCE)
        edits.distances(words, ends, pairs[some], allowed[some], distances[some])

    with ThreadPoolExecutor(comparer.threads) as pool:
        list(pool.map(compare_some, range(0, len(pairs), AT_ONCE)))
    similarities = 1.0 - distances / np.maximum(longest, 1)
    return Found(similarities, np.where(distances > allowed, NO_DISTANCE, distances))


def _allowed(longest: Distances, comparer: Comparer) -> Distances:
    """The largest distances that are within the limits."""
    counts, places = np.unique(longest, return_inverse=True)
    allowed = [comparer.measure.allowed(count, comparer.limits) for count in counts.tolist()]
    return np.array(allowed, dtype=np.int64)[places]
