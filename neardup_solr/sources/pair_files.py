"""Files of pairs of ids."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from neardup_solr.checks import describe
from neardup_solr.errors import ArgumentError, SourceError
from neardup_solr.files import Named
from neardup_solr.progress import LOG, ignore
from neardup_solr.records import as_whole, id_problem
from neardup_solr.sources.encodings import SAMPLE, guess_encoding
from neardup_solr.sources.part import SourceTable
from neardup_solr.sources.reader import open_source
from neardup_solr.sources.reading import Reading
from neardup_solr.sources.source import size_hint
from neardup_solr.text.escape import from_csv, from_tsv
from neardup_solr.text.json_keys import has_key_twice

Line = tuple[int, list[Any]]  # its number in the file, and its cells
PAIR: Final = ("id", "other_id")  # the columns of two ids
PAIR_FORMATS: Final = {".csv": "csv", ".jsonl": "jsonl", ".parquet": "parquet", ".xlsx": "xlsx"}


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
        problem = f"`path` cannot be {describe(path)}"
        raise ArgumentError(problem, "give the path of a file of pairs", code="argument-type")
    format, names, lines = _read_lines(path, PAIR)
    path, places = Path(path), [0, 1]
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
    format, names, lines = _read_lines(path)
    missing = None if format in ("jsonl", "parquet") else ""
    columns = {
        name: [cells[at] if at < len(cells) else missing for _, cells in lines]
        for at, name in enumerate(names)
    }
    return columns if set(PAIR) <= columns.keys() else {}


def _read_lines(
    path: Named, keys: Sequence[str] | None = None
) -> tuple[str, list[str], list[Line]]:
    """Read a file: its format, the names of its columns, or its first line, and the others.

    Only these `keys` of JSON are read, else all.
    """
    format = PAIR_FORMATS.get(Path(path).suffix.lower(), "tsv")
    if format == "jsonl" and size_hint(path) == 0:
        return format, [*PAIR], []
    reading = Reading(id=PAIR[0], text=PAIR[1:], source_format=format)
    on_notice = LOG.warning if format == "xlsx" else ignore
    try:
        table = open_source(path, reading, on_notice=on_notice).table()
        if format == "jsonl":
            parsed: Iterable[tuple[int, dict[str, Any]]]
            parsed = ((number, _parse(record)) for number, record in table.records())
            if keys is None:
                parsed = list(parsed)
                keys = list(dict.fromkeys(name for _, row in parsed for name in row))
            return format, [*keys], [(at, [row.get(name) for name in keys]) for at, row in parsed]
        if table.is_text:
            lines = [(number, _split(table, record or b"")) for number, record in table.records()]
            return format, _split(table, table.head), lines
        names, rows = list(table.names or ()), table.records()
        lines = [(number, table.values(record)) for number, record in rows]
        if format == "parquet":
            return format, names, lines
        return format, _spell(names), [(number, _spell(cells)) for number, cells in lines]
    except (SourceError, UnicodeDecodeError) as error:
        if isinstance(error, SourceError) and error.code != "encoding":
            raise
        reason = "is not UTF-8 text, so it cannot be a file of pairs"
        step = "give a TSV, CSV, JSONL, Parquet or .xlsx file; in a spreadsheet, save CSV as UTF-8"
        if name := guess_encoding(Path(path).read_bytes()[:SAMPLE]):
            step = f"it appears to be {name}: save it as UTF-8"
        raise SourceError(str(path), reason, step, code="encoding") from None


def _parse(line: bytes) -> dict[str, Any]:
    from neardup_solr.sources.objects import parse_json

    try:
        row = parse_json(line)
    except ValueError:
        row = None
    is_pair = isinstance(row, dict) and not has_key_twice(row, line)
    return row if is_pair else {}  # which is no pair


def _spell(cells: Iterable[Any]) -> list[str]:
    """Write the cells of a sheet as texts, without the marks before formulas."""
    from neardup_solr.sources.excel import unescape

    texts = ("" if cell is None else str(as_whole(cell)) for cell in cells)
    return [from_csv(unescape(text)) for text in texts]


def _split(table: SourceTable, line: bytes) -> list[str]:
    """Split a line into its cells, without the marks before formulas."""
    text = line.decode().rstrip("\r")
    if table.format == "tsv":
        return [from_tsv(cell) for cell in text.split("\t")]
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=table.delimiter)
    return [from_csv(cell) for row in rows for cell in row]


def _with_first(path: Path, first: list[str], lines: list[Line]) -> list[Line]:
    """Put the first line before the others, unless it is a header."""
    if not any(first) and not lines:
        step = "give a file with two columns of ids"
        raise SourceError(str(path), "is empty", step, code="file-empty")
    above, below = first[:2], [cell for _, cells in lines for cell in cells[:2]]
    if below and all(map(_is_name, above)) and not any(map(_is_name, below)):
        return lines
    are_numbers = below and all(map(str.isdigit, below))
    if PAIR[0] in first or (are_numbers and not any(map(str.isdigit, above))):
        step = "name the two id columns id and other_id, or remove that line"
        reason = "line 1 looks like a header without id and other_id"
        raise SourceError(str(path), reason, step, code="header-invalid")
    return [(1, first), *lines]


def _is_name(cell: str) -> bool:
    return cell.startswith("id_")


def _pair(path: Path, number: int, cells: Sequence[Any]) -> tuple[str, str]:
    ids = [str(cell) for cell in map(as_whole, cells) if type(cell) in (str, int)]
    if len(ids) < 2 or any(map(id_problem, ids)):
        step = "give two ids per line, in JSON as id and other_id"
        reason = f"line {number} is not a pair of ids"
        raise SourceError(str(path), reason, step, code="line-invalid")
    if ids[0] == ids[1]:
        reason = f"line {number} pairs {ids[0]!r} with itself"
        raise SourceError(str(path), reason, "remove that line", code="line-invalid")
    return ids[0], ids[1]
