"""Clusters over verified pairs: linkage, guards against false ones, templates, document to keep.

Documents are row numbers in the natural order of their ids, 0 to documents - 1; `pairs` (uint32,
pairs × 2) has each verified pair once, the smaller number first; `similarities` (float64) has
theirs. `labels` (int64, documents) name each document's cluster by the smallest row number in it;
a single document is a cluster.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, get_args

import mmh3
import numpy as np
from numpy.typing import NDArray

from neardup_solr.arguments import Linkage, require_choice
from neardup_solr.errors import ArgumentError
from neardup_solr.kernel import graph
from neardup_solr.measures import Pairs, number_pairs
from neardup_solr.measures.sets import hash_runs
from neardup_solr.records import AnyId, Cluster, Duplicate, Member, Removed, key_of, natural

LINKAGES: tuple[Linkage, ...] = get_args(Linkage)
MOST_MISSING = 256  # documents of a cluster whose missing pairs are worth a comparison
MOST_WALKED = 2_000  # documents of a cluster whose diameter is worth the time
MOST_STEPS = 1 << 20  # from a document to its neighbours, for the wedges of all or of a sample
LENGTH = "num_words"  # what `longest` and `shortest` compare
ARRIVAL = "_version_"  # what `oldest` compares; Solr counts it up with each change
_NOWHERE = np.uint32(0xFFFFFFFF)  # the node of a document without a pair
_AT_ONCE = 1 << 17  # pairs
_NUMBER = re.compile(r"\s*[+-]?[0-9]{1,300}(\.[0-9]{1,300})?([eE][+-]?[0-9]{1,2})?\s*")
_WORDING = (
    "choose longest, shortest, oldest, oldest:FIELD (the lowest value), first,"
    " or trusted values in order of preference, such as FIELD=wire,agency"
)

Labels = NDArray[np.int64]
Similarities = NDArray[np.float64]
NO_PAIRS: Pairs = np.empty((0, 2), dtype=np.uint32)


def components(documents: int, pairs: Pairs) -> Labels:
    """Find the connected component of each document: the smallest row number in it.

    Shape (documents,); a document without a pair is alone in it.
    """
    labels = np.arange(documents)
    graph.components(pairs, labels)
    return labels


def link(
    linkage: str,
    documents: int,
    pairs: Pairs,
    similarities: Similarities,
    apart: Pairs = NO_PAIRS,
) -> Labels:
    """Label documents by a linkage. Pairs that are mutually best are linked as by "single".

    Pairs of documents that are to be kept `apart` never share a cluster, by no chain.

    Single linkage takes whatever a path of pairs connects for a cluster: the connected
    components. So a chain of near-duplicates can connect documents that have nothing in common:
    `diameters` and `bridges` show where.

    Raises ArgumentError for another linkage.
    """
    require_choice("linkage", linkage, LINKAGES)
    if linkage != "complete":
        order = np.lexsort((pairs[:, 1], pairs[:, 0], -similarities)) if len(apart) else slice(None)
        return components_apart(documents, pairs[order], apart)
    if len(apart):
        is_allowed = ~np.isin(number_pairs(pairs), number_pairs(np.sort(apart, axis=1)))
        pairs, similarities = pairs[is_allowed], similarities[is_allowed]
    return complete(documents, pairs, similarities)


class Partition:
    """Groups of things that only grow, some of which are never to be united.

    Union-find; each group knows those that it is kept apart from, and the smaller set of them
    moves, so that each moves log2(things) times at most.
    """

    def __init__(self) -> None:
        self._parents: dict[Any, Any] = {}
        self._apart: dict[Any, set[Any]] = {}

    def find(self, thing: Any) -> Any:
        """Find the thing that names the group of a thing."""
        while (parent := self._parents.get(thing, thing)) != thing:
            self._parents[thing] = self._parents.get(parent, parent)
            thing = parent
        return thing

    def unite(self, first: Any, second: Any) -> bool:
        """Unite two groups, and return False if they have to stay apart."""
        first, second = self.find(first), self.find(second)
        if first == second:
            return True
        if second in self._apart.get(first, ()):
            return False
        if len(self._apart.get(first, ())) > len(self._apart.get(second, ())):
            first, second = second, first
        self._parents[first] = second
        for third in self._apart.pop(first, ()):
            self._apart[third].discard(first)
            self._apart[third].add(second)
            self._apart.setdefault(second, set()).add(third)
        return True

    def separate(self, first: Any, second: Any) -> bool:
        """Keep two groups apart from now on, and return False if they are the same."""
        first, second = self.find(first), self.find(second)
        if first == second:
            return False
        self._apart.setdefault(first, set()).add(second)
        self._apart.setdefault(second, set()).add(first)
        return True

    def are_apart(self, first: Any, second: Any) -> bool:
        """Tell whether two groups are kept apart."""
        return self.find(second) in self._apart.get(self.find(first), ())


def components_apart(documents: int, pairs: Pairs, apart: Pairs) -> Labels:
    """Find components as `components` does, but leave out each pair that would join two `apart`.

    The pairs count in their order. Only where two that are to be apart were connected, they are
    taken singly.
    """
    labels = components(documents, pairs)
    torn = labels[apart[labels[apart[:, 0]] == labels[apart[:, 1]], 0]]
    if not len(torn):
        return labels
    is_torn = np.isin(labels[pairs[:, 0]], torn)
    partition = Partition()
    for first, second in apart.tolist():
        partition.separate(first, second)
    kept = [pair for pair in pairs[is_torn].tolist() if partition.unite(*pair)]
    return components(
        documents, np.concatenate([pairs[~is_torn], np.array(kept, np.uint32).reshape(-1, 2)])
    )


def complete(documents: int, pairs: Pairs, similarities: Similarities) -> Labels:
    """Label documents by complete linkage: any two of a cluster are a verified pair.

    Clusters merge in the order of the least similarity between their documents, the greatest
    first (Sørensen 1948); a pair that was not verified keeps them apart. Equal similarities count
    in the order of their row numbers, so that the order of `pairs` does not matter. Pairs that
    were never compared split what belongs together: compare the `missing_pairs` first, and let a
    document stand for those that are identical (`fold_identical`). Time grows as pairs × log pairs,
    memory as the pairs.
    """
    group = components(documents, pairs)[pairs[:, 0]]
    order = np.lexsort((pairs[:, 1], pairs[:, 0], -similarities, group))
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    labels = np.empty(documents, dtype=np.int64)
    graph.complete(pairs[order], np.append(starts, len(pairs)), labels)
    return labels


def fold_identical(
    pairs: Pairs, similarities: Similarities, stand_ins: Labels
) -> tuple[Pairs, Similarities]:
    """The pairs between the documents that stand for identical ones, with their similarities.

    `stand_ins` (documents,) has the smallest row number of the documents that are identical to
    each. The labels of all come from those of the folded pairs: `labels[stand_ins]`. So a million
    identical documents make no pair. If pairs become equal, the greatest similarity counts.
    """
    ends = np.sort(stand_ins[pairs], axis=1)
    order = np.lexsort((-similarities, ends[:, 1], ends[:, 0]))
    ends = ends[order]
    is_first = np.ones(len(ends), dtype=np.bool_)
    is_first[1:] = (ends[1:] != ends[:-1]).any(axis=1)
    kept = is_first & (ends[:, 0] != ends[:, 1])
    return ends[kept].astype(np.uint32), similarities[order][kept]


def missing_pairs(
    documents: int, pairs: Pairs, labels: Labels, *, most: int = MOST_MISSING
) -> Pairs:
    """The pairs that are missing within clusters of at most `most` documents.

    Shape (missing, 2), as `pairs`, at most documents × (most - 1) / 2 of them. With the labels of
    `components` they are what complete linkage lacks if candidates were not compared.
    """
    members, bounds = _groups(labels, most)
    wanted = np.zeros(documents, dtype=np.bool_)
    wanted[members] = True
    inner = _inner(pairs, labels)
    inner = inner[wanted[inner[:, 0]]]
    sizes = np.diff(bounds)
    room = int((sizes * (sizes - 1) // 2).sum()) - len(inner)
    missing = np.empty((room, 2), dtype=np.uint32)
    graph.missing(*_adjacency(documents, inner), members, bounds, missing)
    return missing


def diameters(
    documents: int, pairs: Pairs, labels: Labels, *, most: int = MOST_WALKED
) -> NDArray[np.int64]:
    """The diameter of each document's cluster: the longest of its shortest paths over `pairs`.

    Shape (documents,). 1: any two are a pair; 0: the document is alone, or its cluster has more
    than `most` documents. By iFUB (Crescenzi and others 2013), which is exact and usually needs
    few walks; at worst a walk from each document.
    """
    members, bounds = _groups(labels, most)
    inner = _inner(pairs, labels)
    of_groups = np.zeros(len(bounds) - 1, dtype=np.int64)
    graph.diameters(*_adjacency(documents, inner), members, bounds, of_groups)
    longest = np.zeros(documents, dtype=np.int64)
    longest[members] = np.repeat(of_groups, np.diff(bounds))
    return longest


def bridges(documents: int, pairs: Pairs, labels: Labels) -> NDArray[np.int64]:
    """The documents without which their cluster would fall apart, as rising row numbers.

    Articulation points (Hopcroft and Tarjan 1973), of clusters of 3 documents or more; any size
    in linear time.
    """
    inner = _inner(pairs, labels)
    marks = np.zeros(documents, dtype=np.bool_)
    graph.bridges(*_adjacency(documents, inner), marks)
    return np.flatnonzero(marks)


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
    offsets, neighbours = _adjacency(int(np.count_nonzero(is_near)), nodes[near])
    degrees = np.zeros(documents, dtype=np.uint32)
    degrees[is_near] = np.diff(offsets)
    sampled = -(-len(compared) // _AT_ONCE) or 1
    fewer = degrees[compared[::sampled]].T
    steps = sampled * int(np.minimum(*fewer).sum(dtype=np.int64))
    every = -(-steps // MOST_STEPS) or 1
    some = np.ascontiguousarray(compared[::every])
    count: int = graph.count_open_wedges(some, nodes, offsets, neighbours) * every
    return count if every == 1 else int(float(f"{count:.1e}"))


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
    members, bounds = _groups(labels, len(labels))
    others, nearest = canonical[members] != members, -similarities[members]
    members = members[np.lexsort((members, distances[members], nearest, others, labels[members]))]
    alone = np.arange(len(labels))
    longest, torn = _guards(ids, pairs, labels, alone if stand_ins is None else stand_ins)
    counts = np.bincount(labels[_inner(pairs, labels)[:, 0]], minlength=len(labels)).tolist()
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Rule for the canonical document: a field's least value, its greatest, or a trusted value.

    `field` is "" if only the ids count; `trusted` has values in the order of trust, and then no
    other values of the field count.
    """

    field: str = ""
    is_descending: bool = False
    trusted: tuple[str, ...] = ()

    @property
    def needs(self) -> tuple[str, ...]:
        """The fields to read."""
        return (self.field,) if self.field else ()

    def choose(
        self, members: Sequence[int], ids: Sequence[str], values: Mapping[str, Sequence[Any]]
    ) -> int:
        """Choose the canonical document among the row numbers of a cluster.

        `values` has for each field of `needs` the value of each row, None if it is missing; of
        several values (a list) the best counts. Numbers compare as numbers, and so do texts if all
        in the cluster are numbers; else all compare as text, by code point, which is right for
        ISO dates. A missing value is the last choice; of equal ones the first id in natural
        order is chosen.
        """
        best = self._best(members, values[self.field]) if self.field else members
        return min(best, key=lambda row: natural(ids[row]))

    def _best(self, members: Sequence[int], column: Sequence[Any]) -> Sequence[int]:
        """Select the members with the best value, or all of them if none has a value."""
        pairs_of_values = [(value, row) for row in members for value in _list_values(column[row])]
        if self.trusted:
            places = {name: self.trusted.index(name) for name in self.trusted}
            ranked = [(places[str(v)], row) for v, row in pairs_of_values if str(v) in places]
        else:
            ranked = _comparable(pairs_of_values)
        if not ranked:
            return members
        best = (max if self.is_descending else min)(value for value, _ in ranked)
        return [row for value, row in ranked if value == best]


