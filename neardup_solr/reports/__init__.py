"""Reports: tables in all formats, and copies of records of a source."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from itertools import chain, groupby, islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, TypeAlias, cast

import orjson

from neardup_solr import records
from neardup_solr.arguments import checked
from neardup_solr.errors import ArgumentError, SettingsError, SourceError, counted
from neardup_solr.files import PathError, atomic_output, check_place, write_lines
from neardup_solr.progress import LOG
from neardup_solr.sources.lines import DECOMPRESSORS, csv_line, suffix_of
from neardup_solr.sources.record import NEEDS_FORMATS, SourceTable, matches, plain
from neardup_solr.text.escape import to_csv, to_tsv

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

COLUMNS: Final = ("id", "other_id", "distance", "similarity")
DUPLICATE_COLUMNS: Final = ("id", "other_id", "similarity", "distance", "measure", "cluster")
ANSWER: Final = "answer"  # the column that people fill
MATCH_COLUMNS: Final = ("id", "distance", "similarity", "shared", "text")

TEXTS: Final = ("text", "other_text")  # columns with texts of documents
ROWS_AT_ONCE: Final = 10_000
_BREAKS: Final = re.compile(r"[\t\n\r]+")

MOST_ROWS: Final = 2**20  # of a sheet, with its header
LONGEST: Final = 2**15 - 1  # characters of a cell, in UTF-16
LARGEST: Final = 2**53  # whole numbers beyond it would be rounded
# What XML 1.0 cannot hold, and what would be taken for such an escape.
_NOT_IN_XML: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)", re.ASCII
)

Row = Mapping[str, Any]
Columns = dict[str, list[Any]]  # of a table, by name
Mark = Callable[[str], str]
Face = Callable[[Iterable[Row], Sequence[str], Collection[str]], Iterator[str]]


class Kept(list[Any]):
    """The values of a column of the source: its type is theirs, whatever its name is."""


def of_pairs(
    pairs: Sequence[records.Duplicate] | Sequence[records.Pair],
    names: Sequence[str],
    texts: Mapping[records.AnyId, str] = records.NOTHING,
    kept: Mapping[records.AnyId, Mapping[str, Any]] = records.NOTHING,
) -> Columns:
    """Make columns of these attributes of pairs, with those of `beside`."""
    columns = {name: [getattr(pair, name) for pair in pairs] for name in names}
    if not (texts or kept):
        return columns
    duplicates = cast(Sequence[records.Duplicate], pairs)
    keys = {
        "id": [records.key_of(pair.id, pair.sides[0]) for pair in duplicates],
        "other_id": [records.key_of(pair.other_id, pair.sides[1]) for pair in duplicates],
    }
    return beside(columns, texts, kept, keys)


def of_clusters(clusters: Iterable[records.Cluster], *, has_sides: bool) -> Columns:
    """Make columns of the members of clusters, compared with the canonical document."""
    rows = [
        (cluster.id, member.id, at == 0, member.similarity, member.distance, member.side)
        for cluster in clusters
        for at, member in enumerate(cluster.members)
    ]
    names = ["cluster", "id", "canonical", "similarity", "distance", *["side"] * has_sides]
    return {name: [row[at] for row in rows] for at, name in enumerate(names)}


def beside(
    columns: Columns,
    texts: Mapping[records.AnyId, str],
    kept: Mapping[records.AnyId, Mapping[str, Any]],
    keys: Columns,
) -> Columns:
    """Add the texts and the kept columns of the documents to columns.

    `keys` has those of the documents, by the name of the column with their ids.
    """
    table = dict(columns)

    def spare_name(prefix: str, name: str) -> str:
        full = f"{prefix}{name}"
        return spare_name(prefix, f"kept_{name}") if full in table else full

    names = list(dict.fromkeys(name for values in kept.values() for name in values))
    for side, documents in keys.items():
        prefix = side.removesuffix("id")
        if texts:
            table[f"{prefix}text"] = [texts.get(key) for key in documents]
        for name in names:
            values = Kept(kept.get(key, {}).get(name) for key in documents)
            table[spare_name(prefix, name)] = values
    return table


@dataclass(frozen=True, slots=True)
class RowTable:
    """Rows of a report, their columns, and those of these that are `kept` from the source.

    Numbers in columns that are `kept` are written as they are, others with 4 digits. In TSV,
    backslash, tab and line breaks are escaped with a backslash. What a spreadsheet would run as a
    formula gets a backslash in TSV, an apostrophe in CSV and .xlsx, before its first sign.
    `read_pairs` undoes all of it.
    """

    rows: Iterable[Row]
    columns: Sequence[str]
    kept: Collection[str] = ()

    def write(self, path: Path, *, for_excel: bool = False) -> None:
        """Write a .tsv, .csv, .jsonl or .xlsx file, completely or not at all.

        CSV that is `for_excel` begins with a byte order mark. Raises SourceError if the suffix is
        unknown or the file cannot be written; an older file of that name then stays as it is.
        """
        face, suffix = _face(path), path.suffix.lower()
        if face is None:
            cells = ([_flat(row[name]) for name in self.columns] for row in self.rows)
            write_sheets(path, self.columns, cells, to_csv)
            return
        lines = face(self.rows, self.columns, self.kept)
        write_lines(path, chain(["\ufeff"], lines) if for_excel and suffix == ".csv" else lines)

    def lines(self, format: str) -> Iterator[str]:
        """Make lines in a format: "tsv", "csv" or "jsonl". Raises ArgumentError for another."""
        check_format(format)
        return _FACES[f".{format}"](self.rows, self.columns, self.kept)


def column_rows(columns: Columns) -> RowTable:
    """Make rows of columns."""
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    return RowTable(rows, list(columns))


def pair_rows(pairs: Iterable[records.Pair]) -> RowTable:
    """Make rows of pairs: id, other_id, distance in words (or None), and similarity (0..1).

    With `answer`, too, if people are to answer.
    """
    pairs = list(pairs)
    columns = name_columns(pairs, COLUMNS)
    return RowTable((_row(pair, columns) for pair in pairs), columns)


def duplicate_rows(
    pairs: Sequence[records.Duplicate],
    texts: Mapping[records.AnyId, str] = records.NOTHING,
    kept: Mapping[records.AnyId, Mapping[str, Any]] = records.NOTHING,
) -> RowTable:
    """Make rows of the pairs of a whole collection.

    Columns id, other_id, similarity, distance (None if it was not measured), measure, cluster;
    then the text and the kept columns of both documents, if they have any.
    """
    first = name_columns(pairs)

    def table(part: Sequence[records.Duplicate]) -> Columns:
        columns = of_pairs(part, first, texts, kept)
        return columns | {"similarity": [round(pair.similarity, 4) for pair in part]}

    names = list(table([]))
    parts = (pairs[at : at + ROWS_AT_ONCE] for at in range(0, len(pairs), ROWS_AT_ONCE))
    cells = chain.from_iterable(zip(*table(part).values(), strict=True) for part in parts)
    rows = (dict(zip(names, row, strict=True)) for row in cells)
    return RowTable(rows, names, names[len(first) :])


def match_rows(matches: Iterable[records.Match]) -> RowTable:
    """Make rows of a document's near-duplicates."""
    rows = (_row(match, MATCH_COLUMNS[:-1]) | {"text": match.content} for match in matches)
    return RowTable(rows, MATCH_COLUMNS)


