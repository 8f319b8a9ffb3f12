"""From verified pairs to clusters and rows, by ids instead of row numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup_solr import clusters
from neardup_solr.arguments import require_choice
from neardup_solr.candidates.by_band import components
from neardup_solr.choices import Linkage
from neardup_solr.clusters import LINKAGES, canonical
from neardup_solr.clusters.canonical import ARRIVAL, LENGTH
from neardup_solr.errors import SettingsError
from neardup_solr.garbage import uncollected
from neardup_solr.measures import NO_DISTANCE
from neardup_solr.measures.arrays import Pairs
from neardup_solr.measures.containment import MEASURE as CONTAINMENT
from neardup_solr.measures.estimate import count_shared_bands
from neardup_solr.records import Cluster, Duplicate, natural
from neardup_solr.verbs.duplicates.compare import Comparison, Verified
from neardup_solr.verbs.duplicates.known import numbered

UNCLUSTERED = ""  # the cluster of a pair that complete linkage has separated


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """How pairs become clusters, and which document of each is canonical, checked.

    Raises ArgumentError if a value is not possible.
    """

    linkage: Linkage = "single"
    canonical: str = "first"

    def __post_init__(self) -> None:
        require_choice("linkage", self.linkage, LINKAGES)
        canonical.rule(self.canonical)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of a source that the rule for the canonical document reads."""
        needed = canonical.rule(self.canonical).needs
        return tuple(name for name in needed if name not in (LENGTH, ARRIVAL))


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouped:
    """Pairs and clusters by ids, and the row numbers of their documents."""

    pairs: tuple[Duplicate, ...]
    clusters: tuple[Cluster, ...]
    rows: list[int]


def grouped(comparison: Comparison, verified: Verified, grouping: Grouping) -> Grouped:
    """The clusters of verified pairs, and the pairs in the order of their clusters.

    For complete linkage, the pairs that single linkage would infer are compared too; those that
    are near-duplicates are added.
    """
    with uncollected():
        own = _Numbered(comparison, verified, grouping)
        return Grouped(pairs=own.rows(), clusters=own.clusters(), rows=own.originals)