FIRST = Rule()
_NAMED = {
    "first": FIRST,
    "longest": Rule(field=LENGTH, is_descending=True),
    "shortest": Rule(field=LENGTH),
    "oldest": Rule(field=ARRIVAL),
}


def parse_rule(text: str) -> Rule:
    """The rule that a text stands for.

    `first` (id in natural order), `longest` and `shortest` (by words), `oldest` (by order of
    arrival), `oldest:FIELD` (its least value), or `FIELD=a,b,c`: trusted values, the most trusted
    first.

    Raises ArgumentError if it is none of these.
    """
    if text in _NAMED:
        return _NAMED[text]
    field, is_trusted, names = text.partition("=")
    trusted = tuple(name.strip() for name in names.split(",") if name.strip())
    if is_trusted and field.strip() and trusted:
        return Rule(field=field.strip(), trusted=trusted)
    if not is_trusted and text.startswith("oldest:") and text != "oldest:":
        return Rule(field=text.removeprefix("oldest:"))
    raise ArgumentError(f"`canonical` cannot be {text!r}, which is not a rule", _WORDING)


def choose_canonicals(
    rule: Rule,
    labels: Labels,
    ids: Sequence[str],
    values: Mapping[str, Sequence[Any]],
    *,
    are_ordered: bool = False,
) -> Labels:
    """The row number of the canonical document of each document's cluster.

    Shape (documents,), as `labels`; a document alone has itself. `ids` and `values` as for
    `Rule.choose`; `are_ordered` says that the ids are in natural order.
    """
    if are_ordered and not rule.field:
        return labels  # which have the first of each cluster
    chosen = np.arange(len(labels))
    column = values[rule.field] if rule.field and are_ordered and not rule.trusted else [None]
    are_numbers = all(type(value) is int and abs(value) < 1 << 62 for value in column)
    numbers = np.array(column if are_numbers else 0) * (-1 if rule.is_descending else 1)
    order = np.lexsort((np.broadcast_to(numbers, len(labels)), labels))
    starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
    if are_numbers:
        chosen[order] = np.repeat(order[starts], np.diff(starts, append=len(labels)))
        return chosen
    rows = order.tolist()
    for start, stop in pairwise([*starts.tolist(), len(rows)]):
        if stop - start > 1:
            chosen[order[start:stop]] = rule.choose(rows[start:stop], ids, values)
    return chosen


