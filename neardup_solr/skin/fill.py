"""Commands that fill a collection: init, index, delete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from neardup_solr.skin import options, show

if TYPE_CHECKING:
    from neardup_solr.edges.sources import Reading


def init(
    name: Annotated[str, typer.Argument(help="Name of the core or collection.")],
    solr: options.SolrOption = None,
    shards: Annotated[int, typer.Option(help="Shards of a collection in SolrCloud.")] = 1,
) -> None:
    """Create a core or collection with all fields."""
    from neardup_solr.verbs import connecting

    target = options.connect(solr, name)
    created = connecting.init(target, name=name, shards=shards)
    show.say(f"{target.url} {'is created' if created else 'is there, with all fields'}.")


def index(
    source: Annotated[
        str,
        typer.Argument(
            help="File (.txt .csv .tsv .jsonl .parquet, also .gz .zst), folder, or - for stdin."
        ),
    ],
    solr: options.SolrOption = None,
    core: options.CoreOption = "neardup",
    format: Annotated[
        str | None,
        typer.Option(help="lines, csv, tsv, jsonl, parquet or folder (default: by suffix)."),
    ] = None,
    id_field: Annotated[str, typer.Option(help="Column that holds the id.")] = "id",
    text_field: Annotated[str, typer.Option(help="Column that holds the text.")] = "text",
    keep: Annotated[
        list[str] | None, typer.Option(help="Further column to keep in Solr (repeatable).")
    ] = None,
    lossy: Annotated[bool, typer.Option(help="Replace invalid UTF-8, not refuse it.")] = False,
    fields: Annotated[
        str | None,
        typer.Option(help="Fields to write: all, a list, or =-content_ng for all but that."),
    ] = None,
    shingle_size: Annotated[int | None, typer.Option(help="Words in a shingle [3].")] = None,
    family: Annotated[str | None, typer.Option(help="Hash family: affine or xor.")] = None,
    hashes: Annotated[int | None, typer.Option(help="Hashes in a signature [128].")] = None,
    bands: Annotated[int | None, typer.Option(help="LSH bands [42].")] = None,
    band_rows: Annotated[int | None, typer.Option(help="Rows of a band [3].")] = None,
    signatures: Annotated[int | None, typer.Option(help="Terms in content_sg [20].")] = None,
    threads: Annotated[int, typer.Option(help="Sender threads.", min=1)] = 2,
    batch: Annotated[int, typer.Option(help="Documents in a batch.", min=1)] = 1000,
) -> None:
    """Index a file, a folder or standard input into Solr."""
    from neardup_solr.edges import sources
    from neardup_solr.edges.sources import Reading
    from neardup_solr.verbs import indexing

    reading = Reading(
        format=format,
        id_field=id_field,
        text_field=text_field,
        keep=tuple(keep or ()),
        lossy=lossy,
    )
    numbers = {
        "shingle_size": shingle_size,
        "hashes": hashes,
        "bands": bands,
        "rows": band_rows,
        "signatures": signatures,
    }
    asked = _settings(fields, numbers, family)
    _judge(source, reading)
    target = options.connect(solr, core, create=True)
    show.say_if_typed(source, "documents")
    try:
        with show.watching(sources.size_hint(source)) as watching:
            summary = indexing.index(
                source,
                target,
                settings=asked,
                reading=reading,
                sending=indexing.Sending(threads=threads, batch_documents=batch),
                watching=watching,
            )
    except KeyboardInterrupt:
        show.say("What was sent is not yet durable; it is safe to run the same command again.")
        raise
    show.say_summary(summary)
    if summary.failed:
        raise typer.Exit(1)


def delete(
    ids: Annotated[list[str] | None, typer.Argument(help="Ids of documents.")] = None,
    query: Annotated[
        str | None, typer.Option("--query", "-q", help="All documents that this query matches.")
    ] = None,
    solr: options.SolrOption = None,
    core: options.CoreOption = "neardup",
) -> None:
    """Delete documents by id or by query."""
    from neardup_solr.verbs import deleting

    if not ids and query is None:
        raise typer.BadParameter("give ids, or --query QUERY ('*:*' is everything)")
    count = deleting.delete(options.connect(solr, core), ids=ids or (), filter=query)
    show.say(f"{count:,} documents deleted.")


def _judge(source: str, reading: Reading) -> None:
    """Refuse a source that cannot be used before a Solr is started for it.

    A file is read as far as it takes to tell; what comes through a pipe comes only once.
    """
    from neardup_solr.edges import sources

    documents = sources.read(source, reading=reading, on_error=lambda error: None)
    if sources.size_hint(source) is not None:
        next(documents, None)


def _settings(
    fields: str | None, numbers: dict[str, int | None], family: str | None
) -> dict[str, Any]:
    """The settings that were asked for, by name; the others are those of the collection."""
    from neardup_solr.pure.config import choose_fields

    given: dict[str, Any] = {name: value for name, value in numbers.items() if value is not None}
    if family is not None:
        given["family"] = family
    if fields is not None:
        given["fields"] = choose_fields(fields)
    return given