def name_columns(
    pairs: Sequence[records.Pair | records.Duplicate], columns: tuple[str, ...] = DUPLICATE_COLUMNS
) -> tuple[str, ...]:
    """Name the columns of pairs: with `answer`, for people to fill, if they are to answer."""
    has_answers = bool(pairs) and pairs[0].answer is not None
    return (*columns, ANSWER) if has_answers else columns


def check_format(format: str) -> None:
    """Refuse an unknown format, by ArgumentError, before any work is done for it."""
    if f".{format}" not in _FACES:
        choices = ", ".join(suffix[1:] for suffix in _FACES)
        raise ArgumentError(f"there is no format {format!r}", f"choose table, {choices}")


def check_output(path: Path) -> None:
    """Refuse a report file that cannot be written, before any work is done for it.

    Raises SourceError if its suffix is unknown, openpyxl is missing, which .xlsx needs, or as
    `check_place` does.
    """
    if _face(path) is None:
        require_library(path, "Excel", "openpyxl")
    check_place(path)


def _face(path: Path) -> Face | None:
    """Choose the function that makes lines of rows, or None for a sheet."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        reason = f"there is no report format for the suffix {path.suffix!r}"
        raise PathError(str(path), reason, f"choose one of {', '.join(SUFFIXES)}")
    return _FACES.get(suffix)


def _row(pair: records.Pair | records.Match, columns: Sequence[str]) -> dict[str, Any]:
    row = {name: getattr(pair, name) for name in columns}
    return row | {"similarity": round(pair.similarity, 4)}


def _spelling(is_kept: bool, mark: Mark) -> Callable[[Any], str]:
    """Choose the function that spells a column's values as cells. `mark` marks formulas."""

    def spell(value: Any) -> str:
        if isinstance(value, str):
            return mark(value)
        if value is None:
            return ""
        if type(value) is int:
            return str(value)
        if isinstance(value, float) and not is_kept:
            return f"{value:.4f}"
        flat = _flat(value)
        return mark(flat) if isinstance(flat, str) else json.dumps(flat)

    return spell


