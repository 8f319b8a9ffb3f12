"""The command report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

import neardup_solr as nd
from neardup_solr.cli import options, progress, show

if TYPE_CHECKING:
    from neardup_solr import Chosen, Collection, Criteria, Report


def report(
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
    output: options.OutputOption = None,
    format: options.FormatOption = None,
    solr: options.SolrOption = None,
    core: options.CoreOption = "neardup",
) -> None:
    """Report the near-duplicate pairs of documents of a collection."""
    from neardup_solr.reports import rows as faces

    as_rows = options.rows_format(format)
    if output is not None:
        if format not in (None, output.suffix.lower()[1:]):
            raise typer.BadParameter(f"--format {format} is not that of -o {output}: leave it out")
        faces.check_output(output)
    chosen = options.chosen(first, last, query, later_only)
    limits = options.limits(max_distance, min_similarity)
    criteria = options.criteria(by, same, fq, rows, measure, limits)
    target = options.connect(solr, core)
    found = compared(target, chosen, criteria)
    if output is not None:
        faces.write_pairs(found.pairs, output)
        show.say(f"Wrote {output}.")
    elif as_rows is None:
        show.print_report(found, target.texts(show.ids_of(found)))
    else:
        show.print_rows(faces.format_pairs(found.pairs, as_rows))
    show.say_report(found)


def compared(target: Collection, chosen: Chosen, criteria: Criteria) -> Report:
    """The report of a collection, with a bar that says how far it is."""
    with progress.watching() as watching:
        return nd.report(target, chosen=chosen, criteria=criteria, on_progress=watching.on_progress)
