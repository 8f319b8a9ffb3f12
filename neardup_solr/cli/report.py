"""The command report."""

from __future__ import annotations

import typer

import neardup_solr as nd
from neardup_solr.cli import options, progress, show


def report(
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
    output: options.OutputOption = None,
    format: options.FormatOption = None,
    solr: options.SolrOption = None,
    collection: options.CollectionOption = None,
) -> None:
    """Report the near-duplicate pairs of documents of a collection."""
    from neardup_solr.reports import rows as faces
    from neardup_solr.verbs.report import check_ids

    as_rows = options.rows_format(format)
    if output is not None:
        if format not in (None, output.suffix.lower()[1:]):
            raise typer.BadParameter(f"--format {format} is not that of -o {output}: leave it out")
        faces.check_output(output)
    check_ids(from_id, to_id)
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
    if output is not None:
        found.write(output)
        show.say(f"Wrote {output}.")
    elif as_rows is None:
        show.print_report(found, target.texts(show.ids_of(found)))
    else:
        show.print_rows(faces.format_pairs(found.pairs, as_rows))
    show.say_report(found)
    if not found.pairs:
        show.say_if_full_text([query, *(fq or ())], target.place)
