"""Sheets of Excel: those of .xlsx are streamed, those of .xls read as a whole.

An .xlsx file is a ZIP archive of XML. Before openpyxl reads it, entries that grow too much are
refused; defusedxml, which it uses, refuses definitions of entities. A sheet is read from its first
row to its last: it has no parts that could be read alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, BinaryIO, Final, NamedTuple

from neardup_solr.errors import RecordError, SourceError
from neardup_solr.sizes import SIZES
from neardup_solr.sources.column import (
    choose_id,
    find_columns,
    show_names,
    strip_end,
)
from neardup_solr.sources.document import first_line, from_row
from neardup_solr.sources.header import ROWS_BELOW, check_header
from neardup_solr.sources.part import Record, SourcePart, SourceTable
from neardup_solr.sources.reading import Reading

STREAMED: Final = ("xl/worksheets/", "xl/sharedStrings")  # read piece by piece
MOST_WHOLE: Final = 2**24  # bytes of any other part, and how far any part may grow
MOST_GROWTH: Final = 200  # times; sheets grow 10 to 40 times
# A sheet has no more. A row may have a higher number: openpyxl would make up those before it.
SHEET_COLUMNS = 2**14
XLS_ROWS: Final = 2**16
_DATE, _BOOLEAN, _ERROR = 3, 4, 5  # types of cells of .xls


class SheetRow(NamedTuple):
    """The values of a row, its cells if they are wanted, and the title of a header's sheet."""

    values: list[Any]
    cells: Sequence[Any] = ()
    title: str = ""


def open_xlsx(part: SourcePart) -> SourceTable:
    """Open a sheet, the first if none is named: a header, then rows. Blank ones are skipped."""
    rows = _rows(part)
    try:
        _, header = next(rows, (0, SheetRow([])))
    except RecordError as error:
        raise part.error(error.reason, "save it again", code=error.code) from error
    reading, names = choose_id(part, header.values, part.reading), [*map(str, header.values)]
    written = islice(_rows(part, has_cells=True), 1, None)
    contents = SheetRows(part, header.values, reading, _unescape_rows(rows), written)
    return SourceTable(
        format="xlsx", reading=reading, contents=contents, names=names, schema=header
    )


def _unescape_rows(rows: Iterable[tuple[int, SheetRow]]) -> Iterator[tuple[int, list[Any]]]:
    for number, row in rows:
        yield (
            number,
            [unescape(cell) if type(cell) is str and "_x" in cell else cell for cell in row.values],
        )


@dataclass(frozen=True, slots=True)
class SheetRows:
    """The rows below the header of a sheet: their values, and as they are written."""

    part: SourcePart
    header: Sequence[Any]
    reading: Reading
    rows: Iterable[tuple[int, list[Any]]]
    written: Iterator[tuple[int, SheetRow]]

    def documents(self) -> Iterator[Record]:
        """Make documents of the rows. An empty cell is an empty text, as in CSV."""
        columns = find_columns(self.part, self.header, self.reading)
        for number, row in self.rows:
            cells = list(row)
            for at in columns.text:
                cells[at] = "" if cells[at] is None else cells[at]
            yield from_row(f"{self.part.name}, row {number}", cells, columns, self.reading)

    def records(self) -> Iterator[tuple[int, SheetRow]]:
        """Return the rows as they are written."""
        return self.written

    def parse(self, record: SheetRow) -> list[Any]:
        """Take the values of a row."""
        return record.values


def _rows(part: SourcePart, *, has_cells: bool = False) -> Iterator[tuple[int, SheetRow]]:
    """Read the rows, header first, with their numbers. Raises RecordError at damage."""
    with _open_book(part) as book:
        if not book.worksheets:
            raise part.error("has no sheet with cells", "check the file", code="file-empty")
        sheet = _find_sheet(part, book.worksheets, lambda sheet: str(sheet.title))
        sheet.reset_dimensions()  # what the file says of its size is often wrong
        number, repeated, below = 0, list[int](), list[Any]()
        try:
            first = _rows_with_cells(sheet, 1 + part.reading.skip_rows, SHEET_COLUMNS)
            number, header = next(first, (0, ()))
            width = max((at for at, value in enumerate(header, 1) if value is not None), default=0)
            header = header[:width]
            if width:
                with suppress(Exception):  # damage is an error of its row, when that is read
                    below += ((at - 1, row) for at, row in islice(first, ROWS_BELOW))
                check_header(part, header, below)
                yield number, SheetRow([*header], title=sheet.title)
                for at, row in _rows_with_cells(sheet, number + 1, width, has_cells):
                    number = at
                    values = tuple(cell.value for cell in row) if has_cells else row
                    if values == header:
                        repeated.append(number)
                        continue
                    # Cells at the end of a row that were never filled are missing.
                    filled = [*values, *[None] * (width - len(row))]
                    yield number, SheetRow(filled, row if has_cells else ())
        except (MemoryError, SourceError):
            raise
        except Exception as error:  # openpyxl raises almost any of a damaged file
            reason = f"the file is damaged from here on ({first_line(error)})"
            raise RecordError(
                f"{part.name}, after row {number}", reason, code="file-damaged"
            ) from error
        if repeated:
            part.on_notice(f"{part.name}: the header is repeated in row {show_names(repeated)}")
        if number == SIZES.sheet_rows:
            _tell_full(part, SIZES.sheet_rows)


