"""A real Solr on this machine, without Docker and without an installed Java.

`start` is all that most callers need; `neardup solr` has a command for each of the others.
"""

from __future__ import annotations

import shutil
from collections import deque

from neardup_solr.embedded import process, server
from neardup_solr.embedded.layout import SOLR_VERSION as SOLR_VERSION
from neardup_solr.embedded.layout import (
    Layout,
    auth_header,
    choose_password,
    layout,
    read_credentials,
    recall,
    writing,
)
from neardup_solr.embedded.process import CONSOLE, LOG, ask, heap_size
from neardup_solr.embedded.server import Server as Server
from neardup_solr.embedded.server import Tell, server_lock, to_stderr
from neardup_solr.errors import ArgumentError, ServerError


def running() -> Server | None:
    """Find the running embedded Solr, or None. One that is still starting does not count.

    Reads the remembered state, looks at that one process and opens one connection: cheap enough
    for every command. Raises ServerError if one was started, and the extra `server` is not
    installed.
    """
    return server.find(layout())


def starting() -> Server | None:
    """The embedded Solr that was started but was not ready when it was last looked at, or None.

    So it is if its starter was interrupted; `start` waits for it.
    """
    return server.find_starting(layout())


def start(*, heap: str | None = None, port: int | None = None, tell: Tell = to_stderr) -> Server:
    """The running embedded Solr, started if need be.

    `heap` is a size for Java such as "2g" (default: $NEARDUP_SOLR_HEAP, else 1g); `port` is one of
    127.0.0.1 (default: the last one used, else the first free one from 18983). At its first start
    a password is generated that it asks for from then on. A server that runs already keeps its own.
    `tell` gets a line about what takes time or turns out otherwise. The first start downloads Solr
    (73 MB).

    Raises ArgumentError if there can be no such heap or port; ServerError if Solr cannot be
    downloaded or started.
    """
    size = heap_size(heap)
    if port is not None and not 0 < port < 65536:
        raise ArgumentError(f"`port` cannot be {port}", "give one between 1024 and 65535")
    place = layout()
    if there := running():
        return there
    with server_lock(place, tell):
        if there := server.find(place) or server.adopt(place, tell):
            return there
        if not place.state.exists():
            choose_password(place)
        return server.launch(place, size, lambda: _port(place, port, tell), tell)


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
        return server.stop(place, timeout)


def reset(*, tell: Tell = to_stderr) -> None:
    """Stop the embedded Solr and delete its cores, logs and remembered port.

    The jars stay, and so does a password.
    """
    place = layout()
    if not place.server.is_dir():
        return
    with server_lock(place, tell):
        server.stop(place, timeout=30.0)
        with writing(place.server):
            for folder in (place.solr_home, place.logs, place.webapp, place.temporary):
                if folder.exists():
                    shutil.rmtree(folder)
            place.state.unlink(missing_ok=True)


def address() -> str:
    """The address of the embedded Solr, whether it runs or not."""
    return f"http://{process.HOST}:{recall(layout()).port}/solr"


def is_known() -> bool:
    """Return True if an embedded Solr has ever been started."""
    return layout().solr_home.exists()


def cores(of: Server) -> dict[str, int] | None:
    """Count the documents of each core, by its name. None if the server does not answer."""
    headers = auth_header(Layout(home=of.home))
    said = ask(of.port, "/solr/admin/cores?action=STATUS&wt=json", 30, headers=headers)
    if said is None:
        return None
    return {name: core["index"]["numDocs"] for name, core in sorted(said["status"].items())}


def credentials(of: Server) -> tuple[str, str] | None:
    """Read the user and password that a server asks for, or None if it asks for none."""
    return read_credentials(Layout(home=of.home))


def logs(lines: int = 50) -> str:
    """Read the last lines of the log. Empty if Solr has never run.

    It is Solr's own log, or what Java printed if that is newer (after a failed start).
    """
    folder = layout().logs
    found = [path for name in (LOG, CONSOLE) if (path := folder / name).is_file()]
    if not found:
        return ""
    path = max(found, key=lambda path: path.stat().st_mtime_ns)
    with path.open(encoding="utf-8", errors="replace") as file:
        return "".join(deque(file, maxlen=lines))
