"""Where the embedded Solr lives, and what it remembers there."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import platformdirs
import pytest
from platformdirs import windows
from platformdirs.api import PlatformDirsABC
from platformdirs.macos import MacOS
from platformdirs.unix import Unix

from neardup_solr.embedded import server_lock
from neardup_solr.embedded.layout import Layout, ServerState, find_layout, recall, remember
from neardup_solr.embedded.process import is_alive
from neardup_solr.errors import ArgumentError, ServerError
from neardup_solr.files import solr_config
from tests.refusals import refusal


@pytest.fixture
def place(tmp_path: Path) -> Layout:
    """A home with its folder for the server."""
    made = Layout(home=tmp_path)
    made.server.mkdir()
    return made


def test_the_home_can_be_moved_by_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """NEARDUP_HOME decides; a link to it is the same home."""
    (tmp_path / "link").symlink_to(tmp_path)
    monkeypatch.setenv("NEARDUP_HOME", str(tmp_path / "link"))
    assert find_layout().home == tmp_path.resolve()


def test_without_it_the_home_is_the_users_data_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is written beside the program or into the current folder."""
    monkeypatch.delenv("NEARDUP_HOME", raising=False)
    assert find_layout().home.name == "neardup-solr"
    assert find_layout().home.is_absolute()


@pytest.mark.parametrize(
    ("system", "variable", "below"),
    [
        (MacOS, "HOME", "Library/Application Support/neardup-solr"),
        (windows.Windows, "LOCALAPPDATA", "neardup-solr"),
        (Unix, "XDG_DATA_HOME", "neardup-solr"),
    ],
)
def test_the_users_data_folder_is_that_of_the_system(
    system: type[PlatformDirsABC],
    variable: str,
    below: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """On macOS and Windows it is where programs of theirs keep data, without an author's name."""
    monkeypatch.delenv("NEARDUP_HOME", raising=False)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setattr(platformdirs, "PlatformDirs", system)
    monkeypatch.setattr(windows, "get_win_folder", windows.get_win_folder_from_env_vars)
    monkeypatch.setenv(variable, str(tmp_path))
    assert find_layout().home == tmp_path / below


def test_a_home_that_java_cannot_have_on_its_class_path_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The separator of the class path cannot be part of a name."""
    monkeypatch.setenv("NEARDUP_HOME", str(tmp_path / f"a{os.pathsep}b"))
    with pytest.raises(ServerError, match="NEARDUP_HOME"):
        find_layout()


def test_each_version_has_folders_of_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """By the variable; the first one keeps its old place."""
    monkeypatch.setenv("NEARDUP_HOME", str(tmp_path))
    monkeypatch.delenv("NEARDUP_SOLR_VERSION", raising=False)
    assert (find_layout().server, find_layout().jars) == (
        tmp_path / "server",
        tmp_path / "solr-9.10.1/jars",
    )
    monkeypatch.setenv("NEARDUP_SOLR_VERSION", "9.4.1")
    assert find_layout().server == tmp_path / "9.4.1" / "server"
    assert find_layout().jars == tmp_path / "solr-9.4.1" / "jars"
    monkeypatch.setenv("NEARDUP_SOLR_VERSION", "7.7.3")
    with refusal(ArgumentError, "argument-invalid", "'7.7.3'"):
        find_layout()


def test_a_missing_extra_is_named(place: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without psutil the message is the pip command, or an own Solr; no import error."""
    monkeypatch.setitem(sys.modules, "psutil", None)
    with pytest.raises(ServerError, match=r'psutil.*pip install "neardup-solr\[server\]"') as e:
        is_alive(place, 7)
    assert str(e.value).endswith(", or give the `address` of your own Solr")


def test_the_state_is_remembered(place: Layout) -> None:
    """What was written is read again."""
    state = ServerState(port=18983, pid=7, heap="1g", started="2026-01-01T00:00:00+00:00")
    remember(place, state)
    assert recall(place) == state


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": 1}', '{"port": 1, "more": 2}', "\0"])
def test_a_state_that_cannot_be_read_is_no_state(place: Layout, text: str) -> None:
    """A damaged file is as good as none."""
    place.state.write_text(text)
    assert recall(place) == ServerState(port=0)


def test_a_state_that_cannot_be_written_is_one_line(place: Layout) -> None:
    """Where a folder stands in the way, the message says where and what to do."""
    place.state.mkdir()
    with pytest.raises(ServerError, match=r"cannot write .*state.*NEARDUP_HOME"):
        remember(place, ServerState(port=1))


def test_the_server_files_are_found() -> None:
    """In a checkout as in the wheel, the folder holds the lock and the configset."""
    assert (solr_config() / "server" / "jars-9.10.1.lock").is_file()


def test_a_turn_is_for_one_at_a_time(tmp_path: Path) -> None:
    """Who comes second is told that it waits; whatever ends a turn, the next one can be taken."""
    place = Layout(home=tmp_path)

    class Waited(Exception):
        """Raised instead of waiting."""

    def wait(_line: str) -> None:
        raise Waited

    with server_lock(place, wait), pytest.raises(Waited), server_lock(place, wait):
        pass
    with pytest.raises(ValueError, match="wrong"), server_lock(place, wait):
        raise ValueError("wrong")
    with server_lock(place, wait):
        assert stat.S_ISREG(place.lock.stat().st_mode)
        assert stat.S_IMODE(place.server.stat().st_mode) == 0o700


def test_a_killed_process_gives_its_turn_back(tmp_path: Path) -> None:
    """The lock is the system's: one that nobody could give back does not stay."""
    place = Layout(home=tmp_path)
    program = (
        "import os, pathlib, signal, sys\n"
        "from neardup_solr.embedded.layout import Layout\n"
        "from neardup_solr.embedded import server_lock\n"
        "with server_lock(Layout(home=pathlib.Path(sys.argv[1])), print):\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False)
    assert place.lock.is_file()
    said: list[str] = []
    with server_lock(place, said.append):
        assert said == []
