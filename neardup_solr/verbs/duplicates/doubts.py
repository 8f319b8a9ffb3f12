"""Doubts of the guard about the clusters of a run, by the texts of their documents.

How near each removed document is to the one that is kept is known of all. Of the texts, those of
the largest clusters are looked at, and of the others' a sample.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz

from neardup_solr.clusters.removal import remove_across, remove_within
from neardup_solr.distinct import sort_distinct
from neardup_solr.guard import (
    ENDS,
    LINKED,
    SHARE,
    UNRELATED,
    Far,
    Linked,
    Unlikely,
    are_alike,
    are_unlike,
)
from neardup_solr.guard.families import find_families
from neardup_solr.guard.template import (
    SEVERAL,
    SHORT,
    WORDS,
    Template,
    choose_doubtful,
    find_template,
)
from neardup_solr.measures import BY_PROBABILITY, Limits, floor
from neardup_solr.measures.pairs import Pairs, find_pairs, take_evenly
from neardup_solr.records import AnyId
from neardup_solr.verbs.duplicates.corpus import Corpus
from neardup_solr.verbs.duplicates.far import describe_far, list_far
from neardup_solr.verbs.duplicates.graph import Compare, Graph, Grouped, RowNumbers
from neardup_solr.verbs.duplicates.unlikely import find_unlikely

# Templates of texts that were looked at, by their rows: None if they are of none.
KnownTemplates: TypeAlias = dict[tuple[int, ...], Template | None]
ReadTexts: TypeAlias = Callable[[Sequence[int]], Sequence[str | None]]
TEXTS, ALL_TEXTS = 50, 1_000  # that are looked at: of a cluster, and of all, about
OTHERS = 0.25  # of these, from a sample of the clusters that are not the largest
ALL_PAIRS = 20_000  # of documents of a cluster, that are compared with each other
# Slips count as much as they are, or texts cannot be compared; others count a slip as much.
BY_WORDS = ("words", "containment", "passages", "estimate")
SHARE_BY_FIELDS, LOOKED_AT = 0.05, 500  # to ask; documents whose letters are looked at
BARE = 0.25  # of the words of a text, up to which little was left of it, if they are few
# Of the threshold, below which a document is far, as these count a few slips as much, or err.
ROUGH = {"containment": 0.6, "estimate": 0.6}


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubts:
    """Clusters that may be templates, and documents that are far or linked by another one.

    Pairs of fields may be `unlikely`.
    """

    templates: tuple[Template, ...] = ()
    far: Far | None = None
    linked: Linked | None = None
    unlikely: Unlikely | None = None

    def __bool__(self) -> bool:
        """True if somebody is to be asked."""
        return bool(
            self.templates
            or any(each and each.is_much for each in (self.far, self.linked, self.unlikely))
        )


def find_doubts(
    corpus: Corpus, limits: Limits, grouped: Grouped, rows: RowNumbers, compare: Compare,
    known: KnownTemplates,
) -> Doubts:  # fmt: skip
    """Find what may be no copies among what the clusters of a run would remove.

    What texts are a template of is looked up in `known`, and added to it.
    """
    templates = find_templates(corpus, grouped, rows, known)
    texts, least = Texts(corpus, rows), corpus.measure.least(limits)
    # Across two sides each is removed for one that it is near to.
    far = None if corpus.is_across else find_far(grouped, least, limits.max_distance, texts)
    bare = None if corpus.common is None else find_bare(grouped, least, texts)
    return Doubts(
        templates=templates,
        far=max(filter(None, (far, bare)), key=lambda each: each.count, default=None),
        linked=find_linked(grouped, least, compare, texts),
        unlikely=find_unlikely(grouped.graph),
    )


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts of the documents of a graph, by their numbers in `rows`."""

    corpus: Corpus
    rows: RowNumbers

    def normalize(
        self, pairs: Sequence[tuple[int, int]], read: ReadTexts | None = None
    ) -> dict[int, str]:
        """Read the texts of pairs of documents, or what is compared, and make their normal forms.

        They are by their numbers.
        """
        nodes = sort_distinct(np.array(pairs, dtype=np.int64).reshape(-1, 2))
        order = nodes[np.argsort(self.rows[nodes])]
        texts = (read or self.corpus.texts)(self.rows[order].tolist())
        return dict(zip(order.tolist(), self.corpus.normalize(texts), strict=True))

    def mark_alike(self, pairs: Sequence[tuple[int, int]]) -> NDArray[np.bool_]:
        """Mark the pairs of documents that are alike by their letters."""
        forms = self.normalize(pairs)
        return np.array([are_alike(forms[a], forms[b]) for a, b in pairs], dtype=np.bool_)


