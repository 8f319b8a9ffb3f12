"""The command index."""

from __future__ import annotations

from typing import Annotated

import typer

import neardup_solr as nd
from neardup_solr.cli import options, progress, show


def index(
    source: options.SourceArgument,
    solr: options.SolrOption = None,
    core: options.CoreOption = "neardup",
    source_format: options.SourceFormatOption = None,
    id_field: options.IdFieldOption = "id",
    text_field: options.TextFieldOption = "text",
    keep: options.KeepOption = None,
    lossy: options.LossyOption = False,
    fields: Annotated[
        str | None,
        typer.Option(
            help="Fields to write: all, a list, =-content_ng for all but that,"
            " +profile_hash for text profiles too."
        ),
    ] = None,
    kind: options.KindOption = None,
    shingle_size: options.ShingleSizeOption = None,
    language: options.LanguageOption = None,
    family: options.FamilyOption = None,
    hashes: options.HashesOption = None,
    bands: options.BandsOption = None,
    band_rows: options.BandRowsOption = None,
    signatures: options.SignatureTermsOption = None,
    threads: Annotated[int, typer.Option(help="Sender threads.", min=1)] = 2,
    batch: Annotated[int, typer.Option(help="Documents in a batch.", min=1)] = 1000,
) -> None:
    """Index a file, a folder or standard input into Solr."""

    reading = nd.Reading(
        source_format=source_format,
        id=id_field,
        text=(text_field,),
        keep=tuple(keep or ()),
        lossy=lossy,
    )
    asked = options.settings_given(
        fields=fields,
        kind=kind,
        shingle_size=shingle_size,
        language=language,
        family=family,
        hashes=hashes,
        bands=bands,
        rows=band_rows,
        signatures=signatures,
    )
    _judge(source, reading)
    target = options.connect(solr, core, create=True)
    show.say_if_typed(source, "documents")
    show.compile_kernel()
    try:
        with progress.watching() as watching:
            summary = nd.index(
                source,
                target,
                settings=asked,
                reading=reading,
                sending=nd.Sending(threads=threads, batch_documents=batch),
                watching=watching,
            )
    except KeyboardInterrupt:
        show.say("What was sent is not yet durable; it is safe to run the same command again.")
        raise
    show.say_summary(summary)
    if summary.failed:
        raise typer.Exit(1)


def _judge(source: str, reading: nd.Reading) -> None:
    """Refuse a source that cannot be used before a Solr is started for it.

    A file is read as far as it takes to tell; what comes through a pipe comes only once.
    """
    from neardup_solr import sources
    from neardup_solr.progress import unheard

    # What is to be said about the source is said when it is indexed.
    documents = sources.read(source, reading=reading, on_error=unheard, on_notice=unheard)
    if sources.size_hint(source) is not None:
        next(documents, None)
