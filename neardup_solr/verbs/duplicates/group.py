"""From verified pairs to clusters and rows, by ids instead of row numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from neardup_solr import clusters
from neardup_solr.answers import DIFFERENT, SAME, Answered, DocumentKey
from neardup_solr.arguments import Linkage
from neardup_solr.clusters import LENGTH, Labels, Rule, Similarities, components
from neardup_solr.errors import SettingsError
from neardup_solr.measures import floor
from neardup_solr.measures.arrays import Pairs, number_pairs
from neardup_solr.minhash.sign import count_shared_bands, hash_texts
from neardup_solr.records import (
    BORDER,
    NO_DISTANCE,
    AnyId,
    Borderline,
    Cluster,
    Duplicate,
    Member,
    key_of,
    largest,
    natural,
)
from neardup_solr.templates import FEWEST, Template, choose_doubtful, find_template
from neardup_solr.threads import gc_disabled
from neardup_solr.verbs.duplicates.compare import Comparison, Verified
from neardup_solr.verbs.duplicates.inputs import AT_ONCE, Gathered

if TYPE_CHECKING:
    from neardup_solr.verbs.duplicates.result import Duplicates

PAIRS_AT_ONCE = 1 << 14  # whose signatures are looked at
LOOKED_AT, TEXTS = 50, 50  # clusters, most of them the largest, and texts of each, for templates
UNCLUSTERED = ""  # the cluster of a pair that complete linkage has separated

SIDES = ((0, 0), (0, 1), (1, 1))  # of a pair, by how many of the two are of the second side


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouped:
    """Pairs and clusters by ids, `keys` of their documents by row, and what the rule compares.

    `answered` has the answers that were given, if any were asked for.
    """

    pairs: tuple[Duplicate, ...]
    clusters: tuple[Cluster, ...]
    keys: dict[int, AnyId]
    values: Mapping[DocumentKey, object]
    answered: Answered | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Linked:
    """Documents with a pair, numbered in the natural order of their ids, in clusters.

    Each has the label of its cluster, the first document that the measure cannot tell from it, and
    the number of its normal form, -1 if that is not known.
    """

    nodes: Sequence[DocumentKey]
    pairs: Pairs
    labels: Labels
    stand_ins: Labels
    texts: Labels

    @classmethod
    def by(
        cls,
        linkage: Linkage,
        measure: str,
        nodes: Sequence[DocumentKey],
        pairs: Pairs,
        similarities: Similarities,
        texts: Labels,
        same: Pairs = clusters.NO_PAIRS,
        different: Pairs = clusters.NO_PAIRS,
    ) -> _Linked:
        """Make clusters of pairs by a linkage, and by pairs that are the same or different."""
        ends = texts[pairs]
        are_copies = (ends[:, 0] == ends[:, 1]) & (ends[:, 0] >= 0)
        is_identical = are_copies | (similarities >= 1.0)
        if measure in (
            "containment",
            "fields",
            "model",
        ):  # an excerpt is not the whole, nor is a probability
            is_identical = are_copies
        equal = np.concatenate([same, pairs[is_identical]])
        stand_ins = clusters.components_apart(len(nodes), equal, different)
        folded = clusters.fold_identical(pairs, similarities, stand_ins)
        apart = stand_ins[different].astype(np.uint32)
        labels = clusters.link(linkage, len(nodes), *folded, apart)[stand_ins]
        return cls(nodes=nodes, pairs=pairs, labels=labels, stand_ins=stand_ins, texts=texts)

    @property
    def ids(self) -> list[str]:
        """The ids of all documents."""
        return [id for _, id in self.nodes]

    def choose(self, rule: Rule, values: Mapping[str, Sequence[Any]], *, has_sides: bool) -> Labels:
        """Choose the canonical document of each document's cluster."""
        return clusters.choose_canonicals(
            rule, self.labels, self.ids, values, are_ordered=not has_sides
        )

    def clusters(
        self, canonical: Labels, distances: NDArray[np.int64], similarities: Similarities
    ) -> tuple[Cluster, ...]:
        """The clusters, by the comparison of each member with the canonical document."""
        return clusters.make_clusters(
            self.ids,
            self.pairs,
            labels=self.labels,
            canonical=canonical,
            similarities=similarities,
            distances=distances,
            stand_ins=self.stand_ins,
            sides=np.array([side for side, _ in self.nodes], dtype=np.int64),
            texts=self.texts,
        )

    def order(self) -> tuple[list[str], NDArray[np.intp]]:
        """The cluster of each pair, UNCLUSTERED between two, and the order by clusters and ids."""
        first, second = self.pairs[:, 0], self.pairs[:, 1]
        labels = np.where(self.labels[first] == self.labels[second], self.labels[first], -1)
        order = np.lexsort((second, first, np.where(labels < 0, len(self.nodes), labels)))
        ids = self.ids
        return [UNCLUSTERED if label < 0 else ids[label] for label in labels.tolist()], order


