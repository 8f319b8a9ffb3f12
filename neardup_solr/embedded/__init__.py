"""A real Solr on this machine, without Docker and without an installed Java.

`start` is all that most callers need; `neardup solr` has a command for each of the others. There is
one at a time: a Solr of its own, or a SolrCloud of several nodes. Which of them, is remembered.
"""

from __future__ import annotations

import os
import shutil
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from neardup_solr.embedded import nodes, process, server
from neardup_solr.embedded.layout import SOLR_VERSION as SOLR_VERSION
from neardup_solr.embedded.layout import (
    Layout,
    auth_header,
    choose_password,
    layout,
    read_credentials,
    recall,
    remember,
    remember_version,
    require_version,
    writing,
)
from neardup_solr.embedded.process import CONSOLE, LOG, ask, heap_size
from neardup_solr.embedded.server import Server as Server
from neardup_solr.embedded.server import Tell, server_lock, to_stderr
from neardup_solr.errors import ArgumentError, ServerError, counted


def running() -> Server | None:
    """Find the running embedded Solr, or None. One that is still starting does not count.

    Reads the remembered state, looks at that one process and opens one connection: cheap enough
    for every command. Of a cloud, the nodes that run. Raises ServerError if one was started, and
    the extra `server` is not installed.
    """
    place = layout()
    size = _size(place)
    return nodes.find(place, size) if size else server.find(place)


def starting() -> Server | None:
    """The embedded Solr that was started but was not ready when it was last looked at, or None.

    So it is if its starter was interrupted; `start` waits for it.
    """
    return next(filter(None, map(server.find_starting, _places(layout()))), None)


def start(
    *,
    heap: str | None = None,
    port: int | None = None,
    password: bool | None = None,
    cloud: int | None = None,
    version: str | None = None,
    tell: Tell = to_stderr,
) -> Server:
    """The running embedded Solr, started if need be.

    `heap` is a size for Java such as "2g" (default: $NEARDUP_SOLR_HEAP, else 1g); `port` is one of
    127.0.0.1 (default: the last one used, else the first free one from 18983); with `password` it
    asks for a user and a password, which is generated and kept until a start with False (default:
    as before, at first none). `cloud` is the number of nodes of a SolrCloud, each with that heap;
    with 0 it is a Solr of its own (default: as before, at first 0). Both keep what is indexed in
    them; a cloud is started in the place of a single Solr, which is stopped. `version` is Solr's
    (default: as before, at first $NEARDUP_SOLR_VERSION, else 9.10.1), to try this package with one
    that others run, or an upgrade: each has a data folder of its own. A server that runs already
    keeps its own, but nodes of a cloud that have ended are started again. `tell` gets a
    line about what takes time or turns out otherwise. The first start downloads Solr (73 MB).

    Raises ArgumentError if there can be no such heap, port, cloud or version; ServerError if Solr
    cannot be downloaded or started, if another version runs, or a cloud would have to give up
    nodes.
    """
    size = heap_size(heap)
    if port is not None and not 0 < port < 65536:
        raise ArgumentError(f"`port` cannot be {port}", "give one between 1024 and 65535")
    if cloud is not None and not 0 <= cloud <= nodes.MOST_NODES:
        raise ArgumentError(f"`cloud` cannot be {cloud}", f"give 0 to {nodes.MOST_NODES} nodes")
    place = layout()
    if version is not None and require_version(version) != place.version:
        place = _change_version(place, version, tell)
    if cloud in (None, _size(place)) and (there := running()) and len(there.nodes) == _size(place):
        return there
    with server_lock(place, tell):
        count = _choose_size(place, cloud)
        if count:
            if heap is not None or count != _size(place):
                heap_size(heap, count)
            _require_open(place, password)
            nodes.choose_ports(nodes.places(place, count), port)  # or nothing is stopped
            if not _size(place) and server.stop(place, timeout=30.0):
                back = "neardup solr stop; neardup solr start --cloud 0"
                tell(f"The single Solr is stopped and keeps what it has; to return to it: {back}")
            started = nodes.start(place, count, size if heap else None, port, tell)
            _remember_size(place, count)
            return started
        if there := server.find(place) or server.adopt(place, tell):
            return there
        if password is not None:
            choose_password(place, asked=password)
        alone = server.launch(place, size, lambda: _port(place, port, tell), tell)
        _remember_size(place, 0)
        return alone


