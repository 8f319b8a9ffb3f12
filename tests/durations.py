"""How long the files of tests take, so that a run begins with those that take longest.

    scripts/test && scripts/test --rest && python -m tests.durations

writes tests/durations.txt of what the last run measured: seconds and file, of the first sixty.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree

from tests import ROOT

KEPT = ROOT / "tests" / "durations.txt"
MEASURED = [ROOT / "build" / "tests.xml", ROOT / "build" / "rest.xml"]  # of scripts/test
MOST = 60


def read() -> dict[str, float]:
    """The seconds of each file that is kept."""
    rows = (line.split() for line in KEPT.read_text("utf-8").splitlines())
    return {file: float(seconds) for seconds, file in rows}


def measured(report: Path) -> dict[str, float]:
    """The seconds of each file in the report of a run, setup and teardown included."""
    seconds: dict[str, float] = defaultdict(float)
    cases = ElementTree.parse(report).iter("testcase")
    for case in (case for case in cases if "classname" in case.attrib):
        file = case.attrib["classname"].replace(".", "/") + ".py"
        seconds[file] += float(case.attrib["time"])
    return seconds


def main() -> None:
    """Keep what the last runs of both halves measured."""
    reports = [measured(report) for report in MEASURED]
    rows = sorted(((s, file) for report in reports for file, s in report.items()), reverse=True)
    KEPT.write_text("".join(f"{seconds:5.0f} {file}\n" for seconds, file in rows[:MOST]), "utf-8")


if __name__ == "__main__":
    main()
