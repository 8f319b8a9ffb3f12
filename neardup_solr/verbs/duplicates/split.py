"""A file without its near-duplicates: its records, read once more, in one of three files each."""

from __future__ import annotations

import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from itertools import chain, repeat, zip_longest
from pathlib import Path
from typing import Any, Final

from neardup_solr import sources
from neardup_solr.arguments import OnRepeatOrKeep, require
from neardup_solr.errors import ArgumentError, RecordError, SourceError
from neardup_solr.files import check_apart, is_inside
from neardup_solr.progress import OnProgress, Progress, ignore
from neardup_solr.records import NOTHING, AnyId, Removed
from neardup_solr.reports.copies import Beside, check_added, check_copy, open_copy
from neardup_solr.sources import Reading, is_collection
from neardup_solr.sources.fingerprint import identity
from neardup_solr.verbs.duplicates.read import AT_ONCE, Input, read_pieces
from neardup_solr.verbs.duplicates.work import Compared, Work

# What comes to a removed record, beside its own columns.
DUPLICATE_OF: Final = "neardup_duplicate_of"
SIMILARITY: Final = "neardup_similarity"
ROW: Final = "neardup_row"
# What comes to a record that cannot be used; the last if it has no columns of its own.
REASON: Final = "neardup_reason"
POSITION: Final = "neardup_position"
RECORD: Final = "neardup_record"
ADDED: Final[Mapping[str, Beside]] = {
    "unique": NOTHING,
    "removed": {DUPLICATE_OF: str, SIMILARITY: float, ROW: int},
    "rejected": dict.fromkeys((REASON, POSITION, RECORD), str),
}
WRITING: Final = "writing"

Files = Mapping[str, Path | None]  # by the names of ADDED


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


def require_copied(source: Compared, reading: Reading, limit: int | None) -> list[Path]:
    """Return the paths of a source whose records can be copied, or raise ArgumentError."""
    if is_collection(source):
        raise ArgumentError(
            "a collection has no file to write it without its near-duplicates",
            "mark them there (`mark`, nd.mark), then the filter query"
            f" fq={source.names.canonical_filter} leaves them out",
        )
    named = sources.paths_of(source)
    step = f'a DataFrame is filtered by the result: df[~df["{reading.id}"].isin(found.removed)]'
    require(named is not None, "`unique` needs a file or a folder as `source`", step)
    paths = [Path(path) for path in named or ()]
    try:
        kinds = [path.stat().st_mode for path in paths]
        is_stream = not all(stat.S_ISREG(kind) or stat.S_ISDIR(kind) for kind in kinds)
    except (OSError, ValueError):
        is_stream = Path("-") in paths  # what else is wrong is told by those who read it
    reason = "standard input, or a pipe, cannot be read twice, which `unique` needs"
    require(not is_stream, reason, "write it to a file first")
    require(limit is None, "`unique` does not go with `limit`", "read the whole file")
    return paths


def check_files(
    paths: Sequence[Path], reading: Reading, files: Files, against: Sequence[Path] = ()
) -> None:
    """Refuse files that the records of a source could not be written to, by SourceError."""
    shown = {f"`{name}`": path for name, path in files.items()}
    for name, path in (*zip(repeat("the source"), paths), *zip(repeat("`against`"), against)):
        check_apart({name: path, **shown})
    format, columns = _find_layout(paths, reading)
    for name, output in files.items():
        if output is not None:
            if any(is_inside(output, path) for path in paths):
                reason = "lies in the folder that is read"
                raise SourceError(str(output), reason, "name a place outside of it")
            check_copy(output, format, adds=bool(ADDED[name]))
            check_added(sources.shown_name(paths), columns, ADDED[name])


def _find_layout(paths: Sequence[Path], reading: Reading) -> tuple[str, Collection[str]]:
    """Find the format of a source, and its columns, or those of its first record.

    Without the latter, if they cannot be read: that is told later.
    """
    try:
        source = sources.open([*paths], reading=reading)
        _, first = (0, None) if source.names else next(source.records, (0, None))
        columns = source.row(first) if source.is_apart(first) else source.names or ()
        return source.format, columns
    except (RecordError, ValueError, StopIteration, RuntimeError):
        return sources.format_of([*paths], reading=reading), ()


