"""Some of the records of a source in a file of their own, with columns beside theirs if wanted.

A record is copied as it is written; only if the file is of another format than the source, it is
taken apart and written anew.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import groupby, islice
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeAlias, cast

from neardup_solr.errors import SourceError
from neardup_solr.files import check_place, whole
from neardup_solr.records import NOTHING
from neardup_solr.reports.parquet import check_parquet
from neardup_solr.sources import Written
from neardup_solr.sources.lines import NEEDS_FORMATS
from neardup_solr.sources.values import plain
from neardup_solr.sources.written import PARTS

FORMATS: Final = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".txt": "lines",
}
COMPRESSED: Final = (".gz", ".zst")
DELIMITERS: Final = {"csv": ",", "tsv": "\t"}
AT_ONCE: Final = 8_192  # rows of Parquet that are held
BUFFER: Final = 2**20  # bytes that are written at once

Added: TypeAlias = Mapping[str, str | float | None]
# Takes a record of the source, None if there is none, and what is written beside its own columns.
Add: TypeAlias = Callable[[Any, Added], None]
# The columns beside those of the source, and what they hold.
Beside: TypeAlias = Mapping[str, type[str] | type[float]]


def check_copy(path: Path, source_format: str, *, adds: bool) -> None:
    """Refuse a file that could not be written, before any work is done for it.

    `adds` says that columns come to those of the source. Raises SourceError.
    """
    known = ", ".join(each for each in FORMATS if each != ".txt")
    format = FORMATS.get(_suffix(path))
    if format is None:
        reason = f"its suffix {path.suffix!r} does not say in which format to write it"
        raise SourceError(str(path), reason, f"choose one of {known}")
    if format == "lines" and (adds or source_format != "lines"):
        reason = "lines of an id and a text have no room for other columns"
        raise SourceError(str(path), reason, f"choose one of {known}")
    if format == "parquet":
        if path.suffix.lower() in COMPRESSED:
            raise SourceError(str(path), "Parquet is compressed itself", "name it .parquet")
        check_parquet(path)
    if path.suffix.lower() == ".zst" and find_spec("zstandard") is None:
        raise SourceError(str(path), "Zstandard needs the library zstandard", NEEDS_FORMATS)
    check_place(path)


def needs_columns(path: Path, source: Written) -> bool:
    """Whether all records have to be seen before the first one is written, for their columns."""
    format = FORMATS[_suffix(path)]
    if format == "parquet":
        return source.schema is None and source.format in ("jsonl", "xlsx", PARTS)
    return format in DELIMITERS and source.names is None


@contextmanager
def copied(
    path: Path, source: Written, *, added: Beside = NOTHING, columns: Mapping[str, Any]
) -> Iterator[Add]:
    """What writes records of a source to a file, which appears once all are written.

    `added` names the columns beside those of the source; `columns` are all of the source's with
    their types in Arrow, as `columns_of` finds them, if they are needed.

    Raises SourceError if the file cannot be written.
    """
    format = FORMATS[_suffix(path)]
    if format != source.format:
        _require_names(path, source)
    with whole(path) as unfinished:
        if format == "parquet":
            with _parquet(path, unfinished, source, added, columns) as add:
                yield add
            return
        with _stream(unfinished, path.suffix.lower()) as file:
            if format == "json":
                with _array(file, source) as add:
                    yield add
            else:
                yield _line(path, file, format, source, added, columns)


def _require_names(path: Path, source: Written) -> None:
    """Refuse to convert a table in which a column would take the place of another."""
    names = source.names or ()
    twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
    if twice is not None:
        reason = f"the source has the column {twice!r} twice"
        instead = f"write it as {source.format}, or " if source.format != PARTS else ""
        raise SourceError(str(path), reason, f"{instead}rename one of them")


def columns_of(path: Path, rows: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """All columns of rows that each name their own, in the order in which they come.

    The value is the type that the column has in Arrow, if the file is of Parquet.
    Raises SourceError if a column has no one type then.
    """
    if FORMATS[_suffix(path)] != "parquet":
        return {name: None for row in rows for name in row}
    import pyarrow

    schema, rows = pyarrow.schema([]), iter(rows)
    try:
        while some := list(islice(rows, AT_ONCE)):
            names = {name: None for row in some for name in row}
            types = [(name, pyarrow.array([row.get(name) for row in some]).type) for name in names]
            schema = pyarrow.unify_schemas(
                [schema, pyarrow.schema(types)], promote_options="permissive"
            )
    except pyarrow.ArrowException as error:
        reason = f"a column has values of several types ({str(error).partition(chr(10))[0]})"
        raise SourceError(str(path), reason, "choose a .jsonl file") from error
    return {field.name: field.type for field in schema}


def _suffix(path: Path) -> str:
    name = path.name.lower()
    for each in COMPRESSED:
        name = name.removesuffix(each)
    return Path(name).suffix


@contextmanager
def _stream(path: Path, suffix: str) -> Iterator[BinaryIO]:
    with path.open("xb", buffering=BUFFER) as file:
        if suffix == ".gz":
            with gzip.GzipFile("", "wb", compresslevel=6, fileobj=file) as zipped:
                yield cast(BinaryIO, zipped)
        elif suffix == ".zst":
            import zstandard

            with zstandard.ZstdCompressor().stream_writer(file, closefd=False) as packed:
                yield cast(BinaryIO, packed)
        else:
            yield file


def _line(
    path: Path,
    file: BinaryIO,
    format: str,
    source: Written,
    added: Beside,
    columns: Mapping[str, Any],
) -> Add:
    if format == "lines":
        encode = _copied_line(source)
    elif format == "jsonl":
        encode = _object(source)
    elif source.format == format and not set(added) & set(source.names or ()):
        encode = _copied_row(source)
        file.write(_beside(source.head, list(added), source.delimiter) + b"\n")
    else:
        names = tuple(dict.fromkeys((*(source.names or columns), *added)))
        delimiter = DELIMITERS[format]
        mark = codecs.BOM_UTF8 if source.for_excel and format == "csv" else b""
        file.write(mark + _cells(names, delimiter))
        encode = _row(path, source, names, delimiter)

    def add(record: Any, beside: Added) -> None:
        file.write(encode(record, beside))

    return add


Encode: TypeAlias = Callable[[Any, Added], bytes]


def _copied_line(source: Written) -> Encode:
    raw = source.raw
    assert raw is not None
    return lambda record, _: raw(record) + b"\n"


def _copied_row(source: Written) -> Encode:
    raw = source.raw
    assert raw is not None

    def encode(record: Any, beside: Added) -> bytes:
        cells = list(beside.values())
        if record is None:
            return _cells([*[""] * len(source.names or ()), *cells], source.delimiter)
        return _beside(raw(record), cells, source.delimiter) + b"\n"

    return encode


def _beside(row: bytes, cells: Sequence[object], delimiter: str) -> bytes:
    """A row as it is written, with further cells before the end of its line."""
    if not cells:
        return row
    own = row.removesuffix(b"\r")
    more = delimiter.encode() + _cells(cells, delimiter).removesuffix(b"\r\n")
    return own + more + row[len(own) :]


def _object(source: Written) -> Encode:
    raw = source.raw if source.format == "jsonl" else None

    def encode(record: Any, beside: Added) -> bytes:
        if record is None:
            return _json(beside) + b"\n"
        if raw is None:
            return _json({**plain(source.row(record)), **beside}) + b"\n"
        return _with_keys(raw(record), beside) + b"\n"

    return encode


def _with_keys(raw: bytes, beside: Added) -> bytes:
    """An object as it is written, with further keys; it has at least one, its id."""
    return raw.rstrip()[:-1].rstrip() + b"," + _json(beside)[1:] if beside else raw


def _json(value: object) -> bytes:
    # Whole numbers may be longer than 64 bits; a lone surrogate stays the escape that it was.
    text = json.dumps(value, ensure_ascii=False, default=str, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")


@contextmanager
def _array(file: BinaryIO, source: Written) -> Iterator[Add]:
    encode, between = _object(source), b"[\n"

    def add(record: Any, beside: Added) -> None:
        nonlocal between
        file.write(between + encode(record, beside).rstrip())
        between = b",\n"

    yield add
    file.write(b"\n]\n" if between == b",\n" else b"[]\n")


def _row(path: Path, source: Written, names: Sequence[str], delimiter: str) -> Encode:
    def encode(record: Any, beside: Added) -> bytes:
        found = {**_row_of(source, record), **beside}
        cells = [_cell(found.get(name)) for name in names]
        if delimiter == "\t" and any("\t" in cell for cell in cells) and "\n" in "".join(cells):
            reason = "a record has a tab and a line break, which TSV cannot tell apart"
            raise SourceError(str(path), reason, "choose .csv or .jsonl")
        return _cells(cells, delimiter)

    return encode


def _row_of(source: Written, record: Any) -> dict[str, Any]:
    """The columns of a record; none if there is none."""
    return {} if record is None else source.row(record)


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else _text(plain(value))


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else _json(value).decode("utf-8", "surrogatepass")


def _cells(cells: Sequence[object], delimiter: str) -> bytes:
    line = io.StringIO()
    csv.writer(line, delimiter=delimiter).writerow(cells)
    return line.getvalue().encode("utf-8", "surrogatepass")


@contextmanager
def _parquet(
    path: Path,
    unfinished: Path,
    source: Written,
    added: Beside,
    columns: Mapping[str, Any],
) -> Iterator[Add]:
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    types = columns or dict.fromkeys(source.names or (), pyarrow.string())
    own = source.schema or pyarrow.schema(list(types.items()))
    kinds = {str: pyarrow.string(), float: pyarrow.float64()}
    beside = pyarrow.schema([(name, kinds[kind]) for name, kind in added.items()])
    places = [at for at, name in enumerate(own.names) if name not in added]
    schema = pyarrow.schema([*(own.field(at) for at in places), *beside], own.metadata)
    held: list[tuple[Any, Added]] = []

    def table() -> Any:
        records = [record for record, _ in held]
        if source.schema is None:
            rows = [_row_of(source, record) for record in records]
            part = pyarrow.Table.from_pylist(rows, own)
        else:
            none = pyarrow.RecordBatch.from_pylist([{}], own)
            found = ((none, 0) if record is None else record for record in records)
            batches = [batch.take(pyarrow.array(rows)) for batch, rows in _of_batches(found)]
            part = pyarrow.Table.from_batches(batches, own)
        arrays = [part.column(at) for at in places]
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
            reason = f"cannot hold a value of the source ({error})"
            raise SourceError(str(path), reason, "choose a .jsonl file") from error


def _of_batches(records: Iterable[tuple[Any, int]]) -> Iterator[tuple[Any, list[int]]]:
    """Each batch with those of its rows that are wanted."""
    for _, found in groupby(records, key=lambda record: id(record[0])):
        some = list(found)
        yield some[0][0], [at for _, at in some]