def _flat(value: Any) -> Any:
    """Make a cell of a value: lists and the like become their JSON."""
    is_flat = value is None or isinstance(value, str | int | float)
    return value if is_flat else orjson.dumps(value).decode()


def _on_one_line(text: str) -> str:
    """Put a document's text on a line, as people would read it with escapes otherwise."""
    return to_tsv(_BREAKS.sub(" ", text))


def _table(mark: Mark, mark_text: Mark, join: Callable[[Sequence[str]], str]) -> Face:
    """Make the face of a table: cells are marked, those of texts by `mark_text`, and joined."""

    def face(rows: Iterable[Row], columns: Sequence[str], kept: Collection[str]) -> Iterator[str]:
        yield join([mark(name) for name in columns])
        marks = [mark_text if name in TEXTS else mark for name in columns]
        spells = [_spelling(name in kept, mark) for name, mark in zip(columns, marks, strict=True)]
        for row in rows:
            yield join([spell(row[name]) for name, spell in zip(columns, spells, strict=True)])

    return face


def _jsonl(rows: Iterable[Row], columns: Sequence[str], _: Collection[str]) -> Iterator[str]:
    for row in rows:
        yield _object({name: row[name] for name in columns}) + "\n"


def _object(row: Row) -> str:
    try:
        return orjson.dumps(row).decode()
    except TypeError:  # an id of more than 64 bits, which JSON readers would round
        texts = {name: str(id) if _is_beyond_64_bits(id) else id for name, id in row.items()}
        return orjson.dumps(texts).decode()


def _is_beyond_64_bits(value: Any) -> bool:
    return type(value) is int and not -(2**63) <= value < 2**64


_FACES: dict[str, Face] = {
    ".tsv": _table(to_tsv, _on_one_line, lambda cells: "\t".join(cells) + "\n"),
    ".csv": _table(to_csv, to_csv, lambda cells: csv_line(cells) + "\r\n"),
    ".jsonl": _jsonl,
}
SUFFIXES = (*_FACES, ".xlsx")


def require_library(path: Path, format: str, library: str) -> None:
    """Refuse to write a file in a format without its library, by SourceError."""
    if find_spec(library) is None:
        raise SourceError(str(path), f"{format} needs the library {library}", NEEDS_FORMATS)


def write_sheets(
    path: Path, names: Sequence[str], rows: Iterable[Sequence[Any]], spell: Callable[[str], str]
) -> None:
    """Write rows of texts, numbers and None below their names, completely or not at all.

    A sheet that is full is followed by another, and texts are cut to what a cell can hold; a
    line is logged for either. `spell` says how a text is written.

    Raises SourceError if the file cannot be written, or openpyxl is missing.
    """
    require_library(path, "Excel", "openpyxl")
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell

    book = Workbook(write_only=True)
    sheets = count = cut = 0

    def cell(sheet: Any, value: Any) -> Any:
        nonlocal cut
        if value is None or (isinstance(value, int | float) and abs(value) <= LARGEST):
            return value
        text = spell(value if isinstance(value, str) else str(value))
        text = _NOT_IN_XML.sub(lambda character: f"_x{ord(character[0]):04X}_", text)
        short = _cut(text)
        cut += short is not text
        made = WriteOnlyCell(sheet, short)
        made.data_type = "s"  # also of what would be a formula or an error
        return made

    left = iter(rows)
    following = list(islice(left, 1))
    with atomic_output(path) as unfinished:
        while following or not sheets:
            sheets += 1
            sheet = book.create_sheet(str(sheets))
            for row in chain([names], following, islice(left, MOST_ROWS - 1 - len(following))):
                sheet.append([cell(sheet, value) for value in row])
                count += 1
            following = list(islice(left, 1))
        book.save(unfinished)
    if sheets > 1:
        total = counted(count - sheets, "row")
        LOG.warning("%s: its %s did not fit in one sheet and fill %d sheets", path, total, sheets)
    if cut:
        what = counted(cut, "text is", "texts are")
        reason = f"{what} cut to {LONGEST:,} characters, the most that a cell can hold"
        LOG.warning("%s: %s; use .csv or .jsonl to keep them whole", path, reason)


