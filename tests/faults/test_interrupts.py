"""Ctrl-C and SIGTERM end `duplicates` in two seconds, by each measure, way and stage."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import orjson
import pytest

import neardup_solr as nd
from tests.command import NEARDUP, sign_once

pty = pytest.importorskip("pty", reason="terminals as Unix has them")

INTERRUPTED = 130
GOAL = "≤ 2 s"
# What a busy machine gets beyond that; the work that is interrupted would take minutes.
SECONDS = 2.0 + 20.0
MEASURES: tuple[nd.types.MeasureName, ...] = (
    "words",
    "jaccard",
    "containment",
    "aligned",
    "estimate",
)
WAYS: tuple[nd.types.Way, ...] = ("bands", "words", "all")


def written(path: Path, texts: Sequence[str]) -> Path:
    """A file of JSON lines with these texts."""
    path.write_bytes(b"\n".join(orjson.dumps({"id": str(at), "text": t})
                                for at, t in enumerate(texts)))  # fmt: skip
    return path


def invented(texts: int, words: int, vocabulary: int) -> list[str]:
    """Texts of words that are drawn from so many."""
    drawn = random.Random(7)
    return [" ".join(f"w{drawn.randrange(vocabulary)}" for _ in range(words)) for _ in range(texts)]


@pytest.fixture(scope="module")
def long_texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few texts, each pair of which takes a good part of a second."""
    sign_once()  # or the commands would say that they do
    return written(tmp_path_factory.mktemp("long") / "texts.jsonl", invented(60, 40_000, 50_000))


def stopped(
    command: Sequence[str], has_begun: Callable[[str], bool], number: int, *, after: float = 0.0
) -> float:
    """Send a signal so many seconds after standard error, a terminal, tells of a beginning.

    Gives the seconds until the command has ended, with the exit code of an interrupt.
    """
    terminal, errors = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "80"}
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors, env=environment)
    os.close(errors)
    try:
        said = ""
        while not has_begun(said):
            assert running.poll() is None, said
            said += read_at_hand(terminal)
        time.sleep(after)
        began = time.monotonic()
        running.send_signal(number)
        while time.monotonic() < began + SECONDS and running.poll() is None:
            said += read_at_hand(terminal)
        took = time.monotonic() - began
    finally:
        running.kill()
        running.wait()
    said += read_at_hand(terminal)
    os.close(terminal)
    assert running.returncode == INTERRUPTED, said
    assert said.rstrip().endswith("neardup: interrupted"), said
    assert "Traceback" not in said
    return took


def read_at_hand(terminal: int) -> str:
    """What can be read without waiting for it."""
    os.set_blocking(terminal, False)
    try:
        return os.read(terminal, 1 << 16).decode(errors="replace")
    except OSError:  # nothing, or the other end is closed
        time.sleep(0.01)
        return ""


@pytest.mark.parametrize(
    ("measure", "number"), [("words", signal.SIGINT), ("aligned", signal.SIGTERM)]
)
def test_pairs_of_long_texts(
    measure: str, number: signal.Signals, long_texts: Path, tmp_path: Path, row: Any
) -> None:
    """What machine code is in the middle of is not waited for, and no half report stays.

    Parts of the comparison that were finished may be kept, for the next run to go on from.
    """
    report = tmp_path / "report.tsv"
    words = [*NEARDUP, "duplicates", str(long_texts), "--measure", measure, "--by", "all"]
    took = stopped(
        [*words, "--min-similarity", "0.01", "-o", str(report)],
        lambda said: "texts" in said,
        number,
        after=6.0,  # by then pairs are compared
    )
    assert took < SECONDS
    assert {path.name for path in tmp_path.iterdir()} <= {"report.tsv.unfinished"}
    row("R9", f"{number.name} while long texts are compared by {measure}: {took:.1f} s", GOAL)


def test_the_library_stops_too(long_texts: Path, row: Any) -> None:
    """KeyboardInterrupt reaches the caller of nd.duplicates, and his process ends."""
    script = f"""
import neardup_solr as nd
def tell(progress):
    if progress.stage == "texts" and progress.done == progress.total:
        print("ready", flush=True)
nd.duplicates({str(long_texts)!r}, min_similarity=0.01, on_progress=tell)
"""
    running = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with running:
        assert running.stdout is not None
        assert running.stdout.readline() == "ready\n"
        time.sleep(1.0)  # until pairs are compared
        began = time.monotonic()
        running.send_signal(signal.SIGINT)
        try:
            _, said = running.communicate(timeout=SECONDS)
        finally:
            running.kill()
    assert said.rstrip().endswith("KeyboardInterrupt")
    row("R9", f"SIGINT in a program: {time.monotonic() - began:.1f} s", GOAL)


def test_while_the_kernel_is_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiler is not waited for either."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))  # in which nothing is compiled
    source = written(tmp_path / "texts.jsonl", ["blue door", "blue door"])
    command = [*NEARDUP, "duplicates", str(source)]
    assert stopped(command, lambda said: "Compiling" in said, signal.SIGINT) < SECONDS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("measure", "by"),
    [*product(MEASURES, WAYS), ("jaccard", "shingles"), ("containment", "shingles")],
)
def test_at_any_moment(measure: str, by: str, tmp_path: Path, row: Any) -> None:
    """From the loading of modules to the writing of a page, at 12 moments of a run."""
    many = 1_500 if by == "all" else 20_000
    source = written(tmp_path / "texts.jsonl", invented(many, 40, 3_000))
    report = tmp_path / "report.html"
    words = [*NEARDUP, "duplicates", str(source), "--measure", measure, "--by", by]
    command = [*words, "--min-similarity", "0.05", "-o", str(report)]
    command += [] if by == "all" else ["--cap", "200"]
    began = time.monotonic()
    subprocess.run(command, check=True, capture_output=True)
    whole = time.monotonic() - began
    slowest = 0.0
    for at in range(12):
        report.unlink(missing_ok=True)
        running = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        with running:
            time.sleep(0.2 + at / 12 * whole)
            began = time.monotonic()
            running.send_signal(signal.SIGINT)
            try:
                _, said = running.communicate(timeout=SECONDS)
            finally:
                running.kill()
        slowest = max(slowest, time.monotonic() - began)
        assert running.returncode in (0, INTERRUPTED), said
        assert "Traceback" not in said
        names = {path.name for path in tmp_path.iterdir()}
        assert names <= {source.name, report.name, f"{report.name}.unfinished"}
    row("R9", f"SIGINT at 12 moments, {measure} by {by}: {slowest:.1f} s", GOAL)
