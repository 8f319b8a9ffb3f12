"""Decisions of a gate, each made when it is read."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from warnings import warn

from neardup_solr.arguments import Action, checked
from neardup_solr.errors import RecordError
from neardup_solr.files import check_apart
from neardup_solr.progress import Failures
from neardup_solr.records import Document, Match
from neardup_solr.reports import Columns, Table, beside

if TYPE_CHECKING:
    from neardup_solr.answers import Answered

from neardup_solr.verbs.gate.policy import ADMITTED, TAG, TAG_FIELD


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Decision about a document.

    `action`: "allow", "tag", "hold" or "reject"; `reason`: a sentence; `matches`: near-duplicates
    in the collection and among admitted documents, most similar first, without text; `complete`:
    False if too many documents shared a band to compare all; `replaces`: True if it replaced a
    document of the same id.
    """

    document: Document = field(repr=False)
    action: Action
    reason: str
    matches: tuple[Match, ...] = ()
    complete: bool = True
    replaces: bool = False

    @property
    def id(self) -> str:
        """Id of the document."""
        return self.document.id

    @property
    def is_admitted(self) -> bool:
        """True if the document is allowed or tagged."""
        return self.action in ADMITTED

    def kept(self) -> Mapping[str, Any]:
        """Return the columns to keep, with `neardup_of` for a tagged document.

        `neardup_of` lists the ids of the matches, the nearest first.
        """
        if self.action != TAG:
            return self.document.kept
        return {**self.document.kept, TAG_FIELD: [match.id for match in self.matches]}


@dataclass(slots=True, eq=False, repr=False)
class Decisions(Table, Iterator[Decision]):
    """Iterator over the decisions of `gate`. Each decision is made when it is read.

    With `index=True`, reading also indexes the documents. A RuntimeWarning is issued if nothing is
    read.
    """

    _coming: Generator[Decision | RecordError, None, None]
    _failures: Failures
    _find_gaps: Callable[[], Sequence[str]]
    _count_answers: Callable[[], Answered | None]
    _count_repeated: Callable[[], int]
    _warns: bool
    _source: object = None

    def __enter__(self) -> Decisions:
        self._warns = False
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # So that the gate ends as soon as by an interrupt while it decides.
        if kind is KeyboardInterrupt:
            with suppress(KeyboardInterrupt):
                self._coming.throw(KeyboardInterrupt())

    def __next__(self) -> Decision:
        return next(each for each in self.with_failed() if isinstance(each, Decision))

    @property
    def gaps(self) -> tuple[str, ...]:
        """Sentences about documents without a signature. Each access queries Solr."""
        return tuple(self._find_gaps())

    @property
    def answered(self) -> Answered | None:
        """Effect of the answers so far, None without answers."""
        return self._count_answers()

    @property
    def repeated(self) -> int:
        """Number of documents so far that were admitted after another of the same id."""
        return self._count_repeated()

    def with_failed(self) -> Iterator[Decision | RecordError]:
        """Yield decisions, with a RecordError in place of each unusable record."""
        self._warns = False
        for decision in self._coming:
            if isinstance(decision, RecordError):
                self._failures.add(decision)
            yield decision

    def __del__(self) -> None:
        # As Python warns of a coroutine that was never awaited.
        if self._warns:
            lost = "the decisions of nd.gate(..., index=True) were never read"
            step = "so nothing was indexed: read them with a `for` loop or list()"
            warn(f"{lost}, {step}", RuntimeWarning, stacklevel=2)

    @checked
    def write(self, path: str | Path) -> None:
        """Write the remaining decisions to a .tsv, .csv, .jsonl or .xlsx file.

        Raises SourceError if the suffix is another, or the file is the source or cannot be written.
        """
        check_apart({"`path`": Path(path)}, source=self._source)
        Table.write(self, path)

    def columns(self) -> Columns:
        """Return the remaining decisions as columns.

        The columns are id, action, reason, other_id, similarity, distance (of the nearest match),
        matches (all ids), complete, replaces, and the kept columns.
        """
        made = list(self)
        nearest: list[Match | None] = [next(iter(each.matches), None) for each in made]
        columns: Columns = {
            name: [getattr(each, name) for each in made] for name in ("id", "action", "reason")
        }
        for name, of in (("other_id", "id"), ("similarity",) * 2, ("distance",) * 2):
            columns[name] = [match and getattr(match, of) for match in nearest]
        columns["matches"] = [[match.id for match in each.matches] for each in made]
        for name in ("complete", "replaces"):
            columns[name] = [getattr(each, name) for each in made]
        kept = {each.id: each.document.kept for each in made}
        return beside(columns, {}, kept, {"id": columns["id"]})
