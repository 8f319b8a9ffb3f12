"""Columns of a report, and its rows as TSV, CSV, JSONL or a sheet of Excel, by the suffix."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, cast

import orjson

from neardup_solr.errors import ArgumentError, SourceError
from neardup_solr.files import check_place, write_lines
from neardup_solr.records import NOTHING, AnyId, Cluster, Duplicate, Match, Pair, key_of
from neardup_solr.text.escape import to_csv, to_tsv

COLUMNS = ("id", "other_id", "distance", "similarity")
DUPLICATE_COLUMNS = ("id", "other_id", "similarity", "distance", "measure", "cluster")
ANSWER = "answer"  # the column that people fill
MATCH_COLUMNS = ("id", "distance", "similarity", "shared", "text")

TEXTS = ("text", "other_text")  # columns with texts of documents
ROWS_AT_ONCE = 10_000
_BREAKS = re.compile(r"[\t\n\r]+")

Row = Mapping[str, Any]
Columns = dict[str, list[Any]]  # of a table, by name
Spelling = Callable[[Any], str]
Mark = Callable[[str], str]
Face = Callable[[Iterable[Row], Sequence[str], Collection[str]], Iterator[str]]


class Kept(list[Any]):
    """The values of a column of the source: its type is theirs, whatever its name is."""


def of_pairs(
    pairs: Sequence[Duplicate] | Sequence[Pair],
    names: Sequence[str],
    texts: Mapping[AnyId, str] = NOTHING,
    kept: Mapping[AnyId, Mapping[str, Any]] = NOTHING,
) -> Columns:
    """Make columns of these attributes of pairs, with those of `beside`."""
    columns = {name: [getattr(pair, name) for pair in pairs] for name in names}
    if not (texts or kept):
        return columns
    found = cast(Sequence[Duplicate], pairs)
    keys = {
        "id": [key_of(pair.id, pair.sides[0]) for pair in found],
        "other_id": [key_of(pair.other_id, pair.sides[1]) for pair in found],
    }
    return beside(columns, texts, kept, keys)


def of_clusters(clusters: Iterable[Cluster], *, has_sides: bool) -> Columns:
    """Make columns of the members of clusters, compared with the canonical one."""
    rows = [
        (one.id, member.id, at == 0, member.similarity, member.distance, member.side)
        for one in clusters
        for at, member in enumerate(one.members)
    ]
    names = ["cluster", "id", "canonical", "similarity", "distance", *["side"] * has_sides]
    return {name: [row[at] for row in rows] for at, name in enumerate(names)}


def beside(
    columns: Columns,
    texts: Mapping[AnyId, str],
    kept: Mapping[AnyId, Mapping[str, Any]],
    keys: Columns,
) -> Columns:
    """Add the texts and the kept columns of the documents to columns.

    `keys` has those of the documents, by the name of the column with their ids.
    """
    found = dict(columns)

    def spare_name(prefix: str, name: str) -> str:
        return (
            spare_name(prefix, f"kept_{name}") if f"{prefix}{name}" in found else f"{prefix}{name}"
        )

    names = list(dict.fromkeys(name for values in kept.values() for name in values))
    for side, documents in keys.items():
        prefix = side.removesuffix("id")
        if texts:
            found[f"{prefix}text"] = [texts.get(key) for key in documents]
        for name in names:
            values = Kept(kept.get(key, {}).get(name) for key in documents)
            found[spare_name(prefix, name)] = values
    return found


def write_pairs(pairs: Iterable[Pair], path: str | Path) -> None:
    """Write pairs to a .tsv, .csv, .jsonl or .xlsx file, completely or not at all.

    The columns are id, other_id, distance (in words; empty, in JSONL null, if the measure has none)
    and similarity (0..1), and answer if answers were asked for. In TSV, backslash, tab and line
    breaks inside ids are escaped with a backslash. What a spreadsheet would run as a formula gets a
    backslash in TSV, an apostrophe in CSV and .xlsx, before its first sign (see `text.escape`).
    `read_pairs` undoes the first two.

    Raises SourceError if the suffix is not known or the file cannot be written; an older file of
    that name then stays as it is.
    """
    found = list(pairs)
    columns = name_columns(found, COLUMNS)
    write_rows((_row(pair, columns) for pair in found), columns, Path(path))


def write_duplicates(
    pairs: Sequence[Duplicate],
    path: str | Path,
    *,
    texts: Mapping[AnyId, str] = NOTHING,
    kept: Mapping[AnyId, Mapping[str, Any]] = NOTHING,
    for_excel: bool = False,
) -> None:
    """Write the pairs of a whole collection, like `write_pairs`.

    Columns id, other_id, similarity, distance (empty if it was not measured), measure, cluster;
    then the text and the kept columns of both documents, if there are any.
    """
    rows, columns, further = _of_duplicates(pairs, texts, kept)
    write_rows(rows, columns, Path(path), kept=further, for_excel=for_excel)


def write_rows(
    rows: Iterable[Row],
    columns: Sequence[str],
    path: Path,
    *,
    kept: Collection[str] = (),
    for_excel: bool = False,
) -> None:
    """Write rows to a .tsv, .csv, .jsonl or .xlsx file, completely or not at all.

    Numbers in columns that are `kept` are written as they are, others with 4 digits; CSV that is
    `for_excel` begins with a byte order mark. Raises SourceError if the suffix is not known or the
    file cannot be written.
    """
    face, suffix = _face(path), path.suffix.lower()
    if face is None:
        from neardup_solr.reports.workbook import write_sheets

        cells = ([_flat(row[name]) for name in columns] for row in rows)
        write_sheets(path, columns, cells, to_csv)
        return
    lines = face(rows, columns, kept)
    write_lines(path, chain(["\ufeff"], lines) if for_excel and suffix == ".csv" else lines)


def format_pairs(pairs: Iterable[Pair], format: str) -> Iterator[str]:
    """Make lines of a report in a format: "tsv", "csv" or "jsonl"."""
    found = list(pairs)
    columns = name_columns(found, COLUMNS)
    return format_rows((_row(pair, columns) for pair in found), columns, format)


def format_duplicates(
    pairs: Sequence[Duplicate],
    format: str,
    *,
    texts: Mapping[AnyId, str] = NOTHING,
    kept: Mapping[AnyId, Mapping[str, Any]] = NOTHING,
) -> Iterator[str]:
    """Make lines of a whole collection's pairs in a format: "tsv", "csv" or "jsonl"."""
    rows, columns, further = _of_duplicates(pairs, texts, kept)
    return format_rows(rows, columns, format, kept=further)


