"""The command delete."""

from __future__ import annotations

from typing import Annotated

import typer

import neardup_solr as nd
from neardup_solr.cli import options, show


def delete(
    ids: Annotated[list[str] | None, typer.Argument(help="Ids of documents.")] = None,
    query: Annotated[
        str | None, typer.Option("--query", "-q", help="All documents that this query matches.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say how many would be deleted.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Delete everything without being asked.")
    ] = False,
    solr: options.SolrOption = None,
    collection: options.CollectionOption = None,
) -> None:
    """Delete documents by id or by query."""
    if not ids and query is None:
        raise typer.BadParameter("give ids, or --query QUERY ('*:*' is everything)")
    target = options.connect(solr, collection)
    if dry_run or (query is not None and not yes):
        count = nd.delete(target, ids or (), query=query, dry_run=True)
        documents = show.counted(count, "document")
        if dry_run:
            if not count:
                show.say_if_full_text([query], target.place)
            said = f"{documents} of {target.url} would be deleted"
            show.say(f"{said} (dry run: nothing was changed).")
            return
        if count and count == target.count():
            what = f"{documents}, everything in {target.url}"
            options.confirm(
                f"Delete {what}?",
                unasked=f"this would delete {what}: add --yes if that is meant",
                declined="Nothing was deleted.",
            )
    count = nd.delete(target, ids or (), query=query)
    if not count:
        show.say_if_full_text([query], target.place)
    absent = max(0, len(set(ids or ())) - count) if query is None else 0
    rest = f"; {absent:,} of these ids {'is' if absent == 1 else 'are'} not there" if absent else ""
    show.say(f"{show.counted(count, 'document')} deleted{rest}.")
