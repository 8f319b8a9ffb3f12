"""The records of a source without its near-duplicates, as --unique, --removed and --rejected write.

The source is read once more: what is written of a record is what it was read from.
"""

from __future__ import annotations

import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np

from neardup_solr import checks, sources
from neardup_solr.errors import ArgumentError, RecordError, SourceError
from neardup_solr.files import check_apart
from neardup_solr.progress import OnProgress, Progress, ignore
from neardup_solr.records import NOTHING, AnyId, Removed
from neardup_solr.reports import Added, Beside
from neardup_solr.sources.part import SourceTable
from neardup_solr.sources.reading import Reading
from neardup_solr.sources.source import is_collection
from neardup_solr.verbs.duplicates.from_source import SourceSide, read_pieces
from neardup_solr.verbs.duplicates.output import TABLE
from neardup_solr.verbs.duplicates.plan import RunPlan
from neardup_solr.verbs.duplicates.record_numbers import RecordNumbers
from neardup_solr.verbs.duplicates.request import Compared
from neardup_solr.verbs.duplicates.side import CorpusSide

AT_ONCE = 5_000  # records between two calls about progress
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
SHOWN: Final = {"values": "the values of `merge`"}  # of files that no argument names

Files = Mapping[str, Path | None]  # by the names of their arguments


