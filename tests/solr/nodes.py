"""A SolrCloud of several nodes on this machine, from the embedded server's jars.

The first node runs ZooKeeper, too, at its port + 1,000. A node keeps its port for good: the cluster
knows its replicas by it.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from neardup_solr import embedded
from neardup_solr.embedded import READY_WITHIN, Server, Tell, jars, layout, process
from neardup_solr.embedded.layout import Layout, recall, remember
from neardup_solr.embedded.process import HOST, ask
from neardup_solr.errors import ServerError
from neardup_solr.files import solr_config
from neardup_solr.progress import until

SETTINGS = Path(__file__).parent / "cloud_settings"
FIRST_PORT = 19083  # beside those that a Solr of its own takes first
TRIED = 1_000  # ports that are looked at for a free one
ZOOKEEPER = 1_000  # above the port of the first node
# After so many milliseconds without a sign of a node its replicas count as gone, and others lead.
SESSION = "10000"
# Nodes speak HTTP/2 to each other unless told not to, which would need another jar.
_COMMON = {"solr.http1": "true", "zkClientTimeout": SESSION}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cloud:
    """The addresses of the nodes that run, of which `url` and `port` are those of the first."""

    url: str
    port: int
    nodes: tuple[str, ...]


def places(place: Layout, count: int) -> list[Layout]:
    """The places of the nodes of a cloud."""
    return [replace(place, node=f"cloud/{number}") for number in range(1, count + 1)]


def start(place: Layout, count: int, heap: str, tell: Tell) -> Cloud:
    """The cloud with all of its nodes, of which those that do not run are started."""
    nodes = places(place, count)
    ports = choose_ports(nodes)
    zookeeper = ports[0] + ZOOKEEPER
    is_10 = place.version.startswith("10.")
    run = {"solr.zookeeper.server.enabled": "true"} if is_10 else {"zkRun": ""}
    roles = [run] + [{"zkHost": f"{HOST}:{zookeeper}"}] * (count - 1)

    def up(number: int) -> Server:
        node = nodes[number]
        if there := embedded.running(node) or embedded.adopt(node, tell):
            return there
        return _launch(node, heap, ports[number], tell, _COMMON | roles[number])

    first = up(0)
    with ThreadPoolExecutor(max_workers=max(1, count - 1)) as pool:
        running = [first, *pool.map(up, range(1, count))]
    _wait_until_joined(running)
    return Cloud(url=first.url, port=first.port, nodes=tuple(node.url for node in running))


def _launch(
    node: Layout, heap: str, port: int, tell: Tell, properties: Mapping[str, str]
) -> Server:
    """Start a node, as `embedded.start` starts a Solr of its own."""
    wanted = jars.read_lock(node.version)
    jars.install(node.jars, wanted, tell=tell)
    for pid in process.running_pids(node):
        process.end(pid, timeout=30)
    node.server.mkdir(mode=0o700, parents=True, exist_ok=True)
    embedded.prepare(node)
    shutil.copyfile(SETTINGS / "zoo.cfg", node.solr_home / "zoo.cfg")
    settings = (SETTINGS / "solr.xml").read_text("utf-8")
    known = re.sub(layout.RELEASES[node.version], "", settings, flags=re.DOTALL)
    (node.solr_home / "solr.xml").write_text(known, "utf-8")
    assert process.is_soon_free(port)
    java = process.find_java(node.version)
    words = process.command(
        node, port, java=java, heap=heap, settings=solr_config() / "server", properties=properties
    )
    pid = process.spawn(node, words, jars.class_path(node.jars, wanted))
    remember(node, replace(recall(node), port=port, heap=heap, pid=pid, started=""))
    started = embedded.adopt(node, tell)
    assert started is not None
    return started


def stop(place: Layout, count: int, timeout: float) -> bool:
    """Stop all nodes, the one with ZooKeeper last. True if there was one."""
    nodes = places(place, count)
    with ThreadPoolExecutor(max_workers=count) as pool:
        others = list(pool.map(lambda node: embedded.end(node, timeout), nodes[1:]))
    return embedded.end(nodes[0], timeout) or any(others)


def choose_ports(nodes: Sequence[Layout]) -> list[int]:
    """Choose a port for each node: the one it has, or else a free one."""
    known = [recall(node).port for node in nodes]
    for number, port in enumerate(known):
        if not port:
            least = (known[number - 1] + 1) if number else FIRST_PORT
            known[number] = _next(least, is_first=number == 0, taken=known)
    return known


def _next(least: int, *, is_first: bool, taken: Sequence[int]) -> int:
    for port in range(least, min(least + TRIED, 65_536 - ZOOKEEPER)):
        with_zookeeper = not is_first or process.is_free(port + ZOOKEEPER)
        if port not in taken and process.is_free(port) and with_zookeeper:
            return port
    raise ServerError("there is no free port for a node", "end other programs")


def _wait_until_joined(nodes: Sequence[Server]) -> None:
    """Return once the cluster counts all nodes among those that live."""
    wanted = {f"{HOST}:{node.port}_solr" for node in nodes}

    def all_live() -> bool:
        path = "/solr/admin/collections?action=CLUSTERSTATUS&wt=json"
        told = ask(nodes[0].port, path) or {}
        return wanted <= set(told.get("cluster", {}).get("live_nodes", ()))

    if not until(all_live, READY_WITHIN, 0.1):
        raise ServerError(
            f"the cluster did not see all of its nodes within {READY_WITHIN:.0f} seconds",
            "see the reason in: neardup solr logs",
        )


def collections(of: Cloud) -> dict[str, int]:
    """Count the documents of each collection, by its name."""
    told = ask(of.port, "/solr/admin/collections?action=LIST&wt=json", 30)
    assert told is not None
    counts = {}
    for name in sorted(told["collections"]):
        found = ask(of.port, f"/solr/{name}/select?q=*:*&rows=0&wt=json", 30)
        assert found is not None
        counts[name] = found["response"]["numFound"]
    return counts
