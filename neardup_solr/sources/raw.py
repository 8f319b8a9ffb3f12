"""The records of a file or folder as they are written, with all their columns.

There are as many as the readers of documents find, in the same order, including those that cannot
be used; where a source is damaged, which is an error of theirs, there is None. So what is known
about the third document is true of the third record.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, Final

from neardup_solr.errors import RecordError
from neardup_solr.progress import ignore
from neardup_solr.records import Document
from neardup_solr.sources.folders import ID, PARTS, TEXT, WITHOUT_COLUMNS, read_folder
from neardup_solr.sources.lines import has_mark
from neardup_solr.sources.record import Opened, Reading, Unusable, columns


@dataclass(frozen=True, slots=True, kw_only=True)
class RawRecords:
    """The records of a source, how each is written, and what its columns are.

    `raw` gives the bytes of a record without its line break, and is None if the format is not
    made of text; `row` gives its columns, and raises ValueError if it cannot be taken apart. `head`
    is its header, `delimiter` stands between the columns; `names` are those of the columns, None
    if each record names its own. `schema` is that of a table of Arrow, of which a record is a
    batch and the place of a row in it.
    """

    format: str
    records: Iterator[Any]
    row: Callable[[Any], dict[str, Any]]
    raw: Callable[[Any], bytes] | None = None
    head: bytes = b""
    delimiter: str = ","
    names: Sequence[str] | None = None
    schema: Any = None

    def is_apart(self, record: Any) -> bool:
        """Tell whether a record, or None if there is none, can be taken apart."""
        try:
            return record is not None and bool(self.row(record))
        except (ValueError, RecursionError):
            return False

    def text_of(self, record: Any) -> str | None:
        """A record that cannot be taken apart as text, in which bytes that are none are escaped."""
        if isinstance(record, tuple):  # of one of several parts
            part: RawRecords = record[0]
            return part.text_of(record[1])
        raw: bytes = record or b""
        return raw.removesuffix(b"\r").decode("utf-8", "backslashreplace") or None


def _lines(source: Opened, reading: Reading) -> RawRecords:
    from neardup_solr.sources.csv import id_and_text, written_lines

    def row(line: bytes) -> dict[str, Any]:
        text = line.decode("utf-8", reading.on_invalid)
        if not reading.has_ids:
            return {TEXT: text.rstrip("\r")}
        id, *rest = id_and_text(text, reading)
        return {ID: id, TEXT: rest[0] if rest else ""}

    return RawRecords(
        format="lines",
        records=_until_damage(written_lines(source, reading)),
        raw=bytes,
        row=row,
        names=(ID, TEXT) if reading.has_ids else (TEXT,),
    )


def _table(source: Opened, reading: Reading, format: str) -> RawRecords:
    from neardup_solr.sources.csv import fields_of, written_rows

    delimiter, rows = written_rows(source, reading, "\t" if format == "tsv" else ",")
    head = next(rows)
    names = fields_of(head, reading, delimiter)

    def row(found: bytes) -> dict[str, Any]:
        return dict(zip(names, fields_of(found, reading, delimiter), strict=True))

    return RawRecords(
        format=format,
        records=_until_damage(rows),
        raw=bytes,
        row=row,
        head=(codecs.BOM_UTF8 if has_mark(source) else b"") + head,
        delimiter=delimiter,
        names=names,
    )


def _json(source: Opened, reading: Reading) -> RawRecords:
    from neardup_solr.sources.json import written_objects

    def row(found: bytes) -> dict[str, Any]:
        made = json.loads(found.decode("utf-8", reading.on_invalid), object_pairs_hook=_distinct)
        if not isinstance(made, dict):
            raise ValueError("not a JSON object")
        return made

    return RawRecords(
        format="jsonl",
        records=_until_damage(written_objects(source, reading)),
        raw=_on_one_line,
        row=row,
    )


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of its keys, or raise ValueError if one appears twice."""
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a key appears twice")
    return made


def _on_one_line(found: bytes) -> bytes:
    """An object of JSON without line breaks, which only ever stand between its parts."""
    return found.strip().replace(b"\n", b" ") if b"\n" in found else found


