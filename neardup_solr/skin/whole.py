"""The command for a whole collection: duplicates."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from neardup_solr.skin import find, marks, options, show, stages

if TYPE_CHECKING:
    from neardup_solr.edges.client import Solr

_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}


def duplicates(
    source: Annotated[
        str | None,
        typer.Argument(help="File or folder, compared without any Solr; else a collection."),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|CORE|URL",
            help="Compare with this file, folder or collection instead of within the source.",
        ),
    ] = None,
    within: Annotated[
        bool, typer.Option("--within", help="With --against: within each of the two as well.")
    ] = False,
    mutual_best: Annotated[
        bool,
        typer.Option(
            "--mutual-best",
            help="With --against: only pairs of which each is the other's most similar one.",
        ),
    ] = False,
    by: Annotated[
        str | None,
        typer.Option(
            help="What candidates share: bands, words (rare ones; for short records), or all for"
            " every pair (default: bands; words for --measure aligned)."
        ),
    ] = None,
    measure: options.MeasureOption = "words",
    max_distance: options.MaxDistanceOption = None,
    min_similarity: options.MinSimilarityOption = None,
    cap: Annotated[
        int | None,
        typer.Option(
            help="Documents of one band key that are all paired with each other (default 1024;"
            " of one word: 50)."
        ),
    ] = None,
    linkage: Annotated[
        str,
        typer.Option(
            help="Clusters: single (what pairs connect) or complete (all are near-duplicates)."
        ),
    ] = "single",
    canonical: Annotated[
        str,
        typer.Option(
            metavar="RULE",
            help="Document of a cluster to keep: first, longest, shortest, oldest, oldest:FIELD,"
            " FIELD:asc, FIELD:desc, or trusted values, FIELD=wire,agency.",
        ),
    ] = "first",
    mark: Annotated[
        bool,
        typer.Option(
            "--mark",
            help="Write the clusters into the collection, so that queries can collapse them.",
        ),
    ] = False,
    undo: Annotated[
        bool, typer.Option("--undo", help="Take all marks out of the collection again.")
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="With --mark or --undo: only say what would change."),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write to a .tsv, .csv, .jsonl or .parquet file, or an .html page.",
        ),
    ] = None,
    format: options.FormatOption = None,
    id_field: options.IdFieldOption = "id",
    text_field: options.TextFieldOption = "text",
    limit: Annotated[
        int | None, typer.Option(help="Read only so many documents (of each side).")
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Memory to use, such as 4G (default: half of the machine's); the rest is spilled.",
        ),
    ] = None,
    spill: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Folder for what exceeds the memory."),
    ] = None,
    solr: options.SolrOption = None,
    core: options.CoreOption = "neardup",
) -> None:
    """Find all near-duplicate pairs of a collection, or of a file, and their clusters."""
    from neardup_solr.edges.sources import Reading
    from neardup_solr.pure.comparing.similarity import Limits
    from neardup_solr.pure.grouping.canonical import rule
    from neardup_solr.verbs import duplicating

    marks.check(source=source, against=against, mark=mark, undo=undo, dry_run=dry_run)
    if undo:
        marks.undo(options.connect(solr, core), dry_run=dry_run)
        return
    as_rows = find.rows_format(format)
    if output is not None:
        duplicating.check_output(output)
    verifying = duplicating.Verifying(
        measure=measure,
        limits=Limits(max_distance=max_distance, min_similarity=min_similarity),
        by=by,
        cap=cap,
        within=within,
        mutual_best=mutual_best,
    )
    grouping = duplicating.Grouping(linkage=linkage, canonical=canonical)
    with stages.watching() as watching:
        working = duplicating.Working(
            memory=None if memory is None else _bytes(memory),
            spill=spill,
            limit=limit,
            checkpoint=None if output is None else output.with_name(f"{output.name}.unfinished"),
            keep_texts=output is not None and output.suffix.lower() == ".html",
            on_error=watching.on_error,
            on_progress=watching.on_progress,
        )
        collection = source or options.connect(solr, core)
        if mark and not isinstance(collection, str):
            marks.check_fields(collection)
        show.compile_kernel()
        found = duplicating.duplicates(
            collection,
            against=None if against is None else _side(against, solr, core),
            verifying=verifying,
            grouping=grouping,
            reading=Reading(
                id_field=id_field, text_field=text_field, keep=_kept(rule(canonical).needs)
            ),
            working=working,
        )
    if output is not None:
        duplicating.write_duplicates(found, output)
        show.say(f"Wrote {output}.")
    elif as_rows is None:
        stages.print_clusters(found)
    else:
        from neardup_solr.edges import report as faces

        show.print_rows(faces.format_duplicates(found.pairs, as_rows))
    stages.say_duplicates(found)
    if mark and not isinstance(collection, str):
        marks.mark(collection, found, dry_run=dry_run)


def _side(against: str, solr: str | None, core: str) -> str | Solr:
    """The other side: a file or folder that is there, a collection's address, or its name."""
    if "://" in against:
        return options.connect(against, core)
    looks_like_file = Path(against).exists() or "/" in against or "." in against
    return against if looks_like_file else options.connect(solr, against)


def _kept(needs: tuple[str, ...]) -> tuple[str, ...]:
    """The columns of a file that a canonical rule reads; the others are counted, not read."""
    from neardup_solr.pure.grouping.canonical import ARRIVAL, LENGTH

    return tuple(name for name in needs if name not in (LENGTH, ARRIVAL))


def _bytes(size: str) -> int:
    number, unit = size.strip().lower().removesuffix("b"), ""
    if number[-1:] in _UNITS and number[-1:]:
        number, unit = number[:-1], number[-1]
    try:
        return int(float(number) * _UNITS[unit])
    except (ValueError, OverflowError):
        raise typer.BadParameter(f"--memory {size} is not a size such as 512M or 4G") from None
