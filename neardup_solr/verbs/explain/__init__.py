"""explain: why two documents are found as near-duplicates or not, and what would catch them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from neardup_solr import sources
from neardup_solr.arguments import Id, MeasureName, OneOrMore, PairMeasure, checked, require
from neardup_solr.candidates.by_word import count_shared_words
from neardup_solr.errors import DocumentNotFound
from neardup_solr.measures import AUTO, Limits, choose_measure, measure_of
from neardup_solr.measures.aligned import frequencies
from neardup_solr.measures.equality import parse_equality
from neardup_solr.memory import Spill
from neardup_solr.progress import OnProgress
from neardup_solr.records import Document
from neardup_solr.settings import WORD_CAP, Settings, refuse_settings, require_indexed, settings_of
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.schema import remedy
from neardup_solr.sources import Reading, SourceLike, reading_of
from neardup_solr.text.normalize import normalize
from neardup_solr.verbs import search
from neardup_solr.verbs.duplicates import plan
from neardup_solr.verbs.duplicates.compare import Comparison, find_candidates
from neardup_solr.verbs.duplicates.read import Corpus, read_documents
from neardup_solr.verbs.duplicates.work import Work, choose_way
from neardup_solr.verbs.explain.facts import STORED, Facts, Subject, make_subject
from neardup_solr.verbs.explain.verdict import Explanation, explain_facts

PAIR = ("one", "other", "ids")  # what `duplicates` is not asked
ALIGNED_WORDS = 100  # of the longest text that is aligned: the measure is for short records


@checked
def explain(
    source: Collection | SourceLike,
    one: Id,
    other: Id,
    *,
    measure: MeasureName = "auto",
    fields: OneOrMore | Mapping[str, str] | None = None,
    model: str | Path | None = None,
    max_distance: int | None = None,
    min_similarity: float | None = None,
    equal: OneOrMore = (),
    id: str | None = None,
    text: OneOrMore = "text",
    settings: Settings | Mapping[str, Any] | None = None,
    on_progress: OnProgress | None = None,
) -> Explanation:
    """Why two documents are found as near-duplicates or not, and what would find them.

    `one` and `other` are their ids (numbers are taken as texts). They are in a collection in Solr,
    whose own settings and stored signatures apply, or in a source, which is signed with `settings`
    (a mapping, or Settings); a source is read to its end, because the last record of an id counts.
    Two documents are near if they are at least `min_similarity` (0..1) similar by the `measure`,
    at most `max_distance` words apart, and equal in what `equal` names, as for `duplicates`. `id`
    and `text` name columns of the source, as for `index`. To align the words of short texts, the
    first documents tell how rare each word is; by the measure aligned, all of a source do.

    With `fields`, as for `duplicates`, the pair is compared by them, and `facts.evidence` says what
    each adds to the odds of a match. The weights are learnt from all candidates, as `duplicates`
    learns them, which takes as long; `on_progress` is told how far that is. With `model`, a file
    that `tune` has written, it is compared by that, and each measure adds something.

    Raises DocumentNotFound if the collection lacks an id, SourceError if the source lacks it,
    RecordError if its record cannot be used, ArgumentError if both ids are the same, SettingsError
    if the collection has no texts, SolrError if Solr does not answer.
    """
    ids = (str(one), str(other))
    require(ids[0] != ids[1], f"both ids are {ids[0]!r}", "give the ids of two documents")
    if fields is not None or model is not None:
        arguments = {name: value for name, value in locals().items() if name not in PAIR}
        return explain_facts(_compare_fields(plan(**arguments), ids))
    limits = Limits(max_distance=max_distance, min_similarity=min_similarity)
    measure_of(measure, limits)  # which checks them
    measure = "words" if measure == AUTO and max_distance is not None else measure
    sample: Iterable[str]
    if isinstance(source, Collection):
        used = _read_settings(source, settings)
        first, second = _read_stored(source, ids, used)
        chosen = measure_of(search.measure_by(source, measure), limits)
        sample, documents, by = search.sample_texts(source), 0, chosen.way
        if chosen.needs_frequencies:
            sample, documents = list(sample), source.count()
            characters = sum(map(len, sample)) * documents // max(len(sample), 1)
            by = choose_way(chosen, documents, lambda most: characters <= most)
    else:
        used = settings_of(settings)
        source, reading = reading_of(source, "number", id=id, text=text)
        found, sample, lengths, words = _read_source(source, ids, reading, measure)
        chosen = measure_of(choose_measure(used, words)[0] if measure == AUTO else measure, limits)
        first, second = (make_subject(found[id], used) for id in ids)
        documents = len(lengths)
        by = choose_way(chosen, documents, lambda most: sum(lengths) <= most)
    forms, by_words = [], chosen.needs_frequencies
    if by_words or max(first.entry.num_words, second.entry.num_words) <= ALIGNED_WORDS:
        forms = search.normal_forms(sample, used)
    normal = first.entry.normal, second.entry.normal
    return explain_facts(
        Facts(
            first=first,
            second=second,
            settings=used,
            limits=limits,
            frequencies=frequencies(forms, used.normalization) if forms else None,
            measure=cast(PairMeasure, chosen.name),
            shared_words=_count_shared_words(*normal, forms, documents) if by_words else {},
            by=by,
            equality=parse_equality(equal),
        )
    )


def _read_settings(collection: Collection, given: Settings | Mapping[str, Any] | None) -> Settings:
    """Read the settings of a collection, which has texts and is given no others."""
    refuse_settings(given, "leave them out, or explain the pair in its file")
    used = collection.needed_settings()
    require_indexed(["content"], used.fields, "explain them in the `source` that they come from")
    return used


def _compare_fields(work: Work, ids: Sequence[str]) -> Facts:
    """Compare all candidates by their fields, and the records of these ids in detail."""
    source, subjects = work.sides[0], list[Subject]()
    if isinstance(source, Collection):
        subjects = _read_stored(source, ids, _read_settings(source, None))
    with Spill() as spill:
        documents = read_documents(work, spill)
        rows = [_find_row(work, documents, id) for id in ids]
        for id, row in zip(ids, rows[len(subjects) :], strict=False):
            document = Document(id=id, text=documents.texts([row])[0] or "")
            subjects.append(make_subject(document, documents.settings))
        comparison = Comparison.of(work, documents)
        by = work.choose_way(comparison.distinct, documents.fits)
        candidates = find_candidates(work, documents, by, comparison.copies).pairs
        limits = work.limits
        if work.model is None:
            comparison.verify(candidates)  # which teaches the weights
        else:
            limits = replace(limits, min_similarity=comparison.comparer.least)
        matcher, pair = comparison.matcher, np.array([sorted(rows)], dtype=np.uint32)
        assert matcher is not None
        first, second = subjects
        normal, forms = (first.entry.normal, second.entry.normal), documents.forms()
        return Facts(
            first=first,
            second=second,
            settings=documents.settings,
            limits=limits,
            frequencies=matcher.frequencies,
            measure=cast(PairMeasure, work.measure.name),
            shared_words=_count_shared_words(*normal, forms, len(forms)),
            by=by,
            evidence=tuple(matcher.explain(pair)),
            candidates=len(candidates),
            equality=work.equality,
            probability=float(matcher.match(pair)[0]),
        )


def _find_row(work: Work, documents: Corpus, id: str) -> int:
    """Find the row of an id, the last one if several records have it."""
    (side,) = documents.sides
    ids = list(map(str, side.ids.take(range(len(side.ids)))))
    if id in ids:
        return ids.index(id)
    if rows := [row for row, name in enumerate(ids) if name.startswith(f"{id}@row")]:
        return rows[-1]
    refused = {error.id: error for error in side.failures.first}
    raise sources.lacking(work.sides[0], id, refused, "record with words")


def _count_shared_words(
    one: str, other: str, forms: Sequence[str], documents: int
) -> dict[str, int]:
    """Count the documents that have each word by which `duplicates` would pair two, rarest first.

    If there are more documents than `forms`, that number is an estimate.
    """
    share = documents / max(len(forms), 1)
    cap = max(2, round(WORD_CAP / share))
    counts = count_shared_words(one, other, forms, cap=cap)
    if share > 1:  # two documents have each word, and of the others as many as the sample says
        counts = {
            word: 2 + round(max(counts.get(word, 0) - 2, 0) * share)
            for word in {*count_shared_words(one, other, [one, other], cap=cap), *counts}
        }
    return dict(sorted(counts.items(), key=lambda each: (each[1], each[0])))


def _read_stored(collection: Collection, ids: Sequence[str], settings: Settings) -> list[Subject]:
    """Read the documents as they are in a collection."""
    kept = [name for name in STORED if name in settings.fields]
    rows: dict[str, dict[str, Any]] = {
        row["id"]: row for row in collection.stored(ids, ["content", *kept])
    }
    again = remedy(collection, "index it again", "writes them")
    subjects = []
    for id in ids:
        if id not in rows:
            raise DocumentNotFound(collection.url, id)
        stored = {name: rows[id].get(name, "") for name in kept}
        document = Document(id=id, text=rows[id].get("content", ""))
        subjects.append(replace(make_subject(document, settings, stored=stored), remedy=again))
    return subjects


def _read_source(
    source: Any, ids: Sequence[str], reading: Reading, measure: MeasureName
) -> tuple[dict[str, Document], list[str], list[int], list[int]]:
    """Read the documents of these ids, texts, all lengths, and the numbers of words of some texts.

    The texts are the first ones, and all that the measure, or what is chosen instead, may need.
    """
    sample: list[str] = []
    lengths: list[int] = []
    words: list[int] = []
    step = 1  # between texts whose words are counted, so that these come from all parts

    def look(number: int, document: Document) -> None:
        nonlocal words, step
        lengths.append(len(document.text))
        is_needed = measure in ("aligned", "records") or (
            measure == AUTO and lengths[-1] < search.SAMPLED
        )
        if is_needed or len(sample) < search.SAMPLE:
            sample.append(document.text[: search.SAMPLED])
        if measure == AUTO and number % step == 0:
            words.append(len(normalize(document.text).split()))
            if len(words) == 2 * search.SAMPLE:
                words, step = words[1::2], 2 * step

    documents, refused = sources.find(source, ids, reading=reading, on_document=look)
    for id in ids:
        if id not in documents:
            raise sources.lacking(source, id, refused)
    return documents, sample, lengths, words