def _parquet(source: Opened, reading: Reading) -> RawRecords:
    from neardup_solr.sources import arrow

    schema, batches = arrow.written_batches(source)
    return RawRecords(
        format="parquet",
        records=_rows_of(batches),
        row=lambda found: arrow.row_of(*found),
        names=schema.names,
        schema=schema,
    )


def _rows_of(batches: Iterator[Any]) -> Iterator[tuple[Any, int] | None]:
    for batch in batches:
        if batch is None:
            yield None
        else:
            yield from ((batch, at) for at in range(batch.num_rows))


def _xlsx(source: Opened, reading: Reading) -> RawRecords:
    from neardup_solr.sources.excel import written_rows

    rows = written_rows(source)
    names = [str(name) for name in next(rows) or ()]
    return RawRecords(
        format="xlsx",
        records=rows,
        row=lambda found: dict(zip(names, found, strict=False)),
        names=names,
    )


def _folder(source: Opened, reading: Reading) -> RawRecords:
    def row(found: Document | RecordError) -> dict[str, Any]:
        return {ID: found.id, TEXT: found.text if isinstance(found, Document) else None}

    records = read_folder(source, reading)
    return RawRecords(format="folder", records=records, row=row, names=(ID, TEXT))


def of_parts(parts: Sequence[tuple[Opened, str]], reading: Reading) -> RawRecords:
    """The records of several sources, one source after the other.

    If the parts have other columns than each other, a record has those of its own part.
    """
    opened = (WRITTEN[format](part, reading) for part, format in parts)
    if len(parts) == 1:
        return next(opened)
    # Each is opened only while it is read: there may be more than a process may have open.
    seen = [replace(one, records=iter(())) for one in opened]
    first = seen[0]
    again = (WRITTEN[format](part, reading) for part, format in parts)
    if all(_layout(one) == _layout(first) for one in seen):
        return replace(first, records=chain.from_iterable(one.records for one in again))
    listed = (list(one.names or ()) for one in seen)
    twice = (names for names in listed if len(set(names)) < len(names))
    return RawRecords(
        format=PARTS,
        records=(
            None if record is None else (one, record) for one in again for record in one.records
        ),
        row=lambda found: found[0].row(found[1]),
        names=next(twice, None),
    )


def names_of(source: Opened, format: str) -> list[Any] | None:
    """Read the names of columns, or None if each record has its own, or if that fails.

    Why it fails is told when the source is read.
    """
    quiet = replace(source, on_notice=ignore, on_progress=None, begun=None)
    try:
        names = WRITTEN[format](quiet, source.reading).names
    except (Unusable, RecordError, StopIteration):
        return None
    return None if names is None else list(names)


def check_columns(parts: Iterable[tuple[Opened, str]], reading: Reading) -> None:
    """Refuse a part that lacks a column that is needed, before anything is read.

    A notice says if the columns of the parts differ. Raises SourceError.
    """
    first: tuple[str, list[Any]] | None = None
    is_told = False
    for part, format in parts:
        if part.path is None or not part.path.is_file():  # what a pipe gives cannot be read twice
            continue
        names = None if format in WITHOUT_COLUMNS else names_of(part, format)
        if names is None:
            continue
        columns(part, names, reading)
        if first is None:
            first = part.name, names
        elif names != first[1] and not is_told:
            is_told = True
            part.on_notice(f"{part.name} {_difference(names, *first)}")


def _difference(names: Sequence[Any], other: str, others: Sequence[Any]) -> str:
    if set(names) == set(others):
        return f"has its columns in another order than {other}: they are taken by name"
    return (
        f"has other columns than {other}: they are taken by name, and what a part lacks is missing"
    )


def _layout(one: RawRecords) -> tuple[object, ...]:
    return one.format, one.delimiter, one.names and list(one.names), one.schema


def _until_damage(records: Iterator[Any]) -> Iterator[Any]:
    """The records up to where the source is damaged, and None there."""
    try:
        yield from records
    except RecordError:
        yield None


WRITTEN: Final[dict[str, Callable[[Opened, Reading], RawRecords]]] = {
    "lines": _lines,
    "csv": partial(_table, format="csv"),
    "tsv": partial(_table, format="tsv"),
    "jsonl": _json,
    "json": _json,
    "parquet": _parquet,
    "xlsx": _xlsx,
    "folder": _folder,
}
