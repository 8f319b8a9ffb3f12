"""From verified pairs to clusters and rows, by ids instead of row numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from neardup_solr import clusters
from neardup_solr.arguments import Linkage
from neardup_solr.clusters import LENGTH, components
from neardup_solr.errors import SettingsError
from neardup_solr.measures import NO_DISTANCE, floor
from neardup_solr.measures.arrays import Pairs, number_pairs
from neardup_solr.records import AnyId, Cluster, Duplicate, Member, key_of, natural
from neardup_solr.resources import gc_disabled
from neardup_solr.verbs.duplicates.compare import Comparison, Verified
from neardup_solr.verbs.duplicates.options import Options

if TYPE_CHECKING:
    from neardup_solr.verbs.duplicates.result import Duplicates

PAIRS_AT_ONCE = 1 << 14  # whose signatures are looked at
UNCLUSTERED = ""  # the cluster of a pair that complete linkage has separated

DocumentKey = tuple[int, str]  # a document: its side, 0 or 1, and its id
SIDES = ((0, 0), (0, 1), (1, 1))  # of a pair, by how many of the two are of the second side


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouped:
    """Pairs and clusters by ids, and the rows of their documents, whose `keys` tell them apart."""

    pairs: tuple[Duplicate, ...]
    clusters: tuple[Cluster, ...]
    rows: list[int]
    keys: dict[int, AnyId]
    values: Mapping[DocumentKey, object]


def group(comparison: Comparison, verified: Verified, options: Options) -> Grouped:
    """Make clusters of verified pairs, and the pairs in the order of their clusters.

    For complete linkage, the pairs that single linkage would infer are compared too; those that
    are near-duplicates are added.
    """
    with gc_disabled():
        own = _Numbered(comparison, verified, options)
        return Grouped(
            pairs=own.rows(),
            clusters=own.clusters(),
            rows=own.originals,
            keys=own.keys(),
            values=own.values(),
        )


def regroup(found: Duplicates, least: float) -> tuple[tuple[Duplicate, ...], tuple[Cluster, ...]]:
    """Keep the pairs of a result that are at least so similar, and group them anew.

    All pairs that complete linkage needs are among those of a lower threshold.
    """
    pairs = [pair for pair in found.pairs if pair.similarity >= floor(least)]
    if not pairs:
        return (), ()
    ends = [((pair.sides[0], pair.id), (pair.sides[1], pair.other_id)) for pair in pairs]
    nodes = sorted({node for pair in ends for node in pair}, key=lambda n: (n[0], natural(n[1])))
    number = {node: at for at, node in enumerate(nodes)}
    table = np.array([[number[one], number[other]] for one, other in ends], dtype=np.uint32)
    similarities = np.array([pair.similarity for pair in pairs])
    stand_ins = _stand_ins(found.measure, len(nodes), table, similarities)
    labels = _link(found.linkage, table, similarities, stand_ins)
    ids = [id for _, id in nodes]
    rule = clusters.parse_rule(found.canonical)
    values = {rule.field: [found.values.get(node) for node in nodes]}
    chosen = clusters.choose_canonicals(rule, labels, ids, values, are_ordered=not found.against)
    known = {
        (one.members[0].side, one.canonical): {(m.side, m.id): m for m in one.members}
        for one in found.clusters
    }
    compared: dict[tuple[int, int], Duplicate | Member] = {}
    for at, pair in zip(table.tolist(), pairs, strict=True):
        compared[at[0], at[1]] = compared[at[1], at[0]] = pair
    near = [
        compared.get((at, to)) or known.get(nodes[to], {}).get(nodes[at])
        for at, to in enumerate(chosen.tolist())
    ]
    own = chosen == np.arange(len(nodes))
    grouped_anew = clusters.make_clusters(
        ids,
        table,
        labels=labels,
        canonical=chosen,
        similarities=np.where(own, 1.0, [one.similarity if one else np.nan for one in near]),
        distances=np.array([-1 if one is None or one.distance is None else one.distance
                            for one in near]),
        stand_ins=stand_ins,
        sides=np.array([side for side, _ in nodes]),
    )  # fmt: skip
    of, order = _in_clusters(table, labels)
    names = [UNCLUSTERED if label < 0 else ids[label] for label in of.tolist()]
    return tuple(replace(pairs[at], cluster=names[at]) for at in order.tolist()), grouped_anew


def _stand_ins(
    measure: str, documents: int, pairs: Pairs, similarities: NDArray[np.float64]
) -> NDArray[np.int64]:
    """For each document, the first one that the measure cannot tell from it."""
    if measure == "containment":  # an excerpt is not the whole
        return np.arange(documents)
    return components(documents, pairs[similarities >= 1.0])


def _link(
    linkage: Linkage,
    pairs: Pairs,
    similarities: NDArray[np.float64],
    stand_ins: NDArray[np.int64],
) -> NDArray[np.int64]:
    """The label of each document by the linkage that was asked for."""
    pairs, similarities = clusters.fold_identical(pairs, similarities, stand_ins)
    return clusters.link(linkage, len(stand_ins), pairs, similarities)[stand_ins]


def _in_clusters(
    pairs: Pairs, labels: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """The label of each pair, -1 between clusters, and the order of pairs by cluster and ids."""
    first, second = pairs[:, 0], pairs[:, 1]
    own = np.where(labels[first] == labels[second], labels[first], -1)
    return own, np.lexsort((second, first, np.where(own < 0, len(labels), own)))


class _Numbered:
    """The documents that have a pair, numbered in the natural order of their ids."""

    def __init__(self, comparison: Comparison, verified: Verified, options: Options) -> None:
        self._comparison, self._rule = comparison, options.rule
        involved = np.unique(verified.pairs).tolist()
        ids = comparison.gathered.ids(involved)
        start = comparison.gathered.bounds[1]
        order = sorted(range(len(ids)), key=lambda at: (involved[at] >= start, *natural(ids[at])))
        self.originals = [involved[at] for at in order]
        self._ids = [ids[at] for at in order]
        self._sides = np.array([row >= start for row in self.originals], dtype=np.int64)
        self._places = np.array(self.originals, dtype=np.uint32)
        self._take(verified)
        if options.linkage == "complete":
            self._add(self._compare_missing(verified))
        measure = comparison.comparer.measure.name
        self._values = self._read_values(self._rule.needs)
        self._stand_ins = _stand_ins(measure, len(self._ids), self._pairs, self._similarities)
        self._labels = _link(options.linkage, self._pairs, self._similarities, self._stand_ins)

    def rows(self) -> tuple[Duplicate, ...]:
        """The pairs in the order of their clusters."""
        labels, order = _in_clusters(self._pairs, self._labels)
        shared = self._shared_bands()
        columns = (
            column[order].tolist()
            for column in (self._pairs, self._distances, self._similarities, labels, shared)
        )
        measure = self._comparison.comparer.measure.name
        ids, sides = self._ids, self._sides.tolist()
        return tuple(
            Duplicate(
                id=ids[one],
                other_id=ids[other],
                similarity=similarity,
                distance=None if distance < 0 else distance,
                measure=measure,
                cluster=UNCLUSTERED if label < 0 else ids[label],
                shared=bands,
                sides=SIDES[sides[one] + sides[other]],
            )
            for (one, other), distance, similarity, label, bands in zip(*columns, strict=True)
        )

    def clusters(self) -> tuple[Cluster, ...]:
        """The clusters, each member compared with the canonical document."""
        rule, values = self._rule, self._values
        one_side = len(self._comparison.gathered.sides) == 1
        chosen = clusters.choose_canonicals(
            rule, self._labels, self._ids, values, are_ordered=one_side
        )
        distances, similarities = self._to_canonical(chosen)
        return clusters.make_clusters(
            self._ids,
            self._pairs,
            labels=self._labels,
            canonical=chosen,
            similarities=similarities,
            distances=distances,
            stand_ins=self._stand_ins,
            sides=self._sides,
        )

    def keys(self) -> dict[int, AnyId]:
        """The key of each document, by its row."""
        return dict(zip(self.originals, map(key_of, self._ids, self._sides.tolist()), strict=True))

    def values(self) -> dict[DocumentKey, object]:
        """What the rule for the canonical document reads, of each document."""
        nodes = list(zip(self._sides.tolist(), self._ids, strict=True))
        return {
            node: value
            for column in self._values.values()
            for node, value in zip(nodes, column, strict=True)
        }

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
        lacking = clusters.missing_pairs(len(self._ids), self._pairs, labels)
        return self._comparison.verified(np.sort(self._places[lacking], axis=1))

    def _add(self, more: Verified) -> None:
        own, order = self._own(more.pairs)
        self._pairs = np.concatenate([self._pairs, own])
        self._distances = np.concatenate([self._distances, more.distances[order]])
        self._similarities = np.concatenate([self._similarities, more.similarities[order]])

    def _read_values(self, fields: Sequence[str]) -> dict[str, list[object]]:
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
        wanted = number_pairs(np.sort(np.stack([own, chosen], axis=1), axis=1).astype(np.uint32))
        known = number_pairs(self._pairs)
        order = np.argsort(known)
        places = np.searchsorted(known[order], wanted).clip(max=len(known) - 1)
        at = order[places]
        is_known = known[at] == wanted
        distances[is_known] = self._distances[at[is_known]]
        similarities[is_known] = self._similarities[at[is_known]]
        rest = np.flatnonzero(~is_known & (chosen != own))
        if len(rest):
            asked = np.sort(self._places[np.stack([rest, chosen[rest]], axis=1)], axis=1)
            found = self._comparison.without_limits().verified(np.unique(asked, axis=0))
            keys, sought = number_pairs(found.pairs), number_pairs(asked)
            at = np.searchsorted(keys, sought).clip(max=max(len(keys) - 1, 0))
            is_there = keys[at] == sought if len(keys) else np.zeros(len(sought), dtype=np.bool_)
            distances[rest[is_there]] = found.distances[at[is_there]]
            similarities[rest[is_there]] = found.similarities[at[is_there]]
            similarities[rest[~is_there]] = 0.0  # deleted meanwhile
        return distances, similarities

    def _shared_bands(self) -> NDArray[np.int64]:
        from neardup_solr.minhash.signature import count_shared_bands

        gathered = self._comparison.gathered
        settings = gathered.settings
        originals = self._places[self._pairs]
        found = np.empty(len(originals), dtype=np.int64)
        for at in range(0, len(originals), PAIRS_AT_ONCE):
            some = slice(at, at + PAIRS_AT_ONCE)
            found[some] = count_shared_bands(gathered.signatures, originals[some], settings)
        return found
