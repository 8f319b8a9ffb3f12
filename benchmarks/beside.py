"""F1 beside Splink, dedupe, goldenmatch and one rule, on tables of many kinds.

    python benchmarks/beside.py --python TOOLS/bin/python [--tools rule splink ...] [--seconds 300]

The other tools are in an environment of their own (`pip install splink dedupe "BTrees<6.3"
"goldenmatch[polars]"`), and have a process for each table; lib/linkers.py tells how they are set
up, lib/rule.py what the rule is. The figures of this package are those of kinds.json and
thirty.json. Results go to beside.md and beside.json; what is not measured again is kept there.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kinds import write_rows
from lib import results, rule
from lib.kinds import Table, compute_figures, read_tables
from lib.made import MADE

LINKERS = Path(__file__).parent / "lib" / "linkers.py"
TOOLS = {"rule": "one rule", "splink": "Splink", "dedupe": "dedupe, 30 answers",
         "goldenmatch": "goldenmatch"}  # fmt: skip
SETUP = """\
- **neardup_solr**: `duplicates` without an option ([kinds](kinds.md)), and after 30 answers of
  somebody who is always right, given through the page of a review ([thirty](thirty.md)).
- **one rule**: cosine ≥ 0.6 of the character trigrams, weighed by their rarity, of the column
  that names a record (title, name, company; of people first and last name), which the user knows.
  Of two sources, pairs are mutual best matches.
- **Splink {splink}**: a first model as in its tutorial: the comparison that its library has for
  the kind of each column (Jaro-Winkler for texts, the best of three that were tried), rules of
  equal values and equal first letters (all pairs of small tables), a prior from pairs of equal
  columns, two rounds of EM, p ≥ 0.5. Values are in small letters, columns that a user leaves out
  are left out, and of two sources single best links are taken.
- **dedupe {dedupe}**: `String` for each column, and `Text` for those of many words, trained by 30
  answers of somebody who is always right to its own questions; threshold 0.5, one seed. It is
  `Dedupe` for one source, `RecordLink`, one to one, for two.
- **goldenmatch {goldenmatch}**: `dedupe_df` and `match_df` without a setting, with an empty home
  folder each time. Given files instead of tables in memory it has 0.00 on restaurants:two and
  0.19 on fake_1000:one, but 0.51 on cora:one.
- A tool has {seconds} s of the processor and 12 GiB of memory for a table; where it has no
  result, its F1 counts as 0. The results of dedupe that are kept are of a first pass with up to
  600 s by the clock beside other work; three tables that ended in it were tried again.
