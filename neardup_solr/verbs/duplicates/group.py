"""Clusters of verified pairs, over arrays: at the threshold of a run, and at higher ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup_solr import clusters, records
from neardup_solr.answers import DIFFERENT, SAME, DocumentKey
from neardup_solr.clusters.canonical import LENGTH, Rule, choose_canonicals
from neardup_solr.clusters.components import Labels, components, components_apart
from neardup_solr.clusters.linkage import fold_identical, link, missing_pairs
from neardup_solr.errors import SettingsError
from neardup_solr.guard import FEWEST_RARE, RARE, SHARE
from neardup_solr.guard.template import compute_differing
from neardup_solr.measures import Distances, Similarities, floor
from neardup_solr.measures.pairs import NO_PAIRS, Pairs, find_pairs, number_pairs
from neardup_solr.measures.wedges import count_open_wedges
from neardup_solr.minhash.sign import count_shared_bands, hash_texts
from neardup_solr.progress import gc_disabled
from neardup_solr.records import NO_DISTANCE, AnyId, Borderline, Duplicate, key_of, natural
from neardup_solr.text.symbols import mark_symbols
from neardup_solr.verbs.duplicates.compare import Comparison, Verified
from neardup_solr.verbs.duplicates.read import AT_ONCE, Corpus, Work

if TYPE_CHECKING:
    from neardup_solr.arguments import Linkage

PAIRS_AT_ONCE = 1 << 14  # whose signatures are looked at
SAMPLE = 10_000  # records, by which it is told how often two differ
UNCLUSTERED = ""  # the cluster of a pair that complete linkage has separated
SIDES = ((0, 0), (0, 1), (1, 1))  # of a pair, by how many of the two are of the second side
# An excerpt is not the whole, nor is a probability of 1 a copy.
INEXACT = ("containment", "fields", "model")

# Compares pairs of documents: their distances and similarities.
Compare = Callable[[Pairs], tuple[Distances, Similarities]]
RowNumbers = NDArray[np.uint32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """Documents that have a pair, numbered in the natural order of their ids, and their pairs.

    Of each document, `nodes` have the side and the id, `forms` the number of its normal form,
    `texts` that of its normal form with its symbols, and `values` what the `rule` for the canonical
    document compares. Of each pair, the smaller number
    first, there are the distance, the similarity, how many bands are `shared`, and the answer of
    people, None if there are none. `same` and `different` are the pairs that answers are about.
    `canonical` has the canonical document of each at the threshold of the run, with the distance
    and the similarity of the two.
    """

    nodes: Sequence[DocumentKey]
    forms: Labels
    texts: Labels
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

    @property
    def keys(self) -> list[AnyId]:
        """The key of each document, see `key_of`."""
        return [key_of(id, side) for side, id in self.nodes]

    def select(self, least: float) -> Graph:
        """Keep the pairs that are at least so similar, and those that answers call the same.

        All pairs that complete linkage needs are among those of a lower threshold.
        """
        is_same = np.isin(number_pairs(self.pairs), number_pairs(self.same))
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouped:
    """Pairs and clusters by ids, the graph that they come from, and the label of each document."""

    pairs: tuple[Duplicate, ...]
    clusters: tuple[records.Cluster, ...]
    graph: Graph
    labels: Labels


def group(graph: Graph, compare: Compare) -> Grouped:
    """Make clusters of the pairs of a graph, and list the pairs in the order of their clusters.

    `compare` measures the documents whose similarity to the canonical one is not known yet.
    """
    with gc_disabled():
        labels, stand_ins = _link(graph)
        canonical, distances, similarities = _compare_with_canonical(graph, labels, compare)
        grouped = clusters.make_clusters(
            [id for _, id in graph.nodes],
            graph.pairs,
            labels=labels,
            canonical=canonical,
            similarities=similarities,
            distances=distances,
            stand_ins=stand_ins,
            sides=np.array([side for side, _ in graph.nodes], dtype=np.int64),
            texts=graph.texts,
        )
        graph = replace(graph, canonical=(canonical, distances, similarities))
        pairs = _list_pairs(graph, labels)
        return Grouped(pairs=pairs, clusters=grouped, graph=graph, labels=labels)


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
        sources.append((_pair(every, before), before_distances, before_similarities))
    for pairs, *columns in sources:
        places = find_pairs(_pair(rest, canonical[rest]), pairs)
        is_paired = places >= 0
        rows, places = rest[is_paired], places[is_paired]
        distances[rows], similarities[rows] = (column[places] for column in columns)
        rest = rest[~is_paired]
    if len(rest):
        distances[rest], similarities[rest] = compare(_pair(rest, canonical[rest]))
    return canonical, distances, similarities


def _pair(left: NDArray[Any], right: NDArray[Any]) -> Pairs:
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
        )
        for (left, right), distance, similarity, shared, label, answer in zip(
            *(column[order].tolist() for column in columns), answers or repeat(None), strict=False
        )
    )


def group_again(graph: Graph, least: float) -> Grouped:
    """Group the pairs that are at least so similar, without comparing any documents."""

    def compare(pairs: Pairs) -> tuple[Distances, Similarities]:
        return np.full(len(pairs), NO_DISTANCE), np.full(len(pairs), np.nan)

    return group(graph.select(least), compare)


@gc_disabled()
def group_verified(comparison: Comparison, verified: Verified) -> tuple[Grouped, RowNumbers]:
    """Group what was verified, and return the rows of the documents of the graph as well.

    For complete linkage, the pairs that single linkage would infer are compared too, and those
    that are near-duplicates are added.
    """
    work, documents = comparison.work, comparison.documents
    nodes, rows = _name_nodes(documents, np.unique(verified.pairs))
    near = [_renumber(verified, rows)]
    if work.linkage == "complete":
        labels = components(len(nodes), near[0].pairs)
        lacking = missing_pairs(len(nodes), near[0].pairs, labels)
        lacking_rows = np.sort(rows[lacking], axis=1)
        near.append(_renumber(comparison.verify(lacking_rows), rows))
    pairs = np.concatenate([each.pairs for each in near])
    similarities = np.concatenate([each.similarities for each in near])
    shared, answers = _count_shared(documents, rows[pairs]), comparison.answers
    same, different = (
        _locate_pairs(judged[np.isin(judged, rows).all(axis=1)], rows)
        for judged in (answers.pairs[word] if answers else NO_PAIRS for word in (SAME, DIFFERENT))
    )
    forms = _number_forms(comparison, rows, pairs, similarities, shared)
    graph = Graph(
        nodes=nodes,
        forms=forms,
        texts=_number_texts(comparison, rows, forms),
        values=_read_values(work, documents, rows),
        rule=work.rule,
        measure=comparison.comparer.measure.name,
        has_distance=comparison.comparer.measure.has_distance,
        linkage=work.linkage,
        has_sides=len(documents.sides) > 1,
        pairs=pairs,
        distances=np.concatenate([each.distances for each in near]),
        similarities=similarities,
        shared=shared,
        same=same,
        different=different,
        answers=None if answers is None else answers.name(rows[pairs]),
    )

    return group(graph, make_compare(comparison, rows)), rows


def make_compare(comparison: Comparison, rows: RowNumbers) -> Compare:
    """Make the comparison of documents by their numbers in `rows`, whatever their similarity is."""

    def compare(pairs: Pairs) -> tuple[Distances, Similarities]:
        wanted = np.sort(rows[pairs], axis=1)
        measured = comparison.measure(np.unique(wanted, axis=0))
        places = find_pairs(wanted, measured.pairs)
        distances, similarities = np.full(len(pairs), NO_DISTANCE), np.zeros(len(pairs))
        is_present = places >= 0  # the others were deleted meanwhile
        distances[is_present] = measured.distances[places[is_present]]
        similarities[is_present] = measured.similarities[places[is_present]]
        return distances, similarities

    return compare


def _name_nodes(documents: Corpus, rows: RowNumbers) -> tuple[list[DocumentKey], RowNumbers]:
    """Name the documents of rows, in the natural order of their ids, and sort the rows like it."""
    are_second = (rows >= documents.bounds[1]).tolist()
    ids = documents.ids(rows.tolist())
    order = sorted(range(len(ids)), key=lambda at: (are_second[at], *natural(ids[at])))
    return [(int(are_second[at]), ids[at]) for at in order], rows[order]


def _locate_pairs(pairs: Pairs, rows: RowNumbers) -> Pairs:
    """Number the documents of pairs of rows by their places in `rows`."""
    order = np.argsort(rows)
    places = order[np.searchsorted(rows[order], pairs)]
    return _pair(places[:, 0], places[:, 1])


def _renumber(verified: Verified, rows: RowNumbers) -> Verified:
    """Number the documents of verified pairs by their places in `rows`, and sort the pairs."""
    pairs = _locate_pairs(verified.pairs, rows)
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    return Verified(pairs[order], verified.distances[order], verified.similarities[order])


def _number_forms(
    comparison: Comparison,
    rows: RowNumbers,
    pairs: Pairs,
    similarities: Similarities,
    shared: NDArray[np.int64],
) -> Labels:
    """Number the normal forms of the documents, by what tells which are equal."""
    documents = comparison.documents
    if comparison.copies is not None:
        return np.unique(comparison.copies.keys[rows], return_inverse=True)[1]
    is_equal = similarities >= 1.0
    equal = pairs[is_equal]
    if comparison.comparer.measure.counts_shingles:
        equal = equal[shared[is_equal] == documents.settings.bands]
        nodes = np.unique(equal)
        nodes = nodes[np.argsort(rows[nodes])]
        hashes = np.zeros(len(rows), dtype=np.uint64)
        for at in range(0, len(nodes), AT_ONCE):
            part = nodes[at : at + AT_ONCE]
            texts = documents.texts(rows[part].tolist())
            hashes[part] = hash_texts(documents.normalize(texts))
        equal = equal[hashes[equal[:, 0]] == hashes[equal[:, 1]]]
    return components(len(rows), equal)


def _number_texts(comparison: Comparison, rows: RowNumbers, forms: Labels) -> Labels:
    """Number the texts of documents: of equal `forms` those whose symbols differ, too.

    Only texts of equal normal forms are read, and symbols looked for in those that differ.
    """
    if not comparison.work.measure.needs_texts:
        return forms
    _, forms, counts = np.unique(forms, return_inverse=True, return_counts=True)
    forms = forms.reshape(-1)
    hashes = np.zeros(len(rows), dtype=np.uint64)
    for part in _in_parts(np.flatnonzero(counts[forms] > 1), rows):
        texts = comparison.documents.texts(rows[part].tolist())
        hashes[part] = hash_texts([text or "" for text in texts])
    written = np.unique(np.stack([forms.astype(np.uint64), hashes], axis=1), axis=0)[:, 0]
    varies = np.bincount(written.astype(np.int64), minlength=len(counts)) > 1
    numbers, keys = forms.copy(), dict[tuple[int, object], int]()
    for part in _in_parts(np.flatnonzero(varies[forms]), rows):
        wordings = comparison.read_wordings(rows[part].tolist())
        for node, wording in zip(part.tolist(), wordings, strict=True):
            key = int(forms[node]), tuple(map(mark_symbols, wording))
            numbers[node] = keys.setdefault(key, len(counts) + len(keys))
    return numbers


def _in_parts(nodes: Labels, rows: RowNumbers) -> Iterator[Labels]:
    """Yield some nodes at a time, in the order of their rows."""
    ordered = nodes[np.argsort(rows[nodes])]
    for at in range(0, len(ordered), AT_ONCE):
        yield ordered[at : at + AT_ONCE]


def _read_values(work: Work, documents: Corpus, rows: RowNumbers) -> list[object]:
    """Read what the rule for the canonical document compares."""
    values: list[object] = []
    for name in work.rule.needs:
        rising = np.argsort(rows)
        column = documents.values(rows[rising].tolist(), [name])[name]
        values = [column[at] for at in np.argsort(rising).tolist()]
        if values and all(value is None for value in values):
            hint = "index the documents with num_words" if name == LENGTH else "check its name"
            step = f"{hint}, or choose a different `canonical`"
            raise SettingsError(f"no document has the field {name!r}", step)
    return values


def _count_shared(documents: Corpus, pairs: Pairs) -> NDArray[np.int64]:
    """Count the LSH bands in which each pair of rows agrees."""
    shared = np.empty(len(pairs), dtype=np.int64)
    for at in range(0, len(pairs), PAIRS_AT_ONCE):
        part = slice(at, at + PAIRS_AT_ONCE)
        shared[part] = count_shared_bands(documents.signatures, pairs[part], documents.settings)
    return shared


def find_borderline(
    comparison: Comparison, candidates: Pairs, verified: Verified
) -> Borderline | None:
    """Count what depends on the threshold, or return None if more than it counts."""
    work, least = comparison.work, comparison.comparer.least
    if work.limits.max_distance is not None or work.equality:
        return None
    near, count = verified.pairs, len(comparison.documents)
    is_higher = verified.similarities >= floor(min(least + records.BORDER, 1.0))
    # Documents of one side are not compared across, and a pair may be left out for a better one.
    matcher = comparison.matcher
    is_once = matcher is not None and bool(matcher.border)
    has_wedges = not (work.is_across or is_once)
    wedges = (
        count_open_wedges(candidates, pairs, count) if has_wedges else None
        for pairs in (near, near[is_higher])
    )
    return Borderline(
        min_similarity=least,
        pairs=len(near),
        above=int(np.count_nonzero(~is_higher)),
        below=verified.below,
        open=next(wedges),
        open_higher=next(wedges),
        unsure="" if matcher is None else matcher.unsure,
    )


class Unlike(NamedTuple):
    """Documents equal to an earlier one in what was compared, but not in what was left out.

    So many `copies`; so many, `of_column`, of them differ in that `column`. They are `telling` if
    these are many more than by chance, as records seldom differ in it, and it `is_filled` if all of
    them have a value, so that it can be one of `same`.
    """

    copies: int = 0
    column: str = ""
    of_column: int = 0
    telling: bool = False
    is_filled: bool = True

    def __str__(self) -> str:
        copies = self.of_column if self.telling else self.copies
        are = "is" if copies == 1 else "are"
        such = self.column if self.of_column == copies else f"columns such as {self.column}"
        return f"{copies:,} {are} equal in what was compared, but not in {such}"


def find_unlike(work: Work, documents: Corpus, grouped: Grouped, rows: RowNumbers) -> Unlike:
    """Count the documents, by their rows, that only columns `beside` those compared tell apart."""
    hashes, texts = documents.sides[0].beside, grouped.graph.texts
    if hashes is None or not len(rows):
        return Unlike()
    table = hashes.table().view(np.uint64)
    values, firsts = table[rows], len(np.unique(texts))

    def count(columns: NDArray[np.uint64]) -> int:
        """Count the documents less the first of each text, those of equal values once."""
        both = np.column_stack([texts.astype(np.uint64), columns])
        return len(np.unique(both, axis=0)) - firsts

    counts = np.array([count(column) for column in values.T])
    sample = table[:: -(-len(table) // SAMPLE)]
    chances = np.array([compute_differing(column.tolist()) for column in sample.T])
    are_telling = counts >= np.maximum(FEWEST_RARE, RARE * chances * (len(rows) - firsts))
    are_telling &= counts >= SHARE * sum(len(each.members) - 1 for each in grouped.clusters)
    most = int(np.argmax(np.where(are_telling, counts + counts.max(), counts)))
    is_filled = bool((values[:, most] != np.uint64(hash(""))).all())
    return Unlike(count(values), [*work.beside][most], int(counts[most]), bool(are_telling[most]),
                  is_filled)  # fmt: skip
