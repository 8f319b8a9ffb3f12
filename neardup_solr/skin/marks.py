"""What `duplicates` says and does about marks: --mark, --undo, --dry-run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from neardup_solr.skin import show

if TYPE_CHECKING:
    from neardup_solr.edges.client import Solr
    from neardup_solr.verbs.duplicating import Duplicates
    from neardup_solr.verbs.marking import Marks


def check(
    *, source: str | None, against: str | None, mark: bool, undo: bool, dry_run: bool
) -> None:
    """Refuse what does not go together, before any work."""
    if mark and undo:
        raise typer.BadParameter("give one of --mark and --undo")
    if dry_run and not (mark or undo):
        raise typer.BadParameter("--dry-run goes with --mark or --undo")
    if (mark or undo) and (source is not None or against is not None):
        raise typer.BadParameter("marks are for one collection: leave SOURCE and --against out")


def mark(solr: Solr, found: Duplicates, *, dry_run: bool) -> None:
    """Mark the clusters that were found in their collection."""
    from neardup_solr.verbs import marking

    with show.counting("marking") as on_progress:
        made = marking.mark(solr, found.clusters, dry_run=dry_run, on_progress=on_progress)
    show.say(_marked(made, dry_run=dry_run))


def undo(solr: Solr, *, dry_run: bool) -> None:
    """Take all marks out of a collection."""
    from neardup_solr.verbs import marking

    with show.counting("undoing") as on_progress:
        made = marking.unmark(solr, dry_run=dry_run, on_progress=on_progress)
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


def check_fields(solr: Solr) -> None:
    """Refuse a collection that cannot be marked, before any work."""
    from neardup_solr.verbs import marking

    marking.require_fields(solr)
