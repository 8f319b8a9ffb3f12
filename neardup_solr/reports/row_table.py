"""Rows as TSV, CSV, JSON lines or a workbook."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final

import orjson

from neardup_solr.errors import ArgumentError
from neardup_solr.files import PathError, check_place, write_lines
from neardup_solr.regex import regex
from neardup_solr.reports import require_library
from neardup_solr.sources.csv import csv_line
from neardup_solr.text.escape import to_csv, to_tsv

TEXTS: Final = ("text", "other_text")  # columns with texts of documents
_BREAKS: Final = regex(r"[\t\n\r]+")
Row = Mapping[str, Any]
Mark = Callable[[str], str]
FORMATS: Final = ("tsv", "csv", "jsonl")  # of lines
SUFFIXES: Final = (*(f".{name}" for name in FORMATS), ".xlsx")


@dataclass(frozen=True, slots=True)
class RowTable:
    """Rows of a report, their columns, and those of these that are `kept` from the source.

    Numbers in columns that are `kept` are written as they are, others with 4 digits. In TSV,
    backslash, tab and line breaks are escaped with a backslash. What a spreadsheet would run as a
    formula gets a backslash in TSV, an apostrophe in CSV and .xlsx, before its first sign.
    `read_pairs` undoes all of it.
    """

    rows: Iterable[Row]
    columns: Sequence[str]
    kept: Collection[str] = ()

    def write(self, path: Path, *, for_excel: bool = False) -> None:
        """Write a .tsv, .csv, .jsonl or .xlsx file, completely or not at all.

        CSV that is `for_excel` begins with a byte order mark. Raises SourceError if the suffix is
        unknown or the file cannot be written; an older file of that name then stays as it is.
        """
        format = _choose_format(path)
        if format == "xlsx":
            from neardup_solr.reports.workbook import write_sheets

            cells = ([flatten(row[name]) for name in self.columns] for row in self.rows)
            write_sheets(path, self.columns, cells, to_csv)
            return
        lines = self.lines(format)
        write_lines(path, chain(["\ufeff"], lines) if for_excel and format == "csv" else lines)

    def lines(self, format: str) -> Iterator[str]:
        """Make lines in a format: "tsv", "csv" or "jsonl". Raises ArgumentError for another."""
        check_format(format)
        if format == "jsonl":
            return (_object({name: row[name] for name in self.columns}) + "\n" for row in self.rows)
        if format == "csv":
            return self._table_lines(to_csv, to_csv, lambda cells: csv_line(cells) + "\r\n")
        return self._table_lines(to_tsv, _on_one_line, lambda cells: "\t".join(cells) + "\n")

    def _table_lines(
        self, mark: Mark, mark_text: Mark, join: Callable[[Sequence[str]], str]
    ) -> Iterator[str]:
        """Make the lines of a table: cells are marked, texts by `mark_text`, and joined."""
        yield join([mark(name) for name in self.columns])
        spells = [
            _spelling(name in self.kept, mark_text if name in TEXTS else mark)
            for name in self.columns
        ]
        for row in self.rows:
            yield join([spell(row[name]) for name, spell in zip(self.columns, spells, strict=True)])


def check_format(format: str) -> None:
    """Refuse an unknown format, by ArgumentError, before any work is done for it."""
    if format not in FORMATS:
        step = f"choose table, {', '.join(FORMATS)}"
        raise ArgumentError(f"there is no format {format!r}", step, code="format-unknown")


def check_output(path: Path) -> None:
    """Refuse a report file that cannot be written, before any work is done for it.

    Raises SourceError if its suffix is unknown, openpyxl is missing, which .xlsx needs, or as
    `check_place` does.
    """
    if _choose_format(path) == "xlsx":
        require_library(path, "Excel", "openpyxl")
    check_place(path)


def _choose_format(path: Path) -> str:
    """Choose the format of a file by its suffix."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        reason = f"there is no report format for the suffix {path.suffix!r}"
        step = f"choose one of {', '.join(SUFFIXES)}"
        raise PathError(str(path), reason, step, code="format-unknown")
    return suffix[1:]


def _spelling(is_kept: bool, mark: Mark) -> Callable[[Any], str]:
    """Choose the function that spells a column's values as cells. `mark` marks formulas."""

    def spell(value: Any) -> str:
        if isinstance(value, str):
            return mark(value)
        if value is None:
            return ""
        if type(value) is int:
            return str(value)
        if isinstance(value, float) and not is_kept:
            return f"{value:.4f}"
        flat = flatten(value)
        return mark(flat) if isinstance(flat, str) else json.dumps(flat)

    return spell


def flatten(value: Any) -> Any:
    """Make a cell of a value: lists and the like become their JSON."""
    is_flat = value is None or isinstance(value, str | int | float)
    return value if is_flat else orjson.dumps(value).decode()


def _on_one_line(text: str) -> str:
    """Put a document's text on a line, as people would read it with escapes otherwise."""
    return to_tsv(_BREAKS.sub(" ", text))


def _object(row: Row) -> str:
    try:
        return orjson.dumps(row).decode()
    except TypeError:  # an id of more than 64 bits, which JSON readers would round
        texts = {name: str(id) if _is_beyond_64_bits(id) else id for name, id in row.items()}
        return orjson.dumps(texts).decode()


def _is_beyond_64_bits(value: Any) -> bool:
    return type(value) is int and not -(2**63) <= value < 2**64
