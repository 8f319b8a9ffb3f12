"""The embedded Solr for real: started, found, killed, stopped."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import randrange
from signal import SIGKILL, SIGSTOP

import psutil
import pytest
import requests

import neardup_solr as nd
from neardup_solr import embedded
from neardup_solr.arguments import read_words
from neardup_solr.embedded import jars as fetching
from neardup_solr.embedded import process
from neardup_solr.embedded.jars import (
    Layout,
    ServerState,
    layout,
    recall,
    remember,
)
from neardup_solr.errors import ServerError

GONE = read_words("gone")
CHECKOUT = Path(embedded.__file__).parents[2]


@pytest.fixture(scope="module")
def jars() -> Path:
    """The folder of the user's own jars, fetched if this is the first start."""
    folder = layout().jars
    fetching.install(folder, fetching.read_lock(layout().version), tell=print)
    return folder


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jars: Path) -> Iterator[Layout]:
    """A home of its own, in a folder with an awkward name, that has the jars already."""
    yield settle(monkeypatch, tmp_path, jars)
    embedded.stop(timeout=0)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory, jars: Path) -> Iterator[embedded.Server]:
    """A server for tests that only look at it, started where other settings of Solr are about."""
    with pytest.MonkeyPatch.context() as patch:
        settle(patch, tmp_path_factory.mktemp("shared"), jars)
        with pytest.MonkeyPatch.context() as only_now:
            only_now.setenv("ZK_HOST", "127.0.0.1:1")
            only_now.setenv("SOLR_HOME", "/nowhere")
            only_now.setenv("SOLR_PORT", "1")
            only_now.setenv("LC_ALL", "C")
            only_now.setenv("NEARDUP_SOLR_HEAP", "300m")
            started = embedded.start()
        yield started
        embedded.stop(timeout=0)


def settle(patch: pytest.MonkeyPatch, folder: Path, jars: Path) -> Layout:
    """Make a home below the folder the one in use, with the jars and with ports of its own."""
    patch.setenv("NEARDUP_HOME", str(folder / "zu Hause – 家"))
    patch.delenv("NEARDUP_SOLR_HEAP", raising=False)
    # A server that somebody starts meanwhile takes none of these ports.
    patch.setattr(process, "FIRST_PORT", randrange(21500, 30000))
    patch.setattr(process, "LAST_PORT", 32000)
    place = layout()
    shutil.copytree(jars, place.jars, copy_function=_link)
    place.server.mkdir(mode=0o700)
    remember(place, ServerState(port=0))  # as if it had been started before, without a password
    return place


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another disk
        shutil.copy2(source, target)


@pytest.fixture
def heard() -> list[str]:
    """The lines that were said: hand its `append` over as `tell`."""
    return []


def python(program: str, *arguments: str) -> list[str]:
    """The command line of a Python that has this test's ports."""
    ports = (
        "from neardup_solr.embedded import process\n"
        f"process.FIRST_PORT, process.LAST_PORT = {process.FIRST_PORT}, {process.LAST_PORT}\n"
    )
    return [sys.executable, "-c", ports + program, *arguments]


