"""Some of the records of a source in another file, with columns beside theirs if wanted.

A record is copied as it is written, or becomes a JSON object if the file is of JSON lines.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeAlias, cast

from neardup_solr.errors import SourceError
from neardup_solr.files import atomic_output, check_place
from neardup_solr.records import NOTHING
from neardup_solr.reports.tables import check_parquet
from neardup_solr.sources.lines import NEEDS_FORMATS
from neardup_solr.sources.record import SourceTable, plain

# The suffix of a format that is copied, beside those of JSON lines, which any becomes.
SAME: Final = {"csv": ".csv", "tsv": ".tsv", "lines": ".txt", "parquet": ".parquet"}
JSON_LINES: Final = (".jsonl", ".ndjson")
COMPRESSED: Final = (".gz", ".zst")
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
    suffix = _suffix(path)
    if suffix not in (same, *JSON_LINES):
        reason = "records stay in the format of their source, or become JSON lines"
        raise SourceError(str(path), reason, f"choose {f'{same} or ' if same else ''}.jsonl")
    if suffix == ".parquet":
        if path.suffix.lower() in COMPRESSED:
            raise SourceError(str(path), "Parquet is compressed itself", "name it .parquet")
        check_parquet(path)
    if path.suffix.lower() == ".zst" and find_spec("zstandard") is None:
        raise SourceError(str(path), "Zstandard needs the library zstandard", NEEDS_FORMATS)
    check_place(path)


def check_added(source: str, columns: Collection[str], added: Collection[str]) -> None:
    """Refuse, by SourceError, a source with columns of the names that are added."""
    taken = next((name for name in added if name in columns), None)
    if taken is not None:
        reason = f"has a column {taken!r} of its own, which would be overwritten"
        raise SourceError(source, reason, "rename that column, or drop it")


@contextmanager
def open_copy(path: Path, source: SourceTable, added: Beside = NOTHING) -> Iterator[Add]:
    """Yield what writes records of a source to a file, which appears once all are written.

    `added` names the columns beside those of the source. Raises SourceError if the file cannot be
    written.
    """
    suffix = _suffix(path)
    if suffix in JSON_LINES:
        _require_names(path, source)
    with atomic_output(path) as unfinished:
        if suffix == ".parquet":
            with _parquet(path, unfinished, source, added) as add:
                yield add
            return
        with _stream(unfinished, path.suffix.lower()) as file:
            if suffix in JSON_LINES:
                encode = _encode_objects(source, path)
            else:
                file.write(_add_cells(source.head, list(added), source.delimiter))
                encode = _encode_rows(source)

            def add(record: Any, beside: Added) -> None:
                file.write(encode(record, beside))

            yield add


def _require_names(path: Path, source: SourceTable) -> None:
    """Refuse to convert a table in which a column would take the place of another."""
    names = source.names or ()
    twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
    if twice is not None:
        instead = f"write it as {source.format}, or " if source.format in SAME else ""
        reason = f"the source has the column {twice!r} twice"
        raise SourceError(str(path), reason, f"{instead}rename one of them")


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


def _encode_rows(source: SourceTable) -> Encode:
    """Return what writes a record as its source has it, with cells behind it."""

    def encode(record: bytes | None, beside: Added) -> bytes:
        cells = list(beside.values())
        if record is None:
            return _spell([*([""] * len(source.names or ())), *cells], source.delimiter)
        return _add_cells(record, cells, source.delimiter)

    return encode


def _add_cells(row: bytes, cells: Sequence[object], delimiter: str) -> bytes:
    """Add cells to a row as it is written, before the end of its line. Lines have no header."""
    if not cells:
        return row + b"\n" if row else b""
    start = row.removesuffix(b"\r")
    more = delimiter.encode() + _spell(cells, delimiter).removesuffix(b"\r\n")
    return start + more + row[len(start) :] + b"\n"


def _spell(cells: Sequence[object], delimiter: str) -> bytes:
    line = io.StringIO()
    csv.writer(line, delimiter=delimiter).writerow(cells)
    return line.getvalue().encode("utf-8", "surrogatepass")


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
        row = plain(source.row(record))
        check_added(f"a record for {path}", row, beside)
        return _json({**row, **beside})

    return encode


def _json(value: object) -> bytes:
    # Whole numbers may be longer than 64 bits; a lone surrogate stays the escape that it was.
    text = json.dumps(value, ensure_ascii=False, default=str, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace") + b"\n"


@contextmanager
def _parquet(path: Path, unfinished: Path, source: SourceTable, added: Beside) -> Iterator[Add]:
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    none = pyarrow.RecordBatch.from_pylist([{}], source.schema)
    kinds = {str: pyarrow.string(), float: pyarrow.float64(), int: pyarrow.int64()}
    beside = pyarrow.schema([(name, kinds[kind]) for name, kind in added.items()])
    schema = pyarrow.schema([*source.schema, *beside], source.schema.metadata)
    held: list[tuple[Any, Added]] = []

    def table() -> Any:
        rows = ((none, 0) if record is None else record for record, _ in held)
        batches = [
            batch.take(pyarrow.array([at for _, at in group]))
            for (_, batch), group in groupby(rows, key=lambda row: (id(row[0]), row[0]))
        ]
        arrays = pyarrow.Table.from_batches(batches, source.schema).columns
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
