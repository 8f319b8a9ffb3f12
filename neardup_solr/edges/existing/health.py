"""How a server and a collection on it fare: memory, disk, deleted documents, replicas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from neardup_solr.edges.client import Solr
from neardup_solr.edges.existing import probing
from neardup_solr.edges.http.answers import answer
from neardup_solr.pure.errors import SolrError, SolrUnreachable

_HEAP, _DISK = "solr.jvm:memory.heap.usage", "solr.node:CONTAINER.fs.usableSpace"
_DELETED, _LARGEST, _LOG = "SEARCHER.searcher.deletedDocs", "SEARCHER.searcher.maxDoc", "TLOG.state"
_REPLAYING = (1, 2)  # applying what was buffered, replaying what a crash left


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What a server tells of itself; None where it does not.

    `heap` is the share of Java's memory in use, 0 to 1; `disk` the bytes that are free; `deleted`
    the share of the index that deleted documents take; `replaying` whether the update log is still
    being replayed; `inactive` are replicas that do not serve.
    """

    heap: float | None = None
    disk: int | None = None
    deleted: float | None = None
    replaying: bool | None = None
    inactive: tuple[str, ...] = ()


def health(solr: Solr) -> Health:
    """Ask a server how it and this collection fare; raises SolrUnreachable where none answers."""
    core = f"solr.core.{solr.core}:"
    keys = [_HEAP, _DISK, *(core + name for name in (_DELETED, _LARGEST, _LOG))]
    try:
        response = solr.session.get(f"{solr.base}/admin/metrics", params={"key": keys})
        found = answer(response, {"metrics": dict})["metrics"]
    except SolrUnreachable:
        raise
    except SolrError:
        found = {}  # a door that is shut
    deleted, largest, state = (found.get(core + name) for name in (_DELETED, _LARGEST, _LOG))
    return Health(
        heap=found.get(_HEAP),
        disk=found.get(_DISK),
        deleted=deleted / largest if deleted is not None and largest else None,
        replaying=None if state is None else state in _REPLAYING,
        inactive=_inactive(probing.described(probing.cluster(solr), solr.core)),
    )


def _inactive(collection: dict[str, Any]) -> tuple[str, ...]:
    return tuple(
        f"{shard}/{name} ({replica.get('state')})"
        for shard, described in sorted(collection.get("shards", {}).items())
        for name, replica in sorted(described.get("replicas", {}).items())
        if replica.get("state") != "active"
    )
