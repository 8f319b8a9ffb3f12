"""Reports of a verb to its caller: its progress, and the records that it could not use."""

from __future__ import annotations

import logging
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field

from neardup_solr.errors import RecordError, counted
from neardup_solr.records import characters


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a function.

    `stage` is a word for what is being done ("indexing", "comparing", ...), `done` how many
    documents of `total` are done (bands when "joining", pairs when "comparing" in `duplicates`).
    Without a total, `share` may be the part of the source that is done, 0..1.
    """

    stage: str
    done: int
    total: int | None = None
    share: float | None = None


OnError = Callable[[RecordError], None]
OnProgress = Callable[[Progress], None]


def ignore(_: object) -> None:
    """Ignore the report."""


@dataclass(slots=True, kw_only=True)
class SourceProgress:
    """Progress of a work on a source of so many `rows` and bytes (`size`), if it tells them."""

    stage: str
    on_progress: OnProgress
    rows: int | None
    size: int | None
    bytes: int = 0

    def count_bytes(self, bytes: int) -> None:
        """Note how many bytes of the source have been read."""
        self.bytes = bytes

    def report(self, read: int, done: int) -> None:
        """Report how many documents are done, and the share of the records that were read."""
        counts = ((read, self.rows), (self.bytes, self.size))
        share = next((part / total for part, total in counts if total), None)
        self.on_progress(Progress(self.stage, done, share=share))


@dataclass(frozen=True, slots=True, kw_only=True)
class Callbacks:
    """Callbacks for records that cannot be used, and for progress."""

    on_error: OnError | None = None
    on_progress: OnProgress = field(default=ignore)

    @classmethod
    def of(cls, on_error: OnError | None, on_progress: OnProgress | None) -> Callbacks:
        """Take the functions that are arguments of a verb."""
        return cls(on_error=on_error, on_progress=on_progress or ignore)


LOG = logging.getLogger("neardup_solr")
MOST_ERRORS = 1_000  # that a result holds; more are only counted
MOST_CHARACTERS = 2**24  # of the records that these carry along


@dataclass(slots=True)
class Failures:
    """The records that a verb could not use: how many, and the first of them.

    `on_error` gets each; if it is None, `warn` logs a line about all of them.
    """

    on_error: OnError | None
    count: int = 0
    first: list[RecordError] = field(default_factory=list)
    characters: int = 0

    def add(self, error: RecordError) -> None:
        """Count a record and report it."""
        self.count += 1
        if len(self.first) < MOST_ERRORS:
            self.first.append(self._held(error))
        if self.on_error is not None:
            self.on_error(error)

    def _held(self, error: RecordError) -> RecordError:
        """An error as a result holds it: with its record, unless the records take too much."""
        self.characters += characters(error.record)
        if self.characters <= MOST_CHARACTERS:
            return error
        held = copy(error)
        held.record = None
        return held

    def warn(self) -> None:
        """Log how many records could not be used, and why the first could not."""
        if self.count and self.on_error is None:
            records = counted(self.count, "record")
            if not self.first:  # the dead letters of that run say why
                LOG.warning("%s could not be used by an earlier run", records)
                return
            more = "" if self.count == 1 else ", the first of them"
            LOG.warning("%s could not be used%s: %s", records, more, self.first[0])
