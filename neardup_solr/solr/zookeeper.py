"""The nodes of a SolrCloud by its ZooKeeper, by the package kazoo."""

from __future__ import annotations

import json
import logging
import socket
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from neardup_solr.errors import ArgumentError, SettingsError, SolrUnreachable
from neardup_solr.sizes import counted
from neardup_solr.solr.answers import cause
from neardup_solr.solr.cluster import address_of

SCHEME = "zk://"
SECONDS = 10.0
_EXAMPLE = "give one such as zk://host1:2181,host2:2181/solr"
_ROOTS = ("", "/solr")  # where Solr usually is
_NODES, _PROPERTIES = "/live_nodes", "/clusterprops.json"
# What it tells of its attempts, errors of ours say.
_QUIET = logging.getLogger("neardup_solr.zookeeper")
_QUIET.propagate = False
_QUIET.addHandler(logging.NullHandler())


def is_zookeeper(address: object) -> bool:
    """Whether an address is that of a ZooKeeper."""
    return isinstance(address, str) and address.startswith(SCHEME)


def nodes_at(address: str) -> list[str]:
    """The addresses of the live nodes of the SolrCloud at `zk://HOST:PORT,.../PATH`, in order.

    Raises ArgumentError if there can be no such address, SettingsError if the package kazoo is not
    installed, SolrUnreachable if no ZooKeeper answers or it knows no live node.
    """
    hosts, _, path = address.removeprefix(SCHEME).partition("/")
    if not hosts or "@" in hosts or "?" in address:
        raise ArgumentError(f"`address` cannot be {address!r}", _EXAMPLE)
    try:
        from kazoo.client import KazooClient
        from kazoo.exceptions import KazooException, NoNodeError
        from kazoo.handlers.threading import KazooTimeoutError
        from kazoo.hosts import collect_hosts
    except ModuleNotFoundError:
        reason = "an address of ZooKeeper needs the Python package kazoo"
        raise SettingsError(
            reason,
            'install it with: pip install "neardup-solr[zookeeper]", or give a node\'s address',
        ) from None
    try:
        client = KazooClient(hosts=hosts, timeout=SECONDS, read_only=True, logger=_QUIET)
    except ValueError as error:
        raise ArgumentError(f"`address` cannot be {address!r} ({error})", _EXAMPLE) from None
    root = f"/{path.strip('/')}" if path.strip("/") else ""
    _require_somebody(address, collect_hosts(hosts)[0])
    try:
        client.start(SECONDS)
        elsewhere = [other for other in _ROOTS if other != root and client.exists(other + _NODES)]
        live = client.get_children(root + _NODES)
        scheme = _scheme(client, root, NoNodeError)
    except KazooTimeoutError:
        reason = f"no ZooKeeper answers there within {counted(round(SECONDS), 'second')}"
        raise SolrUnreachable(address, reason) from None
    except NoNodeError:
        reason = f"that ZooKeeper knows no SolrCloud at {root or '/'}"
        step = f"name the path of Solr's own: {_EXAMPLE}"
        if elsewhere:
            step = f"it is at {SCHEME}{hosts}{elsewhere[0]}"
        raise SolrUnreachable(address, reason, step) from None
    except KazooException as error:
        reason = f"ZooKeeper does not answer ({type(error).__name__})"
        raise SolrUnreachable(address, reason) from None
    finally:
        with suppress(Exception):  # whatever its threads meet while they end
            client.stop()
            client.close()
    if not live:
        raise SolrUnreachable(address, "ZooKeeper knows no node of Solr that lives", "start one")
    return [f"{scheme}://{address_of(node)}" for node in sorted(live)]


def _require_somebody(address: str, places: Sequence[tuple[str, int]]) -> None:
    """Refuse places of which none takes a connection, for the reason of the first."""
    faults: list[OSError] = []
    for place in places:
        try:
            socket.create_connection(place, timeout=SECONDS).close()
        except TimeoutError:
            return  # which is told after waiting for an answer
        except OSError as error:
            faults.append(error)
        else:
            return
    host, port = places[0]
    raise SolrUnreachable(address, f"{host}:{port}: {cause(faults[0])}", "check the address")


def _scheme(client: Any, root: str, missing: type[Exception]) -> str:
    """http, or https if the cluster says so."""
    try:
        content, _ = client.get(root + _PROPERTIES)
        return str(json.loads(content or b"{}").get("urlScheme", "http"))
    except (missing, ValueError, AttributeError):
        return "http"
