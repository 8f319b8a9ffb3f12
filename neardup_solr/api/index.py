"""The function `nd.index`: its signature, and what it does."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup_solr.api.decorator import public
from neardup_solr.argument_types import OneOrMore

if TYPE_CHECKING:
    from neardup_solr import Collection, Settings
    from neardup_solr.types import IndexSummary, OnError, OnProgress, SourceLike


@public
def index(
    source: SourceLike,
    collection: Collection,
    *,
    id: str | None = None,
    text: OneOrMore = "text",
    keep: OneOrMore | None = None,
    settings: Settings | Mapping[str, Any] | None = None,
    threads: int = 2,
    batch: int = 500,
    checkpoint_every: int = 20_000,
    patience: float | str = "5m",
    min_replicas: int = 1,
    job: str | Path | None = None,
    resume: bool = False,
    on_error: OnError | None = None,
    on_progress: OnProgress | None = None,
) -> IndexSummary:
    """Index a source into a collection, with the fields needed to find near-duplicates.

    Example: `nd.index("listings.csv", listings, keep="city").indexed`

    A record replaces the document with its id. If several records share an id, the last one counts,
    unless a `Source` has a different `on_repeat`. `settings` default to the collection's settings.
    An empty collection gets the default settings, without shingles and signature terms if the first
    thousand texts are long. If a document would lose a stored column, SettingsError is raised: name
    the column in `keep`, or pass keep=() to drop it.

    On return, every record is committed and searchable, or has failed. `index` waits for an
    unavailable Solr, and resends documents that Solr loses. `job` is a folder for the checkpoint
    and the failed records (dead-letters.jsonl).

    Raises SourceError if the source cannot be read; SettingsError if the collection has different
    settings or text fields; SchemaError if it lacks fields; SolrHalted if Solr's disk is full;
    SolrError if Solr stays unavailable (it is safe to repeat the call); JobError if the job is in
    use, or if the source or the collection has changed since the job began.
    """
    from neardup_solr.verbs.index import index_source

    return index_source(
        source,
        collection,
        id=id,
        text=text,
        keep=keep,
        settings=settings,
        threads=threads,
        batch=batch,
        checkpoint_every=checkpoint_every,
        patience=patience,
        min_replicas=min_replicas,
        job=job,
        resume=resume,
        on_error=on_error,
        on_progress=on_progress,
    )
