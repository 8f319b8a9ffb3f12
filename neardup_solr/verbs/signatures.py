"""signatures: the signatures and bands of a source as a Parquet table, without any Solr."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from neardup_solr import sources
from neardup_solr.errors import RecordError, SourceError
from neardup_solr.files import check_apart
from neardup_solr.minhash import entries, sign
from neardup_solr.minhash.sign import Signed
from neardup_solr.records import Document
from neardup_solr.reports.parquet import write_signatures
from neardup_solr.settings import Settings
from neardup_solr.sources import Reading

ROWS = 20_000  # of a row group
DEFAULT_SETTINGS = Settings()
DEFAULT_READING = Reading()


@dataclass(frozen=True, slots=True, kw_only=True)
class SignaturesSummary:
    """What was written: `read` = `written` + `failed` records."""

    read: int
    written: int
    failed: int


def signatures(
    source: str | Path | Iterable[Document],
    output: str | Path,
    *,
    settings: Settings = DEFAULT_SETTINGS,
    reading: Reading = DEFAULT_READING,
    on_error: Callable[[RecordError], None] = lambda error: None,
) -> SignaturesSummary:
    """Write the signatures and bands of a source to a Parquet file; docs/sql.md shows its use.

    The columns are those of `reports.parquet.write_signatures`. Records that cannot be used go to
    `on_error`, and the rest is written.

    Raises SourceError if the source cannot be read as a whole, the file cannot be written, or both
    are one.
    """
    output = Path(output)
    if output.suffix.lower() != ".parquet":
        raise SourceError(str(output), "signatures are a Parquet file", "name it something.parquet")
    if isinstance(source, str | Path):
        check_apart({"the source": Path(source), "the output": output})
    run = _Run(on_error=on_error)
    documents = (
        sources.read(source, reading=reading, on_error=run.fail)
        if isinstance(source, str | Path)
        else source
    )
    written = write_signatures(output, run.batches(documents, settings), settings)
    return SignaturesSummary(read=written + run.failed, written=written, failed=run.failed)


@dataclass(slots=True, kw_only=True)
class _Run:
    """The failures of a run, and the batches that it makes of documents."""

    on_error: Callable[[RecordError], None]
    failed: int = field(default=0)

    def fail(self, error: RecordError) -> None:
        self.failed += 1
        self.on_error(error)

    def batches(
        self, documents: Iterable[Document], settings: Settings
    ) -> Iterator[tuple[list[str], Signed]]:
        usable = entries.usable(documents, self.fail)
        threads = os.cpu_count() or 1
        while batch := list(islice(usable, ROWS)):
            texts = [document.text for document in batch]
            ids = [document.id for document in batch]
            yield ids, sign.sign(texts, settings, threads=threads)
