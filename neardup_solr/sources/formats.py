"""Formats: told by the suffix of a file, or by how it begins."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from neardup_solr.errors import ArgumentError, DataError
from neardup_solr.files import PathError
from neardup_solr.sources.blocks import read_beginning
from neardup_solr.sources.compression import suffix_of
from neardup_solr.sources.delimiter import WITH_DELIMITER, find_delimiter
from neardup_solr.sources.encodings import kind_of_part, refuse_what_is_no_text
from neardup_solr.sources.folders import is_folder
from neardup_solr.sources.magic import BEGINNING
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


def choose_format(part: SourcePart) -> str | None:
    """Choose the format asked for, or that of the suffix, or None of standard input.

    Raises SourceError if the source is not of it.
    """
    format = part.reading.source_format
    if part.path is None and format in ("folder", "parquet", *SHEETS):
        step = "give the name of a file or folder"
        raise PathError(part.label, f"a source of the format {format} cannot be read from it", step)
    if part.path is None:
        return format
    has_files, wants_files = is_folder(part, part.path), format == "folder"
    if has_files and format is None:
        return "folder"
    if has_files != wants_files:
        kind, want = ("folder", "file") if has_files else ("file", "folder")
        raise part.error(f"is a {kind}, not a {want}", f"omit `source_format`, or name a {want}")
    if format is None:
        format = suffix_format(part.path)
        if part.reading.delimiter and format in (None, "lines"):
            return "csv"
        format = _look_inside(part, format)
        if format is None:
            raise part.error("its format is not clear from its suffix", CHOICES)
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
        if format not in (None, "lines", "csv", "tsv"):
            return format
        if is_json(head):
            words, actual = "JSON", "json"
        elif format == "lines" and (delimiter := find_delimiter(part, head)):
            words = actual = "tsv" if delimiter == "\t" else "csv"
            words = actual.upper()
        else:
            return format
    elif kind.format and not kind.is_text and format in (None, *SHEETS) and kind.format != format:
        words, actual = kind.words, kind.format
    elif kind.is_text and format in SHEETS:
        step = "save it as .xlsx, or as CSV"
        raise part.error(f"is {kind.words}, not an Excel file", step)
    elif kind.is_text and kind.format and kind.format != format:
        if format not in (None, "lines", *WITH_MARKUP):  # such as a page that tells of an error
            raise part.error(f"is {kind.words}, not {format}", kind.next_step)
        words, actual = kind.words, kind.format
    elif format is None:
        raise part.error(f"is {kind.words}, not text", kind.next_step)
    else:  # which its reader refuses, if it cannot read it
        return format
    part.on_notice(f"{part.name} looks like {words} and is read as such")
    return actual


def is_json(head: bytes) -> bool:
    """Tell whether a file begins with an object of JSON, or a list of them, as a table does not."""
    first = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:99]
    return re.match(rb'(?:\[\s*)?\{\s*"[^"\\]*"\s*:', first) is not None


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
            raise kind(f"{of} has {lacks}", f"leave `{option}` out")
