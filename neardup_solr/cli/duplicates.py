"""The command for a whole collection: duplicates."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import neardup_solr as nd
from neardup_solr.cli import options, progress, show
from neardup_solr.errors import SettingsError
from neardup_solr.sizes import in_bytes

if TYPE_CHECKING:
    from neardup_solr.solr.collection import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neardup_solr.records import Cluster
    from neardup_solr.verbs.duplicates import Duplicates
if TYPE_CHECKING:
    from neardup_solr.solr.collection import Collection
    from neardup_solr.verbs.duplicates import Duplicates
    from neardup_solr.verbs.mark import Marks


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
    source_format: options.SourceFormatOption = None,
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
    """Find all near-duplicates of a collection or file, in clusters."""
    from neardup_solr.clusters.canonical import rule
    from neardup_solr.files import check_apart
    from neardup_solr.verbs.duplicates import check_output
    from neardup_solr.verbs.mark import require_fields

    _check(source=source, against=against, mark=mark, undo=undo, dry_run=dry_run)
    if undo:
        _undo(options.connect(solr, core), dry_run=dry_run)
        return
    as_rows = options.rows_format(format)
    if output is not None:
        for name, side in (("SOURCE", source), ("--against", against)):
            check_apart({name: None if side is None else Path(side), "-o": output})
        check_output(output)
    verifying = nd.Verifying(
        measure=measure,
        limits=nd.Limits(max_distance=max_distance, min_similarity=min_similarity),
        by=by,
        cap=cap,
        within=within,
        mutual_best=mutual_best,
    )
    grouping = nd.Grouping(linkage=linkage, canonical=canonical)
    with progress.watching(comparing="pairs") as watching:
        working = nd.Working(
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
            require_fields(collection)
        show.compile_kernel()
        found = nd.duplicates(
            collection,
            against=None if against is None else _side(against, solr, core),
            verifying=verifying,
            grouping=grouping,
            reading=nd.Reading(
                id=id_field,
                text=(text_field,),
                source_format=source_format,
                keep=_kept(rule(canonical).needs),
            ),
            working=working,
        )
    if output is not None:
        nd.write_duplicates(found, output)
        show.say(f"Wrote {output}.")
    elif as_rows is None:
        _print_clusters(found)
    else:
        from neardup_solr.reports import rows as faces

        show.print_rows(faces.format_duplicates(found.pairs, as_rows))
    _say_duplicates(found)
    if mark and not isinstance(collection, str):
        _mark(collection, found, dry_run=dry_run)


def _side(against: str, solr: str | None, core: str) -> str | Collection:
    """The other side: a file or folder that is there, a collection's address, or its name."""
    if "://" in against:
        return options.connect(against, core)
    looks_like_file = Path(against).exists() or "/" in against or "." in against
    return against if looks_like_file else options.connect(solr, against)


def _kept(needs: tuple[str, ...]) -> tuple[str, ...]:
    """The columns of a file that a canonical rule reads; the others are counted, not read."""
    from neardup_solr.clusters.canonical import ARRIVAL, LENGTH

    return tuple(name for name in needs if name not in (LENGTH, ARRIVAL))


def _bytes(size: str) -> int:
    try:
        return in_bytes(size)
    except SettingsError as error:
        raise typer.BadParameter(f"--memory {error}") from None


MOST_CLUSTERS = 20  # on a terminal; files and pipes get all


def _print_clusters(found: Duplicates, *, most: int = MOST_CLUSTERS) -> None:
    """The largest clusters as a table: what to keep, and what is near it."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    largest = sorted(found.clusters, key=lambda cluster: -len(cluster.members))[:most]
    if not largest:
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, expand=True)
    for name in ("documents", "pairs", "similarity", "diameter"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("keep", overflow="fold", max_width=24)
    table.add_column("near it", ratio=1, overflow="ellipsis", no_wrap=True)
    for cluster in largest:
        table.add_row(
            f"{len(cluster.members):,}",
            f"{cluster.pairs:,}",
            f"{min(member.similarity for member in cluster.members):.3f}",
            f"{cluster.diameter}" if cluster.diameter else "–",
            show.printable(cluster.canonical),
            show.printable(_others(cluster)),
        )
    Console(markup=False, highlight=False).print(table)
    more = len(found.clusters) - len(largest)
    if more:
        show.say(
            f"... and {show.counted(more, 'smaller cluster')};"
            " -o report.html shows all of them, -o pairs.tsv has all pairs."
        )


def _others(cluster: Cluster, *, most: int = 20) -> str:
    return " ".join(member.id for member in cluster.members[1 : most + 1])


def _say_duplicates(found: Duplicates) -> None:
    """What stands behind the pairs of a whole collection, and what may be missing."""
    pairs = show.counted(len(found.pairs), "near-duplicate pair")
    clusters = show.counted(len(found.clusters), "cluster")
    documents = show.counted(found.documents, "document")
    compared = show.counted(found.candidates, "pair")
    show.say(f"{pairs} in {clusters} among {documents}; {compared} compared.")
    if found.hot_keys and found.by_bands:
        show.say(
            f"{show.counted(found.hot_keys, 'band key')} of more documents than --cap: these were"
            " chained, not all compared with each other; raise --cap to be sure."
        )
    elif found.hot_keys:
        words = show.counted(found.hot_keys, "common word")
        show.say(f"{words} did not make candidates alone; raise --cap to be sure.")
    for gap in found.gaps:
        show.say(f"Not complete: {gap}.")


def _check(
    *, source: str | None, against: str | None, mark: bool, undo: bool, dry_run: bool
) -> None:
    """Refuse what does not go together, before any work."""
    if mark and undo:
        raise typer.BadParameter("give one of --mark and --undo")
    if dry_run and not (mark or undo):
        raise typer.BadParameter("--dry-run goes with --mark or --undo")
    if (mark or undo) and (source is not None or against is not None):
        raise typer.BadParameter("marks are for one collection: leave SOURCE and --against out")


def _mark(solr: Collection, found: Duplicates, *, dry_run: bool) -> None:
    """Mark the clusters that were found in their collection."""
    with progress.watching() as watching:
        made = nd.mark(solr, found.clusters, dry_run=dry_run, on_progress=watching.on_progress)
    show.say(_marked(made, dry_run=dry_run))


def _undo(solr: Collection, *, dry_run: bool) -> None:
    """Take all marks out of a collection."""
    with progress.watching() as watching:
        made = nd.unmark(solr, dry_run=dry_run, on_progress=watching.on_progress)
    documents = show.counted(made.cleared, "document")
    if not made.cleared:
        show.say("No document is marked.")
    elif dry_run:
        show.say(f"Would take the marks of {documents} away (dry run: nothing was changed).")
    else:
        show.say(f"Took the marks of {documents} away; all else is as before.")


def _marked(made: Marks, *, dry_run: bool) -> str:
    clusters = show.counted(made.clusters, "cluster")
    if not (made.marked or made.cleared or made.vanished):
        return f"All {show.counted(made.unchanged, 'document')} of {clusters} are marked already."
    counts = {"unchanged": made.unchanged, "cleared": made.cleared, "vanished": made.vanished}
    also = ", ".join(f"{count:,} {word}" for word, count in counts.items() if count)
    said = f"{show.counted(made.marked, 'document')} of {clusters}" + (f"; {also}" if also else "")
    return f"Would mark {said} (dry run: nothing was changed)." if dry_run else f"Marked {said}."
