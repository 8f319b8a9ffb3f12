"""A run of `index`: its batches, counts and checkpoints, and how it goes on with a job."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from hashlib import blake2b
from itertools import chain, count, repeat
from pathlib import Path
from typing import Any

from neardup_solr import errors, progress, sources
from neardup_solr.dead_letter_file import ANEW
from neardup_solr.errors import JobError, RecordError, without_password
from neardup_solr.index_job import Job, JobSpec, Position, SavedJob, read_checkpoint
from neardup_solr.progress import Failures
from neardup_solr.records import Document, Run
from neardup_solr.settings import Settings
from neardup_solr.settings_by_name import FIRST_TEXTS, settings_of
from neardup_solr.sizes import SIZES
from neardup_solr.solr import admin
from neardup_solr.solr.cloud import require_single
from neardup_solr.solr.collection import Collection
from neardup_solr.sources import Reading, SourceLike, identity
from neardup_solr.sources.document import came_before
from neardup_solr.sources.fingerprint import DIGEST, bytes_of
from neardup_solr.sources.part import Piece, Record
from neardup_solr.text.packed import count_fitting
from neardup_solr.verbs.delivery import Delivery, Stretch
from neardup_solr.verbs.document_batches import DocumentBatch
from neardup_solr.verbs.settings_by_texts import choose_by_texts

LAST_IDS = 20  # of a stretch, to see later that the collection still has them


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexSummary:
    """Counts of an `index` run, including those of the run that it resumed.

    `collection`: name of the collection; `documents`: documents now in it; `read`: records read,
    the sum of the next three; `indexed`: records indexed; `repeated`: records left out because
    their id is repeated; `failed`: records that could not be indexed; `errors`: their first 1,000
    errors; `damaged`: files among them that end too early, whose number of missing records is
    unknown; `words`: words of all records; `settings`: settings used; `resumed`: records done
    before this run resumed; `resent`: documents sent again because Solr lost them.
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
    resumed: int = 0
    resent: int = 0
    damaged: int = 0


