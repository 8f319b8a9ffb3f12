"""The command delete: documents by id or query."""

from __future__ import annotations

import click

import neardup_solr as nd
from neardup_solr.cli import show
from neardup_solr.cli.typed import Typed


def delete(typed: Typed, *, yes: bool = False) -> int:
    """Delete documents by id or by query."""
    ids, query = typed["ids"], typed["query"]
    is_dry = typed["dry_run"]
    if not ids and query is None:
        raise click.BadParameter("give ids, or --query QUERY ('*:*' matches everything)")
    target = typed.connect()
    if is_dry or (query is not None and not yes):
        count = nd.delete(target, **typed.replace(dry_run=True).arguments)
        documents = show.counted(count, "document")
        if is_dry:
            if not count:
                show.say_if_full_text([query], target.place)
            change = f"{documents} of {target.url} would be deleted"
            show.warn(f"{change} (dry run: nothing was changed).")
            return 0
        if count and count == target.count():
            what = f"{documents}, everything in {target.url}"
            show.confirm(
                f"Delete {what}?",
                unasked=f"this would delete {what}; add --yes to confirm",
                declined="Nothing was deleted.",
            )
    with show.watch():
        count = nd.delete(target, **typed.arguments)
    if not count:
        show.say_if_full_text([query], target.place)
    absent = max(0, len(set(ids)) - count) if query is None else 0
    rest = f"; {show.counted(absent, 'id was', 'ids were')} not found" if absent else ""
    show.say(f"{show.counted(count, 'document')} deleted{rest}.")
    return 0
