"""The embedded Solr for real: started, found, killed, stopped."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import randrange
from threading import Event, Thread

import psutil
import pytest

from neardup_solr.edges import server
from neardup_solr.edges.server import jars as fetching
from neardup_solr.edges.server import process
from neardup_solr.edges.server.layout import Layout, layout, recall, remember
from neardup_solr.pure.errors import ServerError

CHECKOUT = Path(server.__file__).parents[3]


@pytest.fixture(scope="module")
def jars() -> Path:
    """The folder of the user's own jars, fetched if this is the first start."""
    folder = layout().jars
    fetching.install(folder, fetching.locked(), tell=print)
    return folder


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jars: Path) -> Iterator[Layout]:
    """A home of its own, in a folder with an awkward name, that has the jars already."""
    monkeypatch.setenv("NEARDUP_HOME", str(tmp_path / "zu Hause – 家"))
    monkeypatch.delenv("NEARDUP_SOLR_HEAP", raising=False)
    # Ports of this test alone: a server that somebody starts meanwhile takes none of them.
    monkeypatch.setattr(process, "FIRST_PORT", randrange(20000, 30000))
    monkeypatch.setattr(process, "LAST_PORT", 32000)
    place = layout()
    shutil.copytree(jars, place.jars, copy_function=_link)
    yield place
    server.stop(timeout=0)


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another disk
        shutil.copy2(source, target)


@pytest.fixture
def heard() -> list[str]:
    """The lines that were said: hand its `append` over as `tell`."""
    return []


def system(found: server.Server) -> dict[str, object]:
    """What Solr says of itself."""
    said = process.ask(found.port, "/solr/admin/info/system?wt=json")
    assert said is not None
    return said


