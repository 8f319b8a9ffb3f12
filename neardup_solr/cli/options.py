"""Options that several commands share, each in one place."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import neardup_solr as nd
from neardup_solr.cli import show

if TYPE_CHECKING:
    from neardup_solr.solr.collection import Collection

SourceArgument = Annotated[
    str,
    typer.Argument(
        help="File (.txt .csv .tsv .jsonl .parquet, also .gz .zst), folder, or - for stdin."
    ),
]
SourceFormatOption = Annotated[
    str | None,
    typer.Option(
        "--source-format",
        help="lines, csv, tsv, jsonl, parquet or folder (default: by suffix).",
    ),
]
KeepOption = Annotated[
    list[str] | None, typer.Option(help="Further column to keep in Solr (repeatable).")
]
IdFieldOption = Annotated[str, typer.Option(help="Column that holds the id.")]
TextFieldOption = Annotated[str, typer.Option(help="Column that holds the text.")]
LossyOption = Annotated[bool, typer.Option(help="Replace invalid UTF-8, not refuse it.")]
KindOption = Annotated[
    str | None, typer.Option(help="Shingles of words, chars, stops or stems; words by default.")
]
ShingleSizeOption = Annotated[int | None, typer.Option(help="Pieces in a shingle [3].")]
LanguageOption = Annotated[
    str | None, typer.Option(help="Language of the stems; english by default.")
]
FamilyOption = Annotated[
    str | None, typer.Option(help="Hash family: affine or xor; affine by default.")
]
HashesOption = Annotated[int | None, typer.Option(help="Hashes in a signature [128].")]
SignatureTermsOption = Annotated[int | None, typer.Option(help="Terms in content_sg [20].")]
BandsOption = Annotated[int | None, typer.Option(help="LSH bands [42].")]
BandRowsOption = Annotated[int | None, typer.Option(help="Rows of a band [3].")]
SolrOption = Annotated[
    str | None,
    typer.Option(
        "--solr",
        metavar="URL",
        help="Address of a Solr, such as http://host:8983/solr; else $NEARDUP_SOLR_URL;"
        " else the embedded Solr, started when needed.",
    ),
]
CoreOption = Annotated[str, typer.Option("--core", "-c", help="Core or collection to work with.")]
ByOption = Annotated[
    str | None,
    typer.Option(
        help="What near-duplicates have to share: shingles, bands, signatures, profile or md5"
        " (default: the first of them that the collection has); or native MinHashes."
    ),
]
SameOption = Annotated[
    list[str] | None,
    typer.Option(help="Only documents with the same first_word or md5_hash (repeatable)."),
]
FilterOption = Annotated[
    list[str] | None,
    typer.Option("--fq", metavar="QUERY", help="Only documents that match this (repeatable)."),
]
RowsOption = Annotated[int, typer.Option(help="Candidates to compare for each document.")]
MeasureOption = Annotated[
    str,
    typer.Option(
        help="words (edit distance), jaccard (of shingles), containment (an excerpt in a longer"
        " text), aligned (short records), or estimate (jaccard by signatures)."
    ),
]
MaxDistanceOption = Annotated[
    int | None,
    typer.Option(help="At most this many words inserted, deleted or replaced."),
]
MinSimilarityOption = Annotated[
    float | None,
    typer.Option(
        help="At least this similarity by the measure (default 0.5; containment 0.8,"
        " aligned 0.75; none where --max-distance is given)."
    ),
]
FromOption = Annotated[str | None, typer.Option("--from", metavar="ID", help="First id.")]
ToOption = Annotated[str | None, typer.Option("--to", metavar="ID", help="Last id.")]
QueryOption = Annotated[
    str | None, typer.Option("--query", "-q", help="Only documents that this query matches.")
]
LaterOption = Annotated[
    bool,
    typer.Option("--later-only", help="Compare each document only with those of later ids."),
]
OutputOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write to a .tsv, .csv or .jsonl file."),
]
FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="Print as table, tsv, csv or jsonl (default: table on a terminal, else tsv).",
    ),
]
NameArgument = Annotated[str, typer.Argument(help="Name of the core or collection.")]
PrefixOption = Annotated[
    str | None, typer.Option(help="What goes before the names of our fields, such as nd_.")
]
TextFieldsOption = Annotated[
    list[str] | None,
    typer.Option("--text-field", help="Field of the collection that holds the text (repeatable)."),
]
QueriesOption = Annotated[
    list[str] | None,
    typer.Option("--query", "-q", help="Only documents that this query matches (repeatable)."),
]
RateOption = Annotated[
    float, typer.Option(help="Documents a second to write at most; 0: as fast as it goes.", min=0)
]
ThreadsOption = Annotated[int, typer.Option(help="Sender threads.", min=1)]
BatchOption = Annotated[int, typer.Option(help="Documents read and sent at once.", min=1)]


def connect(address: str | None, core: str, *, create: bool = False) -> Collection:
    """The Solr that the options name; a line says so where the embedded one had to be started.

    With `create` a core that is missing on the embedded one is made.
    """
    return nd.connect(address, core=core, create=create, on_started=show.say)


def settings_given(
    *, fields: str | None = None, language: str | None = None, **others: str | int | None
) -> dict[str, Any]:
    """The settings that options ask for, by name; the others are those of the collection.

    Raises SettingsError where a field is not one, or a language has no stemmer: before any work.
    """
    from neardup_solr.settings import choose_fields
    from neardup_solr.text.shingles import stemmed

    if language is not None:
        stemmed("", language)
    given = {"fields": None if fields is None else choose_fields(fields), "language": language}
    return {name: value for name, value in (given | others).items() if value is not None}


def connect_named(address: str | None, name: str) -> Collection:
    """The collection that a command's argument names, which the address must not contradict."""
    from neardup_solr.verbs.connect import require_named

    target = connect(address, name)
    require_named(target, name)
    return target


def rows_format(format: str | None) -> str | None:
    """The format of rows to print, checked; None for a table."""
    if format is None:
        return None if sys.stdout.isatty() else "tsv"
    if format == "table":
        return None
    from neardup_solr.reports.rows import check_format

    check_format(format)
    return format


def chosen(first: str | None, last: str | None, query: str | None, later_only: bool) -> nd.Chosen:
    """The documents that a report is asked for, by the options that choose them."""
    from neardup_solr.records import natural

    if first is not None and last is not None and natural(first) > natural(last):
        raise typer.BadParameter(f"--from {first} comes after --to {last}: turn them round")
    return nd.Chosen(first=first, last=last, filter=query, later_only=later_only)


def criteria(
    by: str | None,
    same: list[str] | None,
    fq: list[str] | None,
    rows: int,
    measure: str,
    limits: nd.Limits,
) -> nd.Criteria:
    """What a search asks for, by its options."""
    return nd.Criteria(
        by=by,
        rows=rows,
        filters=tuple(fq or ()),
        same=tuple(same or ()),
        measure=measure,
        limits=limits,
    )


def limits(max_distance: int | None, min_similarity: float | None) -> nd.Limits:
    """What counts as near, by the options that say so."""
    return nd.Limits(max_distance=max_distance, min_similarity=min_similarity)
