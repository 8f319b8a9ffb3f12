"""connect: which Solr a verb talks to."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace

from neardup_solr.errors import SettingsError
from neardup_solr.solr.collection import Collection, open_collection, require_name
from neardup_solr.solr.session import Access, Connection, from_environment

ADDRESS = "NEARDUP_SOLR_URL"
CORE = "neardup"


def connect(
    address: str | Connection | None = None,
    *,
    core: str = CORE,
    heap: str | None = None,
    create: bool = False,
    access: Access | None = None,
    on_started: Callable[[str], None] | None = None,
) -> Collection:
    """The Solr to work with: the one at `address`, at $NEARDUP_SOLR_URL, or the embedded one.

    Instead of an address, a `pysolr.Solr`: the collection is its own, and its session goes on
    sending the requests, with all that was set there. `access` says how a Solr of yours is reached
    otherwise (default: with the headers of $NEARDUP_SOLR_HEADERS). The embedded Solr is started
    where it does not run yet (with `heap`, such as "2g"); `on_started` gets one line that says so.
    With `create` its core is created where it is missing. In a Solr of yours only `init` creates
    one.

    Raises SolrUnreachable where the address is none, SettingsError where no core can have that
    name or the CA file is missing, ServerError where the embedded Solr cannot be fetched or
    started.
    """
    address = address or os.environ.get(ADDRESS)
    if address:
        return _named(open_collection(address, core, access=access or from_environment()))
    require_name(core)
    from neardup_solr import embedded

    running = embedded.start(heap=heap)
    if running.started_now and on_started is not None:
        on_started(f"Started the embedded Solr at {running.url} (data in {running.home})")
    target = open_collection(running.url, core, embedded=True)
    if create:
        from neardup_solr.files import solr_config
        from neardup_solr.solr import admin

        if not admin.exists(target):
            admin.create(target, configset=solr_config() / "conf")
    return _named(target)


def _named(collection: Collection) -> Collection:
    """The collection with the names that were kept in its schema, where it is there and has any."""
    return replace(collection, names=collection.kept_names())


def require_named(collection: Collection, name: str) -> None:
    """Refuse an address that names another core than the user does, by SettingsError."""
    if name != collection.name:
        raise SettingsError(
            f"the address names the core {collection.name!r}, and {name!r} was asked for",
            f"give the address without a core: {collection.base}",
        )