def group(comparison: Comparison, verified: Verified) -> Grouped:
    """Make clusters of verified pairs, and the pairs in the order of their clusters.

    For complete linkage, the pairs that single linkage would infer are compared too; those that
    are near-duplicates are added.
    """
    with gc_disabled():
        own = _Numbered(comparison, verified)
        return Grouped(
            pairs=own.rows(),
            clusters=own.clusters(),
            keys=own.keys(),
            values=own.values(),
            answered=own.answered(),
        )


def find_borderline(
    comparison: Comparison, candidates: Pairs, verified: Verified
) -> Borderline | None:
    """Count what depends on the threshold, or return None if more than it counts."""
    options, least = comparison.gathered.options, comparison.comparer.least
    if options.max_distance is not None or options.equality:
        return None
    near, count = verified.pairs, len(comparison.gathered)
    is_higher = verified.similarities >= floor(min(least + BORDER, 1.0))
    # Documents of one side are not compared across, and a pair may be left out for a better one.
    has_wedges = options.against is None
    return Borderline(
        min_similarity=least,
        pairs=len(near),
        above=int(np.count_nonzero(~is_higher)),
        below=verified.below,
        open=clusters.count_open_wedges(candidates, near, count) if has_wedges else None,
        open_higher=clusters.count_open_wedges(candidates, near[is_higher], count)
        if has_wedges
        else None,
    )