def neardup_solr(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `neardup solr` with these arguments, with nobody at the keyboard."""
    program = "from neardup_solr.skin.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", program, "solr", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=CHECKOUT,
        check=False,
    )


def starter() -> subprocess.Popen[str]:
    """Another process that starts the server and prints its pid and whether it was the one."""
    program = (
        "from neardup_solr.edges import server\n"
        "found = server.start()\n"
        "print(found.pid, found.started_now)\n"
    )
    return subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, cwd=CHECKOUT
    )


def test_a_start_is_needed_once(home: Layout, heard: list[str]) -> None:
    """The second start finds the first one's server, says nothing, and `running` finds it too."""
    assert server.running() is None
    first = server.start(tell=heard.append)
    second = server.start(tell=heard.append)
    assert (first.started_now, second.started_now) == (True, False)
    assert first.pid == second.pid
    assert server.running() == second
    assert first.url == f"http://127.0.0.1:{first.port}/solr"
    assert (first.heap, first.home, heard) == ("1g", home.home, [])
    assert os.getsid(first.pid) != os.getsid(0), "Ctrl-C here would end it"
    assert home.server.stat().st_mode & 0o077 == 0, "others can read the texts"


def test_only_this_machine_reaches_it(home: Layout) -> None:
    """It listens on 127.0.0.1 only, for that name only, and does not tell its version."""
    found = server.start()
    open_at = {at.laddr.ip for at in psutil.Process(found.pid).net_connections() if not at.raddr}
    assert open_at <= {"127.0.0.1", "::ffff:127.0.0.1"}
    for name, status in ((f"127.0.0.1:{found.port}", 200), ("evil.example", 404)):
        connection = http.client.HTTPConnection("127.0.0.1", found.port, timeout=10)
        connection.request("GET", "/solr/admin/info/system", headers={"Host": name})
        answer = connection.getresponse()
        answer.read()
        connection.close()
        assert (answer.status, answer.getheader("Server")) == (status, None)


def test_a_long_get_is_accepted(home: Layout) -> None:
    """A query of 50 kB in the address is read; Jetty's own limit would be 8 kB."""
    found = server.start()
    assert process.ask(found.port, "/solr/admin/info/system?wt=json&x=" + "y" * 50_000)


def test_a_core_can_be_made_from_the_configset(home: Layout) -> None:
    """The configset `neardup` is in place, and the core's files stay below the cores' folder."""
    found = server.start()
    assert server.cores(found) == {}
    assert process.ask(
        found.port, "/solr/admin/cores?action=CREATE&name=one&configSet=neardup&wt=json", 60
    )
    assert server.cores(found) == {"one": 0}
    assert (server.data() / "one" / "core.properties").is_file()
    assert server.size_on_disk(server.data()) > 0


def test_the_users_own_solr_settings_do_not_leak_in(
    home: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A ZK_HOST or SOLR_HOME meant for production has no effect, nor has an ASCII locale."""
    monkeypatch.setenv("ZK_HOST", "127.0.0.1:1")
    monkeypatch.setenv("SOLR_HOME", "/nowhere")
    monkeypatch.setenv("SOLR_PORT", "1")
    monkeypatch.setenv("LC_ALL", "C")
    said = system(server.start())
    assert (said["mode"], said["solr_home"]) == ("std", str(home.solr_home))


def test_the_heap_is_settable(home: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    """NEARDUP_SOLR_HEAP reaches Java."""
    monkeypatch.setenv("NEARDUP_SOLR_HEAP", "300m")
    found = server.start()
    assert found.heap == "300m"
    assert "-Xmx300m" in psutil.Process(found.pid).cmdline()


def test_two_starts_at_once_make_one_server(home: Layout) -> None:
    """Two processes that start it together get the same one, started by one of them."""
    starters = [starter(), starter()]
    answers = [one.communicate(timeout=120)[0].split() for one in starters]
    assert len({pid for pid, _ in answers}) == 1
    assert sorted(started for _, started in answers) == ["False", "True"]
    assert [str(pid) for pid in process.strays(home)] == [answers[0][0]]


def test_after_a_crash_it_starts_again_with_its_cores(home: Layout) -> None:
    """SIGKILL leaves a stale state; the next start sees through it and keeps port and cores."""
    first = server.start()
    process.ask(
        first.port, "/solr/admin/cores?action=CREATE&name=one&configSet=neardup&wt=json", 60
    )
    os.kill(first.pid, signal.SIGKILL)
    while process.lives(home, first.pid):
        time.sleep(0.01)
    assert server.running() is None
    second = server.start()
    assert second.started_now
    assert (second.port, second.pid != first.pid) == (first.port, True)
    assert server.cores(second) == {"one": 0}


def test_a_starter_that_is_killed_leaves_a_server_to_be_found(home: Layout) -> None:
    """Who comes next waits for the server that is coming up instead of starting another."""
    killed = starter()
    while not (state := recall(home)) or not state.pid:
        time.sleep(0.01)
    killed.kill()
    killed.communicate()
    found = server.start()
    assert (found.pid, found.started_now) == (state.pid, False)


def test_a_number_that_went_to_another_process_is_not_taken_for_solr(home: Layout) -> None:
    """A stale pid that is alive again as something else is neither used nor killed."""
    first = server.start()
    server.stop()
    state = recall(home)
    assert state is not None
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        remember(home, type(state)(port=first.port, pid=other.pid, heap="1g", started="then"))
        assert server.running() is None
        assert not server.stop()
        remember(home, type(state)(port=first.port, pid=other.pid, heap="1g", started="then"))
        assert server.start().pid != other.pid
        assert other.poll() is None
        other.communicate(b"\n")


def test_a_lost_state_does_not_make_two_servers(home: Layout) -> None:
    """Without its state file, the old server is found by its command line and ended."""
    first = server.start()
    home.state.unlink()
    second = server.start()
    assert second.started_now
    assert list(process.strays(home)) == [second.pid] != [first.pid]


def test_a_port_taken_meanwhile_is_left_and_the_new_one_remembered(
    home: Layout, heard: list[str]
) -> None:
    """One line names both ports; an explicit port that is taken is refused."""
    port = server.start().port
    server.stop()
    with socket.create_server(("127.0.0.1", port)):
        with pytest.raises(ServerError, match=f"port {port} is taken by another program"):
            server.start(port=port)
        moved = server.start(tell=heard.append)
        assert moved.port != port
        assert heard == [
            f"Port {port} is taken by another program; Solr uses {moved.port} from now on"
        ]
        server.stop()
    assert server.start(tell=heard.append).port == moved.port
    assert len(heard) == 1


def test_a_port_taken_while_java_starts_is_tried_elsewhere(
    home: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look at a port and its use another program can come: the next one is used."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = other.getsockname()[1]
        guesses = iter([taken])
        real = process.free_port
        monkeypatch.setattr(process, "free_port", lambda: next(guesses, None) or real())
        found = server.start(tell=lambda _: None)
    assert found.port != taken
    assert list(process.strays(home)) == [found.pid]


def test_a_start_that_fails_says_why_and_leaves_nothing(
    home: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Java's own words are in the one line; the next start works."""
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-XX:NoSuchOption")
    with pytest.raises(ServerError, match=r"Solr ended while it started: .*NoSuchOption") as error:
        server.start()
    assert str(home.logs / "console.log") in str(error.value)
    assert "\n" not in str(error.value)
    assert "NoSuchOption" in server.logs()
    assert list(process.strays(home)) == []
    monkeypatch.delenv("JAVA_TOOL_OPTIONS")
    assert server.start().started_now


def test_a_damaged_jar_is_found_out_after_the_start_it_spoils(home: Layout) -> None:
    """The failed start has every hash checked again by the next one."""
    fetching.install(home.jars, fetching.locked(), tell=print)
    wanted = next(jar for jar in fetching.locked() if jar.artifact == "jetty-xml")
    path = home.jars / wanted.name
    content = path.read_bytes()
    path.unlink()
    path.write_bytes(bytes(wanted.size))
    with pytest.raises(ServerError, match="Solr ended while it started"):
        server.start()
    assert not fetching.installed(home.jars, fetching.locked())
    path.write_bytes(content)
    assert server.start().started_now


def test_a_stop_that_is_not_heard_ends_in_a_kill(home: Layout) -> None:
    """A frozen server is gone after the time-out all the same."""
    found = server.start()
    os.kill(found.pid, signal.SIGSTOP)
    assert server.stop(timeout=0.2)
    assert not process.lives(home, found.pid)
    assert not server.stop()


def test_a_reset_deletes_the_cores_and_keeps_the_jars(home: Layout) -> None:
    """After a reset the next start is the first one, without a download."""
    found = server.start()
    process.ask(
        found.port, "/solr/admin/cores?action=CREATE&name=one&configSet=neardup&wt=json", 60
    )
    server.reset()
    assert server.running() is None
    assert not home.solr_home.exists()
    assert fetching.installed(home.jars, fetching.locked())
    assert server.cores(server.start()) == {}


def test_the_commands_read_well(home: Layout) -> None:
    """Start, status, stop and logs from the command line, with their exit codes."""
    place = re.escape(str(home.home))
    before = neardup_solr("status")
    assert before.returncode == 1
    assert before.stdout == "Solr does not run; start it with: neardup solr start\n"
    line = r"http://127\.0\.0\.1:\d+/solr \(pid \d+, heap 1g, data in " + place + r"\)\n"
    assert re.fullmatch(r"Solr 9\.10\.1 runs at " + line, neardup_solr("start").stdout)
    assert re.fullmatch(r"Solr 9\.10\.1 runs already at " + line, neardup_solr("start").stdout)
    status = neardup_solr("status")
    assert status.returncode == 0
    names = [row.split()[0] for row in status.stdout.splitlines()]
    assert names == ["url", "pid", "port", "heap", "since", "data", "cores"]
    assert "cores   none yet" in status.stdout
    assert neardup_solr("logs", "-n", "2").stdout.count("\n") == 2
    other = neardup_solr("start", "--heap", "2g")
    assert (other.returncode, "neardup solr stop" in other.stderr) == (1, True)
    assert neardup_solr("stop").stdout == "Solr is stopped\n"
    assert neardup_solr("stop").stdout == "Solr was not running\n"


def test_a_wrong_option_is_one_line_on_stderr(home: Layout) -> None:
    """A bad heap or port exits with 1 and starts nothing."""
    for arguments in (["--heap", "lots"], ["--port", "99999"]):
        refused = neardup_solr("start", *arguments)
        assert (refused.returncode, refused.stdout) == (1, "")
        assert refused.stderr.startswith("neardup: ")
        assert refused.stderr.count("\n") == 1
    assert list(process.strays(home)) == []


def test_a_reset_needs_a_yes(home: Layout) -> None:
    """Where nobody can be asked, nothing is deleted without --yes."""
    home.cores.mkdir(parents=True)
    refused = neardup_solr("reset")
    assert (refused.returncode, "--yes" in refused.stderr) == (1, True)
    assert home.cores.exists()
    assert neardup_solr("reset", "--yes").returncode == 0
    assert not home.cores.exists()


def test_a_followed_log_is_followed_past_its_end(home: Layout) -> None:
    """Lines that are appended arrive, also after the log was rolled over."""
    home.logs.mkdir(parents=True)
    log = home.logs / "solr.log"
    log.write_text("old\n")
    lines, seen, over = server.follow(), Event(), Event()

    def write() -> None:
        while not over.wait(0.02):
            with log.open("a") as file:
                file.write("second\n" if seen.is_set() else "first\n")

    writer = Thread(target=write)
    writer.start()
    try:
        assert next(lines) == "first\n"
        log.rename(home.logs / "solr.log.1")
        seen.set()
        assert "second\n" in islice(lines, 1000)
    finally:
        over.set()
        writer.join()


def test_a_state_file_is_plain_json(home: Layout) -> None:
    """Other programs can read where the server is."""
    found = server.start()
    state = json.loads(home.state.read_text())
    assert (state["pid"], state["port"], state["heap"]) == (found.pid, found.port, "1g")
