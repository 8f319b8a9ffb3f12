"""Jaccard similarity as the signatures estimate it: the share of equal values. Broder (1997)."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from neardup_solr.measures import Measure
from neardup_solr.measures.arrays import Pairs, Results, Similarities, in_parts
from neardup_solr.minhash import signature
from neardup_solr.settings import Settings


def estimated(signatures: NDArray[np.uint32], pairs: Pairs, *, threads: int = 1) -> Similarities:
    """The estimated Jaccard similarity of each pair, by so many threads.

    `signatures` has shape (documents, hashes), `pairs` (pairs, 2) row numbers.
    """
    from neardup_solr.kernel import joins

    found = np.empty(len(pairs), dtype=np.float64)

    def estimate_some(some: slice) -> None:
        joins.equal_values(signatures, pairs[some], found[some])

    in_parts(estimate_some, np.full(len(pairs), signatures.shape[1]), threads)
    return found


def count_shared_bands(
    signatures: NDArray[np.uint32], pairs: Pairs, settings: Settings
) -> NDArray[np.int64]:
    """In how many LSH bands each pair agrees; `signatures` and `pairs` as for `estimated`."""
    used = settings.bands * settings.rows
    equal = signatures[pairs[:, 0], :used] == signatures[pairs[:, 1], :used]
    by_band = equal.reshape(len(pairs), settings.bands, settings.rows).all(axis=2)
    found: NDArray[np.int64] = by_band.sum(axis=1)
    return found


MEASURE = Measure(
    name="estimate",
    compared_field="signature",
    prepare=lambda comparer: partial(signature.decode_all, settings=comparer.settings),
    compare=lambda signatures, pairs, comparer: Results(
        estimated(signatures, pairs, threads=comparer.threads)
    ),
)
