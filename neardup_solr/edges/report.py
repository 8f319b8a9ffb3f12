"""One report, many faces: the same rows as TSV, CSV or JSONL, by the suffix of the file."""

from __future__ import annotations

import csv
import io
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import orjson

from neardup_solr.pure.errors import SettingsError, SourceError
from neardup_solr.pure.model import Match, Pair

COLUMNS = ("id", "other_id", "distance", "similarity")
MATCH_COLUMNS = ("id", "distance", "similarity", "shared")

Row = Mapping[str, str | int | float]
Face = Callable[[Iterable[Row], Sequence[str]], Iterator[str]]

_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "'")


def write_pairs(pairs: Iterable[Pair], path: str | Path) -> None:
    """Write pairs to a file whose suffix (.tsv, .csv, .jsonl) says the format, whole or not at all.

    Columns id, other_id, distance (words), similarity (0..1). In TSV, backslash, tab and line
    breaks inside ids are escaped with a backslash; in CSV, an id that a spreadsheet would take
    for a formula gets a leading apostrophe. `read_pairs` undoes both.

    Raises SourceError where the suffix is not known or the file cannot be written; a file that
    was there before is then still whole.
    """
    path = Path(path)
    lines = _face(path)((_pair_row(pair) for pair in pairs), COLUMNS)
    try:
        write_atomically(path, lines)
    except OSError as error:
        raise SourceError(
            str(path), f"cannot be written ({error.strerror})", "choose another place with -o"
        ) from None


def format_pairs(pairs: Iterable[Pair], format: str) -> Iterator[str]:
    """Lines of a report in a format: "tsv", "csv" or "jsonl"."""
    return format_rows((_pair_row(pair) for pair in pairs), COLUMNS, format)


def format_matches(matches: Iterable[Match], format: str) -> Iterator[str]:
    """Lines of one document's near-duplicates in a format: "tsv", "csv" or "jsonl"."""
    return format_rows((_match_row(match) for match in matches), MATCH_COLUMNS, format)


def format_rows(rows: Iterable[Row], columns: Sequence[str], format: str) -> Iterator[str]:
    """Lines of rows in a format: "tsv", "csv" or "jsonl".

    Raises SettingsError for another format.
    """
    if f".{format}" not in _FACES:
        known = ", ".join(suffix[1:] for suffix in _FACES)
        raise SettingsError(f"there is no format {format!r}", f"choose table, {known}")
    return _FACES[f".{format}"](rows, columns)


def check_output(path: Path) -> None:
    """Refuse a report file that could not be written, before any work is done for it.

    Raises SourceError where its suffix is not known or its folder is not there.
    """
    _face(path)
    if not path.parent.is_dir():
        raise SourceError(str(path), "its folder does not exist", "create it, or choose another")


def read_pairs(path: str | Path) -> list[tuple[str, str]]:
    """Pairs of ids from a TSV, CSV or JSONL file: its first two columns, or id and other_id.

    A first line whose cells are not to be taken for ids is a header: one that names a column
    "id", or starts with "id_". Files without a known suffix are read as TSV.

    Raises SourceError where the file cannot be read or a line has fewer than two columns.
    """
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "is not UTF-8"
        raise SourceError(str(path), f"cannot be read ({reason})", "check the file") from None
    rows = list(_READERS.get(path.suffix, _tsv_rows)(text))
    if rows and rows[0] and (rows[0][0] == "id" or rows[0][0].startswith("id_")):
        rows = rows[1:]
    for number, row in enumerate(rows, start=1):
        if len(row) < 2 or not row[0] or not row[1]:
            raise SourceError(
                str(path), f"record {number} is not a pair of ids", "give two columns of ids"
            )
    return [(row[0], row[1]) for row in rows]


def write_atomically(path: Path, lines: Iterable[str]) -> None:
    """Write lines to a file that appears, or changes, only once it is whole and on the disk."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with open(handle, "w", encoding="utf-8", newline="") as file:
            file.writelines(lines)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _face(path: Path) -> Face:
    if path.suffix not in _FACES:
        raise SourceError(
            str(path),
            f"there is no report format for the suffix {path.suffix!r}",
            f"choose one of {', '.join(_FACES)}",
        )
    return _FACES[path.suffix]


def _pair_row(pair: Pair) -> Row:
    return {
        "id": pair.id,
        "other_id": pair.other_id,
        "distance": pair.distance,
        "similarity": round(pair.similarity, 4),
    }


def _match_row(match: Match) -> Row:
    return {
        "id": match.id,
        "distance": match.distance,
        "similarity": round(match.similarity, 4),
        "shared": match.shared,
    }


def _cell(value: str | int | float) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def _tsv(rows: Iterable[Row], columns: Sequence[str]) -> Iterator[str]:
    yield "\t".join(columns) + "\n"
    for row in rows:
        yield "\t".join(_escape(_cell(row[name])) for name in columns) + "\n"


def _escape(cell: str) -> str:
    return "".join(_ESCAPES.get(character, character) for character in cell)


def _csv(rows: Iterable[Row], columns: Sequence[str]) -> Iterator[str]:
    yield _csv_line(columns)
    for row in rows:
        yield _csv_line([_neutral(_cell(row[name])) for name in columns])


def _csv_line(cells: Sequence[str]) -> str:
    line = io.StringIO()
    csv.writer(line).writerow(cells)
    return line.getvalue()


def _neutral(cell: str) -> str:
    return f"'{cell}" if cell.startswith(_FORMULA) else cell


def _jsonl(rows: Iterable[Row], columns: Sequence[str]) -> Iterator[str]:
    for row in rows:
        yield orjson.dumps({name: row[name] for name in columns}).decode() + "\n"


def _tsv_rows(text: str) -> Iterator[list[str]]:
    for line in text.split("\n"):
        cells = line.rstrip("\r").split("\t")
        if cells != [""]:
            yield [_unescape(cell) for cell in cells]


def _unescape(cell: str) -> str:
    if "\\" not in cell:
        return cell
    parts = cell.split("\\\\")
    for escaped, plain in (("\\t", "\t"), ("\\n", "\n"), ("\\r", "\r")):
        parts = [part.replace(escaped, plain) for part in parts]
    return "\\".join(parts)


def _csv_rows(text: str) -> Iterator[list[str]]:
    for row in csv.reader(io.StringIO(text, newline="")):
        if row:
            yield [cell[1:] if cell.startswith("'") else cell for cell in row]


def _jsonl_rows(text: str) -> Iterator[list[str]]:
    for line in text.split("\n"):
        try:
            row = orjson.loads(line) if line.strip() else None
        except orjson.JSONDecodeError:
            row = {}
        if isinstance(row, dict):
            yield [str(row.get("id", "")), str(row.get("other_id", ""))]


_FACES: dict[str, Face] = {
    ".tsv": _tsv,
    ".csv": _csv,
    ".jsonl": _jsonl,
}
_READERS: dict[str, Callable[[str], Iterator[list[str]]]] = {
    ".tsv": _tsv_rows,
    ".csv": _csv_rows,
    ".jsonl": _jsonl_rows,
}
