"""A file without its near-duplicates: what is removed for what, and the file read once more.

Every record of the source goes into exactly one of three files: unique, removed, rejected.
"""

from __future__ import annotations

import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, Final

from neardup_solr import sources
from neardup_solr.arguments import require
from neardup_solr.errors import ArgumentError, RecordError, SourceError
from neardup_solr.files import check_apart, is_inside
from neardup_solr.progress import OnProgress, Progress
from neardup_solr.records import NOTHING, Removed
from neardup_solr.reports.copies import Add, Beside, check_added, check_copy, copied
from neardup_solr.solr import is_collection
from neardup_solr.sources import Reading
from neardup_solr.sources.folders import walk
from neardup_solr.sources.raw import Written
from neardup_solr.verbs.duplicates.from_source import AT_ONCE
from neardup_solr.verbs.duplicates.inputs import Compared, Input
from neardup_solr.verbs.duplicates.options import TWICE

# What comes to a removed record, beside its own columns.
DUPLICATE_OF: Final = "neardup_duplicate_of"
SIMILARITY: Final = "neardup_similarity"
ROW: Final = "neardup_row"
# What comes to a record that cannot be used; the last if it has no columns of its own.
REASON: Final = "neardup_reason"
POSITION: Final = "neardup_position"
RECORD: Final = "neardup_record"
ADDED: Final[Mapping[str, Beside]] = {
    "`removed`": {DUPLICATE_OF: str, SIMILARITY: float, ROW: int},
    "`rejected`": dict.fromkeys((REASON, POSITION, RECORD), str),
}

WRITING: Final = "writing"
FAILED, KEPT, REMOVED = range(3)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unique:
    """Counts of the records of a file: those that are kept, and those that are not.

    `removed` are near-duplicates of a kept one, `repeated` are left out for another one of their
    id, `failed` could not be used, and are in no file but that of the rejected ones.
    """

    kept: int
    removed: int
    repeated: int
    failed: int

    @property
    def records(self) -> int:
        """All records of the file."""
        return self.kept + self.removed + self.repeated + self.failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """Where the records of a source go: those that stay, are removed, or cannot be used.

    Raises ArgumentError if the source cannot be read twice, or if something else is asked for that
    does not go together; SourceError if a file could not be written.
    """

    source: Compared
    reading: Reading
    unique: Path | None
    removed: Path | None
    rejected: Path | None = None
    against: Compared | None = None
    within: bool = False
    limit: int | None = None

    def __post_init__(self) -> None:
        self._check_source()
        require(not self.within, "`unique` does not go with `within`", TWICE)
        require(self.limit is None, "`unique` does not go with `limit`", "read the whole file")
        check_apart(self._files)
        for name, given in (("the source", self.source), ("`against`", self.against)):
            for path in sources.paths_of(given) or ():
                check_apart({name: Path(path), **self._files})
        format, columns = self._layout()
        for name, output in self._files.items():
            if output is not None:
                if any(is_inside(output, path) for path in self._paths):
                    reason = "lies in the folder that is read"
                    raise SourceError(str(output), reason, "name a place outside of it")
                added = ADDED.get(name, NOTHING)
                check_copy(output, format, adds=bool(added))
                check_added(sources.shown_name(self._paths), columns, added)

    @property
    def _files(self) -> dict[str, Path | None]:
        return {"`unique`": self.unique, "`removed`": self.removed, "`rejected`": self.rejected}

    @property
    def _paths(self) -> list[Path]:
        return [Path(path) for path in sources.paths_of(self.source) or ()]

    def _layout(self) -> tuple[str, Collection[str]]:
        """The format of the source, and its columns, or those of its first record.

        Without the latter, if they cannot be read: that is told later.
        """
        try:
            source = sources.as_written(self._paths, reading=self.reading)
            first = None if source.names else next(source.records, None)
            columns = source.row(first) if source.is_apart(first) else source.names or ()
            return source.format, columns
        except (RecordError, ValueError, StopIteration, RuntimeError):
            return sources.format_of(self._paths, reading=self.reading), ()

    def _check_source(self) -> None:
        given = self.source
        if is_collection(given):
            raise ArgumentError(
                "a collection has no file to write it without its near-duplicates",
                "mark them there (`mark`, nd.mark), then the filter query"
                f" fq={given.names.canonical_filter} leaves them out",
            )
        require(
            sources.paths_of(given) is not None,
            "`unique` needs a file or a folder as `source`",
            "a DataFrame is filtered by the result:"
            f' df[~df["{self.reading.id}"].isin(found.removed)]',
        )
        try:
            kinds = [path.stat().st_mode for path in self._paths]
            is_stream = not all(stat.S_ISREG(kind) or stat.S_ISDIR(kind) for kind in kinds)
        except (OSError, ValueError):
            is_stream = Path("-") in self._paths  # what else is wrong is told by those who read it
        require(
            not is_stream,
            "standard input, or a pipe, cannot be read twice, which `unique` needs",
            "write it to a file first",
        )

    def state(self) -> bytes:
        """What changes if the source does."""
        digest = blake2b()
        for path in chain.from_iterable(map(walk, self._paths)):
            found = path.lstat() if path.is_symlink() else path.stat()
            digest.update(repr((path, found.st_size, found.st_mtime_ns)).encode("utf-8", "replace"))
        return digest.digest()

    def write(self, fates: Outcomes, state: bytes, on_progress: OnProgress) -> Unique:
        """Read the source once more, and write its records. `state` is that of the first time.

        Raises SourceError if the source changed meanwhile, or a file cannot be written.
        """
        source = sources.as_written(self._paths, reading=self.reading)
        with ExitStack() as files:
            keep = files.enter_context(_opened(self.unique, source))
            remove = files.enter_context(_opened(self.removed, source, ADDED["`removed`"]))
            reject = files.enter_context(_opened(self.rejected, source, ADDED["`rejected`"]))
            removed, failed = iter(fates.removed), zip(*fates.failed, strict=True)
            for number, fate, record in self._with_fates(source, fates):
                if number % AT_ONCE == 1:
                    on_progress(Progress(WRITING, number - 1, len(fates.of)))
                if fate == KEPT:
                    keep(record, NOTHING)
                elif fate == REMOVED:
                    remove(record, _beside(next(removed), number))
                elif source.is_apart(record):
                    reject(record, _told(*next(failed), None))
                else:
                    reject(None, _told(*next(failed), source.text_of(record)))
            if self.state() != state:
                raise self._changed()
        return fates.counted()

    def _with_fates(self, source: Written, fates: Outcomes) -> Iterator[tuple[int, int, Any]]:
        """The number of each record from 1 on, its fate, and it."""
        for number, (fate, record) in enumerate(zip_longest(fates.of, source.records), 1):
            if fate is None or (record is None and fate != FAILED):
                raise self._changed()
            yield number, fate, record

    def _changed(self) -> SourceError:
        name = sources.shown_name(self._paths)
        return SourceError(name, "changed while it was read", "run it again")


