"""Binary tables: Parquet files and tables of Arrow, batch by batch, and sheets of Excel.

An Excel file is a ZIP archive of XML. Before openpyxl reads it, parts that grow too much are
refused; defusedxml, which it uses, refuses definitions of entities.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, BinaryIO, Final

import numpy as np

from neardup_solr.errors import RecordError, SourceError
from neardup_solr.sources import record as rows
from neardup_solr.sources.folders import size
from neardup_solr.sources.record import Columns, Objects, Opened, Piece, Record, SourceTable
from neardup_solr.text.shingles import Packed

TOO_LARGE: Final = object()
ROWS_AT_ONCE: Final = 256
MOST_ROWS: Final = 2_048  # of a file, if they are small
FEWEST_ROWS: Final = 16
BYTES_AT_ONCE: Final = 2**24
# Raised for texts that are not UTF-8, zones that are unknown, and times that Python does not have.
NOT_IN_PYTHON: Final = (ValueError, LookupError, ArithmeticError)


def open_parquet(source: Opened) -> SourceTable:
    """Open a Parquet file, which is streamed."""
    file = _open_file(source)
    names = file.schema_arrow.names
    reading = rows.choose_id(source, names, source.reading)

    def documents() -> Iterator[Piece]:
        example = partial(like_rows, file.schema_arrow)
        places, columns = rows.find_columns(source, names, reading, example).needed()
        wanted = [names[place] for place in places]
        batches = _tell_progress(source, file, _batches(file, wanted))
        yield from _documents(replace(source, reading=reading), batches, wanted, columns)

    def records() -> Iterator[tuple[int, Any]]:
        number = 0
        try:
            for batch in _batches(file):
                for at in range(batch.num_rows):
                    number += 1
                    yield number, (batch, at)
        except _damage():
            yield number + 1, None

    return SourceTable(
        format="parquet", reading=reading, documents=documents, records=records(),
        parse=lambda record: [_value(column[record[1]]) for column in record[0].columns],
        names=names, schema=file.schema_arrow,
    )  # fmt: skip


def _rows_at_once(metadata: Any) -> int:
    """Choose the number of rows of a file that are read at once: fewer if they are large.

    Of single rows pyarrow would hold each twice.
    """
    groups = (metadata.row_group(at) for at in range(metadata.num_row_groups))
    largest = max((each.total_byte_size // max(1, each.num_rows) for each in groups), default=0)
    return max(FEWEST_ROWS, min(MOST_ROWS, BYTES_AT_ONCE // max(1, largest)))


def _batches(file: Any, columns: Sequence[str] | None = None) -> Iterator[Any]:
    """Read the rows of a file in batches.

    Many rows at once are read sooner. If the file is damaged, few at once give all that is whole,
    before the error is raised.
    """
    count, most = 0, _rows_at_once(file.metadata)
    for at_once in (most, min(most, ROWS_AT_ONCE)):
        seen = 0
        try:
            for batch in file.iter_batches(batch_size=at_once, columns=columns):
                seen += batch.num_rows
                if seen > count:
                    yield batch.slice(batch.num_rows - (seen - count))
                    count = seen
            return
        except _damage() as error:
            damage = error
    raise damage


def _open_file(source: Opened) -> Any:
    if source.path is None:
        raise source.error("Parquet cannot be read from standard input", "give a file name")
    pyarrow = source.require("Parquet", "pyarrow")
    from pyarrow.parquet import ParquetFile

    try:
        # Buffered: pages are read as they come, rather than row groups as a whole.
        return ParquetFile(source.path, buffer_size=2**20, pre_buffer=False)
    except pyarrow.ArrowNotImplementedError as error:
        reason = f"has a type that pyarrow cannot read ({first_line(error)})"
        raise source.error(reason, "write that column as a different type") from error
    except (pyarrow.ArrowException, OSError) as error:
        reason = f"is not a complete Parquet file ({first_line(error)})"
        raise source.error(reason, "check the file, or set `source_format`") from error


def read_arrow(source: Opened, batches: Any) -> Iterator[Piece]:
    """Read the rows of a RecordBatchReader."""
    names = batches.schema.names
    example = partial(like_rows, batches.schema)
    places, columns = rows.find_columns(source, names, source.reading, example).needed()
    # Few at a time: their values become Python objects, which take memory.
    small = (
        batch.slice(first, ROWS_AT_ONCE)
        for batch in batches
        for first in range(0, batch.num_rows, ROWS_AT_ONCE)
    )
    return _documents(source, small, places, columns)


def like_rows(schema: Any) -> Objects:
    """Make an object like the rows of a table, by the types of its columns and their fields."""
    from pyarrow import types

    def make(kind: Any) -> Any:
        if types.is_struct(kind):
            return {field.name: make(field.type) for field in kind}
        if types.is_map(kind):
            return None  # whose keys are not known
        return [make(kind.value_type)] if hasattr(kind, "value_type") else ""

    return [{field.name: make(field.type) for field in schema}]


def _documents(
    source: Opened, batches: Iterable[Any], wanted: Sequence[Any], columns: Columns
) -> Iterator[Piece]:
    number, limit, where = 0, source.reading.max_doc_bytes, f"{source.name}, row "
    try:
        for batch in batches:
            if batch.nbytes <= limit:
                parts = [_values(batch.column(each)) for each in wanted]
                yield from rows.from_columns(where, number + 1, parts, columns, source.reading)
                number += batch.num_rows
                continue
            bounded = (_values_within(batch.column(each), limit) for each in wanted)
            for row in zip(*bounded, strict=True):
                number += 1
                if TOO_LARGE in row:
                    id = columns.id_of(columns.spread(row))
                    id = id if isinstance(id, str) else None
                    yield RecordError(f"{where}{number}", rows.too_large(limit), id)
                else:
                    yield rows.from_row(f"{where}{number}", row, columns, source.reading)
    except _damage() as error:
        position = f"{source.name}, after row {number}"
        what = "the file is" if source.path else "the data is"
        yield RecordError(position, f"{what} damaged from here on ({first_line(error)})")


def _damage() -> tuple[type[Exception], ...]:
    """List the errors that pyarrow raises for damaged data."""
    import pyarrow

    return pyarrow.ArrowException, OSError


def first_line(error: Exception) -> str:
    """Take the first line of an error. Those of Arrow go on with places in its code."""
    return str(error).partition("\n")[0]


def _tell_progress(source: Opened, file: Any, batches: Iterable[Any]) -> Iterator[Any]:
    """Pass the batches of a file on, and tell how far it is read after each."""
    done = 0
    for batch in batches:
        yield batch
        done += batch.num_rows
        if source.on_progress and source.path:
            source.on_progress(size(source.path) * done // file.metadata.num_rows)


def _values(column: Any) -> Sequence[Any]:
    """Give the values of a column as Python has them. Texts are packed if none is missing."""
    try:
        if texts := _pack(column):
            return texts
        return list(column.to_pylist())
    except NOT_IN_PYTHON:  # each alone, so that only bad values stay bytes
        return [_value(value) for value in column]


def _pack(column: Any) -> Packed | None:
    """Give the texts of a column where they are, or None if it has others, or none at all.

    Raises ValueError if they are not UTF-8.
    """
    import pyarrow

    is_large = pyarrow.types.is_large_string(column.type)
    if column.null_count or not (is_large or pyarrow.types.is_string(column.type)):
        return None
    column.validate(full=True)
    _, ends, content = column.buffers()
    if content is None:
        return None
    bounds = np.frombuffer(ends, np.int64 if is_large else np.int32)
    bounds = bounds[column.offset : column.offset + len(column) + 1]
    return Packed(np.frombuffer(content, np.uint8), bounds.astype(np.uint64))


def _values_within(column: Any, limit: int) -> Sequence[Any]:
    """Take the values of a column, with TOO_LARGE in place of a text over the limit."""
    import pyarrow
    import pyarrow.compute

    try:
        sizes = pyarrow.compute.binary_length(column).to_pylist()
    except pyarrow.ArrowNotImplementedError:  # not a column of texts
        return _values(column)
    return [
        TOO_LARGE if size is not None and size > limit else _value(column[at])
        for at, size in enumerate(sizes)
    ]


def _value(value: Any) -> Any:
    """Give a value as Python has it. Only parts that are not UTF-8 stay bytes, odd times texts."""
    import pyarrow

    with suppress(*NOT_IN_PYTHON):
        return value.as_py()
    if isinstance(value, pyarrow.StructScalar):
        return {name: _value(part) for name, part in value.items()}
    if isinstance(value, pyarrow.ListScalar):
        return [_value(part) for part in value.values]
    if isinstance(value, pyarrow.DictionaryScalar | pyarrow.ExtensionScalar):
        return _value(value.value)
    if hasattr(value, "as_buffer"):
        return value.as_buffer().to_pybytes()
    has_zone = pyarrow.types.is_timestamp(value.type) and value.type.tz
    kind = pyarrow.timestamp(value.type.unit, "UTC") if has_zone else value.type
    return pyarrow.scalar(value.value, kind).cast(pyarrow.string()).as_py()


STREAMED: Final = ("xl/worksheets/", "xl/sharedStrings")  # read piece by piece
MOST_WHOLE: Final = 2**24  # bytes of any other part, and how far any part may grow
MOST_GROWTH: Final = 200  # times; sheets grow 10 to 40 times
# A sheet of Excel has no more. A row may have a higher number: openpyxl would make up those
# before it.
SHEET_ROWS, SHEET_COLUMNS = 2**20, 2**14


def open_xlsx(source: Opened) -> SourceTable:
    """Open a sheet, the first if none is named: a header, then rows. Blank ones are skipped."""
    sheet_rows = _rows(source)
    try:
        _, header = next(sheet_rows, (0, Cells(())))
    except RecordError as error:
        raise source.error(error.reason, "save it again") from error
    reading = rows.choose_id(source, header, source.reading)

    def documents() -> Iterator[Record]:
        columns = rows.find_columns(source, header, reading)
        for number, cells in sheet_rows:
            row = [unescape(cell) if type(cell) is str and "_x" in cell else cell for cell in cells]
            for at in columns.text:  # an empty cell is an empty text, as in CSV
                row[at] = "" if row[at] is None else row[at]
            yield rows.from_row(f"{source.name}, row {number}", row, columns, reading)

    return SourceTable(
        format="xlsx", reading=reading, documents=documents, parse=list, schema=header,
        records=islice(_rows(source, has_cells=True), 1, None), names=[*map(str, header)],
    )  # fmt: skip


class Cells(list[Any]):
    """The values of a row, with the title of its sheet, or with its cells, if they are wanted."""

    def __init__(self, values: Iterable[Any], title: str = "", cells: Sequence[Any] = ()) -> None:
        super().__init__(values)
        self.title, self.cells = title, cells


def _rows(source: Opened, *, has_cells: bool = False) -> Iterator[tuple[int, Any]]:
    """Read the rows, header first, with their numbers. Raises RecordError at damage."""
    with _open_book(source) as book:
        if not book.worksheets:
            raise source.error("has no sheet with cells", "check the file")
        sheet = find_sheet(source, book.worksheets, lambda sheet: str(sheet.title))
        sheet.reset_dimensions()  # what the file says of its size is often wrong
        number, repeated, below = 0, list[int](), list[Any]()
        try:
            first = _rows_with_cells(sheet, 1 + source.reading.skip_rows, SHEET_COLUMNS)
            number, header = next(first, (0, ()))
            width = max((at for at, value in enumerate(header, 1) if value is not None), default=0)
            header = header[:width]
            if width:
                with suppress(Exception):  # damage is an error of its row, when that is read
                    below += ((at - 1, row) for at, row in islice(first, rows.ROWS_BELOW))
                rows.check_header(source, header, below)
                yield number, Cells(header, sheet.title)
                for at, row in _rows_with_cells(sheet, number + 1, width, has_cells):
                    number = at
                    values = tuple(cell.value for cell in row) if has_cells else row
                    if values == header:
                        repeated.append(number)
                        continue
                    # Cells at the end of a row that were never filled are missing.
                    filled = [*values, *[None] * (width - len(row))]
                    yield number, Cells(filled, cells=row) if has_cells else filled
        except (MemoryError, SourceError):
            raise
        except Exception as error:  # openpyxl raises almost any of a damaged file
            reason = f"the file is damaged from here on ({first_line(error)})"
            raise RecordError(f"{source.name}, after row {number}", reason) from error
        if repeated:
            source.on_notice(f"{source.name}: the header is repeated in row {rows.shown(repeated)}")
        if number == SHEET_ROWS:
            full = f"its sheet is full ({SHEET_ROWS:,} rows)"
            source.on_notice(f"{source.name}: {full}: any further rows were lost when it was saved")


def find_sheet(source: Opened, sheets: Sequence[Any], title_of: Callable[[Any], str]) -> Any:
    """Find the sheet that is named, in any case as in Excel, or the first, with a notice."""
    name, titles = source.reading.sheet, list(map(title_of, sheets))
    if name is None:
        if len(sheets) > 1:
            first = f"only the first of its {len(sheets)} sheets, {titles[0]!r}, is read"
            source.on_notice(f"{source.name}: {first}, not {rows.shown(titles[1:])}")
        return sheets[0]
    for sheet, title in zip(sheets, titles, strict=True):
        if title.casefold() == name.casefold():
            return sheet
    raise source.error(f"has no sheet {name!r}", f"choose one of: {rows.shown(titles)}")


def unescape(cell: str) -> str:
    """Undo the escapes of characters that XML cannot hold, which Excel writes too."""
    return re.sub("_x([0-9A-Fa-f]{4})_", lambda escape: chr(int(escape[1], 16)), cell)


@contextmanager
def _open_book(source: Opened) -> Iterator[Any]:
    if source.path is None:
        raise source.error("Excel cannot be read from standard input", "give a file name")
    if source.path.exists() and not source.path.is_file():  # a device might never end
        raise source.error("is a pipe or a device, not an Excel file", "give a file name")
    openpyxl = source.require("Excel", "openpyxl")
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
            reason = f"is not a complete Excel file ({first_line(error)})"
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
                reason = f"expands to {part.file_size:,} bytes: possibly a ZIP bomb"
                raise source.error(f"part {part.filename!r} {reason}", "save it again, or as CSV")


def _rows_with_cells(
    sheet: Any, first: int, width: int, has_cells: bool = False
) -> Iterator[tuple[int, Any]]:
    """Yield the rows that are not blank, from the first on, as far as a sheet may go.

    Of those that the file leaves out, openpyxl gives the same row again and again.
    """
    before, most = None, SHEET_ROWS + 1
    rows = sheet.iter_rows(first, most, max_col=width, values_only=not has_cells)
    for number, row in enumerate(rows, first):
        if number > SHEET_ROWS:
            raise ValueError(f"a row number above {SHEET_ROWS:,}")
        values = (cell.value for cell in row) if has_cells else row
        if row is not before and any(value is not None for value in values):
            yield number, row
        before = row
