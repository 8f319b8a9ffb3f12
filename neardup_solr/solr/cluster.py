"""A SolrCloud as it describes itself: its nodes, a collection's shards, and their replicas."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from neardup_solr.arguments import require
from neardup_solr.errors import SettingsError, SolrError
from neardup_solr.sizes import counted
from neardup_solr.solr.answers import answer

if TYPE_CHECKING:
    from neardup_solr.solr.session import CheckedSession

IMPLICIT = "implicit"
ACTIVE = "active"
STATUS_SECONDS = 10.0  # for what can be done without
SEVERAL = "the name is an alias of several collections, and all updates would go to the first"
NAME_ONE = "name one of the collections"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """A shard: the addresses of its leader and its replicas.

    `leader` is None while there is none; `replicas` are the addresses of those that can serve, the
    leader among them; `size` counts the others, too.
    """

    name: str
    leader: str | None
    replicas: tuple[str, ...]
    size: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """The addresses of the live nodes of a SolrCloud, and the active shards of a collection.

    `misplacing` is what lets one id get into several shards, if anything does. `several` are the
    collections of an alias that stands for more than one.
    """

    nodes: tuple[str, ...]
    shards: tuple[Shard, ...] = ()
    misplacing: str = ""
    several: tuple[str, ...] = ()

    def replicas_of(self, shard: str) -> tuple[str, ...]:
        """The addresses of the replicas of a shard that can serve."""
        return next((one.replicas for one in self.shards if one.name == shard), ())

    def copies(
        self, required: Mapping[str, int], has: Callable[[str], Mapping[str, int] | None]
    ) -> int | None:
        """Count the replicas of a shard that have its documents in the versions required.

        `has` gives the versions of the documents that a replica has, by its address; None if it
        does not answer. It is the smallest number over all shards, 0 if the leaders lack one; None
        if the cluster does not tell.
        """
        if not self.shards:
            return None
        least, there = [], set[str]()
        for shard in self.shards:
            of_leader = has(shard.leader) if shard.leader is not None else None
            if of_leader is None:
                return 0
            own = {id for id, version in of_leader.items() if version >= required[id]}
            there |= own
            found = [has(one) or {} for one in shard.replicas if one != shard.leader]
            least.append(
                1 + sum(all(one.get(id, -1) >= required[id] for id in own) for one in found)
            )
        return min(least) if len(there) == len(required) else 0


def require_one(cluster: Cluster | None) -> None:
    """Refuse an alias of several collections, by SettingsError."""
    if cluster is not None and cluster.several:
        raise SettingsError(f"{', '.join(cluster.several)}: {SEVERAL}", NAME_ONE)


def require_placed(cluster: Cluster | None, name: str, replicas: int) -> None:
    """Refuse a collection in which one id can get into several shards, by SettingsError.

    Raises ArgumentError if its shards do not have so many replicas.
    """
    require_one(cluster)
    if cluster is not None and cluster.misplacing:
        reason = f"the collection {name!r} has {cluster.misplacing}"
        step = "take one with the usual router, as neardup init creates (or annotate --into)"
        raise SettingsError(reason, step)
    least = min((shard.size for shard in cluster.shards), default=1) if cluster else 1
    require(
        replicas <= least,
        f"`min_replicas` cannot be {replicas}: a shard of {name!r} has {counted(least, 'replica')}",
        "give fewer, or add replicas",
    )


def cluster_of(session: CheckedSession, base: str, collection: str) -> Cluster | None:
    """What the Solr at `base` tells of its cluster; None if it is none, or does not tell."""
    params = {"action": "CLUSTERSTATUS", "collection": collection}
    try:
        url = f"{base}/admin/collections"
        told = answer(session.once("GET", url, seconds=STATUS_SECONDS, params=params))
        return understood(told.get("cluster"), collection, urlsplit(base).scheme)
    except (SolrError, AttributeError, KeyError, TypeError):
        return None  # then everything goes to the address that was given


def understood(told: Any, collection: str, scheme: str) -> Cluster | None:
    """The cluster in an answer to CLUSTERSTATUS; None if it is none."""
    if not isinstance(told, Mapping):
        return None
    live = [one for one in told.get("live_nodes", ()) if isinstance(one, str)]
    nodes = tuple(f"{scheme}://{address_of(one)}" for one in live)
    collections = told.get("collections")
    listed = collections if isinstance(collections, Mapping) else {}
    meant = alias_of(told.get("aliases"), collection)
    several = meant if len(meant) > 1 else ()
    one = next(iter(listed.values()), None) if len(listed) == 1 else listed.get(collection)
    if several or not isinstance(one, Mapping):
        return Cluster(nodes=nodes, several=several)
    shards = tuple(_shards(one, frozenset(live)))
    router = one.get("router")
    router = router if isinstance(router, Mapping) else {}
    return Cluster(nodes=nodes, shards=shards, misplacing=misplacing(router))


def alias_of(aliases: Any, name: str) -> tuple[str, ...]:
    """The collections that an alias, or an alias of aliases, stands for; none if it is no alias."""
    rest = dict(aliases) if isinstance(aliases, Mapping) else {}
    named = str(rest.pop(name, ""))
    return tuple(
        meant
        for each in filter(None, (part.strip() for part in named.split(",")))
        for meant in alias_of(rest, each) or (each,)
    )


def misplacing(router: Mapping[str, Any]) -> str:
    """What of a router lets documents of one id get into several shards; "" if nothing does."""
    if field := router.get("field"):
        return (
            f"the router.field {field!r}: once its value changes, a document gets into another"
            " shard, and the old one stays"
        )
    if router.get("name") == IMPLICIT:
        return (
            f"the router {IMPLICIT!r}: the sender of a document has to choose its shard, and the"
            " same id could get into several"
        )
    return ""


def _shards(collection: Mapping[str, Any], live: frozenset[str]) -> Iterator[Shard]:
    for name, shard in collection.get("shards", {}).items():
        if shard.get("state") != ACTIVE:
            continue
        replicas = shard.get("replicas", {}).values()
        serving = [one for one in replicas
                   if one.get("state") == ACTIVE and one.get("node_name") in live]  # fmt: skip
        leaders = [_core(one) for one in serving if one.get("leader")]
        yield Shard(
            name=name,
            leader=leaders[0] if leaders else None,
            replicas=tuple(map(_core, serving)),
            size=len(replicas),
        )


def _core(replica: Mapping[str, Any]) -> str:
    return f"{replica['base_url']}/{replica['core']}"


def address_of(node: str) -> str:
    """The address of a node by its name in the cluster, such as host:8983_solr."""
    place, _, context = node.partition("_")
    return f"{place}/{unquote(context)}"
