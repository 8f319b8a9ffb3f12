"""explain: why two documents are found as near-duplicates or not, and what would catch them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from neardup_solr import measures
from neardup_solr.arguments import Id, MeasureName, OneOrMore, PairMeasure, checked, require
from neardup_solr.measures import Limits
from neardup_solr.measures.aligned import ALIGNED
from neardup_solr.measures.auto import choose_measure
from neardup_solr.measures.equality import parse_equality
from neardup_solr.measures.frequencies import count_words
from neardup_solr.progress import OnProgress
from neardup_solr.settings import (
    DEFAULT_SETTINGS,
    Settings,
    fit_shingles,
    settings_of,
)
from neardup_solr.solr.collection import Collection
from neardup_solr.sources import SourceLike, reading_of
from neardup_solr.sources.choice import fill_in
from neardup_solr.verbs import search
from neardup_solr.verbs.duplicates import plan, read

if TYPE_CHECKING:
    pass

from neardup_solr.verbs.explain.by_fields import compare_fields
from neardup_solr.verbs.explain.documents import (
    estimate_shared_words,
    read_settings,
    read_source,
    read_stored,
)
from neardup_solr.verbs.explain.explanation import Explanation, explain_facts
from neardup_solr.verbs.explain.facts import Facts
from neardup_solr.verbs.explain.subject import make_subject

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
    """Explain why two documents are near-duplicates or not, and what would find them.

    Example: `nd.explain("listings.csv", "12", "13").verdict`

    With `fields` or a `model`, `facts.evidence` says how much each field or measure adds to the
    odds of a match, in bits. Weights for `fields` are estimated from all candidates, which takes as
    long as `duplicates`.

    Raises DocumentNotFound or SourceError if an id is missing, RecordError if its record is
    unusable, ArgumentError if the ids are equal, SettingsError if the collection has no texts,
    SolrError if Solr does not answer.
    """
    ids = (str(one), str(other))
    require(ids[0] != ids[1], f"both ids are {ids[0]!r}", "give the ids of two different documents")
    arguments = {name: value for name, value in locals().items() if name not in PAIR}
    arguments |= fill_in(arguments)
    id, text, fields = (arguments[name] for name in ("id", "text", "fields"))
    if fields is not None or model is not None:
        return explain_facts(compare_fields(plan(**arguments), ids))
    limits = Limits(max_distance=max_distance, min_similarity=min_similarity)
    measures.measure_of(measure, limits)  # which checks them
    measure = "words" if measure == measures.AUTO and max_distance is not None else measure
    sample: Iterable[str]
    columns: Sequence[str] = ()
    if isinstance(source, Collection):
        used = read_settings(source, settings)
        first, second = read_stored(source, ids, used)
        chosen = measures.measure_of(search.measure_by(source, measure), limits)
        sample, documents, by = search.sample_texts(source), source.count(), chosen.way
        if chosen.needs_frequencies:
            sample = list(sample)
            characters = sum(map(len, sample)) * documents // max(len(sample), 1)
            by = read.choose_way(chosen, documents, lambda most: characters <= most)
    else:
        used = settings_of(settings)
        source, reading = reading_of(source, "number", id=id, text=text)
        columns = reading.text
        found, sample, lengths, words = read_source(source, ids, reading, measure)
        is_auto = measure == measures.AUTO
        name = choose_measure(used, words)[0] if is_auto else measure
        chosen = measures.measure_of(name, limits)
        used = settings_of(settings, fit_shingles(settings, DEFAULT_SETTINGS, lengths))
        first, second = (make_subject(found[id], used) for id in ids)
        documents = len(lengths)
        by = read.choose_way(chosen, documents, lambda most: sum(lengths) <= most)
    forms, by_words = [], chosen.needs_frequencies
    if by_words or max(first.entry.num_words, second.entry.num_words) <= ALIGNED_WORDS:
        forms = list(
            ALIGNED.normalize([text[: search.SAMPLED] for text in sample], used.normalization)
        )
    one, other = ALIGNED.normalize(
        [each.entry.content for each in (first, second)], used.normalization
    )
    facts = Facts(
        first=first,
        second=second,
        settings=used,
        limits=limits,
        frequencies=count_words(forms, used.normalization) if forms else None,
        measure=cast(PairMeasure, chosen.name),
        shared_words=estimate_shared_words(one, other, forms, documents) if by_words else {},
        by=by,
        equality=parse_equality(equal),
        texts=columns,
        documents=documents,
        is_stored=isinstance(source, Collection),
    )
    return explain_facts(facts)