def identify(source: Compared, reading: Reading) -> str | None:
    """Write a line that differs if the files of a source have changed, None if it has none."""
    if is_collection(source) or sources.paths_of(source) is None:
        return None
    try:
        return identity(source, reading)
    except SourceError:  # told by those who read it
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRecords:
    """The records of a source that was read, in its order.

    `are_documents` has 1 for each record that makes a document. By their numbers, from 1 on, `ids`
    are those of records that have a near-duplicate, and `dead` those of records that another one
    of their id stands for. `state` is that of the source before it was read.
    """

    paths: list[Path]
    against: list[Path]
    reading: Reading
    on_repeat: OnRepeatOrKeep
    state: str | None
    are_documents: bytes
    ids: Mapping[int, AnyId]
    dead: Mapping[int, AnyId]

    @classmethod
    def of(
        cls, work: Work, side: Input, ids: Mapping[int, AnyId], state: str | None
    ) -> SourceRecords | ArgumentError:
        """Note the records of the first side, with `ids` by row, or why they are not copied."""
        source, reading = work.sides[0], work.readings[0]
        try:
            paths = require_copied(source, reading, work.limit)
        except ArgumentError as error:
            return error
        numbers = side.numbers()
        rows = [row for row in ids if row < len(numbers)]
        return cls(
            paths=paths,
            against=[*map(Path, chain(*(sources.paths_of(each) or () for each in work.sides[1:])))],
            reading=reading,
            on_repeat=work.on_repeat,
            state=state,
            are_documents=bytes(side.are_documents),
            ids=dict(zip(numbers[rows].tolist(), (ids[row] for row in rows), strict=True)),
            dead=dict(zip(numbers[side.dead].tolist(), side.ids.take(side.dead), strict=True)),
        )

    def write(
        self, files: Files, removed: Mapping[AnyId, Removed], on_progress: OnProgress = ignore
    ) -> Unique:
        """Read the source once more, and write each record to the file that it belongs to.

        Raises SourceError if the source has changed, or a file cannot be written.
        """
        check_files(self.paths, self.reading, files, self.against)
        source = sources.open(self.paths, reading=self.reading)
        counts = {"kept": 0, "removed": 0, "repeated": 0, "failed": 0}
        with ExitStack() as opened:
            keep, remove, reject = [
                opened.enter_context(
                    nullcontext(_discard) if path is None else open_copy(path, source, ADDED[name])
                )
                for name, path in files.items()
            ]
            failures = self._read_failures() if files["rejected"] is not None else None
            records = zip_longest(self.are_documents, (record for _, record in source.records))
            for number, (is_document, record) in enumerate(records, 1):
                if is_document is None or (record is None and is_document):
                    raise self._make_error()
                if number % AT_ONCE == 1:
                    on_progress(Progress(WRITING, number - 1, len(self.are_documents)))
                if not is_document:
                    counts["failed"] += 1
                    if failures is not None:
                        error, is_apart = next(failures), source.is_apart(record)
                        text = None if is_apart else source.text_of(record)
                        added = {REASON: error.reason, POSITION: error.position, RECORD: text}
                        reject(record if is_apart else None, added)
                    continue
                kept = removed.get(self.ids.get(number))
                if (id := self.dead.get(number)) is not None:
                    # Another record of its id counts, which may itself be removed for a third one.
                    other = removed.get(id)
                    kept = Removed(
                        id=id, duplicate_of=other.duplicate_of if other else id, similarity=None
                    )
                if kept is None:
                    counts["kept"] += 1
                    keep(record, NOTHING)
                    continue
                counts["removed" if id is None else "repeated"] += 1
                similarity = None if kept.similarity is None else round(kept.similarity, 4)
                remove(
                    record,
                    {DUPLICATE_OF: kept.duplicate_of, SIMILARITY: similarity, ROW: number},
                )
            if identity(self.paths, self.reading) != self.state:
                raise self._make_error()
        return Unique(**counts)

    def _read_failures(self) -> Iterator[RecordError]:
        """Read why records cannot be used, in their order."""
        for piece in read_pieces(self.paths, self.reading, self.on_repeat):
            if isinstance(piece, RecordError):
                yield piece
        raise self._make_error()

    def _make_error(self) -> SourceError:
        name = sources.shown_name(self.paths)
        return SourceError(name, "changed while it was read", "run it again")


def _discard(_: Any, __: Any) -> None:
    """Discard a record: no file was asked for."""
