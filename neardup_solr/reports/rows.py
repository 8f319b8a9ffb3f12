"""Rows of a report as TSV, CSV or JSONL, by the suffix of the file."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import orjson

from neardup_solr.errors import ArgumentError, SourceError
from neardup_solr.files import check_place, write_lines
from neardup_solr.records import Duplicate, Match, Pair
from neardup_solr.text.formulas import to_csv, to_tsv

COLUMNS = ("id", "other_id", "distance", "similarity")
DUPLICATE_COLUMNS = ("id", "other_id", "similarity", "distance", "measure", "cluster")
MATCH_COLUMNS = ("id", "distance", "similarity", "shared", "text")

Row = Mapping[str, str | int | float | None]
Face = Callable[[Iterable[Row], Sequence[str]], Iterator[str]]


def write_pairs(pairs: Iterable[Pair], path: str | Path) -> None:
    """Write pairs to a .tsv, .csv or .jsonl file, completely or not at all.

    The columns are id, other_id, distance (in words; empty, in JSONL null, if the measure has none)
    and similarity (0..1). In TSV, backslash, tab and line breaks inside ids are escaped with a
    backslash. What a spreadsheet would run as a formula gets a backslash in TSV, an apostrophe in
    CSV, before its first sign (see `text.formulas`). `read_pairs` undoes both.

    Raises SourceError if the suffix is not known or the file cannot be written; an older file of
    that name then stays as it is.
    """
    write_rows((_row(pair, COLUMNS) for pair in pairs), COLUMNS, Path(path))


def write_duplicates(pairs: Iterable[Duplicate], path: str | Path) -> None:
    """Write the pairs of a whole collection, like `write_pairs`.

    Columns id, other_id, similarity, distance (empty if it was not measured), measure, cluster.
    """
    write_rows((_row(pair, DUPLICATE_COLUMNS) for pair in pairs), DUPLICATE_COLUMNS, Path(path))


def write_rows(rows: Iterable[Row], columns: Sequence[str], path: Path) -> None:
    """Write rows to a .tsv, .csv or .jsonl file, completely or not at all.

    Raises SourceError if the suffix is not known or the file cannot be written.
    """
    write_lines(path, _face(path)(rows, columns))


def format_pairs(pairs: Iterable[Pair], format: str) -> Iterator[str]:
    """Lines of a report in a format: "tsv", "csv" or "jsonl"."""
    return format_rows((_row(pair, COLUMNS) for pair in pairs), COLUMNS, format)


def format_duplicates(pairs: Iterable[Duplicate], format: str) -> Iterator[str]:
    """Lines of a whole collection's pairs in a format: "tsv", "csv" or "jsonl"."""
    return format_rows((_row(pair, DUPLICATE_COLUMNS) for pair in pairs), DUPLICATE_COLUMNS, format)


def format_matches(matches: Iterable[Match], format: str) -> Iterator[str]:
    """Lines of one document's near-duplicates in a format: "tsv", "csv" or "jsonl"."""
    return format_rows((_match_row(match) for match in matches), MATCH_COLUMNS, format)


def format_rows(rows: Iterable[Row], columns: Sequence[str], format: str) -> Iterator[str]:
    """Lines of rows in a format: "tsv", "csv" or "jsonl".

    Raises ArgumentError for another format.
    """
    check_format(format)
    return _FACES[f".{format}"](rows, columns)


def check_format(format: str) -> None:
    """Refuse an unknown format, by ArgumentError, before any work is done for it."""
    if f".{format}" not in _FACES:
        known = ", ".join(suffix[1:] for suffix in _FACES)
        raise ArgumentError(f"there is no format {format!r}", f"choose table, {known}")


def check_output(path: Path) -> None:
    """Refuse a report file that cannot be written, before any work is done for it.

    Raises SourceError if its suffix is not known, or as `check_place` does.
    """
    _face(path)
    check_place(path)


def _face(path: Path) -> Face:
    suffix = path.suffix.lower()
    if suffix not in _FACES:
        raise SourceError(
            str(path),
            f"there is no report format for the suffix {path.suffix!r}",
            f"choose one of {', '.join(_FACES)}",
        )
    return _FACES[suffix]


def _row(pair: Pair | Duplicate, columns: Sequence[str]) -> Row:
    row = {name: getattr(pair, name) for name in columns}
    return row | {"similarity": round(pair.similarity, 4)}


def _match_row(match: Match) -> Row:
    return {
        "id": match.id,
        "distance": match.distance,
        "similarity": round(match.similarity, 4),
        "shared": match.shared,
        "text": match.content,
    }


def _cell(value: str | int | float | None, written: Callable[[str], str]) -> str:
    if isinstance(value, str):
        return written(value)
    if value is None:
        return ""
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def _tsv(rows: Iterable[Row], columns: Sequence[str]) -> Iterator[str]:
    yield "\t".join(columns) + "\n"
    for row in rows:
        yield "\t".join(_cell(row[name], to_tsv) for name in columns) + "\n"


def _csv(rows: Iterable[Row], columns: Sequence[str]) -> Iterator[str]:
    yield _csv_line(columns)
    for row in rows:
        yield _csv_line([_cell(row[name], to_csv) for name in columns])


def _csv_line(cells: Sequence[str]) -> str:
    line = io.StringIO()
    csv.writer(line).writerow(cells)
    return line.getvalue()


def _jsonl(rows: Iterable[Row], columns: Sequence[str]) -> Iterator[str]:
    for row in rows:
        yield orjson.dumps({name: row[name] for name in columns}).decode() + "\n"


_FACES: dict[str, Face] = {
    ".tsv": _tsv,
    ".csv": _csv,
    ".jsonl": _jsonl,
}
SUFFIXES = tuple(_FACES)