@dataclass(slots=True, kw_only=True)
class IndexRun:
    """The counts of an indexing run, the batches that it makes of its source, its checkpoints.

    It begins where an earlier run has ended, and has `reached` its last checkpoint. `again` counts
    records whose id came in an earlier batch, `refused` those that Solr refused, by their ids: such
    a record has failed, and no other record of its id is left out for it.
    """

    source: SourceLike
    reading: Reading
    collection: Collection
    batch: int
    failures: Failures
    progress: progress.SourceProgress
    job: Job | None = None
    work: JobSpec = field(init=False)
    batches: Iterator[Stretch] = field(init=False)
    has_begun: bool = False
    begin: Position = field(default_factory=Position)
    reached: Position = field(default_factory=Position)
    started: float = field(default_factory=time.monotonic)
    read: int = 0
    sent: int = 0
    repeated: int = 0
    seen: set[str] = field(default_factory=set)
    again: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)

    def open_job(self, job: Job, *, resume: bool) -> None:
        """Go on from the checkpoint of a job, or begin anew."""
        self.job, self.work = job, _describe(self.source, self.collection, self.reading)
        saved = read_checkpoint(job.folder)
        if saved and resume and not saved.has_ended:
            self.begin = self.reached = begin = saved.reached
            _require_resumable(saved, self.work, self.collection)
            self.repeated, self.failures.count = begin.repeated, begin.failed
            self.sent = begin.read - begin.repeated - begin.failed
        else:
            _require_own(job.folder, saved, self.work)
            saved = None
        job.begin(saved)

    def choose_settings(
        self, settings: Settings | Mapping[str, Any] | None, min_replicas: int
    ) -> Settings:
        """Choose the settings, of a new collection by the first texts, which are read ahead.

        A collection that is missing is to be created with enough replicas.
        """
        usual = self.collection.names.usual_settings

        def choose() -> Settings:
            settings_of(settings, usual)  # raises before anything is read
            return choose_by_texts(settings, usual, self._read_ahead())

        try:
            return self.collection.choose_settings(settings, choose)
        except errors.CoreMissing as error:
            if min_replicas > 1:
                if not admin.is_cloud(self.collection):
                    require_single(min_replicas=min_replicas)
                error.next_step += f" --replicas {min_replicas}"
            raise

    def _read_ahead(self) -> list[str]:
        """Read the first texts. An error ends the batches after those before it, which are sent."""
        # A stream may be slow, so its first batch decides.
        most = FIRST_TEXTS if self.progress.rows or self.progress.size else 1
        first, texts, characters = list[Stretch](), list[str](), 0

        def fail(error: BaseException) -> Iterator[Stretch]:
            raise error
            yield

        try:
            for batch in self.batches:
                first.append(batch)
                texts += chain.from_iterable(batch.columns.texts)
                characters += batch.characters
                if len(texts) >= most or characters >= SIZES.index_batch_text:
                    break
        except BaseException as error:  # an interrupt, too
            self.batches = fail(error)
        self.batches = chain(first, self.batches)
        return texts

    def make_batches(self, pieces: Iterable[Piece]) -> Iterator[Stretch]:
        """Put usable documents into batches, after those of an earlier run."""
        batch, seal = Stretch(), blake2b(digest_size=DIGEST)
        for piece in pieces:
            rest: Piece | None = piece
            while rest is not None:
                part, rest = self._cut(rest, batch)
                is_done = self.read < self.begin.read
                self.read += len(part) if isinstance(part, Run) else 1
                if self.job is not None:
                    seal.update(bytes_of(part))
                if is_done:
                    self.seen.update(_list_ids(part))
                    if self.read == self.begin.read and seal.hexdigest() != self.begin.seal:
                        raise _change_error(self.work)
                    continue
                self._put_all(batch, part)
                size = max(len(batch.documents), len(batch.dead))
                if size >= self.batch or batch.characters >= SIZES.index_batch_text:
                    yield self._end_batch(batch, seal.hexdigest())
                    batch = Stretch()
        if self.read < self.begin.read:
            raise _change_error(self.work)
        if batch.documents or self.read > self.reached.read:
            yield self._end_batch(batch, seal.hexdigest())

    def _cut(self, piece: Piece, batch: Stretch) -> tuple[Piece, Piece | None]:
        """Cut a run where the records end that are done, or the batch, and give the rest of it."""
        if not isinstance(piece, Run):
            return piece, None
        most = self.begin.read - self.read
        if most <= 0:
            room = SIZES.index_batch_text - batch.characters
            most = count_fitting(piece.texts, self.batch - len(batch.documents), room)
        if most >= len(piece):
            return piece, None
        return piece.part(0, most), piece.part(most, len(piece))

    def _end_batch(self, batch: Stretch, seal: str) -> Stretch:
        """End a batch with what was counted up to it."""
        batch.end = Position(read=self.read, repeated=self.repeated, seal=seal)
        if len(batch.columns) > len(batch.documents):  # of an id that repeats, the last is sent
            batch.columns = DocumentBatch()
            for id in batch.documents:
                batch.columns.add(batch.document(id))
        return batch

    def _put_all(self, batch: Stretch, piece: Piece) -> None:
        """Add a record or a run to a batch, the latter as a whole if none of its ids repeats."""
        if not isinstance(piece, Run):
            self._put(batch, piece)
            return
        ids = list(piece.ids)
        if len(set(ids)) < len(ids) or not self.seen.isdisjoint(ids):
            for document in piece.documents():
                self._put(batch, document)
            return
        self.seen.update(ids)
        batch.documents.update(zip(ids, zip(repeat(piece), count()), strict=False))
        batch.characters += batch.columns.add(piece)

    def _put(self, batch: Stretch, record: Record) -> None:
        """Add a record to a batch, unless another record of its id counts."""
        is_repeat = isinstance(record, Document) and record.id in self.seen
        if isinstance(record, Document) and is_repeat and self.reading.on_repeat == "fail":
            record = came_before(record, self.reading.as_record(record))
        if isinstance(record, RecordError):
            batch.dead.append(record)
            self.failures.add(record)
            return
        self.repeated += is_repeat
        if is_repeat and self.reading.on_repeat == "first":
            return
        if is_repeat and record.id not in batch.documents:
            self.again[record.id] += 1
            batch.repeats = True
        self.seen.add(record.id)
        batch.documents[record.id] = record
        batch.characters += batch.columns.add(record)

    def acknowledge(self, documents: int) -> None:
        """Count documents that Solr took, and report how far the run is."""
        self.sent += documents
        self.progress.report(self.read, self.sent)

    def keep_checkpoint(self, stretch: Stretch) -> None:
        """Keep a checkpoint, and count what is done, unless the stretch is counted already."""
        done = self.reached
        if stretch.end.read <= done.read:
            return
        from_solr = [error for error in stretch.dead if error.stage == "solr"]
        refused = self.refused + Counter(error.id for error in from_solr if error.id is not None)
        reached = replace(
            stretch.end,
            repeated=stretch.end.repeated - (self.again & refused).total(),
            failed=done.failed + len(stretch.dead),
            words=done.words + sum(stretch.words.values()),
            last=tuple(stretch.documents)[-LAST_IDS:] or done.last,
        )
        if self.job is not None:
            self.job.keep(self.work, reached, stretch.dead)
        self.reached, self.refused = reached, refused
        for error in from_solr:  # the others were reported when they were read
            self.failures.add(error)

    def summary(self, delivery: Delivery) -> IndexSummary:
        """Count what came of the whole run."""
        failed = self.failures.count
        repeated = self.repeated - (self.again & self.refused).total()
        return IndexSummary(
            collection=self.collection.name,
            documents=self.collection.count(),
            read=self.read,
            indexed=self.read - repeated - failed,
            repeated=repeated,
            failed=failed,
            errors=tuple(self.failures.first),
            words=self.reached.words,
            settings=delivery.settings,
            seconds=time.monotonic() - self.started,
            resumed=self.begin.read,
            resent=delivery.resent,
            damaged=len(self.failures.damages),
        )

    def end(self) -> None:
        """Forget the job, unless it has dead letters."""
        if self.job is not None and self.reached.failed:
            self.job.keep(self.work, self.reached, (), has_ended=True)
        elif self.job is not None:
            self.job.end()

    @contextmanager
    def notes_on_errors(self) -> Iterator[None]:
        """Note in an error how to go on: after the last checkpoint, or anew without any.

        An error that the same command would meet again before it has begun gets no note.
        """
        try:
            yield
        except (errors.NeardupError, KeyboardInterrupt) as error:
            is_of_server = isinstance(error, errors.SolrError | errors.ServerError)
            may_pass = isinstance(error, errors.ServerError) or getattr(error, "may_pass", False)
            has_job = self.job is not None and not isinstance(error, JobError)
            if has_job and (self.has_begun or may_pass):
                if self.reached.read:
                    done = f"The first {self.reached.read:,} records of {self.work.source} are done"
                    anew = "it cannot be read a second time: running the command again starts over"
                    how = "`resume` continues after them" if self.work.identity else anew
                    error.add_note(f"{done}: {how}.")
                elif is_of_server or (self.sent and isinstance(error, errors.NeardupError)):
                    error.add_note(not_begun(self.work.source))
            raise


