"""Start, find, stop and reset the one embedded Solr of this user; see its cores and its log."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from neardup_solr.embedded import jars, process
from neardup_solr.embedded import password as secured
from neardup_solr.embedded.layout import (
    Layout,
    State,
    layout,
    recall,
    remember,
    server_extra,
    writing,
)
from neardup_solr.embedded.process import CONSOLE, LOG, ask, find_java, heap_size
from neardup_solr.errors import ArgumentError, ServerError
from neardup_solr.files import solr_config

READY_WITHIN = 60.0  # seconds until the first answer; an idle machine needs two
ATTEMPTS = 3  # at a port, if another program takes it while Java starts


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A running embedded Solr.

    `url` ends with /solr, to which a slash and a core's name can be added; `heap` is Java's -Xmx;
    `home` holds everything it has on disk; `started` is UTC, ISO 8601; `started_now` is False if
    the server was running already; `password` is the file of the password that it asks for, None
    if it asks for none.
    """

    url: str
    pid: int
    port: int
    heap: str
    home: Path
    started: str
    started_now: bool
    password: Path | None = None


def to_stderr(line: str) -> None:
    """Print a line to standard error."""
    print(line, file=sys.stderr, flush=True)


def running() -> Server | None:
    """The running embedded Solr, or None; one that is still starting does not count.

    Reads the remembered state, looks at that one process and opens one connection: cheap enough
    for every command. Raises ServerError if the extra `server` is not installed.
    """
    return _found(layout())


def starting() -> Server | None:
    """The embedded Solr that was started but was not ready when it was last looked at, or None.

    So it is if its starter was interrupted; `start` waits for it.
    """
    place = layout()
    state = recall(place)
    if state is None or state.started or not process.lives(place, state.pid):
        return None
    return _server(place, state, started_now=False)


def _found(place: Layout) -> Server | None:
    state = recall(place)
    if state is None or not state.started or not process.lives(place, state.pid):
        return None
    return _server(place, state, started_now=False) if process.is_open(state.port) else None


def _server(place: Layout, state: State, *, started_now: bool) -> Server:
    return Server(
        url=f"http://{process.HOST}:{state.port}/solr",
        pid=state.pid,
        port=state.port,
        heap=state.heap,
        home=place.home,
        started=state.started,
        started_now=started_now,
        password=place.password if secured.credentials(place) else None,
    )


def start(
    *,
    heap: str | None = None,
    port: int | None = None,
    password: bool | None = None,
    tell: Callable[[str], None] = to_stderr,
) -> Server:
    """The running embedded Solr, started if need be.

    `heap` is a size for Java such as "2g" (default: $NEARDUP_SOLR_HEAP, else 1g); `port` is one of
    127.0.0.1 (default: the last one used, else the first free one from 18983); with `password` it
    asks for a user and a password, which is generated and kept until a start with False (default:
    as before, at first none). A server that runs already keeps its own. `tell` gets a line about
    what takes time or turns out otherwise. The first start downloads Solr (73 MB).

    Raises ArgumentError if there can be no such heap or port; ServerError if Solr cannot be
    downloaded or started.
    """
    size = heap_size(heap)
    if port is not None and not 0 < port < 65536:
        raise ArgumentError(f"`port` cannot be {port}", "give one between 1024 and 65535")
    place = layout()
    if server := _found(place):
        return server
    with turn(place, tell):
        if server := _found(place) or _adopted(place, tell):
            return server
        if password is not None:
            secured.choose(place, asked=password)
        return _launched(place, size, port, tell)