def find_far(grouped: Grouped, least: float, most: int | None, texts: Texts) -> Far | None:
    """Find the documents that are removed for one that they are not near to.

    Measures that count few slips as much leave out those that are alike by their letters.
    """
    graph = grouped.graph
    assert graph.canonical is not None
    far = list_far(grouped, least * ROUGH.get(graph.measure, 1.0), most)
    share = SHARE_BY_FIELDS if graph.measure in BY_PROBABILITY else SHARE
    if graph.measure in BY_WORDS or not len(far):
        return describe_far(grouped, far, share)
    step = -(-len(far) // LOOKED_AT)
    some = far[::step]
    is_alike = texts.mark_alike(np.stack([some, graph.canonical[0][some]], axis=1).tolist())
    return describe_far(grouped, some[~is_alike], share, 1 / step)


def find_bare(grouped: Grouped, least: float, texts: Texts) -> Far | None:
    """Find documents that are removed for another one, though only a few words of each were left.

    If what was left out is not the same, as texts have several templates, these words say nothing.
    """
    graph, kept = grouped.graph, find_kept(grouped)
    removed = np.flatnonzero(kept != np.arange(len(kept)))
    step = -(-len(removed) // LOOKED_AT) or 1
    pairs = [(node, int(kept[node])) for node in removed[::step].tolist()]
    rests, wholes = texts.normalize(pairs, texts.corpus.compared), texts.normalize(pairs)
    bare = [
        (first, other)
        for first, other in pairs
        if all(_is_bare(rests[node], wholes[node]) for node in (first, other))
        and are_unlike((wholes[first], wholes[other]), least)
    ]
    if not bare:
        return None
    likeness = [fuzz.ratio(*(wholes[node].split()[:WORDS] for node in pair)) for pair in bare]
    worst = int(np.argmin(likeness))
    first, other = bare[worst]
    return Far(
        count=min(len(bare) * step, len(removed)),
        removed=len(removed),
        share=SHARE,
        id=graph.nodes[first][1],
        kept=graph.nodes[other][1],
        similarity=likeness[worst] / 100,
    )


def _is_bare(rest: str, whole: str) -> bool:
    """Tell whether little of a text was left without what many have in common."""
    words = len(rest.split())
    return words < SHORT and words <= BARE * len(whole.split())


def find_templates(
    corpus: Corpus, grouped: Grouped, rows: RowNumbers, known: KnownTemplates
) -> tuple[Template, ...]:
    """Find the clusters that may be templates instead of copies, by some of their texts."""
    count = len(corpus) - len(corpus.dead)
    are_readable = corpus.are_readable(rows)
    places, counts = _count_texts(grouped, are_readable)
    chosen_places, first, weight = _choose(-(-counts // -(-counts // TEXTS)))
    chosen = [
        (_name_cluster(grouped, place), _list_texts(grouped, rows, are_readable, place))
        for place in places[chosen_places].tolist()
    ]
    wanted = sorted({row for _, part in chosen for row in part})
    forms = dict(zip(wanted, corpus.normalize(corpus.texts(wanted)), strict=True))
    templates = []
    for (id, size), part in chosen:
        key = tuple(part)
        if key not in known:
            known[key] = find_template(id, size, size / count, [forms[row] for row in part])
        if template := known[key]:
            templates.append(replace(template, cluster=id, documents=size, share=size / count))
    ids = {each.cluster for each in templates if each.is_sure}
    small = [(id, size, [forms[row] for row in part]) for (id, size), part in chosen
             if id not in ids and len(part) < SEVERAL]  # fmt: skip
    doubtful = choose_doubtful(templates)
    sure = [*(each for each in templates if each.is_sure), *find_families(small, count)]
    weights = {id: weight for (id, _), _ in chosen[first:]}
    if sum(weights.get(each.cluster, 1.0) * (each.documents - 1) for each in sure) < max(
        SHARE * grouped.rows.others, 1
    ):
        return doubtful
    ids = {each.cluster for each in doubtful}
    return doubtful + tuple(each for each in sure if each.cluster not in ids)


def _count_texts(
    grouped: Grouped, are_readable: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count the different texts that can be read of each cluster.

    Returns the places of the clusters that have several, the largest cluster first, and the counts.
    """
    labels, texts = grouped.labels, grouped.graph.texts
    sizes = np.bincount(labels)
    firsts = np.flatnonzero(sizes > 1)  # labels of the clusters, in their order
    base = int(texts.max(initial=0)) + 1
    keys = np.sort(labels[are_readable] * base + texts[are_readable])
    different = keys[np.diff(keys, prepend=-1) != 0] // base
    counts = np.bincount(different, minlength=len(sizes))[firsts]
    order = np.argsort(-sizes[firsts], kind="stable")
    places = order[counts[order] > 1]
    return places, counts[places]


def _name_cluster(grouped: Grouped, place: int) -> tuple[AnyId, int]:
    """Name a cluster by the id of its first document, with the number of its documents."""
    members = grouped.rows.members_of(place)
    return grouped.graph.nodes[int(grouped.labels[members[0]])][1], len(members)


def _list_texts(
    grouped: Grouped, rows: RowNumbers, are_readable: NDArray[np.bool_], place: int
) -> list[int]:
    """List a row for each text of a cluster, the canonical document's first, at most TEXTS."""
    members = grouped.rows.members_of(place)
    members = members[are_readable[members]]
    _, firsts = np.unique(grouped.graph.texts[members], return_index=True)
    part: list[int] = rows[members[np.sort(firsts)]].tolist()
    return part[:: -(-len(part) // TEXTS)]


def _choose(sizes: NDArray[np.int64]) -> tuple[NDArray[np.int64], int, float]:
    """Choose the first clusters, the largest, and some of the others, by their numbers of texts.

    Returns their places, how many are the largest, and for how many each of the others stands.
    """
    texts = np.cumsum(sizes)
    if not len(texts) or texts[-1] <= ALL_TEXTS:
        return np.arange(len(sizes)), len(sizes), 1.0
    first = int(np.searchsorted(texts, (1 - OTHERS) * ALL_TEXTS))
    rest = len(sizes) - first
    mean = (texts[-1] - texts[first - 1]) / rest
    count = min(rest, max(1, int(OTHERS * ALL_TEXTS / mean)))
    places = first + np.linspace(0, rest - 1, count).astype(np.int64)
    return np.concatenate([np.arange(first), places]), first, rest / count


def find_linked(grouped: Grouped, least: float, compare: Compare, texts: Texts) -> Linked | None:
    """Find removed documents that are not near each other, but all near the one that links them.

    None if there are none. Of each cluster, some are compared if no pair of them was found.
    """
    graph = grouped.graph
    if graph.measure in BY_PROBABILITY or graph.canonical is None or least <= 0:
        return None
    kept = find_kept(grouped)
    groups, hubs = _list_removed(graph, kept)
    pairs, owners = _pair_ends(groups)
    is_lacking = find_pairs(pairs, graph.pairs) < 0
    lacking = np.flatnonzero(is_lacking)[:ALL_PAIRS]
    if not len(lacking):
        return None
    _, similarities = compare(pairs[lacking])
    is_apart = similarities < floor(least * UNRELATED)
    if graph.measure not in BY_WORDS:
        places = np.flatnonzero(is_apart)
        is_apart[places] = ~texts.mark_alike(pairs[lacking[places]].tolist())
    apart = np.bincount(owners[lacking[is_apart]], minlength=len(groups))
    counts = np.bincount(owners[: lacking[-1] + 1], minlength=len(groups))
    are_linked = apart >= np.maximum(LINKED * counts, 1)
    if not are_linked.any():
        return None
    similarities[~are_linked[owners[lacking]]] = 1.0
    worst = int(np.argmin(similarities))
    first, second = pairs[lacking[worst]].tolist()
    return Linked(
        count=sum(
            len(group) for group, is_linked in zip(groups, are_linked, strict=True) if is_linked
        ),
        removed=int(np.count_nonzero(kept != np.arange(len(kept)))),
        id=graph.nodes[first][1],
        other_id=graph.nodes[second][1],
        similarity=float(similarities[worst]),
        kept=tuple(graph.keys[hubs[at]] for at in np.flatnonzero(are_linked).tolist()),
    )


def find_kept(grouped: Grouped) -> NDArray[np.int64]:
    """Find the document that is kept for each removed one. Others have themselves."""
    graph = grouped.graph
    assert graph.canonical is not None
    if graph.linkage == "single" and not graph.has_sides:
        return graph.canonical[0]
    if graph.has_sides:
        removed = remove_across(grouped.pairs)
    else:
        removed = remove_within(grouped.pairs, grouped.clusters)
    kept = np.arange(len(graph.nodes))
    node_of = {name: node for node, name in enumerate(graph.nodes)}
    for each in removed.values():
        kept[node_of[0, each.id]] = node_of[int(graph.has_sides), each.duplicate_of]
    return kept


def _list_removed(
    graph: Graph, kept: NDArray[np.int64]
) -> tuple[list[NDArray[np.int64]], list[int]]:
    """List a removed document for each text that one is kept for, if there are several, by that.

    Returns those that are kept, too.
    """
    texts = graph.texts
    removed = np.flatnonzero(texts[kept] != texts)
    order = removed[np.lexsort((texts[removed], kept[removed]))]
    is_new = np.diff(kept[order], prepend=-1) != 0
    nodes = order[is_new | (np.diff(texts[order], prepend=-1) != 0)]
    starts = np.flatnonzero(np.diff(kept[nodes], prepend=-1))
    sizes = np.diff(starts, append=len(nodes))
    largest = np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes > 1)]
    several = [nodes[starts[at] : starts[at] + sizes[at]] for at in largest.tolist()]
    return several, kept[nodes[starts[largest]]].tolist()


def _pair_ends(groups: Sequence[NDArray[np.int64]]) -> tuple[Pairs, NDArray[np.int64]]:
    """Pair some documents of each group with each other, and number the groups of the pairs."""
    pairs = [np.empty((0, 2), dtype=np.int64)]
    triangles = [np.stack(np.triu_indices(size, 1), axis=1) for size in range(ENDS + 1)]
    for group in groups:
        some = group if len(group) <= ENDS else take_evenly(group, ENDS)
        pairs.append(some[triangles[len(some)]])
    owners = np.repeat(np.arange(len(groups)), [len(part) for part in pairs[1:]])
    return np.sort(np.concatenate(pairs), axis=1).astype(np.uint32), owners
