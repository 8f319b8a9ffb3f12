"""What the nodes of a SolrCloud say while others are away, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

KEEPER_AWAY = "ZooKeeper is away"
# How a node begins what it says while it has no ZooKeeper, and what it names as the cause.
_NO_KEEPER = (
    "Cannot talk to ZooKeeper",
    "KeeperErrorCode = Session expired",
    "KeeperErrorCode = ConnectionLoss",
)
_KEEPER_LOST = (
    "org.apache.zookeeper.KeeperException$SessionExpiredException",
    "org.apache.zookeeper.KeeperException$ConnectionLossException",
)
_SHARD = re.compile(r"servers hosting shard: (?P<shard>[\w.-]+)")
_LEADER = re.compile(r"(?P<said>No registered leader was found).*?slice: (?P<shard>[\w.-]+)", re.S)
_PROXY = re.compile(r"(?P<said>Error trying to proxy request for url: \S+)")
_AGAIN = ", then run it again"


def explained(
    said: str, url: str, *, without_keeper: bool = False, embedded: bool = False
) -> tuple[str, str] | None:
    """Why Solr cannot do it, before what it said itself, and the next step; None if it is unknown.

    `without_keeper` tells that the node does not reach its ZooKeeper.
    """
    start = "start it with: neardup solr start" if embedded else ""
    if without_keeper or is_without_keeper(said):
        return f"{KEEPER_AWAY} (Solr says: {said.rstrip('.')})", (start or "start it") + _AGAIN
    name = url.partition("/solr/")[2].partition("/")[0]
    of = f" of {name!r}" if name and name != "admin" else ""
    if found := _SHARD.search(said):
        reason = f"no replica of {found['shard']}{of} answers (Solr says: {said})"
    elif found := _LEADER.search(said):
        reason = f"{found['shard']}{of} has no leader (Solr says: {found['said']})"
    elif found := _PROXY.search(said):
        reason = f"no replica{of} answers (Solr says: {found['said']})"
    else:
        return None
    return reason, (start or "start its node") + _AGAIN


def is_without_keeper(said: str, status: int = 0, header: Any = None, error: Any = None) -> bool:
    """Whether an error comes from a node that does not reach its ZooKeeper.

    Solr's words are looked at, and in an answer its `responseHeader` and its `error`.
    """
    is_fault = status >= 500 and isinstance(header, Mapping) and header.get("zkConnected") is False
    causes = str(error.get("metadata")) if isinstance(error, Mapping) else ""
    is_cause = any(sign in causes for sign in _KEEPER_LOST)
    return is_fault or is_cause or said.startswith(_NO_KEEPER)