def _of_duplicates(
    pairs: Sequence[Duplicate], texts: Mapping[AnyId, str], kept: Mapping[AnyId, Mapping[str, Any]]
) -> tuple[Iterator[Row], Sequence[str], Sequence[str]]:
    """Make rows of pairs, their columns, and those of these that come from the documents."""
    own = name_columns(pairs)

    def table(part: Sequence[Duplicate]) -> Columns:
        columns = of_pairs(part, own, texts, kept)
        return columns | {"similarity": [round(pair.similarity, 4) for pair in part]}

    names = list(table([]))
    parts = (pairs[at : at + ROWS_AT_ONCE] for at in range(0, len(pairs), ROWS_AT_ONCE))
    cells = chain.from_iterable(zip(*table(part).values(), strict=True) for part in parts)
    rows = (dict(zip(names, row, strict=True)) for row in cells)
    return rows, names, names[len(own) :]


def name_columns(
    pairs: Sequence[Pair | Duplicate], columns: tuple[str, ...] = DUPLICATE_COLUMNS
) -> tuple[str, ...]:
    """Name the columns of pairs: with `answer`, for people to fill, if answers were asked for."""
    has_answers = bool(pairs) and pairs[0].answer is not None
    return (*columns, ANSWER) if has_answers else columns


def format_matches(matches: Iterable[Match], format: str) -> Iterator[str]:
    """Make lines of one document's near-duplicates in a format: "tsv", "csv" or "jsonl"."""
    rows = (_row(match, MATCH_COLUMNS[:-1]) | {"text": match.content} for match in matches)
    return format_rows(rows, MATCH_COLUMNS, format)


