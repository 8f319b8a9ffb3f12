"""The first sheet of an Excel file, row by row.

It is a ZIP archive of XML. Before openpyxl reads it, parts that grow too much are refused;
defusedxml, which it uses, refuses definitions of entities.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, BinaryIO, Final

from neardup_solr.errors import RecordError, SourceError
from neardup_solr.sources.arrow import first_line
from neardup_solr.sources.lines import NEEDS_FORMATS
from neardup_solr.sources.record import (
    Opened,
    Record,
    SourceTable,
    choose_id,
    find_columns,
    from_row,
)

STREAMED: Final = ("xl/worksheets/", "xl/sharedStrings")  # read piece by piece
MOST_WHOLE: Final = 2**24  # bytes of any other part, and how far any part may grow
MOST_GROWTH: Final = 200  # times; sheets grow 10 to 40 times
# A sheet of Excel has no more. A row may have a higher number: openpyxl would make up those
# before it.
MOST_ROWS, MOST_COLUMNS = 2**20, 2**14


def open_xlsx(source: Opened) -> SourceTable:
    """Open the first sheet: a header, then rows. Blank ones are skipped."""
    rows = _rows(source)
    try:
        _, header = next(rows, (0, []))
    except RecordError as error:
        raise source.error(error.reason, "save it anew") from error
    reading = choose_id(source, header, source.reading)

    def documents() -> Iterator[Record]:
        columns = find_columns(source, header, reading)
        for number, row in rows:
            for at in columns.text:  # an empty cell is an empty text, as in CSV
                row[at] = "" if row[at] is None else row[at]
            yield from_row(f"{source.name}, row {number}", row, columns, reading)

    return SourceTable(
        format="xlsx",
        reading=reading,
        documents=documents,
        records=rows,
        parse=list,
        names=[str(name) for name in header],
    )


def _rows(source: Opened) -> Iterator[tuple[int, list[Any]]]:
    """Read the rows, header first, with their numbers. Raises RecordError at damage."""
    with _open(source) as book:
        if not book.worksheets:
            raise source.error("has no sheet with cells", "check the file")
        sheet = book.worksheets[0]
        if len(book.worksheets) > 1:
            sheets = f"{len(book.worksheets)} sheets, {sheet.title!r}, is read"
            source.on_notice(f"{source.name}: only the first of its {sheets}")
        sheet.reset_dimensions()  # what the file says of its size is often wrong
        number = 0
        try:
            number, header = next(_rows_with_cells(sheet, 1, MOST_COLUMNS), (0, ()))
            width = max((at for at, value in enumerate(header, 1) if value is not None), default=0)
            if width:
                yield number, list(header[:width])
                for at, row in _rows_with_cells(sheet, number + 1, width):
                    number = at
                    # Cells at the end of a row that were never filled are missing.
                    yield number, [*row, *[None] * (width - len(row))]
        except MemoryError:
            raise
        except Exception as error:  # openpyxl raises almost any of a damaged file
            reason = f"the file is damaged from here on ({first_line(error)})"
            raise RecordError(f"{source.name}, after row {number}", reason) from error
        if number == MOST_ROWS:
            full = f"its sheet is full, with {MOST_ROWS:,} rows: what did not fit is not there"
            source.on_notice(f"{source.name}: {full}")


@contextmanager
def _open(source: Opened) -> Iterator[Any]:
    if source.path is None:
        raise source.error("Excel cannot be read from standard input", "give the file's name")
    if source.path.exists() and not source.path.is_file():  # a device might never end
        raise source.error("is a pipe or a device, not an Excel file", "give the file's name")
    try:
        import openpyxl
    except ImportError as error:
        raise source.error("Excel needs the library openpyxl", NEEDS_FORMATS) from error
    with ExitStack() as stack:
        try:
            # Opened here, because openpyxl leaves a damaged file open.
            file = stack.enter_context(open(source.path, "rb"))
            _check_parts(source, file)
            book = openpyxl.load_workbook(file, read_only=True, data_only=True)
        except OSError as error:
            raise source.error(f"cannot be read ({error})", "check its permissions") from error
        except (SourceError, MemoryError):
            raise
        except Exception as error:
            reason = f"is not a whole Excel file ({first_line(error)})"
            raise source.error(reason, "save it as .xlsx") from error
        yield book


def _check_parts(source: Opened, file: BinaryIO) -> None:
    """Raise SourceError if a part of the archive is a bomb."""
    from zipfile import ZipFile  # loaded for Excel only

    with ZipFile(file) as archive:
        for part in archive.infolist():
            is_streamed = part.filename.startswith(STREAMED)
            grows = part.file_size > MOST_GROWTH * part.compress_size
            if part.file_size > MOST_WHOLE and (grows or not is_streamed):
                reason = f"its part {part.filename!r} is {part.file_size:,} bytes, as bombs have"
                raise source.error(reason, "save it anew, or as CSV")


def _rows_with_cells(sheet: Any, first: int, width: int) -> Iterator[tuple[int, Any]]:
    """Yield the rows that are not blank, from the first on, as far as a sheet may go.

    Of those that the file leaves out, openpyxl gives the same row again and again.
    """
    before = None
    rows = sheet.iter_rows(min_row=first, max_row=MOST_ROWS + 1, max_col=width, values_only=True)
    for number, row in enumerate(rows, first):
        if number > MOST_ROWS:
            raise ValueError(f"a row beyond the {MOST_ROWS:,}th")
        if row is not before and any(value is not None for value in row):
            yield number, row
        before = row