def _change_version(place: Layout, version: str, tell: Tell) -> Layout:
    """Use another version of Solr from now on, if none runs. Each has a folder of its own."""
    if any(any(process.running_pids(node)) for node in _places(place)):
        raise ServerError(f"Solr {place.version} runs", "stop it first: neardup solr stop")
    remember_version(version)
    if place.server.is_dir():
        back = f"neardup solr start --version {place.version}"
        tell(f"Solr {place.version} keeps what it has in {place.home}; to return to it: {back}")
    return layout()


def _require_open(place: Layout, password: bool | None) -> None:
    """Refuse a cloud in the place of a Solr that asks for a password, as it asks for none."""
    if password or (password is None and not _size(place) and place.password.is_file()):
        step = "leave `password` out"
        if not password:
            step = "if that is right, say so: neardup solr start --no-password --cloud N"
        raise ServerError("a cloud on this machine asks for no password", step)


def _remember_size(place: Layout, count: int) -> None:
    """Remember, once it runs, whether it is a cloud."""
    if _size(place) != count:
        remember(place, replace(recall(place), cloud=count))


def _size(place: Layout) -> int:
    """Count the nodes of the cloud, 0 for a single Solr."""
    return recall(place).cloud


def _places(place: Layout) -> list[Layout]:
    """Find the places of the servers: each node of a cloud, or the one Solr."""
    size = _size(place)
    return nodes.places(place, size) if size else [place]


def _choose_size(place: Layout, asked: int | None) -> int:
    """Decide the number of nodes from now on. Raise ServerError if it cannot change."""
    before = _size(place)
    if asked in (None, before):
        return before
    runs = any(any(process.running_pids(node)) for node in _places(place))
    there = _nodes_there(place)
    if asked and asked < there:
        reason = f"the cloud has {counted(there, 'node')}, and their documents"
        step = f"start all of them: neardup solr start --cloud {there}"
        # Of what runs, or ran last, `reset` deletes the documents.
        other = "; or delete them: neardup solr reset" if before else ""
        raise ServerError(reason, step + other)
    if runs and before > (asked or 0):
        reason = f"the embedded Solr runs as a cloud of {counted(before, 'node')}"
        raise ServerError(reason, "stop it first: neardup solr stop")
    return asked or 0


def _nodes_there(place: Layout) -> int:
    """Count the nodes that have a folder."""
    return sum(1 for _ in place.cloud.glob("[0-9]*"))


def _port(place: Layout, asked: int | None, tell: Tell) -> int:
    if asked is not None:
        if not process.is_free(asked):
            raise ServerError(
                f"port {asked} is taken by another program",
                "name another `port`, or leave it out",
            )
        return asked
    known = recall(place).port
    if known and process.is_soon_free(known):
        return known
    port = process.free_port()
    if known:
        tell(f"Port {known} is taken by another program; Solr uses {port} from now on")
    return port


def stop(*, timeout: float = 30.0, tell: Tell = to_stderr) -> bool:
    """Stop the embedded Solr. True if there was one.

    It gets `timeout` seconds to close its indexes, then it is killed. Cores and port stay.
    """
    place = layout()
    if not place.server.is_dir():
        return False
    with server_lock(place, tell):
        return _stop_all(place, timeout)


def _stop_all(place: Layout, timeout: float) -> bool:
    # Nodes may run without being remembered, if their start was interrupted.
    count = _nodes_there(place)
    was_cloud = nodes.stop(place, count, timeout) if count else False
    return server.stop(place, timeout) or was_cloud


