"""connect and init: which Solr a verb talks to, and the core that it needs there."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace

from neardup_solr.edges import admin, client, server
from neardup_solr.edges.client import Solr
from neardup_solr.edges.solr_config import solr_config
from neardup_solr.pure.config import ALL_FIELDS

ADDRESS = "NEARDUP_SOLR_URL"
CORE = "neardup"


def connect(
    address: str | None = None,
    *,
    core: str = CORE,
    heap: str | None = None,
    on_started: Callable[[str], None] | None = None,
) -> Solr:
    """The Solr to work with: the one at `address`, at $NEARDUP_SOLR_URL, or the embedded one.

    The embedded Solr is started where it does not run yet (with `heap`, such as "2g"), and its
    core is created where it is missing; `on_started` gets one line that says so.

    Raises SolrUnreachable where the address is none, ServerError where the embedded Solr cannot
    be fetched or started.
    """
    address = address or os.environ.get(ADDRESS)
    if address:
        return client.connect(address, core)
    running = server.start(heap=heap)
    if running.started_now and on_started is not None:
        on_started(f"Started the embedded Solr at {running.url} (data in {running.home})")
    embedded = client.connect(running.url, core)
    if not admin.exists(embedded):
        admin.create(embedded, configset=solr_config() / "conf")
    return embedded


def init(solr: Solr, *, shards: int = 1) -> bool:
    """Create the core or collection with all fields; True if it was not there before.

    A core that is there already is only checked for the fields.

    Raises SchemaError where it lacks fields, SolrError where the server refuses.
    """
    solr = replace(solr, retry=client.ONCE)
    created = not admin.exists(solr)
    if created:
        admin.create(solr, configset=solr_config() / "conf", shards=shards)
    solr.require_fields(ALL_FIELDS)
    return created
