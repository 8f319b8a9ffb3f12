"""Commands for the documents of a collection that is already there: annotate, strip, doctor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from neardup_solr.skin import options, show, stack
from neardup_solr.skin.stack import NameArgument, PrefixOption, TextFieldsOption

if TYPE_CHECKING:
    from neardup_solr.edges.client import Solr
    from neardup_solr.verbs.existing.annotating import AnnotateSummary
    from neardup_solr.verbs.existing.rewriting import Watching

QueryOption = Annotated[
    list[str] | None,
    typer.Option("--query", "-q", help="Only documents that this query matches (repeatable)."),
]
RateOption = Annotated[
    float, typer.Option(help="Documents a second to write at most; 0: as fast as it goes.", min=0)
]
ThreadsOption = Annotated[int, typer.Option(help="Sender threads.", min=1)]
BatchOption = Annotated[int, typer.Option(help="Documents read and sent at once.", min=1)]


def annotate(
    name: NameArgument,
    solr: options.SolrOption = None,
    query: QueryOption = None,
    text_field: TextFieldsOption = None,
    prefix: PrefixOption = None,
    into: Annotated[
        str | None,
        typer.Option(metavar="OTHER", help="Write a collection beside it, change nothing in it."),
    ] = None,
    missing: Annotated[
        bool, typer.Option("--missing", help="Only documents without our fields, not stale ones.")
    ] = False,
    all: Annotated[bool, typer.Option("--all", help="Write every document anew.")] = False,
    rate: RateOption = 0,
    threads: ThreadsOption = 2,
    batch: BatchOption = 1000,
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
    signatures: Annotated[int | None, typer.Option(help="Terms in content_sg [20].")] = None,
) -> None:
    """Add our fields to the documents of a collection that is there, and change nothing else."""
    from neardup_solr.verbs.existing import annotating, annotating_into
    from neardup_solr.verbs.existing.rewriting import Pace

    if missing + all + (into is not None) > 1:
        raise typer.BadParameter("give one of --missing, --all and --into")
    asked = options.settings_given(
        fields=fields, kind=kind, shingle_size=shingle_size, language=language, family=family,
        hashes=hashes, bands=bands, rows=band_rows, signatures=signatures,
    )  # fmt: skip
    target = _named(_connect(solr, name), text_field or (), prefix, in_place=into is None)
    pace, filters = Pace(rate=rate, threads=threads, batch=batch), query or ()
    show.compile_kernel()
    with _watching("annotating") as watching, _going_on():
        if into is not None:
            done = annotating_into.annotate_into(
                target, _beside(target, into), settings=asked, filters=filters, pace=pace,
                watching=watching,
            )  # fmt: skip
        else:
            done = annotating.annotate(
                target, settings=asked, filters=filters, pace=pace, watching=watching,
                which="missing" if missing else "all" if all else "needed",
            )  # fmt: skip
    _say_annotated(done)
    if done.failed:
        raise typer.Exit(1)


def strip(
    name: NameArgument,
    solr: options.SolrOption = None,
    query: QueryOption = None,
    rate: RateOption = 0,
    threads: ThreadsOption = 2,
    batch: BatchOption = 1000,
) -> None:
    """Take our fields, marks included, out of all documents again, and change nothing else."""
    from neardup_solr.verbs.existing import stripping
    from neardup_solr.verbs.existing.rewriting import Pace

    target = _connect(solr, name)
    pace = Pace(rate=rate, threads=threads, batch=batch)
    with _watching("stripping") as watching, _going_on():
        done = stripping.strip(target, filters=query or (), pace=pace, watching=watching)
    failed = f", {done.failed:,} failed" if done.failed else ""
    show.say(f"{show.counted(done.stripped, 'document')} stripped{failed} ({done.seconds:.1f} s).")
    if done.failed:
        raise typer.Exit(1)


def _connect(address: str | None, name: str) -> Solr:
    from neardup_solr.verbs import connecting

    target = options.connect(address, name)
    connecting.require_named(target, name)
    return target


def _named(solr: Solr, text: Sequence[str], prefix: str | None, *, in_place: bool) -> Solr:
    """The collection with the names that the options give; in place those that it has are kept."""
    from neardup_solr.edges.existing import schema
    from neardup_solr.pure.errors import SettingsError
    from neardup_solr.verbs.existing import linting

    if not (text or prefix is not None) and in_place:
        return solr
    names = linting.chosen(solr.names, schema.described(solr).key, text=text, prefix=prefix)
    if in_place and names != solr.names:
        texts = " ".join(f"--text-field {each}" for each in names.text)
        prefixed = f" --prefix {names.prefix}" if names.prefix else ""
        command = f"neardup init {solr.core} {texts}{prefixed}"
        reason = f"{solr.core!r} was not prepared with these names"
        raise SettingsError(reason, f"prepare it, so that searches know them too: {command}")
    return replace(solr, names=names)


def _beside(solr: Solr, name: str) -> Solr:
    """Another collection of the same server, created where it is missing."""
    from neardup_solr.edges import admin, client
    from neardup_solr.edges.existing import schema
    from neardup_solr.pure.solr.names import PLAIN
    from neardup_solr.verbs import connecting

    client.require_name(name)
    other = replace(solr, core=name, names=PLAIN)
    if not admin.exists(other):
        connecting.init(other)
    return replace(other, names=schema.remembered(other))


@contextmanager
def _watching(what: str) -> Iterator[Watching]:
    from rich.console import Console

    from neardup_solr.verbs.existing.rewriting import Watching

    errors = show.first_errors(Console(stderr=True, highlight=False))
    with show.counting(what) as on_progress:
        yield Watching(on_error=errors, on_progress=on_progress)


@contextmanager
def _going_on() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        show.say("What is written stays; the same command again goes on where this one stopped.")
        raise


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


def doctor(
    name: NameArgument,
    solr: options.SolrOption = None,
    sample: Annotated[int, typer.Option(help="Documents to compute anew.", min=0)] = 1000,
    format: options.FormatOption = None,
) -> None:
    """Check that the fields of a collection are those of its texts, and how its server fares.

    The exit code is 3 where something has to be done.
    """
    from neardup_solr.skin import find
    from neardup_solr.verbs.existing import doctoring

    as_rows = find.rows_format(format)
    found = doctoring.doctor(_connect(solr, name), sample=sample)
    stack.print_findings(found.findings, as_rows)
    for fingerprint, count in found.settings.items():
        show.say(f"{show.counted(count, 'document')} with [{fingerprint}].")
    documents = show.counted(found.documents, "document")
    problems = show.counted(len(found.problems), "problem")
    show.say(f"{documents}, {found.missing:,} missing, {found.sampled:,} sampled: {problems}.")
    if found.problems:
        raise typer.Exit(stack.DANGEROUS)
