"""Clusters over verified pairs: the guards against false ones, and their assembly.

Documents, pairs and labels are those of `neardup_solr.clusters.linkage`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from neardup_solr.clusters.linkage import Labels, Similarities, folded
from neardup_solr.kernel import graph
from neardup_solr.measures import Pairs
from neardup_solr.records import Cluster, Member

MOST_MISSING = 256  # documents of a cluster whose missing pairs are worth a comparison
MOST_WALKED = 2_000  # documents of a cluster whose diameter is worth the time


def missing(documents: int, pairs: Pairs, labels: Labels, *, most: int = MOST_MISSING) -> Pairs:
    """The pairs of one cluster that are not among `pairs`, of clusters of at most so many.

    Shape (missing, 2), as `pairs`, at most documents × (most - 1) / 2 of them. With the labels of
    `single` they are what complete linkage lacks where candidates were not compared.
    """
    members, bounds = _groups(labels, most)
    wanted = np.zeros(documents, dtype=np.bool_)
    wanted[members] = True
    inner = _inner(pairs, labels)
    inner = inner[wanted[inner[:, 0]]]
    sizes = np.diff(bounds)
    room = int((sizes * (sizes - 1) // 2).sum()) - len(inner)
    found = np.empty((room, 2), dtype=np.uint32)
    graph.missing(*_adjacency(documents, inner), members, bounds, found)
    return found


def diameters(
    documents: int, pairs: Pairs, labels: Labels, *, most: int = MOST_WALKED
) -> NDArray[np.int64]:
    """The diameter of each document's cluster: the longest of its shortest paths over `pairs`.

    Shape (documents,). 1: any two are a pair; 0: the document is alone, or its cluster has more
    than `most` documents. By iFUB (Crescenzi and others 2013), which is exact and mostly needs
    few of the walks, one from each document, that it takes at worst.
    """
    members, bounds = _groups(labels, most)
    inner = _inner(pairs, labels)
    found = np.zeros(len(bounds) - 1, dtype=np.int64)
    graph.diameters(*_adjacency(documents, inner), members, bounds, found)
    longest = np.zeros(documents, dtype=np.int64)
    longest[members] = np.repeat(found, np.diff(bounds))
    return longest


def bridges(documents: int, pairs: Pairs, labels: Labels) -> NDArray[np.int64]:
    """The documents without which their cluster would fall apart, as rising row numbers.

    Articulation points (Hopcroft and Tarjan 1973), of clusters of 3 documents or more; any size
    in linear time.
    """
    inner = _inner(pairs, labels)
    found = np.zeros(documents, dtype=np.bool_)
    graph.bridges(*_adjacency(documents, inner), found)
    return np.flatnonzero(found)


def clusters(
    ids: Sequence[str],
    pairs: Pairs,
    *,
    labels: Labels,
    canonical: Labels,
    similarities: Similarities,
    distances: NDArray[np.int64],
    stand_ins: Labels | None = None,
) -> tuple[Cluster, ...]:
    """The clusters of two documents or more, in the natural order of their first ids.

    `ids` are in natural order. Of each document (arrays of shape (documents,)): `canonical` the
    row number of its cluster's canonical document, `similarities` and `distances` what a
    comparison with that one gives, the canonical one's own included; a distance of -1 is none;
    `stand_ins` the first of those that are identical to it (None: none are): as one they count
    for diameters, and where there are several of them, none is a bridge.
    What documents alone have there is of no consequence.
    """
    members, bounds = _groups(labels, len(labels))
    others, nearest = canonical[members] != members, -similarities[members]
    members = members[np.lexsort((members, distances[members], nearest, others, labels[members]))]
    alone = np.arange(len(labels))
    longest, torn = _guards(ids, pairs, labels, alone if stand_ins is None else stand_ins)
    counts = np.bincount(labels[_inner(pairs, labels)[:, 0]], minlength=len(labels)).tolist()
    columns = (column[members].tolist() for column in (similarities, distances))
    records = [
        Member(id=ids[row], similarity=similarity, distance=None if distance < 0 else distance)
        for row, similarity, distance in zip(members.tolist(), *columns, strict=True)
    ]
    firsts = labels[members[bounds[:-1]]].tolist()
    return tuple(
        Cluster(
            id=ids[first],
            canonical=records[start].id,
            members=tuple(records[start:stop]),
            pairs=counts[first],
            diameter=int(longest[first]),
            bridges=tuple(torn.get(first, ())),
        )
        for first, (start, stop) in zip(firsts, pairwise(bounds.tolist()), strict=True)
    )


def _guards(
    ids: Sequence[str], pairs: Pairs, labels: Labels, stand_ins: Labels
) -> tuple[NDArray[np.int64], dict[int, list[str]]]:
    """The diameter of each document's cluster, and the bridges of each cluster by its label."""
    count = len(labels)
    alone = np.arange(count)
    apart, _ = folded(pairs, np.zeros(len(pairs)), stand_ins)
    own = np.where(stand_ins == alone, labels, alone)
    longest = diameters(count, apart, own)
    # A cluster of nothing but identical documents has folded into one.
    sizes = np.bincount(own, minlength=count)
    longest = np.where(sizes[labels] == 1, 1, longest[labels])
    copies = np.bincount(stand_ins, minlength=count)
    torn = defaultdict(list)
    for row in bridges(count, apart, own).tolist():
        if copies[row] == 1:
            torn[int(labels[row])].append(ids[row])
    return longest, torn


def _inner(pairs: Pairs, labels: Labels) -> Pairs:
    """The pairs of one cluster; complete linkage leaves others between clusters."""
    inner: Pairs = pairs[labels[pairs[:, 0]] == labels[pairs[:, 1]]]
    return inner


def _groups(labels: Labels, most: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The clusters of 2 to `most` documents: g is members[bounds[g]:bounds[g + 1]], rising."""
    sizes = np.bincount(labels, minlength=len(labels))[labels]
    members = np.flatnonzero((sizes > 1) & (sizes <= most))
    members = members[np.argsort(labels[members], kind="stable")]
    starts = np.flatnonzero(np.diff(labels[members], prepend=-1))
    return members, np.append(starts, len(members))


def _adjacency(documents: int, pairs: Pairs) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Offsets and neighbours: those of document d are neighbours[offsets[d]:offsets[d + 1]]."""
    offsets = np.zeros(documents + 1, dtype=np.int64)
    neighbours = np.empty(2 * len(pairs), dtype=np.uint32)
    graph.adjacency(pairs, offsets, neighbours)
    return offsets, neighbours
