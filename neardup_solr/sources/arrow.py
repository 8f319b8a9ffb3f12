"""Tables of Arrow and Parquet files, batch by batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import numpy as np

from neardup_solr.errors import RecordError
from neardup_solr.progress import map_in_order
from neardup_solr.sources.column import Columns, Objects, choose_id, find_columns
from neardup_solr.sources.document import first_line, from_columns, from_row
from neardup_solr.sources.part import Piece, SourcePart, SourceTable
from neardup_solr.sources.source import file_size
from neardup_solr.sources.values import too_large
from neardup_solr.text.packed import Packed

TOO_LARGE: Final = object()
ROWS_AT_ONCE: Final = 256
# Raised for texts that are not UTF-8, zones that are unknown, and times that Python does not have.
NOT_IN_PYTHON: Final = (ValueError, LookupError, ArithmeticError)
MOST_ROWS: Final = 2_048  # of a file, if they are small
FEWEST_ROWS: Final = 16
BYTES_AT_ONCE: Final = 2**24
SMALL_GROUP: Final = 2**26  # bytes of a row group that is read as a whole


def read_arrow(part: SourcePart, batches: Any) -> Iterator[Piece]:
    """Read the rows of a RecordBatchReader."""
    names = batches.schema.names
    example = partial(like_rows, batches.schema)
    places, columns = find_columns(part, names, part.reading, example).needed()
    # Few at a time: their values become Python objects, which take memory.
    small = (
        batch.slice(first, ROWS_AT_ONCE)
        for batch in batches
        for first in range(0, batch.num_rows, ROWS_AT_ONCE)
    )
    return read_batches(part, small, places, columns)


def like_rows(schema: Any) -> Objects:
    """Make an object like the rows of a table, by the types of its columns and their fields."""
    from pyarrow import types

    def make(kind: Any) -> Any:
        if types.is_struct(kind):
            return {field.name: make(field.type) for field in kind}
        if types.is_map(kind):
            return None  # whose keys are not known
        return [make(kind.value_type)] if hasattr(kind, "value_type") else ""

    return [{field.name: make(field.type) for field in schema}]


def read_batches(
    part: SourcePart, batches: Iterable[Any], wanted: Sequence[Any], columns: Columns
) -> Iterator[Piece]:
    number, limit, where = 0, part.reading.room(), f"{part.name}, row "
    try:
        for batch in batches:
            if batch.nbytes <= limit:
                parts = [_values(batch.column(each)) for each in wanted]
                yield from from_columns(where, number + 1, parts, columns, part.reading)
                number += batch.num_rows
                continue
            bounded = (_values_within(batch.column(each), limit) for each in wanted)
            for row in zip(*bounded, strict=True):
                number += 1
                if TOO_LARGE in row:
                    id = columns.id_of(columns.spread(row))
                    id = id if isinstance(id, str) else None
                    yield RecordError(
                        f"{where}{number}", too_large(limit), id, code="record-too-large"
                    )
                else:
                    yield from_row(f"{where}{number}", row, columns, part.reading)
    except list_damage() as error:
        position = f"{part.name}, after row {number}"
        what = "the file is" if part.path else "the data is"
        yield RecordError(
            position, f"{what} damaged from here on ({first_line(error)})", code="file-damaged"
        )


def list_damage() -> tuple[type[Exception], ...]:
    """List the errors that pyarrow raises for damaged data."""
    import pyarrow

    return pyarrow.ArrowException, OSError


def _values(column: Any) -> Sequence[Any]:
    """Give the values of a column as Python has them. Texts are packed if none is missing."""
    try:
        if texts := _pack(column):
            return texts
        return list(column.to_pylist())
    except NOT_IN_PYTHON:  # each alone, so that only bad values stay bytes
        return [take_value(value) for value in column]


def _pack(column: Any) -> Packed | None:
    """Give the texts of a column where they are, or None if it has others, or none at all.

    Raises ValueError if they are not UTF-8.
    """
    import pyarrow

    is_large = pyarrow.types.is_large_string(column.type)
    if column.null_count or not (is_large or pyarrow.types.is_string(column.type)):
        return None
    column.validate(full=True)
    _, ends, content = column.buffers()
    if content is None:
        return None
    bounds = np.frombuffer(ends, np.int64 if is_large else np.int32)
    bounds = bounds[column.offset : column.offset + len(column) + 1]
    return Packed(np.frombuffer(content, np.uint8), bounds.astype(np.uint64))


def _values_within(column: Any, limit: int) -> Sequence[Any]:
    """Take the values of a column, with TOO_LARGE in place of a text over the limit."""
    import pyarrow
    import pyarrow.compute

    try:
        sizes = pyarrow.compute.binary_length(column).to_pylist()
    except pyarrow.ArrowNotImplementedError:  # not a column of texts
        return _values(column)
    return [
        TOO_LARGE if size is not None and size > limit else take_value(column[at])
        for at, size in enumerate(sizes)
    ]


def take_value(value: Any) -> Any:
    """Give a value as Python has it. Only parts that are not UTF-8 stay bytes, odd times texts."""
    import pyarrow

    with suppress(*NOT_IN_PYTHON):
        return value.as_py()
    if isinstance(value, pyarrow.StructScalar):
        return {name: take_value(part) for name, part in value.items()}
    if isinstance(value, pyarrow.ListScalar):
        return [take_value(part) for part in value.values]
    if isinstance(value, pyarrow.DictionaryScalar | pyarrow.ExtensionScalar):
        return take_value(value.value)
    if hasattr(value, "as_buffer"):
        return value.as_buffer().to_pybytes()
    has_zone = pyarrow.types.is_timestamp(value.type) and value.type.tz
    kind = pyarrow.timestamp(value.type.unit, "UTC") if has_zone else value.type
    return pyarrow.scalar(value.value, kind).cast(pyarrow.string()).as_py()


def open_parquet(part: SourcePart) -> SourceTable:
    """Open a Parquet file, which is streamed."""
    file = _open_file(part)
    names = file.schema_arrow.names
    reading = choose_id(part, names, part.reading)

    return SourceTable(
        format="parquet", reading=reading,
        contents=ParquetRows(replace(part, reading=reading), file),
        names=names, schema=file.schema_arrow,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class BatchRows(Sequence[tuple[Any, int]]):
    """The rows of a batch as they are written, without an object each. A slice is one of these."""

    batch: Any

    def __len__(self) -> int:
        return int(self.batch.num_rows)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            first, last, _ = at.indices(len(self))
            return BatchRows(self.batch.slice(first, last - first))
        if at >= len(self):  # where an iteration ends
            raise IndexError(at)
        return self.batch, at


@dataclass(frozen=True, slots=True)
class ParquetRows:
    """The rows of a Parquet file of pyarrow. As it is written, one is a batch and its place."""

    part: SourcePart
    file: Any

    def documents(self) -> Iterator[Piece]:
        """Make documents of the columns that are needed."""
        part, file, schema = self.part, self.file, self.file.schema_arrow
        example = partial(like_rows, schema)
        places, columns = find_columns(part, schema.names, part.reading, example).needed()
        wanted = [schema.names[place] for place in places]
        batches = _tell_progress(part, file, _batches(part, file, wanted))
        yield from read_batches(part, batches, wanted, columns)

    def records(self) -> Iterator[tuple[int, Any]]:
        """Yield the rows with all columns, None where the file is damaged."""
        number = 0
        try:
            for batch in _batches(self.part, self.file):
                for at in range(batch.num_rows):
                    number += 1
                    yield number, (batch, at)
        except list_damage():
            yield number + 1, None

    def record_lists(self) -> Iterator[Sequence[tuple[Any, int] | None]]:
        """Read the rows of a batch at a time."""
        try:
            yield from map(BatchRows, _batches(self.part, self.file))
        except list_damage():
            yield [None]

    def parse(self, record: tuple[Any, int]) -> list[Any]:
        """Take the values of a row."""
        batch, at = record
        return [take_value(column[at]) for column in batch.columns]


def _rows_at_once(metadata: Any) -> int:
    """Choose the number of rows of a file that are read at once: fewer if they are large.

    Of single rows pyarrow would hold each twice.
    """
    groups = (metadata.row_group(at) for at in range(metadata.num_row_groups))
    largest = max((each.total_byte_size // max(1, each.num_rows) for each in groups), default=0)
    return max(FEWEST_ROWS, min(MOST_ROWS, BYTES_AT_ONCE // max(1, largest)))


def _batches(
    part: SourcePart, file: Any, columns: Sequence[str] | None = None
) -> Iterator[Any]:  # fmt: skip
    """Read the rows of a file in batches, row group by row group.

    Small row groups are read by all cores, each as a whole.
    """
    from pyarrow.parquet import ParquetFile

    rows = _rows_at_once(file.metadata)
    groups = range(file.metadata.num_row_groups)

    def read(group: int) -> list[Any] | None:
        """Read a row group as a whole, None if it is damaged."""
        with (
            suppress(*list_damage()),
            ParquetFile(part.path, metadata=file.metadata, pre_buffer=False) as opened,
        ):
            return list(_stream(opened, group, columns, rows, use_threads=False))
        return None

    if max(_list_sizes(file, columns), default=0) > SMALL_GROUP:
        for group in groups:
            yield from _read_group(file, group, columns, rows)
        return
    for group, batches in map_in_order(read, groups, few=1, ahead=1):
        yield from _read_group(file, group, columns, rows) if batches is None else batches


def _stream(
    file: Any, group: int, columns: Sequence[str] | None, rows: int, *, use_threads: bool
) -> Iterator[Any]:
    batches: Iterator[Any] = file.iter_batches(
        batch_size=rows, row_groups=[group], columns=columns, use_threads=use_threads
    )
    return batches


def _read_group(file: Any, group: int, columns: Sequence[str] | None, most: int) -> Iterator[Any]:
    """Read a row group in batches.

    Many rows at once are read sooner. If it is damaged, few at once give all that is whole, before
    the error is raised.
    """
    count = 0
    for rows in (most, min(most, ROWS_AT_ONCE)):
        seen = 0
        try:
            for batch in _stream(file, group, columns, rows, use_threads=True):
                seen += batch.num_rows
                if seen > count:
                    yield batch.slice(batch.num_rows - (seen - count))
                    count = seen
            return
        except list_damage() as error:
            damage = error
    raise damage


def _list_sizes(file: Any, columns: Sequence[str] | None) -> Iterator[int]:
    """List the bytes of row groups in some columns, or in all."""
    begins = tuple(f"{name}." for name in columns or ())
    for number in range(file.metadata.num_row_groups):
        group = file.metadata.row_group(number)
        parts = map(group.column, range(group.num_columns))
        yield sum(
            each.total_uncompressed_size
            for each in parts
            if columns is None or f"{each.path_in_schema}.".startswith(begins)
        )


def _open_file(part: SourcePart) -> Any:
    assert part.path is not None  # as formats see to
    pyarrow = part.require("Parquet", "pyarrow")
    from pyarrow.parquet import ParquetFile

    try:
        # Buffered: pages are read as they come, rather than row groups as a whole.
        return ParquetFile(part.path, buffer_size=2**20, pre_buffer=False)
    except pyarrow.ArrowNotImplementedError as error:
        reason = f"has a type that pyarrow cannot read ({first_line(error)})"
        step = "write that column as a different type"
        raise part.error(reason, step, code="format-unfit") from error
    except (pyarrow.ArrowException, OSError) as error:
        reason = f"is not a complete Parquet file ({first_line(error)})"
        is_named = part.reading.source_format is not None
        step = f"check the file, or {'leave' if is_named else 'set'} `source_format`"
        step = f"{step} out" if is_named else step
        raise part.error(reason, step, code="file-damaged") from error


def _tell_progress(part: SourcePart, file: Any, batches: Iterable[Any]) -> Iterator[Any]:
    """Pass the batches of a file on, and tell how far it is read after each."""
    done = 0
    for batch in batches:
        yield batch
        done += batch.num_rows
        if part.on_progress and part.path:
            part.on_progress(file_size(part.path) * done // file.metadata.num_rows)
