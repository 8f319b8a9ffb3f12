"""A SolrCloud: a collection's shards and replicas."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from neardup_solr.arguments import require
from neardup_solr.errors import SettingsError, SolrError, counted
from neardup_solr.solr.responses import answer

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
class SolrCluster:
    """The addresses of the live nodes of a SolrCloud, and the active shards of a collection.

    `alias_of` are the collections that its name stands for if that is an alias. `misplacing` is
    what lets one id get into several shards, if anything does. `beside` are the other collections
    with the same schema, as far as they were asked for, and `inactive` are replicas that do not
    serve.
    """

    nodes: tuple[str, ...] = ()
    shards: tuple[Shard, ...] = ()
    alias_of: tuple[str, ...] = ()
    misplacing: str = ""
    beside: tuple[str, ...] = ()
    is_read_only: bool = False
    inactive: tuple[str, ...] = ()

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

    def require_one(self) -> None:
        """Refuse an alias of several collections, by SettingsError."""
        if len(self.alias_of) > 1:
            raise SettingsError(f"{', '.join(self.alias_of)}: {SEVERAL}", NAME_ONE)

    def require_placed(self, name: str, replicas: int) -> None:
        """Refuse a collection in which one id can get into several shards, by SettingsError.

        Raises ArgumentError if its shards do not have so many replicas.
        """
        self.require_one()
        if self.misplacing:
            reason = f"the collection {name!r} has {self.misplacing}"
            step = "take one with the usual router, as neardup init creates (or annotate --into)"
            raise SettingsError(reason, step)
        least = min((shard.size for shard in self.shards), default=1)
        has = counted(least, "replica")
        reason = f"`min_replicas` cannot be {replicas}: a shard of {name!r} has {has}"
        require(replicas <= least, reason, "give fewer, or add replicas")


def require_single(**numbers: int) -> None:
    """Refuse more than one shard or replica of a Solr that is not in cloud mode."""
    for name, number in numbers.items():
        reason = f"`{name}` cannot be {number}: this Solr is not in cloud mode"
        step = "leave it out, or use a SolrCloud"
        require(number == 1, reason, step)


def cluster_of(session: CheckedSession, base: str, collection: str) -> SolrCluster:
    """Ask the Solr at `base` for its cluster, an empty one if it does not tell."""
    params = {"action": "CLUSTERSTATUS", "collection": collection}
    try:
        url = f"{base}/admin/collections"
        told = answer(session.once("GET", url, seconds=STATUS_SECONDS, params=params))
    except SolrError:
        return SolrCluster()  # then everything goes to the address that was given
    return parse_cluster(told.get("cluster"), collection, urlsplit(base).scheme)


def parse_cluster(told: Any, name: str, scheme: str) -> SolrCluster:
    """Parse a CLUSTERSTATUS response, to an empty cluster if Solr is not in cloud mode."""
    try:
        live = frozenset(one for one in told.get("live_nodes", ()) if isinstance(one, str))
        meant = _alias_of(told.get("aliases") or {}, name)
        listed = told.get("collections") or {}
        one = listed.get(next(iter(meant), name)) or {}
        if not one and len(listed) == 1:
            [one] = listed.values()
        shards = one.get("shards", {})
        own = one.get("configName")
        same = (each for each, other in listed.items() if own and other.get("configName") == own)
        return SolrCluster(
            nodes=tuple(f"{scheme}://{address_of(node)}" for node in sorted(live)),
            shards=() if len(meant) > 1 else tuple(_shards(shards, live)),
            alias_of=meant,
            misplacing=placement_problem(one.get("router") or {}),
            beside=tuple(sorted({*same} - {*meant, name})),
            is_read_only=str(one.get("readOnly", "")).lower() == "true",
            inactive=tuple(
                f"{shard}/{each} ({replica.get('state')})"
                for shard, described in sorted(shards.items())
                for each, replica in sorted(described.get("replicas", {}).items())
                if replica.get("state") != ACTIVE
            ),
        )
    except (AttributeError, KeyError, TypeError):
        return SolrCluster()


def _alias_of(aliases: Mapping[str, str], name: str) -> tuple[str, ...]:
    """List the collections that an alias, or an alias of aliases, stands for."""
    rest = {each: named for each, named in aliases.items() if each != name}
    named = (part.strip() for part in aliases.get(name, "").split(","))
    return tuple(meant for each in named if each for meant in _alias_of(rest, each) or (each,))


def placement_problem(router: Mapping[str, Any]) -> str:
    """Say what of a router lets documents of one id get into several shards, if anything does."""
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


def _shards(shards: Mapping[str, Any], live: frozenset[str]) -> Iterator[Shard]:
    for name, shard in shards.items():
        if shard.get("state") != ACTIVE:
            continue
        replicas = shard.get("replicas", {}).values()
        serving = {
            f"{one['base_url']}/{one['core']}": one.get("leader")
            for one in replicas
            if one.get("state") == ACTIVE and one.get("node_name") in live
        }
        yield Shard(
            name=name,
            leader=next(filter(serving.get, serving), None),
            replicas=tuple(serving),
            size=len(replicas),
        )


def address_of(node: str) -> str:
    """The address of a node by its name in the cluster, such as host:8983_solr."""
    place, _, context = node.partition("_")
    return f"{place}/{unquote(context)}"
