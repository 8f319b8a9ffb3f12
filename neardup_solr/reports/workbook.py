"""Workbooks of Excel: rows of a report, and copies of a source's rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any, Final

from neardup_solr.errors import SourceError, counted
from neardup_solr.files import atomic_output
from neardup_solr.progress import LOG
from neardup_solr.regex import regex
from neardup_solr.reports import Add, Added, Beside, require_library
from neardup_solr.sizes import SIZES
from neardup_solr.sources.part import SourceTable

LONGEST: Final = 2**15 - 1  # characters of a cell, in UTF-16
LARGEST: Final = 2**53  # whole numbers beyond it would be rounded
# What XML 1.0 cannot hold, and what would be taken for such an escape.
_NOT_IN_XML: Final = regex(
    "[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)", re.ASCII
)


def write_sheets(
    path: Path, names: Sequence[str], rows: Iterable[Sequence[Any]], spell: Callable[[str], str]
) -> None:
    """Write rows of texts, numbers and None below their names, completely or not at all.

    A sheet that is full is followed by another, and texts are cut to what a cell can hold; a
    line is logged for either. `spell` says how a text is written.

    Raises SourceError if the file cannot be written, or openpyxl is missing.
    """
    require_library(path, "Excel", "openpyxl")
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell

    book = Workbook(write_only=True)
    sheets = count = cut = 0

    def cell(sheet: Any, value: Any) -> Any:
        nonlocal cut
        if value is None or (isinstance(value, int | float) and abs(value) <= LARGEST):
            return value
        text = spell(value if isinstance(value, str) else str(value))
        text = _NOT_IN_XML.sub(lambda character: f"_x{ord(character[0]):04X}_", text)
        short = _cut(text)
        cut += short is not text
        written = WriteOnlyCell(sheet, short)
        written.data_type = "s"  # also of what would be a formula or an error
        return written

    left = iter(rows)
    following = list(islice(left, 1))
    with atomic_output(path) as unfinished:
        while following or not sheets:
            sheets += 1
            sheet = book.create_sheet(str(sheets))
            for row in chain(
                [names], following, islice(left, SIZES.sheet_rows - 1 - len(following))
            ):
                sheet.append([cell(sheet, value) for value in row])
                count += 1
            following = list(islice(left, 1))
        book.save(unfinished)
    if sheets > 1:
        total = counted(count - sheets, "row")
        LOG.warning("%s: its %s did not fit in one sheet and fill %d sheets", path, total, sheets)
    if cut:
        what = counted(cut, "text is", "texts are")
        reason = f"{what} cut to {LONGEST:,} characters, the most that a cell can hold"
        LOG.warning("%s: %s; use .csv or .jsonl to keep them whole", path, reason)


def _cut(text: str) -> str:
    """Cut a text to what fits into a cell."""
    if len(text) <= LONGEST // 2 or len(written := text.encode("utf-16-le")) <= 2 * LONGEST:
        return text
    return written[: 2 * (LONGEST - 1)].decode("utf-16-le", "ignore") + "…"


@contextmanager
def open_sheet(path: Path, unfinished: Path, source: SourceTable, added: Beside) -> Iterator[Add]:
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell

    book = Workbook(write_only=True)
    sheet, count = book.create_sheet(source.schema.title), 1

    def spell(value: Any, cell: Any = None) -> Any:
        written = WriteOnlyCell(sheet, value)
        if isinstance(value, str):  # also what would be a formula
            written.data_type = "e" if cell and cell.data_type == "e" else "s"
        if cell and value is not None:
            written.number_format = cell.number_format
        return written

    def add(copied: Sequence[Any], beside: Added) -> None:
        for record in copied:
            add_row(record, beside)

    def add_row(record: Any, beside: Added) -> None:
        nonlocal count
        cells = [None] * len(source.schema.values) if record is None else record.values
        pairs = zip_longest(cells, [] if record is None else record.cells)
        sheet.append([*(spell(value, cell) for value, cell in pairs), *map(spell, beside.values())])
        count += 1

    sheet.append([*map(spell, source.schema.values), *map(spell, added)])
    yield add
    if count > SIZES.sheet_rows:
        reason = "has more rows than a sheet can hold"
        raise SourceError(str(path), reason, "choose a .jsonl file", code="format-unfit")
    book.save(unfinished)
