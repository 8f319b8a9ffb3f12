"""The embedded Solr for real: started, found, refused, and at ports that are taken."""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from signal import SIGSTOP

import psutil
import pytest

from neardup_solr import embedded
from neardup_solr.embedded import jars as fetching
from neardup_solr.embedded import process
from neardup_solr.embedded.layout import Layout, ServerState, find_layout, recall, remember
from neardup_solr.errors import ServerError
from neardup_solr.suggestions import read_words
from neardup_solr.testing import SIZES
from tests.command import neardup
from tests.refusals import refusal
from tests.solr.homes import make_core, settled

GONE = read_words("gone")


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Layout]:
    """A home of its own."""
    with settled(tmp_path) as place:
        yield place


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Iterator[embedded.Server]:
    """A server for tests that only look at it, started where other settings of Solr are about."""
    with settled(tmp_path_factory.mktemp("shared")):
        with pytest.MonkeyPatch.context() as only_now:
            only_now.setenv("ZK_HOST", "127.0.0.1:1")
            only_now.setenv("SOLR_HOME", "/nowhere")
            only_now.setenv("SOLR_PORT", "1")
            only_now.setenv("LC_ALL", "C")
            only_now.setenv("NEARDUP_SOLR_HEAP", "300m")
            started = embedded.start()
        yield started


@pytest.fixture
def heard() -> list[str]:
    """The lines that were said: hand its `append` over as `tell`."""
    return []


def test_a_start_is_needed_once(found: embedded.Server, heard: list[str]) -> None:
    """The second start finds the first one's server, says nothing, and `running` finds it too."""
    second = embedded.start(heap="2g", tell=heard.append)
    assert (found.started_now, second.started_now, heard) == (True, False, [])
    assert found.pid == second.pid
    assert embedded.running() == second
    assert found.url == f"http://127.0.0.1:{found.port}/solr"
    assert os.getsid(found.pid) != os.getsid(0), "Ctrl-C here would end it"


def test_its_home_is_private_and_its_state_plain_json(found: embedded.Server) -> None:
    """Nobody else reads the texts; other programs can read where the server is."""
    place = find_layout()
    assert found.home == place.home
    assert place.server.stat().st_mode & 0o077 == 0
    state = json.loads(place.state.read_text())
    assert (state["pid"], state["port"], state["heap"]) == (found.pid, found.port, "300m")


def test_only_this_machine_reaches_it(found: embedded.Server) -> None:
    """It listens on 127.0.0.1 only, for that name only, and does not tell its version."""
    open_at = {at.laddr.ip for at in psutil.Process(found.pid).net_connections() if not at.raddr}
    assert open_at <= {"127.0.0.1", "::ffff:127.0.0.1"}
    for name, status in ((f"127.0.0.1:{found.port}", 200), ("evil.example", 404)):
        connection = http.client.HTTPConnection("127.0.0.1", found.port, timeout=60)
        connection.request("GET", "/solr/admin/info/system", headers={"Host": name})
        answer = connection.getresponse()
        answer.read()
        connection.close()
        assert (answer.status, answer.getheader("Server")) == (status, None)


def test_a_long_get_is_accepted(found: embedded.Server) -> None:
    """A query of 50 kB in the address is read; Jetty's own limit would be 8 kB."""
    assert process.ask(found.port, "/solr/admin/info/system?wt=json&x=" + "y" * 50_000, 60)


def test_a_core_can_be_made_from_the_configset(found: embedded.Server) -> None:
    """The configset `neardup` is in place, and the core's files stay below the cores' folder."""
    assert embedded.cores(found) == {}
    assert neardup("solr", "status").stdout.endswith("\ncores   none yet\n")
    make_core(found, "one")
    assert embedded.cores(found) == {"one": 0}
    assert neardup("solr", "status").stdout.endswith("\ncores   one (0 documents)\n")
    assert (find_layout().cores / "one" / "core.properties").is_file()


def test_the_users_own_solr_settings_do_not_leak_in(found: embedded.Server) -> None:
    """A ZK_HOST or SOLR_HOME meant for production has no effect, nor has an ASCII locale."""
    said = process.ask(found.port, "/solr/admin/info/system?wt=json", 60)
    assert said is not None
    assert (said["mode"], said["solr_home"]) == ("std", str(find_layout().solr_home))


def test_the_heap_is_settable(found: embedded.Server) -> None:
    """NEARDUP_SOLR_HEAP reaches Java."""
    assert found.heap == "300m"
    assert "-Xmx300m" in psutil.Process(found.pid).cmdline()


def test_a_password_that_is_chosen_since_is_for_the_next_start(found: embedded.Server) -> None:
    """A server that was started without one neither gets it nor is said to ask for it."""
    chosen = find_layout().password
    chosen.write_text("since\n")
    try:
        assert "user" not in neardup("solr", "status").stdout
    finally:
        chosen.unlink()


def test_the_commands_read_well(found: embedded.Server) -> None:
    """Start, status and logs of a server that runs, with their exit codes."""
    place = re.escape(str(found.home))
    line = r"http://127\.0\.0\.1:\d+/solr \(pid \d+, heap 300m, data in " + place + r"\)\n"
    started = neardup("solr", "start")
    assert re.fullmatch(
        rf"Solr {re.escape(found.version)} is already running at {line}", started.stdout
    )
    assert started.returncode == 0
    status = neardup("solr", "status")
    assert status.returncode == 0
    names = [row.split()[0] for row in status.stdout.splitlines()]
    assert names == ["url", "pid", "port", "heap", "since", "version", "data", "cores"]
    assert neardup("solr", "logs").stdout.count("\n") > 2
    other = neardup("solr", "start", "--port", "9999")
    assert (other.returncode, "neardup solr stop" in other.stderr) == (4, True)


