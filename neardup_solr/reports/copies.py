"""Copies of records of a source, in its own format or as JSON lines."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeAlias, cast

from neardup_solr import records
from neardup_solr.errors import SourceError
from neardup_solr.files import PathError, atomic_output, check_place
from neardup_solr.progress import LOG
from neardup_solr.reports import Add, Added, Beside, load_library, require_library
from neardup_solr.reports.parquet_files import open_parquet
from neardup_solr.reports.workbook import open_sheet
from neardup_solr.sources.column import matches
from neardup_solr.sources.compression import is_compressed
from neardup_solr.sources.csv import csv_line
from neardup_solr.sources.formats import suffix_of
from neardup_solr.sources.part import SourceTable
from neardup_solr.sources.values import plain

# The suffix of a format that is copied, beside those of JSON lines, which any becomes.
SAME: Final = {"csv": ".csv", "tsv": ".tsv", "lines": ".txt", "parquet": ".parquet",
               "xlsx": ".xlsx"}  # fmt: skip
JSON_LINES: Final = (".jsonl", ".ndjson")
BUFFER: Final = 2**20  # bytes that are written at once
Encode: TypeAlias = Callable[[Sequence[Any], Added], bytes]


def check_copy(path: Path, source_format: str, *, adds: bool) -> None:
    """Refuse a file that could not be written, before any work is done for it.

    `adds` says that columns come to those of the source. Raises SourceError.
    """
    same = SAME.get(source_format)
    if adds and source_format == "lines":  # which have no room for other columns
        same = None
    suffix = suffix_of(path)
    if suffix in (".parquet", ".xlsx") and is_compressed(path):
        reason = f"{suffix} is already compressed"
        raise PathError(str(path), reason, f"end it in {suffix}", code="format-unknown")
    if suffix not in (same, *JSON_LINES):
        kind = SourceError if suffix in SAME.values() else PathError
        reason = "these records cannot be written in this format"
        raise kind(
            str(path), reason, f"choose {f'{same} or ' if same else ''}.jsonl", code="format-unfit"
        )
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
        raise SourceError(source, reason, "rename or remove that column", code="column-repeated")


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
            open_rows = open_parquet if suffix == ".parquet" else open_sheet
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

            def add(copied: Sequence[Any], beside: Added) -> None:
                write(encode(copied, beside))

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
        step = f"{instead}rename one of these columns"
        raise SourceError(str(path), reason, step, code="column-repeated")


@contextmanager
def _stream(path: Path, suffix: str) -> Iterator[BinaryIO]:
    packed: Any = nullcontext
    if suffix in (".bz2", ".xz"):
        packed = partial(import_module("bz2" if suffix == ".bz2" else "lzma").open, mode="wb")
    elif suffix == ".gz":
        packed = partial(gzip.GzipFile, "", "wb", 6)
    elif suffix == ".zst":
        packed = partial(load_library("zstandard").ZstdCompressor().stream_writer, closefd=False)
    with path.open("xb", buffering=BUFFER) as file, packed(file) as written:
        yield written


def _encode_rows(source: SourceTable) -> Encode:
    """Return what writes records as their source has them, with cells behind each."""

    def encode(copied: Sequence[bytes | None], beside: Added) -> bytes:
        if not beside and all(copied):
            return b"\n".join([*cast("Sequence[bytes]", copied), b""])
        return b"".join(encode_record(record, beside) for record in copied)

    def encode_record(record: bytes | None, beside: Added) -> bytes:
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
    """Return what writes records as objects of JSON, as they are written if they are objects."""

    def encode(copied: Sequence[Any], beside: Added) -> bytes:
        if source.format == "jsonl" and not beside and None not in copied:
            lines = b"\n".join([*copied, b""])
            if lines.count(b"\n") == len(copied):
                return lines
        return b"".join(encode_record(record, beside) for record in copied)

    def encode_record(record: Any, beside: Added) -> bytes:
        if record is None:
            return encode_object(beside) + b"\n"
        if source.format == "jsonl":
            # Line breaks only ever stand between the parts of an object, which has at least its id.
            raw = record.strip().replace(b"\n", b" ") if b"\n" in record else record
            if not beside:
                return bytes(raw + b"\n")
            if not any(name.encode() in raw for name in beside):
                return bytes(raw.rstrip()[:-1].rstrip() + b"," + encode_object(beside)[1:] + b"\n")
        row = source.row(record)
        names = list(row)
        for at in matches(source.reading.id, names):
            row[names[at]] = records.as_whole(row[names[at]])
        row = plain(row)
        check_added(f"a record for {path}", row, beside)
        return encode_object({**row, **beside}) + b"\n"

    return encode


def encode_object(value: object) -> bytes:
    """Write an object as JSON, in one line without its end."""
    # Whole numbers may be longer than 64 bits; a lone surrogate stays the escape that it was.
    text = json.dumps(value, ensure_ascii=False, default=str, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")