def _cut(text: str) -> str:
    """Cut a text to what fits into a cell."""
    if len(text) <= LONGEST // 2 or len(written := text.encode("utf-16-le")) <= 2 * LONGEST:
        return text
    return written[: 2 * (LONGEST - 1)].decode("utf-16-le", "ignore") + "…"


class Table:
    """A result that can be written, or converted to a table of pyarrow, pandas or polars."""

    __slots__ = ()

    whole_ids: tuple[str, ...] = ()  # the columns of ids that are whole numbers

    def columns(self) -> Columns:
        """The columns of the table, by name."""
        raise NotImplementedError

    @checked
    def write(self, path: str | Path) -> None:
        """Write the table to a .tsv, .csv, .jsonl or .xlsx file, completely or not at all.

        Raises SourceError if the suffix is another or the file cannot be written.
        """
        column_rows(self.columns()).write(Path(path))

    def to_arrow(self) -> pa.Table:
        """Make an Arrow table of the result, or raise SettingsError if pyarrow is missing."""
        return to_arrow(self.columns(), self.whole_ids)

    def to_pandas(self) -> pd.DataFrame:
        """Make a pandas DataFrame of the result, or raise SettingsError if pandas is missing."""
        return to_pandas(self.columns(), self.whole_ids)

    def to_polars(self) -> pl.DataFrame:
        """Make a polars DataFrame of the result, or raise SettingsError if polars is missing."""
        return to_polars(self.columns(), self.whole_ids)


def to_arrow(columns: Columns, whole_ids: Collection[str] = ()) -> pa.Table:
    """Make an Arrow table of columns.

    Raises SettingsError if pyarrow is missing. `whole_ids` names columns of ids that are whole
    numbers. Numbers of more than 64 bits become texts.
    """
    arrow = _library("pyarrow")
    types = {"text": arrow.string(), "int64": arrow.int64(), "uint64": arrow.uint64(),
             "count": arrow.int64(), "number": arrow.float64(),
             "texts": arrow.list_(arrow.string()), "flag": arrow.bool_()}  # fmt: skip
    arrays = {
        name: arrow.array(_alike(columns[name], kind), type=types.get(kind))
        for name, kind in _kinds(columns, whole_ids).items()
    }
    return arrow.table(arrays)


def to_pandas(columns: Columns, whole_ids: Collection[str] = ()) -> pd.DataFrame:
    """Make a pandas DataFrame, as `to_arrow`, in which texts and numbers stay what they are."""
    pandas = _library("pandas")
    # Pandas would make whole numbers floats if any is missing.
    types = {"text": "object", "int64": "Int64", "uint64": "UInt64", "count": "Int64",
             "number": "float64", "texts": "object", "flag": "bool"}  # fmt: skip

    def series(name: str, kind: str) -> Any:
        values = columns[name] if kind == "text" else _alike(columns[name], kind)
        is_full = kind in ("int64", "uint64") and None not in values
        return pandas.Series(values, dtype=kind if is_full else types.get(kind))

    made = {name: series(name, kind) for name, kind in _kinds(columns, whole_ids).items()}
    frame: pd.DataFrame = pandas.DataFrame(made)
    return frame


def to_polars(columns: Columns, whole_ids: Collection[str] = ()) -> pl.DataFrame:
    """Make a polars DataFrame, as `to_arrow`."""
    polars = _library("polars")
    frame: type[pl.DataFrame] = polars.DataFrame
    types = {"text": polars.String, "int64": polars.Int64, "uint64": polars.UInt64,
             "count": polars.Int64, "number": polars.Float64,
             "texts": polars.List(polars.String), "flag": polars.Boolean}  # fmt: skip
    kinds = _kinds(columns, whole_ids)
    schema = {name: types[kind] for name, kind in kinds.items() if kind in types}
    values = {name: _alike(columns[name], kind) for name, kind in kinds.items()}
    return frame(values, schema_overrides=schema)