@contextmanager
def turn(place: Layout, tell: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock file for the block; `tell` gets a line if another process holds it.

    The system releases the lock when its holder ends, however it ends.
    """
    with server_extra():
        from filelock import FileLock, Timeout
    with writing(place.server):
        # The indexed texts are the user's own: nobody else may read the folder.
        place.server.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = FileLock(place.lock)
        try:
            held = lock.acquire(blocking=False)
        except Timeout:
            tell("Waiting for another command that starts or stops Solr")
            held = lock.acquire()
    with held:
        yield


def _adopted(place: Layout, tell: Callable[[str], None]) -> Server | None:
    """A server whose starter was interrupted before it was ready: wait for it."""
    state = recall(place)
    if state is None or not process.lives(place, state.pid):
        return None
    return _server(place, _ready(place, state, tell), started_now=False)


def _ready(place: Layout, state: State, tell: Callable[[str], None]) -> State:
    """Wait for the server and remember that it is ready."""
    process.wait_until_ready(place, state.pid, state.port, timeout=READY_WITHIN, tell=tell)
    ready = replace(state, started=datetime.now(UTC).isoformat(timespec="seconds"))
    remember(place, ready)
    return ready


def _launched(place: Layout, heap: str, port: int | None, tell: Callable[[str], None]) -> Server:
    java, wanted = find_java(), jars.locked()
    jars.install(place.jars, wanted, tell=tell)
    for pid in process.strays(place):
        process.end(pid, timeout=30)
    prepare(place)
    for attempt in range(1, ATTEMPTS + 1):
        state = State(port=_port(place, port, tell), heap=heap)
        try:
            begun = _spawned(place, state, java, jars.class_path(place.jars, wanted))
            return _server(place, _ready(place, begun, tell), started_now=True)
        except ServerError:
            jars.doubt(place.jars)
            if attempt == ATTEMPTS or process.is_free(state.port):
                raise
    raise AssertionError("the last attempt returns or raises")


def _spawned(place: Layout, state: State, java: Path, class_path: str) -> State:
    """Start the process and remember it, so that other commands can wait for it."""
    pid = process.spawn(
        place,
        state.port,
        java=java,
        class_path=class_path,
        heap=state.heap,
        settings=solr_config() / "server",
    )
    begun = replace(state, pid=pid)
    remember(place, begun)
    return begun


def _port(place: Layout, asked: int | None, tell: Callable[[str], None]) -> int:
    if asked is not None:
        if not process.is_free(asked):
            raise ServerError(
                f"port {asked} is taken by another program",
                "name another `port`, or leave it out",
            )
        return asked
    state = recall(place)
    if state is not None and process.is_soon_free(state.port):
        return state.port
    port = process.free_port()
    if state is not None:
        tell(f"Port {state.port} is taken by another program; Solr uses {port} from now on")
    return port


def prepare(place: Layout) -> None:
    """Lay out Solr's home afresh from solr_config; the cores stay as they are."""
    source = solr_config()
    with writing(place.server):
        shutil.rmtree(place.temporary, ignore_errors=True)
        for folder in (place.temporary, place.logs, place.cores, place.webapp / "WEB-INF"):
            folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / "server" / "solr.xml", place.solr_home / "solr.xml")
        shutil.copyfile(source / "server" / "web.xml", place.webapp / "WEB-INF" / "web.xml")
        shutil.rmtree(place.configset, ignore_errors=True)
        shutil.copytree(source / "conf", place.configset, ignore=shutil.ignore_patterns(".*"))
        secured.lay_out(place)


def stop(*, timeout: float = 30.0, tell: Callable[[str], None] = to_stderr) -> bool:
    """Stop the embedded Solr; True if there was one.

    It gets `timeout` seconds to close its indexes, then it is killed. Cores and port stay.
    """
    place = layout()
    if not place.server.is_dir():
        return False
    with turn(place, tell):
        return _stopped(place, timeout)


def _stopped(place: Layout, timeout: float) -> bool:
    pids = list(process.strays(place))
    for pid in pids:
        process.end(pid, timeout)
    if state := recall(place):
        remember(place, State(port=state.port))
    return bool(pids)


def reset(*, tell: Callable[[str], None] = to_stderr) -> None:
    """Stop the embedded Solr and delete its cores, logs and remembered port.

    The jars stay, and so does a password.
    """
    place = layout()
    if not place.server.is_dir():
        return
    with turn(place, tell):
        _stopped(place, timeout=30.0)
        with writing(place.server):
            for folder in (place.solr_home, place.logs, place.webapp, place.temporary):
                if folder.exists():
                    shutil.rmtree(folder)
            place.state.unlink(missing_ok=True)


def cores(server: Server) -> dict[str, int] | None:
    """The names of its cores, each with its number of documents; None if it does not answer."""
    headers = secured.header(Layout(home=server.home))
    said = ask(server.port, "/solr/admin/cores?action=STATUS&wt=json", 30, headers=headers)
    if said is None:
        return None
    return {name: core["index"]["numDocs"] for name, core in sorted(said["status"].items())}


def credentials(server: Server) -> tuple[str, str] | None:
    """User and password that a server asks for; None if it asks for none."""
    return secured.credentials(Layout(home=server.home))


def data() -> Path:
    """The folder of the cores, whether Solr runs or not."""
    return layout().cores


def size_on_disk(folder: Path) -> int:
    """The bytes of all files below the folder; files that vanish meanwhile do not count."""
    total = 0
    for parent, _folders, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(parent, name)).st_size
            except FileNotFoundError:
                continue
    return total


def logs(lines: int = 50) -> str:
    """The last lines of the log; empty if Solr has never run.

    It is Solr's own log, or what Java printed if that is newer (after a failed start).
    """
    path = _newest()
    if path is None:
        return ""
    with path.open(encoding="utf-8", errors="replace") as file:
        return "".join(deque(file, maxlen=lines))


def follow() -> Iterator[str]:
    """The lines that are added to the log from now on, without end."""
    path = _newest()
    while path is None:
        time.sleep(0.2)
        path = _newest()
    file = path.open(encoding="utf-8", errors="replace")
    try:
        file.seek(0, os.SEEK_END)
        while True:
            replaced = _replaced(path, file.fileno())  # asked before the old file is read out
            yield from iter(file.readline, "")
            if replaced:
                file.close()
                file = path.open(encoding="utf-8", errors="replace")
            else:
                time.sleep(0.2)
    finally:
        file.close()


def _newest() -> Path | None:
    folder = layout().logs
    found = [path for name in (LOG, CONSOLE) if (path := folder / name).is_file()]
    return max(found, key=lambda path: path.stat().st_mtime_ns, default=None)


def _replaced(path: Path, descriptor: int) -> bool:
    """Whether the log was rolled over, so that another file has its name now."""
    try:
        return path.stat().st_ino != os.fstat(descriptor).st_ino
    except OSError:
        return False  # between the two steps of rolling over
