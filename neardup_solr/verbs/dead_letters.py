"""Dead letters: the records that `index` could not index, to be looked at and indexed again."""

from __future__ import annotations

import codecs
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, cast

import orjson

from neardup_solr import sources
from neardup_solr.arguments import Source, checked, in_seconds, require
from neardup_solr.checkpoint import (
    Job,
    JobSpec,
    Letter,
    SavedJob,
    folders_of,
    read_checkpoint,
    read_letters,
)
from neardup_solr.errors import JobError, NeardupError, RecordError, SourceError
from neardup_solr.progress import Failures, OnError, OnProgress, ignore
from neardup_solr.records import Document
from neardup_solr.solr.collection import Collection
from neardup_solr.sources import Reading
from neardup_solr.sources.fingerprint import identity
from neardup_solr.sources.json import from_objects
from neardup_solr.sources.record import AGAIN, NUMBERED, Opened, Record, Unusable, decode, matches
from neardup_solr.verbs.index import index

GONE = "the record itself is not in the file: put an object with its columns into 'record'"
NO_HEADER = "the header of its source is needed to read it, and is no longer the same"
NO_NUMBER = "its number as a record, which is its id, is not known: index its source again"
TABLES = ("csv", "tsv")
OBJECTS = ("json", "jsonl")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrySummary:
    """Counts of a retry of dead letters: `read` = `indexed` + `repeated` + `failed`.

    `repeated` counts those whose id another one after them has, too: that one counts. The failed
    ones stay in their files, which are `left`; `errors` says why the first 1,000 of them failed.
    `unfinished` are folders of jobs that have not ended, whose dead letters were left as they are.
    `collection` is the name of the collection, and `documents` counts what is in it now.
    """

    collection: str
    documents: int
    read: int
    indexed: int
    repeated: int
    failed: int
    errors: tuple[RecordError, ...]
    left: tuple[Path, ...]
    unfinished: tuple[Path, ...]
    seconds: float


@checked
def dead_letters(
    collection: Collection | None = None, *, job: str | Path | None = None
) -> list[Letter]:
    """The dead letters of a collection, or of one job: the records that `index` could not index.

    Those of a collection are in the usual folders of the jobs of the command `neardup index`.
    `job` is the folder of one job, which `index` was given or has named. There are none of a job
    that has indexed everything.

    Raises ArgumentError unless one of the two is given, JobError if there is no job in the folder,
    or its files cannot be understood.
    """
    require(
        (collection is None) != (job is None),
        "dead letters are those of a collection or of a job",
        "give either `collection` or `job`",
    )
    if job is not None:
        require_job(Path(job))
        return list(read_letters(Path(job)))
    assert collection is not None
    folders = folders_of(collection.base, collection.name)
    return [letter for folder in folders for letter in read_letters(folder)]


@checked
def retry(
    collection: Collection,
    *,
    job: str | Path | None = None,
    patience: float | str = "5m",
    on_error: OnError | None = None,
    on_progress: OnProgress | None = None,
) -> RetrySummary:
    """Index dead letters again, those of all jobs of a collection, or those of one `job`.

    They are read as their job read its source, and the settings are those of the collection, in
    which a document of the same id is replaced. A record may have been edited in the file
    (dead-letters.jsonl in the folder of its job) once the job has ended. Those of other jobs are
    left as they are.

    A dead letter is removed from the file only after its document is committed and found by a
    search; the others stay, each with its new reason, and go to `on_error`. If there is no
    `on_error`, a warning is logged. If all have been indexed, the folder of the job goes, too. So
    a retry can be interrupted and called again.

    `patience` (seconds, or "5m") is how long to wait for a Solr that is away, `on_progress` is told
    how far the work is.

    Raises JobError if there is no job in the folder, it is at work or has not ended, or its files
    cannot be understood, SettingsError if documents would lose columns, SourceError if the dead
    letters cannot be written, SolrError if Solr does not come back: then they stay.
    """
    started = time.monotonic()
    if job is None:
        folders = folders_of(collection.base, collection.name)
    else:
        folders = [Path(job)]
        _require_of(require_ended(Path(job)), Path(job), collection)
    ended = [folder for folder in folders if require_job(folder).has_ended]
    unfinished = [each for each in folders if each not in ended and any(read_letters(each))]
    attempt = _Attempt(
        collection=collection,
        patience=in_seconds(patience, "patience"),
        failures=Failures(on_error),
        on_progress=on_progress or ignore,
    )
    for folder in ended:
        attempt.run(folder)
    attempt.failures.warn()
    return RetrySummary(
        collection=collection.name,
        documents=collection.count(),
        read=attempt.read,
        indexed=attempt.read - attempt.repeated - attempt.failures.count,
        repeated=attempt.repeated,
        failed=attempt.failures.count,
        errors=tuple(attempt.failures.first),
        left=tuple(attempt.left),
        unfinished=tuple(unfinished),
        seconds=time.monotonic() - started,
    )


