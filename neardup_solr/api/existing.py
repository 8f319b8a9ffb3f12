"""Functions for collections of other programs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup_solr.api.public import public
from neardup_solr.arguments import OneOrMore, Which
from neardup_solr.checks import listed  # fmt: skip

if TYPE_CHECKING:
    from neardup_solr import (
        Collection,
        Settings,
    )  # fmt: skip
    from neardup_solr.types import (
        AnnotateSummary,
        Diagnosis,
        Lint,
        OnError,
        OnProgress,
        StripSummary,
    )  # fmt: skip


@public
def lint(collection: Collection, *, text: OneOrMore = (), prefix: str | None = None) -> Lint:
    """Check if annotating a collection would lose data, without changing the collection.

    Example: `nd.lint(books, text="body").findings`

    Without `text`, the fields that `init` stored are checked, or else the field `content`. If these
    cannot be read, the field with the longest texts is checked, and a finding names it.

    Raises CoreMissing if the collection does not exist, ArgumentError if a name is invalid,
    SolrError if Solr does not answer.
    """
    from neardup_solr.verbs.lint import check_collection

    return check_collection(collection, text=text, prefix=prefix)


@public
def doctor(collection: Collection, *, sample: int = 1_000) -> Diagnosis:
    """Count the documents by settings, and recompute the fields of a sample.

    Example: `nd.doctor(listings).documents`

    Nothing is written. Every run takes the same sample. Uncommitted documents do not count.

    Raises SettingsError if stored settings are not understood, SchemaError if the collection has no
    neardup fields, SolrError if Solr does not answer.
    """
    from neardup_solr.verbs.doctor import diagnose

    return diagnose(collection, sample=sample)


@public
def annotate(
    collection: Collection,
    *,
    into: Collection | str | None = None,
    which: Which = "needed",
    query: OneOrMore = (),
    text: OneOrMore = (),
    prefix: str | None = None,
    settings: Settings | Mapping[str, Any] | None = None,
    rate: float = 0,
    threads: int = 2,
    batch: int = 500,
    patience: float | str = "5m",
    follow: bool = False,
    mark: bool = False,
    remember: str | Path | None = None,
    on_error: OnError | None = None,
    on_progress: OnProgress | None = None,
) -> AnnotateSummary:
    """Add the computed fields to documents of a collection, in place or in another collection.

    Example: `nd.annotate(books).annotated`

    `which` selects documents: "needed" (fields are missing or outdated), "missing" (no fields) or
    "all". Nested documents are not annotated. After an interruption, run the same call again.

    With `into`, a second collection (by name: on the same Solr, created if missing) receives the
    ids, texts and fields, and `collection` stays unchanged. `text` and `prefix` default to the
    values that `init` stored, and may differ from these values only with `into`.

    With `follow`, new and changed documents are annotated within seconds, until KeyboardInterrupt.
    With `mark` as well, cluster marks are updated at most once a minute.

    Raises SettingsError if the collection was annotated with different settings or an update would
    lose data, SchemaError if fields are missing, SourceError if the file `remember` is
    not from `duplicates`, SolrError if Solr stops answering.
    """
    from neardup_solr.verbs.annotate.request import AnnotateRequest
    from neardup_solr.verbs.annotate.run import run_annotate

    return run_annotate(
        AnnotateRequest(
            collection=collection, into=into, which=which, query=listed(query), text=listed(text),
            prefix=prefix, settings=settings, rate=rate, threads=threads, batch=batch,
            patience=patience, follow=follow, mark=mark, remember=remember, on_error=on_error,
            on_progress=on_progress,
        )
    )  # fmt: skip


@public
def strip(
    collection: Collection,
    *,
    query: OneOrMore = (),
    rate: float = 0,
    threads: int = 2,
    batch: int = 500,
    patience: float | str = "5m",
    on_error: OnError | None = None,
    on_progress: OnProgress | None = None,
) -> StripSummary:
    """Remove the neardup fields, including marks, from the documents of a collection.

    Example: `nd.strip(books, query="title:bread").stripped`

    Other fields stay as they are. After an interruption, run the same call again.

    Raises SettingsError if an update would lose data, SolrError if Solr stops answering.
    """
    from neardup_solr.verbs.annotate.rate_limit import RateLimit
    from neardup_solr.verbs.annotate.stripping import strip_fields

    pace = RateLimit(rate=rate, threads=threads, batch=batch)
    return strip_fields(
        collection, query=listed(query), pace=pace, patience=patience,
        on_error=on_error, on_progress=on_progress,
    )  # fmt: skip


@public
def reband(
    collection: Collection,
    *,
    bands: int,
    rows: int,
    patience: float | str = "5m",
    on_progress: OnProgress | None = None,
) -> int:
    """Recompute the bands of a collection from its stored signatures.

    Example: `nd.reband(listings, bands=35, rows=3)`

    Returns the number of updated documents. Until the call ends, searches fail because documents
    have different settings. If Solr is away, the call waits for it, at most `patience` (seconds,
    or "5m"). After an interruption, run the same call again.

    Raises ArgumentError if a number is below 1; SettingsError if `bands` × `rows` exceeds the
    stored hashes, the stored settings are mixed or lack signatures or bands, an id could be in
    several shards, or an update would lose data; SolrError if Solr does not answer or refuses
    updates.
    """
    from neardup_solr.verbs.annotate.rebanding import compute_bands

    return compute_bands(collection, bands, rows, patience=patience, on_progress=on_progress)