def _list_values(value: object) -> Sequence[Any]:
    """The values of a field of a document: none, a value, or a list. NaN is none."""
    several = value if isinstance(value, list | tuple) else (value,)
    return [each for each in several if each is not None and each != "" and each == each]


def _comparable(values: list[tuple[Any, int]]) -> list[tuple[Any, int]]:
    """The values as numbers if all are numbers or look like numbers, else as text."""
    if all(isinstance(value, int | float) for value, _ in values):
        return values
    texts = [(str(value), row) for value, row in values]
    if all(_NUMBER.fullmatch(text) for text, _ in texts):
        return [(_parse_number(text), row) for text, row in texts]
    return texts


def _parse_number(text: str) -> int | float:
    return int(text) if text.strip().lstrip("+-").isdigit() else float(text)


def remove_within(
    pairs: Sequence[Duplicate],
    clusters: Sequence[Cluster],
    apart: Collection[tuple[AnyId, AnyId]] = (),
) -> dict[str, Removed]:
    """The documents that the canonical document of their cluster makes superfluous, by id.

    Complete linkage tears pairs apart, and a canonical document may be near that of another
    cluster. The later of two such is removed, and what is near to no kept document is kept, so that
    no pair is left. Of two documents `apart`, neither is removed for the other, nor both for a
    third.
    """
    partition = Partition()
    for pair in apart:
        partition.separate(*pair)
    for cluster in clusters if apart else ():
        for member in cluster.members:
            partition.unite(cluster.canonical, member.id)
    removed: dict[str, Removed] = {}
    torn = _neighbours(pair for pair in pairs if pair.cluster == "")
    kept: set[str] = set()

    def decide(id: str, near: Mapping[str, float]) -> None:
        ranked = [(-near[other], str(other), other) for other in near if other in kept]
        for similarity, _, other in sorted(ranked, key=lambda rank: rank[:2]):
            if not apart or partition.unite(id, other):
                removed[id] = Removed(id=id, duplicate_of=other, similarity=-similarity)
                return
        kept.add(id)

    for cluster in clusters:
        decide(cluster.canonical, torn.get(cluster.canonical, {}))
    left = dict.fromkeys(torn)
    for cluster in clusters:
        for member in cluster.members:
            if member.id == cluster.canonical:
                continue
            if cluster.canonical in kept:
                removed[member.id] = Removed(
                    id=member.id, duplicate_of=cluster.canonical, similarity=member.similarity
                )
            else:
                left[member.id] = None
    rest = [id for id in left if id not in removed and id not in kept]
    if rest:
        wanted = set(rest)
        near = _neighbours(p for p in pairs if p.id in wanted or p.other_id in wanted)
        for id in rest:
            decide(id, near.get(id, {}))
    return removed


