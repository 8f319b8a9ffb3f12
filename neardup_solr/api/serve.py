"""The function `nd.serve`: its signature, and what it does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from neardup_solr.api.decorator import public
from neardup_solr.argument_types import Action, MeasureName, OneOrMore
from neardup_solr.checks import listed

if TYPE_CHECKING:
    from neardup_solr import Collection


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
    passages: bool = False,
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
            filters=listed(filters), answers=answers, passages=passages, host=host, port=port,
            root_path=root_path, allow_host=listed(allow_host), tokens=tokens, max_body=max_body,
            max_documents=max_documents, concurrency=concurrency, on_ready=on_ready,
        )
    )  # fmt: skip
