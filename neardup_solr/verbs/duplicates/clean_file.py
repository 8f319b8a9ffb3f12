"""A file without its near-duplicates: what is removed for what, and the file read once more.

Every record of the source goes into exactly one of three files: unique, removed, rejected.
"""

from __future__ import annotations

import stat
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from neardup_solr import sources
from neardup_solr.arguments import require
from neardup_solr.errors import ArgumentError, RecordError, SourceError
from neardup_solr.files import check_apart, is_inside
from neardup_solr.progress import Progress
from neardup_solr.records import NOTHING, Removed
from neardup_solr.reports.copies import Beside, check_added, check_copy, open_copy
from neardup_solr.sources import is_collection
from neardup_solr.sources.fingerprint import identity
from neardup_solr.verbs.duplicates.from_source import AT_ONCE
from neardup_solr.verbs.duplicates.inputs import Compared, Input

if TYPE_CHECKING:
    from neardup_solr.verbs.duplicates import Options

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


class Outputs:
    """The files for the records of a source: those that stay, are removed, or cannot be used.

    Raises ArgumentError if the source cannot be read twice, or if something else is asked for that
    does not go together; SourceError if a file could not be written.
    """

    def __init__(self, options: Options) -> None:
        self._reading, self._on_progress = options.readings[0], options.watching.on_progress
        self._check_source(options.source)
        self._paths = [Path(path) for path in sources.paths_of(options.source) or ()]
        require(options.limit is None, "`unique` does not go with `limit`", "read the whole file")
        names = ("unique", "removed", "rejected")
        self._files = {name: options.files.get(name) for name in names}
        shown = {f"`{name}`": path for name, path in self._files.items()}
        for name, given in (("the source", options.source), ("`against`", options.against)):
            for path in sources.paths_of(given) or ():
                check_apart({name: Path(path), **shown})
        format, columns = self._layout()
        for name, output in self._files.items():
            if output is not None:
                if any(is_inside(output, path) for path in self._paths):
                    reason = "lies in the folder that is read"
                    raise SourceError(str(output), reason, "name a place outside of it")
                check_copy(output, format, adds=bool(ADDED[name]))
                check_added(sources.shown_name(self._paths), columns, ADDED[name])
        self._identity = identity(self._paths, self._reading)

    def _layout(self) -> tuple[str, Collection[str]]:
        """The format of the source, and its columns, or those of its first record.

        Without the latter, if they cannot be read: that is told later.
        """
        try:
            source = sources.open(self._paths, reading=self._reading)
            _, first = (0, None) if source.names else next(source.records, (0, None))
            columns = source.row(first) if source.is_apart(first) else source.names or ()
            return source.format, columns
        except (RecordError, ValueError, StopIteration, RuntimeError):
            return sources.format_of(self._paths, reading=self._reading), ()

    def _check_source(self, given: Compared | None) -> None:
        if is_collection(given):
            raise ArgumentError(
                "a collection has no file to write it without its near-duplicates",
                "mark them there (`mark`, nd.mark), then the filter query"
                f" fq={given.names.canonical_filter} leaves them out",
            )
        paths = [Path(path) for path in sources.paths_of(given) or ()]
        require(
            sources.paths_of(given) is not None,
            "`unique` needs a file or a folder as `source`",
            "a DataFrame is filtered by the result:"
            f' df[~df["{self._reading.id}"].isin(found.removed)]',
        )
        try:
            kinds = [path.stat().st_mode for path in paths]
            is_stream = not all(stat.S_ISREG(kind) or stat.S_ISDIR(kind) for kind in kinds)
        except (OSError, ValueError):
            is_stream = Path("-") in paths  # what else is wrong is told by those who read it
        require(
            not is_stream,
            "standard input, or a pipe, cannot be read twice, which `unique` needs",
            "write it to a file first",
        )

    def write(self, side: Input, removed: Mapping[str, Removed]) -> Unique:
        """Read the source once more, and write each record to the file that it belongs to.

        Raises SourceError if the source has changed, or a file cannot be written.
        """
        outcomes = find_outcomes(side, removed)
        source = sources.open(self._paths, reading=self._reading)
        with ExitStack() as files:
            keep, remove, reject = [
                files.enter_context(
                    nullcontext(_discard) if path is None else open_copy(path, source, ADDED[name])
                )
                for name, path in self._files.items()
            ]
            gone, failed = iter(outcomes.removed), zip(*outcomes.failed, strict=True)
            records = (record for _, record in source.records)
            for number, (fate, record) in enumerate(zip_longest(outcomes.of, records), 1):
                if fate is None or (record is None and fate != FAILED):
                    raise self._make_error()
                if number % AT_ONCE == 1:
                    self._on_progress(Progress(WRITING, number - 1, len(outcomes.of)))
                if fate == KEPT:
                    keep(record, NOTHING)
                elif fate == REMOVED:
                    one = next(gone)
                    similarity = None if one.similarity is None else round(one.similarity, 4)
                    added = {DUPLICATE_OF: one.duplicate_of, SIMILARITY: similarity, ROW: number}
                    remove(record, added)
                else:
                    is_apart, (reason, position) = source.is_apart(record), next(failed)
                    text = None if is_apart else source.text_of(record)
                    added = {REASON: reason, POSITION: position, RECORD: text}
                    reject(record if is_apart else None, added)
            if identity(self._paths, self._reading) != self._identity:
                raise self._make_error()
        return outcomes.count()

    def _make_error(self) -> SourceError:
        name = sources.shown_name(self._paths)
        return SourceError(name, "changed while it was read", "run it again")


def _discard(_: Any, __: Any) -> None:
    """Discard a record: no file was asked for."""


@dataclass(slots=True, kw_only=True)
class Outcomes:
    """The outcome of each record of a source, in its order: failed, kept or removed.

    `removed` says for what, for each that is removed in turn; `repeated` counts those of them that
    others of their id are kept for. `failed` are the reasons and positions of the failed ones.
    """

    failed: tuple[Sequence[str], Sequence[str]]
    of: bytearray = field(default_factory=bytearray)
    removed: list[Removed] = field(default_factory=list)
    repeated: int = 0

    def count(self) -> Unique:
        """Count the records by what becomes of them."""
        return Unique(
            kept=self.of.count(KEPT),
            removed=len(self.removed) - self.repeated,
            repeated=self.repeated,
            failed=self.of.count(FAILED),
        )


def find_outcomes(side: Input, removed: Mapping[str, Removed]) -> Outcomes:
    """Find what becomes of the records of a side that was read with an order."""
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
        if row in dead:  # another record of its id counts, which may itself be removed for a third
            stand_in = id if known is None else known.duplicate_of
            known = Removed(id=id, duplicate_of=stand_in, similarity=None)
            found.repeated += 1
        if known is not None:
            found.removed.append(known)
        found.of.append(KEPT if known is None else REMOVED)
    return found
