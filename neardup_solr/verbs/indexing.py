"""index: documents into a collection, with every field that finding near-duplicates needs."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from neardup_solr.edges import sources
from neardup_solr.edges.client import Refusal, Solr
from neardup_solr.edges.sources import Reading
from neardup_solr.pure import signature
from neardup_solr.pure.config import Settings
from neardup_solr.pure.errors import RecordError
from neardup_solr.pure.model import Document, Entry
from neardup_solr.verbs.settings import settle


@dataclass(frozen=True, slots=True, kw_only=True)
class Sending:
    """How documents travel: `threads` senders, batches closed by documents and by bytes."""

    threads: int = 2
    batch_documents: int = 1_000
    batch_bytes: int = 8 * 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far an indexing run is: records read, documents acknowledged, bytes of the source."""

    read: int
    sent: int
    bytes: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexSummary:
    """What an indexing run did: `read` = `indexed` + `repeated` + `failed`.

    `repeated` counts records whose id came again later in the source: the last one wins.
    `words` counts those of all records, `settings` are those that were used.
    """

    read: int
    indexed: int
    repeated: int
    failed: int
    words: int
    settings: Settings
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Watching:
    """Who is told what: of each record that fails, and of progress after each batch."""

    on_error: Callable[[RecordError], None] = field(default=lambda error: None)
    on_progress: Callable[[Progress], None] = field(default=lambda progress: None)


DEFAULT_SENDING = Sending()
DEFAULT_READING = Reading()
SILENT = Watching()


def index(
    source: str | Path | Iterable[Document],
    solr: Solr,
    *,
    settings: Settings | None = None,
    reading: Reading = DEFAULT_READING,
    sending: Sending = DEFAULT_SENDING,
    watching: Watching = SILENT,
) -> IndexSummary:
    """Index a source – a file, a folder, "-" for standard input, or documents – into Solr.

    Without `settings` those of the collection hold, or the defaults where it is empty.
    Documents whose id is there already are replaced, so running it again changes nothing but
    versions. A record that fails is reported to `watching.on_error` and counted; the rest goes on.

    Raises SourceError where the source cannot be read as a whole, SettingsError where the
    collection was indexed with other settings, SchemaError where it lacks fields, SolrError where
    Solr stops answering: documents sent before are then not yet durable, and the same call
    again is safe.
    """
    settings = settle(solr, settings)
    solr.require_fields(["id", *settings.fields])
    run = _Run(settings=settings, reading=reading, sending=sending, watching=watching)
    for refused in _send(run.batches(source), solr, sending.threads):
        run.acknowledge(refused)
    solr.commit()
    return run.summary()


@dataclass(slots=True, kw_only=True)
class _Batch:
    """Documents to send at once; `alone` where an earlier batch may hold one of their ids."""

    documents: dict[str, dict[str, Any]] = field(default_factory=dict)
    bytes: int = 0
    alone: bool = False


@dataclass(slots=True, kw_only=True)
class _Run:
    """The counts of one indexing run, and the batches that it makes of its source."""

    settings: Settings
    reading: Reading
    sending: Sending
    watching: Watching
    started: float = field(default_factory=time.monotonic)
    read: int = 0
    sent: int = 0
    repeated: int = 0
    failed: int = 0
    words: int = 0
    bytes: int = 0
    seen: set[str] = field(default_factory=set)

    def batches(self, source: str | Path | Iterable[Document]) -> Iterator[_Batch]:
        batch = _Batch()
        for document in self._documents(source):
            self.read += 1
            try:
                entry = signature.entry(document, self.settings)
            except RecordError as error:
                self._fail(error)
                continue
            self._put(batch, entry)
            if self._full(batch):
                yield batch
                batch = _Batch()
        if batch.documents:
            yield batch

    def acknowledge(self, answered: tuple[_Batch, tuple[Refusal, ...]]) -> None:
        batch, refused = answered
        self.sent += len(batch.documents) - len(refused)
        for refusal in refused:
            self._fail(RecordError("Solr refused", refusal.reason, refusal.id))
        self.watching.on_progress(
            Progress(read=self.read, sent=self.sent, bytes=self.bytes, seconds=self._seconds())
        )

    def summary(self) -> IndexSummary:
        return IndexSummary(
            read=self.read,
            indexed=self.read - self.repeated - self.failed,
            repeated=self.repeated,
            failed=self.failed,
            words=self.words,
            settings=self.settings,
            seconds=self._seconds(),
        )

    def _documents(self, source: str | Path | Iterable[Document]) -> Iterable[Document]:
        if not isinstance(source, str | Path):
            return source
        return sources.read(
            source, reading=self.reading, on_error=self._unreadable, on_progress=self._consumed
        )

    def _unreadable(self, error: RecordError) -> None:
        self.read += 1
        self._fail(error)

    def _consumed(self, count: int) -> None:
        self.bytes = count

    def _fail(self, error: RecordError) -> None:
        self.failed += 1
        self.watching.on_error(error)

    def _put(self, batch: _Batch, entry: Entry) -> None:
        if entry.id in self.seen:
            self.repeated += 1
            batch.alone = batch.alone or entry.id not in batch.documents
        self.seen.add(entry.id)
        self.words += entry.num_words
        batch.documents[entry.id] = solr_document(entry, self.settings)
        batch.bytes += len(entry.content)

    def _full(self, batch: _Batch) -> bool:
        return (
            len(batch.documents) >= self.sending.batch_documents
            or batch.bytes >= self.sending.batch_bytes
        )

    def _seconds(self) -> float:
        return time.monotonic() - self.started


def solr_document(entry: Entry, settings: Settings) -> dict[str, Any]:
    """The fields of an entry as they are indexed: those that the settings name, and kept ones."""
    fields = {
        "content": entry.content,
        "md5_hash": entry.md5_hash,
        "num_words": entry.num_words,
        "first_word": entry.first_word,
        "content_ng": entry.shingles,
        "content_sg": entry.signatures,
        "content_bands": entry.bands,
        "signature": entry.signature,
    }
    chosen = {name: value for name, value in fields.items() if name in settings.fields}
    fixed = {"id": entry.id, "signature_settings": settings.fingerprint}
    return {**entry.kept, **chosen, **fixed}


def _send(
    batches: Iterable[_Batch], solr: Solr, threads: int
) -> Iterator[tuple[_Batch, tuple[Refusal, ...]]]:
    """Send batches by several threads; answers come in order, few batches wait at a time.

    A batch that repeats an id waits for those before it: the last record of an id has to win.
    """
    waiting: deque[tuple[_Batch, Future[tuple[Refusal, ...]]]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        for batch in batches:
            while waiting and (batch.alone or len(waiting) > threads):
                yield _answered(waiting)
            waiting.append((batch, pool.submit(solr.add, list(batch.documents.values()))))
            if batch.alone:
                yield _answered(waiting)
        while waiting:
            yield _answered(waiting)


def _answered(
    waiting: deque[tuple[_Batch, Future[tuple[Refusal, ...]]]],
) -> tuple[_Batch, tuple[Refusal, ...]]:
    batch, answer = waiting.popleft()
    return batch, answer.result()