def _find_sheet(part: SourcePart, sheets: Sequence[Any], title_of: Callable[[Any], str]) -> Any:
    """Find the sheet that is named, in any case as in Excel, or the first, with a notice."""
    name, titles = part.reading.sheet, list(map(title_of, sheets))
    if name is None:
        if len(sheets) > 1:
            first = f"only the first of its {len(sheets)} sheets, {titles[0]!r}, is read"
            part.on_notice(f"{part.name}: {first}, not {show_names(titles[1:])}")
        return sheets[0]
    for sheet, title in zip(sheets, titles, strict=True):
        if title.casefold() == name.casefold():
            return sheet
    reason = f"has no sheet {name!r}"
    raise part.error(reason, f"choose one of: {show_names(titles)}", code="sheet-missing")


def _tell_full(part: SourcePart, rows: int) -> None:
    full = f"its sheet is full ({rows:,} rows)"
    part.on_notice(f"{part.name}: {full}: any further rows were lost when it was saved")


def unescape(cell: str) -> str:
    """Undo the escapes of characters that XML cannot hold, which Excel writes too."""
    return re.sub("_x([0-9A-Fa-f]{4})_", lambda escape: chr(int(escape[1], 16)), cell)


@contextmanager
def _open_book(part: SourcePart) -> Iterator[Any]:
    assert part.path is not None  # as formats see to
    if part.path.exists() and not part.path.is_file():  # a device might never end
        reason = "is a pipe or a device, not an Excel file"
        raise part.error(reason, "give a file name", code="file-kind")
    openpyxl = part.require("Excel", "openpyxl")
    with ExitStack() as stack:
        with _complete(part, MemoryError):
            # Opened here, because openpyxl leaves a damaged file open.
            file = stack.enter_context(open(part.path, "rb"))
            _check_parts(part, file)
            book = openpyxl.load_workbook(file, read_only=True, data_only=True)
        yield book


@contextmanager
def _complete(part: SourcePart, *passed_on: type[Exception]) -> Iterator[None]:
    """Refuse a file that cannot be opened: the libraries raise almost any error of damage."""
    try:
        yield
    except OSError as error:
        reason = f"cannot be read ({error})"
        raise part.error(reason, "check its permissions", code="file-unreadable") from error
    except Exception as error:
        if isinstance(error, (SourceError, *passed_on)):
            raise
        reason = f"is not a complete Excel file ({first_line(error)})"
        step = "save it as .xlsx"
        step = f"{step}, or leave `source_format` out" if part.reading.source_format else step
        raise part.error(reason, step, code="file-damaged") from error


def _check_parts(part: SourcePart, file: BinaryIO) -> None:
    """Raise SourceError if a part of the archive is a bomb."""
    from zipfile import ZipFile  # loaded for Excel only

    with ZipFile(file) as archive:
        for entry in archive.infolist():
            is_streamed = entry.filename.startswith(STREAMED)
            grows = entry.file_size > MOST_GROWTH * entry.compress_size
            if entry.file_size > MOST_WHOLE and (grows or not is_streamed):
                reason = f"expands to {entry.file_size:,} bytes: possibly a ZIP bomb"
                step = "save it again, or as CSV"
                raise part.error(f"part {entry.filename!r} {reason}", step, code="expands-too-much")


def _rows_with_cells(
    sheet: Any, first: int, width: int, has_cells: bool = False
) -> Iterator[tuple[int, Any]]:
    """Yield the rows that are not blank, from the first on, as far as a sheet may go.

    Of those that the file leaves out, openpyxl gives the same row again and again.
    """
    before, most = None, SIZES.sheet_rows + 1
    rows = sheet.iter_rows(first, most, max_col=width, values_only=not has_cells)
    for number, row in enumerate(rows, first):
        if number > SIZES.sheet_rows:
            raise ValueError(f"a row number above {SIZES.sheet_rows:,}")
        values = (cell.value for cell in row) if has_cells else row
        if row is not before and any(value is not None for value in values):
            yield number, row
        before = row


def open_xls(part: SourcePart) -> SourceTable:
    """Open a sheet, the first if none is named: a header, then rows. Blank ones are skipped."""
    assert part.path is not None  # as formats see to
    xlrd = part.require("Old Excel", "xlrd")
    with _complete(part):
        book = xlrd.open_workbook(part.path, logfile=_Silent())
    if not book.sheets():
        raise part.error("has no sheet with cells", "check the file", code="file-empty")
    sheet = _find_sheet(part, book.sheets(), lambda sheet: str(sheet.name))
    numbers = range(part.reading.skip_rows, sheet.nrows)
    written = ((at, [_xls_value(xlrd, book, cell) for cell in sheet.row(at)]) for at in numbers)
    filled = [(number, row) for number, row in written if strip_end(row)]
    header: list[Any] = strip_end(filled[0][1]) if filled else []
    width = len(header)
    check_header(part, header, filled[1:ROWS_BELOW])
    reading = choose_id(part, header, part.reading)
    table = [
        (number + 1, [*row[:width], *[None] * (width - len(row))])
        for number, row in filled[1:]
        if strip_end(row) != header
    ]
    if sheet.nrows == XLS_ROWS:
        _tell_full(part, XLS_ROWS)

    records = ((number, SheetRow(row)) for number, row in table)
    contents = SheetRows(part, header, reading, table, records)
    return SourceTable(format="xls", reading=reading, contents=contents, names=[*map(str, header)])


def _xls_value(xlrd: Any, book: Any, cell: Any) -> Any:
    """Make a value of Python of a cell."""
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
