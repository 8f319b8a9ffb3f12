"""What tests of faults record for the table, and where a run keeps it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import neardup_solr as nd
from neardup_solr.minhash import sign
from tests.faults import table, tiers
from tests.faults.place import Places, places

RecordRow = Callable[..., None]
SIZES = {"": "usual size", "full": "full size", "soak": "soak"}


@pytest.fixture
def row(request: pytest.FixtureRequest) -> RecordRow:
    """Record a figure of the table: row("R5", "400 of 400 cuts are right").

    A third argument is what the test had to reach, if that differs from the row's goal.
    """

    def record(name: str, figure: str, goal: str = "") -> None:
        assert name in table.ROWS
        shown = f"{figure} (to reach: {goal})" if goal else figure
        request.node.user_properties.append((name, shown))

    return record


@pytest.fixture
def jobs(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Places]:
    """Jobs on the embedded Solr: that of all tests, or of a module that has a `home` of its own."""
    monkeypatch.delenv("NEARDUP_SOLR_URL", raising=False)
    monkeypatch.setenv("NEARDUP_HOME", str(home))
    sign.compile_kernel()
    with places(tmp_path) as made:
        yield made


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Keep the results of the run in $NEARDUP_FAULT_RESULTS, for `tests.faults.table`."""
    path = os.environ.get(table.VARIABLE)
    if path:
        run = {
            "version": nd.__version__,
            "date": datetime.now(UTC).date().isoformat(),
            "size": SIZES[tiers.tier()],
            "tests": list(_tests(terminalreporter.stats)),
        }
        Path(path).write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")


def _tests(stats: dict[str, list[Any]]) -> Iterator[dict[str, Any]]:
    """Every test that passed or failed; one that fails twice, as in its teardown, counts twice."""
    for outcome in ("passed", "failed", "error"):
        for report in stats.get(outcome, []):
            figures = [
                (name, str(figure))
                for name, figure in getattr(report, "user_properties", [])
                if name in table.ROWS
            ]
            yield {"id": report.nodeid, "outcome": outcome, "figures": figures}
