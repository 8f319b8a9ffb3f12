"""retry: dead letters, whose records may have been corrected, into their collection."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from neardup_solr import index_job, sources
from neardup_solr.dead_letter_file import Letter
from neardup_solr.errors import JobError, NeardupError, RecordError, SourceError
from neardup_solr.index_job import Job, SavedJob, folders_of, read_job, read_letters, read_mtime
from neardup_solr.progress import Failures, OnError, OnProgress, ignore
from neardup_solr.records import Document
from neardup_solr.solr.collection import Collection
from neardup_solr.sources import Reading, identity
from neardup_solr.sources.column import matches
from neardup_solr.sources.document import AGAIN
from neardup_solr.sources.objects import from_objects, load
from neardup_solr.sources.part import NUMBERED, Record, SourcePart
from neardup_solr.units import in_seconds
from neardup_solr.verbs.index import index_source

GONE = "'record' is missing or unreadable: set it to an object with its columns"
NO_HEADER = "its source is gone or has changed: set 'record' to an object with its columns"
NO_NUMBER = "its record number, which is its id, is unknown: index its source again"
TABLES = ("csv", "tsv")
OBJECTS = ("json", "jsonl")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrySummary:
    """Counts of a `retry` run.

    `collection`: name of the collection; `documents`: documents now in it; `read`: letters read,
    the sum of the next three; `indexed`: letters indexed; `repeated`: letters left out because a
    later record has their id; `failed`: letters that failed again; `errors`: their first 1,000
    errors; `left`: files of the failed letters; `unfinished`: folders of unfinished jobs, left as
    they were.
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


def retry_letters(
    collection: Collection,
    *,
    job: str | Path | None,
    patience: float | str,
    on_error: OnError | None,
    on_progress: OnProgress | None,
) -> RetrySummary:
    """Index the records again that could not be indexed."""
    started = time.monotonic()
    if job is None:
        folders = folders_of(collection.base, collection.name)
    else:
        folders, name = [Path(job)], _read_ended(Path(job)).work.collection
        if name != collection.name:
            reason = f"the job in {job} is for the collection {name!r}, not {collection.name!r}"
            step = f"retry it with `collection` {name}"
            raise JobError(reason, step, code="job-other-collection")
    ended = [folder for folder in folders if read_job(folder).has_ended]
    unfinished = [each for each in folders if each not in ended and any(read_letters(each))]
    run = _Retry(
        collection=collection,
        patience=in_seconds(patience, "patience"),
        failures=Failures(on_error),
        on_progress=on_progress or ignore,
    )
    for folder in ended:
        run.index_letters(folder)
    run.failures.warn()
    return RetrySummary(
        collection=collection.name,
        documents=collection.count(),
        read=run.read,
        indexed=run.read - run.repeated - run.failures.count,
        repeated=run.repeated,
        failed=run.failures.count,
        errors=tuple(run.failures.first),
        left=tuple(run.left),
        unfinished=tuple(unfinished),
        seconds=time.monotonic() - started,
    )


def _read_ended(folder: Path) -> SavedJob:
    """Read the checkpoint of a job that has ended. Raises JobError for any other."""
    if not (saved := read_job(folder)).has_ended:
        step = "finish it first: run the same `index` again with `resume`"
        raise JobError(f"the job in {folder} has not ended", step, code="job-unfinished")
    return saved


@dataclass(slots=True, kw_only=True)
class _Retry:
    """Dead letters that are indexed again, job by job, and what came of it."""

    collection: Collection
    patience: float
    failures: Failures
    on_progress: OnProgress
    read: int = 0
    repeated: int = 0
    left: list[Path] = field(default_factory=list)

    def index_letters(self, folder: Path) -> None:
        """Index those of a job. What is indexed is removed afterwards, at once."""
        with Job(folder) as job:
            before = read_mtime(job.letters)
            saved = _read_ended(folder)  # as it is now that no other run has it
            if not before:
                job.end()
                return
            reader, errors = LetterReader(saved.work), dict[int, RecordError]()
            summary = index_source(
                reader.reading.as_source(self._documents(folder, reader, errors)),
                self.collection,
                id=reader.reading.id,
                text=reader.reading.text,
                keep=reader.reading.keep or None,
                patience=self.patience,
                on_error=lambda error: errors.update({int(error.position): error}),
                on_progress=self.on_progress,
            )
            if read_mtime(job.letters) != before:
                reason = f"{job.letters} was changed while its records were indexed"
                step = "nothing was removed from it: run this again"
                raise JobError(reason, step, code="job-unreadable")
            self.repeated += summary.repeated
            if rest := list(self._refuse(folder, errors)):
                job.keep_letters(rest)
                self.left.append(job.letters)
            else:
                job.end()

    def _documents(
        self, folder: Path, reader: LetterReader, errors: dict[int, RecordError]
    ) -> Iterator[Document]:
        """Yield their documents, each with the number of its letter as its position."""
        for number, letter in enumerate(read_letters(folder)):
            self.read += 1
            record = reader.read(letter)
            if isinstance(record, Document):
                yield replace(record, position=str(number))
            else:
                errors[number] = record

    def _refuse(self, folder: Path, errors: Mapping[int, RecordError]) -> Iterator[Letter]:
        """Report the letters that failed again, and yield them with the new reason.

        Those without a record keep the earlier reason.
        """
        for number, letter in enumerate(read_letters(folder)):
            if (error := errors.get(number)) is None:
                continue
            where, id, record = letter.position, letter.id or error.id, letter.record
            self.failures.add(
                RecordError(
                    where, error.reason, id, record=record, stage=error.stage, code=error.code
                )
            )
            is_readable = error.reason not in (GONE, NO_HEADER)
            new = replace(letter, reason=error.reason, stage=error.stage, id=id)
            yield new if is_readable else letter


