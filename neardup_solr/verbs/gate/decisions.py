"""The decisions of a gate about a source, each made when it is read."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from warnings import warn

from neardup_solr.arguments import checked
from neardup_solr.errors import RecordError
from neardup_solr.files import check_apart
from neardup_solr.records import Match
from neardup_solr.reports.result_table import Table
from neardup_solr.reports.rows import Columns, beside

if TYPE_CHECKING:
    from neardup_solr.answers.verdicts import Answered

from neardup_solr.verbs.gate.decision import Decision
from neardup_solr.verbs.gate.decision_rows import PASSAGE_COLUMNS, make_passage_row
from neardup_solr.verbs.gate.run import GateRun


@dataclass(slots=True, eq=False, repr=False)
class Decisions(Table, Iterator[Decision]):
    """Iterator over the decisions of `gate`. Each decision is made when it is read.

    With `index=True`, reading also indexes the documents. A RuntimeWarning is issued if nothing is
    read.
    """

    _coming: Generator[Decision | RecordError, None, None]
    _run: GateRun
    _source: object
    _warns: bool

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
        return tuple(self._run.find_gaps())

    @property
    def answered(self) -> Answered | None:
        """Effect of the answers so far, None without answers."""
        return self._run.count_answers()

    @property
    def repeated(self) -> int:
        """Number of documents so far that were admitted after another of the same id."""
        return self._run.repeated

    @property
    def hot(self) -> int:
        """Number of runs of letters that too many admitted documents have, once all were read.

        With `passages`, these are looked for in a few of the documents only.
        """
        return self._run.hot

    def with_failed(self) -> Iterator[Decision | RecordError]:
        """Yield decisions, with a RecordError in place of each unusable record."""
        self._warns = False
        for decision in self._coming:
            if isinstance(decision, RecordError):
                self._run.failures.add(decision)
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
        matches (all ids), complete, replaces, and the kept columns; with `passages` also passages
        (their number), and of the longest reused_id and the columns of `nd.passages`.
        """
        decisions = list(self)
        nearest: list[Match | None] = [next(iter(each.matches), None) for each in decisions]
        columns: Columns = {
            name: [getattr(each, name) for each in decisions] for name in ("id", "action", "reason")
        }
        for name, of in (("other_id", "id"), ("similarity",) * 2, ("distance",) * 2):
            columns[name] = [match and getattr(match, of) for match in nearest]
        columns["matches"] = [[match.id for match in each.matches] for each in decisions]
        for name in ("complete", "replaces"):
            columns[name] = [getattr(each, name) for each in decisions]
        if self._run.decider.policy.min_words:
            rows = [make_passage_row(each.passages) for each in decisions]
            columns |= {name: [row[name] for row in rows] for name in PASSAGE_COLUMNS}
        kept = {each.id: each.document.kept for each in decisions}
        return beside(columns, {}, kept, {"id": columns["id"]})
