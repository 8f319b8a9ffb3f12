"""The first sheet of an Excel file, row by row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from neardup_solr.errors import RecordError
from neardup_solr.sources.columns import columns, from_row
from neardup_solr.sources.lines import NEEDS_FORMATS
from neardup_solr.sources.record import Opened, Reading, Record


def read_xlsx(source: Opened, reading: Reading) -> Iterator[Record]:
    """The rows of the first sheet below its header; blank ones are skipped."""
    with _opened(source) as book:
        yield from _records(source, book, reading)


def written_rows(source: Opened) -> Iterator[Sequence[Any]]:
    """The cells of the rows that `read_xlsx` turns into records, header first."""
    with _opened(source) as book:
        for _, row in _rows(source, book):
            if not isinstance(row, RecordError):
                yield row


@contextmanager
def _opened(source: Opened) -> Iterator[Any]:
    if source.path is None:
        raise source.error("Excel cannot be read from standard input", "give the file's name")
    try:
        import openpyxl
    except ImportError as error:
        raise source.error("Excel needs the library openpyxl", NEEDS_FORMATS) from error
    with ExitStack() as stack:
        try:
            # Opened here, because openpyxl leaves a damaged file open.
            file = stack.enter_context(open(source.path, "rb"))
            book = openpyxl.load_workbook(file, read_only=True, data_only=True)
        except damage() as error:
            reason = f"is not a whole Excel file ({error})"
            raise source.error(reason, "save it as .xlsx") from error
        except OSError as error:
            raise source.error(f"cannot be read ({error})", "check its permissions") from error
        yield book


def _records(source: Opened, book: Any, reading: Reading) -> Iterator[Record]:
    rows = _rows(source, book)
    header = next(rows, (0, ()))[1]
    if isinstance(header, RecordError):
        raise source.error(header.reason, "save it anew")
    asked = columns(source, header, reading)
    width, where = len(header), f"{source.name}, row "
    for number, row in rows:
        if isinstance(row, RecordError):
            yield row
        else:
            # Cells at the end of a row that were never filled are missing.
            padded = [*row, *[None] * (width - len(row))]
            for at in asked.text:  # an empty cell is an empty text, as in CSV
                padded[at] = "" if padded[at] is None else padded[at]
            yield from_row(f"{where}{number}", padded, asked, reading)


def _rows(source: Opened, book: Any) -> Iterator[tuple[int, Any]]:
    """The rows as far as they can be read, then the error that says why not all."""
    if not book.worksheets:
        raise source.error("has no sheet with cells", "check the file")
    sheet = book.worksheets[0]
    sheet.reset_dimensions()  # what the file says of its size is often wrong
    number = 0
    try:
        for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
            if any(value is not None for value in row):
                yield number, row
    except damage() as error:
        position = f"{source.name}, after row {number}"
        yield number, RecordError(position, f"the file is damaged from here on ({error})")


def damage() -> tuple[type[Exception], ...]:
    """What a damaged file makes openpyxl raise: it is a ZIP archive of XML."""
    import zlib
    from zipfile import BadZipFile  # loaded for Excel only

    return (
        BadZipFile, zlib.error, KeyError, ValueError, TypeError, AttributeError, SyntaxError,
        EOFError, NotImplementedError, IndexError, RuntimeError,
    )  # fmt: skip
