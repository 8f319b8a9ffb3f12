"""A source without its repeated passages: the first occurrence of each stays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, compress, pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from neardup_solr.candidates.passage_columns import PassageColumns
from neardup_solr.files import check_apart
from neardup_solr.progress import OnProgress
from neardup_solr.records import NOTHING, AnyId
from neardup_solr.reports.changed import (
    allow_changes,
    change_record,
    take_row,
)  # fmt: skip
from neardup_solr.reports.copies import JSON_LINES, open_copy
from neardup_solr.reports.row_table import SUFFIXES, RowTable, check_output
from neardup_solr.sources.column import matches
from neardup_solr.sources.formats import suffix_of
from neardup_solr.sources.part import SourceTable
from neardup_solr.text.strike import Span, choose_strikes, strike
from neardup_solr.verbs.duplicates.unique import WRITING, SourceRecords, check_files

LIST_COLUMNS: Final = (
    "id",
    "column",
    "start",
    "end",
    "text",
    "first_id",
    "first_start",
    "first_end",
)
LINES: Final = "lines"  # a format whose records are the id and the text


@dataclass(frozen=True, slots=True, kw_only=True)
class Struck:
    """Counts of documents that passages were struck from.

    `documents`: documents that changed; `passages`: sentences or lines in a row that were struck,
    each with its place in `listed`; `words`: their words; `empty`: documents without any letter
    left.
    """

    documents: int
    passages: int
    words: int
    empty: int
    listed: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceStrikes:
    """The records of a source, and the numbers of those whose documents share passages, from 1."""

    records: SourceRecords
    numbers: NDArray[np.intp]  # by the number of the id
    are_first: bool  # True if the first of two sides is struck

    def write(self, columns: PassageColumns, path: Path, on_progress: OnProgress) -> Struck:
        """Write the source without passages that an earlier document has, and a list of these.

        Raises SourceError if the source has changed, or a file cannot be written.
        """
        records, listed = self.records, name_list(path)
        check_files(records.paths, records.reading, {"unique": path}, records.against)
        check_apart({"the list of struck passages": listed}, source=[*records.paths], strike=path)
        check_output(listed)
        table = allow_changes(records.open())
        strikes = dict(self._list_documents(columns))
        rows: list[dict[str, Any]] = []
        changed = empty = 0
        with open_copy(path, table) as add:
            for done, some in records.read(table, WRITING, on_progress):
                are_documents = np.frombuffer(records.are_documents, np.bool_)[done:][: len(some)]
                kept = list(compress(some, are_documents.tolist()))
                numbers = (done + 1 + np.flatnonzero(are_documents)).tolist()
                for at, number in enumerate(numbers):
                    if document := strikes.get(number):
                        record, is_empty = document.strike(table, kept[at], path, rows)
                        changed += record is not kept[at]
                        empty += is_empty
                        kept[at] = record
                add(kept, NOTHING)
            RowTable(rows, LIST_COLUMNS).write(listed)  # before there is a file without passages
        words = sum(row["text"].count(" ") + 1 for row in rows)
        return Struck(
            documents=changed, passages=len(rows), words=words, empty=empty, listed=listed
        )

    def _list_documents(self, columns: PassageColumns) -> Iterator[tuple[int, StruckDocument]]:
        """List the documents with passages of earlier ones, or of the other side, by number."""
        side = 0 if self.are_first else 1
        order = np.argsort(columns.owners[:, side], kind="stable")
        owners = columns.owners[order, side]
        starts = np.flatnonzero(np.diff(owners, prepend=-1))
        for first, last in pairwise([*starts.tolist(), len(owners)]):
            places = order[first:last]
            at = int(owners[first])
            firsts = columns.owners[places, 1 - side].tolist()
            cut = columns.cut
            yield (
                int(self.numbers[at]),
                StruckDocument(
                    id=columns.ids[at],
                    spans=list(
                        zip(*(each[places, side].tolist() for each in cut[:2]), strict=True)
                    ),
                    first_ids=[columns.ids[each] for each in firsts],
                    first_spans=list(
                        zip(*(each[places, 1 - side].tolist() for each in cut[:2]), strict=True)
                    ),
                ),
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class StruckDocument:
    """A document, the `spans` that it shares, and where these are in documents that keep them."""

    id: AnyId
    spans: Sequence[Span]
    first_ids: Sequence[AnyId]
    first_spans: Sequence[Span]

    def strike(
        self, table: SourceTable, record: Any, path: Path, rows: list[dict[str, Any]]
    ) -> tuple[Any, bool]:
        """Strike the spans from a record as it is written to a file, and list them in `rows`.

        Returns the record itself if nothing is struck, and True if no letter is left.
        """
        row = take_row(table, record)
        names = [*row]
        places = chain.from_iterable(matches(name, names) for name in table.reading.text)
        texts = {names[at]: row[names[at]] for at in places if isinstance(row[names[at]], str)}
        strikes, begin = dict[str, list[Span]](), 0
        for name, text in texts.items():
            spans = [(max(start - begin, 0), min(end - begin, len(text)))
                     for start, end in self.spans]  # fmt: skip
            strikes[name] = choose_strikes(text, [span for span in spans if span[0] < span[1]])
            begin += len(text) + 1
        if not any(strikes.values()):
            return record, False
        left = {name: strike(text, strikes[name]) for name, text in texts.items()}
        is_empty = not any(map(str.isalnum, chain.from_iterable(left.values())))
        begin = 0
        for name, text in texts.items():
            rows += [self._list(name, begin, span, text) for span in strikes[name]]
            begin += len(text) + 1
        values = {name: left[name] for name in texts if strikes[name]}
        if table.format == LINES and suffix_of(path) not in JSON_LINES:
            (name,) = values
            head = record.removesuffix(texts[name].encode())
            return head + values[name].encode(), is_empty
        return change_record(table, record, values, path), is_empty

    def _list(self, name: str, begin: int, span: Span, text: str) -> dict[str, Any]:
        """List a span of a column, whose text begins at a character, with the document for it."""
        start, end = span[0] + begin, span[1] + begin
        shared = [min(end, last) - max(start, first) for first, last in self.spans]
        most = int(np.argmax(shared))
        first_start, first_end = self.first_spans[most]
        values = (self.id, name, *span, text[slice(*span)].strip(), self.first_ids[most],
                  first_start, first_end)  # fmt: skip
        return dict(zip(LIST_COLUMNS, values, strict=True))


def name_list(path: Path) -> Path:
    """Name the list of what is struck, as in pages.struck.csv."""
    suffix = suffix_of(path)
    begin = path.name.lower().rfind(suffix) if suffix else len(path.name)
    kind = suffix if suffix in SUFFIXES else ".jsonl" if suffix in JSON_LINES else ".csv"
    return path.with_name(f"{path.name[:begin]}.struck{kind}") if path.name else path