def remove_across(
    pairs: Iterable[Duplicate], apart: Collection[tuple[AnyId, AnyId]] = ()
) -> dict[str, Removed]:
    """The documents of the first side that have a near-duplicate in the other, by id.

    Pairs within a side, which complete linkage needs, are left alone. Of two documents `apart`, by
    their keys, not both are removed for a third.
    """
    removed: dict[str, Removed] = {}
    partition = Partition()
    for different in apart:
        partition.separate(*different)
    if apart:  # those of clusters first: no two within a cluster are apart
        pairs = sorted(pairs, key=lambda pair: (pair.cluster == "", -pair.similarity))
    for pair in pairs:
        ends = (key_of(id, side) for side, id in pair.ends)
        if pair.sides != (0, 1) or (apart and not partition.unite(*ends)):
            continue
        earlier = removed.get(pair.id)
        if earlier is None or (earlier.similarity or 0.0) < pair.similarity:
            removed[pair.id] = Removed(
                id=pair.id, duplicate_of=pair.other_id, similarity=pair.similarity
            )
    return removed


def _neighbours(pairs: Iterable[Duplicate]) -> dict[str, dict[str, float]]:
    near: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for pair in pairs:
        near[pair.id][pair.other_id] = pair.similarity
        near[pair.other_id][pair.id] = pair.similarity
    return near


