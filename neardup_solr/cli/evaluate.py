"""The command evaluate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import neardup_solr as nd
from neardup_solr.cli import options, show
from neardup_solr.cli.report import compared


def evaluate(
    known: Annotated[Path, typer.Argument(help="Known pairs: two columns of ids.")],
    found: Annotated[
        Path | None,
        typer.Option("--report", metavar="FILE", help="Pairs of a report; else one is made."),
    ] = None,
    first: options.FromOption = None,
    last: options.ToOption = None,
    query: options.QueryOption = None,
    later_only: options.LaterOption = False,
    by: options.ByOption = None,
    same: options.SameOption = None,
    fq: options.FilterOption = None,
    rows: options.RowsOption = 100,
    measure: options.MeasureOption = "words",
    max_distance: options.MaxDistanceOption = None,
    min_similarity: options.MinSimilarityOption = None,
    solr: options.SolrOption = None,
    core: options.CoreOption = "neardup",
) -> None:
    """Compare a report with known pairs: precision, recall, F1.

    And which pairs were missed or are false.
    """
    from neardup_solr.verbs.evaluate import known_pairs

    pairs = known_pairs(known)
    if found is not None:
        show.print_evaluation(nd.evaluate(found, pairs))
        return
    chosen = options.chosen(first, last, query, later_only)
    limits = options.limits(max_distance, min_similarity)
    criteria = options.criteria(by, same, fq, rows, measure, limits)
    made = compared(options.connect(solr, core), chosen, criteria)
    show.say_report(made)
    show.print_evaluation(nd.evaluate(made.pairs, pairs))
