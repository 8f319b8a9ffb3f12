"""Candidate pairs of a whole collection: all documents that share an LSH band, each pair once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from neardup_solr.pure.signing import is_compiled

CAP = 256  # documents of one band key that are all paired with each other
_ROOM = 1 << 20  # pairs in one block

Pairs = NDArray[np.uint32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """Pairs of row numbers that share a band.

    `pairs` (uint32, pairs × 2) has each pair once, the smaller number first. `hot_keys` counts
    the band keys of more documents than the cap: those are chained, each with the next, so that
    they still come together in one component, but not all of their pairs are there.
    """

    pairs: Pairs
    hot_keys: int


def band_candidates(keys: NDArray[np.uint64], *, cap: int = CAP) -> Candidates:
    """The pairs of rows that agree in some column of `keys` (documents × bands).

    One sort a band, then a walk over the runs of equal keys; a pair is given by the first band
    that it shares. Memory: the keys again for the orders, and the pairs. "Mining of Massive
    Datasets", section 3.4.3.
    """
    if not is_compiled():
        return _candidates_slowly(keys, cap)
    from neardup_solr.pure.kernel import joins

    documents, bands = keys.shape
    hot = np.zeros(keys.shape, dtype=np.bool_)
    orders = []
    hot_keys = 0
    for band in range(bands):
        column = np.ascontiguousarray(keys[:, band])
        orders.append(np.argsort(column).astype(np.uint32))
        hot_keys += joins.mark_hot(orders[-1], column, cap, hot[:, band])
    block = np.empty((max(_ROOM, documents, cap * cap), 2), dtype=np.uint32)
    blocks = []
    for band in range(bands):
        start = 0
        while start < documents:
            start, filled = joins.band_pairs(start, orders[band], keys, hot, band, block)
            blocks.append(block[:filled].copy())
    pairs = np.concatenate(blocks) if blocks else np.empty((0, 2), dtype=np.uint32)
    if hot_keys:  # neighbours in one chain may be neighbours in another
        pairs = _distinct(pairs)
    return Candidates(pairs=pairs, hot_keys=hot_keys)


def _distinct(pairs: Pairs) -> Pairs:
    joined = np.unique(pairs[:, 0].astype(np.uint64) << np.uint64(32) | pairs[:, 1])
    halves = joined >> np.uint64(32), joined & np.uint64(0xFFFFFFFF)
    return np.stack(halves, axis=1).astype(np.uint32)


def components(documents: int, pairs: Pairs) -> NDArray[np.int64]:
    """The connected component of each document: the smallest row number in it.

    Shape (documents,); a document without a pair is its own.
    """
    if is_compiled():
        from neardup_solr.pure.kernel import joins

        found: NDArray[np.int64] = joins.components(documents, pairs)
        return found
    parent = list(range(documents))
    for one, other in pairs.tolist():
        low, high = sorted((_root(parent, one), _root(parent, other)))
        parent[high] = low
    return np.array([_root(parent, document) for document in range(documents)], dtype=np.int64)


def _root(parent: list[int], document: int) -> int:
    while parent[document] != document:
        parent[document] = parent[parent[document]]
        document = parent[document]
    return document


def _candidates_slowly(keys: NDArray[np.uint64], cap: int) -> Candidates:
    pairs: set[tuple[int, int]] = set()
    hot_keys = 0
    for column in keys.T.tolist():
        runs: dict[int, list[int]] = defaultdict(list)
        for row, key in enumerate(column):
            runs[key].append(row)
        for run in runs.values():
            hot_keys += len(run) > cap
            pairs.update(_of_run(run, cap))
    listed = np.array(sorted(pairs), dtype=np.uint32).reshape(-1, 2)
    return Candidates(pairs=listed, hot_keys=hot_keys)


def _of_run(run: Sequence[int], cap: int) -> list[tuple[int, int]]:
    if len(run) > cap:
        return list(pairwise(run))
    return [(one, other) for at, one in enumerate(run) for other in run[at + 1 :]]