class _Numbered:
    """The documents that have a pair, numbered in the natural order of their ids."""

    def __init__(self, comparison: Comparison, verified: Verified, grouping: Grouping) -> None:
        self._comparison, self._grouping = comparison, grouping
        involved = np.unique(verified.pairs).tolist()
        ids = comparison.gathered.ids(involved)
        start = comparison.gathered.bounds[1]
        order = sorted(range(len(ids)), key=lambda at: (involved[at] >= start, *natural(ids[at])))
        self.originals = [involved[at] for at in order]
        self._ids = [ids[at] for at in order]
        self._places = np.array(self.originals, dtype=np.uint32)
        self._take(verified)
        if grouping.linkage == "complete":
            self._add(self._compare_missing(verified))
        self._stand_ins = self._identical()
        self._labels = self._linked()

    def rows(self) -> tuple[Duplicate, ...]:
        """The pairs in the order of their clusters."""
        first, second = self._pairs[:, 0], self._pairs[:, 1]
        labels = np.where(self._labels[first] == self._labels[second], self._labels[first], -1)
        order = np.lexsort((second, first, np.where(labels < 0, len(labels), labels)))
        shared = self._shared_bands()
        columns = (
            column[order].tolist()
            for column in (self._pairs, self._distances, self._similarities, labels, shared)
        )
        measure = self._comparison.comparer.measure.name
        ids = self._ids
        return tuple(
            Duplicate(
                id=ids[one],
                other_id=ids[other],
                similarity=similarity,
                distance=None if distance < 0 else distance,
                measure=measure,
                cluster=UNCLUSTERED if label < 0 else ids[label],
                shared=bands,
            )
            for (one, other), distance, similarity, label, bands in zip(*columns, strict=True)
        )

    def clusters(self) -> tuple[Cluster, ...]:
        """The clusters, each member compared with the canonical document."""
        rule = canonical.rule(self._grouping.canonical)
        values = self._values(rule.needs)
        one_side = len(self._comparison.gathered.sides) == 1
        chosen = canonical.canonicals(rule, self._labels, self._ids, values, are_ordered=one_side)
        distances, similarities = self._to_canonical(chosen)
        return clusters.clusters(
            self._ids,
            self._pairs,
            labels=self._labels,
            canonical=chosen,
            similarities=similarities,
            distances=distances,
            stand_ins=self._stand_ins,
        )

    def _take(self, found: Verified) -> None:
        self._pairs, order = self._own(found.pairs)
        self._distances, self._similarities = found.distances[order], found.similarities[order]

    def _own(self, pairs: Pairs) -> tuple[Pairs, NDArray[np.intp]]:
        """Pairs by our own numbers, the smaller first, sorted; and the order that sorts them."""
        numbers = np.argsort(self._places)
        own = numbers[np.searchsorted(self._places[numbers], pairs)]
        paired: Pairs = np.sort(own, axis=1).astype(np.uint32)
        order = np.lexsort((paired[:, 1], paired[:, 0]))
        return paired[order], order

    def _compare_missing(self, verified: Verified) -> Verified:
        labels = components(len(self._ids), self._pairs)
        lacking = clusters.missing(len(self._ids), self._pairs, labels)
        return self._comparison.verified(np.sort(self._places[lacking], axis=1))

    def _add(self, more: Verified) -> None:
        own, order = self._own(more.pairs)
        self._pairs = np.concatenate([self._pairs, own])
        self._distances = np.concatenate([self._distances, more.distances[order]])
        self._similarities = np.concatenate([self._similarities, more.similarities[order]])

    def _identical(self) -> NDArray[np.int64]:
        """For each document, the first one that the measure cannot tell from it."""
        if self._comparison.comparer.measure is CONTAINMENT:  # an excerpt is not the whole
            return np.arange(len(self._ids))
        return components(len(self._ids), self._pairs[self._similarities >= 1.0])

    def _linked(self) -> NDArray[np.int64]:
        pairs, similarities = clusters.folded(self._pairs, self._similarities, self._stand_ins)
        labels = clusters.linked(self._grouping.linkage, len(self._ids), pairs, similarities)
        return labels[self._stand_ins]

    def _values(self, fields: Sequence[str]) -> dict[str, list[object]]:
        gathered = self._comparison.gathered
        rising = np.argsort(self._places)
        found = gathered.values(self._places[rising].tolist(), fields)
        places = np.argsort(rising).tolist()
        ordered = {name: [column[at] for at in places] for name, column in found.items()}
        for name, column in ordered.items():
            if column and all(value is None for value in column):
                hint = "index with num_words" if name == LENGTH else "check its name"
                raise SettingsError(
                    f"no document has the field {name!r}", f"{hint}, or choose another `canonical`"
                )
        return ordered

    def _to_canonical(
        self, chosen: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Distance and similarity of each document to the canonical one of its cluster."""
        own = np.arange(len(self._ids))
        has_distance = self._comparison.comparer.measure.has_distance
        distances = np.full(len(own), 0 if has_distance else NO_DISTANCE)
        similarities = np.ones(len(own))
        wanted = np.sort(np.stack([own, chosen], axis=1), axis=1).astype(np.uint32)
        known = numbered(self._pairs)
        order = np.argsort(known)
        places = np.searchsorted(known[order], numbered(wanted)).clip(max=len(known) - 1)
        at = order[places]
        is_known = known[at] == numbered(wanted)
        distances[is_known] = self._distances[at[is_known]]
        similarities[is_known] = self._similarities[at[is_known]]
        rest = np.flatnonzero(~is_known & (chosen != own))
        if len(rest):
            asked = np.sort(self._places[np.stack([rest, chosen[rest]], axis=1)], axis=1)
            found = self._comparison.without_limits().verified(np.unique(asked, axis=0))
            keys, sought = numbered(found.pairs), numbered(asked)
            at = np.searchsorted(keys, sought).clip(max=max(len(keys) - 1, 0))
            is_there = keys[at] == sought if len(keys) else np.zeros(len(sought), dtype=np.bool_)
            distances[rest[is_there]] = found.distances[at[is_there]]
            similarities[rest[is_there]] = found.similarities[at[is_there]]
            similarities[rest[~is_there]] = 0.0  # deleted meanwhile
        return distances, similarities

    def _shared_bands(self) -> NDArray[np.int64]:
        gathered = self._comparison.gathered
        settings = gathered.settings
        originals = self._places[self._pairs]
        found = np.empty(len(originals), dtype=np.int64)
        at_once = self._comparison.spill.at_once // 2
        for at in range(0, len(originals), at_once):
            some = originals[at : at + at_once]
            found[at : at + at_once] = count_shared_bands(gathered.signatures, some, settings)
            self._comparison.spill.let_go()
        return found
