"""Several embedded Solrs that make up one SolrCloud on this machine.

The first node runs ZooKeeper, too, at its port + 1,000. A node keeps its port for good: the cluster
knows its replicas by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

from neardup_solr.embedded import process, server
from neardup_solr.embedded.layout import Layout, recall
from neardup_solr.embedded.process import HOST, ask
from neardup_solr.embedded.server import READY_WITHIN, Server, Tell
from neardup_solr.errors import ArgumentError, ServerError

MOST_NODES = 16
FIRST_PORT = 19083  # beside those that a Solr of its own takes first
TRIED = 1_000  # ports that are looked at for a free one
ZOOKEEPER = 1_000  # above the port of the first node
# After so many milliseconds without a sign of a node its replicas count as gone, and others lead.
SESSION = "10000"
# Nodes speak HTTP/2 to each other unless told not to, which would need another jar.
_COMMON = {"solr.http1": "true", "zkClientTimeout": SESSION}


def places(place: Layout, count: int) -> list[Layout]:
    """The places of the nodes of a cloud."""
    return [replace(place, node=f"cloud/{number}") for number in range(1, count + 1)]


def find(place: Layout, count: int) -> Server | None:
    """The nodes of the cloud that run, if any does."""
    there = list(filter(None, map(server.find, places(place, count))))
    return _as_one(there) if there else None


def start(place: Layout, count: int, heap: str | None, port: int | None, tell: Tell) -> Server:
    """The cloud with all of its nodes, of which those that do not run are started.

    `port` is that of the first node, and those after it are of the others; nodes that were started
    before keep theirs, and their heap if none is given. `tell` gets a line about another node that
    cannot be started.

    Raises ArgumentError if there can be no such port, ServerError if the first node cannot be
    started.
    """
    nodes = places(place, count)
    ports = choose_ports(nodes, port)
    zookeeper = ports[0] + ZOOKEEPER
    roles = [{"zkRun": ""}] + [{"zkHost": f"{HOST}:{zookeeper}"}] * (count - 1)

    def up(number: int) -> Server:
        node = nodes[number]
        if there := server.find(node) or server.adopt(node, tell):
            return there
        free = partial(_free, ports[number], number + 1, zookeeper if number == 0 else None)
        own = heap or recall(node).heap or process.heap_size(None)
        return server.launch(node, own, free, tell, properties=_COMMON | roles[number])

    first = up(0)

    def start_if_possible(number: int) -> Server | None:
        try:
            return up(number)
        except ServerError as error:
            tell(f"Node {number + 1} does not run: {error}")
            return None

    with ThreadPoolExecutor(max_workers=max(1, count - 1)) as pool:
        others = list(pool.map(start_if_possible, range(1, count)))
    running = [first, *filter(None, others)]
    _wait_until_joined(running)
    return _as_one(running)


def stop(place: Layout, count: int, timeout: float) -> bool:
    """Stop all nodes, the one with ZooKeeper last. True if there was one."""
    nodes = places(place, count)
    with ThreadPoolExecutor(max_workers=count) as pool:
        others = list(pool.map(lambda node: server.stop(node, timeout), nodes[1:]))
    return server.stop(nodes[0], timeout) or any(others)


def _as_one(nodes: Sequence[Server]) -> Server:
    """A cloud as a server: that of its first node, with the addresses of all."""
    return replace(
        nodes[0],
        nodes=tuple(node.url for node in nodes),
        started_now=any(node.started_now for node in nodes),
    )


def choose_ports(nodes: Sequence[Layout], asked: int | None) -> list[int]:
    """Choose a port for each node: the one it has, or else a free one from `asked` on.

    Raises ArgumentError if there can be no such port, ServerError if it cannot be had.
    """
    if asked is not None and asked + ZOOKEEPER > 65_535:
        reason = f"`port` cannot be {asked}: ZooKeeper listens at that + {ZOOKEEPER:,}"
        raise ArgumentError(reason, f"give one up to {65_535 - ZOOKEEPER}")
    known = [recall(node).port for node in nodes]
    if known[0] and asked not in (None, known[0]):
        raise ServerError(
            f"the first node of the cloud keeps its port, {known[0]}",
            "leave `port` out, or begin anew: neardup solr reset",
        )
    for number, port in enumerate(known):
        if not port:
            least = (known[number - 1] + 1) if number else asked or FIRST_PORT
            known[number] = _next(least, is_first=number == 0, taken=known)
            if number == 0 and asked is not None and known[0] != asked:
                raise _taken(asked, 1, "name another `port`, or leave it out")
    return known


def _next(least: int, *, is_first: bool, taken: Sequence[int]) -> int:
    for port in range(least, min(least + TRIED, 65_536 - ZOOKEEPER)):
        with_zookeeper = not is_first or process.is_free(port + ZOOKEEPER)
        if port not in taken and process.is_free(port) and with_zookeeper:
            return port
    raise ServerError("there is no free port for a node", "name one by `port`")


def _free(port: int, number: int, zookeeper: int | None) -> int:
    """The port of a node, once it is free."""
    for each in filter(None, (port, zookeeper)):
        if not process.is_soon_free(each):
            raise _taken(each, number, "end that program, then start the cloud again")
    return port


def _taken(port: int, number: int, next_step: str) -> ServerError:
    return ServerError(f"port {port} of node {number} is taken by another program", next_step)


def _wait_until_joined(nodes: Sequence[Server]) -> None:
    """Return once the cluster counts all nodes among those that live."""
    wanted = {f"{HOST}:{node.port}_solr" for node in nodes}

    def all_live() -> bool:
        path = "/solr/admin/collections?action=CLUSTERSTATUS&wt=json"
        told = ask(nodes[0].port, path) or {}
        return wanted <= set(told.get("cluster", {}).get("live_nodes", ()))

    if not process.wait_until(all_live, READY_WITHIN, 0.1):
        raise ServerError(
            f"the cluster did not see all of its nodes within {READY_WITHIN:.0f} seconds",
            "see the reason in: neardup solr logs",
        )


def collections(of: Server) -> dict[str, int] | None:
    """Count the documents of each collection, by its name. None if the cloud does not answer.

    One that cannot be searched now counts as -1.
    """
    told = ask(of.port, "/solr/admin/collections?action=LIST&wt=json", 30)
    if told is None:
        return None
    counts: dict[str, int] = {}
    for name in sorted(told["collections"]):
        found = ask(of.port, f"/solr/{name}/select?q=*:*&rows=0&wt=json", 30)
        counts[name] = -1 if found is None else found["response"]["numFound"]
    return counts
