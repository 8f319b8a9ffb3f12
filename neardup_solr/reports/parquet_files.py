"""Parquet files, written completely or not at all: batches, and copies of a source's rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from neardup_solr.errors import SourceError
from neardup_solr.files import atomic_output
from neardup_solr.reports import Add, Added, Beside
from neardup_solr.sources.arrow import BatchRows
from neardup_solr.sources.part import SourceTable

AT_ONCE: Final = 8_192  # rows of Parquet that are held


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
            step = "choose a .jsonl file"
            raise SourceError(str(path), reason, step, code="format-unfit") from error


@contextmanager
def open_parquet(path: Path, unfinished: Path, source: SourceTable, added: Beside) -> Iterator[Add]:
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    nulls = [pyarrow.nulls(1, field.type) for field in source.schema]
    none = pyarrow.RecordBatch.from_arrays(nulls, schema=source.schema)
    kinds = {str: pyarrow.string(), float: pyarrow.float64(), int: pyarrow.int64()}
    beside = pyarrow.schema([(name, kinds[kind]) for name, kind in added.items()])
    schema = pyarrow.schema([*source.schema, *beside], source.schema.metadata)
    # Slices of rows that follow each other: not every type can be taken row by row.
    held, extras, rows = list[Any](), list[Added](), 0

    def write() -> None:
        nonlocal rows
        arrays = pyarrow.Table.from_batches(held, source.schema).combine_chunks().columns
        for name, kind in zip(beside.names, beside.types, strict=True):
            arrays.append(pyarrow.array([extra[name] for extra in extras], kind))
        writer.write_table(pyarrow.Table.from_arrays(arrays, schema=schema))
        held.clear()
        extras.clear()
        rows = 0

    with ParquetWriter(unfinished, schema) as writer:

        def add(copied: Sequence[Any], extra: Added) -> None:
            nonlocal rows
            batches = [copied.batch] if isinstance(copied, BatchRows) else map(take_row, copied)
            for batch in batches:
                left = batch
                while left.num_rows:
                    part = left.slice(0, AT_ONCE - rows)
                    left = left.slice(part.num_rows)
                    held.append(part)
                    extras.extend([extra] * part.num_rows)
                    rows += part.num_rows
                    if rows == AT_ONCE:
                        write()

        def take_row(record: Any) -> Any:
            batch, at = (none, 0) if record is None else record
            return batch.slice(at, 1)

        try:
            yield add
            if held:
                write()
        except pyarrow.ArrowException as error:
            reason = f"cannot store a value from the source ({error})"
            step = "choose a .jsonl file"
            raise SourceError(str(path), reason, step, code="format-unfit") from error
