"""connect: which Solr a verb talks to."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from neardup_solr.checks import require
from neardup_solr.errors import ArgumentError, DataError, ServerError
from neardup_solr.solr.access import Access, Connection
from neardup_solr.solr.collection import Collection, open_collection
from neardup_solr.solr.names import require_name
from neardup_solr.units import in_seconds

ADDRESS = "NEARDUP_SOLR_URL"
NAME = "neardup"  # of a collection that nobody named


def open_place(
    address: str | Connection | None,
    collection: str | None,
    *,
    create: bool,
    heap: str | None,
    ca: str | Path | None,
    cert: str | Path | None,
    headers: Mapping[str, str] | None,
    proxy: str | None,
    plain_http: bool,
    patience: float | str,
    on_started: Callable[[str], None] | None,
) -> Collection:
    """Open the collection of an address, of $NEARDUP_SOLR_URL, or of the embedded Solr."""
    patience = in_seconds(patience, "patience")
    if collection is not None:
        require_name(collection)
    if isinstance(address, str):  # or another Solr than was meant would be changed
        step = "omit it for $NEARDUP_SOLR_URL or the embedded Solr"
        reason = f"`address` cannot be {address!r}"
        require(bool(address.strip()), reason, step, code="address-invalid")
    address = address or os.environ.get(ADDRESS)
    if address:
        access = Access(ca=ca, cert=cert, headers=headers or {}, proxy=proxy, plain_http=plain_http)
        target = _open(address, collection, access)
    else:
        target = _open_embedded(collection or NAME, heap, on_started)
    with target.session.outages.waited_for(patience):
        if create:
            _create(target)
        return target.with_names(target.kept_names())


def _open_embedded(
    collection: str, heap: str | None, on_started: Callable[[str], None] | None
) -> Collection:
    """Open a collection of the embedded Solr, which is started if it does not run."""
    from neardup_solr import embedded

    running = embedded.start(heap=heap, tell=on_started or embedded.to_stderr)
    if running.started_now and on_started is not None:
        on_started(f"Started the embedded Solr at {running.url} (data in {running.home})")
    access = Access(embedded=embedded.credentials(running))
    target = open_collection(running.url, collection, embedded=True, access=access)
    target.session.outages.revive = lambda: _revive(running.url, heap)
    return target


def _create(target: Collection) -> None:
    """Create a missing collection of the embedded Solr, and refuse to in another Solr."""
    from neardup_solr.files import solr_config
    from neardup_solr.solr import admin

    if admin.exists(target):
        return
    if not target.session.embedded:
        reason = f"{target.base} has no {target.name!r}, and `create` requires the embedded Solr"
        step = "omit it, and create the collection with nd.init(collection)"
        raise DataError(reason, step, code="collection-missing")
    admin.create(target, configset=solr_config() / "conf")


def connect_again(address: str, collection: str, *, patience: float) -> Collection:
    """Open a collection that another process has just reached: what is away will come back.

    It is waited for, at most `patience` seconds.

    Raises SolrUnreachable, or another SolrError, if it does not come back.
    """
    target = _open(address, collection, Access())
    target.session.assume_reachable()
    with target.session.outages.waited_for(patience):
        return target.with_names(target.kept_names())


def _open(address: str | Connection, collection: str | None, access: Access) -> Collection:
    """Open a collection at an address, and ask it nothing."""
    target = open_collection(address, collection or NAME, access=access)
    if collection not in (None, target.name):
        reason = f"the address names the collection {target.name!r}, but `collection` is"
        step = f"give the address without a collection: {target.base}"
        raise ArgumentError(f"{reason} {collection!r}", step, code="arguments-conflict")
    return target


def _revive(url: str, heap: str | None) -> None:
    """Start the embedded Solr again if it has ended. Raises ServerError if it cannot be."""
    from neardup_solr import embedded

    # At the same port: a Java that was killed may hold it a while longer.
    server = embedded.start(heap=heap, port=urlsplit(url).port)
    if server.url != url:
        reason = f"the embedded Solr is no longer at {url}"
        step = "run this again to use the Solr that is running now"
        raise ServerError(reason, step, code="solr-unreachable")
