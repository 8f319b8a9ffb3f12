"""One embedded Solr at its place: found, started, waited for, ended."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from neardup_solr.embedded import jars, process
from neardup_solr.embedded.layout import (
    RELEASES,
    SOLR_VERSION,
    Layout,
    ServerState,
    read_credentials,
    recall,
    remember,
    server_extra,
    write_security,
    writing,
)
from neardup_solr.embedded.process import find_java
from neardup_solr.errors import ServerError
from neardup_solr.files import solr_config

READY_WITHIN = 60.0  # seconds until the first answer; an idle machine needs two
ATTEMPTS = 3  # at a port, if another program takes it while Java starts

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A running embedded Solr.

    `url` ends with /solr, to which a slash and a core's name can be added; `heap` is Java's -Xmx;
    `home` holds everything it has on disk; `started` is UTC, ISO 8601; `started_now` is False if
    the server was running already; `password` is the file of the password that it asks for, None
    if it asks for none. `version` is Solr's.
    """

    url: str
    pid: int
    port: int
    heap: str
    home: Path
    started: str
    started_now: bool
    password: Path | None = None
    version: str = SOLR_VERSION


def to_stderr(line: str) -> None:
    """Print a line to standard error."""
    print(line, file=sys.stderr, flush=True)


def find(place: Layout) -> Server | None:
    """The server that runs at a place, or None. One that is still starting does not count."""
    state = recall(place)
    is_ready = bool(state.started) and process.is_alive(place, state.pid)
    return _describe(place, state) if is_ready and process.is_open(state.port) else None


def find_starting(place: Layout) -> Server | None:
    """The server that was started at a place and was not ready when last looked at, or None."""
    state = recall(place)
    is_starting = not state.started and process.is_alive(place, state.pid)
    return _describe(place, state) if is_starting else None


def _describe(place: Layout, state: ServerState, *, started_now: bool = False) -> Server:
    """Describe the server of a state."""
    return Server(
        url=f"http://{process.HOST}:{state.port}/solr",
        pid=state.pid,
        port=state.port,
        heap=state.heap,
        home=place.home,
        started=state.started,
        started_now=started_now,
        password=place.password if read_credentials(place) else None,
        version=place.version,
    )


@contextmanager
def server_lock(place: Layout, tell: Tell) -> Iterator[None]:
    """Hold the lock file for the block. `tell` gets a line if another process holds it.

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


def adopt(place: Layout, tell: Tell) -> Server | None:
    """A server whose starter was interrupted before it was ready: wait for it."""
    state = recall(place)
    if not process.is_alive(place, state.pid):
        return None
    return _describe(place, _wait_until_ready(place, state, tell))


def _wait_until_ready(place: Layout, state: ServerState, tell: Tell) -> ServerState:
    """Wait for the server and remember that it is ready."""
    process.wait_until_ready(place, state.pid, state.port, timeout=READY_WITHIN, tell=tell)
    ready = replace(state, started=datetime.now(UTC).isoformat(timespec="seconds"))
    remember(place, ready)
    return ready


def launch(place: Layout, heap: str, port: Callable[[], int], tell: Tell) -> Server:
    """Start a server.

    `port` is asked before each attempt. Raises ServerError if the server cannot be started.
    """
    java = find_java()
    wanted = jars.read_lock(place.version)
    jars.install(place.jars, wanted, tell=tell)
    for pid in process.running_pids(place):
        process.end(pid, timeout=30)
    prepare(place)
    class_path, settings = jars.class_path(place.jars, wanted), solr_config() / "server"
    for attempt in range(1, ATTEMPTS + 1):
        state = replace(recall(place), port=port(), heap=heap, started="")
        try:
            words = process.command(place, state.port, java=java, heap=heap, settings=settings)
            begun = replace(state, pid=process.spawn(place, words, class_path))
            remember(place, begun)  # so that other commands can wait for it
            return _describe(place, _wait_until_ready(place, begun, tell), started_now=True)
        except ServerError:
            jars.invalidate(place.jars)
            if attempt == ATTEMPTS or process.is_free(state.port):
                raise
    raise AssertionError("the last attempt returns or raises")


def prepare(place: Layout) -> None:
    """Lay out Solr's home afresh from solr_config. The cores stay as they are."""
    source = solr_config()
    with writing(place.server):
        shutil.rmtree(place.temporary, ignore_errors=True)
        for folder in (place.temporary, place.logs, place.cores, place.webapp / "WEB-INF"):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        refused = RELEASES[place.version]
        _copy(source / "server" / "solr.xml", place.solr_home / "solr.xml", refused)
        _copy(source / "server" / "web.xml", place.webapp / "WEB-INF" / "web.xml", refused)
        shutil.rmtree(place.configset, ignore_errors=True)
        shutil.copytree(source / "conf", place.configset, ignore=shutil.ignore_patterns(".*"))
        write_security(place)


def _copy(source: Path, target: Path, refused: str) -> None:
    """Copy settings without what a pattern matches."""
    text = source.read_text(encoding="utf-8")
    target.write_text(re.sub(refused, "", text, flags=re.DOTALL), encoding="utf-8")


def stop(place: Layout, timeout: float) -> bool:
    """Stop the server of a place. True if there was one."""
    pids = list(process.running_pids(place))
    for pid in pids:
        process.end(pid, timeout)
    state = recall(place)
    if state.port:
        remember(place, replace(state, pid=0, heap="", started=""))
    return bool(pids)