RUN, SHORT, FEWEST_TEXTS = 3, 60, 5  # words that are common together, of texts of so many or more


@dataclass(frozen=True, slots=True, kw_only=True)
class Common:
    """Runs of `size` words that the part `share` of all texts or more have, by their hashes.

    `texts` counts those that differ.
    """

    size: int
    share: float
    texts: int
    hashes: NDArray[np.uint64]

    def __str__(self) -> str:
        runs = "words" if self.size == 1 else f"runs of {self.size} words"
        if len(self.hashes):
            share = f"{100 * self.share:.3g} %"
            return f"left out {runs} that at least {share} of the texts share: {len(self.hashes)}"
        reason = f"no {runs} are shared by at least {100 * self.share:.3g} % of the texts"
        if self.share > 1:
            reason = f"all {runs} are in all texts"
        if self.texts < FEWEST_TEXTS:
            reason = f"it needs {FEWEST_TEXTS} different texts, not {self.texts}"
        return f"`without_common` left nothing out: {reason}; omit it"

    def strip(self, forms: Sequence[str]) -> list[str]:
        """Take the runs out of normal forms.

        A form of which nothing is left becomes a word, which equals only its exact copies.
        """
        hashed, bounds = hash_runs(forms, self.size)
        are_common = np.isin(hashed, self.hashes)
        stripped = []
        for form, first, last in zip(forms, bounds.tolist(), bounds[1:].tolist(), strict=False):
            words = np.array(form.split())
            is_taken = np.zeros(len(words), dtype=np.bool_)
            for at in np.flatnonzero(are_common[first:last]).tolist():
                is_taken[at : at + self.size] = True
            rest = " ".join(words[~is_taken].tolist())
            stripped.append(rest or (form and f"0{mmh3.hash64(form, signed=False)[0]:x}"))
        return stripped


def find_common(forms: Sequence[str], share: float | None = None) -> Common:
    """Find the runs of words that most texts have, or the part `share` of them, copies left out.

    Of how many texts have each run, the logarithms are parted in two where the variance between the
    parts is greatest (Otsu 1979), each run counted as often as it comes. Single words are looked at
    if the texts are short.
    """
    forms = list(dict.fromkeys(filter(None, forms)))
    size = RUN if np.median([form.count(" ") + 1 for form in forms] or [0]) >= SHORT else 1
    hashed, bounds = hash_runs(forms, size)
    owners = np.repeat(np.arange(len(forms)), np.diff(bounds))
    order = np.argsort(hashed, kind="stable")  # so the owners of a run stay in their order
    hashed, owners = hashed[order], owners[order]
    is_run = np.diff(hashed, prepend=hashed[:1] ^ np.uint64(1)) != 0
    is_owner = is_run | (np.diff(owners, prepend=-1) != 0)
    starts = np.flatnonzero(is_run)
    runs, counts = hashed[starts], np.add.reduceat(is_owner, starts, dtype=np.int64)
    least = max(_part(counts) if share is None else share * len(forms), FEWEST_TEXTS)
    return Common(
        size=size, share=least / max(len(forms), 1), texts=len(forms), hashes=runs[counts >= least]
    )


def _part(counts: NDArray[np.int64]) -> float:
    """Part counts, each counted as often as it says, by their logarithms."""
    values, times = np.unique(counts, return_counts=True)
    if len(values) < 2:
        return float(values.max(initial=0)) + 1
    weights, logs = values * times, np.log(values)
    below = np.cumsum(weights)[:-1]
    sums, above = np.cumsum(weights * logs)[:-1], weights.sum() - below
    means, others = sums / below, ((weights * logs).sum() - sums) / above
    at = int(np.argmax(below * above * (means - others) ** 2))
    return float(np.sqrt(values[at] * values[at + 1]))
