"""The result of `passages`: what documents share, and what they are to each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import overload

from neardup_solr.arguments import checked
from neardup_solr.candidates.passage_columns import PassageColumns
from neardup_solr.errors import ArgumentError, RecordError, counted
from neardup_solr.progress import OnProgress, ignore
from neardup_solr.records import Passage, Relation
from neardup_solr.reports.result_table import Table
from neardup_solr.reports.row_table import RowTable
from neardup_solr.reports.rows import ROWS_AT_ONCE, Columns
from neardup_solr.verbs.duplicates.output import TABLE, check_table
from neardup_solr.verbs.passages.strike import SourceStrikes, Struck


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Passages(Table, Sequence[Passage]):
    """Passages that documents share, in the order of the documents.

    `documents`: documents read; `min_words`: words of a passage at least; `against`: True if two
    sides were compared; `hot`: runs of letters that more than `cap` documents have, which are
    looked for in the first of them and in the next one only; `repeated`: records with an earlier
    id; `failed`: records that could not be used, and `errors` the first of them.
    """

    documents: int
    min_words: int
    against: bool
    cap: int
    hot: int
    repeated: int
    failed: int
    errors: tuple[RecordError, ...]
    _columns: PassageColumns
    _strikes: SourceStrikes | ArgumentError

    @overload
    def __getitem__(self, at: int) -> Passage: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[Passage]: ...

    def __getitem__(self, at: int | slice) -> Passage | Sequence[Passage]:
        places = range(len(self))[at]
        if isinstance(places, int):
            return self._columns.list([places])[0]
        return self._columns.list(places)

    def __len__(self) -> int:
        return len(self._columns)

    def __iter__(self) -> Iterator[Passage]:
        for first in range(0, len(self), ROWS_AT_ONCE):
            yield from self._columns.list(range(first, min(first + ROWS_AT_ONCE, len(self))))

    def __repr__(self) -> str:
        passages, pairs = counted(len(self), "passage"), counted(self.count_pairs(), "pair")
        return f"<Passages: {passages} of {pairs} of {counted(self.documents, 'document')}>"

    def count_pairs(self) -> int:
        """Count the pairs of documents that share passages."""
        return len(self._columns.pairs())

    def count_relations(self) -> dict[Relation, int]:
        """Count the pairs of documents of each relation, that of their first passage."""
        return self._columns.count_relations()

    def longest(self, most: int) -> list[Passage]:
        """List so many of the longest passages, by their words."""
        return self._columns.list(self._columns.list_longest(most))

    def lines(self, format: str) -> Iterator[str]:
        """Make lines of the table: "tsv", "csv" or "jsonl". Raises ArgumentError for another."""
        return self._rows().lines(format)

    @checked
    def write(self, path: str | Path) -> None:
        """Write the table to a .tsv, .csv, .jsonl, .xlsx or .parquet file, or leave it as it is.

        Raises SourceError if the suffix is another or the file cannot be written.
        """
        path = Path(path)
        check_table(path)
        if path.suffix.lower() == TABLE:
            from neardup_solr.reports.parquet_files import write_parquet

            table = self.to_arrow()
            write_parquet(path, table.schema, table.to_batches(ROWS_AT_ONCE))
        else:
            self._rows().write(path)

    def _rows(self) -> RowTable:
        """Make rows, some at a time."""
        parts = (
            self._columns.take(range(first, min(first + ROWS_AT_ONCE, len(self))))
            for first in range(0, max(len(self), 1), ROWS_AT_ONCE)
        )
        names = list(self._columns.take([]))
        rows = (
            dict(zip(names, row, strict=True))
            for part in parts
            for row in zip(*part.values(), strict=True)
        )
        return RowTable(rows, names)

    def columns(self) -> Columns:
        """Return the columns: those of `Passage`, the texts if `texts` was set."""
        return self._columns.take(range(len(self)))

    @checked
    def strike(self, path: str | Path, *, on_progress: OnProgress | None = None) -> Struck:
        """Write the source without its repeated passages: the first occurrence of each stays.

        Whole sentences and lines are struck, and the beginning or the end of one that is mostly
        repeated. If two sides were compared, passages of the second are struck from the first. What
        was struck is listed beside the file, as in pages.struck.csv, with the document that has it.

        Raises ArgumentError if the source is not a file or a folder, SourceError if it has changed
        or a file cannot be written.
        """
        if isinstance(self._strikes, ArgumentError):
            raise self._strikes
        return self._strikes.write(self._columns, Path(path), on_progress or ignore)