def _opened(
    path: Path | None, source: Written, added: Beside = NOTHING
) -> AbstractContextManager[Add]:
    return nullcontext(_discard) if path is None else copied(path, source, added)


def _discard(_: Any, __: Any) -> None:
    """Discard a record: no file was asked for."""


def _beside(one: Removed, number: int) -> dict[str, str | float | None]:
    """Choose what comes to a removed record: its number tells it from others of its id."""
    similarity = None if one.similarity is None else round(one.similarity, 4)
    return {DUPLICATE_OF: one.duplicate_of, SIMILARITY: similarity, ROW: number}


def _told(reason: str, position: str, text: str | None) -> dict[str, str | float | None]:
    """What comes to a record that cannot be used, and its text if it has no columns."""
    return {REASON: reason, POSITION: position, RECORD: text}


@dataclass(slots=True, kw_only=True)
class Outcomes:
    """What becomes of each record of a source, in its order: failed, kept or removed.

    `removed` says for what, for each that is removed in turn; `repeated` counts those of them that
    others of their id are kept for. `failed` are the reasons and positions of the failed ones.
    """

    failed: tuple[Sequence[str], Sequence[str]]
    of: bytearray = field(default_factory=bytearray)
    removed: list[Removed] = field(default_factory=list)
    repeated: int = 0

    def counted(self) -> Unique:
        """How many records have which fate."""
        return Unique(
            kept=self.of.count(KEPT),
            removed=len(self.removed) - self.repeated,
            repeated=self.repeated,
            failed=self.of.count(FAILED),
        )


def fates(side: Input, removed: Mapping[str, Removed]) -> Outcomes:
    """What becomes of the records of a side that was read with an order."""
    assert side.order is not None
    found, dead = Outcomes(failed=(side.order.reasons, side.order.positions)), set(side.dead)
    documents, rows = iter(side.order.have_words), enumerate(side.ids)
    for is_document in side.order.are_documents:
        if not is_document:
            found.of.append(FAILED)
            continue
        if not next(documents):  # without words it is nothing's near-duplicate
            found.of.append(KEPT)
            continue
        row, id = next(rows)
        known = removed.get(id)
        if row in dead:
            found.removed.append(_repeated(id, known))
            found.repeated += 1
        elif known is not None:
            found.removed.append(known)
        found.of.append(REMOVED if row in dead or known is not None else KEPT)
    return found


def _repeated(id: str, known: Removed | None) -> Removed:
    """A record that another one of its id stands for, which may itself be removed for a third."""
    kept = id if known is None else known.duplicate_of
    return Removed(id=id, duplicate_of=kept, similarity=None)
