"""Signatures as a Parquet table, for stores that speak SQL."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from neardup_solr.pure.config import Settings
from neardup_solr.pure.errors import SourceError
from neardup_solr.pure.signing import Signed

METADATA_KEY = "neardup_settings"


def write_signatures(
    path: Path, batches: Iterable[tuple[list[str], Signed]], settings: Settings
) -> int:
    """Write ids with their signatures and bands to a Parquet file, whole or not at all.

    Columns: `id` (string), `words` (int64), `signature` (a fixed list of `hashes` uint32) and
    `bands` (a fixed list of `bands` uint64); both lists are null for a text without words. The
    settings' fingerprint is the metadata entry "neardup_settings". Returns the number of rows.

    Raises SourceError where pyarrow is absent or the file cannot be written.
    """
    try:
        import pyarrow.parquet as parquet
    except ModuleNotFoundError:
        raise SourceError(
            str(path), "Parquet needs pyarrow", 'pip install "neardup-solr[formats]"'
        ) from None
    unfinished = path.with_name(f".{path.name}.unfinished")
    rows = 0
    try:
        with parquet.ParquetWriter(unfinished, _schema(settings)) as writer:
            for ids, signed in batches:
                writer.write_batch(_batch(ids, signed, settings))
                rows += len(ids)
        unfinished.replace(path)
    except OSError as error:
        reason = f"cannot be written ({error.strerror or error})"
        raise SourceError(str(path), reason, "choose another place with -o") from None
    finally:
        unfinished.unlink(missing_ok=True)
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
