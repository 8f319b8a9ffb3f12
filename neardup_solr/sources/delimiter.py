"""Delimiters: what stands between the columns of a table in text."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from neardup_solr.sources.file_kinds import decode_beginning
from neardup_solr.sources.header import has_columns
from neardup_solr.sources.part import SourcePart
from neardup_solr.sources.quotes import without_blanks
from neardup_solr.sources.reading import Reading

WITH_DELIMITER: Final = ("csv", "tsv")
DELIMITERS: Final = (",", ";", "\t", "|")  # that are recognized without being named
# A line above the header by which Excel knows the delimiter.
SEPARATOR: Final = re.compile(r'"?sep=([^"\r\n])[",;\t| \r]*', re.IGNORECASE)
# The csv module holds a quoted field at four bytes a character, and a quote that is never closed
# makes a field of the rest of the file. Longer texts can be given as JSONL or Parquet.
MAX_QUOTED_BYTES: Final = 2**25


def allow_long_fields() -> None:
    """Raise the limit of a field, which holds for the whole process: no other reader fails."""
    csv.field_size_limit(max(csv.field_size_limit(), MAX_QUOTED_BYTES))


def choose_delimiter(part: SourcePart, first: bytes | None) -> str:
    """Choose what separates the columns: the usual, unless only another makes them fit.

    Raises SourceError if what makes them fit is not the named one, or seldom a delimiter.
    """
    reading, named = part.reading, part.reading.delimiter
    usual: str = named or ("\t" if part.format == "tsv" else ",")
    header = (first or b"").decode("utf-8", "replace").rstrip("\r")
    names = split_fields(header, usual)
    others = [each for each in DELIMITERS if each != usual and len(split_fields(header, each)) > 1]
    odd: dict[str, None] = dict.fromkeys([*others, *re.findall(r"[^\w \"'.,;\t|-]", header)])
    fitting = list_fitting(header, reading, odd)
    if has_columns(names, reading) or len(fitting or others) != 1:
        return usual
    if not fitting:
        return others[0] if len(names) == 1 and not named else usual  # the error shows the columns
    line = f"its columns are separated by {fitting[0]!r}"
    if named or fitting[0] not in DELIMITERS:
        raise part.error(line, f"set `delimiter` to {fitting[0]}")
    part.on_notice(f"{part.name}: {line}, and are read that way")
    return fitting[0]


def find_delimiter(part: SourcePart, head: bytes) -> str | None:
    """Find what separates the columns if the first line of a text has the names that are needed."""
    text = decode_beginning(head) or ""
    first = text.partition("\n")[0].rstrip("\r")
    reading = replace(part.reading, guess="none")
    fitting = list_fitting(first, reading)
    return fitting[0] if len(fitting) == 1 and reading.has_ids else None


def list_fitting(line: str, reading: Reading, delimiters: Iterable[str] = DELIMITERS) -> list[str]:
    """List the delimiters by which a line has the names of the columns that are needed."""
    return [each for each in delimiters if has_columns(split_fields(line, each), reading)]


def split_fields(line: str, delimiter: str) -> list[str]:
    """Split a line of a table."""
    line = without_blanks(delimiter, line)
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return line.split(delimiter)
