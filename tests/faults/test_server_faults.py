"""Fetching the embedded Solr while something is wrong.

The jars here are a few bytes each and come from a Maven repository on this machine.
"""

from __future__ import annotations

import gc
import hashlib
import os
import pickle
import socket
import subprocess
import sys
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from neardup_solr.embedded import jars as fetching
from neardup_solr.embedded.jars import Jar, install, is_installed
from neardup_solr.errors import ServerError
from neardup_solr.testing import SIZES
from tests.refusals import refusal

CONTENT = {f"lib{number}": os.urandom(3000 + number) for number in range(12)}
JARS = tuple(
    Jar(
        group="org.example",
        artifact=name,
        version="1.0",
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
    )
    for name, content in CONTENT.items()
)


class Repository:
    """A Maven repository: its address, its files, and which of them were asked for."""

    def __init__(self, root: Path) -> None:
        self.root, self.asked = root, list[str]()
        for jar in JARS:
            path = self.path(jar)
            path.parent.mkdir(parents=True)
            path.write_bytes(CONTENT[jar.artifact])
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def path(self, jar: Jar) -> Path:
        """The file that is served for a jar."""
        return self.root / "org" / "example" / jar.artifact / jar.version / jar.name

    def _handler(self) -> type[SimpleHTTPRequestHandler]:
        root, asked = str(self.root), self.asked

        class Handler(SimpleHTTPRequestHandler):
            def __init__(self, *arguments: object) -> None:
                super().__init__(*arguments, directory=root)  # type: ignore[arg-type]

            def do_GET(self) -> None:
                if self.path.endswith(".jar"):
                    asked.append(self.path.rsplit("/", 1)[1])
                super().do_GET()

            def log_message(self, *_: object) -> None:
                pass

        return Handler


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[Repository]:
    """A repository that serves the jars as they should be."""
    made = Repository(tmp_path / "repository")
    thread = Thread(target=made.server.serve_forever, args=(0.01,))
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()
    thread.join()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the jars go; it does not exist yet."""
    return tmp_path / "home" / "solr" / "jars"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No pause between two attempts."""
    monkeypatch.setattr(SIZES, "download_pauses", (0.0, 0.0))


def fetch(folder: Path, repository: Repository) -> list[str]:
    """Install from that repository; the lines that were said."""
    said: list[str] = []
    install(folder, JARS, tell=said.append, remote=repository.url)
    return said


def left_in(folder: Path) -> list[str]:
    """The jars in the folder, after a look that nothing else lies beside it."""
    assert sorted(path.name for path in folder.parent.iterdir()) == ["fetching", "jars"]
    return sorted(path.name for path in folder.glob("*.jar"))


def test_every_jar_is_fetched_once_and_one_line_says_so(
    folder: Path, repository: Repository
) -> None:
    """The first install fetches all, the second asks for nothing and says nothing."""
    (said,) = fetch(folder, repository)
    assert "12 jars" in said
    assert str(folder) in said
    assert sorted(repository.asked) == left_in(folder) == sorted(jar.name for jar in JARS)
    repository.asked.clear()
    assert fetch(folder, repository) == []
    assert repository.asked == []


def test_a_half_downloaded_jar_is_fetched_again_alone(folder: Path, repository: Repository) -> None:
    """A jar cut short on the disk is replaced; the others are left alone."""
    fetch(folder, repository)
    repository.asked.clear()
    (folder / JARS[3].name).write_bytes(CONTENT["lib3"][:100])
    fetch(folder, repository)
    assert repository.asked == [JARS[3].name]
    assert JARS[3].is_intact(folder / JARS[3].name)


def test_a_missing_jar_is_fetched_again_alone(folder: Path, repository: Repository) -> None:
    """A jar that was deleted comes back."""
    fetch(folder, repository)
    repository.asked.clear()
    (folder / JARS[5].name).unlink()
    fetch(folder, repository)
    assert repository.asked == [JARS[5].name]


def test_a_damaged_jar_of_the_right_size_is_replaced_once_doubted(
    folder: Path, repository: Repository
) -> None:
    """After a failed start every hash is checked again."""
    fetch(folder, repository)
    repository.asked.clear()
    (folder / JARS[0].name).write_bytes(b"x" * JARS[0].size)
    fetching.invalidate(folder)
    fetch(folder, repository)
    assert repository.asked == [JARS[0].name]
    assert JARS[0].is_intact(folder / JARS[0].name)


