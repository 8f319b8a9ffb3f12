"""What a SolrCloud tells of itself: its nodes, a collection's shards, and their leaders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from neardup_solr.errors import SolrError
from neardup_solr.solr.answers import answer
from neardup_solr.solr.routing import Range, hash_of

if TYPE_CHECKING:
    from neardup_solr.solr.session import CheckedSession

IMPLICIT = "implicit"
COMPOSITE = "compositeId"  # the router that all collections have unless they ask for another
ACTIVE = "active"
STATUS_SECONDS = 10.0  # for what can be done without
SEVERAL = "the name is an alias of several collections, and all updates would go to the first"
NAME_ONE = "name one of the collections"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """A shard: the hashes of its ids, the addresses of its leader and its replicas.

    `leader` is None while there is none; `range` is None if it has none; `replicas` are the
    addresses of those that can serve, the leader among them; `size` counts the others, too.
    """

    name: str
    range: Range | None
    leader: str | None
    replicas: tuple[str, ...]
    size: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """The addresses of the live nodes of a SolrCloud, and the active shards of a collection.

    `by_id` tells whether the id of a document decides about its shard, by its hash; `misplacing` is
    what lets one id get into several, if anything does. `several` are the collections of an alias
    that stands for more than one.
    """

    nodes: tuple[str, ...]
    shards: tuple[Shard, ...] = ()
    by_id: bool = False
    misplacing: str = ""
    several: tuple[str, ...] = ()

    def leaders(self, ids: Sequence[str]) -> dict[str, list[int]] | None:
        """The places of ids by the address of the leader of their shard; None if one is unknown."""
        if not self.by_id:
            return None
        found: dict[str, list[int]] = {}
        for place, id in enumerate(ids):
            hashed = hash_of(id)
            if hashed is None:
                return None
            shard = next((one for one in self.shards if one.range and hashed in one.range), None)
            if shard is None or shard.leader is None:
                return None
            found.setdefault(shard.leader, []).append(place)
        return found


def cluster_of(session: CheckedSession, base: str, collection: str) -> Cluster | None:
    """What the Solr at `base` tells of its cluster; None if it is none, or does not tell."""
    params = {"action": "CLUSTERSTATUS", "collection": collection}
    try:
        url = f"{base}/admin/collections"
        told = answer(session.once("GET", url, seconds=STATUS_SECONDS, params=params))
        return understood(told.get("cluster"), collection, urlsplit(base).scheme)
    except (SolrError, AttributeError, KeyError, TypeError):
        return None  # without that, everything goes to the address that was given


def understood(told: Any, collection: str, scheme: str) -> Cluster | None:
    """The cluster in an answer to CLUSTERSTATUS; None if it is none."""
    if not isinstance(told, Mapping):
        return None
    live = [one for one in told.get("live_nodes", ()) if isinstance(one, str)]
    nodes = tuple(f"{scheme}://{address_of(one)}" for one in live)
    collections = told.get("collections")
    listed = collections if isinstance(collections, Mapping) else {}
    is_alias = collection not in listed
    meant = alias_of(told.get("aliases"), collection)
    several = meant if len(meant) > 1 else ()
    one = next(iter(listed.values()), None) if len(listed) == 1 else listed.get(collection)
    if several or not isinstance(one, Mapping):
        return Cluster(nodes=nodes, several=several)
    shards = tuple(_shards(one, frozenset(live)))
    router = one.get("router")
    router = router if isinstance(router, Mapping) else {}
    return Cluster(
        nodes=nodes,
        shards=shards,
        # An alias may be a routed one, which looks at the documents itself.
        by_id=router.get("name") == COMPOSITE and not router.get("field") and not is_alias,
        misplacing=misplacing(router),
    )


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
            range=Range.of(shard.get("range")),
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
