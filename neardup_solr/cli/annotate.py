"""The command annotate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

import neardup_solr as nd
from neardup_solr.choices import Which
from neardup_solr.cli import options, progress, show
from neardup_solr.sizes import in_seconds

if TYPE_CHECKING:
    from neardup_solr.verbs.annotate import AnnotateSummary


def annotate(
    solr: options.SolrOption = None,
    collection: options.CollectionOption = None,
    into: Annotated[
        str | None,
        typer.Option(
            metavar="OTHER", help="Write into this other collection; change nothing in the first."
        ),
    ] = None,
    which: Annotated[
        Which,
        typer.Option(
            help="needed: documents whose fields are missing or stale; missing: only those without"
            " fields, and no other text is read; all: every one."
        ),
    ] = "needed",
    query: options.QueriesOption = None,
    text_field: options.TextFieldsOption = None,
    prefix: options.PrefixOption = None,
    rate: options.RateOption = 0,
    threads: options.ThreadsOption = 2,
    batch: options.BatchOption = 1000,
    patience: options.PatienceOption = "5m",
    fields: options.FieldsOption = None,
    kind: options.KindOption = None,
    shingle_size: options.ShingleSizeOption = None,
    language: options.LanguageOption = None,
    family: options.FamilyOption = None,
    hashes: options.HashesOption = None,
    bands: options.BandsOption = None,
    band_rows: options.BandRowsOption = None,
    signatures: options.SignatureTermsOption = None,
) -> None:
    """Add our fields to the documents of a collection.

    Nothing else in them is changed.
    """
    settings = options.settings_given(
        fields=fields, kind=kind, shingle_size=shingle_size, language=language, family=family,
        hashes=hashes, bands=bands, rows=band_rows, signatures=signatures,
    )  # fmt: skip
    if into is not None and which != "needed":
        raise typer.BadParameter(f"--which {which} does not go with --into: leave one out")
    seconds = in_seconds(patience, "patience")
    target = options.connect(solr, collection, patience=seconds)
    show.compile_kernel()
    with progress.watching() as watching, progress.resumable():
        done = nd.annotate(
            target,
            into=into,
            which=which,
            query=query or (),
            text=options.names(text_field),
            prefix=prefix,
            settings=settings,
            rate=rate,
            threads=threads,
            batch=batch,
            patience=seconds,
            on_error=watching.on_error,
            on_progress=watching.on_progress,
        )
    _say_annotated(done)
    if done.failed:
        raise typer.Exit(1)


def _say_annotated(done: AnnotateSummary) -> None:
    """The counts of a run; they add up."""
    counts = {
        "annotated": done.annotated, "unchanged": done.unchanged,
        "without text": done.without_text, "gone": done.gone, "failed": done.failed,
    }  # fmt: skip
    parts = [f"{count:,} {what}" for what, count in counts.items() if count or what == "annotated"]
    rate = done.annotated / done.seconds if done.seconds else 0.0
    read = show.counted(done.read, "document")
    show.say(f"Read {read} = {' + '.join(parts)} ({done.seconds:.1f} s, {rate:,.0f}/s).")
    if done.redone:
        others = show.counted(done.redone, "document")
        show.say(f"{others} changed while they were written, and were read again.")
    if done.read and done.without_text == done.read:
        show.say("No document has a text: is --text-field the right one?")
