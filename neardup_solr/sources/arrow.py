"""Parquet files and tables of Arrow, batch by batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from neardup_solr.errors import RecordError
from neardup_solr.sources.folders import size
from neardup_solr.sources.lines import NEEDS_FORMATS
from neardup_solr.sources.record import (
    Columns,
    Opened,
    Piece,
    SourceTable,
    choose_id,
    find_columns,
    from_columns,
    from_row,
    too_large,
)
from neardup_solr.text.shingles import Packed

TOO_LARGE: Final = object()
ROWS_AT_ONCE: Final = 256
MOST_ROWS: Final = 2_048  # of a file, if they are small
FEWEST_ROWS: Final = 16
BYTES_AT_ONCE: Final = 2**24


def open_parquet(source: Opened) -> SourceTable:
    """Open a Parquet file, which is streamed."""
    file = _open(source)
    names = file.schema_arrow.names
    reading = choose_id(source, names, source.reading)

    def documents() -> Iterator[Piece]:
        places, columns = find_columns(source, names, reading).needed()
        wanted = [names[place] for place in places]
        batches = _tell_progress(source, file, _batches(file, wanted))
        yield from _documents(replace(source, reading=reading), batches, wanted, columns)

    def records() -> Iterator[tuple[int, Any]]:
        number = 0
        try:
            for batch in _batches(file):
                for at in range(batch.num_rows):
                    number += 1
                    yield number, (batch, at)
        except _damage():
            yield number + 1, None

    return SourceTable(
        format="parquet",
        reading=reading,
        documents=documents,
        records=records(),
        parse=lambda record: [_value(column[record[1]]) for column in record[0].columns],
        names=names,
        schema=file.schema_arrow,
    )


def _rows_at_once(metadata: Any) -> int:
    """Choose the number of rows of a file that are read at once: fewer if they are large.

    Of single rows pyarrow would hold each twice.
    """
    groups = (metadata.row_group(at) for at in range(metadata.num_row_groups))
    largest = max((each.total_byte_size // max(1, each.num_rows) for each in groups), default=0)
    return max(FEWEST_ROWS, min(MOST_ROWS, BYTES_AT_ONCE // max(1, largest)))


def _batches(file: Any, columns: Sequence[str] | None = None) -> Iterator[Any]:
    """Read the rows of a file in batches.

    Many rows at once are read sooner. If the file is damaged, few at once give all that is whole,
    before the error is raised.
    """
    count, most = 0, _rows_at_once(file.metadata)
    for at_once in (most, min(most, ROWS_AT_ONCE)):
        seen = 0
        try:
            for batch in file.iter_batches(batch_size=at_once, columns=columns):
                seen += batch.num_rows
                if seen > count:
                    yield batch.slice(batch.num_rows - (seen - count))
                    count = seen
            return
        except _damage() as error:
            damage = error
    raise damage


def _open(source: Opened) -> Any:
    if source.path is None:
        raise source.error("Parquet cannot be read from standard input", "give the file's name")
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise source.error("Parquet needs the library pyarrow", NEEDS_FORMATS) from error
    try:
        # Buffered: pages are read as they come, rather than row groups as a whole.
        return pyarrow.parquet.ParquetFile(source.path, buffer_size=2**20, pre_buffer=False)
    except (pyarrow.ArrowException, OSError) as error:
        raise source.error(
            f"is not a whole Parquet file ({first_line(error)})",
            "check it, or give `source_format`",
        ) from error


def read_arrow(source: Opened, batches: Any) -> Iterator[Piece]:
    """Read the rows of a RecordBatchReader."""
    names = batches.schema.names
    places, columns = find_columns(source, names, source.reading).needed()
    # Few at a time: their values become Python objects, which take memory.
    small = (
        batch.slice(first, ROWS_AT_ONCE)
        for batch in batches
        for first in range(0, batch.num_rows, ROWS_AT_ONCE)
    )
    return _documents(source, small, places, columns)


def _documents(
    source: Opened, batches: Iterable[Any], wanted: Sequence[Any], columns: Columns
) -> Iterator[Piece]:
    number, limit, where = 0, source.reading.max_doc_bytes, f"{source.name}, row "
    try:
        for batch in batches:
            if batch.nbytes <= limit:
                parts = [_values(batch.column(each)) for each in wanted]
                yield from from_columns(where, number + 1, parts, columns, source.reading)
                number += batch.num_rows
                continue
            bounded = (_values_within(batch.column(each), limit) for each in wanted)
            for row in zip(*bounded, strict=True):
                number += 1
                if TOO_LARGE in row:
                    id = columns.id_of(row) if isinstance(columns.id_of(row), str) else None
                    yield RecordError(f"{where}{number}", too_large(limit), id)
                else:
                    yield from_row(f"{where}{number}", row, columns, source.reading)
    except _damage() as error:
        position = f"{source.name}, after row {number}"
        what = "the file is" if source.path else "the data is"
        yield RecordError(position, f"{what} damaged from here on ({first_line(error)})")


def _damage() -> tuple[type[Exception], ...]:
    """List the errors that pyarrow raises for damaged data."""
    import pyarrow

    return pyarrow.ArrowException, OSError


def first_line(error: Exception) -> str:
    """Take the first line of an error. Those of Arrow go on with places in its code."""
    return str(error).partition("\n")[0]


def _tell_progress(source: Opened, file: Any, batches: Iterable[Any]) -> Iterator[Any]:
    """Pass the batches of a file on, and tell how far it is read after each."""
    done = 0
    for batch in batches:
        yield batch
        done += batch.num_rows
        if source.on_progress and source.path:
            source.on_progress(size(source.path) * done // file.metadata.num_rows)


def _values(column: Any) -> Sequence[Any]:
    """Give the values of a column as Python has them. Texts are packed if none is missing."""
    try:
        if texts := _pack(column):
            return texts
        return list(column.to_pylist())
    except (UnicodeDecodeError, ValueError):  # each alone, so that only bad values stay bytes
        return [_value(value) for value in column]


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
        TOO_LARGE if size is not None and size > limit else _value(column[at])
        for at, size in enumerate(sizes)
    ]


def _value(value: Any) -> Any:
    try:
        return value.as_py()
    except UnicodeDecodeError:
        return value.as_buffer().to_pybytes()
    except ValueError:  # a time finer than microseconds, which Python does not have
        return str(value)
