"""Parquet files, batch by batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from neardup_solr.sources.arrow import (
    ROWS_AT_ONCE,
    like_rows,
    list_damage,
    read_batches,
    take_value,
)
from neardup_solr.sources.folders import file_size
from neardup_solr.sources.header import choose_id, find_columns
from neardup_solr.sources.part import SourcePart
from neardup_solr.sources.record_errors import first_line
from neardup_solr.sources.table import Piece, SourceTable

MOST_ROWS: Final = 2_048  # of a file, if they are small
FEWEST_ROWS: Final = 16
BYTES_AT_ONCE: Final = 2**24


def open_parquet(part: SourcePart) -> SourceTable:
    """Open a Parquet file, which is streamed."""
    file = _open_file(part)
    names = file.schema_arrow.names
    reading = choose_id(part, names, part.reading)

    def documents() -> Iterator[Piece]:
        example = partial(like_rows, file.schema_arrow)
        places, columns = find_columns(part, names, reading, example).needed()
        wanted = [names[place] for place in places]
        batches = _tell_progress(part, file, _batches(file, wanted))
        yield from read_batches(replace(part, reading=reading), batches, wanted, columns)

    def records() -> Iterator[tuple[int, Any]]:
        number = 0
        try:
            for batch in _batches(file):
                for at in range(batch.num_rows):
                    number += 1
                    yield number, (batch, at)
        except list_damage():
            yield number + 1, None

    return SourceTable(
        format="parquet", reading=reading, documents=documents, records=records(),
        parse=lambda record: [take_value(column[record[1]]) for column in record[0].columns],
        names=names, schema=file.schema_arrow,
    )  # fmt: skip


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
        except list_damage() as error:
            damage = error
    raise damage


def _open_file(part: SourcePart) -> Any:
    if part.path is None:
        raise part.error("Parquet cannot be read from standard input", "give a file name")
    pyarrow = part.require("Parquet", "pyarrow")
    from pyarrow.parquet import ParquetFile

    try:
        # Buffered: pages are read as they come, rather than row groups as a whole.
        return ParquetFile(part.path, buffer_size=2**20, pre_buffer=False)
    except pyarrow.ArrowNotImplementedError as error:
        reason = f"has a type that pyarrow cannot read ({first_line(error)})"
        raise part.error(reason, "write that column as a different type") from error
    except (pyarrow.ArrowException, OSError) as error:
        reason = f"is not a complete Parquet file ({first_line(error)})"
        raise part.error(reason, "check the file, or set `source_format`") from error


def _tell_progress(part: SourcePart, file: Any, batches: Iterable[Any]) -> Iterator[Any]:
    """Pass the batches of a file on, and tell how far it is read after each."""
    done = 0
    for batch in batches:
        yield batch
        done += batch.num_rows
        if part.on_progress and part.path:
            part.on_progress(file_size(part.path) * done // file.metadata.num_rows)
