"""Quotes around fields of CSV: other quotes, and blanks beside them, are made usual."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final

from neardup_solr.sources.header import strip_end
from neardup_solr.sources.part import SourcePart

QUOTES: Final = {"'": "single quotes", "“”": "curly quotes", "«»": "guillemets", "„“": "quotes"}
Tidy = Callable[[str], str]


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


def choose_tidy(part: SourcePart, texts: Sequence[str], delimiter: str) -> Tidy:
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
