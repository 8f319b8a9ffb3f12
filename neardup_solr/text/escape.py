"""A text as a cell of CSV or TSV, which no spreadsheet program runs as a formula."""

from __future__ import annotations

import re

from neardup_solr.regex import regex

# And those that NFKC turns into the first four.
_FORMULA_SIGNS = "=+\\-@\u207a\u207c\u208a\u208c\ufe62\ufe63\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20"
_SEPARATORS = ",;|\t\n\r"
# Blanks, controls, characters that nobody sees, quotes.
_PASSED_OVER = (
    "\\s\x00-\x20\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2000-\u200f"
    "\u2028-\u202f\u205f-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\"'`\u00b4\u2018-\u201f\u00ab\u00bb\u2039\u203a\u301d-\u301f\uff02\uff07"
)
_RUN = f"{_PASSED_OVER}{_SEPARATORS}"
# All that stands before a sign and may be dropped; each run is looked at once, however long.
_BEFORE = regex(f"(?<![{_RUN}])[{_RUN}]++(?=[{_FORMULA_SIGNS}])")
# Most texts, which are written as they are.
_PLAIN = regex(f"(?![{_RUN}{_FORMULA_SIGNS}])[^\\\\{_SEPARATORS}]*+\\Z")
_FIRST_IN_CSV = regex(f"[{_FORMULA_SIGNS}'\t\n\r]")
_FIRST_IN_TSV = regex(f'[{_FORMULA_SIGNS}"]')  # a quote could swallow the cells that follow
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})
_CONTROLS = {"\\t": "\t", "\\n": "\n", "\\r": "\r"}
_ESCAPED = regex(f'\\\\[\\\\tnr"{_FORMULA_SIGNS}]')


def to_csv(text: str) -> str:
    """Write a text as a cell of CSV, before quotes are put around it."""
    if _PLAIN.match(text):
        return text
    marked = _mark(text, "'")
    return f"'{marked}" if _FIRST_IN_CSV.match(marked) else marked


def from_csv(cell: str) -> str:
    """Read the text that `to_csv` wrote."""

    def unmark(match: re.Match[str]) -> str:
        run = match[0]
        return run[:-1] if run[-1] == "'" and _is_start(run[:-1], match.start()) else run

    return _BEFORE.sub(unmark, cell.removeprefix("'"))


def to_tsv(text: str) -> str:
    """Write a text as a cell of TSV: backslash, tab and line breaks are escaped, too."""
    if _PLAIN.match(text):
        return text
    marked = _mark(text.translate(_ESCAPES), "\\")
    return f"\\{marked}" if _FIRST_IN_TSV.match(marked) else marked


def from_tsv(cell: str) -> str:
    """Read the text that `to_tsv` wrote. A backslash before any other character stays."""
    if "\\" not in cell:
        return cell
    return _ESCAPED.sub(lambda match: _CONTROLS.get(match[0], match[0][1]), cell)


def _mark(text: str, mark: str) -> str:
    """Put a mark before each sign that could begin a cell, but for the very first."""

    def add_mark(match: re.Match[str]) -> str:
        return match[0] + mark if _is_start(match[0], match.start()) else match[0]

    return _BEFORE.sub(add_mark, text)


def _is_start(run: str, place: int) -> bool:
    """Return True if the characters after a run may be the start of a cell."""
    return (place == 0 and bool(run)) or any(char in _SEPARATORS for char in run)