- The known pairs of **itunes_amazon** are those of a labelled sample: of the 1,260 other pairs
  that neardup_solr finds in one file, 1,205 have the same song, artist and length. Figures on it
  say little."""
OURS, TAUGHT = "neardup_solr", "neardup_solr, 30 answers"
Figures = dict[str, Any]  # f1, precision, recall, seconds; or the reason why there are none


def run_linker(tool: str, table: Table, python: Path, seconds: int) -> Figures:
    """Run a tool on a table in a process of its own, with an empty home folder."""
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home)
        for at, rows in enumerate(table.sides):
            write_rows(rows, folder / f"{'ab'[at]}.csv")
        (folder / "truth.json").write_text(json.dumps(sorted(table.pairs)), "utf-8")
        ended = subprocess.run(
            [str(python), str(LINKERS), tool, home, str(seconds)], check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={**os.environ, "HOME": home, "PYTHONPATH": ""},
        )  # fmt: skip
        if ended.returncode == -signal.SIGXCPU:
            return {"reason": f"not done after {seconds} s of the processor"}
        if ended.returncode:
            last = ended.stdout.strip().rpartition("\n")[2][:200]
            return {"reason": last or f"ended with {ended.returncode}"}
        answer = json.loads((folder / "pairs.json").read_text("utf-8"))
        pairs = ((first, second) for first, second in answer["pairs"])
        return {**compute_figures(table, pairs), "version": answer["version"]}


def measure(tool: str, table: Table, arguments: argparse.Namespace) -> Figures:
    """Measure a tool on a table, and its seconds of the processor."""
    started = sum(os.times()[:4])
    if tool == "rule":
        figures = compute_figures(table, rule.find_pairs(table))
    else:
        figures = run_linker(tool, table, arguments.python, arguments.seconds)
    return {**figures, "seconds": sum(os.times()[:4]) - started}


def read_ours(column: str, name: str) -> dict[str, Figures]:
    """Read the figures of this package: those of a column of another benchmark."""
    kept = json.loads((results.BENCHMARKS / f"{name}.json").read_text("utf-8"))
    groups = [kept["tables"]] if name == "thirty" else [kept["Public tables"], kept["Made tables"]]
    return {table: {"f1": row[column]} for rows in groups for table, row in rows.items()}


def show(figures: Figures) -> str:
    """Show F1, or why there is none."""
    return f"{figures['f1']:.3f}" if "f1" in figures else "–"


def compute_mean(tables: Iterable[Table], measured: Mapping[str, Figures]) -> float:
    """Compute the mean F1, which is 0 where a tool has no result."""
    values: list[float] = [measured[table.name].get("f1", 0.0) for table in tables]
    return sum(values) / len(values)


def format_tables(tables: Sequence[Table], measured: Mapping[str, Mapping[str, Figures]]) -> str:
    """Format the F1 of each tool on each table, and the means."""
    rows = [[table.name, *(show(figures[table.name]) for figures in measured.values())]
            for table in tables]  # fmt: skip
    groups = {
        "two sources": [table for table in tables if len(table.sides) > 1],
        "one source": [table for table in tables if len(table.sides) == 1],
        "all": list(tables),
    }
    complete = [table for table in tables
                if all("f1" in figures[table.name] for figures in measured.values())]  # fmt: skip
    if len(complete) < len(tables):
        groups["where each has a result"] = complete
    for name, group in groups.items():
        means = (compute_mean(group, figures) for figures in measured.values())
        rows.append([f"**mean, {name}**", *(f"**{mean:.3f}**" for mean in means)])
    return results.table(["table", *measured], rows)


def format_families(groups: Mapping[str, Sequence[Table]], ours: Mapping[str, Figures],
                    rule_figures: Mapping[str, Figures]) -> str:  # fmt: skip
    """Format the mean F1 of each family beside that of the rule."""
    rows = []
    for group, tables in groups.items():
        for family in dict.fromkeys(table.family for table in tables):
            members = [table for table in tables if table.family == family]
            means = [compute_mean(members, figures) for figures in (ours, rule_figures)]
            lead = means[0] - means[1]
            rows.append([family, group, len(members), *(f"{mean:.3f}" for mean in means),
                         f"{lead:+.3f}" if lead > 0 else f"**{lead:+.3f}**"])  # fmt: skip
    return results.table(["family", "tables", "count", OURS, TOOLS["rule"], "lead"], rows)


def format_failures(measured: Mapping[str, Mapping[str, Figures]]) -> str:
    """Format the tables on which a tool had no result, and why."""
    rows = [[TOOLS[tool], table, figures["reason"]]
            for tool, tables in measured.items() for table, figures in tables.items()
            if "reason" in figures]  # fmt: skip
    return results.table(["tool", "table", "reason"], rows)


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", type=Path, default=sys.executable, help="of the other tools")
    parser.add_argument("--tools", nargs="*", choices=TOOLS, default=list(TOOLS))
    parser.add_argument("--tables", nargs="+", help="names of tables")
    parser.add_argument("--seconds", type=int, default=300, help="of the processor, for a table")
    arguments = parser.parse_args()
    public, made = read_tables(), [table for make in MADE.values() for table in make()]
    path = results.BENCHMARKS / "beside.json"
    kept: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    kept = {"conditions": results.conditions(), "tools": {}} | kept
    for tool in arguments.tools:
        for table in [*public, *made] if tool == "rule" else public:
            if arguments.tables is None or table.name in arguments.tables:
                figures = measure(tool, table, arguments)
                kept["tools"].setdefault(tool, {})[table.name] = figures
                path.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")
                print(tool, table.name, figures, flush=True)
    measured = {tool: kept["tools"][tool] for tool in TOOLS}
    versions = {tool: row["version"] for tool, figures in measured.items()
                for row in figures.values() if "version" in row}  # fmt: skip
    ours = read_ours("f1", "kinds")
    columns = {OURS: ours, TAUGHT: read_ours("after", "thirty"),
               **{TOOLS[tool]: figures for tool, figures in measured.items()}}  # fmt: skip
    rule_figures = measured["rule"]
    results.keep("beside", kept, [
        ("Public tables, F1", format_tables(public, columns)),
        ("Without a result", format_failures(measured)),
        ("Families beside the one rule",
         format_families({"public": public, "made": made}, ours, rule_figures)),
        ("Made tables, F1", format_tables(made, {OURS: ours, TOOLS["rule"]: rule_figures})),
        ("How each was set up", SETUP.format(**versions, seconds=arguments.seconds)),
    ])  # fmt: skip


if __name__ == "__main__":
    main()
