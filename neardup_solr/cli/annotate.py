"""The command annotate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

import neardup_solr as nd
from neardup_solr.cli import options, progress, show

if TYPE_CHECKING:
    from neardup_solr.solr.collection import Collection
    from neardup_solr.verbs.annotate import AnnotateSummary


def annotate(
    name: options.NameArgument,
    solr: options.SolrOption = None,
    query: options.QueriesOption = None,
    text_field: options.TextFieldsOption = None,
    prefix: options.PrefixOption = None,
    into: Annotated[
        str | None,
        typer.Option(metavar="OTHER", help="Write a collection beside it, change nothing in it."),
    ] = None,
    missing: Annotated[
        bool, typer.Option("--missing", help="Only documents without our fields, not stale ones.")
    ] = False,
    all: Annotated[bool, typer.Option("--all", help="Write every document anew.")] = False,
    rate: options.RateOption = 0,
    threads: options.ThreadsOption = 2,
    batch: options.BatchOption = 1000,
    fields: Annotated[
        str | None,
        typer.Option(help="Fields to write: all, a list, =-content_ng for all but that."),
    ] = None,
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

    Nothing else of them is changed.
    """

    if missing + all + (into is not None) > 1:
        raise typer.BadParameter("give one of --missing, --all and --into")
    asked = options.settings_given(
        fields=fields, kind=kind, shingle_size=shingle_size, language=language, family=family,
        hashes=hashes, bands=bands, rows=band_rows, signatures=signatures,
    )  # fmt: skip
    target = _named(
        options.connect_named(solr, name), text_field or (), prefix, in_place=into is None
    )
    pace, filters = nd.Pace(rate=rate, threads=threads, batch=batch), query or ()
    show.compile_kernel()
    with progress.watching() as watching, progress.resumable():
        if into is not None:
            done = nd.annotate_into(
                target, _beside(target, into), settings=asked, filters=filters, pace=pace,
                watching=watching,
            )  # fmt: skip
        else:
            done = nd.annotate(
                target, settings=asked, filters=filters, pace=pace, watching=watching,
                which="missing" if missing else "all" if all else "needed",
            )  # fmt: skip
    _say_annotated(done)
    if done.failed:
        raise typer.Exit(1)


def _named(
    solr: Collection, text: Sequence[str], prefix: str | None, *, in_place: bool
) -> Collection:
    """The collection with the names that the options give; in place those that it has are kept."""
    from neardup_solr.errors import SettingsError
    from neardup_solr.solr import schema
    from neardup_solr.verbs.lint import chosen

    if not (text or prefix is not None) and in_place:
        return solr
    names = chosen(solr.names, schema.described(solr).key, text=text, prefix=prefix)
    if in_place and names != solr.names:
        texts = " ".join(f"--text-field {each}" for each in names.text)
        prefixed = f" --prefix {names.prefix}" if names.prefix else ""
        command = f"neardup init {solr.name} {texts}{prefixed}"
        reason = f"{solr.name!r} was not prepared with these names"
        raise SettingsError(reason, f"prepare it, so that searches know them too: {command}")
    return replace(solr, names=names)


def _beside(solr: Collection, name: str) -> Collection:
    """Another collection of the same server, created where it is missing."""
    from neardup_solr.solr import admin, collection
    from neardup_solr.solr.names import PLAIN

    collection.require_name(name)
    other = replace(solr, name=name, names=PLAIN)
    if not admin.exists(other):
        nd.init(other)
    return replace(other, names=other.kept_names())


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
