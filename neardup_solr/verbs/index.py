"""index: documents into a collection, with every field that finding near-duplicates needs."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from hashlib import blake2b
from itertools import chain, islice
from pathlib import Path
from typing import Any

from neardup_solr import sources
from neardup_solr.arguments import (
    OneOrMore,
    OnRepeat,
    checked,
    in_seconds,
    require,
    require_positive,
)
from neardup_solr.checkpoint import ANEW, Job, JobSpec, Position, SavedJob, read_checkpoint
from neardup_solr.errors import (
    CoreMissing,
    JobError,
    NeardupError,
    RecordError,
    ServerError,
    SettingsError,
    SolrError,
    counted,
)
from neardup_solr.measures import choose_measure
from neardup_solr.minhash import sign
from neardup_solr.progress import LOG, Failures, OnError, OnProgress, SourceProgress, ignore
from neardup_solr.records import Document, check_documents
from neardup_solr.settings import ANNOTATED, DEFAULT_SETTINGS, LONG_TEXT, Settings, settings_of
from neardup_solr.solr import admin
from neardup_solr.solr.cloud import require_single
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.names import OWN, TEXT
from neardup_solr.sources import Reading, SourceLike, reading_of
from neardup_solr.sources.fingerprint import DIGEST, bytes_of, identity
from neardup_solr.sources.record import Record, came_before, check_keep
from neardup_solr.verbs.delivery import Delivery, Stretch

BATCH_CHARACTERS = 4 * 2**20
FIRST_TEXTS = 1_000  # whose length chooses the fields of a new collection
LOOKED_AT = 100  # documents whose columns stand for those of the collection


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexSummary:
    """Counts of an indexing run: `read` = `indexed` + `repeated` + `failed`.

    `repeated` counts records whose id came again in the source, and that were left out for it.
    `errors` says why the first 1,000 of the failed ones failed. `collection` is the name of the
    collection, and `documents` counts what is in it now. `words` counts the words of all records;
    `settings` are those that were used. If the run resumed an earlier run, all counts are
    those of both, and `resumed` is the number of records that the earlier run had done.
    `resent` counts documents that Solr had lost, and that were sent again.
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
    on_repeat: OnRepeat = "last",
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
    """Index a source into a collection, with every field that finding near-duplicates needs.

    A source is a file, a folder, "-" for standard input, a list of files that are the parts of a
    table, a DataFrame or Arrow table, or an iterable of dicts, tuples or documents. `id` and `text`
    name its columns (several text columns are joined by line breaks), `keep` further columns to
    keep in Solr; a `Source` says how it is written. If an id comes again, the "last" of its records
    counts, or the "first" by `on_repeat`; by "fail" the later ones fail.

    Without `settings` those of the collection apply, or the defaults if it is empty, without
    shingles and signature terms if the first thousand texts are long; a mapping gives some of them
    by name, such as {"fields": "all"}. Documents with the same id are replaced, so running it again
    changes nothing but versions. If a document would lose a column that was kept before, its
    batch is not sent: name that column too, or give keep=() to drop it.

    `threads` threads send batches of at most `batch` documents. A record that fails goes to
    `on_error` and into the summary, and the rest is indexed; without `on_error`, a warning is
    logged. `on_progress` gets reports of progress.

    When this returns, every record is committed and a search finds it, or it has failed. After
    every `checkpoint_every` records or fewer that is made sure of. If Solr is away, restarts or
    replays its log, and if it answers wrongly after right answers, or not at all, it is waited for,
    at most `patience` (seconds, or "5m") each time, and what it has lost is sent again; the
    embedded Solr is started again. In a SolrCloud, `min_replicas` replicas of each shard have to
    have them by then, and are waited for as long. With a folder `job`, each checkpoint is kept in
    it, with the records that failed (dead-letters.jsonl); `resume` then goes on from the last
    checkpoint.

    Raises SourceError if the source cannot be read as a whole, SettingsError if the collection was
    indexed with other settings, has several text fields, or has its text in another field and
    `text` names several columns, SchemaError if it lacks fields, SolrHalted if its disk is full,
    SolrError if Solr does not come back: the same call again is safe. JobError if another run has
    the job, or it cannot be resumed, because the source or the collection has changed.
    """
    source, reading = reading_of(source, "refuse", id=id, text=text, keep=keep)
    check_keep(reading.keep)
    require_positive(
        threads=threads, batch=batch, checkpoint_every=checkpoint_every, min_replicas=min_replicas
    )
    patience = in_seconds(patience, "patience")
    require(job is not None or not resume, "`resume` needs a `job`", "name the folder of the job")
    require(str(job).strip() not in ("", "."), "`job` names no folder", "name one for this job")
    _require_one_text_field(collection, reading.text)
    run = _IndexRun(
        source=source,
        reading=reading,
        collection=collection,
        batch=batch,
        on_repeat=on_repeat,
        failures=Failures(on_error),
        progress=SourceProgress(
            stage="indexing",
            on_progress=on_progress or ignore,
            rows=sources.rows_hint(source),
            size=sources.size_hint(source),
        ),
    )
    folder = nullcontext() if job is None else Job(Path(job))
    with collection.session.outages.waited_for(patience), run.notes_on_errors(), folder as opened:
        if opened is not None:
            run.open_job(opened, resume=resume)
        run.open_source()
        chosen = run.choose_settings(settings, min_replicas)
        collection.require_fields(["id", *chosen.fields])
        collection.require_placed(min_replicas)
        if keep is None or not collection.names.is_plain:
            run.batches = ColumnsToKeep(collection).guard(run.batches)
        delivery = Delivery(
            collection=collection,
            settings=chosen,
            as_record=run.as_record,
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
        LOG.warning(
            "texts of about %d words are found by bands: word shingles and signature terms are left"
            " out (fields=all keeps them)",
            words,
        )
        usual = ANNOTATED
    return usual if measure == "words" else replace(usual, measure=measure)


def _require_one_text_field(collection: Collection, columns: Sequence[str]) -> None:
    """Refuse to write texts of several fields or columns into the one field of another schema."""
    fields = collection.names.text
    if fields == (TEXT,) or len(fields) == len(columns) == 1:
        return
    step = "post the documents by your own program, then: "
    step += f"neardup annotate {collection.place}"
    of = f"the text of {collection.name!r} is"
    if len(fields) > 1:
        reason = f"{of} in several fields ({', '.join(fields)}): `index` has one"
        raise SettingsError(reason, step)
    joined = f"{' and '.join(columns)} would be joined in the field {fields[0]!r}"
    step = f"name one by `text`, and others by `keep`; or {step}"
    raise SettingsError(f"{of} that of one column: {joined}", step)


def not_begun(source: object) -> str:
    """Say that Solr stayed away before the first checkpoint."""
    return f"No record of {source} is known to be done: the same command begins anew."


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
        reason = f"the collection {work.collection!r} lacks what an earlier run has indexed"
        raise JobError(reason, ANEW)


def _require_own(folder: Path, saved: SavedJob | None, work: JobSpec) -> None:
    """Refuse to write over the dead letters of other work, by JobError."""
    if saved is None or not saved.reached.letters:
        return
    source, collection = saved.work.source, saved.work.collection
    if (source, collection) != (work.source, work.collection):
        reason = f"{folder} has the dead letters of {source} for the collection {collection!r}"
        raise JobError(reason, "index those first, or name another folder by `job`")


def _change_error(work: JobSpec) -> JobError:
    reason = f"{work.source} has changed since it was indexed in part, or is read in another way"
    return JobError(reason, ANEW)


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
    on_repeat: OnRepeat
    failures: Failures
    progress: SourceProgress
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

    def open_source(self) -> None:
        """Begin to put usable documents into batches. Raises SourceError if it is unreadable."""
        count_bytes = self.progress.count_bytes
        records = sources.records(self.source, reading=self.reading, on_progress=count_bytes)
        self.batches = self._make_batches(check_documents(records))

    def choose_settings(
        self, settings: Settings | Mapping[str, Any] | None, min_replicas: int
    ) -> Settings:
        """Choose the settings, of a new collection by the first texts, which are read ahead.

        A collection that is missing is to be created with enough replicas.
        """
        plain = self.collection.names.is_plain

        def choose() -> Settings:
            usual = DEFAULT_SETTINGS if plain else ANNOTATED
            settings_of(settings, usual)  # raises before anything is read
            return _choose_by_texts(settings, usual, self._read_ahead())

        try:
            return self.collection.choose_settings(settings, choose)
        except CoreMissing as error:
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

    def _make_batches(self, records: Iterable[Record]) -> Iterator[Stretch]:
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
        if isinstance(record, Document) and record.id in self.seen:
            if self.on_repeat == "fail":
                record = came_before(record, self.as_record(record))
            else:
                self.repeated += 1
                if self.on_repeat == "first":
                    return
                if record.id not in batch.documents:
                    self.again[record.id] += 1
                    batch.repeats = True
        if isinstance(record, RecordError):
            batch.dead.append(record)
            self.failures.add(record)
            return
        self.seen.add(record.id)
        batch.documents[record.id] = record
        batch.characters += len(record.text)

    def as_record(self, document: Document) -> Mapping[str, object]:
        """Name the values of a document as its source does, joined texts by the first column."""
        return {self.reading.id: document.id, self.reading.text[0]: document.text, **document.kept}

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
            last=stretch.last_ids() or done.last,
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
        except (NeardupError, KeyboardInterrupt) as error:
            is_of_server = isinstance(error, SolrError | ServerError)
            may_pass = isinstance(error, ServerError) or getattr(error, "may_pass", False)
            has_job = self.job is not None and not isinstance(error, JobError)
            if has_job and (self.has_begun or may_pass):
                if self.reached.read:
                    done = f"The first {self.reached.read:,} records of {self.work.source} are done"
                    anew = "it cannot be read a second time, and the same command begins anew"
                    how = "`resume` goes on after them" if self.work.identity else anew
                    error.add_note(f"{done}: {how}.")
                elif is_of_server or (self.sent and isinstance(error, NeardupError)):
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
        if lost := sorted(self._names - self._ours - brought):
            having = {name: f"{name}:[* TO *]" for name in lost}
            if count := self._collection.count([" OR ".join(having.values())], ids=ids):
                lost = [name for name in lost if self._collection.count([having[name]], ids=ids)]
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
        step = "another program writes them; to add our fields to them run"
        return SettingsError(reason, f"{step}: neardup annotate {collection.place}")
    kept = ",".join(columns)
    return SettingsError(reason, f"keep them by `keep` {kept}, or drop them by an empty `keep`")
