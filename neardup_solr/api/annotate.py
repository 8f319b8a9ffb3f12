"""The function `nd.annotate`: its signature, and what it does."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup_solr.api.decorator import public
from neardup_solr.argument_types import OneOrMore, Which
from neardup_solr.checks import listed

if TYPE_CHECKING:
    from neardup_solr import Collection, Settings
    from neardup_solr.types import AnnotateSummary, OnError, OnProgress


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
