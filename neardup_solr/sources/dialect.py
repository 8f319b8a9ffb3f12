"""Dialect of a table in text: the delimiter of its columns, the quotes around its fields."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, NamedTuple

from neardup_solr.regex import regex
from neardup_solr.sources.column import has_columns, strip_end
from neardup_solr.sources.file_kinds import decode_beginning
from neardup_solr.sources.part import SourcePart
from neardup_solr.sources.reading import Reading
from neardup_solr.sources.values import decode_lines

QUOTES: Final = {"'": "single quotes", "“”": "curly quotes", "«»": "guillemets", "„“": "quotes"}
Tidy = Callable[[str], str]
WITH_DELIMITER: Final = ("csv", "tsv")
DELIMITERS: Final = (",", ";", "\t", "|")  # that are recognized without being named
# A line above the header by which Excel knows the delimiter.
SEPARATOR: Final = regex(r'"?sep=([^"\r\n])[",;\t| \r]*', re.IGNORECASE)
# The csv module holds a quoted field at four bytes a character, and a quote that is never closed
# makes a field of the rest of the file. Longer texts can be given as JSONL or Parquet.
MAX_QUOTED_BYTES: Final = 2**25
_OF_VALUES: Final = regex(r"(?<=\d),(?=\d)|, ")  # commas of numbers and sentences
EVEN: Final = 0.9  # of the first rows, which a delimiter makes as wide as the header


class Dialect(NamedTuple):
    """The delimiter of a table, and what makes usual double quotes of the quotes in its lines."""

    delimiter: str
    tidy: Tidy = str


def choose_dialect(
    part: SourcePart, lines: Sequence[bytes | None], delimiter: str | None
) -> Dialect:
    """Choose the dialect by the header and the lines below it, or by the `delimiter` they name.

    Raises SourceError as for a delimiter that does not fit.
    """
    allow_long_fields()
    delimiter = delimiter or _choose_delimiter(part, lines)
    return Dialect(delimiter, _choose_tidy(part, decode_lines(lines), delimiter))


def without_blanks(delimiter: str, text: str) -> str:
    """Write quotes next to the delimiters, where blanks stand between."""
    if '"' not in text:
        return text
    blanks, mark = "[ \xa0]+" if delimiter == "\t" else "[ \t\xa0]+", re.escape(delimiter)
    text = re.sub(f'(^|{mark}){blanks}(?=")', r"\1", text)
    return re.sub(f'(?<="){blanks}(?={mark}|\r?$)', "", text)


def _with_double_quotes(quotes: str, delimiter: str, text: str) -> str:
    """Write fields in other quotes, as these are at both ends of a field, in double quotes."""
    begin, end, mark = quotes[0], quotes[-1], re.escape(delimiter)
    text = re.sub(f"(^|{mark})[ \xa0]*{begin}", "\\1\0", text.replace('"', '""'))
    text = re.sub(f"{end}[ \xa0]*(?={mark}|\r?$)", "\0", text)
    return (
        text.replace(2 * end, end).replace("\0", '"') if begin == end else text.replace("\0", '"')
    )


def _choose_tidy(part: SourcePart, texts: Sequence[str], delimiter: str) -> Tidy:
    """Choose how quotes are made usual, if more of the first rows are as wide as the header then.

    Blanks may stand beside quotes; all quotes may be single or curly ones.
    """
    tidies: dict[str, Tidy] = {"": str}
    if any(re.search(f'(?:^|{re.escape(delimiter)})[ \t\xa0]+"', text) for text in texts):
        tidies["blanks"] = partial(without_blanks, delimiter)
    for quotes, name in QUOTES.items():
        if sum(f"{delimiter}{quotes[0]}" in text.replace(" ", "") for text in texts) > 1:
            tidies[name] = partial(_with_double_quotes, quotes, delimiter)
    if len(tidies) == 1:
        return str
    counts = {name: _count_even(map(tidy, texts), delimiter) for name, tidy in tidies.items()}
    best = max(counts, key=lambda name: counts[name])
    if best and best != "blanks":
        part.on_notice(f"{part.name}: its fields are in {best}, and are read that way")
    return tidies[best]


def _count_even(texts: Iterable[str], delimiter: str) -> float:
    """Count the rows with as many fields as the first, as a share. The last may be cut off.

    Less than any share if they cannot be parsed, as with a lone carriage return.
    """
    parsed = csv.reader((f"{text}\n" for text in texts), delimiter=delimiter)
    try:
        rows = [row for row in parsed if row]
    except csv.Error:
        return -1.0
    even = sum(len(strip_end(row)) == len(strip_end(rows[0])) for row in rows[1:])
    has_marks = sum(cell.strip()[:1] in "\"'“„«" for row in rows for cell in row if cell.strip())
    return even / max(1, len(rows) - 1) - has_marks / 10_000


def double_quotes(text: str) -> str:
    """Write quotes after a backslash as CSV has them."""
    return re.sub(r'\\[\\"]', lambda pair: pair[0].replace(r"\"", '""'), text)


def allow_long_fields() -> None:
    """Raise the limit of a field, which holds for the whole process: no other reader fails."""
    csv.field_size_limit(max(csv.field_size_limit(), MAX_QUOTED_BYTES))


def _choose_delimiter(part: SourcePart, lines: Sequence[bytes | None]) -> str:
    """Choose what separates the columns: the usual, unless only another makes them fit.

    Raises SourceError if what makes them fit is not the named one, or seldom a delimiter.
    """
    reading, named = part.reading, part.reading.delimiter
    usual: str = named or ("\t" if part.format == "tsv" else ",")
    header = (lines[0] if lines and lines[0] else b"").decode("utf-8", "replace").rstrip("\r")
    names = split_fields(header, usual)
    if has_columns(names, reading):
        return usual
    others = [each for each in DELIMITERS if each != usual and len(split_fields(header, each)) > 1]
    odd: dict[str, None] = dict.fromkeys([*others, *re.findall(r"[^\w \"'.,;\t|-]", header)])
    fitting = list_fitting(header, reading, odd)
    if not fitting and not named and (even := _find_even(decode_lines(lines), usual)):
        return even
    if len(fitting or others) != 1:
        return usual
    if not fitting and not (named and _are_rows_of(others[0], named, decode_lines(lines))):
        return others[0] if len(names) == 1 and not named else usual  # the error shows the columns
    fitting = fitting or others
    line = f"its columns are separated by {fitting[0]!r}"
    if named or fitting[0] not in DELIMITERS:
        raise part.error(line, f"set `delimiter` to {fitting[0]}", code="csv-delimiter")
    part.on_notice(f"{part.name}: {line}, and are read that way")
    return fitting[0]


def _find_even(texts: Sequence[str], usual: str) -> str | None:
    """Find the delimiter that makes rows of several columns, if the usual one makes none.

    Commas within numbers and before blanks, as those of prices and sentences, make rows that are as
    wide only by chance. Of several delimiters, the one by which rows are widest counts.
    """
    widths = {each: _measure_width(texts, each) for each in DELIMITERS}
    width = widths.pop(usual)
    if width > 1 and (usual != "," or any("," in _OF_VALUES.sub("", text) for text in texts)):
        return None
    first, second = sorted(widths, key=lambda each: -widths[each])[:2]
    is_widest = widths[first] > widths[second] and widths[first] >= max(2, width)
    return first if is_widest else None


def _measure_width(texts: Sequence[str], delimiter: str) -> int:
    """Count the columns of rows, 1 unless nearly all rows have as many."""
    if not any(delimiter in text for text in texts) or _count_even(texts, delimiter) <= EVEN:
        return 1
    return len(strip_end(split_fields(texts[0], delimiter)))


def _are_rows_of(delimiter: str, named: str, texts: Sequence[str]) -> bool:
    """Return True for rows of several columns by a delimiter, of one by that which is named."""
    has_named = any(named in text for text in texts)
    return not has_named and len(texts) > 1 and _count_even(texts, delimiter) > EVEN


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
    allow_long_fields()
    line = without_blanks(delimiter, line)
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return line.split(delimiter)
