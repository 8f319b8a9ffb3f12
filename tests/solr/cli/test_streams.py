"""The command and the world around it: terminals, pipes, full disks, signals."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import neardup_solr as nd
from tests.command import NEARDUP
from tests.faults.proxy import proxied
from tests.solr.cli.conftest import Run

HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"


@contextmanager
def terminal() -> Iterator[tuple[int, int]]:
    """A terminal: the end of the person, and that of the command."""
    person, command = pty.openpty()
    try:
        yield person, command
    finally:
        os.close(person)


def read_until(terminal: int, awaited: str) -> str:
    """What comes from a terminal until it holds some text, or ends."""
    seen = b""
    while awaited.encode() not in seen:
        try:
            seen += os.read(terminal, 1024)
        except OSError:  # how Linux says that the other end is closed
            break
    return seen.decode()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_index_says_what_holds(solr: nd.Collection, number: signal.Signals) -> None:
    """Ctrl-C and a polite kill end it: progress cleared, cursor back, one thing to know."""
    env = os.environ | {"NEARDUP_SOLR_URL": solr.url, "TERM": "xterm", "COLUMNS": "80"}
    with terminal() as (person, command):
        running = subprocess.Popen(
            [*NEARDUP, "index", "-"], stdin=subprocess.PIPE, stderr=command, env=env
        )
        os.close(command)
        with running:
            seen = read_until(person, HIDE)
            running.send_signal(number)
            seen += read_until(person, "nothing: to the end")
            assert running.wait(60) == 130
    assert seen.rindex(SHOW) > seen.rindex(HIDE)
    lines = seen.split("\r\n")[:-1]
    assert lines[-2].endswith("it is safe to run the same command again.")
    assert lines[-1].endswith("\x1b[2K\x1b[?25hneardup: interrupted")
    assert "Traceback" not in seen


@pytest.mark.parametrize("seconds", [0.0, 1.0])  # it writes a decision, or waits for a document
def test_an_interrupt_does_not_wait_for_a_commit(solr: nd.Collection, seconds: float) -> None:
    """One Ctrl-C is enough where a gate has sent documents, and Solr hangs as it commits them."""
    decided, commits, over = threading.Event(), threading.Event(), threading.Event()

    def hang(_: str, body: bytes) -> None:
        if decided.is_set() and b'"commit"' in body:
            commits.set()
            over.wait()

    with proxied(int(solr.base.rpartition(":")[2].partition("/")[0]), hang) as proxy:
        words = [*NEARDUP, "gate", "-", "--solr", proxy.url, "-c", solr.name, "--index"]
        options = ["--batch", "1", "--source-format", "jsonl", "--format", "jsonl"]
        running = subprocess.Popen(
            [*words, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        with running:
            assert running.stdin is not None
            assert running.stdout is not None
            running.stdin.write('{"id": "1", "text": "Blue Door Cafe"}\n')
            running.stdin.flush()
            assert '"allow"' in running.stdout.readline()
            decided.set()
            time.sleep(seconds)
            running.send_signal(signal.SIGINT)
            assert commits.wait(60)
            try:
                _, said = running.communicate(timeout=60)
            finally:
                running.kill()
                over.set()
    assert running.returncode == 130
    assert said.splitlines()[-1] == "neardup: interrupted"


def test_a_person_is_told_that_typing_is_awaited(solr: nd.Collection) -> None:
    """`neardup index -` at a terminal does not wait in silence."""
    with terminal() as (person, command):
        running = subprocess.Popen(
            [*NEARDUP, "index", "-"],
            stdin=command,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"NEARDUP_SOLR_URL": solr.url},
        )
        os.close(command)
        with running:
            assert running.stderr is not None
            assert running.stderr.readline().startswith("Reading documents from the keyboard")
            os.write(person, b"1 one two three\n\x04")
            running.communicate(timeout=60)
    assert running.returncode == 0
    assert solr.count() == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full to write to")
@pytest.mark.parametrize("words", [["--version"], ["report"], ["solr", "--help"]])
def test_a_full_disk_under_the_output_is_one_line(
    run: Run, solr: nd.Collection, listings: Path, words: list[str]
) -> None:
    """Output that cannot be written is a failure, and no traceback."""
    run("index", str(listings))
    with open("/dev/full", "w") as full:
        failed = subprocess.run(
            [*NEARDUP, *words],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"NEARDUP_SOLR_URL": solr.url},
        )
    assert failed.returncode == 4
    assert failed.stderr.splitlines()[-1] == (
        "neardup: standard output: No space left on device; check free space and permissions"
    )
    assert "Traceback" not in failed.stderr


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
def test_closed_streams_are_as_good_as_none(
    run: Run, solr: nd.Collection, listings: Path, closed: str
) -> None:
    """A report for nobody is made as any other."""
    run("index", str(listings))
    made = subprocess.run(
        ["bash", "-c", f"{' '.join(NEARDUP)} report {closed}"],
        capture_output=True,
        text=True,
        env=os.environ | {"NEARDUP_SOLR_URL": solr.url},
    )
    assert made.returncode == 0
    assert "Traceback" not in made.stderr


@pytest.mark.usefixtures("demo_core")
def test_what_the_output_cannot_encode_is_escaped(
    spawn: Run, solr: nd.Collection, tmp_path: Path
) -> None:
    """A terminal without Unicode gets escapes and no traceback."""
    known = tmp_path / "known.tsv"
    known.write_text("1\t2\n")
    found = tmp_path / "found.tsv"
    found.write_text("1\té\n")
    shown = spawn("evaluate", str(known), str(found), PYTHONIOENCODING="ascii")
    assert shown.returncode == 0
    assert shown.stdout.splitlines()[1:] == [r"missed (1): 1 \u2013 2", r"false (1): 1 \u2013 \xe9"]
    assert spawn("demo", "--solr", solr.base, PYTHONIOENCODING="latin-1").returncode == 0


COMMANDS = (
    "index {0}", "search --id 1", "report", "duplicates --by all", "duplicates {0} --by bands",
    "gate {0}", "annotate", "doctor", "explain 1 2", "evaluate {1}", "tune --catch 0.8 {0}", "init",
    "reband --bands 40 --band-rows 3", "signatures {0} -o {2}", "dead-letters show", "delete 9",
)  # fmt: skip


def test_quiet_leaves_results_alone(run: Run, listings: Path, tmp_path: Path) -> None:
    """Before a command or behind it, --quiet takes all lines away but results and errors."""
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("1\t2\n")
    for command in COMMANDS:
        words = command.format(listings, pairs, tmp_path / "signatures.parquet").split()
        loud = run(*words)
        for typed in (["--quiet", *words], [*words, "--quiet"]):
            ran = run(*typed)
            assert (ran.stdout, ran.returncode) == (loud.stdout, loud.returncode), typed
            assert ran.stderr == "", typed
    bad = run("--quiet", "search", "--id", "none")
    assert (bad.returncode, bad.stderr.count("\n")) == (3, 1)


def test_quiet_shows_no_bars_on_a_terminal(spawn: Run, listings: Path) -> None:
    """Nothing at all comes to the terminal, not even the codes that hide its cursor."""
    with terminal() as (person, command):
        words = [*NEARDUP, "--quiet", "duplicates", str(listings), "--format", "tsv"]
        ran = subprocess.run(words, stdout=subprocess.PIPE, stderr=command, timeout=60)
        os.close(command)
        assert (ran.returncode, ran.stdout.count(b"\n")) == (0, 2)
        assert read_until(person, "?") == ""
