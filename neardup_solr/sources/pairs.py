"""Pairs of ids from files: reference pairs, and earlier reports."""

from __future__ import annotations

import csv
import io
import os
import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import orjson

from neardup_solr import sources
from neardup_solr.arguments import describe
from neardup_solr.errors import ArgumentError, SourceError
from neardup_solr.progress import LOG, ignore
from neardup_solr.records import id_problem
from neardup_solr.sources.record import Reading, SourceTable
from neardup_solr.text.escape import from_csv, from_tsv

Line = tuple[int, list[Any]]  # its number in the file, and its cells
PAIR: Final = ("id", "other_id")  # the columns of two ids
FORMATS: Final = {".csv": "csv", ".jsonl": "jsonl", ".parquet": "parquet", ".xlsx": "xlsx"}


def read_pairs(path: str | Path) -> list[tuple[str, str]]:
    """Pairs of ids from a TSV, CSV, JSONL, Parquet or Excel file, by its suffix (else TSV).

    JSONL has objects with id and other_id, texts or whole numbers. The others have them in two
    columns: those called id and other_id, else the first two. The first line, but of Parquet,
    is a header if it has those names, or two that begin with "id_" (id_left, id_right), unless ids
    below begin so as well; a header of other names is refused if it can be told from ids.

    Raises SourceError if the file cannot be read, is empty (JSONL and Parquet may have no pairs),
    or if a line is not a pair of two ids; ArgumentError if `path` is not a path.
    """
    if not isinstance(path, str | os.PathLike):
        raise ArgumentError(
            f"`path` cannot be {describe(path)}", "give the path of a file of pairs"
        )
    path = Path(path)
    format, names, lines = _read_lines(path, PAIR)
    places = [0, 1]
    if set(PAIR) <= set(names):
        places = [names.index(name) for name in PAIR]
    elif format != "parquet":
        lines = _with_first(path, names, lines)
    return [
        _pair(path, number, [cells[at] for at in places if at < len(cells)])
        for number, cells in lines
    ]


def read_columns(path: str | Path) -> dict[str, list[Any]]:
    """Read all columns of a file of pairs, by name, if two of them are named id and other_id.

    Raises SourceError if the file cannot be read.
    """
    format, names, lines = _read_lines(Path(path))
    missing = None if format in ("jsonl", "parquet") else ""
    columns = {
        name: [cells[at] if at < len(cells) else missing for _, cells in lines]
        for at, name in enumerate(names)
    }
    return columns if set(PAIR) <= columns.keys() else {}


def _read_lines(path: Path, keys: Sequence[str] | None = None) -> tuple[str, list[str], list[Line]]:
    """Read a file: its format, the names of its columns, or its first line, and the others.

    Only these `keys` of JSON are read, else all.
    """
    format = FORMATS.get(path.suffix.lower(), "tsv")
    if format == "jsonl" and sources.size_hint(path) == 0:
        return format, [*PAIR], []
    reading = Reading(id=PAIR[0], text=PAIR[1:], source_format=format)
    on_notice = LOG.warning if format == "xlsx" else ignore
    try:
        table = sources.open(path, reading=reading, on_notice=on_notice)
        if format == "jsonl":
            rows: Iterable[tuple[int, dict[str, Any]]]
            rows = ((number, _parse(record)) for number, record in table.records)
            if keys is None:
                rows = list(rows)
                keys = list(dict.fromkeys(name for _, row in rows for name in row))
            return format, [*keys], [(at, [row.get(name) for name in keys]) for at, row in rows]
        if format == "parquet":
            lines = [(number, list(table.row(record).values())) for number, record in table.records]
            return format, list(table.names or ()), lines
        head = table.names if not table.is_text else table.head.removeprefix(BOM_UTF8)
        lines = [(number, _cells(table, record)) for number, record in table.records]
        return format, _cells(table, head), lines
    except (SourceError, UnicodeDecodeError) as error:
        if isinstance(error, SourceError) and "UTF" not in error.reason:
            raise
        reason = "is not text in UTF-8, and so not a file of pairs"
        step = "give a TSV, CSV, JSONL, Parquet or .xlsx file; a spreadsheet saves CSV as UTF-8"
        raise SourceError(str(path), reason, step) from None


def _parse(line: bytes) -> dict[str, Any]:
    try:
        row = orjson.loads(line)
    except ValueError:
        row = None
    return row if isinstance(row, dict) else {}  # which is no pair


def _cells(table: SourceTable, record: Any) -> list[str]:
    """Take the cells of a line, without the marks before formulas."""
    if not table.is_text:
        return ["" if cell is None else from_csv(_unescape(str(cell))) for cell in record or ()]
    text = (record or b"").decode().rstrip("\r")
    if table.format == "tsv":
        return [from_tsv(cell) for cell in text.split("\t")]
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=table.delimiter)
    return [from_csv(cell) for row in rows for cell in row]


def _unescape(cell: str) -> str:
    """Undo the escapes of characters that XML cannot hold, which Excel writes too."""
    return re.sub("_x([0-9A-Fa-f]{4})_", lambda escape: chr(int(escape[1], 16)), cell)


def _with_first(path: Path, first: list[str], lines: list[Line]) -> list[Line]:
    """Put the first line before the others, unless it is a header."""
    if not any(first) and not lines:
        raise SourceError(str(path), "is empty", "give a file with two columns of ids")
    above, below = first[:2], [cell for _, cells in lines for cell in cells[:2]]
    if below and all(map(_is_name, above)) and not any(map(_is_name, below)):
        return lines
    words_above_numbers = (
        below and all(map(str.isdigit, below)) and not any(map(str.isdigit, above))
    )
    if PAIR[0] in first or words_above_numbers:
        raise SourceError(
            str(path),
            "line 1 looks like a header without id and other_id",
            "name the two columns of ids so, or take that line out",
        )
    return [(1, first), *lines]


def _is_name(cell: str) -> bool:
    return cell.startswith("id_")


def _pair(path: Path, number: int, cells: Sequence[Any]) -> tuple[str, str]:
    ids = [str(cell) for cell in cells if type(cell) in (str, int)]
    if len(ids) < 2 or any(map(id_problem, ids)):
        raise SourceError(
            str(path),
            f"line {number} is not a pair of ids",
            "give two columns of ids, or in JSON id and other_id",
        )
    if ids[0] == ids[1]:
        raise SourceError(
            str(path), f"line {number} pairs {ids[0]!r} with itself", "take that line out"
        )
    return ids[0], ids[1]
