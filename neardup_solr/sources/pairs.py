"""Pairs of ids from files: known pairs, and earlier reports."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson

from neardup_solr import records
from neardup_solr.arguments import shown
from neardup_solr.errors import ArgumentError, SourceError
from neardup_solr.text.formulas import from_csv, from_tsv

Line = tuple[int, list[str]]  # its number in the file, and its cells


def read_pairs(path: str | Path) -> list[tuple[str, str]]:
    """Pairs of ids from a TSV, CSV or JSONL file, by its suffix; any other file is read as TSV.

    JSONL has objects with id and other_id, texts or whole numbers. TSV and CSV have them in two
    columns: those that the first line calls id and other_id, else the first two. Two names that
    begin with "id_" (id_left, id_right) are a header too, unless ids below begin so as well; a
    header of other names is refused if it can be told from ids.

    Raises SourceError if the file cannot be read, is empty (JSONL may be: no pairs), or if a line
    is not a pair of two ids; ArgumentError if `path` is not a path.
    """
    if not isinstance(path, str | os.PathLike):
        raise ArgumentError(f"`path` cannot be {shown(path)}", "give the path of a file of pairs")
    path = Path(path)
    suffix = path.suffix.lower()
    try:
        lines = list(_READERS.get(suffix, _tsv_lines)(path.read_bytes().decode("utf-8-sig")))
    except OSError as error:
        raise _unreadable(path, error.strerror) from None
    except UnicodeDecodeError:
        reason = "is not text in UTF-8, and so not a file of pairs"
        raise SourceError(str(path), reason, "give a TSV, CSV or JSONL file") from None
    except (csv.Error, ValueError) as error:  # the latter for a path with a NUL character
        raise _unreadable(path, str(error)) from None
    if suffix != ".jsonl":
        lines = _without_header(path, lines)
    return [_pair(path, number, cells) for number, cells in lines]


def _unreadable(path: Path, reason: str | None) -> SourceError:
    return SourceError(str(path), f"cannot be read ({reason})", "check the file")


def _without_header(path: Path, lines: list[Line]) -> list[Line]:
    """The lines below the header, if there is one, with the cells id and other_id first."""
    if not lines:
        raise SourceError(str(path), "is empty", "give a file with two columns of ids")
    (first, names), rest = lines[0], lines[1:]
    if {"id", "other_id"} <= set(names):
        places = names.index("id"), names.index("other_id")
        return [(number, [cells[at] for at in places if at < len(cells)]) for number, cells in rest]
    above, below = names[:2], [cell for _, cells in rest for cell in cells[:2]]
    if below and all(map(_named, above)) and not any(map(_named, below)):
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


def _named(cell: str) -> bool:
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
    rows = csv.reader(io.StringIO(text, newline=""))
    for row in rows:
        if row:
            yield rows.line_num, [from_csv(cell) for cell in row]


def _jsonl_lines(text: str) -> Iterator[Line]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, _ids_of(line)


def _ids_of(line: str) -> list[str]:
    """The two ids of a JSON object; nothing if it is not an object, or they are not ids."""
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:
        return []
    ids = [row.get("id"), row.get("other_id")] if isinstance(row, dict) else []
    return [str(id) for id in ids if type(id) in (str, int)]


_READERS: dict[str, Callable[[str], Iterator[Line]]] = {
    ".tsv": _tsv_lines,
    ".csv": _csv_lines,
    ".jsonl": _jsonl_lines,
}
