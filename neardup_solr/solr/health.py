"""The health of a server and a collection: memory, disk, update log, replicas."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from neardup_solr.errors import SolrError, SolrUnreachable
from neardup_solr.solr.admin import Answer, ask, cluster, has_update_log, part, systems, versions_of
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.faults import KEEPER_AWAY
from neardup_solr.solr.metrics import SolrMetrics

T = TypeVar("T", int, float)


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """Health of a server as it tells it, with None for what it does not tell.

    `heap` is the share of Java's memory in use, 0 to 1; `disk` are the free bytes; `deleted` is the
    share of deleted documents in the index; `replaying` tells whether an update log is still
    being replayed; `inactive` are replicas that do not serve; `without_keeper` tells whether the
    ZooKeeper of a SolrCloud is away, as then it tells nothing of its replicas; `versions` are those
    of the nodes. Of the nodes of a SolrCloud, the worst counts.
    """

    heap: float | None = None
    disk: int | None = None
    deleted: float | None = None
    replaying: bool | None = None
    inactive: tuple[str, ...] = ()
    without_keeper: bool = False
    versions: tuple[str, ...] = ()

    @property
    def unknown(self) -> tuple[str, ...]:
        """Facts that the server does not tell, in words."""
        facts = {
            "Java's memory": self.heap,
            "the free disk space": self.disk,
            "the deleted documents": self.deleted,
            "the update log": self.replaying,
        }
        return tuple(name for name, value in facts.items() if value is None)


def read_health(collection: Collection) -> Health:
    """Ask for the health of a server and a collection. Raises SolrUnreachable if none answers."""
    of_nodes = cluster(collection)
    answers, metrics = systems(collection, of_nodes.nodes), _metrics(collection, of_nodes.nodes)
    names = of_nodes.alias_of or [collection.name]
    return Health(
        heap=_worst(max, map(_used_heap, answers)),
        disk=_worst(min, (each.find_disk(names) for each in metrics)),
        deleted=_measure_deleted(collection),
        replaying=_any_replay(collection, metrics, of_nodes.alias_of),
        inactive=of_nodes.inactive,
        versions=versions_of(answers),
        without_keeper=_is_without_keeper(collection),
    )


def is_replaying(collection: Collection) -> bool:
    """Return True if a node tells that it replays a log of the collection."""
    of_nodes = cluster(collection)
    metrics = _metrics(collection, of_nodes.nodes)
    return bool(_any_replay(collection, metrics, of_nodes.alias_of))


def _metrics(collection: Collection, nodes: Sequence[str]) -> list[SolrMetrics]:
    """Ask all nodes of a cloud, or the server without a cloud, for their metrics.

    Those that refuse or do not answer tell nothing.
    """
    metrics = []
    for base in nodes or (collection.base,):
        try:
            metrics.append(collection.session.metrics(base))
        except SolrError:
            metrics.append(SolrMetrics())
    return metrics


def _worst(worst: Callable[[list[T]], T], values: Iterable[T | None]) -> T | None:
    """Choose the worst value of all nodes, None if any is not known."""
    listed = list(values)
    numbers = [value for value in listed if value is not None]
    return worst(numbers) if numbers and len(numbers) == len(listed) else None


def _used_heap(system: Answer) -> float | None:
    """Read the share of Java's memory that is in use."""
    memory = part(system, "jvm/memory/raw")
    used, most = memory.get("used"), memory.get("max")
    return used / most if isinstance(used, int) and isinstance(most, int) and most > 0 else None


def _measure_deleted(collection: Collection) -> float | None:
    """Count the share of deleted documents in the index, of a replica of each shard."""
    deleted = documents = 0
    for shard in collection.shards():
        base, _, core = shard.rpartition("/")
        status = None
        with suppress(SolrUnreachable):
            status = ask(collection, f"{base}/admin/cores", {"action": "STATUS", "core": core})
        index = part(status, f"status/{core}/index")
        if not isinstance(index.get("deletedDocs"), int) or not isinstance(
            index.get("maxDoc"), int
        ):
            return None
        deleted += index["deletedDocs"]
        documents += index["maxDoc"]
    return deleted / max(1, documents)


def _any_replay(
    collection: Collection, metrics: Sequence[SolrMetrics], alias_of: Sequence[str]
) -> bool | None:
    """Return True if a node replays a log of the collection, None if no node tells of any."""
    each_state = [each.is_replaying(alias_of or [collection.name]) for each in metrics]
    states = [each for each in each_state if each is not None]
    if states:
        return any(states)
    return False if has_update_log(collection) is False else None


def _is_without_keeper(collection: Collection) -> bool:
    """Return True if a node of a SolrCloud says that it does not reach ZooKeeper."""
    urls = f"{collection.base}/admin/collections", f"{collection.url}/select"
    try:
        collection.session.once("GET", urls[0], params={"action": "CLUSTERSTATUS"})
        answer = collection.session.once("GET", urls[1], params={"q": "*:*", "rows": "0"})
    except SolrError as error:
        return KEEPER_AWAY in error.reason
    return answer["responseHeader"].get("zkConnected") is False
