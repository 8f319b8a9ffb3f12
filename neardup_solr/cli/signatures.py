"""The command signatures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import neardup_solr as nd
from neardup_solr.cli import options, progress, show
from neardup_solr.sizes import MAX_DOC_BYTES


def signatures(
    source: options.SourceArgument,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The .parquet file to write.")
    ],
    id_field: options.IdFieldOption = None,
    text_field: options.TextFieldOption = None,
    source_format: options.SourceFormatOption = None,
    delimiter: options.DelimiterOption = None,
    encoding: options.EncodingOption = None,
    lossy: options.LossyOption = False,
    max_doc_bytes: options.MaxDocBytesOption = MAX_DOC_BYTES,
    kind: options.KindOption = None,
    shingle_size: options.ShingleSizeOption = None,
    language: options.LanguageOption = None,
    family: options.FamilyOption = None,
    hashes: options.HashesOption = None,
    bands: options.BandsOption = None,
    band_rows: options.BandRowsOption = None,
) -> None:
    """Write the signatures of a source to a Parquet file.

    It has their bands too; no Solr is needed.
    """
    settings = nd.Settings(
        **options.settings_given(
            kind=kind, shingle_size=shingle_size, language=language, family=family, hashes=hashes,
            bands=bands, rows=band_rows,
        )
    )  # fmt: skip
    reading = options.reading(id_field, text_field, source_format, delimiter, encoding, lossy)
    show.say_if_typed(source, "documents")
    show.compile_kernel()
    with progress.watching() as watching:
        written = nd.signatures(
            source,
            output,
            settings=settings,
            max_doc_bytes=max_doc_bytes,
            on_error=watching.on_error,
            **reading,
        )
    show.say(
        f"Read {written.read:,} records = {written.written:,} written + {written.failed:,} failed"
        f" to {output} [{settings.fingerprint}]."
    )
    if written.failed:
        raise typer.Exit(1)