def format_rows(
    rows: Iterable[Row], columns: Sequence[str], format: str, *, kept: Collection[str] = ()
) -> Iterator[str]:
    """Make lines of rows in a format: "tsv", "csv" or "jsonl". See `write_rows`.

    Raises ArgumentError for another format.
    """
    check_format(format)
    return _FACES[f".{format}"](rows, columns, kept)


def check_format(format: str) -> None:
    """Refuse an unknown format, by ArgumentError, before any work is done for it."""
    if f".{format}" not in _FACES:
        known = ", ".join(suffix[1:] for suffix in _FACES)
        raise ArgumentError(f"there is no format {format!r}", f"choose table, {known}")


def check_output(path: Path) -> None:
    """Refuse a report file that cannot be written, before any work is done for it.

    Raises SourceError if its suffix is not known, openpyxl is missing, which .xlsx needs, or as
    `check_place` does.
    """
    if _face(path) is None:
        from neardup_solr.reports.workbook import check_workbook

        check_workbook(path)
    check_place(path)


def _face(path: Path) -> Face | None:
    """Choose the function that makes lines of rows, or None for a sheet."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        reason = f"there is no report format for the suffix {path.suffix!r}"
        raise SourceError(str(path), reason, f"choose one of {', '.join(SUFFIXES)}")
    return _FACES.get(suffix)


def _row(found: Pair | Match, columns: Sequence[str]) -> dict[str, Any]:
    row = {name: getattr(found, name) for name in columns}
    return row | {"similarity": round(found.similarity, 4)}


def _spelling(is_kept: bool, mark: Mark) -> Spelling:
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
        flat = _flat(value)
        return mark(flat) if isinstance(flat, str) else json.dumps(flat)

    return spell


def _flat(value: Any) -> Any:
    """Make one cell of a value: lists and the like become their JSON."""
    is_flat = value is None or isinstance(value, str | int | float)
    return value if is_flat else orjson.dumps(value).decode()


def _on_one_line(text: str) -> str:
    """Put a document's text on one line, as people would read it with escapes otherwise."""
    return to_tsv(_BREAKS.sub(" ", text))


def _table(mark: Mark, mark_text: Mark, join: Callable[[Sequence[str]], str]) -> Face:
    """Make the face of a table: cells are marked, those of texts by `mark_text`, and joined."""

    def face(rows: Iterable[Row], columns: Sequence[str], kept: Collection[str]) -> Iterator[str]:
        yield join([mark(name) for name in columns])
        spells = [
            (name, _spelling(name in kept, mark_text if name in TEXTS else mark))
            for name in columns
        ]
        for row in rows:
            yield join([spell(row[name]) for name, spell in spells])

    return face


def _csv_line(cells: Sequence[str]) -> str:
    line = io.StringIO()
    csv.writer(line).writerow(cells)
    return line.getvalue()


def _jsonl(rows: Iterable[Row], columns: Sequence[str], _: Collection[str]) -> Iterator[str]:
    for row in rows:
        yield _object({name: row[name] for name in columns}) + "\n"


def _object(row: Row) -> str:
    try:
        return orjson.dumps(row).decode()
    except TypeError:  # an id of more than 64 bits, which JSON readers would round
        own = {name: str(id) if _is_beyond_64_bits(id) else id for name, id in row.items()}
        return orjson.dumps(own).decode()


def _is_beyond_64_bits(value: Any) -> bool:
    return type(value) is int and not -(2**63) <= value < 2**64


_FACES: dict[str, Face] = {
    ".tsv": _table(to_tsv, _on_one_line, lambda cells: "\t".join(cells) + "\n"),
    ".csv": _table(to_csv, to_csv, _csv_line),
    ".jsonl": _jsonl,
}
SUFFIXES = (*_FACES, ".xlsx")
