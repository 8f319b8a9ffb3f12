"""index: documents into a collection, with every field that finding near-duplicates needs."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from neardup_solr import sources
from neardup_solr.errors import RecordError, SettingsError
from neardup_solr.minhash import encode, entries
from neardup_solr.progress import SILENT, Progress, Watching
from neardup_solr.records import Document
from neardup_solr.settings import Settings
from neardup_solr.solr.answers import Refusal
from neardup_solr.solr.collection import Collection
from neardup_solr.sources import Reading


@dataclass(frozen=True, slots=True, kw_only=True)
class Sending:
    """How documents travel: `threads` senders, batches closed by documents and by characters.

    Raises SettingsError where one of them is not 1 or more.
    """

    threads: int = 2
    batch_documents: int = 1_000
    batch_characters: int = 4 * 2**20

    def __post_init__(self) -> None:
        if min(self.threads, self.batch_documents, self.batch_characters) < 1:
            raise SettingsError("nothing can be sent by halves", "give 1 or more of each")


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


# While a batch is encoded, a sender whose answer has come gets the interpreter this soon; at
# Python's own 5 ms Solr would wait for us several times a batch.
HANDOVER_SECONDS = 0.0005
DEFAULT_SENDING = Sending()
DEFAULT_READING = Reading()


def index(
    source: str | Path | Iterable[Document],
    collection: Collection,
    *,
    settings: Settings | Mapping[str, Any] | None = None,
    reading: Reading = DEFAULT_READING,
    sending: Sending = DEFAULT_SENDING,
    watching: Watching = SILENT,
) -> IndexSummary:
    """Index a source – a file, a folder, "-" for standard input, or documents – into Solr.

    Without `settings` those of the collection hold, or the defaults where it is empty; a mapping
    gives some of them by name. Documents whose id is there already are replaced, so running it
    again changes nothing but versions. A record that fails is reported to `watching.on_error` and
    counted; the rest goes on.

    Raises SourceError where the source cannot be read as a whole, SettingsError where the
    collection was indexed with other settings, SchemaError where it lacks fields, SolrError where
    Solr stops answering: documents sent before are then not yet durable, and the same call
    again is safe.
    """
    run = _Run(reading=reading, sending=sending, watching=watching)
    batches = run.batches(source)
    settled = collection.settled(settings)
    collection.require_fields(["id", *settled.fields])
    for delivered in _deliver(batches, collection, settled, sending.threads):
        run.acknowledge(delivered)
    collection.commit()
    return run.summary(settled)


@dataclass(slots=True, kw_only=True)
class _Batch:
    """Documents to send at once; `alone` where an earlier batch may hold one of their ids."""

    documents: dict[str, Document] = field(default_factory=dict)
    characters: int = 0
    alone: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Delivered:
    """What became of a batch: how many documents were sent, their words, and what was refused."""

    documents: int
    words: int
    refused: tuple[Refusal, ...]


@dataclass(slots=True, kw_only=True)
class _Run:
    """The counts of one indexing run, and the batches that it makes of its source."""

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
    size: int | None = None
    seen: set[str] = field(default_factory=set)

    def batches(self, source: str | Path | Iterable[Document]) -> Iterator[_Batch]:
        """The usable documents in batches; raises SourceError at once where there are none."""
        return self._batches(self._documents(source))

    def _batches(self, documents: Iterable[Document]) -> Iterator[_Batch]:
        batch = _Batch()
        for document in entries.usable(documents, self._unusable):
            self.read += 1
            self._put(batch, document)
            if self._full(batch):
                yield batch
                batch = _Batch()
        if batch.documents:
            yield batch

    def acknowledge(self, delivered: _Delivered) -> None:
        """Count what became of a batch, and tell how far the run is."""
        self.sent += delivered.documents - len(delivered.refused)
        self.words += delivered.words
        for refusal in delivered.refused:
            self._fail(RecordError("Solr refused", refusal.reason, refusal.id))
        share = self.bytes / self.size if self.size else None
        self.watching.on_progress(Progress("indexing", self.sent, share=share))

    def summary(self, settings: Settings) -> IndexSummary:
        """The counts of the whole run."""
        return IndexSummary(
            read=self.read,
            indexed=self.read - self.repeated - self.failed,
            repeated=self.repeated,
            failed=self.failed,
            words=self.words,
            settings=settings,
            seconds=self._seconds(),
        )

    def _documents(self, source: str | Path | Iterable[Document]) -> Iterable[Document]:
        if not isinstance(source, str | Path):
            return source
        self.size = sources.size_hint(source)
        return sources.read(
            source, reading=self.reading, on_error=self._unusable, on_progress=self._consumed
        )

    def _unusable(self, error: RecordError) -> None:
        self.read += 1
        self._fail(error)

    def _consumed(self, count: int) -> None:
        self.bytes = count

    def _fail(self, error: RecordError) -> None:
        self.failed += 1
        self.watching.on_error(error)

    def _put(self, batch: _Batch, document: Document) -> None:
        if document.id in self.seen:
            self.repeated += 1
            batch.alone = batch.alone or document.id not in batch.documents
        self.seen.add(document.id)
        batch.documents[document.id] = document
        batch.characters += len(document.text)

    def _full(self, batch: _Batch) -> bool:
        return (
            len(batch.documents) >= self.sending.batch_documents
            or batch.characters >= self.sending.batch_characters
        )

    def _seconds(self) -> float:
        return time.monotonic() - self.started


def _deliver(
    batches: Iterable[_Batch], collection: Collection, settings: Settings, threads: int
) -> Iterator[_Delivered]:
    """Encode batches here and send them by several threads; answers come in order.

    The next batch is encoded while all threads wait for Solr, so that it never waits for us; few
    batches are held at a time. One that repeats an id waits for those before it: the last record
    of an id has to win.
    """
    waiting: deque[Future[_Delivered]] = deque()
    pool = ThreadPoolExecutor(threads)
    interval = sys.getswitchinterval()
    try:
        sys.setswitchinterval(HANDOVER_SECONDS)
        for batch in batches:
            made = encode.encoded(list(batch.documents.values()), settings)
            while waiting and (batch.alone or len(waiting) > threads):
                yield waiting.popleft().result()
            waiting.append(pool.submit(_sent, collection, made))
            if batch.alone:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        sys.setswitchinterval(interval)
        # After an error nothing waits for requests that may hang.
        pool.shutdown(wait=False, cancel_futures=True)


def _sent(collection: Collection, made: Sequence[tuple[bytes, int]]) -> _Delivered:
    refused = collection.add([json for json, _ in made])
    return _Delivered(documents=len(made), words=sum(w for _, w in made), refused=refused)