def test_loading_cores_may_take_as_long_as_it_takes(
    found: embedded.Server, heard: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once Solr answers no time-out counts: one line says what it does, and it is waited for."""
    monkeypatch.setattr(SIZES, "silent_loading", 0)
    place = find_layout()
    unloaded = place.cores / "more" / "core.properties"  # a core that Solr has not loaded yet
    unloaded.parent.mkdir()
    unloaded.touch()

    def tell(line: str) -> None:
        heard.append(line)
        unloaded.unlink()

    process.wait_until_ready(place, found.pid, found.port, timeout=0, tell=tell)
    assert len(heard) == 1
    assert "is loading its cores" in heard[0]
    assert process.is_alive(place, found.pid)


def test_a_port_or_a_number_that_another_program_has_is_left(
    home: Layout, heard: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stale pid is neither used nor killed; a line names each port, also one taken midway.

    An explicit port that is taken is refused. The port that is used is remembered though the
    server is frozen, hears no stop, and is killed after the time-out.
    """
    with (
        subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other,
        socket.create_server((process.HOST, 0)) as listener,
        socket.socket() as silent,  # it does not listen: no answer is waited for
    ):
        silent.bind((process.HOST, 0))
        port, taken = listener.getsockname()[1], silent.getsockname()[1]
        stale = ServerState(port=port, pid=other.pid, heap="1g", started="then")
        remember(home, stale)
        assert embedded.running() is None
        assert not embedded.stop()
        remember(home, stale)
        with refusal(ServerError, "port-taken", port):
            embedded.start(port=port)
        # Between the look at a port and its use another program comes.
        guesses, real = iter([taken]), process.free_port
        monkeypatch.setattr(process, "free_port", lambda: next(guesses, None) or real())
        moved = embedded.start(tell=heard.append)
        assert other.poll() is None
        other.communicate(b"\n")
    assert list(process.running_pids(home)) == [moved.pid] != [other.pid]
    assert moved.port not in (port, taken)
    assert heard == [
        f"Port {left} is in use by another program; Solr uses {used} from now on"
        for left, used in ((port, taken), (taken, moved.port))
    ]
    os.kill(moved.pid, SIGSTOP)
    assert embedded.stop(timeout=0.2)
    assert not process.is_alive(home, moved.pid)
    assert not embedded.stop()
    assert recall(home) == ServerState(port=moved.port)


def test_a_start_that_fails_says_why_and_leaves_nothing(
    home: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Java's own words are in the one line, and in the log."""
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-XX:NoSuchOption")
    with refusal(ServerError, "solr-not-started", "NoSuchOption") as error:
        embedded.start()
    assert str(home.logs / "console.log") in str(error.value)
    assert "\n" not in str(error.value)
    assert "NoSuchOption" in embedded.logs()
    assert list(process.running_pids(home)) == []


def test_jars_are_fetched_by_one_of_several_at_the_same_time(tmp_path: Path) -> None:
    """The others wait for it: homes may share the folder of jars."""
    served = (
        jar for jar in fetching.read_lock(find_layout().version) if jar.group != fetching.BUILT
    )
    smallest = min(served, key=lambda jar: jar.size)
    heard: list[str] = []
    with ThreadPoolExecutor(3) as pool:
        jobs = [
            pool.submit(fetching.install, tmp_path / "jars", [smallest], tell=heard.append)
            for _ in range(3)
        ]
    assert [job.result() for job in jobs] == [None, None, None]
    assert sum(line.startswith("Downloading") for line in heard) == 1  # "Downloaded" comes late
    assert fetching.is_installed(tmp_path / "jars", [smallest])


def test_a_wrong_option_is_one_line_on_stderr(home: Layout) -> None:
    """A port that cannot be exits with 2 and starts nothing."""
    refused = neardup("solr", "start", "--port", "99999")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith("neardup: ")
    assert refused.stderr.count("\n") == 1
    assert list(process.running_pids(home)) == []


def test_a_reset_needs_a_yes(home: Layout) -> None:
    """Where nobody can be asked, nothing is deleted without --yes."""
    home.cores.mkdir(parents=True)
    refused = neardup("solr", "reset")
    assert (refused.returncode, "--yes" in refused.stderr) == (3, True)
    assert home.cores.exists()
    assert neardup("solr", "reset", "--yes").returncode == 0
    assert not home.cores.exists()


@pytest.mark.parametrize(
    ("words", "step"),
    [
        (["start", "--cloud", "2"], GONE["start"]["cloud"]),
        (["start", "--version", "8.11.4"], GONE["start"]["version"]),
        (["start", "--no-password"], ""),
        (["start", "--password"], GONE["start"]["password"]),
        (["logs", "--follow"], GONE["logs"]["follow"]),
    ],
)
def test_what_is_gone_says_what_to_do(home: Layout, words: list[str], step: str) -> None:
    """In one line; nothing is started."""
    refused = neardup("solr", *words)
    assert refused.returncode == 2
    assert refused.stderr.splitlines()[-1].startswith("Error: No such option '--")
    assert step in refused.stderr
    assert not home.solr_home.exists()
