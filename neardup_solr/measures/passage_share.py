"""The measure passages: the share of the shorter text that common passages cover, less edits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from neardup_solr.kernel import cover
from neardup_solr.measures import Comparer, Flat, Measure, Measurements
from neardup_solr.measures.folded import fold_texts
from neardup_solr.measures.pairs import Pairs, in_parts

LEAST = 48  # letters of a passage, which shorter ones of unrelated texts have, too


def cover_pairs(letters: Flat, pairs: Pairs, threads: int = 1) -> NDArray[np.int64]:
    """Count the letters that common passages of pairs cover in either, and those that differ.

    Shape (pairs, 3).
    """
    covered = np.zeros((len(pairs), 3), dtype=np.int64)

    def cover_part(part: slice) -> None:
        cover.cover_pairs(*letters, np.ascontiguousarray(pairs[part]), LEAST, covered[part])

    in_parts(cover_part, letters.lengths_of(pairs).sum(axis=1), threads)
    return covered


def _prepare(forms: Sequence[str], _: Comparer) -> Flat:
    folded = fold_texts(forms)
    return Flat(folded.letters, folded.bounds)


def _compare(letters: Flat, pairs: Pairs, comparer: Comparer) -> Measurements:
    covered, sizes = cover_pairs(letters, pairs, comparer.threads), letters.lengths_of(pairs)
    rows, shorter = np.arange(len(pairs)), sizes.argmin(axis=1)
    least = sizes[rows, shorter]
    equal = np.maximum(covered[rows, shorter] - covered[:, 2], 0)
    shares = np.where(least == 0, sizes.max(axis=1) == 0, equal / np.maximum(least, 1))
    return Measurements(shares.astype(np.float64))


PASSAGES = Measure(name="passages", default=0.7, prepare=_prepare, compare=_compare, way="passages")
