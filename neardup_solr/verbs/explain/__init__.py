"""explain: why two documents are found as near-duplicates or not, and what would catch them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from neardup_solr import sources
from neardup_solr.arguments import Id, OneOrMore, checked, listed, require
from neardup_solr.errors import DocumentNotFound, RecordError, SourceError
from neardup_solr.measures import Limits
from neardup_solr.minhash import entries
from neardup_solr.records import Document
from neardup_solr.settings import Settings, require_indexed, settings_of
from neardup_solr.solr.collection import Collection
from neardup_solr.sources import Reading, Source
from neardup_solr.verbs import search
from neardup_solr.verbs.explain import facts
from neardup_solr.verbs.explain.facts import STORED, Subject, subject
from neardup_solr.verbs.explain.verdict import Explanation, explained

ALIGNED_WORDS = 100  # of the longest text that is aligned: the measure is for short records

Subjects = tuple[Subject, Subject]


@checked
def explain(
    source: Collection | Source,
    one: Id,
    other: Id,
    *,
    max_distance: int | None = None,
    min_similarity: float | None = None,
    id: str = "id",
    text: OneOrMore = "text",
    source_format: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    lossy: bool = False,
    settings: Settings | Mapping[str, Any] | None = None,
) -> Explanation:
    """Why two documents are found as near-duplicates or not, and what would find them.

    `one` and `other` are their ids (numbers are taken as texts). They are in a collection in Solr,
    whose own settings and stored signatures apply, or in a source, which is signed with `settings`
    (a mapping, or Settings); a source is read to its end, because the last record of an id counts.
    Two documents are near if they are at most `max_distance` words apart and at least
    `min_similarity` (0..1) similar. `id`, `text`, `source_format`, `delimiter`, `encoding` and
    `lossy` say how a source is read, as for `index`. To align the words of short texts, the first
    documents tell how rare each word is.

    Raises DocumentNotFound if the collection lacks an id, SourceError if the source lacks it,
    RecordError if its record cannot be used, ArgumentError if both ids are the same, SettingsError
    if the collection has no texts, SolrError if Solr does not answer.
    """
    ids = (str(one), str(other))
    check_ids(*ids)
    limits = Limits(max_distance=max_distance, min_similarity=min_similarity)
    used = settings_of(settings)
    if isinstance(source, Collection):
        require(
            not settings,
            "a collection has its own settings, and `settings` are given",
            "leave them out, or explain the pair in its file",
        )
        used = _searchable(source)
        first, second = _stored(source, ids, used)
        sample: Iterable[str] = search.sampled(source)
    else:
        reading = Reading(
            id=id,
            text=listed(text),
            source_format=source_format,
            delimiter=delimiter,
            encoding=encoding,
            lossy=lossy,
        )
        first, second, sample = _read(source, ids, used, reading)
    is_short = max(first.entry.num_words, second.entry.num_words) <= ALIGNED_WORDS
    counted = search.frequencies(sample) if is_short else None
    return explained(facts.facts(first, second, used, limits=limits, frequencies=counted))


def check_ids(one: str, other: str) -> None:
    """Refuse one id given twice, by ArgumentError."""
    require(one != other, f"both ids are {one!r}", "give the ids of two documents")


def _searchable(collection: Collection) -> Settings:
    settings = collection.needed_settings()
    by_source = "explain them in the `source` that they come from"
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
    source: Source,
    ids: tuple[str, str],
    settings: Settings,
    reading: Reading,
) -> tuple[Subject, Subject, list[str]]:
    """The documents as they are in a source, and the texts of its first ones."""
    name = str(source) if isinstance(source, str | Path) else "the documents"
    refused: dict[str | None, RecordError] = {}

    def on_error(error: RecordError) -> None:
        refused[error.id] = error

    documents = sources.documents(source, reading=reading, on_error=on_error)
    found: dict[str, Document] = {}
    sample: list[str] = []
    for document in entries.usable(documents, on_error):
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