@dataclass(frozen=True, slots=True, kw_only=True)
class Unique:
    """Counts of the records of a file that are kept, and of those that are not.

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


def require_copied(source: Compared, reading: Reading, *, are_numbered: bool = False) -> list[Path]:
    """Return the paths of a source whose records can be copied, or raise ArgumentError.

    Its ids `are_numbered` if they are the numbers of rows.
    """
    if is_collection(source):
        raise ArgumentError(
            "a collection cannot be written to a file without its near-duplicates",
            "mark them in the collection (`mark`, nd.mark), then exclude them with the filter query"
            f" fq={source.names.canonical_filter}",
            code="arguments-conflict",
        )
    named = sources.paths_of(source)
    rest = f'df[~df["{reading.id}"].isin(found.removed)]'
    if are_numbered:
        rest = "df.drop(df.index[[row - 1 for row in found.removed]])"
    step = f"to filter a DataFrame by the result: {rest}"
    reason = "`unique` needs a file or a folder as `source`"
    checks.require(named is not None, reason, step, code="arguments-conflict")
    paths = [Path(path) for path in named or ()]
    try:
        kinds = [path.stat().st_mode for path in paths]
        is_stream = not all(stat.S_ISREG(kind) or stat.S_ISDIR(kind) for kind in kinds)
    except (OSError, ValueError):
        is_stream = Path("-") in paths  # what else is wrong is told by those who read it
    reason = "standard input and pipes cannot be read twice, as `unique` and `merge` require"
    checks.require(not is_stream, reason, "save the input to a file first", code="not-from-stdin")
    return paths


def check_files(
    paths: Sequence[Path], reading: Reading, files: Files, against: Sequence[Path] = ()
) -> None:
    """Refuse files that the records of a source could not be written to, by SourceError."""
    from neardup_solr.reports.copies import check_added, check_copy
    from neardup_solr.reports.parquet_files import check_types

    shown = {SHOWN.get(name, f"`{name}`"): path for name, path in files.items()}
    check_apart(shown, source=[*paths], against=[*against])
    format, columns, schema = find_layout(paths, reading)
    for name, output in files.items():
        if output is not None:
            check_copy(output, format, adds=name != "unique")
            check_added(sources.shown_name(paths), columns, ADDED.get(name, NOTHING))
            if schema is not None and output.suffix.lower() == TABLE:
                check_types(output, schema)


def find_layout(paths: Sequence[Path], reading: Reading) -> tuple[str, Collection[str], Any]:
    """Find the format of a source, its columns, or those of its first record, and its schema.

    Without the latter, if they cannot be read: that is told later.
    """
    opened = sources.open_source([*paths], reading, on_notice=ignore)
    try:
        source = opened.table()
        _, first = (0, None) if source.names else next(source.records(), (0, None))
        columns = source.row(first) if source.is_apart(first) else source.names or ()
        return source.format, columns, source.schema
    except (RecordError, ValueError, StopIteration, RuntimeError):
        return opened.format, (), None


def identify(source: Compared, reading: Reading) -> str | None:
    """Write a line that differs if the files of a source have changed, None if it has none."""
    if is_collection(source) or sources.paths_of(source) is None:
        return None
    try:
        return sources.identity(source, reading)
    except SourceError:  # told by those who read it
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRecords:
    """The records of a source that was read, in its order.

    `are_documents` has 1 for each record that makes a document; `numbers` are those of records
    that have a near-duplicate. `state` is that of the source before it was read.
    """

    paths: list[Path]
    against: list[Path]
    reading: Reading
    state: str | None
    are_documents: bytes
    numbers: RecordNumbers

    @classmethod
    def of(
        cls, plan: RunPlan, side: CorpusSide, numbers: RecordNumbers | None, state: str | None
    ) -> SourceRecords | ArgumentError:
        """Note the records of the first side, or why none are copied."""
        source, reading = plan.source, plan.readings[0]
        try:
            are_numbered = not plan.has_ids or bool(side.repeated)
            paths = require_copied(source, reading, are_numbered=are_numbered)
        except ArgumentError as error:
            return error
        assert isinstance(side, SourceSide)
        assert numbers is not None
        return cls(
            paths=paths,
            against=[
                *map(Path, chain(*(sources.paths_of(each) or () for each in plan.sources[1:])))
            ],
            reading=reading,
            state=state,
            are_documents=bytes(side.are_documents),
            numbers=numbers,
        )

    def open(self) -> SourceTable:
        """Open the source once more."""
        return sources.open_source(self.paths, self.reading, on_notice=ignore).table()

    def read(
        self, source: SourceTable, stage: str, on_progress: OnProgress = ignore
    ) -> Iterator[tuple[int, Sequence[Any]]]:
        """Read the records once more, some at a time, with the number of those before.

        Raises SourceError if the source has changed.
        """
        done, total = 0, len(self.are_documents)
        for records in filter(len, source.record_lists()):
            if done + len(records) > total or (records[0] is None and self.are_documents[done]):
                raise self._make_error()
            if not done or done // AT_ONCE < (done + len(records)) // AT_ONCE:
                on_progress(Progress(stage, done, total))
            yield done, records
            done += len(records)
        has_changed = sources.identity(self.paths, self.reading) != self.state
        if has_changed or any(self.are_documents[done:]):  # but for the end of what is damaged
            raise self._make_error()

    def write(
        self, files: Files, removed: Mapping[AnyId, Removed], on_progress: OnProgress = ignore
    ) -> Unique:
        """Read the source once more, and write each record to the file that it belongs to.

        Raises SourceError if the source has changed, or a file cannot be written.
        """
        from neardup_solr.reports.copies import open_copy

        check_files(self.paths, self.reading, files, self.against)
        source = self.open()
        counts = {"kept": 0, "removed": 0, "repeated": 0, "failed": 0}
        instead = self.numbers.list_removed(removed)
        are_kept = np.frombuffer(self.are_documents, np.bool_).copy()
        are_kept[np.fromiter(instead, np.intp, len(instead)) - 1] = False
        with ExitStack() as opened:
            keep, remove, reject = [
                opened.enter_context(
                    nullcontext(_discard) if path is None else open_copy(path, source, ADDED[name])
                )
                for name, path in files.items()
            ]
            failures = self._read_failures() if files["rejected"] is not None else None

            def write_odd(number: int, record: Any) -> None:
                """Write a record that cannot be used, or that another one stands for."""
                if not self.are_documents[number - 1]:
                    counts["failed"] += 1
                    if failures is not None:
                        error, is_apart = next(failures), source.is_apart(record)
                        text = None if is_apart else source.text_of(record)
                        added: Added = {
                            REASON: error.reason,
                            POSITION: error.position,
                            RECORD: text,
                        }
                        reject([record if is_apart else None], added)
                    return
                counts["repeated" if number in self.numbers.dead else "removed"] += 1
                each = instead[number]
                similarity = None if each.similarity is None else round(each.similarity, 4)
                added = {DUPLICATE_OF: each.duplicate_of, SIMILARITY: similarity, ROW: number}
                remove([record], added)

            last = 0
            for done, records in self.read(source, WRITING, on_progress):
                first, last = 0, done + len(records)
                for at in np.flatnonzero(~are_kept[done:last]).tolist():
                    if first < at:
                        keep(records[first:at], NOTHING)
                    write_odd(done + at + 1, records[at])
                    first = at + 1
                if first < len(records):
                    keep(records[first:], NOTHING)
            for number in range(last + 1, len(are_kept) + 1):  # of what is damaged
                write_odd(number, None)
            counts["kept"] = int(np.count_nonzero(are_kept))
        return Unique(**counts)

    def _read_failures(self) -> Iterator[RecordError]:
        """Read why records cannot be used, in their order."""
        for piece in read_pieces(sources.open_source(self.paths, self.reading)):
            if isinstance(piece, RecordError):
                yield piece
        raise self._make_error()

    def _make_error(self) -> SourceError:
        name = sources.shown_name(self.paths)
        reason = "changed while it was being read"
        return SourceError(name, reason, "run this again", code="source-changed")


def _discard(_: Any, __: Any) -> None:
    """Discard a record: no file was asked for."""
