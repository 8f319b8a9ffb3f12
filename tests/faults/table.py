"""The table of faults: what each test has to reach, and what it reached in a run.

    python -m tests.faults.table [FILE [ROW ...]]

prints, as Markdown, the table of a run whose results are in that file ($NEARDUP_FAULT_RESULTS of
the run, see conftest.py), or some rows of it; without a file, the tests of the table that are
not in this folder. A row counts the tests that are named here; the figures that tests recorded by
the fixture `row` stand in a list below the table.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

VARIABLE = "NEARDUP_FAULT_RESULTS"
NOT_MEASURED = "not measured in this run"


@dataclass(frozen=True, slots=True)
class Row:
    """A fault, the figure to reach, and the tests about it by the beginning of their names."""

    fault: str
    goal: str
    tests: tuple[str, ...]


FAULTS = "tests/faults"
ROWS = {
    "R1": Row(
        "Solr is killed while documents are indexed, also while it replays its log",
        "lost 0; sent again ≤ 5 %",
        (f"{FAULTS}/test_kills.py::test_server", f"{FAULTS}/test_outages.py"),
    ),
    "R2": Row(
        "the client is killed, then goes on by `--resume`",
        "lost 0; dead letters exact; at most one interval sent again",
        (f"{FAULTS}/test_kills.py::test_client", f"{FAULTS}/test_kills.py::test_failpoint"),
    ),
    "R3": Row(
        "the disk of the server is full",
        "0 commits after the first 5xx; lost 0 after free + restart + resume",
        (f"{FAULTS}/test_disk_full.py::test_server", f"{FAULTS}/test_halted.py"),
    ),
    "R4": Row(
        "Solr is stopped for 5–30 s (SIGSTOP)",
        "completes; no repeated ids",
        (f"{FAULTS}/test_pauses.py",),
    ),
    "R5": Row(
        "network: latency, slow, reset, black hole, slicer, close, cut at byte k",
        "all right; no hang past time-out × retries",
        (f"{FAULTS}/test_network.py", f"{FAULTS}/test_proxy.py"),
    ),
    "R6": Row(
        "answers that lie",
        "0 false successes of ≥ 20 kinds",
        (
            f"{FAULTS}/test_lies.py",
            f"{FAULTS}/test_answers.py",
            f"{FAULTS}/test_exports.py",
            f"{FAULTS}/test_reading.py",
            f"{FAULTS}/test_fuzz_solr.py",
        ),
    ),
    "R6b": Row(
        "one wrong answer among good ones, at each request in turn",
        "exit code 0, lost 0",
        (f"{FAULTS}/test_one_wrong_answer.py::test_one_wrong",),
    ),
    "R6c": Row(
        "Solr accepts, and never answers",
        "ends within patience + 10 s, and can be resumed",
        (f"{FAULTS}/test_one_wrong_answer.py::test_a_solr",),
    ),
    "R7": Row(
        "1 % bad documents of 12 kinds in 100,000",
        "each dead-lettered once, right reason ≥ 99 %; throughput ≥ 90 % of clean",
        (f"{FAULTS}/test_bad_documents.py",),
    ),
    "R8": Row(
        "the disk of dead letters, checkpoint or report is full",
        "exit ≠ 0, nothing lost silently, an old report stays whole",
        (f"{FAULTS}/test_disk_full.py::test_client", f"{FAULTS}/test_outputs.py"),
    ),
    "R9": Row(
        "Ctrl-C once, twice; SIGTERM; the reader of a pipe is gone",
        "stops in ≤ 2 s / 1 s; checkpoint valid",
        (f"{FAULTS}/test_signals.py", f"{FAULTS}/test_interrupts.py"),
    ),
    "R10": Row(
        "two runs of one job; two jobs on the same ids",
        "second refused; same final set",
        (f"{FAULTS}/test_two_runs.py",),
    ),
    "R11": Row(
        "≥ 25 kinds of bad files",
        "never a traceback, never a hang, counted, memory bounded",
        (
            f"{FAULTS}/test_bad_files.py",
            f"{FAULTS}/test_fuzz_sources.py",
            "tests/unit/sources/test_bad_input.py",
        ),
    ),
    "R12": Row(
        "1 GB line, 200 MB gzip bomb, 100 MB document",
        "peak memory ≤ 300 MiB over base",
        (f"{FAULTS}/test_bounds.py",),
    ),
    "R13": Row(
        "wrong URL, core, schema, credentials, settings of another version",
        "one clear line with the remedy, ≤ 2 s, no document sent",
        (f"{FAULTS}/test_wrong_usage.py", f"{FAULTS}/test_addresses.py"),
    ),
    "S1": Row(
        "hostile ids and values",
        "exact match only",
        (
            "tests/solr/test_collection.py::test_hostile",
            "tests/unit/solr/test_query.py",
            f"{FAULTS}/test_hostile.py",
            f"{FAULTS}/test_fuzz_solr.py",
        ),
    ),
    "S2": Row(
        "doors of the bundled config, ≥ 25 paths",
        "closed but for select, get, update, ping, export",
        ("tests/solr/test_shut_handlers.py",),
    ),
    "S3": Row(
        "secrets: a canary password, all outputs searched",
        "0 hits",
        (f"{FAULTS}/test_secrets.py",),
    ),
    "S4": Row(
        "formulas in CSV and TSV; scripts and bidi controls in HTML",
        "neutral; 0 dialogs, 0 requests",
        (f"{FAULTS}/test_formulas.py", "tests/browser/test_page.py::test_hostile"),
    ),
    "S5": Row(
        "symlinks out of the root, path traversal, entity and zip bombs",
        "refused",
        (f"{FAULTS}/test_escapes.py", f"{FAULTS}/test_private_files.py"),
    ),
    "Q1": Row(
        "tests that bite: mutations of retry, checkpoint, dead letters, query",
        "≥ 85 % killed",
        (),
    ),
}


def elsewhere() -> list[str]:
    """The tests of the rows that are not in tests/faults, as arguments of pytest."""
    named = [name for row in ROWS.values() for name in row.tests]
    return sorted({name.partition("::")[0] for name in named if not name.startswith(FAULTS)})


def table(run: dict[str, Any], names: Sequence[str] = tuple(ROWS)) -> Iterator[str]:
    """The lines of the table of a run, as Markdown; of these rows only."""
    yield f"neardup-solr {run['version']}, {run['date']}, {run['size']}."
    yield ""
    yield "| # | fault | to reach | tests |"
    yield "|---|---|---|---|"
    figures = {name: _gathered(_figures(name, run["tests"])) for name in names}
    for name in names:
        row = ROWS[name]
        outcome = _outcome(row, run["tests"]) or ("below" if figures[name] else NOT_MEASURED)
        yield f"| {name} | {row.fault} | {row.goal} | {outcome} |"
    yield ""
    for name in names:
        if figures[name]:
            yield f"- **{name}**: {'; '.join(figures[name])}."


def _outcome(row: Row, tests: Iterable[dict[str, Any]]) -> str:
    """The tests of a row that failed, and how many passed; empty if none was run."""
    about = [test for test in tests if test["id"].startswith(row.tests)] if row.tests else []
    failed = [f"**failed: {test['id']}**" for test in about if test["outcome"] != "passed"]
    passed = len(about) - len(failed)
    return "; ".join([*failed, f"{passed} of {len(about)} pass"] if about else [])


def _figures(name: str, tests: Iterable[dict[str, Any]]) -> list[str]:
    return [figure for test in tests for recorded, figure in test["figures"] if recorded == name]


def _gathered(figures: Iterable[str]) -> list[str]:
    """The same figures, those of many things in one: "a: 0 lost", "b: 0 lost" is "a, b: 0 lost"."""
    things: dict[str, dict[str, None]] = {}
    for figure in figures:
        thing, _, said = figure.rpartition(": ")
        things.setdefault(said, {})[thing] = None  # each once, in order
    return [f"{', '.join(some)}: {said}" if any(some) else said for said, some in things.items()]


def main(words: Sequence[str]) -> Iterable[str]:
    """What the command prints, by its arguments."""
    if not words:
        return elsewhere()
    return table(json.loads(Path(words[0]).read_bytes()), words[1:] or tuple(ROWS))


if __name__ == "__main__":
    print(*main(sys.argv[1:]), sep="\n")