def test_an_interrupted_install_keeps_what_was_verified(
    folder: Path, repository: Repository
) -> None:
    """Intact jars without the final mark, as a SIGKILL leaves them, are not fetched again."""
    folder.mkdir(parents=True)
    staging = folder.parent / "staging"
    staging.mkdir()
    (staging / "half.jar").write_bytes(b"half")
    for jar in JARS[:8]:
        (folder / jar.name).write_bytes(CONTENT[jar.artifact])
    fetch(folder, repository)
    assert sorted(repository.asked) == sorted(jar.name for jar in JARS[8:])
    assert len(left_in(folder)) == len(JARS)


def test_a_jar_that_differs_from_the_lock_is_refused_by_name(
    folder: Path, repository: Repository, capfd: pytest.CaptureFixture[str]
) -> None:
    """A wrong hash stops the install, names the jar and keeps nothing of it."""
    repository.path(JARS[2]).write_bytes(b"x" * JARS[2].size)
    with refusal(ServerError, "download-failed", "lib2-1.0.jar", "SHA-256"):
        fetch(folder, repository)
    assert JARS[2].name not in left_in(folder)
    assert not is_installed(folder, JARS)
    assert capfd.readouterr().err == ""


def test_a_login_page_instead_of_a_jar_is_refused(folder: Path, repository: Repository) -> None:
    """A hotel network answers 200 with HTML: no such file becomes a jar."""
    for jar in JARS:
        repository.path(jar).write_bytes(b"<html>Please log in</html>")
    with refusal(ServerError, "download-failed", "SHA-256"):
        fetch(folder, repository)
    assert left_in(folder) == []


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # jgo leaves the refused answer open
@pytest.mark.usefixtures("impatient")
def test_a_repository_without_the_jar_is_named_as_such(
    folder: Path, repository: Repository
) -> None:
    """A 404 is not "no network"."""
    repository.path(JARS[1]).unlink()
    with refusal(ServerError, "download-failed", "lib1-1.0.jar", "not in"):
        fetch(folder, repository)
    assert repository.asked.count(JARS[1].name) == 3
    gc.collect()


def test_without_jgo_nothing_is_announced(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The missing package comes first, not a line that says that Solr is being fetched."""
    monkeypatch.setitem(sys.modules, "jgo.maven", None)
    said: list[str] = []
    with refusal(ServerError, "package-missing", "jgo", "`address`"):
        install(folder, JARS, tell=said.append)
    assert said == []


@pytest.mark.usefixtures("impatient")
def test_without_network_the_first_start_says_to_connect_once(folder: Path) -> None:
    """Nobody listens: one line, no address, nothing written."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # bound but not listening: connections are refused
        remote = f"http://127.0.0.1:{unused.getsockname()[1]}"
        with refusal(ServerError, "download-failed", "network") as error:
            install(folder, JARS, tell=lambda _: None, remote=remote)
    assert "(no connection)" in str(error.value)
    assert "\n" not in str(error.value)
    assert left_in(folder) == []
    assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)


def test_too_small_a_disk_is_noticed_before_the_download(
    folder: Path, repository: Repository
) -> None:
    """The line says how much to free and where; nothing is asked of the network."""
    huge = Jar(group="org.example", artifact="huge", version="1", size=10**17, sha256="0")
    with refusal(ServerError, "disk-full", "MB") as error:
        install(folder, [*JARS, huge], tell=lambda _: None, remote=repository.url)
    assert str(folder) in str(error.value)
    assert repository.asked == []
    assert left_in(folder) == []


@pytest.mark.skipif(os.name != "posix", reason="file size limits are a POSIX thing")
def test_a_disk_that_fills_up_during_the_download_is_one_line(
    folder: Path, repository: Repository
) -> None:
    """A write that fails half-way leaves no part of a jar."""
    program = (
        "import resource, sys, pathlib\n"
        "from neardup_solr.embedded.jars import Jar, install\n"
        "from neardup_solr.errors import ServerError\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))\n"
        f"jar = {JARS[0]!r}\n"
        "try:\n"
        "    install(pathlib.Path(sys.argv[1]), [jar], tell=lambda _: None, remote=sys.argv[2])\n"
        "except ServerError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(folder), repository.url],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(fetching.__file__).parents[2],
    )
    assert "cannot write" in done.stdout
    assert "free some space" in done.stdout
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""
    assert left_in(folder) == []


def test_a_home_that_cannot_be_made_is_one_line(tmp_path: Path, repository: Repository) -> None:
    """A file stands where the folder should be."""
    (tmp_path / "file").touch()
    with refusal(ServerError, "file-unwritable", "NEARDUP_HOME"):
        fetch(tmp_path / "file" / "jars", repository)
