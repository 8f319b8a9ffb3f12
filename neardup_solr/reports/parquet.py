"""Signatures, and the pairs of a whole collection, as Parquet tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from neardup_solr.errors import SourceError
from neardup_solr.files import whole
from neardup_solr.minhash.sign import Signed
from neardup_solr.records import Duplicate
from neardup_solr.settings import Settings

METADATA_KEY = "neardup_settings"
_ROWS = 100_000  # of a row group of pairs


def write_signatures(
    path: Path, batches: Iterable[tuple[list[str], Signed]], settings: Settings
) -> int:
    """Write ids with their signatures and bands to a Parquet file, completely or not at all.

    Columns: `id` (string), `words` (int64), `signature` (a fixed list of `hashes` uint32) and
    `bands` (a fixed list of `bands` uint64); both lists are null for a text without words. The
    settings' fingerprint is the metadata entry "neardup_settings". Returns the number of rows.

    Raises SourceError if pyarrow is missing or the file cannot be written.
    """
    check_parquet(path)
    return _write(
        path, _schema(settings), (_batch(ids, signed, settings) for ids, signed in batches)
    )


def write_duplicates(pairs: Sequence[Duplicate], path: Path) -> None:
    """Write the pairs of a whole collection to a Parquet file, completely or not at all.

    Columns: id, other_id (string), similarity (double), distance (int64, null if it was not
    measured), measure, cluster (string).

    Raises SourceError if pyarrow is missing or the file cannot be written.
    """
    check_parquet(path)
    import pyarrow as pa

    text = pa.string()
    schema = pa.schema(
        [
            ("id", text),
            ("other_id", text),
            ("similarity", pa.float64()),
            ("distance", pa.int64()),
            ("measure", text),
            ("cluster", text),
        ]
    )
    blocks = (pairs[at : at + _ROWS] for at in range(0, len(pairs), _ROWS))
    _write(
        path,
        schema,
        (
            pa.RecordBatch.from_arrays(
                [pa.array([_as(field.type, getattr(one, field.name)) for one in block], field.type)
                 for field in schema],
                schema=schema,
            )
            for block in blocks
        ),
    )  # fmt: skip


def _as(kind: Any, value: Any) -> Any:
    """A value of a pair; ids that are numbers become texts."""
    return str(value) if str(kind) == "string" else value


def write_table(table: Any, path: Path) -> None:
    """Write a table of Arrow to a Parquet file, completely or not at all.

    Raises SourceError if the file cannot be written.
    """
    _write(path, table.schema, table.to_batches(_ROWS))


def check_parquet(path: Path) -> None:
    """Refuse to write Parquet, by SourceError, if pyarrow is missing."""
    if find_spec("pyarrow") is None:
        raise SourceError(str(path), "Parquet needs pyarrow", 'pip install "neardup-solr[formats]"')


def _write(path: Path, schema: Any, batches: Iterable[Any]) -> int:
    import pyarrow.parquet as parquet

    rows = 0
    with whole(path) as unfinished, parquet.ParquetWriter(unfinished, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
            rows += batch.num_rows
    return rows


def _schema(settings: Settings) -> Any:
    import pyarrow as pa

    return pa.schema(
        [
            ("id", pa.string()),
            ("words", pa.int64()),
            ("signature", pa.list_(pa.uint32(), settings.hashes)),
            ("bands", pa.list_(pa.uint64(), settings.bands)),
        ],
        metadata={METADATA_KEY: settings.fingerprint},
    )


def _batch(ids: list[str], signed: Signed, settings: Settings) -> Any:
    import pyarrow as pa

    empty = pa.array(signed.words == 0)
    columns = [pa.array(ids, pa.string()), pa.array(signed.words)]
    for values, size in ((signed.signatures, settings.hashes), (signed.keys, settings.bands)):
        flat = pa.array(values.reshape(-1))
        columns.append(pa.FixedSizeListArray.from_arrays(flat, size, mask=empty))
    return pa.RecordBatch.from_arrays(columns, schema=_schema(settings))
