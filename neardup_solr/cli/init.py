"""The command init."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

import neardup_solr as nd
from neardup_solr.cli import options, show

if TYPE_CHECKING:
    from neardup_solr.solr.collection import Collection
    from neardup_solr.verbs.init import Preparation


def init(
    solr: options.SolrOption = None,
    collection: options.CollectionOption = None,
    text_field: options.TextFieldsOption = None,
    prefix: options.PrefixOption = None,
    native: Annotated[
        bool, typer.Option("--native", help="Let Solr compute its own MinHashes too.")
    ] = False,
    shards: Annotated[
        int | None,
        typer.Option(help="Shards of a collection in SolrCloud.", min=1, show_default="1"),
    ] = None,
    replicas: Annotated[
        int | None,
        typer.Option(help="Copies of each shard in SolrCloud.", min=1, show_default="1"),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only print what would be added or removed.")
    ] = False,
    remove: Annotated[
        bool, typer.Option("--remove", help="Remove our fields from the schema again.")
    ] = False,
) -> None:
    """Create a collection, or add our fields to one that exists."""
    from neardup_solr.verbs.init import check_names

    text = options.names(text_field)
    check_names(text=text, prefix=prefix, native=native, remove=remove)
    target = options.connect(solr, collection)
    done = nd.init(
        target,
        text=text,
        prefix=prefix,
        native=native,
        shards=shards,
        replicas=replicas,
        dry_run=dry_run,
        remove=remove,
    )
    if remove:
        _say_removed(target.name, done, dry_run=dry_run)
    elif done.is_created:
        show.say(f"{target.url} is created; next: neardup index FILE {target.place}")
    else:
        _say_prepared(target, done, dry_run=dry_run)


def _say_prepared(target: Collection, done: Preparation, *, dry_run: bool) -> None:
    url, place = target.url, target.place
    if done.is_done and not done.fields and not done.xml:
        show.say(f"{url} exists, with all fields.")
        return
    if done.is_done:
        texts = ", ".join(done.names.text)
        read = f"the text is that of {texts} from now on; neardup annotate {place} follows it"
        added = (
            f"{_fields(done)} added; next: neardup annotate {place}"
            f" (neardup init {place} --remove takes them out)"
        )
        show.say(f"{url}: {added if done.fields else read}.")
    else:
        print(done.xml)
        show.say(
            f"{url}: {_fields(done)} would be added, as above."
            if done.is_mutable
            else f"{url}: this schema cannot be changed over HTTP: paste the lines above into it,"
            " before </schema>, and reload the collection."
        )
    if done.growth is not None:
        show.say(f"By default {done.growth}.")
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
