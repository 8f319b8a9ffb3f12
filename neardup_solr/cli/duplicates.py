"""The command duplicates."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import neardup_solr as nd
from neardup_solr.choices import Linkage, Way
from neardup_solr.cli import options, progress, show
from neardup_solr.sizes import MAX_DOC_BYTES, most_failed

if TYPE_CHECKING:
    from neardup_solr.solr.collection import Collection
    from neardup_solr.verbs.duplicates import Duplicates
    from neardup_solr.verbs.duplicates.clean_file import Unique
    from neardup_solr.verbs.duplicates.previous_run import Changes
    from neardup_solr.verbs.mark import Marks


def duplicates(
    source: Annotated[
        list[str] | None,
        typer.Argument(
            help="File, several that are parts of one table, or folder, compared without any Solr"
            " (default: a collection)."
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|NAME|URL",
            help="Compare with this file, folder or collection instead of within the source.",
        ),
    ] = None,
    within: Annotated[
        bool, typer.Option("--within", help="With --against: also compare within each of the two.")
    ] = False,
    mutual_best: Annotated[
        bool,
        typer.Option(
            "--mutual-best",
            help="With --against: keep a pair only if each is the other's most similar one.",
        ),
    ] = False,
    by: Annotated[
        Way | None,
        typer.Option(
            help="What candidates share: bands, shingles (most of one of the two), words (rare"
            " ones; for short records), or all for every pair (default: all up to 2,000 documents,"
            " for more bands; shingles for --measure containment, words for aligned).",
            rich_help_panel=options.COUNTS,
        ),
    ] = None,
    measure: options.MeasureOption = "words",
    max_distance: options.MaxDistanceOption = None,
    min_similarity: options.MinSimilarityOption = None,
    fq: Annotated[
        list[str] | None,
        typer.Option(
            "--fq",
            metavar="QUERY",
            help="Read only documents of the collection that match this (repeatable); --mark and"
            " --undo leave the marks of others as they are.",
            rich_help_panel=options.COUNTS,
        ),
    ] = None,
    same: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FIELD",
            help="Field or column that has to be equal, such as tenant (repeatable, or a,b); a"
            " document without it is compared with nothing.",
            rich_help_panel=options.COUNTS,
        ),
    ] = None,
    cap: Annotated[
        int | None,
        typer.Option(
            help="Most documents of a band key or shingle that are all paired with each other"
            " (default: 1024; of a word: 50).",
            min=2,
            rich_help_panel=options.COUNTS,
        ),
    ] = None,
    linkage: Annotated[
        Linkage,
        typer.Option(
            help="Clusters: single, what pairs connect; complete, only if any two are a pair.",
            rich_help_panel=options.COUNTS,
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
        bool, typer.Option("--undo", help="Remove all marks from the collection.")
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="With --mark or --undo: only say what would change."),
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Do not ask before clusters that chain are marked.")
    ] = False,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write to a .tsv, .csv, .jsonl, .xlsx or .parquet file, or to an .html page"
            " (repeatable).",
            rich_help_panel=options.PUT_OUT,
        ),
    ] = None,
    texts: Annotated[
        bool,
        typer.Option(
            "--texts",
            help="Write the texts of both documents beside each pair, as --keep does with columns.",
            rich_help_panel=options.PUT_OUT,
        ),
    ] = False,
    unique: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the records of SOURCE that stay without near-duplicates, in its format or"
            " as .jsonl; .gz or .zst behind it compresses.",
            rich_help_panel=options.PUT_OUT,
        ),
    ] = None,
    removed: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the other records, each with the id of the one that is kept for it.",
            rich_help_panel=options.PUT_OUT,
        ),
    ] = None,
    rejected: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the records that cannot be used, each with the reason and its position.",
            rich_help_panel=options.PUT_OUT,
        ),
    ] = None,
    format: options.FormatOption = None,
    id_field: options.IdFieldOption = None,
    text_field: options.TextFieldOption = None,
    keep: options.KeepOption = None,
    source_format: options.SourceFormatOption = None,
    delimiter: options.DelimiterOption = None,
    encoding: options.EncodingOption = None,
    lossy: options.LossyOption = False,
    max_doc_bytes: options.MaxDocBytesOption = MAX_DOC_BYTES,
    on_repeat: options.OnRepeatOrKeepOption = "keep",
    max_failed: options.MaxFailedOption = "0",
    remember: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Remember there what was compared: the next run compares only what is new or has"
            " changed.",
            rich_help_panel=options.WORK,
        ),
    ] = None,
    full: Annotated[
        bool,
        typer.Option(
            "--full",
            help="With --remember: start over, and compare everything.",
            rich_help_panel=options.WORK,
        ),
    ] = False,
    limit: Annotated[
        int | None,
        typer.Option(
            help="Read at most this many documents (of each side).",
            min=1,
            rich_help_panel=options.WORK,
        ),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Memory to use, such as 4G (default: half of the machine's).",
            rich_help_panel=options.WORK,
        ),
    ] = None,
    spill: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Folder for what does not fit into the memory.",
            rich_help_panel=options.WORK,
        ),
    ] = None,
    solr: options.SolrOption = None,
    collection: options.CollectionOption = None,
) -> None:
    """Find all near-duplicates of a collection or file, in clusters."""
    from neardup_solr.files import check_apart
    from neardup_solr.measures import Limits
    from neardup_solr.sizes import in_bytes
    from neardup_solr.verbs.duplicates import check_output
    from neardup_solr.verbs.duplicates.options import Options, check_remembered, check_sides

    _check(source=source, against=against, mark=mark, undo=undo, dry_run=dry_run)
    if fq and source and against is None:
        raise typer.BadParameter("--fq is for a collection, and SOURCE is a file: leave it out")
    _check_source(source, solr)
    if undo:
        if output:
            raise typer.BadParameter("--undo writes no pairs: leave -o out")
        if remember is not None or full:
            raise typer.BadParameter("--undo compares nothing: leave --remember and --full out")
        _undo(options.connect(solr, collection), fq or (), dry_run=dry_run)
        return
    as_rows = options.rows_format(format)
    outputs = output or []
    written = {f"-o {path}" if at else "-o": path for at, path in enumerate(outputs)}
    for path in source or ():
        check_apart({"SOURCE": Path(path), **written, "--remember": remember})
    check_apart({"--against": None if against is None else Path(against), **written})
    most_failed(max_failed, 0)
    for each in outputs:
        check_output(each)
    files = {"--unique": unique, "--removed": removed, "--rejected": rejected}
    check_apart({**written, **files, "--remember": remember})
    _check_files(source, files)
    limits = Limits(max_distance=max_distance, min_similarity=min_similarity)
    # Refused before a Solr is asked.
    Options(
        measure=measure,
        limits=limits,
        by=by,
        cap=cap,
        within=within,
        mutual_best=mutual_best,
        linkage=linkage,
        canonical=canonical,
        memory=None if memory is None else in_bytes(memory, "memory"),
        limit=limit,
    )
    check_sides(against, within=within, mutual_best=mutual_best)
    check_remembered(source, remember, against, full=full)
    if not (source or solr or collection):
        _check_named()
    first = next(iter(outputs), None) or unique or removed or rejected
    unfinished = None if first is None else first.with_name(f"{first.name}.unfinished")
    with _kept(unfinished), progress.watching(comparing="pairs") as watching:
        place = source or options.connect(solr, collection)
        if mark and not isinstance(place, list):
            from neardup_solr.verbs.mark import require_markable

            require_markable(place)
        show.compile_kernel()
        found = nd.duplicates(
            place,
            against=None if against is None else _side(against, solr),
            within=within,
            mutual_best=mutual_best,
            by=by,
            measure=measure,
            max_distance=max_distance,
            min_similarity=min_similarity,
            fq=fq or (),
            same=options.names(same),
            cap=cap,
            linkage=linkage,
            canonical=canonical,
            keep=options.names(keep),
            max_doc_bytes=max_doc_bytes,
            on_repeat=on_repeat,
            limit=limit,
            memory=memory,
            spill=spill,
            checkpoint=unfinished,
            remember=remember,
            full=full,
            texts=texts
            or _texts_wanted(
                outputs,
                are_shown=as_rows is None and not (mark and format is None),
                has_page_texts=bool(source) and against is None and measure != "estimate",
            ),
            output=outputs,
            unique=unique,
            removed=removed,
            rejected=rejected,
            on_error=watching.on_error,
            on_progress=watching.on_progress,
            **options.reading(id_field, text_field, source_format, delimiter, encoding, lossy),
        )
    if outputs:
        show.say(f"Wrote {' and '.join(map(str, outputs))}.")
    elif format is None and (mark or found.unique is not None):
        pass  # only marks, or the files, were asked for
    elif as_rows is None:
        _print_clusters(found)
    else:
        from neardup_solr.reports import rows as faces

        lines = faces.format_duplicates(found.pairs, as_rows, texts=found.texts, kept=found.kept)
        show.print_rows(lines)
    _say_duplicates(found)
    if found.unique is not None:
        _say_unique(found.unique, unique, removed, rejected)
    if mark and not isinstance(place, list):
        if not dry_run:
            _confirm(found, yes=yes)
        _mark(place, found, dry_run=dry_run)
    records = found.documents + found.failed
    if found.failed > most_failed(max_failed, records):
        raise typer.Exit(1)


@contextmanager
def _kept(unfinished: Path | None) -> Iterator[None]:
    """Tell what a command keeps that is interrupted, or cannot write its files, if anything."""
    try:
        yield
    except (KeyboardInterrupt, nd.SourceError, nd.SolrError):
        if unfinished is not None and unfinished.exists():
            show.say(
                f"What was compared is in {unfinished}, and the same command goes on from there."
            )
        raise


def _texts_wanted(
    outputs: Sequence[Path], *, are_shown: bool, has_page_texts: bool
) -> bool | int | None:
    """Whether texts are wanted: those of the page, or of the largest clusters, which `are_shown`.

    `has_page_texts` says that a result has those of the pairs that a page lists by itself.
    """
    if not outputs:
        return MOST_CLUSTERS if are_shown else False
    if all(each.suffix.lower() != ".html" for each in outputs):
        return False
    return None if has_page_texts else True


def _side(against: str, solr: str | None) -> str | Collection:
    """The other side: an existing file or folder, a collection's address, or its name."""
    if "://" in against:
        return options.connect(against, None)
    looks_like_file = Path(against).exists() or "/" in against or "." in against
    return against if looks_like_file else options.connect(solr, against)