def find_templates(gathered: Gathered, grouped: Grouped) -> tuple[Template, ...]:
    """Find the clusters that may be templates instead of copies, by some of their texts."""
    options, documents = gathered.options, len(gathered) - len(gathered.dead)
    known = [one for one in largest(grouped.clusters) if len(one.members) >= FEWEST]
    if not (known and options.reads_texts):
        return ()
    places = np.unique((np.linspace(0, 1, LOOKED_AT) ** 2 * (len(known) - 1)).astype(np.int64))
    row_of = {key: row for row, key in grouped.keys.items()}
    rows = {
        at: [row_of[key_of(one.id, one.side)] for one in members[:: -(-len(members) // TEXTS)]]
        for at, members in ((at, known[at].members) for at in places.tolist())
    }
    wanted = sorted({row for some in rows.values() for row in some})
    normal = gathered.normalize(gathered.compared(wanted))
    forms = dict(zip(wanted, normal, strict=True))
    sizes = {at: len(known[at].members) for at in rows}
    found = (
        find_template(known[at].id, sizes[at], sizes[at] / documents, [forms[row] for row in some])
        for at, some in rows.items()
    )
    if options.without_common:  # what is left of templates differs where it did
        found = (one and replace(one, is_regular=False) for one in found)
    return choose_doubtful(filter(None, found))


def regroup(found: Duplicates, least: float) -> tuple[tuple[Duplicate, ...], tuple[Cluster, ...]]:
    """Keep the pairs of a result that are at least so similar, and group them anew.

    All pairs that complete linkage needs are among those of a lower threshold.
    """
    answered = found.answered or Answered()
    pairs = [
        pair
        for pair in found.pairs
        if pair.similarity >= floor(least) or pair.ends in answered.same
    ]
    if not pairs:
        return (), ()
    ends = [pair.ends for pair in pairs]
    nodes = sorted({node for pair in ends for node in pair}, key=lambda n: (n[0], natural(n[1])))
    number = {node: at for at, node in enumerate(nodes)}
    table = np.array([[number[one], number[other]] for one, other in ends], dtype=np.uint32)
    similarities = np.array([pair.similarity for pair in pairs])
    numbered = {(each.side, each.id): each.text for one in found.clusters for each in one.members}
    linked = _Linked.by(
        found.linkage,
        found.measure,
        nodes,
        table,
        similarities,
        # What no cluster has, as answers keep it apart, counts as a text of its own.
        np.array([numbered.get(node, -1 - at) for at, node in enumerate(nodes)]),
        *(_number(ones, number) for ones in (answered.same, answered.different)),
    )
    has_order = found.canonical == "first" and found.values  # that of the records
    rule = clusters.parse_rule("oldest" if has_order else found.canonical)
    values = {rule.field: [found.values.get(node) for node in nodes]}
    chosen = linked.choose(rule, values, has_sides=found.against)
    compared: dict[tuple[DocumentKey, DocumentKey], Duplicate | Member] = {
        ((member.side, member.id), (one.members[0].side, one.canonical)): member
        for one in found.clusters
        for member in one.members
    }
    for (one, other), pair in zip(ends, pairs, strict=True):
        compared[one, other] = compared[other, one] = pair
    near = [compared.get((node, nodes[to])) for node, to in zip(nodes, chosen, strict=True)]
    is_own = chosen == np.arange(len(nodes))
    grouped_anew = linked.clusters(
        chosen,
        np.array([-1 if one is None or one.distance is None else one.distance for one in near]),
        np.where(is_own, 1.0, [one.similarity if one else np.nan for one in near]),
    )
    names, order = linked.order()
    return tuple(replace(pairs[at], cluster=names[at]) for at in order.tolist()), grouped_anew


def _number(
    pairs: Iterable[tuple[DocumentKey, DocumentKey]], number: Mapping[DocumentKey, int]
) -> Pairs:
    """Number the documents of pairs, without the pairs of documents that have no number."""
    table = [sorted((number[one], number[other])) for one, other in pairs
             if one in number and other in number]  # fmt: skip
    return np.array(sorted(table), dtype=np.uint32).reshape(-1, 2)


class _Numbered:
    """The documents that have a pair, numbered in the natural order of their ids."""

    def __init__(self, comparison: Comparison, verified: Verified) -> None:
        self._comparison = comparison
        options, gathered = comparison.gathered.options, comparison.gathered
        involved = np.unique(verified.pairs).tolist()
        ids, start = gathered.ids(involved), gathered.bounds[1]
        order = sorted(range(len(ids)), key=lambda at: (involved[at] >= start, *natural(ids[at])))
        self._places = np.array([involved[at] for at in order], dtype=np.uint32)
        nodes = [(int(involved[at] >= start), ids[at]) for at in order]
        self._pairs, by_ids = self._renumber(verified.pairs)
        self._distances, self._similarities = (
            verified.distances[by_ids], verified.similarities[by_ids],
        )  # fmt: skip
        if options.linkage == "complete":
            labels = components(len(nodes), self._pairs)
            lacking = clusters.missing_pairs(len(nodes), self._pairs, labels)
            more = replace(comparison, previous=None).verify(np.sort(self._places[lacking], axis=1))
            pairs, by_ids = self._renumber(more.pairs)
            self._pairs = np.concatenate([self._pairs, pairs])
            self._distances = np.concatenate([self._distances, more.distances[by_ids]])
            self._similarities = np.concatenate([self._similarities, more.similarities[by_ids]])
        self._shared = self._count_shared()
        self._values = self._read_values(options.rule.needs)
        answers = comparison.answers
        known = [answers.pairs[word] for word in (SAME, DIFFERENT)] if answers else []
        of_pairs = (pairs[np.isin(pairs, self._places).all(axis=1)] for pairs in known)
        self._answers = [self._renumber(pairs)[0] for pairs in of_pairs]
        self._linked = _Linked.by(
            options.linkage,
            options.measure,
            nodes,
            self._pairs,
            self._similarities,
            self._number_texts(),
            *self._answers,
        )

    def rows(self) -> tuple[Duplicate, ...]:
        """The pairs in the order of their clusters."""
        names, order = self._linked.order()
        columns = (
            column[order].tolist()
            for column in (self._pairs, self._distances, self._similarities, self._shared)
        )
        measure, nodes = self._comparison.comparer.measure.name, self._linked.nodes
        answers = self._comparison.answers
        words = answers.name(self._places[self._pairs[order]]) if answers else repeat(None)
        return tuple(
            Duplicate(
                id=nodes[one][1],
                other_id=nodes[other][1],
                similarity=similarity,
                distance=None if distance < 0 else distance,
                measure=measure,
                cluster=names[at],
                shared=bands,
                sides=SIDES[nodes[one][0] + nodes[other][0]],
                answer=word,
            )
            for at, (one, other), distance, similarity, bands, word in zip(
                order.tolist(), *columns, words, strict=answers is not None
            )
        )

    def clusters(self) -> tuple[Cluster, ...]:
        """The clusters, each member compared with the canonical document."""
        gathered = self._comparison.gathered
        has_sides = len(gathered.sides) > 1
        chosen = self._linked.choose(gathered.options.rule, self._values, has_sides=has_sides)
        return self._linked.clusters(chosen, *self._compare_with(chosen))

    def keys(self) -> dict[int, AnyId]:
        """The key of each document, by its row."""
        keys = (key_of(id, side) for side, id in self._linked.nodes)
        return dict(zip(self._places.tolist(), keys, strict=True))

    def values(self) -> dict[DocumentKey, object]:
        """Map each document to the value that the rule for the canonical one compares."""
        return {
            node: value
            for column in self._values.values()
            for node, value in zip(self._linked.nodes, column, strict=True)
        }

    def answered(self) -> Answered | None:
        """Outcome of the answers, with the pairs that were judged, by side and id."""
        if self._comparison.answers is None:
            return None
        nodes = self._linked.nodes
        same, different = (
            frozenset((nodes[one], nodes[other]) for one, other in pairs.tolist())
            for pairs in self._answers
        )
        return replace(self._comparison.answers.answered, same=same, different=different)

    def _number_texts(self) -> Labels:
        """Number the normal forms of the documents, by what tells which are equal."""
        comparison, gathered = self._comparison, self._comparison.gathered
        if comparison.copies is not None:
            return np.unique(comparison.copies.keys[self._places], return_inverse=True)[1]
        equal = self._pairs[self._similarities >= 1.0]
        if comparison.comparer.measure.counts_shingles:
            equal = equal[self._shared[self._similarities >= 1.0] == gathered.settings.bands]
            nodes = np.unique(equal)
            nodes = nodes[np.argsort(self._places[nodes])]
            hashes = np.zeros(len(self._places), dtype=np.uint64)
            for at in range(0, len(nodes), AT_ONCE):
                part = nodes[at : at + AT_ONCE]
                texts = gathered.texts(self._places[part].tolist())
                hashes[part] = hash_texts(gathered.normalize(texts))
            equal = equal[hashes[equal[:, 0]] == hashes[equal[:, 1]]]
        return components(len(self._places), equal)

    def _renumber(self, pairs: Pairs) -> tuple[Pairs, NDArray[np.intp]]:
        """Number pairs by ids, the smaller number first, and sort them, with their order."""
        numbers = np.argsort(self._places)
        own = numbers[np.searchsorted(self._places[numbers], pairs)]
        paired: Pairs = np.sort(own, axis=1).astype(np.uint32)
        order = np.lexsort((paired[:, 1], paired[:, 0]))
        return paired[order], order

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

    def _compare_with(self, chosen: Labels) -> tuple[NDArray[np.int64], Similarities]:
        """Compare each document with the canonical one of its cluster."""
        own = np.arange(len(self._places))
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
            found = self._comparison.without_limits().verify(np.unique(asked, axis=0))
            keys, sought = number_pairs(found.pairs), number_pairs(asked)
            at = np.searchsorted(keys, sought).clip(max=max(len(keys) - 1, 0))
            is_there = keys[at] == sought if len(keys) else np.zeros(len(sought), dtype=np.bool_)
            distances[rest[is_there]] = found.distances[at[is_there]]
            similarities[rest[is_there]] = found.similarities[at[is_there]]
            similarities[rest[~is_there]] = 0.0  # deleted meanwhile
        return distances, similarities

    def _count_shared(self) -> NDArray[np.int64]:
        """Count the LSH bands in which each pair agrees."""
        gathered, pairs = self._comparison.gathered, self._places[self._pairs]
        found = np.empty(len(pairs), dtype=np.int64)
        for at in range(0, len(pairs), PAIRS_AT_ONCE):
            part = slice(at, at + PAIRS_AT_ONCE)
            found[part] = count_shared_bands(gathered.signatures, pairs[part], gathered.settings)
        return found
