"""Options that several commands share, and what is made of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict, cast, get_args

import typer

import neardup_solr as nd
from neardup_solr.choices import By, Family, Kind, MeasureName, OnRepeat, OnRepeatOrKeep, Same
from neardup_solr.cli import show

if TYPE_CHECKING:
    from neardup_solr.solr.collection import Collection

# The headings under which a command's help lists its options.
COUNTS = "What counts as a near-duplicate"
READ = "How the source is read"
SHAPE = "What shapes the signatures"
PUT_OUT = "What comes out"
WORK = "How the work is done"
SAFETY = "What happens after a fault"
PLACE = "Where the collection is"

RowFormat = Literal["table", "tsv", "csv", "jsonl"]
TableOrJson = Literal["table", "json"]

SourceArgument = Annotated[
    list[str],
    typer.Argument(
        help="File (.txt .csv .tsv .jsonl .json .parquet .xlsx, also .gz .zst), several that are"
        " parts of one table, folder, or - for standard input."
    ),
]
SourceFormatOption = Annotated[
    str | None,
    typer.Option(
        "--source-format",
        metavar="FORMAT",
        help="lines, csv, tsv, jsonl, json, parquet, xlsx or folder (default: by suffix).",
        rich_help_panel=READ,
    ),
]
IdFieldOption = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column of the id, or :row to number the records from 1 [default: id].",
        rich_help_panel=READ,
    ),
]
TextFieldOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="Column of the text (repeatable, or a,b: they are joined) [default: text].",
        rich_help_panel=READ,
    ),
]
KeepOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="Further column to keep (repeatable, or a,b).",
        rich_help_panel=READ,
    ),
]
DelimiterOption = Annotated[
    str | None,
    typer.Option(
        metavar="CHARACTER",
        help="Character between the columns of a CSV, such as ';' or tab.",
        rich_help_panel=READ,
    ),
]
EncodingOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Encoding of the text, such as cp1252 [default: UTF-8].",
        rich_help_panel=READ,
    ),
]
LossyOption = Annotated[
    bool,
    typer.Option(
        "--lossy", help="Replace invalid characters; keep the record.", rich_help_panel=READ
    ),
]
MaxDocBytesOption = Annotated[
    str,
    typer.Option(
        metavar="SIZE",
        help="Refuse records with more text than this, such as 100M.",
        rich_help_panel=READ,
    ),
]
KindOption = Annotated[
    Kind | None, typer.Option(help="What shingles are made of [words].", rich_help_panel=SHAPE)
]
ShingleSizeOption = Annotated[
    int | None, typer.Option(help="Pieces in a shingle [3].", min=1, rich_help_panel=SHAPE)
]
LanguageOption = Annotated[
    str | None, typer.Option(help="Language of the stems [english].", rich_help_panel=SHAPE)
]
FamilyOption = Annotated[
    Family | None, typer.Option(help="Hash family [affine].", rich_help_panel=SHAPE)
]
HashesOption = Annotated[
    int | None,
    typer.Option(help="Hashes in a signature [128].", min=1, max=65_536, rich_help_panel=SHAPE),
]
SignatureTermsOption = Annotated[
    int | None, typer.Option(help="Terms in content_sg [20].", min=0, rich_help_panel=SHAPE)
]
BandsOption = Annotated[
    int | None, typer.Option(help="LSH bands [42].", min=1, rich_help_panel=SHAPE)
]
BandRowsOption = Annotated[
    int | None, typer.Option(help="Rows of a band [3].", min=1, rich_help_panel=SHAPE)
]
FieldsOption = Annotated[
    str | None,
    typer.Option(
        help="Fields to write: all, a list, =-content_ng for all but this one, or +profile_hash"
        " for text profiles too.",
        rich_help_panel=SHAPE,
    ),
]
SolrOption = Annotated[
    str | None,
    typer.Option(
        "--solr",
        metavar="URL",
        help="Address of a Solr, such as http://host:8983/solr (default: $NEARDUP_SOLR_URL,"
        " or else the embedded Solr, started when needed).",
        rich_help_panel=PLACE,
    ),
]
CollectionOption = Annotated[
    str | None,
    typer.Option(
        "--collection",
        "-c",
        metavar="NAME",
        help="Collection to work with [default: that of the address, or else neardup].",
        rich_help_panel=PLACE,
    ),
]
ByOption = Annotated[
    By | None,
    typer.Option(
        help="What near-duplicates have to share (default: the first of these that the collection"
        " has; never native, the MinHashes that Solr made).",
        rich_help_panel=COUNTS,
    ),
]


def _known_fields(given: list[str] | None) -> list[str] | None:
    """Refuse a field that --same cannot compare: the parser cannot check lists of choices."""
    for name in given or ():
        if name not in get_args(Same):
            raise typer.BadParameter(f"{name!r} is not one of {', '.join(get_args(Same))}")
    return given


SameOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[first_word|md5_hash]",
        help="Field that has to be equal (repeatable).",
        callback=_known_fields,
        rich_help_panel=COUNTS,
    ),
]
FilterOption = Annotated[
    list[str] | None,
    typer.Option(
        "--fq",
        metavar="QUERY",
        help="Compare only with documents that match this (repeatable).",
        rich_help_panel=COUNTS,
    ),
]
RowsOption = Annotated[
    int,
    typer.Option(help="Candidates to compare for each document.", rich_help_panel=COUNTS, min=1),
]
MeasureOption = Annotated[
    MeasureName,
    typer.Option(
        help="words (edit distance), jaccard (of shingles), containment (an excerpt in a longer"
        " text), aligned (short records), or estimate (jaccard by signatures).",
        rich_help_panel=COUNTS,
    ),
]
MaxDistanceOption = Annotated[
    int | None,
    typer.Option(
        help="At most this many words inserted, deleted or replaced.",
        rich_help_panel=COUNTS,
        min=0,
    ),
]
MinSimilarityOption = Annotated[
    float | None,
    typer.Option(
        help="At least this similarity by the measure, 0 to 1 (default: 0.5; containment 0.8,"
        " aligned 0.75; none if --max-distance is given).",
        rich_help_panel=COUNTS,
    ),
]
FromOption = Annotated[str | None, typer.Option("--from-id", metavar="ID", help="First id.")]
ToOption = Annotated[str | None, typer.Option("--to-id", metavar="ID", help="Last id.")]
QueryOption = Annotated[
    str | None, typer.Option("--query", "-q", help="Only documents that this query matches.")
]
LaterOption = Annotated[
    bool,
    typer.Option("--later-only", help="Compare each document only with later ids."),
]
OutputOption = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write to a .tsv, .csv, .jsonl or .xlsx file.",
        rich_help_panel=PUT_OUT,
    ),
]
FormatOption = Annotated[
    RowFormat | None,
    typer.Option(
        "--format",
        help="How to print (default: table on a terminal, else tsv).",
        rich_help_panel=PUT_OUT,
    ),
]
JsonOption = Annotated[
    TableOrJson, typer.Option("--format", help="How to print.", rich_help_panel=PUT_OUT)
]
PrefixOption = Annotated[
    str | None, typer.Option(help="Prefix of the names of our fields, such as nd_.")
]
TextFieldsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--text-field",
        metavar="FIELD",
        help="Field of the collection with the text (repeatable, or a,b: they are joined).",
    ),
]
QueriesOption = Annotated[
    list[str] | None,
    typer.Option("--query", "-q", help="Only documents that this query matches (repeatable)."),
]
RateOption = Annotated[
    float,
    typer.Option(
        help="Write at most this many documents a second (0: no limit).",
        min=0,
        rich_help_panel=WORK,
    ),
]
ThreadsOption = Annotated[int, typer.Option(help="Sender threads.", min=1, rich_help_panel=WORK)]
BatchOption = Annotated[
    int, typer.Option(help="Documents in a batch.", min=1, rich_help_panel=WORK)
]
OnRepeatOption = Annotated[
    OnRepeat,
    typer.Option(help="Which record counts if an id comes again.", rich_help_panel=READ),
]
OnRepeatOrKeepOption = Annotated[
    OnRepeatOrKeep,
    typer.Option(
        help="Which record counts if an id comes again; keep: each, as 12@row3 and 12@row7.",
        rich_help_panel=READ,
    ),
]
MaxFailedOption = Annotated[
    str,
    typer.Option(
        metavar="N|SHARE",
        help="Leave with exit code 0 if at most so many records fail, such as 20 or 0.1%.",
        rich_help_panel=SAFETY,
    ),
]
CheckpointOption = Annotated[
    int,
    typer.Option(
        "--checkpoint-every",
        metavar="RECORDS",
        help="At most so many records are sent again after an interruption.",
        min=1,
        rich_help_panel=SAFETY,
    ),
]
PatienceOption = Annotated[
    str,
    typer.Option(
        metavar="TIME",
        help="How long to wait for a Solr that is away or restarts, such as 90s, 5m or 0.",
        rich_help_panel=SAFETY,
    ),
]
JobOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="Folder of the checkpoint and of the records that failed [default: one in the data"
        " folder].",
        rich_help_panel=SAFETY,
    ),
]


class Reading(TypedDict):
    """How a source is read, as the library's arguments."""

    id: str | None
    text: tuple[str, ...]
    source_format: str | None
    delimiter: str | None
    encoding: str | None
    lossy: bool


