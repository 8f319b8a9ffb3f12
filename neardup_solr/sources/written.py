"""The records of a file or folder as they are written, with all their columns.

There are as many as the readers of documents find, in the same order, including those that cannot
be used. So what is known about the third document is true of the third record.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from neardup_solr.errors import RecordError
from neardup_solr.records import Document
from neardup_solr.sources import arrow, sheets
from neardup_solr.sources.formats import fields_of, written_lines, written_rows
from neardup_solr.sources.objects import written_objects
from neardup_solr.sources.record import Opened, Reading
from neardup_solr.sources.whole_files import ID, TEXT, read_folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The records of a source, how each is written, and what its columns are.

    `raw` gives the bytes of a record without its line break, and is None if the format is not
    made of text; `row` gives its columns. `head` is its header, `delimiter` stands between the
    columns; `names` are those of the columns, None if each record names its own. `schema` is
    that of a table of Arrow, of which a record is a batch and the place of a row in it.
    """

    format: str
    records: Iterator[Any]
    row: Callable[[Any], dict[str, Any]]
    raw: Callable[[Any], bytes] | None = None
    head: bytes = b""
    delimiter: str = ","
    names: Sequence[str] | None = None
    schema: Any = None


def _lines(source: Opened, reading: Reading) -> Written:
    def row(line: bytes) -> dict[str, Any]:
        parts = line.decode("utf-8", reading.on_invalid).rstrip("\r").split(None, 1)
        return {ID: parts[0], TEXT: parts[1] if len(parts) == 2 else ""}

    return Written(
        format="lines",
        records=_undamaged(written_lines(source, reading)),
        raw=bytes,
        row=row,
        names=(ID, TEXT),
    )


def _table(source: Opened, reading: Reading, format: str, usual: str) -> Written:
    delimiter, rows = written_rows(source, reading, usual)
    head = next(rows)
    names = fields_of(head, reading, delimiter)

    def row(found: bytes) -> dict[str, Any]:
        return dict(zip(names, fields_of(found, reading, delimiter), strict=True))

    return Written(
        format=format,
        records=_undamaged(rows),
        raw=bytes,
        row=row,
        head=(codecs.BOM_UTF8 if _has_mark(source) else b"") + head,
        delimiter=delimiter,
        names=names,
    )


def _has_mark(source: Opened) -> bool:
    """Whether a file begins with the mark by which spreadsheets know UTF-8."""
    assert source.path is not None
    with source.path.open("rb") as file:
        return file.read(3) == codecs.BOM_UTF8


def _csv(source: Opened, reading: Reading) -> Written:
    return _table(source, reading, "csv", ",")


def _tsv(source: Opened, reading: Reading) -> Written:
    return _table(source, reading, "tsv", "\t")


def _json(source: Opened, reading: Reading) -> Written:
    def row(found: bytes) -> dict[str, Any]:
        return dict(json.loads(found.decode("utf-8", reading.on_invalid)))

    return Written(
        format="jsonl",
        records=_undamaged(written_objects(source, reading)),
        raw=_on_one_line,
        row=row,
    )


def _on_one_line(found: bytes) -> bytes:
    """An object of JSON without line breaks, which only ever stand between its parts."""
    return found.strip().replace(b"\n", b" ") if b"\n" in found else found


def _parquet(source: Opened, reading: Reading) -> Written:
    schema, batches = arrow.written_batches(source)
    return Written(
        format="parquet",
        records=((batch, at) for batch in batches for at in range(batch.num_rows)),
        row=lambda found: arrow.row_of(*found),
        names=schema.names,
        schema=schema,
    )


def _xlsx(source: Opened, reading: Reading) -> Written:
    rows = sheets.written_rows(source)
    names = [str(name) for name in next(rows)]
    return Written(
        format="xlsx",
        records=_undamaged(rows),
        row=lambda found: dict(zip(names, found, strict=False)),
        names=names,
    )


def _folder(source: Opened, reading: Reading) -> Written:
    def row(found: Document) -> dict[str, Any]:
        return {ID: found.id, TEXT: found.text}

    return Written(format="folder", records=read_folder(source, reading), row=row, names=(ID, TEXT))


def _undamaged(records: Iterator[Any]) -> Iterator[Any]:
    """The records up to where the source is damaged, which its reader reports."""
    try:
        yield from records
    except RecordError:
        return


WRITTEN: Final[dict[str, Callable[[Opened, Reading], Written]]] = {
    "lines": _lines,
    "csv": _csv,
    "tsv": _tsv,
    "jsonl": _json,
    "json": _json,
    "parquet": _parquet,
    "xlsx": _xlsx,
    "folder": _folder,
}