def neardup_solr(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `neardup solr` with these arguments, with nobody at the keyboard."""
    return subprocess.run(
        python("from neardup_solr.cli.main import main; main()", "solr", *arguments),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=CHECKOUT,
        check=False,
    )


def starter() -> subprocess.Popen[str]:
    """Another process that starts the server and prints its pid and whether it was the one."""
    program = (
        "from neardup_solr import embedded\n"
        "found = embedded.start()\n"
        "print(found.pid, found.started_now)\n"
    )
    return subprocess.Popen(python(program), stdout=subprocess.PIPE, text=True, cwd=CHECKOUT)


def until(condition: Callable[[], bool]) -> None:
    """Wait for what is bound to happen, however loaded the machine is."""
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)


def make_core(found: embedded.Server, name: str) -> None:
    """An empty core from the configset."""
    path = f"/solr/admin/cores?action=CREATE&name={name}&configSet=neardup&wt=json"
    assert process.ask(found.port, path, 120)


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
    place = layout()
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
    make_core(found, "one")
    assert embedded.cores(found) == {"one": 0}
    assert (layout().cores / "one" / "core.properties").is_file()


def test_the_users_own_solr_settings_do_not_leak_in(found: embedded.Server) -> None:
    """A ZK_HOST or SOLR_HOME meant for production has no effect, nor has an ASCII locale."""
    said = process.ask(found.port, "/solr/admin/info/system?wt=json", 60)
    assert said is not None
    assert (said["mode"], said["solr_home"]) == ("std", str(layout().solr_home))


def test_the_heap_is_settable(found: embedded.Server) -> None:
    """NEARDUP_SOLR_HEAP reaches Java."""
    assert found.heap == "300m"
    assert "-Xmx300m" in psutil.Process(found.pid).cmdline()


def test_loading_cores_may_take_as_long_as_it_takes(
    found: embedded.Server, heard: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once Solr answers no time-out counts: one line says what it does, and it is waited for."""
    monkeypatch.setattr(process, "LOADING_SAID_AFTER", 0)
    place = layout()
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


def test_two_starts_at_once_make_one_server(home: Layout) -> None:
    """Two processes that start it together get the same one, started by one of them."""
    starters = [starter(), starter()]
    answers = [one.communicate(timeout=120)[0].split() for one in starters]
    assert len({pid for pid, _ in answers}) == 1
    assert sorted(started for _, started in answers) == ["False", "True"]
    assert [str(pid) for pid in process.running_pids(home)] == [answers[0][0]]


def test_after_a_crash_it_starts_again_with_its_cores(
    home: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SIGKILL while cores load ends the wait; the next start keeps port and cores."""
    first = embedded.start()
    make_core(first, "one")
    monkeypatch.setattr(process, "LOADING_SAID_AFTER", 0)
    unloaded = home.cores / "more" / "core.properties"
    unloaded.parent.mkdir()
    unloaded.touch()
    with pytest.raises(ServerError, match="Solr ended while it started"):
        process.wait_until_ready(
            home, first.pid, first.port, timeout=0, tell=lambda _: os.kill(first.pid, SIGKILL)
        )
    unloaded.unlink()
    until(lambda: process.is_free(first.port))
    assert embedded.running() is None
    second = embedded.start()
    assert second.started_now
    assert (second.port, second.pid != first.pid) == (first.port, True)
    assert embedded.cores(second) == {"one": 0}


def test_a_starter_that_is_killed_leaves_a_server_to_be_found(home: Layout) -> None:
    """Who comes next waits for the server that is coming up instead of starting another."""
    killed = starter()
    until(lambda: recall(home).pid > 0)
    killed.kill()
    killed.communicate()
    state = recall(home)
    told = neardup_solr("status")
    assert (told.returncode, told.stdout) == (
        1, f"Solr is starting (pid {state.pid}); wait for it with: neardup solr start\n"
    )  # fmt: skip
    found = embedded.start()
    assert (found.pid, found.started_now) == (state.pid, False)


def test_a_number_that_went_to_another_process_is_not_taken_for_solr(home: Layout) -> None:
    """A stale pid that is alive again as something else is neither used nor killed."""
    with (
        subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other,
        socket.create_server((process.HOST, 0)) as listener,
    ):
        stale = ServerState(
            port=listener.getsockname()[1], pid=other.pid, heap="1g", started="then"
        )
        remember(home, stale)
        assert embedded.running() is None
        assert not embedded.stop()
        remember(home, stale)
        assert embedded.start(tell=lambda _: None).pid != other.pid
        assert other.poll() is None
        other.communicate(b"\n")


def test_a_lost_state_does_not_make_two_servers(home: Layout, heard: list[str]) -> None:
    """Without its state file, the old server is found by its command line and ended."""
    assert embedded.running() is None
    first = embedded.start(tell=heard.append)
    home.state.unlink()
    second = embedded.start(tell=heard.append)
    assert second.started_now
    assert list(process.running_pids(home)) == [second.pid] != [first.pid]
    assert heard == []


def test_a_port_taken_meanwhile_is_left_and_the_new_one_remembered(
    home: Layout, heard: list[str]
) -> None:
    """One line names both ports; an explicit port that is taken is refused."""
    with socket.create_server((process.HOST, 0)) as other:
        port = other.getsockname()[1]
        remember(home, ServerState(port=port))
        with pytest.raises(ServerError, match=f"port {port} is taken by another program"):
            embedded.start(port=port)
        moved = embedded.start(tell=heard.append)
        assert moved.port != port
        assert heard == [
            f"Port {port} is taken by another program; Solr uses {moved.port} from now on"
        ]
        assert embedded.stop()
    assert recall(home) == ServerState(port=moved.port)


def test_a_port_taken_while_java_starts_is_tried_elsewhere(
    home: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look at a port and its use another program can come: the next one is used."""
    with socket.socket() as other:  # it does not listen: no answer is waited for
        other.bind((process.HOST, 0))
        taken = other.getsockname()[1]
        guesses = iter([taken])
        real = process.free_port
        monkeypatch.setattr(process, "free_port", lambda: next(guesses, None) or real())
        found = embedded.start(tell=lambda _: None)
    assert found.port != taken
    assert list(process.running_pids(home)) == [found.pid]


def test_a_start_that_fails_says_why_and_leaves_nothing(
    home: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Java's own words are in the one line, and in the log."""
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-XX:NoSuchOption")
    with pytest.raises(ServerError, match=r"Solr ended while it started: .*NoSuchOption") as error:
        embedded.start()
    assert str(home.logs / "console.log") in str(error.value)
    assert "\n" not in str(error.value)
    assert "NoSuchOption" in embedded.logs()
    assert list(process.running_pids(home)) == []


def test_a_damaged_jar_is_found_out_after_the_start_it_spoils(home: Layout) -> None:
    """The failed start has every hash checked again by the next one, which works."""
    fetching.install(home.jars, fetching.read_lock(layout().version), tell=print)
    wanted = next(
        jar for jar in fetching.read_lock(layout().version) if jar.artifact == "jetty-xml"
    )
    path = home.jars / wanted.name
    content = path.read_bytes()
    path.unlink()
    path.write_bytes(bytes(wanted.size))
    with pytest.raises(ServerError, match="Solr ended while it started"):
        embedded.start()
    assert not fetching.is_installed(home.jars, fetching.read_lock(layout().version))
    path.write_bytes(content)
    assert embedded.start().started_now


def test_jars_are_fetched_by_one_of_several_at_the_same_time(tmp_path: Path) -> None:
    """The others wait for it: homes may share the folder of jars."""
    smallest = min(fetching.read_lock(layout().version), key=lambda jar: jar.size)
    heard: list[str] = []
    with ThreadPoolExecutor(3) as pool:
        jobs = [
            pool.submit(fetching.install, tmp_path / "jars", [smallest], tell=heard.append)
            for _ in range(3)
        ]
    assert [job.result() for job in jobs] == [None, None, None]
    assert len(heard) == 1
    assert fetching.is_installed(tmp_path / "jars", [smallest])


def test_a_stop_that_is_not_heard_ends_in_a_kill(home: Layout) -> None:
    """A frozen server is gone after the time-out all the same."""
    found = embedded.start()
    os.kill(found.pid, SIGSTOP)
    assert embedded.stop(timeout=0.2)
    assert not process.is_alive(home, found.pid)
    assert not embedded.stop()


def test_a_reset_deletes_the_cores_and_keeps_the_jars(home: Layout) -> None:
    """After a reset the next start is the first one, without a download."""
    make_core(embedded.start(), "one")
    embedded.reset()
    assert embedded.running() is None
    assert list(process.running_pids(home)) == []
    assert [path.name for path in home.server.iterdir()] == ["lock"]
    assert fetching.is_installed(home.jars, fetching.read_lock(layout().version))


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
    assert names == ["url", "pid", "port", "heap", "since", "version", "data", "cores"]
    assert re.search(r"^cores +none yet$", status.stdout, re.MULTILINE)
    assert neardup_solr("logs").stdout.count("\n") > 2
    other = neardup_solr("start", "--port", "9999")
    assert (other.returncode, "neardup solr stop" in other.stderr) == (1, True)
    assert neardup_solr("stop").stdout == "Solr is stopped\n"
    assert neardup_solr("stop").stdout == "Solr was not running\n"


def test_a_wrong_option_is_one_line_on_stderr(home: Layout) -> None:
    """A bad port, or an option that is gone, exits with 2 and starts nothing."""
    for arguments in (["--port", "99999"],):
        refused = neardup_solr("start", *arguments)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert refused.stderr.startswith("neardup: ")
        assert refused.stderr.count("\n") == 1
    assert list(process.running_pids(home)) == []


def test_a_reset_needs_a_yes(home: Layout) -> None:
    """Where nobody can be asked, nothing is deleted without --yes."""
    home.cores.mkdir(parents=True)
    refused = neardup_solr("reset")
    assert (refused.returncode, "--yes" in refused.stderr) == (1, True)
    assert home.cores.exists()
    assert neardup_solr("reset", "--yes").returncode == 0
    assert not home.cores.exists()


# Of the node and of a core, by both APIs, existing or not.
GUARDED = (
    "/solr/", "/solr/admin/cores?action=STATUS", "/solr/admin/info/system",
    "/solr/admin/info/properties", "/solr/admin/info/health", "/solr/admin/metrics",
    "/solr/admin/authentication", "/solr/admin/authorization", "/solr/admin/configs?action=LIST",
    "/solr/admin/zookeeper", "/solr/admin/collections?action=LIST", "/solr/____v2/cores",
    "/solr/____v2/node/system", "/solr/____v2/cluster/security/authentication", "/api/cores",
    "/solr/x/select?q=*:*", "/solr/x/get?id=1", "/solr/x/export?q=*:*&sort=id+asc&fl=id",
    "/solr/x/update?commit=true", "/solr/x/admin/ping", "/solr/x/schema", "/solr/x/config",
    "/solr/none/select",
)  # fmt: skip


def statuses(port: int, auth: tuple[str, str] | None = None) -> dict[str, int]:
    """What each of these paths answers."""
    return {
        path: requests.get(f"http://127.0.0.1:{port}{path}", auth=auth, timeout=30).status_code
        for path in GUARDED
    }


@pytest.fixture
def guarded(home: Layout, monkeypatch: pytest.MonkeyPatch) -> embedded.Server:
    """A server that asks for a password, started where there are passwords of another one."""
    for name in ("NEARDUP_SOLR_PASSWORD", "HTTPS_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "http://me:c4n4ry@127.0.0.1:1")
    home.state.unlink()  # a first start
    return embedded.start()


def test_a_password_is_asked_for(guarded: embedded.Server, home: Layout) -> None:
    """No path says anything without it, or with a wrong one; our own verbs know it, alone."""
    assert guarded.password == home.password
    solr = nd.connect(collection="x", create=True)
    texts = ["one two three four five", "one two three four five", "six seven eight"]
    documents = [nd.Document(id=str(at), text=text) for at, text in enumerate(texts)]
    assert nd.index(documents, solr).indexed == 3
    assert [match.id for match in nd.search(solr, id="0")] == ["1"]
    shut = statuses(guarded.port)
    nothing = {"/solr/": 403, "/api/cores": 404}  # there is no such thing, for anybody
    assert shut == dict.fromkeys(GUARDED, 401) | nothing
    assert statuses(guarded.port, ("neardup", "wrong")) == shut
    known = embedded.credentials(guarded)
    assert known is not None
    opened = statuses(guarded.port, known)
    assert [path for path, status in opened.items() if path not in nothing and status == 401] == []
    assert opened["/solr/x/select?q=*:*"] == opened["/solr/x/update?commit=true"] == 200
    told = neardup_solr("status")
    assert told.returncode == 0
    assert f"user    neardup, and that in {home.password}" in told.stdout
    assert "x (3 documents)" in told.stdout
    assert known[1] not in told.stdout
    # It is nowhere else: not in the process, not in what that tells of itself, not in its files.
    server = psutil.Process(guarded.pid)
    looked_at = [str(server.environ()), str(server.cmdline())]
    for path in ("/solr/admin/info/properties", "/solr/admin/metrics", "/solr/admin/info/system"):
        answer = requests.get(f"http://127.0.0.1:{guarded.port}{path}", auth=known, timeout=30)
        assert answer.status_code == 200
        looked_at.append(answer.text)
    files = [path for path in home.server.rglob("*") if path.is_file() and path != home.password]
    assert len(files) > 5
    looked_at += [path.read_bytes().decode("latin-1") for path in files]
    assert not [text for text in looked_at if known[1] in text or "c4n4ry" in text]


def test_a_password_stays(guarded: embedded.Server, home: Layout) -> None:
    """The next start and a reset keep it."""
    known = embedded.credentials(guarded)
    embedded.reset(tell=print)
    again = neardup_solr("start")
    said = f"It asks for a user and a password: neardup, and that in {home.password}"
    assert said in again.stdout
    running = embedded.running()
    assert running is not None
    assert embedded.credentials(running) == known


def test_a_password_of_ones_own(home: Layout) -> None:
    """What somebody writes into the file is the password from the next start on."""
    home.password.write_text("p\u00e4ss w\u00f6rd\u20ac:\n", encoding="utf-8")
    embedded.start()
    assert nd.connect(collection="x", create=True).count() == 0


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
    refused = neardup_solr(*words)
    assert refused.returncode == 2
    assert refused.stderr.splitlines()[-1].startswith("Error: No such option '--")
    assert step in refused.stderr
    assert not home.solr_home.exists()
