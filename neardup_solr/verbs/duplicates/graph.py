"""The graph of near-duplicates, and its clusters: at the threshold of a run, and at higher ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from neardup_solr import records
from neardup_solr.answers import DocumentKey
from neardup_solr.clusters import ClusterRows, arrange_clusters
from neardup_solr.clusters.canonical import Rule, choose_canonicals
from neardup_solr.clusters.components import Labels, components_apart
from neardup_solr.clusters.linkage import fold_identical, link
from neardup_solr.distinct import mark_among
from neardup_solr.measures import Distances, Similarities, floor
from neardup_solr.measures.pairs import Pairs, find_pairs, number_pairs
from neardup_solr.measures.relation import RELATIONS, relate_similar
from neardup_solr.progress import gc_disabled
from neardup_solr.records import NO_DISTANCE, RELATING, AnyId, Duplicate, Relation, Removed, key_of

if TYPE_CHECKING:
    from neardup_solr.argument_types import Linkage

UNCLUSTERED = ""  # the cluster of a pair that complete linkage has separated
SIDES = ((0, 0), (0, 1), (1, 1))  # of a pair, by how many of the two are of the second side
# An excerpt is not the whole, nor is a probability of 1 a copy.
INEXACT = ("containment", "passages", "fields", "model")

# Compares pairs of documents: their distances and similarities.
Compare = Callable[[Pairs], tuple[Distances, Similarities]]
RowNumbers = NDArray[np.uint32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """Documents that have a pair, numbered in the natural order of their ids, and their pairs.

    Of each document, `nodes` have the side and the id, `forms` the number of its normal form,
    `texts` that of its normal form with its symbols, `words` how many it has, 0 if that is not
    known, and `values` what the `rule` for the canonical document compares. Of each pair, the
    smaller number first, there are the distance, the similarity, how many bands are `shared`, and
    the answer of people, None if there are none. `same` and `different` are the pairs that answers
    are about. `canonical` has the canonical document of each at the threshold of the run, with the
    distance and the similarity of the two.
    """

    nodes: Sequence[DocumentKey]
    forms: Labels
    texts: Labels
    words: NDArray[np.int64]
    values: Sequence[object]
    rule: Rule
    measure: str
    has_distance: bool
    linkage: Linkage
    has_sides: bool
    pairs: Pairs
    distances: Distances
    similarities: Similarities
    shared: NDArray[np.int64]
    same: Pairs
    different: Pairs
    answers: Sequence[str] | None = None
    canonical: tuple[Labels, Distances, Similarities] | None = None

    @property
    def symbolic(self) -> int:
        """Number of pairs of the same words with different symbols."""
        first, second = self.pairs.T
        is_same = self.forms[first] == self.forms[second]
        return int(np.count_nonzero(is_same & (self.texts[first] != self.texts[second])))

    def relate(self, order: NDArray[np.intp]) -> list[Relation | None]:
        """Relate the first document to the second one of each pair, in this order of the pairs."""
        if self.measure not in RELATING:
            return [None] * len(order)
        words = self.words[self.pairs[order]]
        relations = relate_similar(self.measure, self.similarities[order], words)
        names = np.array([*RELATIONS, None], dtype=object)  # the last one is what is not known
        named: list[Relation | None] = names[relations].tolist()
        return named

    @property
    def keys(self) -> list[AnyId]:
        """The key of each document, see `key_of`."""
        return [key_of(id, side) for side, id in self.nodes]

    def select(self, least: float) -> Graph:
        """Keep the pairs that are at least so similar, and those that answers call the same.

        All pairs that complete linkage needs are among those of a lower threshold.
        """
        is_same = mark_among(number_pairs(self.pairs), number_pairs(self.same))
        return self.keep(np.flatnonzero((self.similarities >= floor(least)) | is_same))

    def keep(self, wanted: NDArray[np.bool_] | NDArray[np.intp]) -> Graph:
        """Keep some pairs, by a mask of all or by their numbers."""
        rows = np.arange(len(self.pairs))[wanted]
        return replace(
            self,
            pairs=self.pairs[rows],
            distances=self.distances[rows],
            similarities=self.similarities[rows],
            shared=self.shared[rows],
            answers=self.answers and [self.answers[row] for row in rows.tolist()],
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Grouped:
    """The clusters of a graph, as columns and, once they are asked for, as pairs and clusters."""

    graph: Graph
    rows: ClusterRows
    doubt: str = ""  # of all clusters

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Grouped):
            return NotImplemented
        return self.pairs == other.pairs and self.clusters == other.clusters

    __hash__ = None  # type: ignore[assignment]

    @property
    def labels(self) -> Labels:
        """The cluster of each document, by the first document of it."""
        return self.rows.labels

    def remove_others(self) -> dict[AnyId, Removed]:
        """Remove all documents but the canonical one of each cluster, by id."""
        rows, nodes, starts = self.rows, self.graph.nodes, self.rows.bounds[:-1]
        others = np.delete(rows.members, starts)
        kept_for = np.repeat(rows.members[starts], np.diff(rows.bounds) - 1)
        columns = others, kept_for, rows.similarities[others]
        with gc_disabled():
            return {
                nodes[node][1]: Removed(
                    id=nodes[node][1], duplicate_of=nodes[kept][1], similarity=similarity
                )
                for node, kept, similarity in zip(*map(np.ndarray.tolist, columns), strict=True)
            }

    @cached_property
    def pairs(self) -> tuple[Duplicate, ...]:
        """The pairs, in the order of their clusters and ids."""
        with gc_disabled():
            return _list_pairs(self.graph, self.labels)

    @cached_property
    def clusters(self) -> tuple[records.Cluster, ...]:
        """The clusters, in the natural order of their first ids."""
        with gc_disabled():
            return self.rows.make([id for _, id in self.graph.nodes], self.doubt)

    def make_largest(self, most: int) -> list[records.Cluster]:
        """Make the largest clusters alone, at most so many, the largest first."""
        rows = self.rows
        places = np.argsort(-np.diff(rows.bounds), kind="stable")[:most]
        few = rows.select(np.sort(places))
        return records.largest(few.make([id for _, id in self.graph.nodes], self.doubt))


def group(graph: Graph, compare: Compare) -> Grouped:
    """Make clusters of the pairs of a graph.

    `compare` measures the documents whose similarity to the canonical one is not known yet.
    """
    labels, stand_ins = _link(graph)
    canonical, distances, similarities = _compare_with_canonical(graph, labels, compare)
    rows = arrange_clusters(
        graph.pairs,
        labels=labels,
        canonical=canonical,
        similarities=similarities,
        distances=distances,
        stand_ins=stand_ins,
        sides=np.array([side for side, _ in graph.nodes], dtype=np.int64),
        texts=graph.texts,
    )
    return Grouped(graph=replace(graph, canonical=(canonical, distances, similarities)), rows=rows)


def _link(graph: Graph) -> tuple[Labels, Labels]:
    """Label the cluster of each document, and the first one that the measure takes for the same."""
    ends, size = graph.forms[graph.pairs], len(graph.nodes)
    is_identical = (ends[:, 0] == ends[:, 1]) & (ends[:, 0] >= 0)
    if graph.measure not in INEXACT:
        is_identical |= graph.similarities >= 1.0
    equal = np.concatenate([graph.same, graph.pairs[is_identical]])
    stand_ins = components_apart(size, equal, graph.different)
    folded = fold_identical(graph.pairs, graph.similarities, stand_ins)
    apart = stand_ins[graph.different].astype(np.uint32)
    return link(graph.linkage, size, *folded, apart)[stand_ins], stand_ins


def _compare_with_canonical(
    graph: Graph, labels: Labels, compare: Compare
) -> tuple[Labels, Distances, Similarities]:
    """Choose the canonical document of each cluster, and measure how near the others are to it."""
    canonical = choose_canonicals(
        graph.rule,
        labels,
        [id for _, id in graph.nodes],
        dict.fromkeys(graph.rule.needs, graph.values),
        are_ordered=not graph.has_sides,
    )
    every = np.arange(len(graph.nodes))
    distances = np.full(len(every), 0 if graph.has_distance else NO_DISTANCE)
    similarities = np.ones(len(every))
    rest = np.flatnonzero(canonical != every)
    sources = [(graph.pairs, graph.distances, graph.similarities)]
    if graph.canonical is not None:
        before, before_distances, before_similarities = graph.canonical
        sources.append((order_pairs(every, before), before_distances, before_similarities))
    for pairs, *columns in sources:
        places = find_pairs(order_pairs(rest, canonical[rest]), pairs)
        is_paired = places >= 0
        rows, places = rest[is_paired], places[is_paired]
        distances[rows], similarities[rows] = (column[places] for column in columns)
        rest = rest[~is_paired]
    if len(rest):
        distances[rest], similarities[rest] = compare(order_pairs(rest, canonical[rest]))
    return canonical, distances, similarities


def order_pairs(left: NDArray[Any], right: NDArray[Any]) -> Pairs:
    """Pair numbers, the smaller one of each pair first."""
    return np.sort(np.stack([left, right], axis=1), axis=1).astype(np.uint32)


def _list_pairs(graph: Graph, labels: Labels) -> tuple[Duplicate, ...]:
    """List the pairs in the order of their clusters and ids, with the names of the clusters."""
    first, second = graph.pairs[:, 0], graph.pairs[:, 1]
    joined = np.where(labels[first] == labels[second], labels[first], -1)
    order = np.lexsort((second, first, np.where(joined < 0, len(graph.nodes), joined)))
    columns = (graph.pairs, graph.distances, graph.similarities, graph.shared, joined)
    answers = graph.answers and [graph.answers[at] for at in order.tolist()]
    nodes, measure = graph.nodes, graph.measure
    return tuple(
        Duplicate(
            id=nodes[left][1],
            other_id=nodes[right][1],
            similarity=similarity,
            distance=None if distance < 0 else distance,
            measure=measure,
            cluster=UNCLUSTERED if label < 0 else nodes[label][1],
            shared=shared,
            sides=SIDES[nodes[left][0] + nodes[right][0]],
            answer=answer,
            relation=relation,
        )
        for (left, right), distance, similarity, shared, label, relation, answer in zip(
            *(column[order].tolist() for column in columns),
            graph.relate(order),
            answers or repeat(None),
            strict=False,
        )
    )


def count_clusters(graph: Graph, least: float) -> NDArray[np.int64]:
    """Count the documents of each cluster that the pairs make which are at least so similar."""
    sizes = np.bincount(label_clusters(graph, least), minlength=1)
    return sizes[sizes > 1]


def label_clusters(graph: Graph, least: float) -> Labels:
    """Label the cluster of each document that the pairs make which are at least so similar."""
    return _link(graph.select(least))[0]


def group_again(graph: Graph, least: float) -> Grouped:
    """Group the pairs that are at least so similar, without comparing any documents."""

    def compare(pairs: Pairs) -> tuple[Distances, Similarities]:
        return np.full(len(pairs), NO_DISTANCE), np.full(len(pairs), np.nan)

    return group(graph.select(least), compare)
