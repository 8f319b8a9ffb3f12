"""How long the files of tests take, so that a run begins with those that take longest.

    scripts/test && python -m tests.durations

writes tests/durations.txt of what the last run measured: seconds and file, of the first sixty.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree

from tests import ROOT

KEPT = ROOT / "tests" / "durations.txt"
MEASURED = ROOT / "build" / "tests.xml"  # as scripts/test writes it
MOST = 60


def read() -> dict[str, float]:
    """The seconds of each file that is kept."""
    rows = (line.split() for line in KEPT.read_text("utf-8").splitlines())
    return {file: float(seconds) for seconds, file in rows}


def measured(report: Path) -> dict[str, float]:
    """The seconds of each file in the report of a run, setup and teardown included."""
    seconds: dict[str, float] = defaultdict(float)
    for case in ElementTree.parse(report).iter("testcase"):
        file = case.attrib["classname"].replace(".", "/") + ".py"
        seconds[file] += float(case.attrib["time"])
    return seconds


def main() -> None:
    """Keep what the last run measured."""
    rows = sorted(((seconds, file) for file, seconds in measured(MEASURED).items()), reverse=True)
    KEPT.write_text("".join(f"{seconds:5.0f} {file}\n" for seconds, file in rows[:MOST]), "utf-8")


if __name__ == "__main__":
    main()
