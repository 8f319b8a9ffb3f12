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
    solr: options.SolrOption = None,
    core: options.CoreOption = "neardup",
) -> None:
    """Delete documents by id or by query."""

    if not ids and query is None:
        raise typer.BadParameter("give ids, or --query QUERY ('*:*' is everything)")
    count = nd.delete(options.connect(solr, core), ids=ids or (), filter=query)
    show.say(f"{show.counted(count, 'document')} deleted.")