# What the columns of reports hold, so that an empty table has the types of a full one.
_KINDS = {
    "id": "text", "other_id": "text", "cluster": "text", "measure": "text", "action": "text",
    "reason": "text", "text": "text", "other_text": "text", "distance": "count",
    "similarity": "number", "matches": "texts", "side": "count", "canonical": "flag",
    "complete": "flag",
}  # fmt: skip


def _kinds(columns: Columns, whole_ids: Collection[str]) -> dict[str, str]:
    """Choose the type of each column, or "" for a kept column that is left to the library."""
    ids = _kind_of_numbers(id for name in whole_ids for id in columns.get(name, ()) if id != "")

    def kind_of(name: str, values: list[Any]) -> str:
        kind = None if isinstance(values, Kept) else _KINDS.get(name)
        return ids if name in whole_ids else kind or _kind_of_values(values)

    return {name: kind_of(name, values) for name, values in columns.items()}


def _kind_of_values(values: Iterable[Any]) -> str:
    values = [value for value in values if value is not None]
    types = {type(value) for value in values}
    if types == {int}:
        return _kind_of_numbers(values)
    if types == {list}:
        return "text" if _kind_of_values(chain.from_iterable(values)) == "text" else ""
    return "text" if len(types) > 1 else ""


def _kind_of_numbers(numbers: Iterable[int]) -> str:
    """Choose the type that holds all of some whole numbers: text if no other does."""
    numbers = list(numbers)
    least, most = min(numbers, default=0), max(numbers, default=0)
    if least >= -(2**63) and most < 2**63:
        return "int64"
    return "uint64" if least >= 0 and most < 2**64 else "text"


def _alike(values: list[Any], kind: str) -> list[Any]:
    """Make the values of a column alike. A pair that is in no cluster has no number."""
    if kind == "text":
        return [value if value is None else _as_text(value) for value in values]
    return [None if value == "" else value for value in values] if "int" in kind else values


def _as_text(value: Any) -> str:
    return orjson.dumps(value).decode() if isinstance(value, list) else str(value)


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise SettingsError(f"{name} is not installed", f"pip install {name}") from None


