"""index: documents into a collection, with every field that finding near-duplicates needs."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from neardup_solr import sources
from neardup_solr.arguments import OneOrMore, checked, listed, require_positive
from neardup_solr.errors import RecordError, SettingsError
from neardup_solr.minhash import encode, entries
from neardup_solr.progress import Failures, OnError, OnProgress, Progress, Watching
from neardup_solr.records import Document
from neardup_solr.settings import Settings
from neardup_solr.solr import update
from neardup_solr.solr.answers import Refusal
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.names import OWN
from neardup_solr.sources import Reading, Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Sending:
    """How documents are sent: by `threads` threads, in batches of limited size.

    Raises ArgumentError if a number is not 1 or more.
    """

    threads: int = 2
    batch_documents: int = 1_000
    batch_characters: int = 4 * 2**20

    def __post_init__(self) -> None:
        require_positive(threads=self.threads, batch=self.batch_documents)


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexSummary:
    """What an indexing run did: `read` = `indexed` + `repeated` + `failed`.

    `repeated` counts records whose id came again later in the source: the last one wins. `errors`
    says why the first 1,000 of the failed ones failed. `collection` is the name of the collection,
    and `documents` counts what is in it now. `words` counts the words of all records; `settings`
    are those that were used.
    """

    collection: str
    documents: int
    read: int
    indexed: int
    repeated: int
    failed: int
    errors: tuple[RecordError, ...]
    words: int
    settings: Settings
    seconds: float


# How soon a thread whose answer has come gets the interpreter while a batch is encoded; with
# Python's own 5 ms, Solr would wait for us several times a batch.
HANDOVER_SECONDS = 0.0005
LOOKED_AT = 100  # documents whose columns stand for those of the collection


@checked
def index(
    source: Source,
    collection: Collection,
    *,
    id: str = "id",
    text: OneOrMore = "text",
    keep: OneOrMore | None = None,
    source_format: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    lossy: bool = False,
    settings: Settings | Mapping[str, Any] | None = None,
    threads: int = 2,
    batch: int = 1_000,
    on_error: OnError | None = None,
    on_progress: OnProgress | None = None,
) -> IndexSummary:
    """Index a source into a collection, with every field that finding near-duplicates needs.

    A source is a file, a folder, "-" for standard input, a DataFrame or Arrow table, or an
    iterable of dicts, tuples or documents. `id` and `text` name its columns (several text columns
    are joined by line breaks), `keep` further columns to keep in Solr; `source_format`,
    `delimiter`, `encoding` and `lossy` say how a file is read, as for `read`.

    Without `settings` those of the collection apply, or the defaults if it is empty; a mapping
    gives some of them by name. Documents with the same id are replaced, so running it again
    changes nothing but versions. If one of them would lose a column that was kept before, its
    batch is not sent: name that column too, or give keep=() to drop it.

    `threads` threads send batches of at most `batch` documents. A record that fails goes to
    `on_error` and into the summary, and the rest is indexed; if there is no `on_error`, a warning
    is logged. `on_progress` is told how far the work is.

    Raises SourceError if the source cannot be read as a whole, SettingsError if the collection
    was indexed with other settings, SchemaError if it lacks fields, SolrError if Solr stops
    answering: then documents sent before are not yet durable, and the same call again is safe.
    """
    return run(
        source,
        collection,
        settings=settings,
        reading=Reading(
            id=id,
            text=listed(text),
            keep=listed(keep or ()),
            source_format=source_format,
            delimiter=delimiter,
            encoding=encoding,
            lossy=lossy,
        ),
        sending=Sending(threads=threads, batch_documents=batch),
        watching=Watching.of(on_error, on_progress),
        may_lose=keep is not None,
    )


def run(
    source: Source,
    collection: Collection,
    *,
    settings: Settings | Mapping[str, Any] | None,
    reading: Reading,
    sending: Sending,
    watching: Watching,
    may_lose: bool = True,
) -> IndexSummary:
    """Index a source, as `index` does, with its arguments as records."""
    going = _Run(
        reading=reading,
        sending=sending,
        on_progress=watching.on_progress,
        failures=Failures(watching.on_error),
    )
    batches = going.batches(source)
    settled = collection.settled(settings)
    collection.require_fields(["id", *settled.fields])
    if not (may_lose and collection.names.is_plain):
        batches = _losing_nothing(batches, collection)
    for delivered in _deliver(batches, collection, settled, sending.threads):
        going.acknowledge(delivered)
    collection.commit()
    going.failures.warn()
    return going.summary(settled, collection)


@dataclass(slots=True, kw_only=True)
class _Batch:
    """Documents to send at once; `alone` if an earlier batch may have one of their ids."""

    documents: dict[str, Document] = field(default_factory=dict)
    characters: int = 0
    alone: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Delivered:
    """A batch that was sent: how many documents and words, and what Solr refused."""

    documents: int
    words: int
    refused: tuple[Refusal, ...]


@dataclass(slots=True, kw_only=True)
class _Run:
    """The counts of one indexing run, and the batches that it makes of its source."""

    reading: Reading
    sending: Sending
    on_progress: OnProgress
    failures: Failures
    started: float = field(default_factory=time.monotonic)
    read: int = 0
    sent: int = 0
    repeated: int = 0
    words: int = 0
    bytes: int = 0
    size: int | None = None
    seen: set[str] = field(default_factory=set)

    def batches(self, source: Source) -> Iterator[_Batch]:
        """The usable documents in batches; raises SourceError at once if it cannot be read."""
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
        """Count a batch that was sent, and tell how far the run is."""
        self.sent += delivered.documents - len(delivered.refused)
        self.words += delivered.words
        for refusal in delivered.refused:
            self.failures.add(RecordError("Solr refused", refusal.reason, refusal.id))
        share = self.bytes / self.size if self.size else None
        self.on_progress(Progress("indexing", self.sent, share=share))

    def summary(self, settings: Settings, collection: Collection) -> IndexSummary:
        """The counts of the whole run."""
        failed = self.failures.count
        return IndexSummary(
            collection=collection.name,
            documents=collection.count(),
            read=self.read,
            indexed=self.read - self.repeated - failed,
            repeated=self.repeated,
            failed=failed,
            errors=tuple(self.failures.first),
            words=self.words,
            settings=settings,
            seconds=self._seconds(),
        )

    def _documents(self, source: Source) -> Iterable[Document]:
        if isinstance(source, str | Path):
            self.size = sources.size_hint(source)
        return sources.documents(
            source, reading=self.reading, on_error=self._unusable, on_progress=self._consumed
        )

    def _unusable(self, error: RecordError) -> None:
        self.read += 1
        self.failures.add(error)

    def _consumed(self, count: int) -> None:
        self.bytes = count

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


def _losing_nothing(batches: Iterable[_Batch], collection: Collection) -> Iterator[_Batch]:
    """The batches, as long as no document that they replace would lose a column.

    Raises SettingsError, which names the columns.
    """
    columns: set[str] = set()
    is_empty, is_first = not collection.count(), True
    for batch in batches:
        ids = list(batch.documents)
        if is_first and not is_empty:
            some = islice(collection.ids(), LOOKED_AT)
            columns = _columns(collection, [*ids[:LOOKED_AT], *some])
        is_first = False
        # What every new document brings, such as nd.Document(kept=...), is not lost.
        brought = set.intersection(*(set(one.kept) for one in batch.documents.values()))
        if lost := sorted(columns - brought):
            there = [" OR ".join(f"{name}:[* TO *]" for name in lost)]
            if count := collection.count(there, ids=ids):
                raise _loss(collection, count, lost)
        yield batch


def _columns(collection: Collection, ids: Sequence[str]) -> set[str]:
    """The fields of documents other than ours and Solr's."""
    used = {name for one in update.whole(collection, ids) for name in one}
    names = collection.names
    first = {names.id, *names.text[:1], *map(names.of, OWN)}  # the text would go into one field
    return {name for name in used - first if not name.startswith("_")}


def _loss(collection: Collection, count: int, columns: Sequence[str]) -> SettingsError:
    documents = "1 document" if count == 1 else f"{count:,} documents"
    reason = f"{documents} in the collection would lose columns: {', '.join(columns)}"
    if not collection.names.is_plain:
        step = "another program writes them; to add our fields to them run"
        return SettingsError(reason, f"{step}: neardup annotate -c {collection.name}")
    kept = ",".join(columns)
    return SettingsError(reason, f"keep them by `keep` {kept}, or drop them by an empty `keep`")


def _deliver(
    batches: Iterable[_Batch], collection: Collection, settings: Settings, threads: int
) -> Iterator[_Delivered]:
    """Encode batches here and send them by several threads; answers come in order.

    The next batch is encoded while all threads wait for Solr, so that Solr need not wait; few
    batches are held at a time. A batch that repeats an id waits for those before it, because the
    last record of an id has to win.
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
        # After an error, do not wait for requests that may hang.
        pool.shutdown(wait=False, cancel_futures=True)


def _sent(collection: Collection, made: Sequence[tuple[bytes, int]]) -> _Delivered:
    refused = collection.add([json for json, _ in made])
    return _Delivered(documents=len(made), words=sum(w for _, w in made), refused=refused)
