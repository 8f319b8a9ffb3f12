"""index: documents into a collection, with the fields of near-duplicates. delete: out of it."""

from __future__ import annotations

import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from hashlib import blake2b
from itertools import chain, islice
from pathlib import Path
from typing import Any

from neardup_solr import arguments, errors, progress, sources
from neardup_solr.arguments import Id, OneOrMore, checked, require, require_positive
from neardup_solr.checkpoint import ANEW, Job, JobSpec, Position, SavedJob, reach, read_checkpoint
from neardup_solr.errors import JobError, RecordError, SettingsError, SolrAnswerError, counted
from neardup_solr.measures import choose_measure
from neardup_solr.minhash import encode_documents, sign
from neardup_solr.progress import LOG, Failures, OnError, OnProgress, ignore
from neardup_solr.records import Document, check_documents
from neardup_solr.settings import (
    ANNOTATED,
    DEFAULT_SETTINGS,
    LONG_TEXT,
    Settings,
    fit_shingles,
    settings_of,
)
from neardup_solr.solr import admin
from neardup_solr.solr.cloud import require_single
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.names import OWN, TEXT
from neardup_solr.solr.query import having
from neardup_solr.solr.refusals import Sent
from neardup_solr.solr.settle import settle
from neardup_solr.sources import DIGEST, Reading, SourceLike, bytes_of, identity, reading_of
from neardup_solr.sources.record import Record, came_before, check_keep

# How soon a thread whose answer has come gets the interpreter while a batch is encoded; with
# the 5 ms of Python, Solr would wait for us several times a batch.
HANDOVER_SECONDS = 0.0005
STRETCH_CHARACTERS = 2**25  # of text that is held until it is verified
LAST_IDS = 20  # of a stretch, to see later that the collection still has them
LOST = "Solr accepted it, but lost it after a commit; check that no program deletes it"
HURRY_SECONDS = 1.0  # for the last documents, once the user wants to stop


@dataclass(slots=True, kw_only=True)
class Stretch:
    """Documents on their way, by their ids: a batch that is sent, or all between two checkpoints.

    `versions` are what Solr gave them. `repeats` is set if an id came before, in this stretch or an
    earlier stretch. The source was read from `begin` to `end`; `dead` are the records of it that
    could not be used, or that Solr refused.
    """

    documents: dict[str, Document] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)
    repeats: bool = False
    characters: int = 0
    words: int = 0
    begin: int = 0
    end: Position = field(default_factory=Position)
    dead: list[RecordError] = field(default_factory=list)

    def add(self, batch: Stretch) -> None:
        """Add a batch that is being sent."""
        self.repeats |= batch.repeats or not self.documents.keys().isdisjoint(batch.documents)
        self.documents |= batch.documents
        self.characters += batch.characters
        words, dead = self.words + batch.words, [*self.dead, *batch.dead]
        # Together and last, without a call between them: an interrupt leaves all as before or none.
        self.end, self.words, self.dead = batch.end, words, dead


