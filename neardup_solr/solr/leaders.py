"""The leaders of a collection's shards, to which documents are sent without a detour.

A node that gets a document of another shard passes it on, one by one. That costs time and the
version that the document got, so documents go straight to the leader of their shard. Where that
fails, they go to any node, as Solr does right whatever we believe.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from neardup_solr.solr.cluster import Cluster, cluster_of

if TYPE_CHECKING:
    from neardup_solr.solr.session import CheckedSession

LASTS = 10.0  # seconds until the cluster is asked anew: a leader may have changed


@dataclass(slots=True)
class Leaders:
    """What is known of the leaders of the collection `name` of the Solr at `base`."""

    session: CheckedSession
    base: str
    name: str
    _cluster: Cluster | None = None
    _asked: float = field(default=-LASTS)

    def learn(self) -> None:
        """Learn whether the server is a cloud, and by which nodes it can be reached."""
        cluster = self._ask()
        self.session.nodes.is_cloud = cluster is not None
        if cluster is not None:
            self.session.nodes.learn(cluster.nodes)

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

    def forget(self) -> None:
        """Ask for the leaders anew next time: one of them did not answer."""
        self._asked = -LASTS

    def _ask(self) -> Cluster | None:
        self._cluster = cluster_of(self.session, self.base, self.name)
        self._asked = time.monotonic()
        return self._cluster
