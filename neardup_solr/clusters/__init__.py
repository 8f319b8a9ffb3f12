"""Clusters over verified pairs: single and complete linkage, and the guards against false ones.

Documents are row numbers in the natural order of their ids, 0 to documents - 1; `pairs` (uint32,
pairs × 2) has each verified pair once, the smaller number first; `similarities` (float64) has
theirs. `labels` (int64, documents) name each document's cluster by the smallest row number in it;
a single document is its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from neardup_solr.arguments import Linkage, require_choice
from neardup_solr.candidates.by_band import components
from neardup_solr.kernel import graph
from neardup_solr.measures.arrays import Pairs
from neardup_solr.records import Cluster, Member

LINKAGES: tuple[Linkage, ...] = get_args(Linkage)

Labels = NDArray[np.int64]
Similarities = NDArray[np.float64]


def linked(linkage: str, documents: int, pairs: Pairs, similarities: Similarities) -> Labels:
    """The labels by a linkage, "single" or "complete".

    Raises ArgumentError if there is no such linkage.
    """
    require_choice("linkage", linkage, LINKAGES)
    if linkage == "single":
        return single(documents, pairs)
    return complete(documents, pairs, similarities)


def single(documents: int, pairs: Pairs) -> Labels:
    """Single linkage: whatever a path of pairs connects is one cluster.

    The connected components. A chain of near-duplicates can connect documents that have nothing
    in common: `diameters` and `bridges` show where.
    """
    return components(documents, pairs)


def complete(documents: int, pairs: Pairs, similarities: Similarities) -> Labels:
    """Complete linkage: any two documents of a cluster are a verified pair.

    Clusters merge in the order of the least similarity between their documents, the greatest
    first (Sørensen 1948); a pair that was not verified keeps them apart. Equal similarities count
    in the order of their row numbers, so that the order of `pairs` does not matter. Pairs that
    were never compared split what belongs together: compare the `missing` ones first, and
    let one document stand for those that are identical (`folded`). Time grows as pairs × log
    pairs, memory as the pairs.
    """
    group = components(documents, pairs)[pairs[:, 0]]
    order = np.lexsort((pairs[:, 1], pairs[:, 0], -similarities, group))
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    labels = np.empty(documents, dtype=np.int64)
    graph.complete(pairs[order], np.append(starts, len(pairs)), labels)
    return labels


def folded(
    pairs: Pairs, similarities: Similarities, stand_ins: Labels
) -> tuple[Pairs, Similarities]:
    """The pairs between the documents that stand for identical ones, with their similarities.

    `stand_ins` (documents,) has the smallest row number of the documents that are identical to
    each. The labels of all come from those of the folded pairs: `labels[stand_ins]`. So a million
    identical documents make no pair. If pairs become one, the greatest similarity counts.
    """
    ends = np.sort(stand_ins[pairs], axis=1)
    order = np.lexsort((-similarities, ends[:, 1], ends[:, 0]))
    ends = ends[order]
    is_first = np.ones(len(ends), dtype=np.bool_)
    is_first[1:] = (ends[1:] != ends[:-1]).any(axis=1)
    kept = is_first & (ends[:, 0] != ends[:, 1])
    return ends[kept].astype(np.uint32), similarities[order][kept]


MOST_MISSING = 256  # documents of a cluster whose missing pairs are worth a comparison
MOST_WALKED = 2_000  # documents of a cluster whose diameter is worth the time


def missing(documents: int, pairs: Pairs, labels: Labels, *, most: int = MOST_MISSING) -> Pairs:
    """The pairs that are missing within clusters of at most `most` documents.

    Shape (missing, 2), as `pairs`, at most documents × (most - 1) / 2 of them. With the labels of
    `single` they are what complete linkage lacks if candidates were not compared.
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
    than `most` documents. By iFUB (Crescenzi and others 2013), which is exact and usually needs
    few walks; at worst one from each document.
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
    sides: Labels | None = None,
) -> tuple[Cluster, ...]:
    """The clusters of two documents or more, in the natural order of their first ids.

    `ids` are in natural order. Of each document (arrays of shape (documents,)): `canonical` the
    row number of its cluster's canonical document, `similarities` and `distances` the results of a
    comparison with that one, also for the canonical one itself; a distance of -1 means none;
    `stand_ins` the first document that is identical to it (None: none are identical). Identical
    documents count as one for diameters, and none of them is a bridge. `sides` are 0 or 1
    (None: there is only one side).
    The values of single documents are not used.
    """
    members, bounds = _groups(labels, len(labels))
    others, nearest = canonical[members] != members, -similarities[members]
    members = members[np.lexsort((members, distances[members], nearest, others, labels[members]))]
    alone = np.arange(len(labels))
    longest, torn = _guards(ids, pairs, labels, alone if stand_ins is None else stand_ins)
    counts = np.bincount(labels[_inner(pairs, labels)[:, 0]], minlength=len(labels)).tolist()
    sides = np.zeros_like(labels) if sides is None else sides
    columns = (column[members].tolist() for column in (similarities, distances, sides))
    records = [
        Member(
            id=ids[row],
            similarity=similarity,
            distance=None if distance < 0 else distance,
            side=side,
        )
        for row, similarity, distance, side in zip(members.tolist(), *columns, strict=True)
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
    """The pairs within clusters. Complete linkage leaves others between them."""
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