def reset(*, tell: Tell = to_stderr) -> None:
    """Stop the embedded Solr and delete its cores, logs and remembered port.

    The jars stay, and so does a password. Of a cloud all nodes are deleted; what a Solr of its own
    has indexed stays, and that is started next.
    """
    place = layout()
    if not place.server.is_dir():
        return
    with server_lock(place, tell):
        _stop_all(place, timeout=30.0)
        state = recall(place)
        with writing(place.server):
            if state.cloud:
                if place.cloud.exists():
                    shutil.rmtree(place.cloud)
                remember(place, replace(state, cloud=0))
                return
            for folder in (place.solr_home, place.logs, place.webapp, place.temporary):
                if folder.exists():
                    shutil.rmtree(folder)
            place.state.unlink(missing_ok=True)


def addresses() -> list[str]:
    """The addresses of the embedded Solr, or of the nodes of its cloud, whether they run or not."""
    states = map(recall, _places(layout()))
    return [f"http://{process.HOST}:{state.port}/solr" for state in states if state.port]


def zookeeper() -> str:
    """The address of the ZooKeeper of the embedded cloud, which its first node runs."""
    port = recall(_places(layout())[0]).port or nodes.FIRST_PORT
    return f"zk://{process.HOST}:{port + nodes.ZOOKEEPER}"


def is_known() -> bool:
    """Return True if an embedded Solr has ever been started."""
    return any(place.solr_home.exists() for place in _places(layout()))


def cores(of: Server) -> dict[str, int] | None:
    """Count the documents of each core, by its name. None if the server does not answer.

    Of a cloud its collections, of which one that cannot be searched now counts as -1.
    """
    if of.nodes:
        return nodes.collections(of)
    headers = auth_header(Layout(home=of.home))
    said = ask(of.port, "/solr/admin/cores?action=STATUS&wt=json", 30, headers=headers)
    if said is None:
        return None
    return {name: core["index"]["numDocs"] for name, core in sorted(said["status"].items())}


def credentials(of: Server) -> tuple[str, str] | None:
    """Read the user and password that a server asks for, or None if it asks for none."""
    return None if of.nodes else read_credentials(Layout(home=of.home))


def data() -> Path:
    """The folder of the cores, or of a cloud's nodes, whether Solr runs or not."""
    place = layout()
    return place.cloud if _size(place) else place.cores


def size_on_disk(folder: Path) -> int:
    """Count the bytes of all files below the folder. Files that vanish meanwhile do not count."""
    total = 0
    for parent, _folders, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                total += os.lstat(os.path.join(parent, name)).st_size
    return total


def logs(lines: int = 50, *, node: int = 1) -> str:
    """Read the last lines of the log, of a cloud that of a `node`. Empty if Solr has never run.

    It is Solr's own log, or what Java printed if that is newer (after a failed start).
    """
    path = _newest(node)
    if path is None:
        return ""
    with path.open(encoding="utf-8", errors="replace") as file:
        return "".join(deque(file, maxlen=lines))


def follow(*, node: int = 1) -> Iterator[str]:
    """Follow the log from now on, line by line, without end. Of a cloud, that of a `node`."""
    path = _newest(node)
    while path is None:
        time.sleep(0.2)
        path = _newest(node)
    file = path.open(encoding="utf-8", errors="replace")
    try:
        file.seek(0, os.SEEK_END)
        while True:
            replaced = _is_replaced(path, file.fileno())  # asked before the old file is read out
            yield from iter(file.readline, "")
            if replaced:
                file.close()
                file = path.open(encoding="utf-8", errors="replace")
            else:
                time.sleep(0.2)
    finally:
        file.close()


def _newest(node: int) -> Path | None:
    servers = _places(layout())
    if not 0 < node <= len(servers):
        raise ArgumentError(f"there is no node {node}", f"give one between 1 and {len(servers)}")
    folder = servers[node - 1].logs
    found = [path for name in (LOG, CONSOLE) if (path := folder / name).is_file()]
    return max(found, key=lambda path: path.stat().st_mtime_ns, default=None)


def _is_replaced(path: Path, descriptor: int) -> bool:
    """Return True if the log was rolled over, so that another file has its name now."""
    try:
        return path.stat().st_ino != os.fstat(descriptor).st_ino
    except OSError:
        return False  # between the two steps of rolling over
