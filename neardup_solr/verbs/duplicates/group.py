"""The graph of verified pairs, with what its clusters need to know of the documents."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from neardup_solr.answers import SAME, DocumentKey
from neardup_solr.clusters.canonical import FILLED, LENGTH, Rule
from neardup_solr.clusters.components import Labels, components
from neardup_solr.clusters.linkage import missing_pairs
from neardup_solr.cores import count_cores
from neardup_solr.distinct import sort_distinct, sort_distinct_rows
from neardup_solr.errors import DataError, SettingsError
from neardup_solr.measures import Distances, Similarities
from neardup_solr.measures.moments import read_moments
from neardup_solr.measures.pairs import NO_PAIRS, Pairs, find_pairs
from neardup_solr.measures.sets import count_shared_bands
from neardup_solr.minhash.sign import hash_texts
from neardup_solr.progress import gc_disabled
from neardup_solr.records import NO_DISTANCE, sort_naturally
from neardup_solr.text.symbols import mark_symbols, write_symbols
from neardup_solr.verbs.duplicates.comparison import Comparison
from neardup_solr.verbs.duplicates.corpus import Corpus
from neardup_solr.verbs.duplicates.estimates import read_wordings
from neardup_solr.verbs.duplicates.filled_fields import count_filled
from neardup_solr.verbs.duplicates.graph import (
    INEXACT,
    Compare,
    Graph,
    Grouped,
    RowNumbers,
    group,
    order_pairs,
)
from neardup_solr.verbs.duplicates.parts import AT_ONCE
from neardup_solr.verbs.duplicates.verified import Verified


@gc_disabled()
def group_verified(comparison: Comparison, verified: Verified) -> tuple[Grouped, RowNumbers]:
    """Group what was verified, and return the rows of the documents of the graph as well.

    For complete linkage, the pairs that single linkage would infer are compared too, and those
    that are near-duplicates are added.
    """
    plan, corpus = comparison.plan, comparison.corpus
    nodes, rows = _name_nodes(corpus, sort_distinct(verified.pairs))
    near = [_renumber(verified, rows)]
    if plan.linkage == "complete":
        labels = components(len(nodes), near[0].pairs)
        lacking = missing_pairs(len(nodes), near[0].pairs, labels)
        lacking_rows = np.sort(rows[lacking], axis=1)
        near.append(_renumber(comparison.verify(lacking_rows), rows))
    pairs = np.concatenate([each.pairs for each in near])
    similarities = np.concatenate([each.similarities for each in near])
    answers = comparison.answers
    shared = count_shared_bands(
        corpus.signatures, rows[pairs], corpus.settings, threads=count_cores()
    )
    same, different = (
        _locate_pairs(judged[np.isin(judged, rows).all(axis=1)], rows)
        for judged in ((answers.pairs[SAME], answers.apart) if answers else (NO_PAIRS, NO_PAIRS))
    )
    forms = _number_forms(comparison, rows, pairs, similarities, shared)
    graph = Graph(
        nodes=nodes,
        forms=forms,
        texts=_number_texts(comparison, rows, forms),
        values=_read_values(plan.rule, comparison, rows),
        rule=plan.rule,
        measure=comparison.comparer.measure.name,
        has_distance=comparison.comparer.measure.has_distance,
        linkage=plan.linkage,
        has_sides=corpus.is_across,
        pairs=pairs,
        distances=np.concatenate([each.distances for each in near]),
        similarities=similarities,
        shared=shared,
        words=corpus.count_words(rows),
        same=same,
        different=different,
        answers=None if answers is None else answers.name(rows[pairs]),
    )

    return group(graph, make_compare(comparison, rows)), rows


def make_compare(comparison: Comparison, rows: RowNumbers) -> Compare:
    """Make the comparison of documents by their numbers in `rows`, whatever their similarity is."""

    def compare(pairs: Pairs) -> tuple[Distances, Similarities]:
        wanted = np.sort(rows[pairs], axis=1)
        measured = comparison.measure(sort_distinct_rows(wanted))
        places = find_pairs(wanted, measured.pairs)
        distances, similarities = np.full(len(pairs), NO_DISTANCE), np.zeros(len(pairs))
        is_present = places >= 0  # the others were deleted meanwhile
        distances[is_present] = measured.distances[places[is_present]]
        similarities[is_present] = measured.similarities[places[is_present]]
        return distances, similarities

    return compare


def _name_nodes(corpus: Corpus, rows: RowNumbers) -> tuple[list[DocumentKey], RowNumbers]:
    """Name the documents of rows, in the natural order of their ids, and sort the rows like it."""
    ids = corpus.ids(rows.tolist())
    order = np.array(sort_naturally(ids), dtype=np.int64)
    sides = (rows >= corpus.bounds[1]).astype(np.int64)
    order = order[np.argsort(sides[order], kind="stable")]
    names = zip(sides[order].tolist(), map(ids.__getitem__, order.tolist()), strict=True)
    return [*names], rows[order]


def _locate_pairs(pairs: Pairs, rows: RowNumbers) -> Pairs:
    """Number the documents of pairs of rows by their places in `rows`."""
    order = np.argsort(rows)
    places = order[np.searchsorted(rows[order], pairs)]
    return order_pairs(places[:, 0], places[:, 1])


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
    corpus = comparison.corpus
    if comparison.copies is not None:
        return np.unique(comparison.copies.keys[rows], return_inverse=True)[1]
    is_equal = similarities >= 1.0
    equal = pairs[is_equal]
    measure = comparison.comparer.measure
    if measure.counts_shingles or measure.name in INEXACT:
        equal = equal[shared[is_equal] == corpus.settings.bands]
        nodes = sort_distinct(equal)
        nodes = nodes[np.argsort(rows[nodes])]
        hashes = np.zeros(len(rows), dtype=np.uint64)
        for at in range(0, len(nodes), AT_ONCE):
            part = nodes[at : at + AT_ONCE]
            texts = corpus.texts(rows[part].tolist())
            hashes[part] = hash_texts(corpus.normalize(texts))
        equal = equal[hashes[equal[:, 0]] == hashes[equal[:, 1]]]
    return components(len(rows), equal)


def _number_texts(comparison: Comparison, rows: RowNumbers, forms: Labels) -> Labels:
    """Number the texts of documents: of equal `forms` those whose symbols differ, too.

    Only texts of equal normal forms are read, and symbols looked for in those that differ, with
    numbers written as they are compared: another notation is no other symbol.
    """
    if not comparison.corpus.measure.needs_texts:
        return forms
    joins_numbers = bool(comparison.columns) or comparison.corpus.joins_numbers
    # Without what many have in common, texts of equal forms have other words, too.
    write = mark_symbols if comparison.corpus.common is None else write_symbols
    _, forms, counts = np.unique(forms, return_inverse=True, return_counts=True)
    forms = forms.reshape(-1)
    hashes = np.zeros(len(rows), dtype=np.uint64)
    for part in _in_parts(np.flatnonzero(counts[forms] > 1), rows):
        texts = comparison.corpus.texts(rows[part].tolist())
        hashes[part] = hash_texts([text or "" for text in texts])
    written = sort_distinct_rows(np.stack([forms.astype(np.uint64), hashes], axis=1))[:, 0]
    varies = np.bincount(written.astype(np.int64), minlength=len(counts)) > 1
    numbers, keys = forms.copy(), dict[tuple[int, object], int]()
    for part in _in_parts(np.flatnonzero(varies[forms]), rows):
        wordings = read_wordings(comparison, rows[part].tolist())
        for node, wording in zip(part.tolist(), wordings, strict=True):
            compared = comparison.corpus.join_numbers(wording) if joins_numbers else wording
            key = int(forms[node]), tuple(map(write, compared))
            numbers[node] = keys.setdefault(key, len(counts) + len(keys))
    return numbers


def _in_parts(nodes: Labels, rows: RowNumbers) -> Iterator[Labels]:
    """Yield some nodes at a time, in the order of their rows."""
    ordered = nodes[np.argsort(rows[nodes])]
    for at in range(0, len(ordered), AT_ONCE):
        yield ordered[at : at + AT_ONCE]


def _read_values(rule: Rule, comparison: Comparison, rows: RowNumbers) -> list[object]:
    """Read what the rule for the canonical document compares."""
    corpus, values = comparison.corpus, list[object]()
    if FILLED in rule.needs:
        return [*count_filled(comparison, rows).tolist()]
    for name in rule.needs:
        rising = np.argsort(rows)
        column = corpus.values(rows[rising].tolist(), [name])[name]
        values = [column[at] for at in np.argsort(rising).tolist()]
        if values and all(value is None for value in values):
            hint = "index the documents with num_words" if name == LENGTH else "check its name"
            step = f"{hint}, or choose a different `canonical`"
            raise SettingsError(f"no document has the field {name!r}", step, code="field-empty")
    if rule.is_date:
        example = next((value for value in values if value is not None), "")
        values = [*read_moments(values)]
        if values and all(value is None for value in values):
            reason = f"the field {rule.field!r} has no dates, but values such as {example!r:.40}"
            step = "name a column of dates as in `canonical` newest:FIELD"
            raise DataError(reason, step, code="values-unfit")
    return values
