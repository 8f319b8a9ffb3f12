"""The table of faults: which results it shows, and where they come from."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.faults import table, tiers

ROOT = Path(__file__).parents[2]


def shown(name: str, tests: list[dict[str, Any]]) -> tuple[str, str]:
    """The last cell of a row and its line below the table, of a run with these tests."""
    run = {"version": "1.2", "date": "2026-01-02", "size": "full", "tests": tests}
    lines = list(table.table(run))
    (row,) = (line for line in lines if line.startswith(f"| {name} |"))
    figures = [line for line in lines if line.startswith(f"- **{name}**: ")]
    return row.removesuffix(" |").rpartition(" | ")[2], "".join(figures)


def result(id: str, outcome: str = "passed", **figures: str) -> dict[str, Any]:
    """What a run keeps of a test."""
    return {"id": id, "outcome": outcome, "figures": list(figures.items())}


@pytest.mark.parametrize(
    ("tests", "outcome", "figures"),
    [
        ([], "not measured in this run", ""),
        ([result("tests/faults/test_network.py::a")], "1 of 1 pass", ""),
        ([result("tests/faults/test_other.py::a", R4="x")], "not measured in this run", ""),
        ([result("tests/faults/test_other.py::a", R5="x")], "below", "- **R5**: x."),
        (
            [
                result("tests/faults/test_network.py::a", R5="20 of 20"),
                result("tests/faults/test_network.py::b", R5="0 hangs"),
            ],
            "2 of 2 pass",
            "- **R5**: 20 of 20; 0 hangs.",
        ),
        (
            [
                result("tests/faults/test_network.py::a", R5="slow: all there"),
                result("tests/faults/test_network.py::b", R5="20 of 20"),
                result("tests/faults/test_network.py::c", R5="cut: all there"),
                result("tests/faults/test_network.py::d", R5="slow: all there"),
            ],
            "4 of 4 pass",
            "- **R5**: slow, cut: all there; 20 of 20.",
        ),
        (
            [
                result("tests/faults/test_network.py::a", "failed", R5="19 of 20"),
                result("tests/faults/test_network.py::b"),
            ],
            "**failed: tests/faults/test_network.py::a**; 1 of 2 pass",
            "- **R5**: 19 of 20.",
        ),
    ],
)
def test_what_a_row_shows(tests: list[dict[str, Any]], outcome: str, figures: str) -> None:
    """Failures and the number of tests in the row; below it the figures, equal ones together."""
    assert shown("R5", tests) == (outcome, figures)


def test_the_rows_are_those_of_the_contract() -> None:
    """R1 to R13 with R6b and R6c, S1 to S5 and Q1, each with what it has to reach."""
    rows = [f"R{n}" for n in range(1, 14)] + [f"S{n}" for n in range(1, 6)] + ["Q1"]
    rows[6:6] = ["R6b", "R6c"]
    assert list(table.ROWS) == rows
    assert all(row.fault and row.goal for row in table.ROWS.values())


def test_the_tests_of_the_rows_exist() -> None:
    """Each file that is named is there, also those that the full tier runs besides tests/faults."""
    assert len(table.elsewhere()) >= 3
    named = {name.partition("::")[0] for row in table.ROWS.values() for name in row.tests}
    assert [name for name in named if not (ROOT / name).is_file()] == []


def test_a_run_keeps_its_figures(tmp_path: Path) -> None:
    """What a test records reaches the table that the command prints."""
    kept = tmp_path / "results.json"
    environment = {**os.environ, table.VARIABLE: str(kept)}
    recorded = "tests/faults/test_table.py::records_a_figure"
    options = ["-q", "-p", "no:cacheprovider", "-o", "python_functions=records_*"]
    subprocess.run(
        [sys.executable, "-m", "pytest", *options, recorded],
        cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    (test,) = json.loads(kept.read_bytes())["tests"]
    assert test == {"id": recorded, "outcome": "passed", "figures": [["Q1", "7 (goal 8)"]]}
    printed = subprocess.run(
        [sys.executable, "-m", "tests.faults.table", str(kept)],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    assert "\n- **Q1**: 7 (goal 8).\n" in printed


def records_a_figure(row: Any) -> None:
    """A test for the one above alone, which is no usual test by its name."""
    row("Q1", "7", "8")


@pytest.mark.parametrize(("named", "size"), [("", 20), ("full", 200), ("soak", 200)])
def test_a_tier_has_its_sizes(monkeypatch: pytest.MonkeyPatch, named: str, size: int) -> None:
    """Tests are small unless a tier is named."""
    monkeypatch.setenv(tiers.VARIABLE, named)
    assert tiers.sized(usual=20, full=200) == size
    assert (tiers.is_full(), tiers.is_soak()) == (named == "full", named == "soak")


def test_an_unknown_tier_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tier that is misspelt does not silently mean the usual one."""
    monkeypatch.setenv(tiers.VARIABLE, "ful")
    with pytest.raises(ValueError, match="is 'full' or 'soak'"):
        tiers.is_full()
