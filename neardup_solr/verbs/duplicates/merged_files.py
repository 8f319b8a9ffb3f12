"""Merged records of files: read once more, and written with the values they came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup_solr import sources
from neardup_solr.errors import SourceError
from neardup_solr.progress import OnProgress, ignore
from neardup_solr.records import NOTHING
from neardup_solr.reports.changed import (
    allow_changes,
    change_record,
    describe_table,
    label_columns,
    make_records,
    take_row,
)
from neardup_solr.reports.copies import open_copy
from neardup_solr.sources.formats import suffix_of
from neardup_solr.sources.part import SourceTable
from neardup_solr.sources.reading import Reading
from neardup_solr.verbs.duplicates.merge import (
    VALUE_COLUMNS,
    Columns,
    MergedClusters,
    check_rules,
    list_ids,
)
from neardup_solr.verbs.duplicates.merge_rules import parse_rules
from neardup_solr.verbs.duplicates.record_numbers import RecordNumbers
from neardup_solr.verbs.duplicates.unique import (
    WRITING,
    Files,
    SourceRecords,
    check_files,
    find_layout,
)

READING = "reading"
WITH_HEADER = ("csv", "tsv", "parquet", "xlsx", "xls")
TYPED = ("parquet",)  # formats in which a column has values of one type
AT_ONCE = 5_000  # rows of values


def name_files(path: Path) -> Files:
    """Name the file of merged records and that of their values, as in people.values.csv.gz."""
    begin = path.name.lower().rfind(suffix_of(path)) if suffix_of(path) else len(path.name)
    beside = path.with_name(f"{path.name[:begin]}.values{path.name[begin:]}") if path.name else path
    return {"merge": path, "values": beside}


def check_rules_of(rules: Mapping[str, str], paths: Sequence[Path], reading: Reading) -> None:
    """Refuse rules that do not fit the columns of a table, as far as its header tells."""
    format, columns, _ = find_layout(paths, reading)
    by_name = parse_rules(rules)
    if columns and format in WITH_HEADER:
        names = label_columns([*columns])
        check_rules(by_name, names, list_ids(reading, names))


@dataclass(frozen=True, slots=True, kw_only=True)
class FileStore:
    """The records of files, as `RecordStore` has them."""

    source: SourceRecords
    numbers: RecordNumbers
    reading: Reading
    name: str
    has_types: bool

    @classmethod
    def of(cls, source: SourceRecords) -> FileStore:
        """Take the records that were noted when they were read."""
        paths, reading = source.paths, source.reading
        has_types = sources.open_source(paths, reading, on_notice=ignore).format in TYPED
        name = sources.shown_name(paths)
        return cls(
            source=source, numbers=source.numbers, reading=reading, name=name, has_types=has_types
        )

    def read_columns(self, numbers: Sequence[int], on_progress: OnProgress) -> Columns:
        """Read the columns of some records."""
        table = self._open()
        rows: dict[int, dict[str, Any]] = {}
        wanted = np.sort(np.array(numbers, dtype=np.intp))
        for done, records in self.source.read(table, READING, on_progress):
            first, last = np.searchsorted(wanted, (done + 1, done + 1 + len(records)))
            for number in wanted[first:last].tolist():
                rows[number] = take_row(table, records[number - done - 1])
        names = dict.fromkeys(label_columns(table.names or ()))
        for row in rows.values():
            names |= dict.fromkeys(row)
        return {name: [rows[number].get(name) for number in numbers] for name in names}

    def list_names(self) -> Sequence[str]:
        """List the names of the columns that any record has."""
        table = self._open()
        names = dict.fromkeys(label_columns(table.names or ()))
        for _, record in table.records() if table.names is None else ():
            if table.is_apart(record):
                names |= dict.fromkeys(table.row(record))
        return [*names]

    def take(self, merged: MergedClusters) -> list[dict[str, Any]]:
        """Take all records that stay, the kept ones with their merged values."""
        table, changes, left_out = self._open(), merged.list_changes(), self._mark_left_out(merged)
        return [
            take_row(table, record) | changes.get(number, {})
            for done, records in self.source.read(table, READING)
            for number, record in enumerate(records, done + 1)
            if not left_out[number - 1]
        ]

    def tabulate(self, rows: Iterator[Sequence[Any]]) -> list[dict[str, Any]]:
        """Make dicts of rows of values."""
        return [dict(zip(VALUE_COLUMNS, row, strict=True)) for row in rows]

    def write(self, merged: MergedClusters, path: Path, on_progress: OnProgress) -> None:
        """Write all records that stay, and beside them the values."""
        files = name_files(path)
        check_files(self.source.paths, self.reading, files, self.source.against)
        table, beside = self._open(), files["values"] or path
        values = describe_table(table, beside, VALUE_COLUMNS)
        changes, is_odd = merged.list_changes(), self._mark_left_out(merged)
        is_odd[np.fromiter(changes, np.intp, len(changes)) - 1] = True
        with ExitStack() as opened:
            add = opened.enter_context(open_copy(path, allow_changes(table)))
            add_values = opened.enter_context(open_copy(beside, values))
            rows = merged.list_values()
            while part := [*islice(rows, AT_ONCE)]:
                add_values(make_records(values, part, beside), NOTHING)
            for done, records in self.source.read(table, WRITING, on_progress):
                first = 0
                for at in np.flatnonzero(is_odd[done : done + len(records)]).tolist():
                    if first < at:
                        add(records[first:at], NOTHING)
                    if changed := changes.get(done + at + 1):
                        add([change_record(table, records[at], changed, path)], NOTHING)
                    first = at + 1
                if first < len(records):
                    add(records[first:], NOTHING)

    def _open(self) -> SourceTable:
        """Open the source once more. Raises SourceError if two columns have one name."""
        table = self.source.open()
        labels = label_columns(table.names or ())
        twice = next((name for at, name in enumerate(labels) if name in labels[:at]), None)
        if twice is not None:
            reason, step = f"has the column {twice!r} twice", "rename one of these columns"
            raise SourceError(self.name, reason, step, code="column-repeated")
        return table

    def _mark_left_out(self, merged: MergedClusters) -> NDArray[np.bool_]:
        """Mark the records that do not stay, of all: those of clusters, and unusable ones."""
        left_out = ~np.frombuffer(self.source.are_documents, np.bool_)
        left_out[[number - 1 for group in merged.groups for number in group.numbers[1:]]] = True
        return left_out
