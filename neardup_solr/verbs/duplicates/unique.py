"""A file without its near-duplicates: what is removed for what, and the file read once more."""

from __future__ import annotations

import os
import stat
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import count
from pathlib import Path
from typing import Any, Final

from neardup_solr import sources
from neardup_solr.arguments import require
from neardup_solr.errors import SourceError
from neardup_solr.files import check_apart
from neardup_solr.progress import OnProgress, Progress
from neardup_solr.records import NOTHING, Cluster, Duplicate, Removed
from neardup_solr.reports.copies import Add, check_copy, columns_of, copied, needs_columns
from neardup_solr.solr.collection import Collection
from neardup_solr.sources import Reading, Written
from neardup_solr.sources.whole_files import walk
from neardup_solr.verbs.duplicates.sides import Compared, Side
from neardup_solr.verbs.duplicates.signing import AT_ONCE

# What comes to a removed record, beside its own columns.
DUPLICATE_OF: Final = "neardup_duplicate_of"
SIMILARITY: Final = "neardup_similarity"

WRITING: Final = "writing"
FAILED, KEPT, REMOVED = range(3)

TWICE: Final = "compare the first one with itself, then what is left of it with the other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unique:
    """What became of the records of a file: how many are kept, and how many are not.

    `removed` are near-duplicates of a kept one, `repeated` have an id that comes again later,
    `failed` could not be used, and are in neither file.
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
    """Where the records of a source go: those that stay, and those that are removed.

    Raises ArgumentError if the source cannot be read twice, or if something else is asked for that
    does not go together; SourceError if a file could not be written.
    """

    source: Compared
    reading: Reading
    unique: Path | None
    removed: Path | None
    against: Compared | None = None
    within: bool = False
    limit: int | None = None

    def __post_init__(self) -> None:
        if not self.are_wanted:
            return
        self._check_source()
        require(not self.within, "`unique` does not go with `within`", TWICE)
        require(self.limit is None, "`unique` does not go with `limit`", "read the whole file")
        path = self._path
        files = {"the source": path, "`unique`": self.unique, "`removed`": self.removed}
        if isinstance(self.against, str | os.PathLike):
            files["`against`"] = Path(self.against)
        check_apart(files)
        format = sources.format_of(path, reading=self.reading)
        for output, adds in ((self.unique, False), (self.removed, True)):
            if output is not None:
                inside = path.is_dir() and output.resolve().is_relative_to(path.resolve())
                if inside:
                    reason = "lies in the folder that is read"
                    raise SourceError(str(output), reason, "name a place outside of it")
                check_copy(output, format, adds=adds)

    @property
    def are_wanted(self) -> bool:
        """Whether anything is to be written."""
        return self.unique is not None or self.removed is not None

    @property
    def _path(self) -> Path:
        assert isinstance(self.source, str | os.PathLike)
        return Path(self.source)

    def _check_source(self) -> None:
        given = self.source
        require(
            not isinstance(given, Collection),
            "a collection has no file to write it without its near-duplicates",
            "mark them there (`mark`, nd.mark), then the filter query fq=-neardup_canonical:0 "
            "leaves them out",
        )
        require(
            isinstance(given, str | os.PathLike),
            "`unique` needs a file or a folder as `source`",
            "a DataFrame is filtered by the result:"
            f' df[~df["{self.reading.id}"].astype(str).isin(found.removed)]',
        )
        try:
            kind = self._path.stat().st_mode
            is_stream = not (stat.S_ISREG(kind) or stat.S_ISDIR(kind))
        except (OSError, ValueError):
            is_stream = str(given) == "-"  # what else is wrong is told by those who read it
        require(
            not is_stream,
            "standard input, or a pipe, cannot be read twice, which `unique` needs",
            "write it to a file first",
        )

    def state(self) -> bytes | None:
        """What changes if the source does."""
        if not self.are_wanted:
            return None
        files = walk(self._path) if self._path.is_dir() else [self._path]
        digest = blake2b()
        for path in files:
            found = path.lstat() if path.is_symlink() else path.stat()
            digest.update(repr((path, found.st_size, found.st_mtime_ns)).encode("utf-8", "replace"))
        return digest.digest()

    def write(self, fates: Fates, state: bytes | None, on_progress: OnProgress) -> Unique | None:
        """Read the source once more, and write its records; `state` is that of the first time.

        Raises SourceError if the source changed meanwhile, or a file cannot be written.
        """
        if not self.are_wanted:
            return None
        source = sources.as_written(self._path, reading=self.reading)
        with ExitStack() as files:
            keep = files.enter_context(self._opened(self.unique, source, fates))
            added = (DUPLICATE_OF, SIMILARITY)
            remove = files.enter_context(self._opened(self.removed, source, fates, added))
            removed = iter(fates.removed)
            for number, fate, record in self._with_fates(source, fates):
                if number % AT_ONCE == 0:
                    on_progress(Progress(WRITING, number, len(fates.of)))
                if fate == KEPT:
                    keep(record, NOTHING)
                elif fate == REMOVED:
                    remove(record, _beside(next(removed)))
            if self.state() != state:
                raise self._changed()
        return fates.counted()

    def _opened(
        self, path: Path | None, source: Written, fates: Fates, added: Sequence[str] = ()
    ) -> AbstractContextManager[Add]:
        if path is None:
            return nullcontext(_nowhere)
        columns: Mapping[str, Any] = NOTHING
        if needs_columns(path, source):
            again = sources.as_written(self._path, reading=self.reading)
            records = self._with_fates(again, fates)
            columns = columns_of(
                path, (again.row(one) for _, fate, one in records if fate != FAILED)
            )
        return copied(path, source, added=added, columns=columns)

    def _with_fates(self, source: Written, fates: Fates) -> Iterator[tuple[int, int, Any]]:
        """The number of each record, its fate, and it; what fails at the end may be damage."""
        numbers, records = count(), iter(source.records)
        yield from zip(numbers, fates.of, records, strict=False)
        rest = fates.of[next(numbers) - 1 :]
        if rest.count(FAILED) < len(rest) or next(records, None) is not None:
            raise self._changed()

    def _changed(self) -> SourceError:
        return SourceError(str(self.source), "changed while it was read", "run it again")


def _nowhere(_: Any, __: Any) -> None:
    """What has no file is not written."""


def _beside(one: Removed) -> dict[str, str | float | None]:
    similarity = None if one.similarity is None else round(one.similarity, 4)
    return {DUPLICATE_OF: one.duplicate_of, SIMILARITY: similarity}


@dataclass(slots=True)
class Fates:
    """What becomes of each record of a source, in its order: failed, kept or removed.

    `removed` says for what, for each that is removed in turn; `repeated` counts those of them that
    come again later.
    """

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


def fates(side: Side, removed: Mapping[str, Removed]) -> Fates:
    """What becomes of the records of a side that was read with an order."""
    found, dead = Fates(), set(side.dead)
    assert side.order is not None
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


def _repeated(id: str, later: Removed | None) -> Removed:
    """A record whose id comes again later; the last one may be removed for another document."""
    kept = id if later is None else later.duplicate_of
    return Removed(id=id, duplicate_of=kept, similarity=None)


def removed_within(pairs: Sequence[Duplicate], clusters: Sequence[Cluster]) -> dict[str, Removed]:
    """What is not needed beside the canonical document of its cluster, by id.

    Complete linkage tears pairs apart, and a canonical document may be near that of another
    cluster. The later of two such is removed, and what is near to no kept document is kept, so that
    no pair is left.
    """
    removed: dict[str, Removed] = {}
    torn = _neighbours(pair for pair in pairs if not pair.cluster)
    kept: set[str] = set()

    def decide(id: str, near: Mapping[str, float]) -> None:
        there = [(-similarity, other) for other, similarity in near.items() if other in kept]
        if there:
            similarity, other = min(there)
            removed[id] = Removed(id=id, duplicate_of=other, similarity=-similarity)
        else:
            kept.add(id)

    for cluster in clusters:
        decide(cluster.canonical, torn.get(cluster.canonical, {}))
    left = dict.fromkeys(torn)
    for cluster in clusters:
        for member in cluster.members:
            if member.id == cluster.canonical:
                continue
            if cluster.canonical in kept:
                removed[member.id] = Removed(
                    id=member.id, duplicate_of=cluster.canonical, similarity=member.similarity
                )
            else:
                left[member.id] = None
    rest = [id for id in left if id not in removed and id not in kept]
    if rest:
        wanted = set(rest)
        near = _neighbours(p for p in pairs if p.id in wanted or p.other_id in wanted)
        for id in rest:
            decide(id, near.get(id, {}))
    return removed


def removed_across(pairs: Iterable[Duplicate]) -> dict[str, Removed]:
    """What of the first side is near to a document of the other, and to which the most, by id."""
    removed: dict[str, Removed] = {}
    for pair in pairs:
        known = removed.get(pair.id)
        if known is None or (known.similarity or 0.0) < pair.similarity:
            removed[pair.id] = Removed(
                id=pair.id, duplicate_of=pair.other_id, similarity=pair.similarity
            )
    return removed


def _neighbours(pairs: Iterable[Duplicate]) -> dict[str, dict[str, float]]:
    near: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for pair in pairs:
        near[pair.id][pair.other_id] = pair.similarity
        near[pair.other_id][pair.id] = pair.similarity
    return near