def _describe(source: SourceLike, collection: Collection, reading: Reading) -> JobSpec:
    paths = sources.paths_of(source)
    return JobSpec(
        source=f"a {type(source).__name__}" if paths is None else sources.shown_name(paths),
        identity=identity(source, reading),
        reading=asdict(reading) | {"text": list(reading.text), "keep": list(reading.keep)},
        server=collection.base,
        collection=collection.name,
    )


def _require_resumable(saved: SavedJob, work: JobSpec, collection: Collection) -> None:
    """Refuse to resume if the source or the collection is no longer the same, by JobError."""
    if work.identity is None:
        raise JobError(f"{work.source} cannot be read a second time", ANEW, code="not-from-stdin")
    if saved.work.identity != work.identity:
        raise _change_error(work)
    if (saved.work.server, saved.work.collection) != (work.server, work.collection):
        reason = f"the job is of the collection {saved.work.collection!r} at {saved.work.server}"
        step = f"index into that, or {ANEW}"
        raise JobError(without_password(reason), step, code="job-other-collection")
    last = saved.reached.last
    if last and collection.count(ids=last) < len(last):
        reason = f"{work.collection!r} lacks some documents of the job"
        raise JobError(reason, ANEW, code="job-other-collection")


def _require_own(folder: Path, saved: SavedJob | None, work: JobSpec) -> None:
    """Refuse to write over the dead letters of other work, by JobError."""
    if saved is None or not saved.reached.letters:
        return
    source, collection = saved.work.source, saved.work.collection
    if (source, collection) != (work.source, work.collection):
        reason = f"{folder} contains the dead letters of {source} for the collection {collection!r}"
        step = "index them first, or name a different folder with `job`"
        raise JobError(reason, step, code="job-has-letters")


def _change_error(work: JobSpec) -> JobError:
    reason = "has changed since it was partly indexed, or is now being read with different settings"
    return JobError(f"{work.source} {reason}", ANEW, code="source-changed")


def _list_ids(piece: Piece) -> Iterable[str]:
    """List the ids of the documents of a piece."""
    if isinstance(piece, Run):
        return piece.ids
    return [piece.id] if isinstance(piece, Document) else []


def not_begun(source: object) -> str:
    """Say that Solr stayed away before the first checkpoint."""
    return f"No record of {source} is confirmed as stored: running the command again starts over."
