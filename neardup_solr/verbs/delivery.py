"""Documents on their way into a collection: sent, committed, and searched for."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

from neardup_solr import errors, progress
from neardup_solr.cores import count_cores
from neardup_solr.errors import RecordError, SolrAnswerError
from neardup_solr.failpoint import stop_at
from neardup_solr.index_job import Position
from neardup_solr.minhash.solr_json import EncodedDocuments, encode_columns, encode_documents
from neardup_solr.progress import ignore
from neardup_solr.records import Document, Run
from neardup_solr.settings import Settings
from neardup_solr.sizes import SIZES
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.refusals import Sent
from neardup_solr.solr.settle import settle
from neardup_solr.verbs.document_batches import DocumentBatch

# How soon a thread whose answer has come gets the interpreter while a batch is encoded; with
# the 5 ms of Python, Solr would wait for us several times a batch.
HANDOVER_SECONDS = 0.0005
STRETCH_CHARACTERS = 2**25  # of text that is held until it is verified
LOST = "Solr accepted it, but lost it after a commit; check that no program deletes it"


@dataclass(slots=True, kw_only=True)
class Stretch:
    """Documents on their way, by their ids: a batch that is sent, or all between two checkpoints.

    Those of a run have their place in it. A batch has them in `columns`, too. `versions` are what
    Solr gave them, `words` the numbers of words of the batches that it took, by their ends.
    `repeats` is set if an id came before, in this stretch or an earlier stretch. The source was
    read from `begin` to `end`; `dead` are the records of it that could not be used, or that Solr
    refused.
    """

    documents: dict[str, Document | tuple[Run, int]] = field(default_factory=dict)
    columns: DocumentBatch = field(default_factory=DocumentBatch)
    versions: dict[str, int] = field(default_factory=dict)
    repeats: bool = False
    characters: int = 0
    words: dict[int, int] = field(default_factory=dict)
    begin: int = 0
    end: Position = field(default_factory=Position)
    dead: list[RecordError] = field(default_factory=list)

    def document(self, id: str) -> Document:
        """Make one of the documents."""
        held = self.documents[id]
        return held if isinstance(held, Document) else held[0].document(held[1])

    def add(self, batch: Stretch) -> None:
        """Add a batch that is being sent."""
        self.repeats |= batch.repeats or not self.documents.keys().isdisjoint(batch.documents)
        self.documents |= batch.documents
        self.characters += batch.characters
        dead = [*self.dead, *batch.dead]
        # Together and last, without a call between them: an interrupt leaves all as before or none.
        self.end, self.dead = batch.end, dead


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
    _answers: deque[tuple[Stretch, Stretch, Future[tuple[Sent, int]]]] = field(
        default_factory=deque
    )
    _check: Future[list[str]] | None = None
    _deadline: float | None = None
    _encoders: ThreadPoolExecutor = field(init=False)
    _senders: ThreadPoolExecutor = field(init=False)
    _checker: ThreadPoolExecutor = field(init=False)

    def run(self, batches: Iterable[Stretch], begin: int = 0) -> None:
        """Send all batches. When this returns, all they hold is in Solr or a dead letter.

        The next batches are encoded by all cores while all threads wait for Solr, so that Solr
        need not wait, and the next stretch is sent while another is verified. A batch that repeats
        an id waits for those before it, because the last record of an id has to win. An earlier run
        has done the records up to `begin`.

        On KeyboardInterrupt, and if the source cannot be read any further, what was sent is
        verified before the error is raised; a second KeyboardInterrupt ends at once.
        Raises SolrError if Solr stays away for too long: then earlier stretches are done.
        """
        self._open.begin = begin
        self._encoders = ThreadPoolExecutor(count_cores())
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
            for pool in (self._encoders, self._senders, self._checker):
                pool.shutdown(wait=False, cancel_futures=True)

    def _send(self, batch: Stretch) -> None:
        encoded = self._encoders.submit(self._encode, batch.columns)
        ahead = self.threads + count_cores()  # batches that are sent, or encoded meanwhile
        while self._answers and (batch.repeats or len(self._answers) >= ahead):
            self._acknowledge()
        if self.has_to_verify(self._open, batch.documents):
            self._close()
        if batch.repeats or (self._check is not None and self._check.done()):
            # What is sent again must not replace a later document of the same id.
            self._settle()
        most = max(1, self.checkpoint_every // 2)  # two stretches are on their way at once
        if self._open.end.read and batch.end.read - self._open.begin > most:
            self._close()
        stop_at("before-send")
        if batch.documents:
            answer = self._senders.submit(self._take, encoded, [*batch.documents])
            self._answers.append((self._open, batch, answer))
        self._open.add(batch)
        is_long = self._open.characters >= STRETCH_CHARACTERS
        if is_long or self._open.end.read - self._open.begin >= most:
            self._close()

    def _encode(self, columns: DocumentBatch) -> EncodedDocuments:
        return encode_columns(columns.ids, columns.texts, columns.list_kept(), self.settings)

    def _take(self, encoded: Future[EncodedDocuments], ids: Sequence[str]) -> tuple[Sent, int]:
        """Send documents once they are encoded, and count their words."""
        made = encoded.result()
        return self.collection.take(made.jsons, ids), int(made.words.sum())

    def _acknowledge(self) -> None:
        """Wait for the answer to the first batch that has none.

        An interrupt may come at any point: noting an answer twice does no harm.
        """
        stretch, batch, future = self._answers[0]
        answer, words = future.result(self._time_left())
        stop_at("after-send")
        self.note(stretch, answer)
        stretch.words[batch.end.read] = words
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
        self._deadline = time.monotonic() + SIZES.last_seconds
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
            if refusal.id in stretch.documents:
                reason = f"Solr refused it: {refusal.reason}"
                document = stretch.document(refusal.id)
                del stretch.documents[refusal.id]
                stretch.dead.append(self._error(document, reason))

    def verify(self, stretch: Stretch, seconds: float | None = None) -> None:
        """Commit, and send what Solr has lost again until a search finds all of the stretch.

        Raises TimeoutError if the commit takes longer than so many seconds.
        """
        commit = partial(self.commit, stretch)
        if commit() if seconds is None else progress.start_thread(commit).result(seconds):
            self._recover(stretch)

    def commit(self, stretch: Stretch) -> list[str]:
        """Commit, and list the ids of documents that a search does not find."""
        stop_at("before-commit")
        self.collection.commit()
        stop_at("after-commit")
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
            have_copies, self.collection.session.outages.patience, SIZES.settle_pause
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
            raise SolrAnswerError(self.collection.url, 200, reason, step, code="write-incomplete")
        for id in lost:
            document = stretch.document(id)
            del stretch.documents[id]
            stretch.dead.append(self._error(document, LOST))

    def _send_again(self, stretch: Stretch, ids: Sequence[str]) -> None:
        for at in range(0, len(ids), self.batch):
            part = [stretch.document(id) for id in ids[at : at + self.batch]]
            self.resent += len(part)
            jsons = encode_documents(part, self.settings)
            self.note(stretch, self.collection.take(jsons, [document.id for document in part]))

    def _error(self, document: Document, reason: str) -> RecordError:
        record = self.as_record(document)
        where = document.position or "a document"
        return RecordError(
            where, reason, document.id, record=record, stage="solr", code="record-refused"
        )
