"""Facts about a pair of texts, compared by a measure that is named, or that suits them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from neardup_solr import measures
from neardup_solr.argument_types import MeasureName, PairMeasure, Way
from neardup_solr.checks import listed
from neardup_solr.measures import Measure
from neardup_solr.measures.aligned import ALIGNED
from neardup_solr.measures.auto import choose_measure
from neardup_solr.measures.frequencies import count_words
from neardup_solr.settings import Settings
from neardup_solr.settings_by_name import DEFAULT_SETTINGS, fit_shingles, settings_of
from neardup_solr.solr.collection import Collection
from neardup_solr.sources import reading_of
from neardup_solr.verbs.collection_measure import SAMPLED, measure_by, sample_texts
from neardup_solr.verbs.duplicates.candidate_pairs import choose_way
from neardup_solr.verbs.explain.documents import (
    estimate_shared_words,
    read_fields,
    read_settings,
    read_source,
    read_stored,
)
from neardup_solr.verbs.explain.facts import Facts
from neardup_solr.verbs.explain.request import ExplainRequest
from neardup_solr.verbs.explain.rules import find_answer, find_unequal
from neardup_solr.verbs.explain.subject import Subject, make_subject

ALIGNED_WORDS = 100  # of the longest text that is aligned: the measure is for short records


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPair:
    """The two documents, the `measure` that compares them, and what is known of all `documents`.

    `by` is how `duplicates` finds candidates among them. `sample` has texts that tell how many
    documents have a word, and `columns` those of the text in a source; `kept` are the values that
    `same` may ask for.
    """

    subjects: Sequence[Subject]
    settings: Settings
    measure: Measure
    by: Way
    sample: Iterable[str]
    documents: int
    columns: Sequence[str] = ()
    kept: Sequence[Mapping[str, Any]] = ({}, {})


def compare_texts(request: ExplainRequest) -> Facts:
    """Compare the texts of two documents.

    Raises ArgumentError if the measure and the limits do not go together.
    """
    limits, measure = request.limits, request.measure
    measures.measure_of(measure, limits)  # which checks them
    if measure == measures.AUTO and request.max_distance is not None:
        measure = "words"
    is_stored = isinstance(request.source, Collection)
    pair = (_read_stored_pair if is_stored else _read_source_pair)(request, measure)
    first, second = pair.subjects
    normalization, by_words = pair.settings.normalization, pair.measure.needs_frequencies
    forms: list[str] = []
    if by_words or max(first.entry.num_words, second.entry.num_words) <= ALIGNED_WORDS:
        texts = [text[:SAMPLED] for text in pair.sample]
        forms = list(ALIGNED.normalize(texts, normalization))
    contents = [each.entry.content for each in pair.subjects]
    first_form, second_form = ALIGNED.normalize(contents, normalization)
    shared_words = dict[str, int]()
    if by_words:
        shared_words = estimate_shared_words(first_form, second_form, forms, pair.documents)
    return Facts(
        first=first,
        second=second,
        settings=pair.settings,
        limits=limits,
        frequencies=count_words(forms, normalization) if forms else None,
        measure=cast(PairMeasure, pair.measure.name),
        shared_words=shared_words,
        by=pair.by,
        equality=request.equality,
        unequal=find_unequal(listed(request.same), pair.kept),
        answer=find_answer(request.answers, dict(zip(request.ids, contents, strict=True))),
        texts=pair.columns,
        documents=pair.documents,
        is_stored=is_stored,
    )


def _read_stored_pair(request: ExplainRequest, measure: MeasureName) -> TextPair:
    """Read the two documents of a collection, and its first texts when they are needed."""
    collection = request.source
    assert isinstance(collection, Collection)
    settings = read_settings(collection, request.settings)
    subjects = read_stored(collection, request.ids, settings)
    compared_by = measures.measure_of(measure_by(collection, measure), request.limits)
    sample: Iterable[str] = sample_texts(collection)
    documents, by = collection.count(), compared_by.way
    if compared_by.needs_frequencies:
        sample = list(sample)
        characters = sum(map(len, sample)) * documents // max(len(sample), 1)
        by = choose_way(compared_by, documents, lambda most: characters <= most)
    return TextPair(
        subjects=subjects, settings=settings, measure=compared_by, by=by, sample=sample,
        documents=documents, kept=read_fields(collection, request.ids, listed(request.same)),
    )  # fmt: skip


def _read_source_pair(request: ExplainRequest, measure: MeasureName) -> TextPair:
    """Read the two documents of a source, and as much of the others as the measure needs."""
    usual = settings_of(request.settings)
    source, reading = reading_of(
        request.source, "number", id=request.id, text=request.text, keep=request.same
    )
    documents, sample, lengths, words = read_source(source, request.ids, reading, measure)
    is_auto = measure == measures.AUTO
    name = choose_measure(usual, words)[0] if is_auto else measure
    compared_by = measures.measure_of(name, request.limits)
    fitted = fit_shingles(request.settings, DEFAULT_SETTINGS, lengths)
    settings = settings_of(request.settings, fitted)
    return TextPair(
        subjects=[make_subject(documents[id], settings) for id in request.ids],
        settings=settings,
        measure=compared_by,
        by=choose_way(compared_by, len(lengths), lambda most: sum(lengths) <= most),
        sample=sample,
        documents=len(lengths),
        columns=reading.text,
        kept=[documents[id].kept for id in request.ids],
    )