MOST_CLUSTERS = 20  # on a terminal; files and pipes get all


def _print_clusters(found: Duplicates, *, most: int = MOST_CLUSTERS) -> None:
    """The largest clusters as a table, text under text, the document to keep first."""
    from neardup_solr.records import largest

    shown = largest(found.clusters, most)
    if not shown:
        return
    show.print_clusters(shown, found.texts)
    more = len(found.clusters) - len(shown)
    if more:
        show.say(
            f"... and {show.counted(more, 'smaller cluster')};"
            " -o report.html shows them, -o pairs.tsv has all pairs."
        )


# By the way in which candidates were found.
_IN_COMMON = {
    "all": "",
    "bands": " with a band in common",
    "shingles": " with shingles in common",
    "words": " with a rare word in common",
}


def _say_duplicates(found: Duplicates) -> None:
    """How the pairs were found, and what may be missing."""
    from neardup_solr.verbs.duplicates.write import HOT_KEYS

    pairs = show.counted(len(found.pairs), "near-duplicate pair")
    clusters = show.counted(len(found.clusters), "cluster")
    documents = show.counted(found.documents, "document")
    compared = f"{show.counted(found.candidates, 'pair')}{_IN_COMMON[found.by]} compared"
    show.say(f"{pairs} in {clusters} among {documents}; {compared}.")
    if found.hot_keys and found.by in HOT_KEYS:
        keys = show.counted(found.hot_keys, HOT_KEYS[found.by])
        show.say(
            f"{keys} with more documents than --cap: not all of these were compared with each"
            " other; raise --cap to be sure."
        )
    elif found.beyond_cap:
        pairs = show.counted(found.beyond_cap, "more pair")
        words = show.counted(found.hot_keys, "word")
        show.say(
            f"About {pairs} share only words of more documents than --cap ({words}), judged by a"
            " sample: raise --cap to find them."
        )
    if found.are_short:
        show.say(
            f"The records are short ({found.median_words} words by the median): --measure aligned"
            " tells such apart better."
        )
    if found.since is not None:
        show.say(_since(found.since))
    show.say_gaps(found.gaps)


