"""The leaders of a collection's shards, to which documents are sent without a detour.

A node that gets a document of another shard passes it on, one by one. That costs time and the
version that the document got, so documents go straight to the leader of their shard. Where that
fails, they go to any node, as Solr does right whatever we believe.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from neardup_solr.arguments import require
from neardup_solr.errors import SettingsError, SolrUnreachable
from neardup_solr.sizes import counted
from neardup_solr.solr.cluster import NAME_ONE, SEVERAL, Cluster, cluster_of

if TYPE_CHECKING:
    from neardup_solr.solr.session import CheckedSession

LASTS = 10.0  # seconds until the cluster is asked anew: a leader may have changed


@dataclass
class Leaders:
    """What is known of the leaders of the collection `name` of the Solr at `base`."""

    session: CheckedSession
    base: str
    name: str
    _cluster: Cluster | None = None
    _asked: float = field(default=-LASTS)

    def learn(self) -> None:
        """Learn the nodes of a server that has said that it is one of a cloud."""
        self.session.nodes.is_cloud = True
        self._ask()

    def places(self, ids: Sequence[str]) -> dict[str, list[int]] | None:
        """The places of ids by the leader they go to; None if they may go to any node."""
        if not self.session.nodes.is_cloud:
            return None
        if time.monotonic() - self._asked > LASTS:
            self._ask()
        cluster = self._cluster
        # Where the cluster calls its nodes by other names, such as those inside of containers, they
        # may not be found from here.
        if cluster is None or self.base not in cluster.nodes:
            return None
        found = cluster.leaders(ids)
        if found is None or not all(map(self.session.nodes.may_have, found)):
            return None
        return found

    def require(self, replicas: int) -> None:
        """Refuse a collection in which Solr cannot know where our documents belong.

        Raises SettingsError, and ArgumentError if the shards do not have so many replicas.
        """
        cluster = self.require_one()
        if cluster is None and replicas > 1 and self.session.nodes.is_cloud is not False:
            reason = f"the cluster does not tell of the replicas of {self.name!r}"
            raise SettingsError(reason, "let this user read the cluster status, or leave"
                                " `min_replicas` out")  # fmt: skip
        if cluster is not None and cluster.misplacing:
            reason = f"the collection {self.name!r} has {cluster.misplacing}"
            step = "take one with the usual router, as neardup init creates (or annotate --into)"
            raise SettingsError(reason, step)
        least = min((shard.size for shard in cluster.shards), default=1) if cluster else 1
        there = counted(least, "replica")
        require(
            replicas <= least,
            f"`min_replicas` cannot be {replicas}: a shard of {self.name!r} has {there}",
            "give fewer, or add replicas",
        )

    def require_one(self) -> Cluster | None:
        """Refuse an alias of several collections, by SettingsError; what the cluster tells."""
        if self.session.nodes.is_cloud is False:
            return None
        cluster = self._ask()  # also if nobody has asked yet whether it is one
        if cluster is not None and cluster.several:
            raise SettingsError(f"{', '.join(cluster.several)}: {SEVERAL}", NAME_ONE)
        return cluster

    def shards(self) -> list[str]:
        """The names of the shards; none if the server is no cloud, or does not tell."""
        cluster = self._ask() if self.session.nodes.is_cloud is not False else None
        return [shard.name for shard in cluster.shards] if cluster is not None else []

    def sizes(self) -> tuple[int, int] | None:
        """How many shards there are, and replicas of each; None if the server does not tell."""
        cluster = self._ask() if self.session.nodes.is_cloud is not False else None
        if cluster is None or not cluster.shards:
            return None
        return len(cluster.shards), min(shard.size for shard in cluster.shards)

    def nodes(self) -> int:
        """How many nodes live; 1 if the server is no cloud, or does not tell."""
        cluster = self._ask() if self.session.nodes.is_cloud is not False else None
        return 1 if cluster is None else len(cluster.nodes)

    def replica_of(self, name: str) -> str:
        """The address of a replica of a shard; what is no name of one is an address.

        Raises SolrUnreachable if none can serve.
        """
        if "://" in name:
            return name
        cluster = self._ask()
        found = [shard for shard in cluster.shards if shard.name == name] if cluster else []
        replicas = [one for shard in found for one in shard.replicas]
        if not replicas:
            raise SolrUnreachable(f"{self.base}/{self.name}", f"no replica of {name!r} answers")
        return random.choice(replicas)

    def copies(
        self, required: Mapping[str, int], has: Callable[[str], Mapping[str, int] | None]
    ) -> int | None:
        """How many replicas of a shard have its documents in the versions that are required.

        `has` tells the versions of the documents that a replica has, by its address; None if it
        does not answer. It is the smallest number over all shards, 0 if the leaders lack one; None
        if the cluster does not tell.
        """
        cluster = self._ask()
        if cluster is None or not cluster.shards:
            return None
        least, there = [], set[str]()
        for shard in cluster.shards:
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

    def forget(self) -> None:
        """Ask for the leaders anew next time: one of them did not answer."""
        self._asked = -LASTS

    def _ask(self) -> Cluster | None:
        self._cluster = cluster_of(self.session, self.base, self.name)
        self._asked = time.monotonic()
        if self._cluster is not None:
            self.session.nodes.learn(self._cluster.nodes)
        return self._cluster
