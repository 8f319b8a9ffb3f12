"""A real Solr on this machine, without Docker and without an installed Java.

`start` is all that most callers need; `neardup solr` has a command for each of the others. Those
that take a `place` work on the server of that layout, by default that of $NEARDUP_HOME.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from neardup_solr.embedded import jars, layout, password, process
from neardup_solr.embedded.layout import Layout, find_layout, recall, remember
from neardup_solr.embedded.process import CONSOLE, LOG
from neardup_solr.errors import ArgumentError, ServerError
from neardup_solr.files import solr_config

READY_WITHIN = 180.0  # seconds until the first answer; an idle machine needs two, a busy one 60
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
    version: str = layout.SOLR_VERSION


def to_stderr(line: str) -> None:
    """Print a line to standard error."""
    print(line, file=sys.stderr, flush=True)


def running(place: Layout | None = None) -> Server | None:
    """Return the running embedded Solr, or None. A Solr that is still starting does not count.

    Reads the remembered state, looks at that process and opens a connection: cheap enough for
    every command. Raises ServerError if a Solr was started, and the extra `server` is not
    installed.
    """
    place = place or find_layout()
    state = recall(place)
    is_ready = bool(state.started) and process.is_alive(place, state.pid)
    return _describe(place, state) if is_ready and process.is_open(state.port) else None


def starting() -> Server | None:
    """The embedded Solr that was started but was not ready when it was last looked at, or None.

    So it is if its starter was interrupted; `start` waits for it.
    """
    place = find_layout()
    state = recall(place)
    is_starting = not state.started and process.is_alive(place, state.pid)
    return _describe(place, state) if is_starting else None


def start(*, heap: str | None = None, port: int | None = None, tell: Tell = to_stderr) -> Server:
    """The running embedded Solr, started if need be.

    `heap` is a size for Java such as "2g" (default: $NEARDUP_SOLR_HEAP, else 1g); `port` is one of
    127.0.0.1 (default: the last one used, else the first free one from 18983). At its first start
    a password is generated that it asks for from then on. A server that runs already is left as it
    is. `tell` gets a line about what takes time or turns out otherwise. The first start downloads
    Solr (73 MB).

    Raises ArgumentError if `heap` or `port` is impossible; ServerError if Solr cannot be
    downloaded or started.
    """
    size = process.heap_size(heap)
    if port is not None and not 0 < port < 65536:
        step = "choose a port between 1024 and 65535"
        raise ArgumentError(f"`port` cannot be {port}", step, code="argument-out-of-range")
    place = find_layout()
    if server := running(place):
        return server
    with server_lock(place, tell):
        if server := running(place) or adopt(place, tell):
            return server
        if not place.state.exists():
            password.choose_password(place)
        return _launch(place, size, port, tell)


@contextmanager
def server_lock(place: Layout, tell: Tell) -> Iterator[None]:
    """Hold the lock file for the block. `tell` gets a line if another process holds it.

    The system releases the lock when its holder ends, however it ends.
    """
    with jars.server_extra():
        from filelock import FileLock, Timeout
    with layout.writing(place.server):
        # The indexed texts are the user's alone: nobody else may read the folder.
        place.server.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = FileLock(place.lock)
        try:
            held = lock.acquire(blocking=False)
        except Timeout:
            tell("Waiting for another command that is starting or stopping Solr")
            held = lock.acquire()
    with held:
        yield


def adopt(place: Layout, tell: Tell) -> Server | None:
    """Wait for a server whose starter was interrupted before it was ready, None without it."""
    state = recall(place)
    is_alive = process.is_alive(place, state.pid)
    return _wait_until_ready(place, state, tell, started_now=False) if is_alive else None


def _wait_until_ready(
    place: Layout, state: layout.ServerState, tell: Tell, *, started_now: bool
) -> Server:
    """Wait for a server and remember that it is ready."""
    process.wait_until_ready(place, state.pid, state.port, timeout=READY_WITHIN, tell=tell)
    ready = replace(state, started=datetime.now(UTC).isoformat(timespec="seconds"))
    remember(place, ready)
    return _describe(place, ready, started_now=started_now)


def _describe(place: Layout, state: layout.ServerState, *, started_now: bool = False) -> Server:
    """Describe the server of a state."""
    return Server(
        url=f"http://{process.HOST}:{state.port}/solr",
        home=place.home,
        started_now=started_now,
        password=place.password if password.read_credentials(place) else None,
        version=place.version,
        **asdict(state),
    )


def _launch(place: Layout, heap: str, port: int | None, tell: Tell) -> Server:
    """Start a server, at another port if a program takes the first while Java starts."""
    java = process.find_java(place.version)
    wanted = jars.read_lock(place.version)
    jars.install(place.jars, wanted, tell=tell)
    for pid in process.running_pids(place):
        process.end(pid, timeout=30)
    prepare(place)
    class_path, settings = jars.class_path(place.jars, wanted), solr_config() / "server"
    for attempt in range(1, ATTEMPTS + 1):
        state = replace(recall(place), port=_choose_port(place, port, tell), heap=heap, started="")
        words = process.command(place, state.port, java=java, heap=heap, settings=settings)
        try:
            state = replace(state, pid=process.spawn(place, words, class_path))
            remember(place, state)  # so that other commands can wait for it
            return _wait_until_ready(place, state, tell, started_now=True)
        except ServerError:
            jars.invalidate(place.jars)
            if attempt == ATTEMPTS or process.is_free(state.port):
                raise
    raise AssertionError("the last attempt returns or raises")


def _choose_port(place: Layout, port: int | None, tell: Tell) -> int:
    """Choose a port: `port`, the last one, or the first that is free."""
    if port is not None:
        if not process.is_free(port):
            reason = f"port {port} is in use by another program"
            step = "choose a different `port`, or leave it out"
            raise ServerError(reason, step, code="port-taken")
        return port
    last = recall(place).port
    if last and process.is_soon_free(last):
        return last
    port = process.free_port()
    if last:
        tell(f"Port {last} is in use by another program; Solr uses {port} from now on")
    return port


def prepare(place: Layout) -> None:
    """Lay out Solr's home afresh from solr_config. The cores stay as they are."""
    source = solr_config()
    with layout.writing(place.server):
        shutil.rmtree(place.temporary, ignore_errors=True)
        for folder in (place.temporary, place.logs, place.cores, place.webapp / "WEB-INF"):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        refused = layout.RELEASES[place.version]
        _copy(source / "server" / "solr.xml", place.solr_home / "solr.xml", refused)
        _copy(source / "server" / "web.xml", place.webapp / "WEB-INF" / "web.xml", refused)
        shutil.rmtree(place.configset, ignore_errors=True)
        shutil.copytree(source / "conf", place.configset, ignore=shutil.ignore_patterns(".*"))
        password.write_security(place)


