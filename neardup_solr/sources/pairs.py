"""Pairs of ids from files: known pairs, and earlier reports."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson

from neardup_solr import records
from neardup_solr.arguments import describe
from neardup_solr.errors import ArgumentError, SourceError
from neardup_solr.progress import LOG
from neardup_solr.sources import excel
from neardup_solr.sources.lines import NEEDS_FORMATS
from neardup_solr.sources.record import Opened, Reading
from neardup_solr.text.escape import from_csv, from_tsv

Line = tuple[int, list[str]]  # its number in the file, and its cells
PAIR = ("id", "other_id")  # the columns of two ids


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
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        return [_pair(path, *row) for row in _parquet_rows(path)]
    lines = _lines_of(path)
    if suffix != ".jsonl":
        lines = _without_header(path, lines)
    return [_pair(path, number, cells) for number, cells in lines]


def read_columns(path: str | Path) -> dict[str, list[Any]]:
    """Read all columns of a file of pairs, by name, if two of them are named id and other_id.

    Raises SourceError if the file cannot be read.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        columns: dict[str, list[Any]] = _parquet(path).read().to_pydict()
    elif suffix == ".jsonl":
        rows = [row for _, row in _lines_of(path, _jsonl_objects) if isinstance(row, dict)]
        names = dict.fromkeys(name for row in rows for name in row)
        columns = {name: [row.get(name) for row in rows] for name in names}
    else:
        (_, names), *lines = _lines_of(path) or [(1, [])]
        columns = {
            name: [cells[at] if at < len(cells) else "" for _, cells in lines]
            for at, name in enumerate(names)
        }
    return columns if set(PAIR) <= columns.keys() else {}


def _lines_of(path: Path, reader: Callable[[str], Iterator[Any]] | None = None) -> list[Any]:
    if path.suffix.lower() == ".xlsx":
        return list(_sheet_lines(path))
    reader = reader or _READERS.get(path.suffix.lower(), _tsv_lines)
    try:
        return list(reader(path.read_bytes().decode("utf-8-sig")))
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from None
    except UnicodeDecodeError:
        reason = "is not text in UTF-8, and so not a file of pairs"
        step = "give a TSV, CSV, JSONL, Parquet or .xlsx file; a spreadsheet saves CSV as UTF-8"
        raise SourceError(str(path), reason, step) from None
    except (csv.Error, ValueError) as error:  # the latter for a path with a NUL character
        raise _unreadable(path, str(error)) from None


def _unreadable(path: Path, reason: str) -> SourceError:
    return SourceError(str(path), f"cannot be read ({reason})", "check the file")


def _without_header(path: Path, lines: list[Line]) -> list[Line]:
    """The lines below the header, if there is one, with the cells id and other_id first."""
    if not lines:
        raise SourceError(str(path), "is empty", "give a file with two columns of ids")
    (first, names), rest = lines[0], lines[1:]
    if set(PAIR) <= set(names):
        places = [names.index(name) for name in PAIR]
        return [(number, [cells[at] for at in places if at < len(cells)]) for number, cells in rest]
    above, below = names[:2], [cell for _, cells in rest for cell in cells[:2]]
    if below and all(map(_is_named, above)) and not any(map(_is_named, below)):
        return rest
    words_above_numbers = (
        below and all(map(str.isdigit, below)) and not any(map(str.isdigit, above))
    )
    if "id" in names or words_above_numbers:
        raise SourceError(
            str(path),
            f"line {first} looks like a header without id and other_id",
            "name the two columns of ids so, or take that line out",
        )
    return lines


def _is_named(cell: str) -> bool:
    return cell.startswith("id_")


def _pair(path: Path, number: int, cells: list[str]) -> tuple[str, str]:
    if len(cells) < 2 or any(map(records.id_problem, cells[:2])):
        raise SourceError(
            str(path),
            f"line {number} is not a pair of ids",
            "give two columns of ids, or in JSON id and other_id",
        )
    if cells[0] == cells[1]:
        raise SourceError(
            str(path), f"line {number} pairs {cells[0]!r} with itself", "take that line out"
        )
    return cells[0], cells[1]


def _tsv_lines(text: str) -> Iterator[Line]:
    for number, line in enumerate(text.split("\n"), start=1):
        cells = line.rstrip("\r").split("\t")
        if cells != [""]:
            yield number, [from_tsv(cell) for cell in cells]


def _csv_lines(text: str) -> Iterator[Line]:
    first = text.partition("\n")[0]
    delimiter = ";" if first.count(";") > first.count(",") else ","  # as Excel writes it
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    for row in rows:
        if row:
            yield rows.line_num, [from_csv(cell) for cell in row]


def _sheet_lines(path: Path) -> Iterator[Line]:
    """The rows of the first sheet of an Excel file."""
    source = Opened(
        given=str(path), name=path.name, path=path, reading=Reading(), on_notice=LOG.warning
    )
    for number, row in enumerate(excel.written_rows(source), start=1):
        yield number, ["" if cell is None else from_csv(_unescape(str(cell))) for cell in row or ()]


def _unescape(cell: str) -> str:
    """Undo the escapes of characters that XML cannot hold, which Excel writes too."""
    return re.sub("_x([0-9A-Fa-f]{4})_", lambda found: chr(int(found[1], 16)), cell)


def _jsonl_lines(text: str) -> Iterator[Line]:
    for number, row in _jsonl_objects(text):
        yield number, _texts_of([row.get(name) for name in PAIR]) if isinstance(row, dict) else []


def _jsonl_objects(text: str) -> Iterator[tuple[int, Any]]:
    """Parse JSON lines, with None for one that is not JSON."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield number, orjson.loads(line)
            except orjson.JSONDecodeError:
                yield number, None


def _parquet_rows(path: Path) -> Iterator[Line]:
    """The rows of a Parquet file, numbered from 1: id and other_id, else its first two columns."""
    file = _parquet(path)
    names = file.schema_arrow.names
    asked = [*PAIR] if set(PAIR) <= set(names) else names[:2]
    for number, row in enumerate(file.read(columns=asked).to_pylist(), start=1):
        yield number, _texts_of([row[name] for name in asked])


def _parquet(path: Path) -> Any:
    """Open a Parquet file."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise SourceError(str(path), "Parquet needs the library pyarrow", NEEDS_FORMATS) from None
    try:
        return pyarrow.parquet.ParquetFile(path)
    except (OSError, ValueError) as error:  # pyarrow's own are ValueErrors
        raise _unreadable(path, getattr(error, "strerror", None) or str(error)) from None


def _texts_of(ids: list[Any]) -> list[str]:
    """Ids as texts, without values that are no ids."""
    return [str(id) for id in ids if type(id) in (str, int)]


_READERS: dict[str, Callable[[str], Iterator[Line]]] = {
    ".tsv": _tsv_lines,
    ".csv": _csv_lines,
    ".jsonl": _jsonl_lines,
}