def require_job(folder: Path) -> SavedJob:
    """The checkpoint of a job. Raises JobError if there is none in the folder."""
    kept = read_checkpoint(folder)
    if kept is None:
        step = "name the folder of a job that `index` has told; a job without dead letters has none"
        raise JobError(f"there is no job in {folder}", step)
    return kept


def require_ended(folder: Path) -> SavedJob:
    """The checkpoint of a job that has ended. Raises JobError if it has not, or is none."""
    kept = require_job(folder)
    if not kept.has_ended:
        step = "go on with it first: the same index with `resume`"
        raise JobError(f"the job in {folder} has not ended", step)
    return kept


def _require_of(kept: SavedJob, folder: Path, collection: Collection) -> None:
    """Refuse to put the dead letters of one collection into another one, by JobError."""
    if kept.work.collection != collection.name:
        named = kept.work.collection
        reason = f"the job in {folder} is one of the collection {named!r}, not {collection.name!r}"
        raise JobError(reason, f"retry it with `collection` {named}")


@dataclass(slots=True, kw_only=True)
class _Attempt:
    """Dead letters that are indexed again, job by job, and what came of it."""

    collection: Collection
    patience: float
    failures: Failures
    on_progress: OnProgress
    read: int = 0
    repeated: int = 0
    left: list[Path] = field(default_factory=list)
    _failed: dict[int, RecordError] = field(default_factory=dict)

    def run(self, folder: Path) -> None:
        """Index those of a job. What is indexed is removed afterwards, in one step."""
        with Job(folder) as job:
            before = _state(job.letters)
            kept = require_ended(folder)  # as it is now that nobody else has it
            if before is None:
                job.end()
                return
            self._failed = {}
            reader = Reader(kept.work)
            most = reader.reading.max_doc_bytes
            done = index(
                Source(self._documents(folder, reader), max_doc_bytes=most),
                self.collection,
                id=reader.reading.id,
                text=reader.reading.text,
                keep=reader.reading.keep or None,
                patience=self.patience,
                on_error=self._note,
                on_progress=self.on_progress,
            )
            if _state(job.letters) != before:
                reason = f"{job.letters} was changed while its records were indexed"
                raise JobError(reason, "nothing was removed from it: run this again")
            self.repeated += done.repeated
            if remaining := list(self._remaining(folder)):
                job.keep_letters(remaining)
                self.left.append(job.letters)
            else:
                job.end()

    def _documents(self, folder: Path, reader: Reader) -> Iterator[Document]:
        """Their documents, each with the number of its letter as its position."""
        for number, letter in enumerate(read_letters(folder)):
            self.read += 1
            found = reader.record_of(letter)
            if isinstance(found, Document):
                yield replace(found, position=str(number))
            else:
                self._failed[number] = found

    def _note(self, error: RecordError) -> None:
        self._failed[int(error.position)] = error

    def _remaining(self, folder: Path) -> Iterator[Letter]:
        """Report those that failed again, and give them with the new reason.

        Those without a record keep the old one.
        """
        for number, letter in enumerate(read_letters(folder)):
            if error := self._failed.get(number):
                now = replace(
                    letter, reason=error.reason, stage=error.stage, id=letter.id or error.id
                )
                self.failures.add(
                    RecordError(
                        now.position, now.reason, now.id, record=now.record, stage=now.stage
                    )
                )
                yield letter if now.reason in (GONE, NO_HEADER) else now