def _since(since: Changes) -> str:
    """What has changed since the run that was remembered, and what of it was used."""
    if since.reason:
        return f"Everything was compared: {since.reason.replace('`full`', '--full')}."
    changes = {"came": since.came, "changed": since.changed, "went": since.gone}
    told = [f"{show.counted(count, 'document')} {word}" for word, count in changes.items() if count]
    known = show.counted(since.reused, "comparison was", "comparisons were")
    return f"Since the last run {', '.join(told) or 'nothing has changed'}; {known} known from it."


def _check_files(source: list[str] | None, files: Mapping[str, Path | None]) -> None:
    """Refuse --unique and the like without a file."""
    given = next((name for name, path in files.items() if path is not None), None)
    if not source and given:
        raise typer.BadParameter(
            f"{given} is for a file: --mark marks a collection, and tells the filter query that"
            " leaves its near-duplicates out"
        )


def _say_unique(
    found: Unique, unique: Path | None, removed: Path | None, rejected: Path | None
) -> None:
    """Where the records of a file are, and how many are in none; the numbers add up."""
    repeated = f" ({found.repeated:,} for another record of the id)" if found.repeated else ""
    kept = f"{found.kept:,} {_are(found.kept)} {f'in {unique}' if unique else 'kept'}"
    gone = found.removed + found.repeated
    away = f"{gone:,} {f'in {removed}' if removed else 'removed'}{repeated}"
    failed = f", {found.failed:,} in {rejected}" if rejected else ""
    if found.failed and not rejected:
        failed = f"; {found.failed:,} could not be used and {_are(found.failed)} in no file:"
        failed += " --rejected FILE writes them"
    show.say(f"Of {show.counted(found.records, 'record')}, {kept}, {away}{failed}.")


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _check(
    *, source: list[str] | None, against: str | None, mark: bool, undo: bool, dry_run: bool
) -> None:
    """Refuse options that do not go together, before any work."""
    if mark and undo:
        raise typer.BadParameter("give one of --mark and --undo")
    if dry_run and not (mark or undo):
        raise typer.BadParameter("--dry-run goes with --mark or --undo")
    if (mark or undo) and (source or against is not None):
        raise typer.BadParameter("marks are for one collection: leave SOURCE and --against out")


