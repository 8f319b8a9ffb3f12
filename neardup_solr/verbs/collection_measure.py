"""The measure of a collection, and the comparer that knows how many texts have a word."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from neardup_solr import measures
from neardup_solr.argument_types import MeasureName
from neardup_solr.checks import require
from neardup_solr.errors import SchemaError, SettingsError, counted
from neardup_solr.measures import Limits, Measure
from neardup_solr.progress import LOG
from neardup_solr.settings import Settings
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.names import TEXT
from neardup_solr.solr.schema import require_kept
from neardup_solr.text import normalize

if TYPE_CHECKING:
    from neardup_solr.measures.frequencies import Frequencies


SAMPLE = 1_000  # documents whose words are counted, to tell rare words from common ones
FEWEST_SAMPLED = 100
SAMPLED = 2_000  # characters of each document


def measure_by(
    collection: Collection,
    measure: MeasureName,
    model: str | Path | None = None,
    max_distance: int | None = None,
) -> str | Measure:
    """Name the measure, by default that of the collection, or make that of a model if it is named.

    Raises ArgumentError if both are given, SourceError if the file is not a model, SettingsError if
    the collection lacks a field that the model compares.
    """
    if model is None:
        if measure != measures.AUTO or max_distance is not None:
            return measure
        settings = collection.known_settings
        if settings is None:
            with suppress(SchemaError, SettingsError):  # which reading its documents raises, too
                settings = collection.stored_settings()
        return (settings and settings.measure) or "words"
    from neardup_solr.measures.model import make_measure
    from neardup_solr.measures.record_matcher import make_joined_measure
    from neardup_solr.verbs.duplicates.plan import read_model

    is_free = measure == measures.AUTO
    reason = "a model has its own measure"
    require(is_free, reason, "omit `model` or `measure`", code="arguments-conflict")
    trained = read_model(model)
    if collection.count():
        next_step = (
            "index again with the fields of the model in `keep`, or use a model without fields"
        )
        require_kept(collection, trained.fields, next_step)
    ids = list(islice(collection.ids(), SAMPLE))
    sample = collection.stored(ids, [TEXT, *trained.fields])
    if trained.evidence is not None and trained.evidence.as_wholes and len(ids) < FEWEST_SAMPLED:
        LOG.warning(
            "%s: %s tell too little about which words are rare, so this model of two tables may"
            " match others, too; index all of one table first",
            collection.name, counted(len(ids), "document"),
        )  # fmt: skip
    settings = collection.stored_settings() or Settings()
    texts = [row.get(TEXT, "")[:SAMPLED] for row in sample]
    forms = make_measure(trained).normalize(texts, settings.normalization)
    return make_joined_measure(trained, sample, forms, settings.normalization)


def comparer_for(
    collection: Collection, settings: Settings, name: str | Measure, limits: Limits
) -> measures.Comparer:
    """Make the comparer of a collection by a measure, with word frequencies if needed."""
    measure, counts = measures.measure_of(name, limits), None
    if measure.needs_frequencies:
        counts = frequencies(sample_texts(collection), settings, measure)
    return measures.Comparer(measure=measure, limits=limits, settings=settings, frequencies=counts)


def sample_texts(collection: Collection) -> Iterator[str]:
    """Yield the texts of a collection's first documents, read when they are needed.

    Few are read at a time, as only their first characters are used.
    """
    ids = list(islice(collection.ids(), SAMPLE))
    for at in range(0, len(ids), SAMPLE // 5):
        yield from collection.texts(ids[at : at + SAMPLE // 5]).values()


def frequencies(texts: Iterable[str], settings: Settings, measure: Measure) -> Frequencies:
    """Count the texts that contain each word as it is compared, by their first characters."""
    from neardup_solr.measures.frequencies import count_words

    forms = measure.normalize([text[:SAMPLED] for text in texts], settings.normalization)
    return count_words(forms, settings.normalization)


def normal_forms(texts: Iterable[str], settings: Settings) -> list[str]:
    """Make the normal forms of the first characters of texts."""
    return [normalize.normalize(text[:SAMPLED], settings.normalization) for text in texts]
