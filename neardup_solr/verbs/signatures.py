"""signatures: the signatures and bands of a source as a Parquet table, without any Solr."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neardup_solr import sources
from neardup_solr.argument_types import OneOrMore
from neardup_solr.cores import count_cores
from neardup_solr.errors import RecordError
from neardup_solr.files import PathError, check_apart
from neardup_solr.minhash import sign
from neardup_solr.progress import (
    Failures,
    OnError,
    OnProgress,
    SourceProgress,
    ignore,
    prefetch,
    thread_pool,
)
from neardup_solr.records import check_documents
from neardup_solr.reports import require_library
from neardup_solr.reports.parquet_files import write_parquet
from neardup_solr.settings import Settings
from neardup_solr.settings_by_name import settings_of
from neardup_solr.sources import SourceLike, reading_of
from neardup_solr.verbs.document_batches import DocumentBatch, cut_runs, make_batches

ROWS = 20_000  # of a row group
AT_ONCE = 2  # row groups that are signed at the same time
METADATA_KEY = "neardup_settings"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignaturesSummary:
    """Counts of a `signatures` run.

    `read`: records read; `written`: records written; `failed`: records that could not be used;
    `errors`: their first 1,000 errors.
    """

    read: int
    written: int
    failed: int
    errors: tuple[RecordError, ...] = ()


def write_signatures(
    source: SourceLike,
    output: str | Path,
    *,
    id: str | None,
    text: OneOrMore,
    settings: Settings | Mapping[str, Any] | None,
    on_error: OnError | None,
    on_progress: OnProgress | None,
) -> SignaturesSummary:
    """Write the signatures of a source to a Parquet file."""
    output = Path(output)
    if output.suffix.lower() != ".parquet":
        reason = "signatures can only be written to a .parquet file"
        step = f"name it {output.stem}.parquet"
        raise PathError(str(output), reason, step, code="format-unknown")
    source, reading = reading_of(source, "number", id=id, text=text)
    check_apart({"`output`": output}, source=source)
    require_library(output, "Parquet", "pyarrow")
    used, failures = settings_of(settings), Failures(on_error)
    progress = sources.make_progress("signing", source, on_progress or ignore)
    opened = sources.open_source(source, reading, on_progress=progress.count_bytes)
    pieces = cut_runs(check_documents(opened.pieces()), ROWS)
    batches = make_batches(pieces, failures, most=ROWS, most_text=math.inf)
    written = write_parquet(output, _schema(used), _sign(batches, used, progress))
    failures.warn()
    failed, errors = failures.count, tuple(failures.first)
    return SignaturesSummary(read=written + failed, written=written, failed=failed, errors=errors)


def _sign(
    batches: Iterable[DocumentBatch], settings: Settings, progress: SourceProgress
) -> Iterator[Any]:
    """Yield batches of Arrow with what is made of the texts, each a row group."""
    threads, done = count_cores(), 0
    at_once = min(AT_ONCE, threads)

    def sign_batch(batch: DocumentBatch) -> Any:
        return _make_columns(batch, settings, -(-threads // at_once))

    with thread_pool(at_once) as pool:
        for signed in prefetch(pool, sign_batch, batches, at_once=at_once):
            yield signed
            done += signed.num_rows
            progress.report(done, done)


def _make_columns(batch: DocumentBatch, settings: Settings, threads: int) -> Any:
    import pyarrow as pa

    signed = sign.sign_parts(batch.texts, settings, threads=threads)
    empty = pa.array(signed.words == 0)
    ids = pa.array([id for part in batch.ids for id in part], pa.string())
    columns = [ids, pa.array(signed.words)]
    for values, size in ((signed.signatures, settings.hashes), (signed.keys, settings.bands)):
        flat = pa.array(values.reshape(-1))
        columns.append(pa.FixedSizeListArray.from_arrays(flat, size, mask=empty))
    return pa.RecordBatch.from_arrays(columns, schema=_schema(settings))


def _schema(settings: Settings) -> Any:
    import pyarrow as pa

    columns = {
        "id": pa.string(),
        "words": pa.int64(),
        "signature": pa.list_(pa.uint32(), settings.hashes),
        "bands": pa.list_(pa.uint64(), settings.bands),
    }
    return pa.schema(columns, metadata={METADATA_KEY: settings.fingerprint})