class LetterReader:
    """Reads the records of dead letters as their job has read its source.

    Raises JobError if how it did so cannot be understood.
    """

    def __init__(self, work: index_job.JobSpec) -> None:
        try:
            columns = {name: tuple(work.reading[name]) for name in ("text", "keep")}
            self.reading = Reading(**{**work.reading, **columns})
        except (KeyError, TypeError, NeardupError) as error:
            reason = f"the stored settings for reading {work.source} are invalid ({error})"
            raise JobError(reason, "index the whole source again", code="job-unreadable") from None
        self._source = work.source
        self._format, self._header = self.reading.source_format, b""
        opened = sources.open_source(self._source, self.reading, on_notice=ignore)
        with suppress(NeardupError):  # the source may be gone, or have changed
            if not self._format and self._source != "-":
                self._format = opened.format
            is_table = self._format in TABLES and work.identity is not None
            if is_table and identity(self._source, self.reading) == work.identity:
                table = opened.table()
                self._header, self._delimiter = table.head, table.delimiter

    def read(self, letter: Letter) -> Record:
        """Return the document in a dead letter, or the error that says what is wrong with it."""
        where = letter.position
        if letter.record is None:
            return RecordError(where, GONE, letter.id, stage=letter.stage, code="record-gone")
        try:
            document = self._read(where, letter.record)
        except (SourceError, RecordError) as error:
            return RecordError(where, error.reason, code=error.code)
        if isinstance(document, RecordError):
            return RecordError(where, document.reason, document.id, code=document.code)
        if letter.reason == AGAIN and document.id == letter.id:
            # The job was to index the record before it.
            return RecordError(where, AGAIN, letter.id, stage="check", code="id-repeated")
        if document.id is NUMBERED:
            if letter.id is None:
                return RecordError(where, NO_NUMBER, stage=letter.stage, code="record-gone")
            document = replace(document, id=letter.id)
        if self._format in TABLES:  # in which an empty cell is no value
            kept = {name: value for name, value in document.kept.items() if value != ""}
            document = replace(document, kept=kept)
        return document

    def _read(self, where: str, record: Mapping[str, Any] | str) -> Record:
        # Dead letters are UTF-8, without what is above the header.
        reading = replace(self.reading, encoding=None, skip_rows=0, sheet=None)
        raw = record.encode("utf-8", "surrogateescape") if isinstance(record, str) else b""
        source = SourcePart(
            label=self._source, name=self._source, path=None, reading=reading, begun=iter([raw])
        )
        # Of a source that is gone, or was recognized, only objects tell what they are.
        is_object = raw.lstrip().startswith(b"{") if self._format is None else False
        if isinstance(record, Mapping) or self._format in OBJECTS or is_object:
            item = load(where, raw, reading) if raw else (where, record, raw)
            if isinstance(item[1], Mapping) and not matches(reading.id, tuple(item[1])):
                # Formats without columns, and documents in memory, have these names.
                text = ("text",) if "text" in item[1] else reading.text
                reading = replace(reading, id="id", text=text) if reading.has_ids else reading
            return next(from_objects(source, [item], reading))
        if self._format not in (*TABLES, "lines"):
            return RecordError(where, GONE, code="record-gone")
        if self._format in TABLES:
            if not self._header:  # nor if that of parts differs
                return RecordError(where, NO_HEADER, code="record-gone")
            reading = replace(reading, delimiter=self._delimiter)
            source = replace(source, reading=reading, begun=iter([self._header, b"\n", raw]))
        table = sources.open_part(replace(source, format=self._format))
        records = list(sources.one_by_one(table.documents()))
        if len(records) != 1:
            reason = f"{len(records)} records instead of one"
            return RecordError(where, reason, code="record-malformed")
        return records[0]
