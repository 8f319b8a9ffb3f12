"""The command duplicates."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

import neardup_solr as nd
from neardup_solr.cli import show
from neardup_solr.cli.exit_codes import INCOMPLETE
from neardup_solr.cli.merge_options import MergeOptions
from neardup_solr.cli.typed import Typed, has_no_solr, open_other_side, say_choice
from neardup_solr.progress import Progress
from neardup_solr.units import most_failed

if TYPE_CHECKING:
    from neardup_solr.argument_types import RowFormat
    from neardup_solr.solr.collection import Collection
    from neardup_solr.verbs.duplicates.plan import RunPlan
    from neardup_solr.verbs.duplicates.remember import Changes
    from neardup_solr.verbs.duplicates.result import Duplicates
    from neardup_solr.verbs.duplicates.unique import Unique
    from neardup_solr.verbs.mark import Marks

MANY_NUMERIC, NUMERIC_SHARE = 2, 0.1  # pairs that differ only in numbers, to be told
MOST_CLUSTERS = 20  # on a terminal; files and pipes get all
# By the way in which candidates were found.
_IN_COMMON = {
    "all": "",
    "bands": " with a band in common",
    "shingles": " with shingles in common",
    "passages": " with a passage in common",
    "words": " with a rare word in common",
}


def duplicates(
    typed: Typed,
    *,
    output: Sequence[Path] = (),
    unique: Path | None = None,
    removed: Path | None = None,
    rejected: Path | None = None,
    merge: Path | None = None,
    merge_rule: Sequence[str] = (),
    mark: bool = False,
    undo: bool = False,
    dry_run: bool = False,
    yes: bool = False,
    format: RowFormat | None = None,
    max_failed: str = "0",
    mutual_best: bool = False,
) -> int:
    """Find all near-duplicates in a file or a collection, as clusters.

    A file needs no Solr. Without a column named text, the columns are guessed from their contents.
    """
    from neardup_solr.verbs.duplicates.find import run_plan
    from neardup_solr.verbs.duplicates.plan import make_plan
    from neardup_solr.verbs.duplicates.request import DuplicatesRequest

    source, against = typed["source"], typed["against"]
    files = {"unique": unique, "removed": removed, "rejected": rejected}
    merging = MergeOptions.parse(merge, merge_rule)
    written = {**files, **merging.files}
    _check(typed, written, mark=mark, undo=undo, dry_run=dry_run, writes=bool(output))
    _check_source(typed.paths, typed.place.address)
    if undo:
        _undo(typed.connect(), typed["fq"], dry_run=dry_run, patience=typed["patience"])
        return 0
    as_rows = show.choose_format(format)
    most_failed(max_failed, 0)
    if not (source or typed.place.collection) and has_no_solr(typed.place.address):
        raise click.BadParameter("name a file, or a collection with -c")
    first = next(iter([*output, *filter(None, written.values())]), None)
    checkpoint = first.with_name(f"{first.name}.unfinished") if first and first.name else None
    if mutual_best:
        typed = typed.replace(linkage="mutual_best")
    typed = open_other_side(typed)
    if not typed["texts"]:
        texts = _choose_texts(
            output,
            are_shown=as_rows is None and not (mark and format is None),
            has_page_texts=bool(source) and against is None and typed["measure"] != "estimate",
        )
        typed = typed.replace(texts=texts)
    counts = None
    with _keep_unfinished(checkpoint), show.watch(comparing="pairs") as watching:
        if mark:
            from neardup_solr.verbs.mark import require_markable
        place = source or typed.connect(check=require_markable if mark else None)
        arguments = {**typed.arguments, "source": place}
        plan = make_plan(
            DuplicatesRequest(checkpoint=checkpoint, on_choice=say_choice, **watching, **arguments)
        )
        _check_files(plan, output, written, merging)
        show.compile_kernel()
        result = run_plan(plan)
        if result.doubt and (unique or removed or merge) and not yes:
            _confirm_removal(result)
        merged = merging.merge(result, watching["on_progress"])
        if any(files.values()):
            counts = result.write_unique(
                unique, removed=removed, rejected=rejected, yes=True,
                on_progress=watching["on_progress"],
            )  # fmt: skip
        if merged is not None:
            merged.write(merge or "", on_progress=watching["on_progress"])
        for path in output:
            watching["on_progress"](Progress("writing", 0))
            result.write(path)
    if output:
        show.say(f"Wrote {' and '.join(map(str, output))}.")
    elif format is None and (mark or counts is not None or merged is not None):
        pass  # only marks, or the files, were asked for
    elif as_rows is None:
        _print_clusters(result)
    else:
        from neardup_solr.reports.rows import duplicate_rows

        rows = duplicate_rows(result.pairs, result.measure, result.texts, result.kept)
        show.print_rows(rows.lines(as_rows))
    _say_duplicates(result)
    if counts is not None:
        _say_unique(counts, unique, removed, rejected, result.damaged)
    if merged is not None:
        merging.say(merged)
    if counts is not None:
        _say_outside(result)
    if counts is not None and merged is None:
        _say_fuller(result)
    if mark and not typed.paths:
        if result.doubt and not (dry_run or yes):
            _confirm_marks()
        _mark(place, result, dry_run=dry_run, patience=typed["patience"])
    records = result.documents + result.failed
    is_complete = result.failed <= most_failed(max_failed, records) and not result.damaged
    return 0 if is_complete else INCOMPLETE


def _check_files(
    plan: RunPlan, outputs: Sequence[Path], files: Mapping[str, Path | None], merging: MergeOptions
) -> None:
    """Refuse files that could not be written, before any work is done for them."""
    from neardup_solr.sources import paths_of
    from neardup_solr.verbs.duplicates.output import check_output
    from neardup_solr.verbs.duplicates.unique import check_files, require_copied

    if any(files.values()):
        second = [Path(path) for path in paths_of(plan.against) or ()]
        reading = plan.readings[0]
        paths = require_copied(plan.source, reading)
        check_files(paths, reading, files, second)
        merging.check(plan, paths, outputs)
    for path in outputs:
        check_output(path)


@contextmanager
def _keep_unfinished(unfinished: Path | None) -> Iterator[None]:
    """Delete the finished comparisons at the end, or say where they are if files are lacking."""
    try:
        yield
    except (KeyboardInterrupt, nd.ArgumentError, nd.SourceError, nd.SolrError) as error:
        failure = error if isinstance(error, nd.SourceError) else None
        is_unwritten = failure and failure.code == "file-unwritable"
        if failure and failure.source == str(unfinished) and not is_unwritten:  # a file of others
            step = "move it, or write to a different file"
            raise nd.SourceError(failure.source, failure.reason, step, code=failure.code) from None
        if unfinished is not None and os.path.exists(unfinished):  # not of a name that is too long
            show.warn(f"Finished comparisons are in {unfinished}; run this again to continue.")
        if failure and is_unwritten:
            named = failure.source.removesuffix(".unfinished")  # beside the file that was typed
            raise nd.SourceError(
                named, failure.reason, failure.next_step, code=failure.code
            ) from None
        raise
    except click.exceptions.Exit:  # nothing is to be removed
        _delete(unfinished)
        raise
    _delete(unfinished)


def _delete(path: Path | None) -> None:
    if path is not None:
        path.unlink(missing_ok=True)


def _choose_texts(outputs: Sequence[Path], *, are_shown: bool, has_page_texts: bool) -> int | None:
    """Choose the texts to ask for: of a page, or of the largest clusters if they `are_shown`.

    `has_page_texts` says that a result has those of the pairs that a page lists by itself.
    """
    if not outputs:
        return MOST_CLUSTERS if are_shown else False
    if all(each.suffix.lower() != ".html" for each in outputs):
        return False
    return None if has_page_texts else True


def _print_clusters(result: Duplicates, *, most: int = MOST_CLUSTERS) -> None:
    """Print the largest clusters as a table, text under text, the document to keep first."""
    from neardup_solr.records import largest

    shown = largest(result.clusters, most)
    if not shown:
        return
    show.print_clusters(shown, result.texts)
    more = len(result.clusters) - len(shown)
    if more:
        show.say(
            f"... and {show.counted(more, 'smaller cluster')};"
            " -o report.html shows them, -o pairs.tsv has all pairs."
        )


def _say_duplicates(result: Duplicates) -> None:
    """Say how the pairs were found, and what may be missing."""
    from neardup_solr.measures import measure_named
    from neardup_solr.measures.equality import NUMBERS

    pairs = show.counted(len(result.pairs), "near-duplicate pair")
    clusters = show.counted(len(result.clusters), "cluster")
    documents = show.counted(result.documents, "document")
    compared = f"{show.counted(result.candidates, 'pair')}{_IN_COMMON[result.by]} compared"
    count = result.copies - result.unlike.copies
    copies = f"; {count:,} are exact copies" if count > 1 else "; 1 is an exact copy" * count
    equal = f"; {result.unlike}" if result.unlike.copies else ""
    show.say(f"{pairs} in {clusters} among {documents}{copies}{equal}; {compared}.")
    if result.capped:
        show.warn(show.in_options(result.capped))
    if result.numeric >= max(MANY_NUMERIC, NUMERIC_SHARE * len(result.pairs)) and not result.doubt:
        sentence = show.in_options(result.describe_alike(NUMBERS))
        show.say(f"{sentence[0].upper()}{sentence[1:]}.")
    if result.chosen:
        show.say(show.in_options(result.chosen))
    # What is chosen for one source says enough, and what its fields leave open has been logged.
    is_open = result.against or not result.chosen
    border = result.borderline
    if is_open and border is not None and border.warning and not border.unsure:
        show.warn(f"{border.warning} neardup review asks about such pairs.")
    if result.since is not None:
        by_fields = result.measure == "fields"
        is_weighed = not by_fields and measure_named(result.measure).needs_frequencies
        step = " With --measure words, comparisons are remembered." if is_weighed else ""
        show.say(f"{_describe_changes(result.since)}{step}")
    if result.answered is not None:
        show.say(f"{result.answered}.")
    show.say_gaps(result.gaps)


def _describe_changes(since: Changes) -> str:
    """Describe what changed since the run that was remembered, and what of it was used."""
    if since.reason:
        return f"Everything was compared: {since.reason}."
    counts = {"added": since.came, "changed": since.changed, "removed": since.gone}
    changes = [f"{show.counted(size, 'document')} {word}" for word, size in counts.items() if size]
    reused = show.counted(since.reused, "comparison was", "comparisons were")
    changed = ", ".join(changes) or "nothing changed"
    return f"Since the last run: {changed}; {reused} reused."


def _say_unique(
    result: Unique, unique: Path | None, removed: Path | None, rejected: Path | None,
    damaged: int,
) -> None:  # fmt: skip
    """Say where the records of a file are, and how many are in none, which add up.

    The end of a damaged file is a row of the rejected ones, and else no record.
    """
    repeated = f" ({result.repeated:,} with a repeated id)" if result.repeated else ""
    kept = f"{result.kept:,} {_are(result.kept)} {f'in {unique}' if unique else 'kept'}"
    gone = result.removed + result.repeated
    away = f"{gone:,} {f'in {removed}' if removed else 'removed'}{repeated}"
    ends = 0 if rejected else damaged
    failed = f", {result.failed:,} in {rejected}" if rejected else ""
    if (count := result.failed - ends) and not rejected:
        failed = f"; {count:,} could not be used and {_are(count)} not in any file:"
        failed += " --rejected FILE saves them"
    show.say(f"Of {show.counted(result.records - ends, 'record')}, {kept}, {away}{failed}.")


def _say_fuller(result: Duplicates) -> None:
    """Say how many records are removed for one with fewer fields, unless a rule was named."""
    if result.fuller and result.canonical == "first":
        have = "has" if result.fuller == 1 else "have"
        show.say(
            f"{result.fuller:,} of the removed {have} more filled fields than the record that is"
            " kept: --canonical fullest keeps the one with the most, --merge FILE has the values of"
            " all."
        )


def _say_outside(result: Duplicates) -> None:
    """Say how many records are removed for one that is not of their cluster, if any are."""
    from neardup_solr.clusters.removal import count_outside

    if result.linkage != "complete":
        return
    outside = count_outside(result.removed.values(), result.clusters, has_sides=result.against)
    if outside:
        show.say(
            f"{outside:,} of the removed {_are(outside)} near a kept record outside of the own"
            " cluster: complete linkage leaves the cluster of such a pair empty."
        )


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _check(
    typed: Typed, files: Mapping[str, Path | None], *, mark: bool, undo: bool,
    dry_run: bool, writes: bool,
) -> None:  # fmt: skip
    """Refuse options that do not go together, before any work."""
    source, against = typed["source"], typed["against"]
    marks, compares = mark or undo, typed["remember"] is not None
    is_marked = marks and (source or against is not None)
    wrong = {
        "give either --mark or --undo": mark and undo,
        "--dry-run needs --mark or --undo": dry_run and not marks,
        "only one collection can be marked: leave SOURCE and --against out": is_marked,
        "--undo writes no pairs: leave -o out": undo and writes,
        "--undo compares nothing: leave --remember out": undo and compares,
        "--merge needs one source: name all files as SOURCE, without --against": (
            files.get("merge") is not None and against is not None
        ),
    }
    if reason := next((each for each in wrong if wrong[each]), ""):
        raise click.BadParameter(reason)
    typed.require_source("SOURCE")
    for name, path in files.items():
        if path is not None and not source:
            step = "for a collection, --mark prints a filter query that excludes near-duplicates"
            raise click.BadParameter(f"--{name} needs a file; {step}")


def _check_source(paths: Sequence[str], solr: str | None) -> None:
    """Refuse a source that is not there, which may be meant as the name of a collection."""
    if len(paths) != 1:
        return
    (source,) = paths
    if source == "-" or "." in source or Path(source).exists():
        return
    from neardup_solr.solr.names import require_name

    try:
        require_name(source)
    except nd.ArgumentError:
        return
    named = nd.errors.place(source, solr)
    step = f"check the path, or name a collection with: neardup duplicates {named}"
    raise nd.SourceError(source, "there is no such file or folder", step, code="file-missing")


def _confirm_removal(result: Duplicates) -> None:
    """Ask before what may be no copies is removed."""
    documents = f"{len(result.removed):,} of {show.counted(result.documents, 'document')}"
    unasked = f"nothing was written; add --yes to remove {documents} anyway"
    show.confirm(f"Remove {documents} anyway?", unasked=unasked, declined="Nothing was written.")


def _confirm_marks() -> None:
    """Ask before clusters are marked whose documents may be no copies."""
    unasked = "nothing was marked; add --yes to mark them anyway"
    show.confirm("Mark them anyway?", unasked=unasked, declined="Nothing was marked.")


def _mark(solr: Collection, result: Duplicates, *, dry_run: bool, patience: str) -> None:
    """Mark the clusters that were found in their collection, and tell the queries for them."""
    with show.watch() as watching:
        marks = nd.mark(
            solr, result, yes=True, dry_run=dry_run, patience=patience,
            on_progress=watching["on_progress"],
        )  # fmt: skip
    (show.warn if dry_run else show.say)(_describe_marks(marks, dry_run=dry_run))
    _say_torn(solr, marks, dry_run=dry_run)
    if marks.clusters and not dry_run:
        show.say(f"Queries without near-duplicates: fq={marks.fq}")
        show.say(f"With one document of each cluster: fq={marks.collapse}")


def _undo(solr: Collection, fq: Sequence[str], *, dry_run: bool, patience: str) -> None:
    """Remove all marks from a collection, or those of documents that match."""
    with show.watch() as watching:
        marks = nd.mark(
            solr, (), fq=fq, dry_run=dry_run, patience=patience, on_progress=watching["on_progress"]
        )
    documents = show.counted(marks.cleared, "document")
    if not marks.cleared:
        show.say("There are no marks to remove.")
    elif dry_run:
        show.warn(f"Would remove the marks of {documents} (dry run: nothing was changed).")
    else:
        show.say(f"Removed the marks of {documents}; nothing else was changed.")
    _say_torn(solr, marks, dry_run=dry_run)


def _say_torn(solr: Collection, marks: Marks, *, dry_run: bool) -> None:
    """Say that clusters of an earlier run are no longer whole, and what marks all anew."""
    if marks.torn:
        clusters = show.counted(marks.torn, "cluster")
        are = "would be" if dry_run else _are(marks.torn)
        show.warn(
            f"{clusters} from an earlier run {are} split: documents that do not match --fq keep"
            f" their old marks; to re-mark everything: neardup duplicates {solr.place} --mark"
        )


def _describe_marks(marks: Marks, *, dry_run: bool) -> str:
    clusters = show.counted(marks.clusters, "cluster")
    if not (marks.marked or marks.cleared or marks.vanished):
        same = f"All {show.counted(marks.unchanged, 'document')} of {clusters} are already marked."
        return same if marks.clusters else "There are no near-duplicates to mark."
    counts = {"unchanged": marks.unchanged, "cleared": marks.cleared, "vanished": marks.vanished}
    also = ", ".join(f"{count:,} {word}" for word, count in counts.items() if count)
    marked = f"{show.counted(marks.marked, 'document')} of {clusters}" + (
        f"; {also}" if also else ""
    )
    return (
        f"Would mark {marked} (dry run: nothing was changed)." if dry_run else f"Marked {marked}."
    )