def write_parquet(path: Path, schema: Any, batches: Iterable[Any]) -> int:
    """Write batches of Arrow to a Parquet file, completely or not at all, and count their rows.

    Raises SourceError if the file cannot be written.
    """
    import pyarrow.parquet as parquet

    rows = 0
    with atomic_output(path) as unfinished, parquet.ParquetWriter(unfinished, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
            rows += batch.num_rows
    return rows


# The suffix of a format that is copied, beside those of JSON lines, which any becomes.
SAME: Final = {"csv": ".csv", "tsv": ".tsv", "lines": ".txt", "parquet": ".parquet",
               "xlsx": ".xlsx"}  # fmt: skip
JSON_LINES: Final = (".jsonl", ".ndjson")
AT_ONCE: Final = 8_192  # rows of Parquet that are held
BUFFER: Final = 2**20  # bytes that are written at once

Added: TypeAlias = Mapping[str, str | float | None]
# Takes a record of the source, or None, and what is written beside its columns.
Add: TypeAlias = Callable[[Any, Added], None]
Encode: TypeAlias = Callable[[Any, Added], bytes]
# The columns beside those of the source, and what they hold.
Beside: TypeAlias = Mapping[str, type[str | float | int]]


def check_copy(path: Path, source_format: str, *, adds: bool) -> None:
    """Refuse a file that could not be written, before any work is done for it.

    `adds` says that columns come to those of the source. Raises SourceError.
    """
    same = SAME.get(source_format)
    if adds and source_format == "lines":  # which have no room for other columns
        same = None
    suffix = suffix_of(path)
    if suffix in (".parquet", ".xlsx") and path.suffix.lower() in DECOMPRESSORS:
        raise PathError(str(path), f"{suffix} is already compressed", f"end it in {suffix}")
    if suffix not in (same, *JSON_LINES):
        kind = SourceError if suffix in SAME.values() else PathError
        reason = "these records cannot be written in this format"
        raise kind(str(path), reason, f"choose {f'{same} or ' if same else ''}.jsonl")
    if suffix == ".parquet":
        require_library(path, "Parquet", "pyarrow")
    if path.suffix.lower() == ".zst":
        require_library(path, "Zstandard", "zstandard")
    check_place(path)


def check_added(source: str, columns: Collection[str], added: Collection[str]) -> None:
    """Refuse, by SourceError, a source with columns of the names that are added."""
    taken = next((name for name in added if name in columns), None)
    if taken is not None:
        reason = f"already has a column {taken!r}, which would be overwritten"
        raise SourceError(source, reason, "rename or remove that column")


@contextmanager
def open_copy(path: Path, source: SourceTable, added: Beside = records.NOTHING) -> Iterator[Add]:
    """Yield what writes records of a source to a file, which appears once all are written.

    `added` names the columns beside those of the source. Raises SourceError if the file cannot be
    written.
    """
    suffix = suffix_of(path)
    if suffix in JSON_LINES:
        _require_names(path, source)
    with atomic_output(path) as unfinished:
        if suffix in (".parquet", ".xlsx"):
            open_rows = _parquet if suffix == ".parquet" else _sheet
            with open_rows(path, unfinished, source, added) as add:
                yield add
            return
        with _stream(unfinished, path.suffix.lower()) as file:
            write: Callable[[bytes], object] = file.write
            if suffix in JSON_LINES:
                encode = _encode_objects(source, path)
                if source.encoding != "utf-8":
                    LOG.warning("%s uses UTF-8, not %s like its source", path.name, source.encoding)
            else:
                encode = _encode_rows(source)
                if (source.encoding, source.newline) != ("utf-8", "\n"):
                    write = _write_alike(file, source)
                write(source.above + _add_cells(source.head, list(added), source.delimiter))

            def add(record: Any, beside: Added) -> None:
                write(encode(record, beside))

            yield add


def _write_alike(file: BinaryIO, source: SourceTable) -> Callable[[bytes], object]:
    """Return what writes UTF-8 in the encoding of a source, and with its line ends.

    What the encoding lacks is escaped.
    """

    def write(row: bytes) -> None:
        text = row.decode("utf-8", "surrogateescape").replace("\n", source.newline)
        file.write(text.encode(source.encoding, "backslashreplace"))

    return write


def _require_names(path: Path, source: SourceTable) -> None:
    """Refuse to convert a table in which a column would take the place of another."""
    names = source.names or ()
    twice = next((name for at, name in enumerate(names) if name and name in names[:at]), None)
    if twice is not None:
        instead = f"write it as {source.format}, or " if source.format in SAME else ""
        reason = f"the source has the column {twice!r} twice"
        raise SourceError(str(path), reason, f"{instead}rename one of these columns")


@contextmanager
def _stream(path: Path, suffix: str) -> Iterator[BinaryIO]:
    packed: Any = nullcontext
    if suffix in (".bz2", ".xz"):
        packed = partial(import_module("bz2" if suffix == ".bz2" else "lzma").open, mode="wb")
    elif suffix == ".gz":
        packed = partial(gzip.GzipFile, "", "wb", 6)
    elif suffix == ".zst":
        packed = partial(_library("zstandard").ZstdCompressor().stream_writer, closefd=False)
    with path.open("xb", buffering=BUFFER) as file, packed(file) as written:
        yield written


def _encode_rows(source: SourceTable) -> Encode:
    """Return what writes a record as its source has it, with cells behind it."""

    def encode(record: bytes | None, beside: Added) -> bytes:
        cells = list(beside.values())
        if record is None:
            row = csv_line([*([""] * len(source.names or ())), *cells], source.delimiter)
            return (row + "\r\n").encode("utf-8", "surrogatepass")
        return _add_cells(record, cells, source.delimiter)

    return encode


def _add_cells(row: bytes, cells: Sequence[object], delimiter: str) -> bytes:
    """Add cells to a row as it is written, before the end of its line. Lines have no header."""
    if not cells:
        return row + b"\n" if row else b""
    start = row.removesuffix(b"\r")
    more = (delimiter + csv_line(cells, delimiter)).encode("utf-8", "surrogatepass")
    return start + more + row[len(start) :] + b"\n"


def _encode_objects(source: SourceTable, path: Path) -> Encode:
    """Return what writes a record as an object of JSON, as it is written if it is an object."""

    def encode(record: Any, beside: Added) -> bytes:
        if record is None:
            return _json(beside)
        if source.format == "jsonl":
            # Line breaks only ever stand between the parts of an object, which has at least its id.
            raw = record.strip().replace(b"\n", b" ") if b"\n" in record else record
            if not beside:
                return bytes(raw + b"\n")
            if not any(name.encode() in raw for name in beside):
                return bytes(raw.rstrip()[:-1].rstrip() + b"," + _json(beside)[1:])
        row = source.row(record)
        names = list(row)
        for at in matches(source.reading.id, names):
            row[names[at]] = records.as_whole(row[names[at]])
        row = plain(row)
        check_added(f"a record for {path}", row, beside)
        return _json({**row, **beside})

    return encode


def _json(value: object) -> bytes:
    # Whole numbers may be longer than 64 bits; a lone surrogate stays the escape that it was.
    text = json.dumps(value, ensure_ascii=False, default=str, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace") + b"\n"


@contextmanager
def _sheet(path: Path, unfinished: Path, source: SourceTable, added: Beside) -> Iterator[Add]:
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell

    book = Workbook(write_only=True)
    sheet, count = book.create_sheet(source.schema.title), 1

    def spell(value: Any, cell: Any = None) -> Any:
        made = WriteOnlyCell(sheet, value)
        if isinstance(value, str):  # also what would be a formula
            made.data_type = "e" if cell and cell.data_type == "e" else "s"
        if cell and value is not None:
            made.number_format = cell.number_format
        return made

    def add(record: Any, beside: Added) -> None:
        nonlocal count
        cells = [None] * len(source.schema) if record is None else record
        pairs = zip_longest(cells, [] if record is None else record.cells)
        sheet.append([*(spell(value, cell) for value, cell in pairs), *map(spell, beside.values())])
        count += 1

    sheet.append([*map(spell, source.schema), *map(spell, added)])
    yield add
    if count > MOST_ROWS:
        raise SourceError(str(path), "has more rows than a sheet can hold", "choose a .jsonl file")
    book.save(unfinished)


def check_types(path: Path, schema: Any) -> None:
    """Refuse, by SourceError, a file with a column of a type that Parquet cannot hold."""
    import pyarrow
    import pyarrow.parquet as parquet

    for field in schema:
        try:
            table = pyarrow.table({field.name: pyarrow.nulls(1, field.type)})
            parquet.write_table(table, pyarrow.BufferOutputStream())
        except pyarrow.ArrowException as error:
            reason = f"Parquet cannot store the column {field.name!r} of type {field.type}"
            raise SourceError(str(path), reason, "choose a .jsonl file") from error


@contextmanager
def _parquet(path: Path, unfinished: Path, source: SourceTable, added: Beside) -> Iterator[Add]:
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    nulls = [pyarrow.nulls(1, field.type) for field in source.schema]
    none = pyarrow.RecordBatch.from_arrays(nulls, schema=source.schema)
    kinds = {str: pyarrow.string(), float: pyarrow.float64(), int: pyarrow.int64()}
    beside = pyarrow.schema([(name, kinds[kind]) for name, kind in added.items()])
    schema = pyarrow.schema([*source.schema, *beside], source.schema.metadata)
    held: list[tuple[Any, Added]] = []

    def table() -> Any:
        rows = ((none, 0) if record is None else record for record, _ in held)
        numbered = ((id(batch), at - number, batch, at) for number, (batch, at) in enumerate(rows))
        # Slices of rows that follow each other: not every type can be taken row by row.
        runs = (list(run) for _, run in groupby(numbered, key=lambda row: row[:2]))
        batches = [run[0][2].slice(run[0][3], len(run)) for run in runs]
        arrays = pyarrow.Table.from_batches(batches, source.schema).combine_chunks().columns
        for name, kind in zip(beside.names, beside.types, strict=True):
            arrays.append(pyarrow.array([extra[name] for _, extra in held], kind))
        return pyarrow.Table.from_arrays(arrays, schema=schema)

    with ParquetWriter(unfinished, schema) as writer:

        def add(record: Any, extra: Added) -> None:
            held.append((record, extra))
            if len(held) == AT_ONCE:
                writer.write_table(table())
                held.clear()

        try:
            yield add
            if held:
                writer.write_table(table())
        except pyarrow.ArrowException as error:
            reason = f"cannot store a value from the source ({error})"
            raise SourceError(str(path), reason, "choose a .jsonl file") from error
