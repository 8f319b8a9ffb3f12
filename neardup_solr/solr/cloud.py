"""A SolrCloud: its live nodes, and the shards and replicas of a collection."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from neardup_solr.checks import require
from neardup_solr.errors import DataError, SettingsError, SolrError, counted

IMPLICIT = "implicit"
ACTIVE = "active"
STATUS_SECONDS = 10.0  # for what can be done without
SEVERAL = "the name is an alias of several collections; all updates would go to the first"
NAME_ONE = "name one of the collections"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """A shard: the addresses of its leader and its replicas.

    `leader` is None while it has none; `replicas` are the addresses of those that can serve, the
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
    what lets an id get into several shards, if anything does. `beside` are the other collections
    with the same schema, as far as the status lists them, and `inactive` are replicas that do not
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
        does not answer. It is the smallest number over all shards, 0 if a leader lacks a document;
        None if the cluster does not tell.
        """
        if not self.shards:
            return None
        counts, present = [], set[str]()
        for shard in self.shards:
            of_leader = has(shard.leader) if shard.leader is not None else None
            if of_leader is None:
                return 0
            ids = {id for id, version in of_leader.items() if version >= required[id]}
            present |= ids
            others = [has(replica) or {} for replica in shard.replicas if replica != shard.leader]
            complete = (all(o.get(id, -1) >= required[id] for id in ids) for o in others)
            counts.append(1 + sum(complete))
        return min(counts) if len(present) == len(required) else 0

    def require_one(self) -> None:
        """Refuse an alias of several collections, by SettingsError."""
        if len(self.alias_of) > 1:
            reason = f"{', '.join(self.alias_of)}: {SEVERAL}"
            raise SettingsError(reason, NAME_ONE, code="collection-unfit")

    def require_placed(self, name: str, replicas: int) -> None:
        """Refuse a collection in which an id can get into several shards, by SettingsError.

        Raises DataError if its shards do not have so many replicas.
        """
        self.require_one()
        if self.misplacing:
            reason = f"the collection {name!r} has {self.misplacing}"
            step = "use a collection with the default router, as created by neardup init"
            raise SettingsError(reason, f"{step} (or annotate --into)", code="collection-unfit")
        least = min((shard.size for shard in self.shards), default=1)
        has = counted(least, "replica")
        reason = f"`min_replicas` cannot be {replicas}: a shard of {name!r} has only {has}"
        step = f"set it to {least}, or add replicas"
        require(replicas <= least, reason, step, DataError, code="argument-out-of-range")


def require_single(**numbers: int) -> None:
    """Refuse more than one shard or replica of a Solr that is not in cloud mode."""
    for name, number in numbers.items():
        reason = f"`{name}` cannot be {number}: this Solr is not in cloud mode"
        step = "leave it out, or use a SolrCloud"
        require(number == 1, reason, step, DataError, code="collection-unfit")


def cluster_of(once: Callable[..., dict[str, Any]], base: str, collection: str) -> SolrCluster:
    """Ask the Solr at `base` for its cluster by `once` of a session, empty if it does not tell."""
    params = {"action": "CLUSTERSTATUS", "collection": collection}
    try:
        url = f"{base}/admin/collections"
        decoded = once("GET", url, seconds=STATUS_SECONDS, params=params)
    except SolrError:
        return SolrCluster()  # then everything goes to the user's address
    return parse_cluster(decoded.get("cluster"), collection, urlsplit(base).scheme)


def parse_cluster(status: Any, name: str, scheme: str) -> SolrCluster:
    """Parse a CLUSTERSTATUS response, to an empty cluster if Solr is not in cloud mode."""
    try:
        live = frozenset(node for node in status.get("live_nodes", ()) if isinstance(node, str))
        members = _alias_of(status.get("aliases") or {}, name)
        listed = status.get("collections") or {}
        collection = listed.get(next(iter(members), name)) or {}
        if not collection and len(listed) == 1:
            [collection] = listed.values()
        shards, config = collection.get("shards", {}), collection.get("configName")
        same = {other for other, c in listed.items() if config and c.get("configName") == config}
        return SolrCluster(
            nodes=tuple(f"{scheme}://{address_of(node)}" for node in sorted(live)),
            shards=() if len(members) > 1 else tuple(_shards(shards, live)),
            alias_of=members,
            misplacing=placement_problem(collection.get("router") or {}),
            beside=tuple(sorted(same - {*members, name})),
            is_read_only=str(collection.get("readOnly", "")).lower() == "true",
            inactive=tuple(
                f"{shard}/{core} ({replica.get('state')})"
                for shard, described in sorted(shards.items())
                for core, replica in sorted(described.get("replicas", {}).items())
                if replica.get("state") != ACTIVE
            ),
        )
    except (AttributeError, KeyError, TypeError):
        return SolrCluster()


def _alias_of(aliases: Mapping[str, str], name: str) -> tuple[str, ...]:
    """List the collections that an alias, or an alias of aliases, stands for."""
    rest = {alias: members for alias, members in aliases.items() if alias != name}
    members = filter(None, map(str.strip, aliases.get(name, "").split(",")))
    return tuple(final for member in members for final in _alias_of(rest, member) or (member,))


def placement_problem(router: Mapping[str, Any]) -> str:
    """Say what of a router lets documents of one id get into several shards, if anything does."""
    if field := router.get("field"):
        after = "if its value changes, a document goes to a different shard, but the old one stays"
        return f"the router.field {field!r}: {after}"
    sender = "the sender of a document must choose its shard, so the same id could be in"
    is_implicit = router.get("name") == IMPLICIT
    return f"the router {IMPLICIT!r}: {sender} several" if is_implicit else ""


def _shards(shards: Mapping[str, Any], live: frozenset[str]) -> Iterator[Shard]:
    for name, shard in shards.items():
        if shard.get("state") != ACTIVE:
            continue
        replicas = shard.get("replicas", {}).values()
        serving = {
            f"{replica['base_url']}/{replica['core']}": replica.get("leader")
            for replica in replicas
            if replica.get("state") == ACTIVE and replica.get("node_name") in live
        }
        leader = next(filter(serving.get, serving), None)
        yield Shard(name=name, leader=leader, replicas=tuple(serving), size=len(replicas))


def address_of(node: str) -> str:
    """The address of a node by its name in the cluster, such as host:8983_solr."""
    place, _, context = node.partition("_")
    return f"{place}/{unquote(context)}"
