"""Open wedges: two documents are near a third, but not near each other.

Copies leave few of them open. Members of a family, or too low a threshold, leave many.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neardup_solr.kernel import graph
from neardup_solr.measures.pairs import Pairs, number_pairs, pairs_of
from neardup_solr.sizes import SIZES

_NOWHERE = np.uint32(0xFFFFFFFF)  # the node of a document without a pair
_AT_ONCE = 1 << 17  # pairs


def count_open_wedges(compared: Pairs, near: Pairs, documents: int) -> int:
    """Count how often two documents are near a third, and were compared, but are not near.

    `compared` and `near` are pairs of row numbers below `documents`, each once; `near` ones ascend.
    Pairs that were not compared say nothing. Large numbers are judged by a sample of the compared
    pairs, and rounded to two digits.
    """
    is_near = np.zeros(documents, dtype=np.bool_)
    is_near[near] = True
    nodes = np.cumsum(is_near, dtype=np.uint32) - np.uint32(1)
    nodes[~is_near] = _NOWHERE
    offsets, neighbours = list_neighbours(int(np.count_nonzero(is_near)), nodes[near])
    degrees = np.zeros(documents, dtype=np.uint32)
    degrees[is_near] = np.diff(offsets)
    sampled = -(-len(compared) // _AT_ONCE) or 1
    fewer = degrees[compared[::sampled]].T
    steps = sampled * int(np.minimum(*fewer).sum(dtype=np.int64))
    every = -(-steps // SIZES.wedge_steps) or 1
    some = np.ascontiguousarray(compared[::every])
    count: int = graph.count_common(some, False, nodes, offsets, neighbours) * every
    return count if every == 1 else int(float(f"{count:.1e}"))


def count_all_open_wedges(near: Pairs) -> int:
    """Count how often two rows are near a third, but not near each other. `near` has pairs once."""
    ends = pairs_of(np.sort(number_pairs(np.sort(near, axis=1))))
    rows = int(ends.max(initial=0)) + 1
    offsets, neighbours = list_neighbours(rows, ends)
    degrees = np.diff(offsets)
    wedges = int((degrees * (degrees - 1) // 2).sum())
    nodes = np.arange(rows, dtype=np.uint32)
    closed: int = graph.count_common(ends, True, nodes, offsets, neighbours)
    return wedges - closed


def list_neighbours(documents: int, pairs: Pairs) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Offsets and neighbours: those of document d are neighbours[offsets[d]:offsets[d + 1]]."""
    offsets = np.zeros(documents + 1, dtype=np.int64)
    neighbours = np.empty(2 * len(pairs), dtype=np.uint32)
    graph.adjacency(pairs, offsets, neighbours)
    return offsets, neighbours
