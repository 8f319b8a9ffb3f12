"""What an embedded Solr keeps when it or its starter is killed, is damaged, loses its state."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from signal import SIGKILL

import psutil
import pytest
import requests

import neardup_solr as nd
from neardup_solr import embedded
from neardup_solr.embedded import jars, process
from neardup_solr.embedded.layout import Layout, recall
from neardup_solr.errors import ServerError
from neardup_solr.progress import until
from neardup_solr.testing import SIZES
from tests.command import neardup
from tests.refusals import refusal
from tests.solr.homes import make_core, settled, starter


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Layout]:
    """A home whose server each test takes as it is, where passwords of other servers are about."""
    with settled(tmp_path_factory.mktemp("kept")) as place, pytest.MonkeyPatch.context() as patch:
        for name in ("NEARDUP_SOLR_PASSWORD", "HTTPS_PROXY", "no_proxy"):
            patch.setenv(name, "http://me:c4n4ry@127.0.0.1:1")
        yield place


def test_a_damaged_jar_is_found_out_after_the_start_it_spoils(home: Layout) -> None:
    """The failed start has every hash checked again by the next one, which works."""
    wanted = jars.read_lock(home.version)
    jars.install(home.jars, wanted, tell=print)
    damaged = next(jar for jar in wanted if jar.artifact == "jetty-xml")
    path, aside = home.jars / damaged.name, home.home / damaged.name
    path.rename(aside)
    path.write_bytes(bytes(damaged.size))
    with refusal(ServerError, "solr-not-started"):
        embedded.start()
    assert not jars.is_installed(home.jars, wanted)
    aside.replace(path)
    assert embedded.start().started_now


def test_after_a_crash_it_starts_again_with_its_cores(
    home: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SIGKILL while cores load ends the wait; the next start keeps port and cores.

    Two processes that start it together get the same server, started by one of them.
    """
    first = embedded.start()
    make_core(first, "one")
    monkeypatch.setattr(SIZES, "silent_loading", 0)
    unloaded = home.cores / "more" / "core.properties"
    unloaded.parent.mkdir()
    unloaded.touch()
    with refusal(ServerError, "solr-not-started"):
        process.wait_until_ready(
            home, first.pid, first.port, timeout=0, tell=lambda _: os.kill(first.pid, SIGKILL)
        )
    unloaded.unlink()
    assert until(lambda: process.is_free(first.port), 120, 0.01)
    assert embedded.running() is None
    answers = [one.communicate(timeout=120)[0].split() for one in [starter(), starter()]]
    assert len({pid for pid, _ in answers}) == 1
    assert sorted(started for _, started in answers) == ["False", "True"]
    assert [str(pid) for pid in process.running_pids(home)] == [answers[0][0]]
    second = embedded.running()
    assert second is not None
    assert (second.port, second.pid != first.pid) == (first.port, True)
    assert embedded.cores(second) == {"one": 0}


def test_a_lost_state_or_a_killed_starter_does_not_make_two_servers(home: Layout) -> None:
    """The old server is found by its command line and ended, the one that comes up waited for."""
    first = embedded.start()
    home.state.unlink()
    killed = starter()
    assert until(lambda: recall(home).pid > 0, 120, 0.01)
    killed.kill()
    assert killed.communicate() == ("", "")
    state = recall(home)
    told = neardup("solr", "status")
    assert (told.returncode, told.stdout) == (
        3, f"Solr is starting (pid {state.pid}); wait for it with: neardup solr start\n"
    )  # fmt: skip
    heard: list[str] = []
    found = embedded.start(tell=heard.append)
    assert (found.pid, found.started_now, heard) == (state.pid, False, [])
    assert list(process.running_pids(home)) == [found.pid] != [first.pid]


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
def guarded(home: Layout) -> embedded.Server:
    """A server that asks for a password, as after a first start, or one without a state."""
    if embedded.start().password is None:
        home.state.unlink()
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
    told = neardup("solr", "status")
    assert told.returncode == 0
    assert f"user    neardup, with the password in {home.password}" in told.stdout
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


def test_a_reset_deletes_the_cores_and_keeps_jars_and_password(
    guarded: embedded.Server, home: Layout
) -> None:
    """The next start is the first one, without a download, and with what the user wrote there."""
    place, known = re.escape(str(home.home)), home.password.read_text(encoding="utf-8")
    nd.connect(collection="x", create=True)
    embedded.reset()
    assert embedded.running() is None
    assert list(process.running_pids(home)) == []
    assert {path.name for path in home.server.iterdir()} == {"lock", "password"}
    assert home.password.read_text(encoding="utf-8") == known
    assert jars.is_installed(home.jars, jars.read_lock(home.version))
    status = neardup("solr", "status")
    assert status.returncode == 3
    assert status.stdout == "Solr is not running; start it with: neardup solr start\n"
    own = "p\u00e4ss w\u00f6rd\u20ac:"
    home.password.write_text(f"{own}\n", encoding="utf-8")
    line, asked = neardup("solr", "start").stdout.splitlines()
    server = rf"http://127\.0\.0\.1:\d+/solr \(pid \d+, heap 1g, data in {place}\)"
    assert re.fullmatch(rf"Solr {re.escape(home.version)} is running at {server}", line)
    assert asked == f"It requires a login: neardup, with the password in {home.password}"
    running = embedded.running()
    assert running is not None
    assert embedded.credentials(running) == ("neardup", own)
    assert embedded.cores(running) == {}
    assert nd.connect(collection="x", create=True).count() == 0
    assert neardup("solr", "stop").stdout == "Solr has been stopped\n"
    assert neardup("solr", "stop").stdout == "Solr was not running\n"