def _check_source(given: list[str] | None, solr: str | None) -> None:
    """Refuse a source that is not there; it may be meant as the name of a collection."""
    if given is None or len(given) != 1:
        return
    (source,) = given
    if source == "-" or "." in source or Path(source).exists():
        return
    from neardup_solr.solr.names import require_name

    try:
        require_name(source)
    except nd.ArgumentError:
        return
    named = nd.errors.place(source, solr)
    step = f"check the path, or name a collection with: neardup duplicates {named}"
    raise nd.SourceError(source, "there is no such file or folder", step)


def _check_named() -> None:
    """Refuse to fetch the embedded Solr where it was never used: nothing can be in it."""
    from neardup_solr import embedded
    from neardup_solr.verbs.connect import ADDRESS

    if not os.environ.get(ADDRESS) and not embedded.is_known():
        raise typer.BadParameter("name a file, or a collection with -c")


def _confirm(found: Duplicates, *, yes: bool) -> None:
    """Ask before clusters are marked whose documents may be unrelated; --yes answers."""
    chained = found.chained
    if not chained:
        return
    members = sum(len(cluster.members) for cluster in chained)
    clusters = show.counted(len(chained), "cluster chains", "clusters chain")
    share = members / max(found.documents, 1)
    show.say(
        f"{clusters} documents that may have nothing in common:"
        f" {members:,} documents ({100 * share:.0f} % of the collection),"
        f" {max(len(cluster.members) for cluster in chained):,} in the largest. With --linkage"
        " complete, or a larger --min-similarity, all documents of a cluster are near-duplicates."
    )
    if not yes:
        options.confirm(
            "Mark them all the same?",
            unasked="nothing was marked: add --yes to mark them all the same",
            declined="Nothing was marked.",
        )


def _mark(solr: Collection, found: Duplicates, *, dry_run: bool) -> None:
    """Mark the clusters that were found in their collection, and tell the queries for them."""
    with progress.watching() as watching:
        made = nd.mark(solr, found, dry_run=dry_run, on_progress=watching.on_progress)
    show.say(_marked(made, dry_run=dry_run))
    if made.clusters and not dry_run:
        show.say(f"Queries without near-duplicates: fq={made.fq}")
        show.say(f"With one document of each cluster: fq={made.collapse}")


def _undo(solr: Collection, fq: Sequence[str], *, dry_run: bool) -> None:
    """Remove all marks from a collection, or those of documents that match."""
    with progress.watching() as watching:
        made = nd.unmark(solr, fq=fq, dry_run=dry_run, on_progress=watching.on_progress)
    documents = show.counted(made.cleared, "document")
    if not made.cleared:
        show.say("No document is marked.")
    elif dry_run:
        show.say(f"Would remove the marks of {documents} (dry run: nothing was changed).")
    else:
        show.say(f"Removed the marks of {documents}; nothing else was changed.")


def _marked(made: Marks, *, dry_run: bool) -> str:
    clusters = show.counted(made.clusters, "cluster")
    if not (made.marked or made.cleared or made.vanished):
        return f"All {show.counted(made.unchanged, 'document')} of {clusters} are marked already."
    counts = {"unchanged": made.unchanged, "cleared": made.cleared, "vanished": made.vanished}
    also = ", ".join(f"{count:,} {word}" for word, count in counts.items() if count)
    said = f"{show.counted(made.marked, 'document')} of {clusters}" + (f"; {also}" if also else "")
    return f"Would mark {said} (dry run: nothing was changed)." if dry_run else f"Marked {said}."