def _state(path: Path) -> tuple[int, int, int] | None:
    """Read what identifies the state of a file, or None if there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


class Reader:
    """Reads single records as a job has read its source.

    Raises JobError if how it did so cannot be understood.
    """

    def __init__(self, work: JobSpec) -> None:
        try:
            read = dict(work.reading)
            asked = read | {"text": tuple(read["text"]), "keep": tuple(read["keep"])}
            self.reading = Reading(**asked)
        except (KeyError, TypeError, NeardupError) as error:
            reason = f"how {work.source} was read cannot be understood ({error})"
            raise JobError(reason, "index it again as a whole") from None
        self._work = work
        self._format = _format(work, self.reading)
        self._header = _header(work, self.reading) if self._format in TABLES else None

    def record_of(self, letter: Letter) -> Record:
        """The document in a dead letter, or the error that says what is wrong with it."""
        where, given = letter.position, letter.record
        if given is None:
            return RecordError(where, GONE, letter.id, stage=letter.stage)
        try:
            found = self._read(where, given)
        except (SourceError, RecordError) as error:
            return RecordError(where, error.reason)
        if isinstance(found, RecordError):
            return RecordError(where, found.reason, found.id)
        if letter.reason == AGAIN and found.id == letter.id:
            # It was asked for that the record before it counts.
            return RecordError(where, AGAIN, letter.id, stage="check")
        if found.id is NUMBERED:
            if letter.id is None:
                return RecordError(where, NO_NUMBER, stage=letter.stage)
            found = replace(found, id=letter.id)
        if self._format in TABLES:  # in which an empty cell is none
            kept = {name: value for name, value in found.kept.items() if value != ""}
            found = replace(found, kept=kept)
        return found

    def _read(self, where: str, given: Mapping[str, Any] | str) -> Record:
        if not isinstance(given, str):
            return self._read_object(where, given, b"")
        raw = given.encode("utf-8", "surrogateescape")
        plain = replace(self.reading, encoding=None)  # dead letters are UTF-8
        # Of a source that is not there, or that was recognized, only objects tell what they are.
        if self._format in OBJECTS or (self._format is None and given.lstrip().startswith("{")):
            try:
                whole = decode(raw, plain)
                return self._read_object(where, orjson.loads(whole), whole.encode())
            except Unusable as problem:
                return RecordError(where, str(problem))
            except ValueError as error:
                return RecordError(where, f"malformed JSON ({error})")
        if self._format not in (*TABLES, "lines"):
            return RecordError(where, GONE)
        if self._format in TABLES and self._header is None:
            return RecordError(where, NO_HEADER)
        head = b"" if self._header is None else self._header + b"\n"
        source = replace(self._open(head + raw), reading=plain)
        found = list(sources.one_by_one(sources.open_part(source, self._format).documents()))
        return (
            found[0]
            if len(found) == 1
            else RecordError(where, f"{len(found)} records instead of one")
        )

    def _read_object(self, where: str, given: object, raw: bytes) -> Record:
        reading = self.reading
        # Formats without columns, and what is in memory as documents, have these names.
        has_others = isinstance(given, Mapping) and not matches(reading.id, tuple(given))
        if has_others and reading.has_ids:
            text = ("text",) if "text" in cast(Mapping[str, Any], given) else reading.text
            reading = replace(reading, id="id", text=text)
        (found,) = from_objects(self._open(b""), [(where, given, raw)], reading)
        return found

    def _open(self, raw: bytes) -> Opened:
        source = self._work.source
        begun = chain([raw])
        return Opened(given=source, name=source, path=None, reading=self.reading, begun=begun)


def _format(work: JobSpec, reading: Reading) -> str | None:
    """The format of a source, or None if it is not known any more."""
    if reading.source_format or work.source == "-":
        return reading.source_format
    try:
        return sources.format_of(work.source, reading=reading)
    except NeardupError:
        return None


def _header(work: JobSpec, reading: Reading) -> bytes | None:
    """The header of a table, or None if the source is not what it was."""
    try:
        if work.identity is None or identity(work.source, reading) != work.identity:
            return None
        head = sources.open(work.source, reading=reading).head
        return head.removeprefix(codecs.BOM_UTF8) or None  # of parts that differ
    except NeardupError:
        return None