@dataclass(slots=True, kw_only=True)
class Delivery:
    """Sends documents to a collection, and verifies them stretch by stretch.

    `as_record` makes a record of the source of a document. At most `batch` documents are sent again
    at once, and `resent` counts them. In a SolrCloud, `min_replicas` of each shard have to have
    what is verified. For `run`, `threads` threads send, and at most `checkpoint_every` records lie
    between two checkpoints. `on_sent` gets the number of documents of each batch that Solr
    took, `on_verified` each stretch in order, once all of its documents are committed and a search
    finds them: its `dead` then include what Solr refused. After an interrupt it may get a stretch
    for a second time, or an empty stretch.
    """

    collection: Collection
    settings: Settings
    as_record: Callable[[Document], Mapping[str, object]]
    batch: int = 500
    min_replicas: int = 1
    threads: int = 2
    checkpoint_every: int = 20_000
    on_sent: Callable[[int], object] = ignore
    on_verified: Callable[[Stretch], object] = ignore
    resent: int = 0
    _open: Stretch = field(default_factory=Stretch)
    _closed: Stretch | None = None
    _answers: deque[tuple[Stretch, Stretch, Future[Sent]]] = field(default_factory=deque)
    _check: Future[list[str]] | None = None
    _deadline: float | None = None
    _senders: ThreadPoolExecutor = field(init=False)
    _checker: ThreadPoolExecutor = field(init=False)

    def run(self, batches: Iterable[Stretch], begin: int = 0) -> None:
        """Send all batches. When this returns, all they hold is in Solr or a dead letter.

        The next batch is encoded while all threads wait for Solr, so that Solr need not wait, and
        the next stretch is sent while another is verified. A batch that repeats an id waits for
        those before it, because the last record of an id has to win. An earlier run has done the
        records up to `begin`.

        On KeyboardInterrupt, and if the source cannot be read any further, what was sent is
        verified before the error is raised; a second KeyboardInterrupt ends at once.
        Raises SolrError if Solr stays away for too long: then earlier stretches are done.
        """
        self._open.begin = begin
        self._senders = ThreadPoolExecutor(self.threads)
        self._checker = ThreadPoolExecutor(1)
        interval = sys.getswitchinterval()
        try:
            sys.setswitchinterval(HANDOVER_SECONDS)
            try:
                for batch in batches:
                    self._send(batch)
            except errors.SourceError:
                self._finish()
                raise
            self._finish()
        except KeyboardInterrupt:
            self._finish_soon()
            raise
        finally:
            sys.setswitchinterval(interval)
            # After an error, do not wait for requests that may hang.
            for pool in (self._senders, self._checker):
                pool.shutdown(wait=False, cancel_futures=True)

    def _send(self, batch: Stretch) -> None:
        encoded = encode_documents([*batch.documents.values()], self.settings)
        batch.words = sum(words for _, words in encoded)
        while self._answers and (batch.repeats or len(self._answers) > self.threads):
            self._acknowledge()
        if self.has_to_verify(self._open, batch.documents):
            self._close()
        if batch.repeats or (self._check is not None and self._check.done()):
            # What is sent again must not replace a later document of the same id.
            self._settle()
        most = max(1, self.checkpoint_every // 2)  # two stretches are on their way at once
        if self._open.end.read and batch.end.read - self._open.begin > most:
            self._close()
        reach("before-send")
        if encoded:
            ids, jsons = [*batch.documents], [json for json, _ in encoded]
            answer = self._senders.submit(self.collection.take, jsons, ids)
            self._answers.append((self._open, batch, answer))
        self._open.add(batch)
        is_long = self._open.characters >= STRETCH_CHARACTERS
        if is_long or self._open.end.read - self._open.begin >= most:
            self._close()

    def _acknowledge(self) -> None:
        """Wait for the answer to the first batch that has none.

        An interrupt may come at any point: noting an answer twice does no harm.
        """
        stretch, batch, future = self._answers[0]
        answer = future.result(self._time_left())
        reach("after-send")
        self.note(stretch, answer)
        self._answers.popleft()
        self.on_sent(len(batch.documents) - len(answer.refused))
        self._verify()

    def _close(self) -> None:
        """End the stretch and begin the next. The stretch before has to be verified by now."""
        self._settle()
        self._closed, self._open = self._open, Stretch(begin=self._open.end.read)
        self._verify()

    def _verify(self) -> None:
        """Verify the closed stretch, in the checker thread, once all its batches are answered."""
        if self._closed is not None and self._check is None and not self._is_waiting(self._closed):
            self._check = self._checker.submit(self.commit, self._closed)

    def _settle(self) -> None:
        """Wait until the closed stretch is verified."""
        if self._closed is None:
            return
        while self._is_waiting(self._closed):
            self._acknowledge()
        self._verify()  # if an interrupt came between the last answer and this
        assert self._check is not None
        if self._check.result(self._time_left()):
            self._recover(self._closed)
        self.on_verified(self._closed)
        self._closed, self._check = None, None

    def _is_waiting(self, stretch: Stretch) -> bool:
        """Return True if a batch of the stretch has no answer yet."""
        return any(waiting is stretch for waiting, _, _ in self._answers)

    def _finish(self) -> None:
        """Wait for all answers, and verify what is left."""
        self._close()
        self._settle()

    def _finish_soon(self) -> None:
        """Do what `_finish` does as far as it is quick: the user wants to stop."""
        self.collection.session.outages.stop_waiting()
        self._deadline = time.monotonic() + HURRY_SECONDS
        try:
            self._finish()
        except (TimeoutError, errors.NeardupError):
            return  # the last checkpoint holds

    def _time_left(self) -> float | None:
        """Return how long an answer may take from now, or None if it takes what it takes."""
        return None if self._deadline is None else max(0.0, self._deadline - time.monotonic())

    @property
    def _is_cloud(self) -> bool:
        """True if the versions that Solr gave are only lower bounds, as those of a SolrCloud."""
        return self.collection.session.nodes.is_cloud is True

    def has_to_verify(self, stretch: Stretch, ids: Iterable[str]) -> bool:
        """Return True if a stretch has to be verified before documents with these ids are sent.

        An earlier version of them in the stretch could pass for what is sent.
        """
        return self._is_cloud and not stretch.documents.keys().isdisjoint(ids)

    def note(self, stretch: Stretch, answer: Sent) -> None:
        """Note in a stretch what Solr answered to a part of it."""
        stretch.versions.update(answer.versions)
        for refusal in answer.refused:
            document = stretch.documents.pop(refusal.id, None)
            if document is not None:
                stretch.dead.append(self._error(document, f"Solr refused it: {refusal.reason}"))

    def verify(self, stretch: Stretch, seconds: float | None = None) -> None:
        """Commit, and send what Solr has lost again until a search finds all of the stretch.

        Raises TimeoutError if the commit takes longer than so many seconds.
        """
        commit = partial(self.commit, stretch)
        if commit() if seconds is None else progress.start_thread(commit).result(seconds):
            self._recover(stretch)

    def commit(self, stretch: Stretch) -> list[str]:
        """Commit, and list the ids of documents that a search does not find."""
        reach("before-commit")
        self.collection.commit()
        reach("after-commit")
        # While it replays its log, a commit does nothing.
        self.collection.session.outages.until_ready()
        return self._missing(stretch)

    def _missing(self, stretch: Stretch) -> list[str]:
        """List the ids that a search does not find in the version of Solr's answer, or later."""
        ids = list(stretch.documents)
        if not ids:
            return []
        versions = [stretch.versions.get(id, 0) for id in ids]
        oldest = min(versions)
        # Else a count could take an older document of the same id for what was sent.
        is_known = oldest > 0 and not stretch.repeats
        can_count = is_known and (not self._is_cloud or max(versions) == 1)
        if not can_count or self.collection.seen(ids, oldest) < len(ids):
            stored = self.collection.versions(ids)
            sent = zip(ids, versions, strict=True)
            if missing := [id for id, version in sent if stored.get(id, -1) < version]:
                return missing
        if self.min_replicas > 1:
            self._until_copied(dict(zip(ids, versions, strict=True)))
        return []

    def _until_copied(self, required: Mapping[str, int]) -> None:
        """Wait until enough replicas have these documents. A node that was away catches up.

        Raises SolrUnreachable if patience is at its end before.
        """
        copies = 0

        def have_copies() -> bool:
            nonlocal copies
            copies = self.collection.copies(required) or 0
            if copies < self.min_replicas:
                self.collection.commit()  # or a replica that catches up would not show it
            return copies >= self.min_replicas

        if not progress.until(
            have_copies, self.collection.session.outages.patience, progress.PAUSE
        ):
            reason = f"only {copies} of {self.min_replicas} required replicas caught up"
            step = "check that all nodes are running, then run this again"
            raise errors.SolrUnreachable(self.collection.url, reason, step)

    def _recover(self, stretch: Stretch) -> None:
        """Send again what Solr has lost. What it loses again and again is a dead letter.

        Raises SolrAnswerError if it loses all of it, SolrUnreachable if a node of a cloud is away.
        """
        send, missing = partial(self._send_again, stretch), partial(self._missing, stretch)
        lost = settle(self.collection, send, missing)
        if lost and len(lost) == len(stretch.documents):
            reason = f"a search finds none of the last {len(lost):,} documents that Solr accepted"
            lint = f"neardup lint {self.collection.place}"
            step = f"check the collection's update chain ({lint}), then run this again"
            raise SolrAnswerError(self.collection.url, 200, reason, step)
        for id in lost:
            stretch.dead.append(self._error(stretch.documents.pop(id), LOST))

    def _send_again(self, stretch: Stretch, ids: Sequence[str]) -> None:
        for at in range(0, len(ids), self.batch):
            part = [stretch.documents[id] for id in ids[at : at + self.batch]]
            self.resent += len(part)
            encoded = encode_documents(part, self.settings)
            jsons = [json for json, _ in encoded]
            self.note(stretch, self.collection.take(jsons, [document.id for document in part]))

    def _error(self, document: Document, reason: str) -> RecordError:
        record = self.as_record(document)
        where = document.position or "a document"
        return RecordError(where, reason, document.id, record=record, stage="solr")


BATCH_CHARACTERS = 4 * 2**20
FIRST_TEXTS = 1_000  # whose length chooses the fields of a new collection
LOOKED_AT = 100  # documents whose columns stand for those of the collection


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexSummary:
    """Counts of an `index` run, including those of the run that it resumed.

    `collection`: name of the collection; `documents`: documents now in it; `read`: records read,
    the sum of the next three; `indexed`: records indexed; `repeated`: records left out because
    their id is repeated; `failed`: records that could not be indexed; `errors`: their first 1,000
    errors; `words`: words of all records; `settings`: settings used; `resumed`: records done before
    this run resumed; `resent`: documents sent again because Solr lost them.
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


@checked
def index(
    source: SourceLike,
    collection: Collection,
    *,
    id: str | None = None,
    text: OneOrMore = "text",
    keep: OneOrMore | None = None,
    settings: Settings | Mapping[str, Any] | None = None,
    threads: int = 2,
    batch: int = 500,
    checkpoint_every: int = 20_000,
    patience: float | str = "5m",
    min_replicas: int = 1,
    job: str | Path | None = None,
    resume: bool = False,
    on_error: OnError | None = None,
    on_progress: OnProgress | None = None,
) -> IndexSummary:
    """Index a source into a collection, with the fields needed to find near-duplicates.

    Example: `nd.index("listings.csv", listings, keep="city").indexed`

    A record replaces the document with its id. If several records share an id, the last one counts,
    unless a `Source` has a different `on_repeat`. `settings` default to the collection's settings.
    An empty collection gets the default settings, without shingles and signature terms if the first
    thousand texts are long. If a document would lose a stored column, SettingsError is raised: name
    the column in `keep`, or pass keep=() to drop it.

    On return, every record is committed and searchable, or has failed. `index` waits for an
    unavailable Solr, and resends documents that Solr loses. `job` is a folder for the checkpoint
    and the failed records (dead-letters.jsonl).

    Raises SourceError if the source cannot be read; SettingsError if the collection has different
    settings or text fields; SchemaError if it lacks fields; SolrHalted if Solr's disk is full;
    SolrError if Solr stays unavailable (it is safe to repeat the call); JobError if the job is in
    use, or if the source or the collection has changed since the job began.
    """
    source, reading = reading_of(source, "refuse", id=id, text=text, keep=keep)
    check_keep(reading.keep)
    require_positive(threads=threads, batch=batch)
    require_positive(checkpoint_every=checkpoint_every, min_replicas=min_replicas)
    patience = arguments.in_seconds(patience, "patience")
    reason = "`on_repeat` cannot be keep: a collection has only one document per id"
    require(reading.on_repeat != "keep", reason, "set it to last, first or fail")
    require(job is not None or not resume, "`resume` needs a `job`", "name the folder of the job")
    require(str(job).strip() not in ("", "."), f"`job` cannot be {str(job)!r}", "name a folder")
    _require_one_text_field(collection, reading.text)
    run = _IndexRun(
        source=source,
        reading=reading,
        collection=collection,
        batch=batch,
        failures=Failures(on_error),
        progress=sources.make_progress("indexing", source, on_progress or ignore),
    )
    folder = nullcontext() if job is None else Job(Path(job))
    with collection.session.outages.waited_for(patience), run.notes_on_errors(), folder as opened:
        if opened is not None:
            run.open_job(opened, resume=resume)
        records = sources.records(source, reading=reading, on_progress=run.progress.count_bytes)
        run.batches = run.make_batches(check_documents(records))
        chosen = run.choose_settings(settings, min_replicas)
        collection.require_fields(["id", *chosen.fields])
        collection.require_placed(min_replicas)
        if keep is None or not collection.names.is_plain:
            run.batches = ColumnsToKeep(collection).guard(run.batches)
        delivery = Delivery(
            collection=collection,
            settings=chosen,
            as_record=run.reading.as_record,
            batch=batch,
            min_replicas=min_replicas,
            threads=threads,
            checkpoint_every=checkpoint_every,
            on_sent=run.acknowledge,
            on_verified=run.keep_checkpoint,
        )
        run.has_begun = True
        delivery.run(run.batches, run.begin.read)
        summary = run.summary(delivery)
        run.end()
        run.failures.warn()
        return summary


def _choose_by_texts(
    settings: Settings | Mapping[str, Any] | None, usual: Settings, texts: Sequence[str]
) -> Settings:
    """Choose the measure by the texts, and leave shingles out, with a line, if they are long."""
    wanted = settings_of(settings, usual)
    lengths = [len(form.split()) for form in sign.normal_forms(texts, wanted.normalization)]
    words = sorted(lengths)[len(lengths) // 2] if lengths else 0
    measure = choose_measure(wanted, lengths)[0]
    names_fields = isinstance(settings, Settings) or "fields" in (settings or ())
    if words > LONG_TEXT and usual == DEFAULT_SETTINGS and not names_fields:
        left_out = "word shingles and signature terms are left out (`fields`=all keeps them)"
        LOG.warning("bands suffice for texts of about %d words: %s", words, left_out)
        usual = ANNOTATED
    usual = fit_shingles(settings, usual, map(len, texts))
    return usual if measure == "words" else replace(usual, measure=measure)


def _require_one_text_field(collection: Collection, columns: Sequence[str]) -> None:
    """Refuse to write texts of several fields or columns into the one field of another schema."""
    fields = collection.names.text
    if fields == (TEXT,) or len(fields) == len(columns) == 1:
        return
    step = "post the documents with your own program, then run: "
    step += f"neardup annotate {collection.place}"
    of = f"the text of {collection.name!r} is"
    if len(fields) > 1:
        reason = f"{of} in several fields ({', '.join(fields)}), but `index` writes only one"
        raise SettingsError(reason, step)
    joined = f"{' and '.join(columns)} would be joined in {fields[0]!r}"
    step = f"name one with `text` and the others with `keep`, or {step}"
    raise SettingsError(f"{of} in a single field: {joined}", step)


def not_begun(source: object) -> str:
    """Say that Solr stayed away before the first checkpoint."""
    return f"No record of {source} is confirmed as stored: running the command again starts over."


def _describe(source: SourceLike, collection: Collection, reading: Reading) -> JobSpec:
    paths = sources.paths_of(source)
    return JobSpec(
        source=f"a {type(source).__name__}" if paths is None else sources.shown_name(paths),
        identity=identity(source, reading),
        reading=asdict(reading) | {"text": list(reading.text), "keep": list(reading.keep)},
        server=collection.base,
        collection=collection.name,
    )


def _require_resumable(kept: SavedJob, work: JobSpec, collection: Collection) -> None:
    """Refuse to resume if the source or the collection is no longer the same, by JobError."""
    if work.identity is None:
        raise JobError(f"{work.source} cannot be read a second time", ANEW)
    if kept.work.identity != work.identity:
        raise _change_error(work)
    last, places = kept.reached.last, [(job.server, job.collection) for job in (kept.work, work)]
    if places[0] != places[1] or (last and collection.count(ids=last) < len(last)):
        reason = f"{work.collection!r} is not the job's collection, or lacks some of its documents"
        raise JobError(reason, ANEW)


def _require_own(folder: Path, saved: SavedJob | None, work: JobSpec) -> None:
    """Refuse to write over the dead letters of other work, by JobError."""
    if saved is None or not saved.reached.letters:
        return
    source, collection = saved.work.source, saved.work.collection
    if (source, collection) != (work.source, work.collection):
        reason = f"{folder} contains the dead letters of {source} for the collection {collection!r}"
        raise JobError(reason, "index them first, or name a different folder with `job`")


def _change_error(work: JobSpec) -> JobError:
    reason = "has changed since it was partly indexed, or is now being read with different settings"
    return JobError(f"{work.source} {reason}", ANEW)


@dataclass(slots=True, kw_only=True)
class _IndexRun:
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
            return _choose_by_texts(settings, usual, self._read_ahead())

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
                texts += [document.text for document in batch.documents.values()]
                characters += batch.characters
                if len(texts) >= most or characters >= BATCH_CHARACTERS:
                    break
        except BaseException as error:  # an interrupt, too
            self.batches = fail(error)
        self.batches = chain(first, self.batches)
        return texts

    def make_batches(self, records: Iterable[Record]) -> Iterator[Stretch]:
        """Put usable documents into batches, after those of an earlier run."""
        batch, seal = Stretch(), blake2b(digest_size=DIGEST)
        for record in records:
            self.read += 1
            if self.job is not None:
                seal.update(bytes_of(record))
            if self.read > self.begin.read:
                self._put(batch, record)
                size = max(len(batch.documents), len(batch.dead))
                if size >= self.batch or batch.characters >= BATCH_CHARACTERS:
                    yield self._end_batch(batch, seal.hexdigest())
                    batch = Stretch()
                continue
            if isinstance(record, Document):
                self.seen.add(record.id)
            if self.read == self.begin.read and seal.hexdigest() != self.begin.seal:
                raise _change_error(self.work)
        if self.read < self.begin.read:
            raise _change_error(self.work)
        if batch.documents or self.read > self.reached.read:
            yield self._end_batch(batch, seal.hexdigest())

    def _end_batch(self, batch: Stretch, seal: str) -> Stretch:
        """End a batch with what was counted up to it."""
        batch.end = Position(read=self.read, repeated=self.repeated, seal=seal)
        return batch

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
        batch.characters += len(record.text)

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
            words=done.words + stretch.words,
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


class ColumnsToKeep:
    """The columns of a collection's documents, which new documents of the same ids would lose.

    Those in `ours` may go.
    """

    def __init__(self, collection: Collection, ours: Iterable[str] = ()) -> None:
        self._collection, self._ours = collection, frozenset(ours)
        self._names: set[str] | None = None if collection.count() else set()

    def guard(self, batches: Iterable[Stretch]) -> Iterator[Stretch]:
        """Pass batches on while no document that they replace loses a column."""
        for batch in batches:
            self.require_kept(list(batch.documents.values()))
            yield batch

    def require_kept(self, documents: Sequence[Document]) -> None:
        """Refuse documents that would replace others and lack their columns.

        Raises SettingsError, which names the columns.
        """
        if not documents:
            return
        ids = [document.id for document in documents]
        if self._names is None:
            some = islice(self._collection.ids(), LOOKED_AT)
            self._names = _columns(self._collection, [*ids[:LOOKED_AT], *some])
        # What every new document brings, such as nd.Document(kept=...), is not lost.
        brought = set.intersection(*(set(document.kept) for document in documents))
        lost = sorted(self._names - self._ours - brought)
        if lost and (count := self._collection.count([having(*lost)], ids=ids)):
            lost = [name for name in lost if self._collection.count([having(name)], ids=ids)]
            raise _loss(self._collection, count, lost)


def _columns(collection: Collection, ids: Sequence[str]) -> set[str]:
    """List the fields of documents other than ours and Solr's."""
    used = {name for document in collection.whole(ids) for name in document}
    names = collection.names
    first = {names.id, *names.text[:1], *map(names.of, OWN)}  # the text goes into that field
    return {name for name in used - first if not name.startswith("_")}


def _loss(collection: Collection, count: int, columns: Sequence[str]) -> SettingsError:
    documents = counted(count, "document")
    reason = f"{documents} in the collection would lose columns: {', '.join(columns)}"
    if not collection.names.is_plain:
        step = "another program writes its documents; to add the neardup fields, run"
        return SettingsError(reason, f"{step}: neardup annotate {collection.place}")
    kept = ",".join(columns)
    return SettingsError(reason, f"keep them with `keep` {kept}, or drop them in Python: keep=()")


@checked
def delete(
    collection: Collection,
    ids: Sequence[Id] = (),
    *,
    query: str | None = None,
    dry_run: bool = False,
) -> int:
    """Delete documents by id, or by a query in Solr's syntax.

    Example: `nd.delete(listings, ["12", "13"])`

    Returns the number of documents that matched. Unknown ids are ignored; "*:*" matches all
    documents.

    Raises SolrAnswerError if Solr does not understand the query or still has the documents
    afterwards, SettingsError if the name is an alias of several collections, ArgumentError if `ids`
    is a string.
    """
    named = [str(id) for id in ids]
    reason = "no documents to delete were given"
    require(bool(named) or query is not None, reason, "give `ids` or `query`")
    collection.cluster().require_one()
    # Searches do not see what an interrupted run sent, so it would not be counted.
    collection.commit()
    matching = collection.count(ids=named) if named else 0
    if query is not None:
        both = collection.count([query], ids=named) if named else 0
        matching += collection.count([query]) - both
    if dry_run:
        return matching
    if query is not None:
        collection.delete_query(query)

    def missing() -> list[str]:
        """List the ids that are left in a cloud: a node may lose what it passes on."""
        return [*collection.versions(named)] if collection.session.nodes.is_cloud else []

    if left := settle(collection, collection.delete_ids, missing, named):
        reason = f"{counted(len(left), 'document')} could not be deleted in several attempts"
        step = "check that all nodes are running and no program is adding them, then run this again"
        raise SolrAnswerError(collection.url, 200, reason, step)
    if not named:
        collection.commit()
    return matching
