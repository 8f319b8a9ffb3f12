"""The command index."""

from __future__ import annotations

from collections.abc import Sequence

import typer

import neardup_solr as nd
from neardup_solr.cli import options, progress, show


def index(
    source: options.SourceArgument,
    solr: options.SolrOption = None,
    collection: options.CollectionOption = None,
    id_field: options.IdFieldOption = "id",
    text_field: options.TextFieldOption = None,
    keep: options.KeepOption = None,
    source_format: options.SourceFormatOption = None,
    delimiter: options.DelimiterOption = None,
    encoding: options.EncodingOption = None,
    lossy: options.LossyOption = False,
    fields: options.FieldsOption = None,
    kind: options.KindOption = None,
    shingle_size: options.ShingleSizeOption = None,
    language: options.LanguageOption = None,
    family: options.FamilyOption = None,
    hashes: options.HashesOption = None,
    bands: options.BandsOption = None,
    band_rows: options.BandRowsOption = None,
    signatures: options.SignatureTermsOption = None,
    threads: options.ThreadsOption = 2,
    batch: options.BatchOption = 1000,
) -> None:
    """Index a file, a folder or standard input into Solr."""
    settings = options.settings_given(
        fields=fields, kind=kind, shingle_size=shingle_size, language=language, family=family,
        hashes=hashes, bands=bands, rows=band_rows, signatures=signatures,
    )  # fmt: skip
    reading = options.reading(id_field, text_field, source_format, delimiter, encoding, lossy)
    kept = options.names(keep)
    _judge(source, reading, kept)
    target = options.connect(solr, collection, create=True)
    show.say_if_typed(source, "documents")
    show.compile_kernel()
    try:
        with progress.watching() as watching:
            summary = nd.index(
                source,
                target,
                keep=kept if keep is not None else None,
                settings=settings,
                threads=threads,
                batch=batch,
                on_error=watching.on_error,
                on_progress=watching.on_progress,
                **reading,
            )
    except KeyboardInterrupt:
        show.say("What was sent is not yet durable; it is safe to run the same command again.")
        raise
    show.say_summary(summary)
    if summary.failed:
        raise typer.Exit(1)


def _judge(source: str, reading: options.Reading, keep: Sequence[str]) -> None:
    """Refuse a source that cannot be used, before a Solr is started for it.

    The first record of a file is read; a pipe can be read only once.
    """
    from neardup_solr import sources
    from neardup_solr.progress import unheard

    asked = sources.Reading(keep=tuple(keep), **reading)
    # Notices about the source are printed when it is indexed.
    documents = sources.read(source, reading=asked, on_error=unheard, on_notice=unheard)
    if sources.size_hint(source) is not None:
        next(documents, None)