def _copy(source: Path, target: Path, refused: str) -> None:
    """Copy settings without what a pattern matches."""
    text = source.read_text(encoding="utf-8")
    target.write_text(re.sub(refused, "", text, flags=re.DOTALL), encoding="utf-8")


def stop(*, timeout: float = 30.0, tell: Tell = to_stderr) -> bool:
    """Stop the embedded Solr. True if it ran.

    It gets `timeout` seconds to close its indexes, then it is killed. Cores and port stay.
    """
    place = find_layout()
    if not place.server.is_dir():
        return False
    with server_lock(place, tell):
        return end(place, timeout)


def end(place: Layout, timeout: float) -> bool:
    """End the server of a place, whose lock is held. True if it ran."""
    pids = list(process.running_pids(place))
    for pid in pids:
        process.end(pid, timeout)
    state = recall(place)
    if state.port:
        remember(place, replace(state, pid=0, heap="", started=""))
    return bool(pids)


def reset(*, tell: Tell = to_stderr) -> None:
    """Stop the embedded Solr and delete its cores, logs and remembered port.

    The jars stay, and so does a password.
    """
    place = find_layout()
    if not place.server.is_dir():
        return
    with server_lock(place, tell):
        end(place, timeout=30.0)
        with layout.writing(place.server):
            for folder in (place.solr_home, place.logs, place.webapp, place.temporary):
                if folder.exists():
                    shutil.rmtree(folder)
            place.state.unlink(missing_ok=True)


def address() -> str:
    """The address of the embedded Solr, whether it runs or not."""
    return f"http://{process.HOST}:{recall(find_layout()).port}/solr"


def is_known() -> bool:
    """Return True if an embedded Solr has ever been started."""
    return find_layout().solr_home.exists()


def cores(of: Server) -> dict[str, int] | None:
    """Count the documents of each core, by its name. None if the server does not answer."""
    headers = password.auth_header(Layout(home=of.home))
    status = process.ask(of.port, "/solr/admin/cores?action=STATUS&wt=json", 30, headers=headers)
    if status is None:
        return None
    return {name: core["index"]["numDocs"] for name, core in sorted(status["status"].items())}


def credentials(of: Server) -> tuple[str, str] | None:
    """Read the user and password that a server asks for, or None if it asks for none."""
    return password.read_credentials(Layout(home=of.home))


def logs(lines: int = 50) -> str:
    """Read the last lines of the log. Empty if Solr has never run.

    It is Solr's log, or what Java printed if that is newer (after a failed start).
    """
    folder = find_layout().logs
    paths = [path for name in (LOG, CONSOLE) if (path := folder / name).is_file()]
    if not paths:
        return ""
    path = max(paths, key=lambda path: path.stat().st_mtime_ns)
    with path.open(encoding="utf-8", errors="replace") as file:
        return "".join(deque(file, maxlen=lines))
