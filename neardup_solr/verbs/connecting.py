"""connect and init: which Solr a verb talks to, and the core that it needs there."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace

from neardup_solr.edges import admin, client, server
from neardup_solr.edges.client import Solr
from neardup_solr.edges.existing import schema
from neardup_solr.edges.http.access import Access, from_environment
from neardup_solr.edges.http.session import Connection
from neardup_solr.edges.native import PROPERTIES, is_filled
from neardup_solr.edges.solr_config import solr_config
from neardup_solr.pure.config import ALL_FIELDS
from neardup_solr.pure.errors import SettingsError
from neardup_solr.pure.model import NOTHING
from neardup_solr.verbs.existing.preparing import prepare

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
) -> Solr:
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
        return _named(client.connect(address, core, access=access or from_environment()))
    client.require_name(core)
    running = server.start(heap=heap)
    if running.started_now and on_started is not None:
        on_started(f"Started the embedded Solr at {running.url} (data in {running.home})")
    embedded = client.connect(running.url, core, embedded=True)
    if create and not admin.exists(embedded):
        admin.create(embedded, configset=solr_config() / "conf")
    return _named(embedded)


def _named(solr: Solr) -> Solr:
    """The collection with the names that were kept in its schema, where it is there and has any."""
    return replace(solr, names=schema.remembered(solr))


def init(solr: Solr, *, name: str | None = None, shards: int = 1, native: bool = False) -> bool:
    """Create the core or collection with all fields; True if it was not there before.

    One that is there already gets what it lacks, as by `prepare`. `name` is what the user calls
    it, where the address may name another one. With `native` Solr also computes MinHashes of its
    own from every text, for clients that do not use this package.

    Raises SettingsError where it does, where the core is there without `native`, or as `prepare`
    does; SchemaError where fields are missing in a schema that is not managed; SolrError where the
    server refuses.
    """
    if name is not None:
        require_named(solr, name)
    created = not admin.exists(solr) and admin.create(
        solr,
        configset=solr_config() / "conf",
        shards=shards,
        properties=PROPERTIES if native else NOTHING,
    )
    if not created:
        solr = replace(solr, names=prepare(solr).names)
    solr.require_fields(ALL_FIELDS)
    if native and not is_filled(solr):
        raise SettingsError(
            f"the collection {solr.core!r} is there, without native MinHashes",
            "create another one, or see docs/native.md for one of yours",
        )
    return created


def require_named(solr: Solr, name: str) -> None:
    """Refuse an address that names another core than the user does, by SettingsError."""
    if name != solr.core:
        raise SettingsError(
            f"the address names the core {solr.core!r}, and {name!r} was asked for",
            f"give the address without a core: {solr.base}",
        )
