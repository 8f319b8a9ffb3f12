"""Remedies for what the guard doubts: options, each tried on the data before it is named."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup_solr.clusters import bridges
from neardup_solr.clusters.components import Labels, components
from neardup_solr.clusters.linkage import missing_pairs
from neardup_solr.clusters.removal import remove_across, remove_within
from neardup_solr.errors import counted
from neardup_solr.guard import LOOK, SHARE
from neardup_solr.measures import BY_PROBABILITY, Distances, Limits, Similarities, floor
from neardup_solr.measures.equality import NUMBERS, parse_equality
from neardup_solr.measures.pairs import Pairs
from neardup_solr.records import Removed
from neardup_solr.verbs.duplicates.candidate_pairs import name_way
from neardup_solr.verbs.duplicates.comparison import Comparison
from neardup_solr.verbs.duplicates.doubts import Doubts, KnownTemplates, find_doubts
from neardup_solr.verbs.duplicates.graph import Graph, Grouped, RowNumbers, group
from neardup_solr.verbs.duplicates.group import make_compare
from neardup_solr.verbs.duplicates.pairing import pair_documents

WITHOUT_COMMON = "use `without_common` to ignore the shared parts"
FEWEST_LINKED = 3  # documents that a digest links
FEW = 5_000  # documents, of which it is tried to leave out what many have in common
HIGHER = (0.6, 0.7, 0.8, 0.9, 0.95)  # similarities that are tried
MOST, MOST_PAIRS = 150, 1 << 15  # documents of a cluster on which a remedy is tried, pairs of all


class Trial(NamedTuple):
    """Result of a trial of an option: the graph, its threshold, and how documents are compared."""

    graph: Graph
    least: float
    comparison: Comparison


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedies:
    """Tries options on the documents of the clusters that are doubted."""

    comparison: Comparison
    rows: RowNumbers
    graph: Graph
    are_unlike: NDArray[np.bool_]
    is_whole: bool
    known: KnownTemplates

    @classmethod
    def of(
        cls, comparison: Comparison, grouped: Grouped, rows: RowNumbers, doubts: Doubts,
        known: KnownTemplates,
    ) -> Remedies:  # fmt: skip
        """Take the documents of the clusters that are doubted, or some of each."""
        graph, labels = grouped.graph, grouped.labels
        are_templates = _mark_templates(graph, labels, doubts)
        least = comparison.comparer.least
        are_doubted = are_templates | _mark_doubted(graph, labels, doubts, least)
        # Those of a template, and those that link several as a digest does, are copies of none.
        hubs = _mark_hubs(graph, doubts)
        is_chain = graph.linkage == "single" and not graph.has_sides
        links = _mark_links(graph, labels) if is_chain else hubs
        are_unlike = are_templates | (are_doubted & links)
        if not are_doubted.any():
            are_doubted[:] = True  # pairs that differ in numbers, of any cluster
        nodes = np.flatnonzero(are_doubted)
        nodes = nodes[np.argsort(labels[nodes], kind="stable")]
        members = np.split(nodes, np.flatnonzero(np.diff(labels[nodes])) + 1)
        chosen: list[NDArray[np.int64]] = []
        pairs = 0
        for part in sorted(members, key=len, reverse=True):
            some = part[:: -(-len(part) // MOST)]
            pairs += len(some) ** 2 // 2
            if chosen and pairs > MOST_PAIRS:
                break
            chosen.append(some)
        nodes = np.sort(np.concatenate(chosen))
        is_inner = labels[graph.pairs[:, 0]] == labels[graph.pairs[:, 1]]
        is_inner |= hubs[graph.pairs].any(axis=1)
        return cls(
            comparison=comparison,
            rows=rows[nodes],
            graph=_take(graph, nodes, is_inner),
            are_unlike=are_unlike[nodes],
            is_whole=len(nodes) == int(are_doubted.sum()),
            known=known,
        )

    def find(self) -> str:
        """Find the option that keeps apart what is doubted, and removes most of the rest.

        A sentence; LOOK if none does.
        """
        best, words = -1, LOOK
        for option, trial in self._list():
            removed = self._try(trial)
            is_better = removed is not None and removed > best
            if is_better and (option != WITHOUT_COMMON or self._is_undoubted_without_common()):
                best, words = removed or 0, option
        if best < 0 or not self.is_whole:
            return words
        of_these = f"{best:,} of these" if best else "none of these"
        return f"{words}, which would remove {of_these} {counted(len(self.rows), 'document')}"

    def _list(self) -> Iterator[tuple[str, Callable[[], Trial]]]:
        """List the options that can be tried, with what makes the graph and its threshold."""
        plan, comparer, graph = self.comparison.plan, self.comparison.comparer, self.graph
        needs_texts = comparer.measure.needs_texts
        if needs_texts and NUMBERS not in plan.equal.rules:
            yield "use `equal` numbers", self._separate_numbers
        if plan.linkage == "single" and not graph.has_sides:
            yield "use `linkage` complete", self._link_completely
        corpus = self.comparison.corpus
        is_small = len(corpus) <= FEW and not corpus.may_change
        is_open = (
            graph.measure not in BY_PROBABILITY and corpus.common is None and not plan.remember
        )
        if is_small and needs_texts and is_open:
            yield WITHOUT_COMMON, self._leave_out_common
        for higher in HIGHER:
            if higher > comparer.least and comparer.limits.max_distance is None:
                yield f"use `min_similarity` {higher:g}", partial(self._select, higher)

    def _try(self, trial: Callable[[], Trial]) -> int | None:
        """Count what an option would remove, None if that is doubted as well."""
        graph, least, comparison = trial()
        rows = self.rows
        compare = make_compare(comparison, rows)
        grouped = group(replace(graph, canonical=None), compare)
        corpus, limits = comparison.corpus, comparison.comparer.limits
        if limits.max_distance is None:
            limits = Limits(min_similarity=least)
        if find_doubts(corpus, limits, grouped, rows, compare, self.known):
            return None
        if corpus.is_across:
            removed = remove_across(grouped.pairs)
        else:
            removed = remove_within(grouped.pairs, grouped.clusters)
        return len(removed) if self._are_copies(grouped, removed.values()) else None

    def _are_copies(self, grouped: Grouped, removed: Iterable[Removed]) -> bool:
        """Tell whether documents that are unlike others are only removed for the same text."""
        graph, are_unlike = grouped.graph, self.are_unlike
        second = int(self.comparison.corpus.is_across)
        node_of = {name: node for node, name in enumerate(graph.nodes)}
        pairs = [(node_of[0, each.id], node_of[second, each.duplicate_of]) for each in removed]
        wrong = sum(
            bool(are_unlike[node] or are_unlike[kept]) and graph.texts[node] != graph.texts[kept]
            for node, kept in pairs
        )
        return bool(wrong <= SHARE * len(pairs))

    def _is_undoubted_without_common(self) -> bool:
        """Tell whether nothing is doubted in a run that leaves out what many have in common.

        Others than those that are doubted now may be near each other without it.
        """
        plan, corpus = self.comparison.plan, self.comparison.corpus.leave_out_common()
        comparison = replace(Comparison.of(plan, corpus), answers=self.comparison.answers)
        way = name_way(plan, corpus, comparison.distinct)
        _, _, grouped, rows = pair_documents(comparison, way)
        limits, compare = comparison.comparer.limits, make_compare(comparison, rows)
        return not find_doubts(corpus, limits, grouped, rows, compare, {})

    def _select(self, least: float) -> Trial:
        """Keep the pairs that are at least so similar."""
        return Trial(self.graph.select(least), least, self.comparison)

    def _separate_numbers(self) -> Trial:
        """Keep the pairs of documents that have equal numbers."""
        equality = parse_equality(NUMBERS)
        numbers = self.comparison.number_equal(equality, np.sort(self.rows))[self.rows]
        pairs = self.graph.pairs
        kept = numbers[pairs[:, 0]] == numbers[pairs[:, 1]]
        return Trial(self.graph.keep(kept), self.comparison.comparer.least, self.comparison)

    def _link_completely(self) -> Trial:
        """Link documents that are all near each other, after comparing those that were not."""
        graph, rows, least = self.graph, self.rows, self.comparison.comparer.least
        lacking = _list_missing(graph)
        distances, similarities = make_compare(self.comparison, rows)(lacking)
        near = similarities >= floor(least)
        graph = _add(graph, lacking[near], distances[near], similarities[near])
        return Trial(replace(graph, linkage="complete"), least, self.comparison)

    def _leave_out_common(self) -> Trial:
        """Compare the documents of each cluster without what many of all have in common."""
        comparison, rows, graph = self.comparison, self.rows, self.graph
        rest = Comparison.of(comparison.plan, comparison.corpus.without_common())
        pairs = np.concatenate([graph.pairs, _list_missing(graph)])
        distances, similarities = make_compare(rest, rows)(pairs)
        near = similarities >= floor(rest.comparer.least)
        none = graph.keep(np.zeros(len(graph.pairs), dtype=np.bool_))
        graph = _add(none, pairs[near], distances[near], similarities[near])
        return Trial(graph, rest.comparer.least, rest)


def _list_missing(graph: Graph) -> Pairs:
    """List the pairs that are lacking in the clusters, of two sides if there are two."""
    labels = components(len(graph.nodes), graph.pairs)
    lacking = missing_pairs(len(graph.nodes), graph.pairs, labels)
    if not graph.has_sides:
        return lacking
    sides = np.array([side for side, _ in graph.nodes])
    across: Pairs = lacking[sides[lacking[:, 0]] != sides[lacking[:, 1]]]
    return across


def _mark_templates(graph: Graph, labels: Labels, doubts: Doubts) -> NDArray[np.bool_]:
    """Mark the documents of the clusters that may be templates."""
    names = {template.cluster for template in doubts.templates}
    nodes = [node for node, (_, id) in enumerate(graph.nodes) if id in names]
    return np.isin(labels, labels[nodes])


def _mark_links(graph: Graph, labels: Labels) -> NDArray[np.bool_]:
    """Mark the documents without which at least three others fall apart."""
    size = len(graph.nodes)
    marks = np.bincount(graph.pairs.ravel(), minlength=size) >= FEWEST_LINKED
    are_bridges = np.zeros(size, dtype=np.bool_)
    are_bridges[bridges(size, graph.pairs, labels)] = True
    return marks & are_bridges


def _mark_hubs(graph: Graph, doubts: Doubts) -> NDArray[np.bool_]:
    """Mark the documents that link others, as a digest does."""
    keys = set(doubts.linked.kept if doubts.linked else ())
    return np.array([key in keys for key in graph.keys], dtype=np.bool_)


def _mark_doubted(graph: Graph, labels: Labels, doubts: Doubts, least: float) -> NDArray[np.bool_]:
    """Mark the documents of the clusters in which documents are far, or linked by another one."""
    are_doubted = np.zeros(len(labels), dtype=np.bool_)
    if doubts.far and doubts.far.is_much and graph.canonical is not None:
        are_doubted |= ~(graph.canonical[2] >= floor(least))
    if doubts.linked and doubts.linked.is_much:
        hubs = _mark_hubs(graph, doubts)
        are_doubted[graph.pairs[hubs[graph.pairs].any(axis=1)]] = True
        are_doubted |= hubs
    return np.isin(labels, labels[are_doubted])


def _take(graph: Graph, nodes: NDArray[np.int64], is_wanted: NDArray[np.bool_]) -> Graph:
    """Take some documents of a graph, with the wanted pairs between them."""
    places = np.full(len(graph.nodes), -1)
    places[nodes] = np.arange(len(nodes))

    def renumber(pairs: Pairs) -> Pairs:
        placed = places[pairs]
        inner: Pairs = placed[(placed >= 0).all(axis=1)].astype(np.uint32)
        return inner

    rows = np.flatnonzero(is_wanted & (places[graph.pairs] >= 0).all(axis=1))
    graph = graph.keep(rows)
    return replace(
        graph,
        nodes=[graph.nodes[node] for node in nodes.tolist()],
        forms=graph.forms[nodes],
        texts=graph.texts[nodes],
        values=[graph.values[node] for node in nodes.tolist()] if graph.values else graph.values,
        pairs=renumber(graph.pairs),
        same=renumber(graph.same),
        different=renumber(graph.different),
        canonical=None,
    )


def _add(graph: Graph, pairs: Pairs, distances: Distances, similarities: Similarities) -> Graph:
    """Add pairs to a graph."""
    return replace(
        graph,
        pairs=np.concatenate([graph.pairs, pairs]),
        distances=np.concatenate([graph.distances, distances]),
        similarities=np.concatenate([graph.similarities, similarities]),
        shared=np.concatenate([graph.shared, np.zeros(len(pairs), graph.shared.dtype)]),
        answers=graph.answers and [*graph.answers, *[""] * len(pairs)],
    )
