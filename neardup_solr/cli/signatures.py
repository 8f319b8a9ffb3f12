"""The command signatures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import neardup_solr as nd
from neardup_solr.cli import options, progress, show


def signatures(
    source: options.SourceArgument,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The .parquet file to write.")
    ],
    source_format: options.SourceFormatOption = None,
    id_field: options.IdFieldOption = "id",
    text_field: options.TextFieldOption = "text",
    lossy: options.LossyOption = False,
    kind: options.KindOption = None,
    shingle_size: options.ShingleSizeOption = None,
    language: options.LanguageOption = None,
    family: options.FamilyOption = None,
    hashes: options.HashesOption = None,
    bands: options.BandsOption = None,
    band_rows: options.BandRowsOption = None,
) -> None:
    """Write the signatures of a source to a Parquet file.

    With their bands, and without any Solr.
    """

    asked = options.settings_given(
        kind=kind,
        shingle_size=shingle_size,
        language=language,
        family=family,
        hashes=hashes,
        bands=bands,
        rows=band_rows,
    )
    settings = nd.Settings(**asked)
    reading = nd.Reading(source_format=source_format, id=id_field, text=(text_field,), lossy=lossy)
    show.say_if_typed(source, "documents")
    show.compile_kernel()
    with progress.watching() as watching:
        written = nd.signatures(
            source, output, settings=settings, reading=reading, on_error=watching.on_error
        )
    show.say(
        f"Read {written.read:,} records = {written.written:,} written + {written.failed:,} failed"
        f" to {output} [{settings.fingerprint}]."
    )
    if written.failed:
        raise typer.Exit(1)
