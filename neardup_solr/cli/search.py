"""The command search."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import neardup_solr as nd
from neardup_solr.cli import options, show
from neardup_solr.text.normalize import normalize

if TYPE_CHECKING:
    from neardup_solr.solr.collection import Collection


def search(
    id: Annotated[
        str | None, typer.Option("--id", help="Id of a document in the collection.")
    ] = None,
    text: Annotated[str | None, typer.Option("--text", help="A text.")] = None,
    file: Annotated[
        Path | None, typer.Option("--file", help="A file with a text, - for standard input.")
    ] = None,
    by: options.ByOption = None,
    rows: options.RowsOption = 100,
    fq: options.FilterOption = None,
    same: options.SameOption = None,
    measure: options.MeasureOption = "words",
    max_distance: options.MaxDistanceOption = None,
    min_similarity: options.MinSimilarityOption = None,
    format: options.FormatOption = None,
    solr: options.SolrOption = None,
    collection: options.CollectionOption = None,
) -> None:
    """Find the near-duplicates of one document or text."""
    from neardup_solr.reports import rows as faces

    if sum(given is not None for given in (id, text, file)) != 1:
        raise typer.BadParameter("give one of --id, --text and --file")
    as_rows = options.rows_format(format)
    criteria = options.criteria(by, rows, fq, same, measure, max_distance, min_similarity)
    if file is not None:
        show.say_if_typed([str(file)], "the text")
        from neardup_solr import sources

        text = sources.read_text(file)
    target = options.connect(solr, collection)
    matches = nd.search(target, id=id, text=text, **criteria)
    if as_rows is None:
        show.print_matches(matches)
    else:
        show.print_rows(faces.format_matches(matches, as_rows))
    if not matches:
        show.say(_nothing(target, id))
        show.say_if_full_text(fq or (), target.place)
    if by != "native":
        from neardup_solr.solr.coverage import describe_unsigned

        show.say_gaps(describe_unsigned(target))


def _nothing(target: Collection, id: str | None) -> str:
    """What to say if nothing was found: a document without words has no near-duplicates."""
    if id is not None and not normalize(target.texts([id]).get(id, "")):
        return "The document has no text, or none with words, so it has no near-duplicates."
    return "No near-duplicates found."
