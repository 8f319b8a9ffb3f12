"""The command and the world around it: terminals, pipes, full disks, signals."""

from __future__ import annotations

import os
import pty
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import orjson
import pytest

from neardup_solr.cli import show
from neardup_solr.records import Match, Pair
from neardup_solr.settings import ALL_FIELDS
from neardup_solr.solr.collection import Solr
from neardup_solr.verbs.report import Report
from tests.solr.cli.conftest import NEARDUP, Run

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
def test_an_interrupted_index_says_what_holds(solr: Solr, number: signal.Signals) -> None:
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
            assert running.wait(10) == 130
    assert seen.rindex(SHOW) > seen.rindex(HIDE)
    lines = seen.split("\r\n")[:-1]
    assert lines[-2].endswith("it is safe to run the same command again.")
    assert lines[-1].endswith("\x1b[2K\x1b[?25hneardup: interrupted")
    assert "Traceback" not in seen


@contextmanager
def hanging() -> Iterator[tuple[str, threading.Event]]:
    """A Solr that answers all but documents: its address, and whether it has got some."""
    got, over = threading.Event(), threading.Event()
    fields = [{"name": name} for name in ALL_FIELDS]
    counted = {"facets": {"count": 0}, "response": {"numFound": 0, "docs": []}}
    body = orjson.dumps({"responseHeader": {"status": 0}, "fields": fields} | counted)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if "/update" in self.path and b'"signature_settings"' in asked:
                got.set()
                over.wait()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with suppress(OSError):  # the command may be gone by then
                self.wfile.write(body)

        do_POST = do_GET

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/solr/x", got
    finally:
        server.shutdown()
        over.set()
        server.server_close()
        thread.join()


def test_an_interrupt_does_not_wait_for_senders(listings: Path) -> None:
    """One Ctrl-C is enough while threads wait for a Solr that took documents and hangs."""
    with hanging() as (address, got):
        running = subprocess.Popen(
            [*NEARDUP, "index", str(listings), "--solr", address],
            stderr=subprocess.PIPE,
            text=True,
        )
        with running:
            assert got.wait(30)
            running.send_signal(signal.SIGINT)
            _, said = running.communicate(timeout=10)
    assert running.returncode == 130
    assert said.splitlines()[1:] == ["neardup: interrupted"]


def test_an_interrupt_ends_the_wait_for_a_solr_that_hangs() -> None:
    """One Ctrl-C is enough where Solr takes a request and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/solr/x"
        running = subprocess.Popen(
            [*NEARDUP, "delete", "1", "--solr", address], stderr=subprocess.PIPE, text=True
        )
        with running:
            connection, _ = silent.accept()
            with connection:
                connection.recv(1024)
                running.send_signal(signal.SIGINT)
                _, said = running.communicate(timeout=10)
    assert (running.returncode, said) == (130, "neardup: interrupted\n")


def test_a_person_is_told_that_typing_is_awaited(solr: Solr) -> None:
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
            running.communicate(timeout=30)
    assert running.returncode == 0
    assert solr.count() == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full to write to")
@pytest.mark.parametrize("words", [["--version"], ["report"], ["solr", "--help"]])
def test_a_full_disk_under_the_output_is_one_line(
    run: Run, solr: Solr, listings: Path, words: list[str]
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
    assert failed.returncode == 1
    assert failed.stderr.splitlines()[-1] == (
        "neardup: standard output: No space left on device; check its room and permissions"
    )
    assert "Traceback" not in failed.stderr


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
def test_closed_streams_are_as_good_as_none(
    run: Run, solr: Solr, listings: Path, closed: str
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


def test_what_the_output_cannot_encode_is_escaped(run: Run, tmp_path: Path) -> None:
    """A terminal without Unicode gets escapes and no traceback."""
    known = tmp_path / "known.tsv"
    known.write_text("1\t2\n")
    found = tmp_path / "found.tsv"
    found.write_text("1\té\n")
    shown = run("evaluate", str(known), "--report", str(found), PYTHONIOENCODING="ascii")
    assert shown.returncode == 0
    assert shown.stdout.splitlines()[1:] == [r"missed (1): 1 \u2013 2", r"false (1): 1 \u2013 \xe9"]
    assert run("demo", PYTHONIOENCODING="latin-1").returncode == 0


@pytest.mark.parametrize("width", [20, 40, 66, 80])
def test_ids_and_texts_have_room_on_any_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], width: int
) -> None:
    """No line is wider than the terminal, and ids are not folded to a letter a line."""
    monkeypatch.setenv("COLUMNS", str(width))
    match = Match(
        id="guide-000001", distance=2, similarity=0.9, shared=7, content="blue door cafe " * 9
    )
    pair = Pair(id=match.id, other_id="guide-000002", distance=2, similarity=0.9)
    show.print_matches([match])
    show.print_report(Report(pairs=(pair,), documents=2, cut=0), {match.id: match.content})
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= width
    assert sum("guide-000001" in line for line in lines) == 2
    assert sum("blue do" in line for line in lines) == 2
