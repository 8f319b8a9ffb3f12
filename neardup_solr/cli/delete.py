"""The command delete."""

from __future__ import annotations

import sys
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
    count = nd.delete(target, ids or (), query=query, dry_run=True)
    documents = show.counted(count, "document")
    if not count:
        show.say_if_full_text([query])
    if dry_run:
        show.say(f"{documents} of {target.url} would be deleted (dry run: nothing was changed).")
        return
    if query is not None and count and count == target.count() and not yes:
        _confirm(f"{documents}, everything in {target.url}")
    nd.delete(target, ids or (), query=query)
    show.say(f"{documents} deleted.")


def _confirm(what: str) -> None:
    """Ask at a terminal; elsewhere --yes is needed."""
    if not sys.stdin.isatty():
        raise typer.BadParameter(f"this would delete {what}: add --yes if that is meant")
    if not typer.confirm(f"Delete {what}?", err=True):
        show.say("Nothing was deleted.")
        raise typer.Exit(1)
