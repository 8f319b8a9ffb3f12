"""Formats: told by the suffix of a file, by how it begins, or by the first lines of a pipe."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

import orjson

from neardup_solr.errors import ArgumentError, DataError
from neardup_solr.files import PathError
from neardup_solr.regex import regex
from neardup_solr.sources.blocks import read_ahead
from neardup_solr.sources.column import show_names
from neardup_solr.sources.compression import COMPRESSIONS, MOST_BYTES, MOST_HEAD, read_beginning
from neardup_solr.sources.dialect import (
    DELIMITERS,
    SEPARATOR,
    WITH_DELIMITER,
    allow_long_fields,
    find_delimiter,
    list_fitting,
    split_fields,
)
from neardup_solr.sources.encodings import refuse_what_is_no_text
from neardup_solr.sources.file_kinds import find_kind, kind_of_part
from neardup_solr.sources.magic_bytes import BEGINNING
from neardup_solr.sources.part import SourcePart

SUFFIXES: Final = {
    ".txt": "lines",
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".parquet": "parquet",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    ".xls": "xls",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".eml": "eml",
    ".mbox": "mbox",
    ".ris": "ris",
    ".bib": "bibtex",
}
FORMATS: Final = tuple(dict.fromkeys([*SUFFIXES.values(), "folder"]))
CHOICES: Final = f"set `source_format` to one of: {', '.join(FORMATS)}"
WITHOUT_COLUMNS: Final = ("lines", "folder")
SHEETS: Final = ("xlsx", "xls")
# Formats whose files begin with mark-up or headers.
WITH_MARKUP: Final = ("html", "eml", "mbox", "ris", "bibtex")
PARTS: Final = "parts"  # the format of parts that are not alike
BINARY: Final = ("parquet", "xlsx", "xls")
_OWN: Final = ("a Parquet file", "a ZIP archive", "an old Office file")  # which may be damaged
# An object with a key, or without any; an empty list alone.
_JSON: Final = regex(
    rb'\s*(?:\[\s*)?\{\s*(?:"[^"\\]*(?:\\.[^"\\]*)*(?:"\s*(?::|\Z)|\\?\Z)|\}\s*(?:[],{]|\Z))'
    rb"|\s*\[\s*\]\s*\Z",
    re.DOTALL,
)
# The first lines tell the format of standard input, and if lines have ids.
MOST_LINES: Final = 5
LEAST_NAMES, MOST_WORDS = 3, 3  # of columns, if their names have blanks; words of each
_DIGIT: Final = regex(r"\d")


def choose_format(part: SourcePart, has_files: bool) -> str | None:
    """Choose the format asked for, or that of the suffix, or None of standard input.

    A folder `has_files`. Raises SourceError if the source is not of it.
    """
    format = part.reading.source_format
    if part.path is None and format in ("folder", "parquet", *SHEETS):
        step = "give the name of a file or folder"
        reason = f"a source of the format {format} cannot be read from it"
        raise PathError(part.label, reason, step, code="format-unfit")
    if part.path is None:
        return format
    wants_files = format == "folder"
    if has_files and format is None:
        return "folder"
    if has_files != wants_files:
        kind, want = ("folder", "file") if has_files else ("file", "folder")
        reason = f"is a {kind}, not a {want}"
        raise part.error(reason, f"omit `source_format`, or name a {want}", code="file-kind")
    if format is None:
        format = suffix_format(part.path)
        if part.reading.delimiter and format in (None, "lines"):
            return "csv"
        format = _look_inside(part, format)
        if format is None:
            reason = "its format is not clear from its suffix"
            raise part.error(reason, CHOICES, code="format-unknown")
    return format


def _look_inside(part: SourcePart, format: str | None) -> str | None:
    """Find the format that a file begins as, if that is another than its suffix tells.

    Raises SourceError if it is known, and cannot be read.
    """
    head = read_beginning(part)
    kind = kind_of_part(part, head[:BEGINNING])
    if kind is None:
        if format is None:
            refuse_what_is_no_text(part, head)
        if format not in (None, "lines", "csv", "tsv", "json", "jsonl", *SHEETS):
            return format
        if is_json(head):
            if format in ("json", "jsonl"):
                return format
            words, actual = "JSON", "json"
        elif format not in (None, "csv", "tsv") and (delimiter := _find_table(part, head, format)):
            actual = "tsv" if delimiter == "\t" else "csv"
            words = actual.upper()
        else:
            return format
    elif kind.format and not kind.is_text and format in (None, *SHEETS) and kind.format != format:
        words, actual = kind.words, kind.format
    elif kind.is_text and format in SHEETS:
        step = "save it as .xlsx, or as CSV"
        raise part.error(f"is {kind.words}, not an Excel file", step, code="file-kind")
    elif kind.is_text and kind.format and kind.format != format:
        if format not in (None, "lines", *WITH_MARKUP):  # such as a page that tells of an error
            raise part.error(f"is {kind.words}, not {format}", kind.next_step, code="file-kind")
        words, actual = kind.words, kind.format
    elif format is None or (format in BINARY and kind.format != format and kind.words not in _OWN):
        raise part.error(f"is {kind.words}, not text", kind.next_step, code="file-kind")
    else:  # which its reader refuses, if it cannot read it
        return format
    part.on_notice(f"{part.name} looks like {words} and is read as such")
    return actual


def _find_table(part: SourcePart, head: bytes, format: str) -> str | None:
    """Find what separates the columns of a table that is named as another format."""
    delimiter = find_delimiter(part, head)
    if delimiter or format == "lines" or not head.strip() or head.lstrip()[:1] in b'{["\xef':
        return delimiter
    lines = _first_lines(whole_lines(head))
    return next((each for each in DELIMITERS if _is_table(lines, each)), None)


def is_json(head: bytes) -> bool:
    """Tell whether a source begins with an object of JSON, or a list of them, as a table does not.

    What is cut off after these bytes may be one, too.
    """
    return _JSON.match(head.removeprefix(b"\xef\xbb\xbf")) is not None


def suffix_of(path: Path) -> str:
    """Return the suffix of a name, without that of a compression behind it."""
    name = path.name.lower()
    for suffix in COMPRESSIONS:
        name = name.removesuffix(suffix)
    return Path(name).suffix


def suffix_format(path: Path) -> str | None:
    """Look up the format that the suffix of a file tells, or None."""
    return SUFFIXES.get(suffix_of(path))


def check_format(part: SourcePart) -> None:
    """Raise ArgumentError if an option is not for the format, DataError if that was recognized."""
    reading, format = part.reading, part.format
    of = f"{part.label}: the format {format}"
    if format is None:
        return
    for option, formats, lacks in (
        ("keep", {*FORMATS} - {*WITHOUT_COLUMNS}, "no further columns"),
        ("delimiter", WITH_DELIMITER, "no delimiter"),
        ("encoding", {*FORMATS} - {*BINARY}, "its own encoding"),
        ("skip_rows", (*WITH_DELIMITER, "xlsx", "xls"), "no rows above a header"),
        ("sheet", ("xlsx", "xls"), "no sheets"),
    ):
        if getattr(reading, option) and format not in formats:
            kind = ArgumentError if reading.source_format else DataError
            raise kind(f"{of} has {lacks}", f"leave `{option}` out", code="arguments-conflict")


def are_enough(head: bytes) -> bool:
    """Tell whether these bytes show the format. If someone types, the answer should come soon."""
    lines = _first_lines(head[: head.rfind(b"\n") + 1])
    if len(lines) >= MOST_LINES or len(head) > MOST_HEAD:
        return True
    if len(lines) > 1 and len(head) >= MOST_BYTES:
        return True
    return bool(lines) and (is_json(head) or _is_plain(lines[0]))


def whole_lines(head: bytes) -> bytes:
    """Take the lines of a large beginning that are not cut off, or the first one as it is."""
    return head[: head.rfind(b"\n") + 1] or head if len(head) >= MOST_BYTES else head


def recognize(part: SourcePart) -> SourcePart:
    """Recognize the format of standard input by its first lines, which a notice tells.

    Raises SourceError if it looks like a table without the columns that are needed.
    """
    head, part = read_ahead(part, are_enough)
    reading, lines = part.reading, _first_lines(whole_lines(head)) or [""]
    fitting = list_fitting(lines[0], reading)
    kind = find_kind(head)
    if kind is not None and kind.format and kind.is_text:
        part.on_notice(f"{part.name} looks like {kind.words} and is read as such")
        return replace(part, format=kind.format)
    if is_json(head) or (len(lines) > 1 and all(map(_is_list, lines[:2]))):
        format = "json"
    elif reading.delimiter or reading.skip_rows or SEPARATOR.fullmatch(lines[0]):
        return replace(part, format="csv")
    elif len(fitting) == 1:
        format = "tsv" if fitting[0] == "\t" else "csv"
        part = replace(part, reading=replace(reading, delimiter=fitting[0]))
    else:
        _refuse_table(part, lines)
        return replace(part, format="lines")
    if reading.delimiter is None:
        name = format.upper()
        part.on_notice(f"{part.name} looks like {name} and is read as such")
    return replace(part, format=format)


def _is_list(line: str) -> bool:
    """Tell whether a line is a list of JSON."""
    with suppress(ValueError):
        return line.startswith("[") and isinstance(orjson.loads(line), list)
    return False


def _refuse_table(part: SourcePart, lines: Sequence[str]) -> None:
    """Raise SourceError if lines look like a table: its columns are not those that are needed."""
    reading = part.reading
    likely = next((each for each in DELIMITERS if _is_table(lines, each)), None)
    if likely:
        columns = show_names(split_fields(lines[0], likely))
        missing = " or ".join(map(repr, (reading.id, *reading.text)))
        reason = f"looks like a table with the columns {columns}, without {missing}"
        step = "if each line holds an id and a text, set `source_format` to lines"
        raise part.error(
            reason, f"name the right columns with `id` and `text`; {step}", code="column-missing"
        )


def _first_lines(head: bytes) -> list[str]:
    lines = head.decode("utf-8", "replace").splitlines()
    return [line for line in lines if line.strip()][:MOST_LINES]


def _is_plain(line: str) -> bool:
    """Tell whether a line begins with an id and a blank, and is no header of a table."""
    first = line.split(None, 1)[0]
    return first != line.rstrip() and "\t" not in line and not any(map(first.count, DELIMITERS))


def _is_table(lines: Sequence[str], delimiter: str) -> bool:
    """Tell whether all lines have as many fields, and the first has names.

    Names have no blanks, unless there are three of a few words, next to the delimiter. Two fields
    with a tab between them are an id and a text, not a table.
    """
    allow_long_fields()
    rows = list(csv.reader((f"{line}\n" for line in lines), delimiter=delimiter))
    is_open = delimiter != "\t" and "".join(lines).count('"') % 2 == 1  # a field goes on
    counts = {len(row) for row in (rows[:-1] if is_open else rows)}
    least = 3 if delimiter == "\t" else 2
    words = split_fields(lines[0], delimiter)
    return (
        len(rows) > 1
        and len(counts) == 1
        and min(counts) >= least
        and (not any(" " in word for word in words) or _are_names(words, len(rows)))
    )


def _are_names(words: Sequence[str], lines: int) -> bool:
    """Tell whether the fields of a first line may be names of columns, though they have blanks."""
    return min(len(words), lines) >= LEAST_NAMES and all(
        word == word.strip()
        and len(word.split()) in range(1, MOST_WORDS + 1)
        and not _DIGIT.search(word)
        for word in words
    )
