"""Clusters over verified pairs: their documents, diameters, bridges and open wedges.

Documents are row numbers in the natural order of their ids, 0 to documents - 1; `pairs` (uint32,
pairs × 2) has each verified pair once, the smaller number first; `similarities` (float64) has
theirs. `labels` (int64, documents) name each document's cluster by the smallest row number in it;
a single document is a cluster.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from neardup_solr.clusters.components import Labels
from neardup_solr.clusters.linkage import fold_identical, list_groups, select_inner
from neardup_solr.kernel import graph
from neardup_solr.measures import Similarities
from neardup_solr.measures.pairs import Pairs
from neardup_solr.measures.wedges import list_neighbours
from neardup_solr.records import Cluster, Member

MOST_WALKED = 2_000  # documents of a cluster whose diameter is worth the time


def diameters(
    documents: int, pairs: Pairs, labels: Labels, *, most: int = MOST_WALKED
) -> NDArray[np.int64]:
    """The diameter of each document's cluster: the longest of its shortest paths over `pairs`.

    Shape (documents,). 1: any two are a pair; 0: the document is alone, or its cluster has more
    than `most` documents. By iFUB (Crescenzi and others 2013), which is exact and usually needs
    few walks; at worst a walk from each document.
    """
    members, bounds = list_groups(labels, most)
    inner = select_inner(pairs, labels)
    of_groups = np.zeros(len(bounds) - 1, dtype=np.int64)
    graph.diameters(*list_neighbours(documents, inner), members, bounds, of_groups)
    longest = np.zeros(documents, dtype=np.int64)
    longest[members] = np.repeat(of_groups, np.diff(bounds))
    return longest


def bridges(documents: int, pairs: Pairs, labels: Labels) -> NDArray[np.int64]:
    """The documents without which their cluster would fall apart, as rising row numbers.

    Articulation points (Hopcroft and Tarjan 1973), of clusters of 3 documents or more; any size
    in linear time.
    """
    inner = select_inner(pairs, labels)
    marks = np.zeros(documents, dtype=np.bool_)
    graph.bridges(*list_neighbours(documents, inner), marks)
    return np.flatnonzero(marks)


def make_clusters(
    ids: Sequence[str],
    pairs: Pairs,
    *,
    labels: Labels,
    canonical: Labels,
    similarities: Similarities,
    distances: NDArray[np.int64],
    stand_ins: Labels | None = None,
    sides: Labels | None = None,
    texts: Labels | None = None,
) -> tuple[Cluster, ...]:
    """The clusters of two documents or more, in the natural order of their first ids.

    `ids` are in natural order. Of each document (arrays of shape (documents,)): `canonical` the
    row number of its cluster's canonical document, `similarities` and `distances` the results of a
    comparison with that, also for the canonical document itself; a distance of -1 means none;
    `stand_ins` the first document that is identical to it (None: none are identical). Identical
    documents count as one for diameters, and none of them is a bridge. `sides` are 0 or 1
    (None: all are of a side), `texts` number the normal forms (None: unknown).
    The values of single documents are not used.
    """
    members, bounds = list_groups(labels, len(labels))
    others, nearest = canonical[members] != members, -similarities[members]
    members = members[np.lexsort((members, distances[members], nearest, others, labels[members]))]
    alone = np.arange(len(labels))
    longest, torn = _guards(ids, pairs, labels, alone if stand_ins is None else stand_ins)
    counts = np.bincount(labels[select_inner(pairs, labels)[:, 0]], minlength=len(labels)).tolist()
    sides = np.zeros_like(labels) if sides is None else sides
    texts = np.full_like(labels, -1) if texts is None else texts
    columns = (column[members].tolist() for column in (similarities, distances, sides, texts))
    records = [
        Member(
            id=ids[row],
            similarity=similarity,
            distance=None if distance < 0 else distance,
            side=side,
            text=text,
        )
        for row, similarity, distance, side, text in zip(members.tolist(), *columns, strict=True)
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
    apart, _ = fold_identical(pairs, np.zeros(len(pairs)), stand_ins)
    folded = np.where(stand_ins == alone, labels, alone)
    longest = diameters(count, apart, folded)
    # A cluster of nothing but identical documents has folded into a single document.
    sizes = np.bincount(folded, minlength=count)
    longest = np.where(sizes[labels] == 1, 1, longest[labels])
    copies = np.bincount(stand_ins, minlength=count)
    torn = defaultdict(list)
    for row in bridges(count, apart, folded).tolist():
        if copies[row] == 1:
            torn[int(labels[row])].append(ids[row])
    return longest, torn
