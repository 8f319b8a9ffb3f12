"""The command evaluate."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

import neardup_solr as nd
from neardup_solr.cli import options, progress, show

MOST_PAIRS = 10  # of each kind, on a terminal


def evaluate(
    known: Annotated[Path, typer.Argument(help="Known pairs: two columns of ids.")],
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Pairs of a report (default: a new report)."),
    ] = None,
    from_id: options.FromOption = None,
    to_id: options.ToOption = None,
    query: options.QueryOption = None,
    later_only: options.LaterOption = False,
    by: options.ByOption = None,
    rows: options.RowsOption = 100,
    fq: options.FilterOption = None,
    same: options.SameOption = None,
    measure: options.MeasureOption = "words",
    max_distance: options.MaxDistanceOption = None,
    min_similarity: options.MinSimilarityOption = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write all missed and false pairs to a .tsv, .csv, .jsonl or .xlsx file.",
            rich_help_panel=options.PUT_OUT,
        ),
    ] = None,
    solr: options.SolrOption = None,
    collection: options.CollectionOption = None,
) -> None:
    """Compare a report with known pairs: precision, recall, F1.

    It also lists which pairs were missed or are false.
    """
    from neardup_solr.files import check_apart
    from neardup_solr.reports import rows as faces
    from neardup_solr.verbs.evaluate import known_pairs
    from neardup_solr.verbs.report import check_ids

    if output is not None:
        faces.check_output(output)
    check_apart({"KNOWN": known, "--report": report, "-o": output})
    check_ids(from_id, to_id)
    known_pairs(known)  # refused before a report is made
    if report is not None:
        _put_out(nd.evaluate(known, report), output)
        return
    criteria = options.criteria(by, rows, fq, same, measure, max_distance, min_similarity)
    target = options.connect(solr, collection)
    with progress.watching() as watching:
        found = nd.report(
            target,
            from_id=from_id,
            to_id=to_id,
            query=query,
            later_only=later_only,
            on_progress=watching.on_progress,
            **criteria,
        )
    show.say_report(found)
    _put_out(nd.evaluate(known, found), output)


def _put_out(found: nd.Evaluation, output: Path | None) -> None:
    """The figures, and some of the missed and false pairs; all of them in a file."""
    is_short = sys.stdout.isatty() or output is not None
    show.print_evaluation(found, most=MOST_PAIRS if is_short else None)
    if output is not None:
        found.write(output)
        show.say(f"Wrote {output}.")