def reading(
    id_field: str | None,
    text_field: list[str] | None,
    source_format: str | None,
    delimiter: str | None,
    encoding: str | None,
    lossy: bool,
) -> Reading:
    """The options that say how a source is read, as the library's arguments."""
    return Reading(
        id=id_field,
        text=names(text_field) or ("text",),
        source_format=source_format,
        delimiter={"tab": "\t", "\\t": "\t"}.get(delimiter or "", delimiter),
        encoding=encoding,
        lossy=lossy,
    )


def reading_words(given: Reading) -> list[str]:
    """The options that say again how a source was read."""
    delimiter = "tab" if given["delimiter"] == "\t" else given["delimiter"]
    options = {
        "--id-field": (given["id"], None),
        "--text-field": (",".join(given["text"]), "text"),
        "--source-format": (given["source_format"], None),
        "--delimiter": (delimiter, None),
        "--encoding": (given["encoding"], None),
    }
    words = [(option, value) for option, (value, usual) in options.items() if value != usual]
    lossy = ["--lossy"] if given["lossy"] else []
    return [word for pair in words for word in pair if word is not None] + lossy


def names(given: list[str] | None) -> tuple[str, ...]:
    """Names that were given one by one, or separated by commas."""
    return tuple(name.strip() for each in given or () for name in each.split(",") if name.strip())


