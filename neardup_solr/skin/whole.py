"""The command for a whole collection: duplicates."""

from __future__ import annotations

from typing import Annotated

import typer

from neardup_solr.skin import find, options, show


def duplicates(
    source: Annotated[
        str | None,
        typer.Argument(help="File or folder, compared without any Solr; else a collection."),
    ] = None,
    measure: Annotated[
        str, typer.Option(help="words (edit distance) or estimate (Jaccard, by signatures).")
    ] = "words",
    max_distance: options.MaxDistanceOption = None,
    min_similarity: options.MinSimilarityOption = None,
    cap: Annotated[
        int, typer.Option(help="Documents of one band key that are all paired with each other.")
    ] = 256,
    output: options.OutputOption = None,
    format: options.FormatOption = None,
    id_field: options.IdFieldOption = "id",
    text_field: options.TextFieldOption = "text",
    solr: options.SolrOption = None,
    core: options.CoreOption = "neardup",
) -> None:
    """Find all near-duplicate pairs of a collection, or of a file, and their clusters."""
    from neardup_solr.edges import report as faces
    from neardup_solr.edges.sources import Reading
    from neardup_solr.pure.similarity import Limits
    from neardup_solr.verbs import duplicating

    as_rows = find.rows_format(format)
    if output is not None:
        faces.check_output(output)
    limits = Limits(max_distance=max_distance, min_similarity=min_similarity)
    verifying = duplicating.Verifying(measure=measure, limits=limits, cap=cap)
    show.compile_kernel()
    with show.watching(None) as watching:
        found = duplicating.duplicates(
            options.connect(solr, core) if source is None else source,
            verifying=verifying,
            reading=Reading(id_field=id_field, text_field=text_field),
            working=duplicating.Working(on_error=watching.on_error),
        )
    if output is not None:
        faces.write_duplicates(found.pairs, output)
        show.say(f"Wrote {output}.")
    else:
        show.print_rows(faces.format_duplicates(found.pairs, as_rows or "tsv"))
    show.say_duplicates(found)
