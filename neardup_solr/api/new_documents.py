"""Functions for new documents: decide about each, and serve that."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from neardup_solr.api.public import public
from neardup_solr.arguments import Action, MeasureName, OneOrMore
from neardup_solr.checks import listed  # fmt: skip

if TYPE_CHECKING:
    from neardup_solr import (
        Collection,
    )  # fmt: skip
    from neardup_solr.types import (
        Decisions,
        OnError,
        OnProgress,
        SourceLike,
    )  # fmt: skip


@public
def gate(
    source: SourceLike,
    collection: Collection,
    *,
    tag: float | None = None,
    hold: float | None = None,
    reject: float | None = None,
    exact: Action = "reject",
    yes: bool = False,
    measure: MeasureName = "auto",
    model: str | Path | None = None,
    max_distance: int | None = None,
    equal: OneOrMore = (),
    fq: OneOrMore = (),
    index: bool = False,
    batch: int = 50,
    most: int = 100,
    answers: str | Path | None = None,
    patience: float | str = "5m",
    keep: OneOrMore | None = None,
    on_error: OnError | None = None,
    on_progress: OnProgress | None = None,
) -> Decisions:
    """Decide about each document of a source, in order: allow, tag, hold or reject.

    Example: `[each.action for each in nd.gate("new.jsonl", listings, reject=0.95)]`

    Each decision is made only when you read it: by a `for` loop, `list()`, `.to_pandas()`,
    `.to_polars()` or `.to_arrow()`. With `index`, documents are indexed only then.

    A document is compared with the documents in the collection that share an LSH band with it, and
    with earlier admitted documents, but not with the document that it replaces. The similarity (0
    to 1) of the best match decides. Without `tag`, `hold` and `reject`, a document is tagged if the
    similarity reaches the measure's threshold. `exact` is the minimum action for equal texts and
    for pairs answered "same". Texts from a template, which all differ in the same places, are held
    instead of rejected, unless `yes` is set.

    With `index`, each decision is returned once Solr has the document. A replacement must have all
    columns of the old document, unless `keep` is given. Documents lost by Solr are resent.

    Raises SettingsError if the collection lacks a required field, SourceError if the source cannot
    be read, SolrError if Solr does not answer; earlier decisions stay valid.
    """
    from neardup_solr.verbs.gate import open_gate
    from neardup_solr.verbs.gate.request import GateRequest

    return open_gate(
        GateRequest(
            source,
            collection,
            tag=tag,
            hold=hold,
            reject=reject,
            exact=exact,
            yes=yes,
            measure=measure,
            model=model,
            max_distance=max_distance,
            equal=equal,
            fq=fq,
            index=index,
            batch=batch,
            most=most,
            answers=answers,
            patience=patience,
            keep=keep,
            on_error=on_error,
            on_progress=on_progress,
        )
    )


@public
def serve(
    collection: Collection,
    *,
    tag: float | None = None,
    hold: float | None = None,
    reject: float | None = None,
    exact: Action = "reject",
    measure: MeasureName = "auto",
    model: str | Path | None = None,
    max_distance: int | None = None,
    equal: OneOrMore = (),
    fq: OneOrMore = (),
    filters: OneOrMore = (),
    answers: str | Path | None = None,
    host: str = "127.0.0.1",
    port: int = 8985,
    root_path: str = "",
    allow_host: OneOrMore = (),
    tokens: str | Path | None = None,
    max_body: int | str = "1M",
    max_documents: int = 100,
    concurrency: int = 8,
    on_ready: Callable[[str], None] | None = None,
) -> None:
    """Serve a collection over HTTP with JSON, until SIGTERM or SIGINT.

    Example: `nd.serve(listings, reject=0.95, port=8985)`

    POST /check decides about documents as `gate` does; the page docs/serve.md describes the
    differences, and all requests. The file `tokens` has a line "NAME TOKEN RIGHT..." for
    each client and is read again when it changes, and on SIGHUP. The rights are check, search,
    local-params, explain, entries, metrics and all. Without tokens, `host` must be a loopback
    address, and the Host of a request must be this machine or in `allow_host`.

    Clients filter by fields and their values. Each of the `filters`, "NAME=QUERY", is a query in
    Solr's syntax that they can choose by its name.

    Raises ArgumentError if the port cannot be used or a filter has no name, SourceError if the
    tokens cannot be read, SettingsError if starlette or uvicorn is missing or the collection lacks
    a required field, SolrError if Solr does not answer or does not understand a filter.
    """
    from neardup_solr.verbs.serve.request import ServeRequest, run_service

    run_service(
        ServeRequest(
            collection=collection, tag=tag, hold=hold, reject=reject, exact=exact, measure=measure,
            model=model, max_distance=max_distance, equal=listed(equal), fq=listed(fq),
            filters=listed(filters), answers=answers, host=host, port=port, root_path=root_path,
            allow_host=listed(allow_host), tokens=tokens, max_body=max_body,
            max_documents=max_documents, concurrency=concurrency, on_ready=on_ready,
        )
    )  # fmt: skip
