"""Full disks: that of Solr, and that of the checkpoint and the dead letters."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest

from neardup_solr.testing import fresh_core
from tests.command import NEARDUP, neardup
from tests.faults.history import checkpointed
from tests.faults.killer import kill_solr
from tests.faults.place import Place, Places
from tests.faults.tiers import is_full, sized
from tests.solr import api

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits files as Linux does")

MEBIBYTE = 1 << 20
# Twice as many as there is room for.
DOCUMENTS = {"tmpfs": 16_000, "file_sizes": 5_000}
HALTED = (b"HTTP/1.1 5", b"No space left", b"File too large", b"Server error writing")
STOPPED = 4  # the exit code that says that --resume goes on


class Disk:
    """A limited disk of the embedded Solr: `fill` limits it, `free` makes room."""

    def fill(self) -> None:
        """Limit what Solr can write from now on."""
        raise NotImplementedError

    def free(self) -> None:
        """Make room."""
        raise NotImplementedError


class Tmpfs(Disk):
    """A small file system in memory that holds the cores; mounting one needs root."""

    def __init__(self) -> None:
        with fresh_core(api.embedded_base()) as core:
            self._cores = api.folder(core).parent
        assert neardup("solr", "stop").returncode == 0
        self._mount("size=20m")

    def _mount(self, options: str) -> None:
        words = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(self._cores)]
        subprocess.run(words, check=True)

    def fill(self) -> None:
        pass  # it is small from the beginning

    def free(self) -> None:
        self._mount("remount,size=1g")

    def close(self) -> None:
        """Take it away, once Solr has ended."""
        subprocess.run(["umount", str(self._cores)], check=True)


class FileSizes(Disk):
    """Files of the Java process cannot grow beyond a size, which every user can ask for."""

    def fill(self) -> None:
        server = api.process(api.embedded_base())
        server.rlimit(psutil.RLIMIT_FSIZE, (MEBIBYTE, -1))

    def free(self) -> None:
        pass  # the limit ends with the process


@pytest.fixture(scope="module")
def home(killed: Path) -> Path:
    """The jobs are on an embedded Solr that may be killed, and whose disk is full at times."""
    return killed


@pytest.fixture
def tmpfs(home: Path) -> Iterator[Disk]:
    """A disk of 20 MiB."""
    disk = Tmpfs()
    yield disk
    assert neardup("solr", "stop").returncode == 0
    disk.close()
    api.embedded_base()


@pytest.fixture
def file_sizes(home: Path) -> Disk:
    """A disk for files of 1 MiB."""
    return FileSizes()


# With all tests the other kind of disk is enough, which every user can have.
needs_root = pytest.mark.skipif(
    not is_full() or os.geteuid() != 0, reason="at full size only, and to mount a tmpfs needs root"
)


@pytest.mark.parametrize("kind", [pytest.param("tmpfs", marks=needs_root), "file_sizes"])
def test_server(kind: str, request: pytest.FixtureRequest, row: Any) -> None:
    """A run stops and commits no more; with room, a restart and --resume nothing is lost."""
    disk = request.getfixturevalue(kind)
    here: Place = request.getfixturevalue("jobs").make(DOCUMENTS[kind], interval=2_000)
    halted_at: list[int] = []  # the number of commits when Solr said so first

    def notice(piece: bytes) -> None:
        if any(sign in piece for sign in HALTED) and not halted_at:
            halted_at.append(here.history.commits)

    here.proxy.on_answer = notice
    disk.fill()
    running = here.run()
    assert running.wait() in (1, STOPPED), running.said()
    assert halted_at, running.said()
    after = here.history.commits - halted_at[0]
    assert after == 0
    assert "restart Solr" in running.said()
    assert "Traceback" not in running.said()
    done = checkpointed(here.job)
    disk.free()
    assert kill_solr()
    here.proxy.upstream = urlsplit(api.embedded_base()).port or 0
    # What was verified before is there; the rest is sent by the next run.
    assert set(here.documents.good[:done]) <= set(here.collection.ids())
    again = here.run(*["--resume"][: bool(done)])
    assert again.wait() == 0, again.said()
    assert here.verdict().is_right(), here.verdict()
    row("R3", f"{kind.replace('_', ' ')}: 0 commits after the first 5xx, lost 0")


def limited(size: int) -> Callable[[], None]:
    """Let files of a process grow no further than this."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


def stopped(here: Place, size: int) -> str:
    """Run where files cannot grow beyond a size: it ends with an error; what it said."""
    ended = subprocess.run(
        [*NEARDUP, *here.words], preexec_fn=limited(size), capture_output=True, text=True,
        timeout=120,
    )  # fmt: skip
    assert ended.returncode in (1, STOPPED)
    assert "Traceback" not in ended.stderr
    return ended.stderr


@pytest.mark.parametrize(
    ("size", "every_bad", "file"),
    [
        (100, 0, "checkpoint.json"),
        (3_000, 50, "dead-letters"),
        *sized(usual=[], full=[(100, 50, "dead-letters")]),
    ],
)
def test_client(jobs: Places, size: int, every_bad: int, file: str, row: Any) -> None:
    """A checkpoint or dead letters that cannot be written stop the run; --resume loses nothing."""
    here = jobs.make(3_000, every_bad=every_bad, interval=1_000)
    said = stopped(here, size)
    assert file in said
    assert "cannot be written" in said
    last = here.run("--resume")
    assert last.wait() == (1 if every_bad else 0), last.said()
    assert here.verdict().is_right(), here.verdict()
    row("R8", f"no room for {file}: exit code not 0, lost 0")


def test_client_without_a_folder(jobs: Places, row: Any) -> None:
    """A folder that cannot be made is told before anything is sent."""
    here = jobs.make(1_000)
    (here.folder / "a file").touch()
    running = here.run("--job", str(here.folder / "a file" / "job"))
    assert running.wait() in (2, 3), running.said()
    assert "cannot be written" in running.said()
    assert "Traceback" not in running.said()
    assert not here.history.sent
    row("R8", "folder that cannot be written: exit code not 0, nothing sent")