def connect(
    address: str | None, collection: str | None, *, create: bool = False, patience: float = 0
) -> Collection:
    """The collection that the options name; a line says so if the embedded Solr was started.

    With `create`, a missing collection of the embedded Solr is created; `patience` is as for
    `nd.connect`.
    """
    from neardup_solr.verbs.connect import ADDRESS

    create = create and not (address or os.environ.get(ADDRESS))
    return nd.connect(address, collection, create=create, patience=patience, on_started=show.say)


def settings_given(
    *, fields: str | None = None, language: str | None = None, **others: str | int | None
) -> dict[str, Any]:
    """The settings that options ask for, by name; the others are those of the collection.

    Raises ArgumentError if a field is unknown, or a language has no stemmer.
    """
    from neardup_solr.settings import choose_fields
    from neardup_solr.text.shingles import stemmed

    if language is not None:
        stemmed("", language)
    if fields is not None:
        choose_fields(fields)  # which of them are usual, the collection knows
    given = {"fields": fields, "language": language}
    return {name: value for name, value in (given | others).items() if value is not None}


def check_limits(
    measure: MeasureName, max_distance: int | None, min_similarity: float | None
) -> None:
    """Refuse impossible limits before a Solr is asked, by ArgumentError."""
    from neardup_solr.measures import Limits, measure_of

    measure_of(measure, Limits(max_distance=max_distance, min_similarity=min_similarity))


def rows_format(format: RowFormat | None) -> str | None:
    """The format of rows to print; None for a table."""
    if format is None:
        return None if sys.stdout.isatty() else "tsv"
    return None if format == "table" else format


def confirm(question: str, *, unasked: str, declined: str) -> None:
    """Ask at a terminal, and exit with what was `declined`; elsewhere refuse, as `unasked`."""
    if not sys.stdin.isatty():
        raise typer.BadParameter(unasked)
    if not typer.confirm(question, err=True):
        show.say(declined)
        raise typer.Exit(1)


class Criteria(TypedDict):
    """What counts as a near-duplicate in a search or report, as the library's arguments."""

    by: By | None
    rows: int
    fq: Sequence[str]
    same: Sequence[Same]
    measure: MeasureName
    max_distance: int | None
    min_similarity: float | None


def criteria(
    by: By | None,
    rows: int,
    fq: list[str] | None,
    same: list[str] | None,
    measure: MeasureName,
    max_distance: int | None,
    min_similarity: float | None,
) -> Criteria:
    """The options that say what counts, as the library's arguments; limits as `check_limits`."""
    check_limits(measure, max_distance, min_similarity)
    return Criteria(
        by=by,
        rows=rows,
        fq=fq or (),
        same=tuple(cast(Same, name) for name in same or ()),  # checked by the parser
        measure=measure,
        max_distance=max_distance,
        min_similarity=min_similarity,
    )
