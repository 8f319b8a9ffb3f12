"""The command evaluate: a report beside known pairs."""

from __future__ import annotations

from pathlib import Path

import neardup_solr as nd
from neardup_solr.cli import show
from neardup_solr.cli.commands.report import make_report
from neardup_solr.cli.typed import Typed

MOST_PAIRS = 10  # missed and false ones each that evaluate prints


def evaluate(
    typed: Typed,
    *,
    known: Path,
    report: Path | None = None,
    ordered: bool = False,
    output: Path | None = None,
) -> int:
    """Compare a report with known pairs: precision, recall, F1.

    Lists the first missed and false pairs; -o writes all of them.
    """
    from neardup_solr.reports.row_table import check_output
    from neardup_solr.verbs.evaluate.id_pairs import known_pairs

    if output is not None:
        check_output(output)
    known_pairs(known)  # refused before a report is made
    result: Path | nd.Report = report or make_report(typed)[1]
    if isinstance(result, nd.Report):
        show.say_report(result)
    made = nd.evaluate(known, result, ordered=ordered)
    show.print_evaluation(made, most=MOST_PAIRS)
    if output is not None:
        made.write(output)
        show.say(f"Wrote {output}.")
    return 0
