"""Records of a source with other values in some columns, and tables in the format of a source."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from neardup_solr.regex import regex
from neardup_solr.reports.copies import JSON_LINES, encode_object
from neardup_solr.sources.arrow import BatchRows
from neardup_solr.sources.csv import csv_line
from neardup_solr.sources.excel import SheetRow
from neardup_solr.sources.formats import suffix_of
from neardup_solr.sources.part import Contents, Piece, SourceTable
from neardup_solr.sources.values import plain

GENERAL: Final = "General"  # format of a cell for which none was chosen
Values = Mapping[str, Any]  # by column
_QUOTED_IN_TSV: Final = regex(r'[\r\n]|(?:^|\t)"')


class ChangedRecord(NamedTuple):
    """A record as it is written in its source, and the values that it is to have instead."""

    record: Any
    values: Values


@dataclass(frozen=True, slots=True)
class ChangedContents:
    """Contents that can also take a ChangedRecord apart."""

    contents: Contents
    names: Sequence[Any]

    def documents(self) -> Iterator[Piece]:
        """Read the documents."""
        return self.contents.documents()

    def records(self) -> Iterator[tuple[int, Any]]:
        """Read the records."""
        return self.contents.records()

    def parse(self, record: Any) -> Sequence[Any] | dict[str, Any]:
        """Take the values of a record, the changed ones instead of those of the source."""
        if not isinstance(record, ChangedRecord):
            return self.contents.parse(record)
        values = self.contents.parse(record.record)
        if isinstance(values, dict):
            return {**values, **record.values}
        return _replace_cells(self.names, values, record.values)


def label_columns(names: Sequence[Any]) -> list[str]:
    """Label the columns of a table: those without a name by their place."""
    return [str(name) if name else f"column {at}" for at, name in enumerate(names, 1)]


def take_row(source: SourceTable, record: Any) -> dict[str, Any]:
    """Take the values of a record by the labels of its columns, or raise ValueError."""
    values = source.contents.parse(record)
    if isinstance(values, dict):
        return values
    return dict(zip(label_columns(source.names or ()), values, strict=True))


def _replace_cells(names: Sequence[Any], cells: Sequence[Any], values: Values) -> list[Any]:
    labelled = zip(label_columns(names), cells, strict=True)
    return [values.get(name, cell) for name, cell in labelled]


def allow_changes(source: SourceTable) -> SourceTable:
    """Make a table take changed records apart as well."""
    contents = ChangedContents(source.contents, source.names or ())
    return replace(source, contents=contents)


def change_record(source: SourceTable, record: Any, values: Values, path: Path) -> Any:
    """Make a record with other values in some columns, as it is copied to a file."""
    if source.format == "jsonl":
        return encode_object({**take_row(source, record), **values})
    suffix = suffix_of(path)
    if suffix in JSON_LINES:
        return ChangedRecord(record, values)
    names = source.names or ()
    if suffix == ".parquet":
        batch, at = record
        columns = zip(source.schema, batch.columns, strict=True)
        arrays = [
            _make_array(values[field.name], field.type)
            if field.name in values
            else column.slice(at, 1)
            for field, column in columns
        ]
        return type(batch).from_arrays(arrays, schema=source.schema), 0
    cells = _replace_cells(names, [*take_row(source, record).values()], values)
    if suffix == ".xlsx":
        labels = [label in values for label in label_columns(names)]
        written = [*record.cells, *[None] * (len(cells) - len(record.cells))]
        styles = [_keep_style(*each) for each in zip(written, labels, strict=True)]
        return SheetRow(cells, styles)
    end = record[len(record.rstrip(b"\r")) :]
    return _encode_row(cells, source.delimiter) + bytes(end)


def _keep_style(cell: Any, is_changed: bool) -> Any:
    """Keep the cell of a value, that of another value only if somebody has chosen its format."""
    chosen = getattr(cell, "number_format", None)
    return None if is_changed and chosen in (None, GENERAL) else cell


def _make_array(value: Any, kind: Any) -> Any:
    """Make an array of a value of Python, or of a time that Python does not have, as a text."""
    import pyarrow

    try:
        return pyarrow.array([value], kind)
    except (pyarrow.ArrowException, TypeError, ValueError):
        return pyarrow.array([str(value)]).cast(kind)


def _encode_row(cells: Sequence[Any], delimiter: str) -> bytes:
    """Write a row. In TSV, quotes stand only around what could not be told apart without them."""
    row = "\t".join(map(str, cells)) if delimiter == "\t" else ""
    if not row or row.count("\t") >= len(cells) or _QUOTED_IN_TSV.search(row):
        row = csv_line(cells, delimiter)
    return row.encode("utf-8", "surrogatepass")


def describe_table(source: SourceTable, path: Path, columns: Mapping[str, type]) -> SourceTable:
    """Describe a table with other columns, as it is written beside a copy of a source."""
    suffix, names = suffix_of(path), [*columns]
    if suffix in JSON_LINES:
        return replace(source, format="jsonl", names=names, encoding="utf-8")
    schema: Any = None
    if suffix == ".parquet":
        import pyarrow

        kinds = {str: pyarrow.string(), int: pyarrow.int64()}
        schema = pyarrow.schema([(name, kinds[kind]) for name, kind in columns.items()])
    elif suffix == ".xlsx":
        schema = SheetRow(names, title="values")
    mark = codecs.BOM_UTF8 if source.above.startswith(codecs.BOM_UTF8) else b""
    head = _encode_row(names, source.delimiter) + b"\r" * source.head.endswith(b"\r")
    return replace(source, above=mark, head=head, names=names, schema=schema)


def make_records(table: SourceTable, rows: Sequence[Sequence[Any]], path: Path) -> Sequence[Any]:
    """Make records of a table that `describe_table` describes, as they are written to a file."""
    suffix, names = suffix_of(path), table.names or ()
    if suffix in JSON_LINES:
        return [
            encode_object({name: plain(cell) for name, cell in zip(names, row, strict=True)})
            for row in rows
        ]
    flat = [[_flatten(cell) for cell in row] for row in rows]
    if suffix == ".xlsx":
        return [*map(SheetRow, flat)]
    if suffix == ".parquet":
        import pyarrow

        cells = zip(*flat, strict=True) if flat else [[] for _ in names]
        kinds = table.schema.types
        arrays = [
            pyarrow.array([str(plain(c)) if kind == pyarrow.string() else c for c in column], kind)
            for column, kind in zip(cells, kinds, strict=True)
        ]
        return BatchRows(pyarrow.RecordBatch.from_arrays(arrays, schema=table.schema))
    end = b"\r" * table.head.endswith(b"\r")
    return [_encode_row(row, table.delimiter) + end for row in flat]


def _flatten(value: Any) -> Any:
    """Make a cell of a value: lists and objects become their JSON."""
    if type(value) in (str, int):  # as most are
        return value
    is_nested = isinstance(plain(value), list | dict)
    return orjson.dumps(plain(value), default=str).decode() if is_nested else value
