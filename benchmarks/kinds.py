"""F1 of `duplicates` without any option on tables of many kinds.

    python benchmarks/kinds.py [--sets abt_buy:two ...]

Tables are those of the test data and of lib/made.py, each as one source and, where it has two, as
two. Results go to kinds.md and kinds.json.
"""

from __future__ import annotations

import argparse
import csv
import io
import logging
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lib import results
from lib.kinds import Row, Table, compute_figures, read_tables
from lib.made import MADE

import neardup_solr as nd

BELOW = 0.5  # F1
WRONG, RIGHT = 0.7, 0.9  # F1 below which a result has to be told as unsure, and above which not


def write_rows(rows: list[Row], path: Path) -> Path:
    """Write records as CSV, as a user has them."""
    file = io.StringIO(newline="")
    writer = csv.DictWriter(file, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(file.getvalue(), "utf-8")
    return path


def compare(table: Table, folder: Path, **options: Any) -> dict[str, Any]:
    """Find the duplicates of a table, and compare them with its known pairs."""
    sides = [write_rows(rows, folder / f"{'ab'[at]}.csv") for at, rows in enumerate(table.sides)]
    against: dict[str, Any] = {"against": sides[1]} if len(sides) > 1 else {}
    started = time.process_time()
    result = nd.duplicates(sides[0], **against, **options)
    seconds = time.process_time() - started
    return {
        **compute_figures(table, ((pair.id, pair.other_id) for pair in result.pairs)),
        "unsure": bool(result.doubt or (result.borderline and result.borderline.warning)),
        "seconds": seconds,
    }


def measure(tables: Iterable[Table], lines: list[str]) -> dict[str, dict[str, Any]]:
    """Measure the tables, and print the figures of each with the lines that it logged."""
    measured: dict[str, dict[str, Any]] = {}
    for table in tables:
        lines.clear()
        with tempfile.TemporaryDirectory() as folder:
            try:
                figures = compare(table, Path(folder))
            except nd.NeardupError as error:
                lines.append(str(error))
                figures = dict.fromkeys(("f1", "precision", "recall", "seconds"), 0.0)
                figures["unsure"] = True
        measured[table.name] = {**figures, "family": table.family}
        print(table.name, *(f"{name} {value:.3f}" for name, value in figures.items()), flush=True)
        print(*(f"    {line.replace(f'{folder}/', '')}" for line in lines), sep="\n", flush=True)
    return measured


def format_means(measured: dict[str, dict[str, Any]]) -> str:
    """Format the mean F1 of tables of two sources, and of one."""
    groups = {"two sources": (":two",), "one source": (":one", ":copies"), "all": ("",)}
    rows = []
    for name, ends in groups.items():
        figures = [row["f1"] for key, row in measured.items() if key.endswith(ends)]
        below = sum(figure < BELOW for figure in figures)
        rows.append([name, len(figures), f"{sum(figures) / max(len(figures), 1):.3f}", below])
    return results.table(["tables", "count", "mean F1", f"below {BELOW:g}"], rows)


def format_unsure(measured: dict[str, dict[str, Any]]) -> str:
    """Format how many results are told to be unsure, of those that are wrong, and right."""
    groups = {f"below {WRONG:g}": (0.0, WRONG), f"above {RIGHT:g}": (RIGHT, 2.0)}
    rows = []
    for name, (least, most) in groups.items():
        some = [row["unsure"] for row in measured.values() if least <= row["f1"] < most]
        rows.append([name, len(some), sum(some)])
    return results.table(["F1", "count", "unsure"], rows)


def format_rows(measured: dict[str, dict[str, Any]]) -> str:
    """Format the figures of each table."""
    names = ("f1", "precision", "recall")
    rows = [[key, row["family"], *(f"{row[name]:.3f}" for name in names),
             "unsure" if row["unsure"] else "", f"{row['seconds']:.1f}"]
            for key, row in measured.items()]  # fmt: skip
    head = ["table", "family", "F1", "precision", "recall", "told", "s (processor)"]
    return results.table(head, rows)


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", help="names of tables, or the beginning of names")
    arguments = parser.parse_args()
    lines: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger("neardup_solr").addHandler(handler)
    conditions = results.conditions()
    made = [table for make in MADE.values() for table in make()]
    groups = {"Public tables": read_tables(), "Made tables": made}
    kept, sections = {}, []
    for name, tables in groups.items():
        wanted = tuple(arguments.sets or ("",))
        measured = measure([each for each in tables if each.name.startswith(wanted)], lines)
        kept[name] = measured
        parts = (format_means, format_unsure, format_rows)
        body = "\n\n".join(format_part(measured) for format_part in parts)
        sections.append((f"{name}, no option at all", body))
    if arguments.sets is None:
        results.keep("kinds", {"conditions": conditions, **kept}, sections)


if __name__ == "__main__":
    main()
