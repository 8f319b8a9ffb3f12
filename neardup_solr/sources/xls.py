"""Sheets of old Excel files (.xls), which xlrd reads as a whole: they have at most 65,536 rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from neardup_solr.sources import record as rows
from neardup_solr.sources.binary import find_sheet, first_line
from neardup_solr.sources.record import Opened, Record, SourceTable

SHEET_ROWS: Final = 2**16
_DATE, _BOOLEAN, _ERROR = 3, 4, 5  # types of cells


def open_xls(source: Opened) -> SourceTable:
    """Open a sheet, the first if none is named: a header, then rows. Blank ones are skipped."""
    if source.path is None:
        raise source.error("Excel cannot be read from standard input", "give a file name")
    xlrd = source.require("Old Excel", "xlrd")
    try:
        book = xlrd.open_workbook(source.path, logfile=_Silent())
    except OSError as error:
        raise source.error(f"cannot be read ({error})", "check its permissions") from error
    except Exception as error:  # xlrd raises almost any of a damaged file
        reason = f"is not a complete Excel file ({first_line(error)})"
        raise source.error(reason, "save it as .xlsx") from error
    if not book.sheets():
        raise source.error("has no sheet with cells", "check the file")
    sheet = find_sheet(source, book.sheets(), lambda sheet: str(sheet.name))
    numbers = range(source.reading.skip_rows, sheet.nrows)
    written = ((number, _values(xlrd, book, sheet, number)) for number in numbers)
    filled = [(number, row) for number, row in written if rows.strip_end(row)]
    header: list[Any] = rows.strip_end(filled[0][1]) if filled else []
    width = len(header)
    rows.check_header(source, header, filled[1 : rows.ROWS_BELOW])
    reading = rows.choose_id(source, header, source.reading)
    table = [
        (number + 1, [*row[:width], *[None] * (width - len(row))])
        for number, row in filled[1:]
        if rows.strip_end(row) != header
    ]
    if sheet.nrows == SHEET_ROWS:
        full = f"its sheet is full ({SHEET_ROWS:,} rows)"
        source.on_notice(f"{source.name}: {full}: any further rows were lost when it was saved")

    def documents() -> Iterator[Record]:
        columns = rows.find_columns(source, header, reading)
        for number, row in table:
            cells = list(row)
            for at in columns.text:  # an empty cell is an empty text, as in CSV
                cells[at] = "" if cells[at] is None else cells[at]
            yield rows.from_row(f"{source.name}, row {number}", cells, columns, reading)

    return SourceTable(
        format="xls", reading=reading, documents=documents, records=iter(table), parse=list,
        names=[*map(str, header)],
    )  # fmt: skip


def _values(xlrd: Any, book: Any, sheet: Any, number: int) -> list[Any]:
    """Make values of Python of the cells of a row."""
    return [_value(xlrd, book, cell) for cell in sheet.row(number)]


def _value(xlrd: Any, book: Any, cell: Any) -> Any:
    if cell.value == "":
        return None
    if cell.ctype == _DATE:
        try:
            return xlrd.xldate_as_datetime(cell.value, book.datemode)
        except (ValueError, OverflowError):
            return cell.value
    if cell.ctype == _BOOLEAN:
        return bool(cell.value)
    if cell.ctype == _ERROR:
        return xlrd.error_text_from_code.get(cell.value, "#N/A")
    return cell.value


class _Silent:
    """In place of standard output, to which xlrd writes what it finds odd."""

    def write(self, _: str) -> int:
        """Write nothing."""
        return 0
