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
from neardup_solr.testing import private_home
from tests.command import sign_once
from tests.faults import table, tiers
from tests.faults.place import Places, places
from tests.solr.homes import use_private_ports

RecordRow = Callable[..., None]
HOME = "NEARDUP_HOME"
SIZES = {"": "usual size", "full": "full size", "soak": "soak"}


@pytest.fixture
def row(request: pytest.FixtureRequest) -> RecordRow:
    """Record a figure of the table: row("R5", "400 of 400 cuts are right").

    A third argument is what the test had to reach, if that differs from the row's goal.
    """

    def record(name: str, figure: str, goal: str = "") -> None:
        assert name in table.ROWS
        shown = f"{figure} (goal {goal})" if goal else figure
        request.node.user_properties.append((name, shown))

    return record


@pytest.fixture(scope="session")
def killed_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of an embedded Solr that only modules use that kill it."""
    before = os.environ.get(HOME)
    with (
        private_home(tmp_path_factory.mktemp("killed")) as folder,
        pytest.MonkeyPatch.context() as patch,
    ):
        if before is None:
            patch.delenv(HOME)
        else:
            patch.setenv(HOME, before)
        use_private_ports(patch)  # another Solr could take the port of one that was killed
        yield folder


@pytest.fixture(scope="module")
def killed(killed_folder: Path) -> Iterator[Path]:
    """In a module, the embedded Solr is one that may be killed; its folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(HOME, str(killed_folder))
        yield killed_folder


@pytest.fixture
def jobs(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Places]:
    """Jobs on the embedded Solr: that of all tests, or of a module that has a `home` of its own."""
    monkeypatch.delenv("NEARDUP_SOLR_URL", raising=False)
    monkeypatch.setenv("NEARDUP_HOME", str(home))
    sign_once()
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
