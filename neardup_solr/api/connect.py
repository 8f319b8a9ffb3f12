"""The function `nd.connect`: its signature, and what it does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from neardup_solr.api.decorator import public

if TYPE_CHECKING:
    from neardup_solr import Collection
    from neardup_solr.solr.access import Connection


@public
def connect(
    address: str | Connection | None = None,
    collection: str | None = None,
    *,
    create: bool = False,
    heap: str | None = None,
    ca: str | Path | None = None,
    cert: str | Path | None = None,
    headers: Mapping[str, str] | None = None,
    proxy: str | None = None,
    plain_http: bool = False,
    patience: float | str = 0,
    on_started: Callable[[str], None] | None = None,
) -> Collection:
    """Open a collection in Solr: at `address`, at $NEARDUP_SOLR_URL, or in the embedded Solr.

    Example: `nd.connect("http://localhost:8983/solr", "listings")`

    `address` is the URL of a Solr server, a SolrCloud node or a collection
    ("http://host:8983/solr/listings"). A `pysolr.Solr` is also accepted; it sends the requests.
    The embedded Solr is started if needed. On your own Solr, create collections with `init`.
    `patience` limits the wait for unavailable SolrCloud nodes or ZooKeeper.

    The user and password come from the address or the environment; a token, `ca`, `cert` and
    `proxy` may also come from the environment (see docs/security.md).

    Raises ArgumentError if the name, the address or a certificate cannot be used, `create` is set
    but your own Solr lacks the collection, or a password would cross the network unencrypted;
    SettingsError if a user or a password is missing or cannot be read; SolrUnreachable if no Solr
    answers; ServerError if the embedded Solr cannot be downloaded or started.
    """
    from neardup_solr.verbs.connect import open_place

    return open_place(
        address,
        collection,
        create=create,
        heap=heap,
        ca=ca,
        cert=cert,
        headers=headers,
        proxy=proxy,
        plain_http=plain_http,
        patience=patience,
        on_started=on_started,
    )
