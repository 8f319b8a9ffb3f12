"""explain: why two documents are found as near-duplicates or not, and what would catch them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from neardup_solr import sources
from neardup_solr.errors import DocumentNotFound, RecordError, SettingsError, SourceError
from neardup_solr.measures import Limits
from neardup_solr.minhash import entries
from neardup_solr.records import Document
from neardup_solr.settings import Settings, require_indexed
from neardup_solr.solr.collection import Collection
from neardup_solr.sources import Reading
from neardup_solr.verbs import search
from neardup_solr.verbs.explain import facts
from neardup_solr.verbs.explain.facts import STORED, Subject, subject
from neardup_solr.verbs.explain.verdict import Explanation, explained

NO_LIMITS = Limits()
DEFAULT_SETTINGS = Settings()
DEFAULT_READING = Reading()

ALIGNED_WORDS = 100  # of texts whose words are aligned; the measure is for records, not for prose

Subjects = tuple[Subject, Subject]


def explain(
    source: Collection | str | Path | Iterable[Document],
    id: str,
    other_id: str,
    *,
    limits: Limits = NO_LIMITS,
    settings: Settings = DEFAULT_SETTINGS,
    reading: Reading = DEFAULT_READING,
) -> Explanation:
    """Why two documents are found as near-duplicates or not, and the cheapest setting that would.

    The documents are in a collection in Solr, whose own settings and stored signatures hold, or
    in a source, signed under `settings`; a source is read to its end, as the last record of an id
    counts. Words of short texts are aligned by how many of the first documents have each.

    Raises DocumentNotFound for an id that the collection lacks, SourceError for one that the
    source lacks, RecordError where its record cannot be used, SettingsError where both ids are
    the same or the collection has no texts, SolrError where Solr does not answer.
    """
    if id == other_id:
        raise SettingsError(f"both ids are {id!r}", "give the ids of two documents")
    ids = (id, other_id)
    if isinstance(source, Collection):
        settings = _searchable(source)
        first, second = _stored(source, ids, settings)
        sample: Iterable[str] = search.sampled(source)
    else:
        first, second, sample = _read(source, ids, settings, reading)
    is_short = max(first.entry.num_words, second.entry.num_words) <= ALIGNED_WORDS
    counted = search.frequencies(sample) if is_short else None
    return explained(facts.facts(first, second, settings, limits=limits, frequencies=counted))


def _searchable(collection: Collection) -> Settings:
    settings = collection.needed_settings()
    by_source = "explain them in the file that they come from, by --source"
    require_indexed(["content"], settings.fields, by_source)
    return settings


def _stored(collection: Collection, ids: tuple[str, str], settings: Settings) -> Subjects:
    """The documents as they are in a collection."""
    kept = [name for name in STORED if name in settings.fields]
    rows = {row["id"]: row for row in collection.stored(ids, ["content", *kept])}
    for id in ids:
        if id not in rows:
            raise DocumentNotFound(collection.url, id)

    def one(id: str) -> Subject:
        row: dict[str, Any] = rows[id]
        stored = {name: row.get(name, "") for name in kept}
        document = Document(id=id, text=row.get("content", ""))
        return subject(document, settings, stored=stored)

    return one(ids[0]), one(ids[1])


def _read(
    source: str | Path | Iterable[Document],
    ids: tuple[str, str],
    settings: Settings,
    reading: Reading,
) -> tuple[Subject, Subject, list[str]]:
    """The documents as they are in a source, and texts of its first ones."""
    name = str(source) if isinstance(source, str | Path) else "the documents"
    refused: dict[str | None, RecordError] = {}

    def on_error(error: RecordError) -> None:
        refused[error.id] = error

    if isinstance(source, str | Path):
        source = sources.read(source, reading=reading, on_error=on_error)
    found: dict[str, Document] = {}
    sample: list[str] = []
    for document in entries.usable(source, on_error):
        if len(sample) < search.SAMPLE:
            sample.append(document.text[: search.SAMPLED])
        if document.id in ids:
            found[document.id] = document
    for id in ids:
        if id not in found:
            missing = SourceError(name, f"there is no record with the id {id!r}", "check the id")
            raise refused.get(id, missing)
    first, second = (subject(found[id], settings) for id in ids)
    return first, second, sample
