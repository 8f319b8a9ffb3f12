"""The command init."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

import neardup_solr as nd
from neardup_solr.cli import options, show

if TYPE_CHECKING:
    from neardup_solr.verbs.init import Preparation


def init(
    name: options.NameArgument,
    solr: options.SolrOption = None,
    shards: Annotated[int, typer.Option(help="Shards of a collection in SolrCloud.")] = 1,
    native: Annotated[
        bool, typer.Option("--native", help="Let Solr compute MinHashes of its own, too.")
    ] = False,
    prefix: options.PrefixOption = None,
    text_field: options.TextFieldsOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only print what would be added or removed.")
    ] = False,
    remove: Annotated[
        bool, typer.Option("--remove", help="Take our fields out of the schema again.")
    ] = False,
) -> None:
    """Create a collection, or add our fields to one that is there."""
    from neardup_solr.solr import admin
    from neardup_solr.verbs.connect import require_named

    target = options.connect(solr, name)
    require_named(target, name)
    if remove:
        _say_removed(name, nd.unprepare(target, dry_run=dry_run), dry_run=dry_run)
    elif admin.exists(target) and not native:
        done = nd.prepare(target, text=text_field or (), prefix=prefix, dry_run=dry_run)
        _say_prepared(name, target.url, done, dry_run=dry_run)
    elif prefix or text_field or dry_run:
        raise typer.BadParameter(
            f"there is no collection {name!r} yet: create it with neardup init {name} alone"
        )
    else:
        created = nd.init(target, name=name, shards=shards, native=native)
        show.say(f"{target.url} {'is created' if created else 'is there, with all fields'}.")


def _say_prepared(name: str, url: str, done: Preparation, *, dry_run: bool) -> None:
    if done.is_done and not done.fields and not done.xml:
        show.say(f"{url} is there, with all fields.")
        return
    if done.is_done:
        read = f"the text is that of {', '.join(done.names.text)} from now on"
        added = f"{_fields(done)} added; neardup init {name} --remove takes them out"
        show.say(f"{url}: {added if done.fields else read}.")
    else:
        print(done.xml)
        show.say(
            f"{url}: {_fields(done)} would be added, as above."
            if done.is_mutable
            else f"{url}: this schema cannot be changed over HTTP: paste the lines above into it,"
            " before </schema>, and reload the collection."
        )
    if done.beside:
        show.say(f"The schema is also that of {', '.join(done.beside)}.")
    if not done.is_done and not dry_run:
        raise typer.Exit(1)


def _say_removed(name: str, done: Preparation, *, dry_run: bool) -> None:
    if not done.fields:
        show.say(f"{name} has no fields that neardup init has added.")
    elif dry_run:
        show.say(f"{_fields(done)} would be removed: {', '.join(done.fields)}.")
    else:
        show.say(f"{_fields(done)} removed from the schema of {name}.")


def _fields(done: Preparation) -> str:
    return show.counted(len(done.fields), "field") if done.fields else "the names of fields"
