"""What the command prints, on terminals of any width."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import threading
from pathlib import Path

import click
import orjson
import pytest

from neardup_solr import demo
from neardup_solr.cli import show
from neardup_solr.progress import Progress
from neardup_solr.records import Cluster, Match, Member, Pair
from neardup_solr.verbs.report import Report
from tests.command import neardup


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
    members = (
        Member(id=match.id, similarity=1.0, distance=0),
        *(Member(id=f"guide-{at:06}", similarity=0.9, distance=2) for at in range(2, 8)),
    )
    cluster = Cluster(
        id=match.id, canonical=match.id, members=members, pairs=21, diameter=1, bridges=()
    )
    show.print_clusters([cluster], {match.id: match.content})
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= width
    assert sum("guide-000001" in line for line in lines) == 3 + (width < show.NARROW)
    assert sum("blue do" in line for line in lines) == 2 + (width > 20)
    assert sum("and 2 more" in line for line in lines) == 1


@pytest.mark.parametrize("width", [40, 100])
def test_tables_without_a_distance(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], width: int
) -> None:
    """Where there is no distance nothing stands in its place, on any terminal."""
    monkeypatch.setenv("COLUMNS", str(width))
    match = Match(id="a", distance=None, similarity=0.9, shared=7, content="blue door cafe")
    pair = Pair(id="a", other_id="b", distance=None, similarity=0.8)
    show.print_matches([match])
    show.print_report(Report(pairs=(pair,), documents=2, cut=0), {"a": match.content})
    printed = capsys.readouterr().out
    assert "None" not in printed
    assert "0.900" in printed
    assert "0.800" in printed
    assert "distance" not in printed  # nor the heading of a column


@pytest.mark.parametrize("format", ["tsv", "csv", "jsonl"])
def test_rows_on_a_terminal_cannot_steer_it(format: str, tmp_path: Path) -> None:
    """Control and bidi characters of ids are escaped there, and as they are in a pipe."""
    source, text = tmp_path / "notices.jsonl", "the night ferry leaves the old pier at nine"
    ids = ["\x1b[2J wiped", "\u202etxt.exe", "\x9b2J"]
    source.write_bytes(b"\n".join(orjson.dumps({"id": id, "text": text}) for id in ids))
    words = [sys.executable, "-m", "neardup_solr", "duplicates", str(source), "--format", format]
    person, command = pty.openpty()
    ran = subprocess.run(words, stdout=command, stderr=subprocess.PIPE, check=True)
    os.close(command)
    seen = os.read(person, 1 << 16).decode()
    os.close(person)
    assert b"3 near-duplicate pairs" in ran.stderr
    assert seen.isascii()
    assert all(one.isprintable() or one in "\t\r\n" for one in seen)
    piped = subprocess.run(words, capture_output=True, check=True).stdout.decode()
    assert "\u202etxt.exe" in piped
    assert "\x9b2J" in piped
    assert seen.replace("\r", "").count("\n") == piped.count("\n")


def test_what_is_printed_first_stands_first(tmp_path: Path) -> None:
    """A summary comes after its rows if both streams go to one file, as with 2>&1."""
    source = tmp_path / "lines.jsonl"
    source.write_text('{"id": "1", "text": "blue door"}\n{"id": "2", "text": "blue door"}\n')
    ran = subprocess.run(
        [sys.executable, "-m", "neardup_solr", "duplicates", str(source), "--format", "tsv"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
        text=True,
        check=True,
    )
    lines = [line for line in ran.stdout.splitlines() if not line.startswith("Compiling")]
    assert [line.split()[0] for line in lines] == ["id", "1", "1"]
    assert "near-duplicate pair" in lines[-1]


STAGE = r"(reading|joining|texts|comparing|grouping|writing), "
COUNT = r"([\d,]+( of [\d,]+)? (documents|pairs|bands), )?"
LINE = re.compile(rf"duplicates: ({STAGE}{COUNT})?[\d,]+ (s|min) (left|so far)")


def test_progress_is_lines_without_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each says the stage, how far it is and the time; a short run prints none."""
    words = ("duplicates", str(demo.listings()), "-o", str(tmp_path / "pairs.tsv"))
    short = neardup(*words)
    monkeypatch.setenv("NEARDUP_PROGRESS", "0.0001")
    ran = neardup(*words)
    lines = [line for line in ran.stderr.splitlines() if line not in short.stderr.splitlines()]
    assert lines
    assert all(map(LINE.fullmatch, lines)), lines
    assert not LINE.search(short.stderr)
    assert not set("\r\x1b") & set(ran.stderr)
    assert neardup("--quiet", *words).stderr == ""


def test_progress_can_be_turned_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """0 prints no lines, however long it takes; what is no number is refused."""
    words = ("duplicates", str(demo.listings()))
    monkeypatch.setenv("NEARDUP_PROGRESS", "0")
    assert not LINE.search(neardup(*words).stderr)
    monkeypatch.setenv("NEARDUP_PROGRESS", "often")
    refused = neardup(*words)
    assert (refused.returncode, "NEARDUP_PROGRESS" in refused.stderr) == (2, True)


@pytest.mark.parametrize(
    ("reports", "line"),
    [
        ([], "index: 0 s so far"),
        ([Progress("grouping", 0)], "index: grouping, 0 s so far"),
        ([Progress("indexing", 1_200)], "index: indexing, 1,200 documents, 0 s so far"),
        (
            [Progress("reading", 10, 10), Progress("comparing", 0, 9), Progress("comparing", 3, 9)],
            "index: comparing, 3 of 9 pairs, 0 s left",
        ),
        (
            [Progress("indexing", 500, share=0.25), Progress("indexing", 1_000, share=0.5)],
            "index: indexing, 1,000 documents, 0 s left",
        ),
        ([Progress("joining", 42, 42)], "index: joining, 42 of 42 bands, 0 s so far"),
    ],
)
def test_a_line_of_progress(
    reports: list[Progress], line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says what is known of the stage that was reported last."""
    monkeypatch.setenv("NEARDUP_PROGRESS", "0.01")
    lines: list[str] = []
    is_said = threading.Event()

    def note(printed: str) -> None:
        lines.append(printed)
        if printed == line:
            is_said.set()

    monkeypatch.setattr(show, "warn", note)
    with click.Context(click.Command("index")), show.watch(comparing="pairs") as watching:
        for report in reports:
            watching["on_progress"](report)
        assert is_said.wait(30), lines
