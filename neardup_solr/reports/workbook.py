"""Rows as a workbook of Excel, by openpyxl.

Texts are cells of text, so that none is run; what CSV marks as a formula is marked here, too, for
whoever saves the sheet as CSV. Characters that XML lacks are escaped as Excel escapes them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

from neardup_solr.errors import SourceError, counted
from neardup_solr.files import whole
from neardup_solr.progress import LOG
from neardup_solr.sources.lines import NEEDS_FORMATS

MOST_ROWS: Final = 2**20  # of a sheet, with its header
LONGEST: Final = 2**15 - 1  # characters of a cell, in UTF-16
LARGEST: Final = 2**53  # whole numbers beyond it would be rounded

# What XML 1.0 cannot hold, and what would be taken for such an escape.
_ESCAPED: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)", re.ASCII
)


def check_workbook(path: Path) -> None:
    """Refuse to write a workbook without openpyxl, by SourceError."""
    from importlib.util import find_spec

    if find_spec("openpyxl") is None:
        raise SourceError(str(path), "Excel needs the library openpyxl", NEEDS_FORMATS)


def write_sheets(
    path: Path, names: Sequence[str], rows: Iterable[Sequence[Any]], spell: Callable[[str], str]
) -> None:
    """Write rows of texts, numbers and None below their names, completely or not at all.

    A sheet that is full is followed by another one, and texts are cut to what a cell can hold; a
    line is logged for either. `spell` says how a text is written.

    Raises SourceError if the file cannot be written, or there is no openpyxl.
    """
    check_workbook(path)
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell

    book = Workbook(write_only=True)
    sheets = count = cut = 0

    def cell(sheet: Any, value: Any) -> Any:
        nonlocal cut
        if value is None or (isinstance(value, int | float) and abs(value) <= LARGEST):
            return value
        text = spell(value if isinstance(value, str) else str(value))
        text = _ESCAPED.sub(lambda character: f"_x{ord(character[0]):04X}_", text)
        short = _cut(text)
        cut += short is not text
        made = WriteOnlyCell(sheet, short)
        made.data_type = "s"  # also of what would be a formula or an error
        return made

    left = iter(rows)
    following = list(islice(left, 1))
    with whole(path) as unfinished:
        while following or not sheets:
            sheets += 1
            sheet = book.create_sheet(str(sheets))
            for row in chain([names], following, islice(left, MOST_ROWS - 1 - len(following))):
                sheet.append([cell(sheet, value) for value in row])
                count += 1
            following = list(islice(left, 1))
        book.save(unfinished)
    if sheets > 1:
        rows_there = counted(count - sheets, "row")
        LOG.warning("%s: its %s are in %d sheets, as one is full", path, rows_there, sheets)
    if cut:
        what = counted(cut, "text is", "texts are")
        reason = f"{what} cut to the {LONGEST:,} characters that a cell can hold"
        LOG.warning("%s: %s; .csv, .jsonl and .parquet have them whole", path, reason)


def _cut(text: str) -> str:
    """Cut a text to what fits into a cell."""
    if len(text) <= LONGEST // 2 or len(written := text.encode("utf-16-le")) <= 2 * LONGEST:
        return text
    return written[: 2 * (LONGEST - 1)].decode("utf-16-le", "ignore") + "…"
