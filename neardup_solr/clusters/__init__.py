"""Clusters over verified pairs: their documents, diameters, bridges and open wedges.

Documents are row numbers in the natural order of their ids, 0 to documents - 1; `pairs` (uint32,
pairs × 2) has each verified pair once, the smaller number first; `similarities` (float64) has
theirs. `labels` (int64, documents) name each document's cluster by the smallest row number in it;
a single document is a cluster.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from neardup_solr.clusters.components import Labels
from neardup_solr.clusters.linkage import fold_identical, list_groups, select_inner
from neardup_solr.distinct import mark_among, sort_distinct
from neardup_solr.kernel import graph
from neardup_solr.measures import Similarities
from neardup_solr.measures.pairs import Pairs
from neardup_solr.measures.wedges import list_neighbours
from neardup_solr.records import AnyId, Cluster, Member

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


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterRows:
    """Clusters of two documents or more as columns, in the natural order of their first ids.

    `members` are the documents of cluster n at `bounds[n]` to `bounds[n + 1]`, the canonical one
    first, then by nearness to it; `pairs` and `diameters` have a value for each cluster, and
    `bridges` are documents. Of each document there are the columns of `arrange_clusters`.
    """

    members: NDArray[np.int64]
    bounds: NDArray[np.int64]
    pairs: NDArray[np.int64]
    diameters: NDArray[np.int64]
    bridges: NDArray[np.int64]
    labels: Labels
    similarities: Similarities
    distances: NDArray[np.int64]
    sides: Labels
    texts: Labels

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def others(self) -> int:
        """The number of documents beside the canonical ones."""
        return len(self.members) - len(self)

    def members_of(self, place: int) -> NDArray[np.int64]:
        """The documents of a cluster, the canonical one first."""
        return self.members[self.bounds[place] : self.bounds[place + 1]]

    @property
    def firsts(self) -> NDArray[np.int64]:
        """The first document of each cluster, by which it is named."""
        return self.labels[self.members[self.bounds[:-1]]]

    @property
    def copies(self) -> int:
        """The number of documents that are exact copies of an earlier one of their cluster."""
        known = self.members[self.texts[self.members] >= 0]
        texts = self.labels[known] * (int(self.texts.max(initial=0)) + 1) + self.texts[known]
        return len(known) - len(sort_distinct(texts))

    def select(self, places: NDArray[np.int64]) -> ClusterRows:
        """Take some of the clusters, by their places in ascending order."""
        parts = [self.members_of(place) for place in places.tolist()]
        ends = np.cumsum([0, *map(len, parts)])
        members = np.concatenate([self.members[:0], *parts])
        return replace(
            self,
            members=members,
            bounds=ends,
            pairs=self.pairs[places],
            diameters=self.diameters[places],
            bridges=self.bridges[mark_among(self.bridges, members)],
        )

    def make(self, ids: Sequence[AnyId], doubt: str = "") -> tuple[Cluster, ...]:
        """Make the clusters, by the ids of all documents."""
        columns = self.similarities, self.distances, self.sides, self.texts
        values = (column[self.members].tolist() for column in columns)
        records = [
            Member(
                id=ids[row],
                similarity=similarity,
                distance=None if distance < 0 else distance,
                side=side,
                text=text,
            )
            for row, similarity, distance, side, text in zip(
                self.members.tolist(), *values, strict=True
            )
        ]
        torn: defaultdict[int, list[AnyId]] = defaultdict(list)
        for row in self.bridges.tolist():
            torn[int(self.labels[row])].append(ids[row])
        rows = (self.firsts, self.pairs, self.diameters)
        return tuple(
            Cluster(
                id=ids[first],
                canonical=records[start].id,
                members=tuple(records[start:stop]),
                pairs=pairs,
                diameter=diameter,
                bridges=tuple(torn.get(first, ())),
                doubt=doubt,
            )
            for first, pairs, diameter, (start, stop) in zip(
                *(column.tolist() for column in rows), pairwise(self.bounds.tolist()), strict=True
            )
        )


def arrange_clusters(
    pairs: Pairs,
    *,
    labels: Labels,
    canonical: Labels,
    similarities: Similarities,
    distances: NDArray[np.int64],
    stand_ins: Labels | None = None,
    sides: Labels | None = None,
    texts: Labels | None = None,
) -> ClusterRows:
    """Arrange the clusters of two documents or more, in the order of their first documents.

    Of each document (arrays of shape (documents,)): `canonical` the
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
    longest, torn = _guards(pairs, labels, alone if stand_ins is None else stand_ins)
    counts = np.bincount(labels[select_inner(pairs, labels)[:, 0]], minlength=len(labels))
    firsts = labels[members[bounds[:-1]]]
    return ClusterRows(
        members=members,
        bounds=bounds,
        pairs=counts[firsts],
        diameters=longest[firsts],
        bridges=torn,
        labels=labels,
        similarities=similarities,
        distances=distances,
        sides=np.zeros_like(labels) if sides is None else sides,
        texts=np.full_like(labels, -1) if texts is None else texts,
    )


def _guards(
    pairs: Pairs, labels: Labels, stand_ins: Labels
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find the diameter of each document's cluster, and the documents that are bridges."""
    count = len(labels)
    alone = np.arange(count)
    apart, _ = fold_identical(pairs, np.zeros(len(pairs)), stand_ins)
    folded = np.where(stand_ins == alone, labels, alone)
    longest = diameters(count, apart, folded)
    # A cluster of nothing but identical documents has folded into a single document.
    sizes = np.bincount(folded, minlength=count)
    longest = np.where(sizes[labels] == 1, 1, longest[labels])
    torn = bridges(count, apart, folded)
    return longest, torn[np.bincount(stand_ins, minlength=count)[torn] == 1]
