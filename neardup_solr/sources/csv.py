"""CSV and TSV: a header, then rows, whose quoted fields may hold delimiters and newlines."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import compress, pairwise
from typing import Any, Final, NamedTuple, TypeAlias, cast

from neardup_solr.errors import RecordError, counted
from neardup_solr.records import NOTHING, Run
from neardup_solr.sources.blocks import blocks_of_lines, map_blocks, split_lines
from neardup_solr.sources.column import (
    Columns,
    choose_id,
    find_columns,
    has_columns,
    show_names,
    strip_end,
)
from neardup_solr.sources.csv_blocks import ScannedRows, blocks_of_rows, scan_block
from neardup_solr.sources.dialect import (
    DELIMITERS,
    MAX_QUOTED_BYTES,
    SEPARATOR,
    Tidy,
    choose_dialect,
    double_quotes,
    list_fitting,
    split_fields,
)
from neardup_solr.sources.document import (
    as_columns,
    decode_raw,
    make_document,
    make_run,
    step_for,
    unusable,
)
from neardup_solr.sources.header import ROWS_BELOW, check_header
from neardup_solr.sources.part import Piece, Record, SourcePart, SourceTable
from neardup_solr.sources.reading import Reading
from neardup_solr.sources.values import Unusable, decode, decode_lines, join_lines, too_large
from neardup_solr.text.packed import pack

BLANK: Final = (b"", b"\r")
Row = list[str] | Unusable
# What is made of the rows of a block: a run of documents, or the rows as they are written.
Taken: TypeAlias = Run | list[bytes]
Take: TypeAlias = Callable[[bytes, ScannedRows], Taken | None]


def open_csv(part: SourcePart) -> SourceTable:
    """Open values separated by commas, or by tabs, with a header.

    A quoted field may hold commas and newlines. TSV is quoted as spreadsheets do, or not at all.
    """
    reading = part.reading
    room = reading.room(more=64 * 1024)
    feed = _Feed(blocks_of_lines(part, room), room)
    above, sep = _pass_over(part, feed)
    delimiter, feed.tidy = choose_dialect(part, feed.held[: 1 + ROWS_BELOW], sep)
    header, size = _row(feed, 0, delimiter, reading) if feed.held else ([], 0)
    if isinstance(header, Unusable):
        step = "check `encoding` and `source_format`"
        step = step_for([unusable("", header)], step)
        code = "encoding" if header.code == "encoding" else "header-invalid"
        raise part.error(f"its header cannot be read: {header}", step, code=code)
    head = b"\n".join(line or b"" for line in feed.held[:size])
    feed.drop(size)
    if not has_columns(header, reading):
        below = decode_lines(feed.held[:ROWS_BELOW])
        lines_above = feed.number - 1 - (sep is not None)
        for each in (reading.delimiter,) if reading.delimiter else DELIMITERS:
            rows = enumerate((split_fields(line, each) for line in below), lines_above)
            check_header(part, header, rows, delimiter)
    reading = choose_id(part, header, reading)
    return SourceTable(
        format=part.format or "csv", reading=reading,
        contents=CsvRows(part, feed, header, delimiter, reading),
        is_text=True, above=above, head=head, delimiter=delimiter, names=header,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class CsvRows:
    """The rows below a header, of a feed that was read up to there."""

    part: SourcePart
    feed: _Feed
    header: Sequence[str]
    delimiter: str
    reading: Reading

    @property
    def _where(self) -> str:
        return f"{self.part.name}, line "

    def documents(self) -> Iterator[Piece]:
        """Make documents of the rows, many at once if these are alike."""
        reading, width, where = self.reading, len(self.header), self._where
        columns = find_columns(self.part, self.header, reading)
        if self._is_plain:
            places, _ = columns.needed()
            self._scan_ahead(places, lambda _, scanned: self._make_run(columns, scanned))
        for block in _blocks(self.part, self.feed, self.header, self.delimiter):
            if not isinstance(block, _Block):
                if isinstance(block, Run):
                    yield block
                continue
            rows, is_even = block.rows, _are_even(block.rows, width)
            if not is_even:
                rows = list(map(self._fit, rows, block.raws()))
                is_even = _are_even(rows, width)
            if is_even:
                ids = [] if columns.id is None else [row[columns.id] for row in rows]
                texts = [[row[at] for row in rows] for at in columns.text]
                kept = {name: [row[at] or None for row in rows] for name, at in columns.keep}
                if run := make_run(where, block.numbers, ids, texts, kept, reading=reading):
                    yield run
                    continue
            for number, row in zip(block.numbers, rows, strict=True):
                yield _of_row(f"{where}{number}", row, columns, reading, self.delimiter)

    def records(self) -> Iterator[tuple[int, bytes]]:
        """Yield the rows as they are written, those that were mended as CSV has them."""
        for block in _blocks(self.part, self.feed, self.header, self.delimiter):
            assert isinstance(block, _Block)  # nothing is scanned ahead
            yield from zip(block.numbers, self._write(block), strict=True)

    def record_lists(self) -> Iterator[list[bytes]]:
        """Read the rows of a block at a time, those of plain blocks by all cores."""
        if self._is_plain:
            self._scan_ahead((), partial(_take_rows, limit=self.feed.limit))
        for block in _blocks(self.part, self.feed, self.header, self.delimiter):
            if isinstance(block, _Block):
                yield [*self._write(block)]
            elif isinstance(block, list):
                yield block

    def _write(self, block: _Block) -> Iterator[bytes]:
        """Write the rows of a block as they are, or as CSV has them if they were mended."""
        for row, raw in zip(block.rows, block.raws(), strict=True):
            fitting = self._fit(row, raw)
            if fitting is row:
                yield raw
            else:
                written = csv_line(fitting, self.delimiter).encode()
                yield written + raw[len(raw.rstrip(b"\r")) :]

    def parse(self, record: bytes) -> list[str]:
        """Split a row as it is written into its fields, or raise Unusable."""
        lines = _Feed([record], self.feed.limit, self.feed.tidy)
        row: Row = _row(lines, 0, self.delimiter, self.reading)[0] if lines.has(0) else []
        if isinstance(row, Unusable):
            raise row
        return row

    @property
    def _is_plain(self) -> bool:
        return self.feed.tidy is str and self.delimiter.isascii()

    def _make_run(self, columns: Columns, scanned: ScannedRows) -> Run | None:
        values = scanned.values
        ids = () if columns.id is None else values[columns.id]
        texts = [values[at] for at in columns.text]
        kept = {name: [each or None for each in values[at]] for name, at in columns.keep}
        return make_run(self._where, scanned.begins, ids, texts, kept, reading=self.reading)

    def _scan_ahead(self, places: Sequence[int], take: Take) -> None:
        """Have what follows the lines that are held scanned in compiled code, by all cores.

        What `take` makes of the rows of a block, and the values at `places`, comes in its place.
        """
        width, names = len(self.header), pack(list_repeats(self.header))

        def scan(numbered: tuple[int, bytes | None]) -> tuple[Taken, int] | None:
            """Read a block of rows, and count its lines."""
            number, block = numbered
            if block is None or (self.delimiter == "\t" and b'"' in block):
                return None
            scanned = scan_block(block, number, self.delimiter, width, places, names)
            taken = None if scanned is None else take(block, scanned)
            return None if scanned is None or taken is None else (taken, scanned.lines)

        feed = self.feed
        blocks = feed.blocks if self.delimiter == "\t" else blocks_of_rows(feed.blocks)
        feed.scanned = map_blocks(self.part, scan, blocks)

    def _fit(self, row: Any, raw: bytes) -> Any:
        """Make a row as wide as the header by quotes behind backslashes, or by empty cells."""
        width = len(self.header)
        if isinstance(row, Unusable) or len(row) == width:
            return row
        text = raw.decode("utf-8", "replace") if b'"' in raw else ""
        mended = [split_fields(text, self.delimiter)] if text and "\n" not in text else []
        if '\\"' in text:
            mended.append(split_fields(double_quotes(text), self.delimiter))
        row = next((each for each in mended if len(each) == width), row)
        is_odd = len(row) < len(strip_end(self.header)) or any(row[width:])
        return row if is_odd else [*row, *[""] * width][:width]


def _take_rows(block: bytes, scanned: ScannedRows, limit: int) -> list[bytes] | None:
    """Take the rows of a block as they are written, None if a line is too long."""
    lines = split_lines(block, limit)
    if None in lines:
        return None
    if len(scanned.begins) == len(lines):
        return cast("list[bytes]", lines)
    return [*_Block(0, lines, scanned.begins, scanned.begins).raws()]


def _are_even(rows: Sequence[Any], width: int) -> bool:
    """Tell whether these are several rows, each with as many fields."""
    return len(rows) > 1 and set(map(len, rows)) == {width}


class _Feed:
    """Lines that are read as far as rows need them: `number` is that of the first that is held.

    Blocks of whole lines are split, those of more than `limit` bytes are None. Some are `scanned`
    before they are split, each with its rows, or its run, which counts lines from 0, and its number
    of lines.
    """

    def __init__(self, blocks: Iterable[bytes | None], limit: int, tidy: Tidy = str) -> None:
        self.blocks = iter(blocks)
        self.limit = limit
        self.tidy = tidy  # makes double quotes next to the delimiters of what stands there
        self.scanned: Iterator[tuple[bytes | None, tuple[Taken, int] | None]] | None = None
        self.held: list[bytes | None] = []
        self.number = 1

    def has(self, at: int) -> bool:
        """Tell whether line `at` can be read, counted from the first that is held."""
        while at >= len(self.held) and self._hold_next():
            pass
        return at < len(self.held)

    def _hold_next(self) -> bool:
        """Hold the lines of the next block, and tell whether there is one."""
        blocks = self.blocks if self.scanned is None else (block for block, _ in self.scanned)
        for block in blocks:
            self.held += split_lines(block, self.limit)
            return True
        return False

    def next_taken(self) -> Taken | None:
        """Take what was taken of the next block, None if it is odd: its lines are held then."""
        block, scanned = next(self.scanned or iter(()), (b"", None))
        if scanned is None:
            self.held += split_lines(block, self.limit) if block != b"" else []
            return None
        run, lines = scanned
        first, self.number = self.number, self.number + lines
        if not isinstance(run, Run):
            return run
        begins = run.numbers
        if len(begins) == lines:
            return replace(run, numbers=range(first, self.number))
        return replace(run, numbers=[first + at for at in begins])

    def drop(self, count: int) -> None:
        """Let the first lines go."""
        del self.held[:count]
        self.number += count


class _Block(NamedTuple):
    """Rows, and the lines that they are written in: row n begins in line `begins[n]` of them."""

    number: int  # of the first line
    lines: list[bytes | None]
    begins: Sequence[int]
    rows: Sequence[Any]

    @property
    def numbers(self) -> list[int]:
        """The number of the line in which each row begins."""
        return [self.number + at for at in self.begins]

    def raws(self) -> Iterator[bytes]:
        """Yield each row as it is written, empty if it is too long, without blank lines behind."""
        for begin, end in pairwise([*self.begins, len(self.lines)]):
            while self.lines[end - 1] in BLANK and end > begin + 1:
                end -= 1
            yield join_lines(self.lines[begin:end]) or b""


def list_repeats(header: Sequence[str]) -> list[str]:
    """List the values with which a row begins if it may repeat the header."""
    cases = {case(name) for name in header for case in (str, str.lower, str.upper, str.title)}
    return [mark + name for name in cases for mark in ("", "\ufeff", '\ufeff"')]


def _plain_names(row: Sequence[str]) -> list[str]:
    """List the names of a header for comparison, without empty ones at its end."""
    return [name.strip('\ufeff" ').casefold() for name in strip_end(row)]


def csv_line(cells: Iterable[object], delimiter: str = ",") -> str:
    """Write a row of CSV, without the end of its line."""
    line = io.StringIO()
    csv.writer(line, delimiter=delimiter).writerow(cells)
    return line.getvalue().removesuffix("\r\n")


def _pass_over(part: SourcePart, feed: _Feed) -> tuple[bytes, str | None]:
    """Pass over the line sep= of Excel, titles, and blank lines, which are returned.

    Also returns the delimiter, if the first line names one.
    """
    count, delimiter = part.reading.skip_rows, None
    first = (feed.held[0] or b"").decode("utf-8", "replace") if feed.has(0) else ""
    if line := SEPARATOR.fullmatch(first):
        count, delimiter = count + 1, part.reading.delimiter or line[1]
    while feed.has(count) and feed.held[count] in BLANK:
        count += 1
    comments = count
    while feed.has(comments) and (feed.held[comments] or b"").startswith((b"#", b"\r")):
        comments += 1
    names = (feed.held[comments] or b"").decode("utf-8", "replace") if feed.has(comments) else ""
    of_first = (feed.held[count] or b"").decode("utf-8", "replace") if feed.has(count) else ""
    if comments > count and _has_header(names, part) and not _has_header(of_first, part):
        lines = counted(comments - count, "line")
        part.on_notice(f"{part.name}: skipping {lines} that begin with # above the header")
        count = comments
    above = b"".join((line or b"") + b"\n" for line in feed.held[:count])
    feed.drop(count)
    return above, delimiter


def _has_header(line: str, part: SourcePart) -> bool:
    """Tell whether a line has the names of the columns that are needed, by a usual delimiter."""
    delimiters = filter(None, (part.reading.delimiter, *DELIMITERS))
    return bool(list_fitting(line, part.reading, delimiters))


def _blocks(
    part: SourcePart, feed: _Feed, header: Sequence[str], delimiter: str
) -> Iterator[_Block | Taken]:
    """Read rows but those that repeat the header, as in files that were joined: a notice tells.

    Raises SourceError if its columns are in another order there.
    """
    names, repeated = _plain_names(header), list[int]()
    firsts = {*list_repeats(header)}
    for block in _all_blocks(feed, part.reading, delimiter):
        if not isinstance(block, _Block):
            yield block
            continue
        rows, lines = block.rows, block.lines
        if isinstance(rows[0], list) and not firsts.isdisjoint([row[0] for row in rows]):
            for at, row in zip(block.begins, map(_plain_names, rows), strict=True):
                if row == names:
                    lines[at] = b""
                    repeated.append(block.number + at)
                elif sorted(row) == sorted(names):
                    reason = f"line {block.number + at} repeats its header in a different order"
                    step = "give the original files instead"
                    raise part.error(reason, step, code="header-invalid")
            keeps = [lines[begin] for begin in block.begins]
            begins, rows = [*compress(block.begins, keeps)], [*compress(rows, keeps)]
            block = block._replace(begins=begins, rows=rows)
        yield block
    if repeated:
        joined = f"repeated in line {show_names(repeated)}, as in files that were joined"
        part.on_notice(f"{part.name}: the header is {joined}")


def _all_blocks(feed: _Feed, reading: Reading, delimiter: str) -> Iterator[_Block | Taken]:
    """Read rows, as many as are at hand, or a single row if any of these is odd.

    If no line is held, what was taken of a block that was scanned goes first.

    A block begins with a row, but where the next one begins is known only once its quotes were
    read: newlines within quotes end no row.
    """
    while True:
        while not feed.held and (taken := feed.next_taken()):
            yield taken
        if not feed.has(0):
            return
        end = len(feed.held)
        texts = decode_lines(feed.held)
        texts = texts if feed.tidy is str else [*map(feed.tidy, texts)]
        begins, rows, at = _split(texts, delimiter)
        if rows:
            yield _Block(feed.number, feed.held[:at], begins, rows)
        # A row that goes on in the next block, or what a stray quote would swallow.
        while at < end:
            size = 1
            if feed.held[at] not in BLANK:
                row, size = _row(feed, at, delimiter, reading)
                yield _Block(feed.number + at, feed.held[at : at + size], [0], [row])
            at += size
        feed.drop(at)


def _split(texts: Sequence[str], delimiter: str) -> tuple[list[int], list[list[str]], int]:
    """Split lines into rows up to one that is odd, or not whole.

    Returns the places where the rows begin, the rows, and the number of their lines.
    """
    if not any('"' in text for text in texts):
        begins = [at for at, text in enumerate(texts) if text not in ("", "\r")]
        return begins, [texts[at].rstrip("\r").split(delimiter) for at in begins], len(texts)
    rows, begins, line = [], [], 0
    if delimiter != "\t":  # in which a quote may be a character like others
        reader = csv.reader((f"{text}\n" for text in texts), delimiter=delimiter, strict=True)
        with suppress(csv.Error):
            for row in reader:
                if row:  # not of a blank line
                    rows.append(row)
                    begins.append(line)
                line = reader.line_num
    return begins, rows, line


def _row(feed: _Feed, at: int, delimiter: str, reading: Reading) -> tuple[Row, int]:
    """Read the row that begins at a line, or why it cannot be read, and count its lines."""
    row: Row | None = None
    size = 1
    if b'"' in (feed.held[at] or b"") or feed.tidy is not str:
        row, size = _quoted_row(feed, at, delimiter, reading)
    if isinstance(row, Unusable) and delimiter != "\t":
        return row, 1
    # Many write quotes into TSV as they are: lines between two of them only look like one row.
    if isinstance(row, Unusable) or (
        row and delimiter == "\t" and size > 1 and "\t" in "".join(row)
    ):
        row, size = None, 1
    try:
        text = decode(join_lines(feed.held[at : at + size]), reading)
    except Unusable as problem:
        return problem, size
    return text.rstrip("\r").split(delimiter) if row is None else row, size


def _quoted_row(feed: _Feed, at: int, delimiter: str, reading: Reading) -> tuple[Row, int]:
    """Read a row with quotes in quotes as CSV has them, or else behind a backslash."""
    problem = None
    for mend in (str, double_quotes):
        lines = map(mend, _continue_row(feed, at, reading))
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        try:
            return next(reader), reader.line_num
        except csv.Error as error:
            fault = "never closed" if "end of data" in str(error) else "not doubled within quotes"
            problem = problem or Unusable(
                f"malformed quoting (a quote is {fault})", feed.held[at], code="csv-quotes"
            )
        except Unusable as error:
            problem = problem or error
        if not any(rb"\"" in (line or b"") for line in feed.held[at : at + reader.line_num]):
            break
    assert problem
    return problem, 1


def _continue_row(feed: _Feed, at: int, reading: Reading) -> Iterator[str]:
    """Yield the lines of a quoted row, as many as the csv module asks for."""
    on_invalid = "replace" if reading.lossy else "surrogateescape"
    first, size = at, 0
    while feed.has(at):
        raw = feed.held[at] or b""
        # Each line that is held costs its objects, too: many short ones must not add up.
        size += len(raw) + 100
        if size > MAX_QUOTED_BYTES:
            reason = too_large(MAX_QUOTED_BYTES)
            reason += " in quotes, or a quote that is never closed"
            raise Unusable(reason, feed.held[first], code="record-too-large")
        yield feed.tidy(raw.decode("utf-8", on_invalid)) + "\n"
        at += 1


def _of_row(position: str, row: Row, columns: Columns, reading: Reading, delimiter: str) -> Record:
    if isinstance(row, Unusable):
        return unusable(position, row)
    if len(row) == len(columns.names):
        texts = tuple(row[at] for at in columns.text)
        text = texts if len(texts) > 1 else texts[0]
        kept = {name: row[at] for name, at in columns.keep if row[at]} if columns.keep else NOTHING
        record = make_document(position, columns.id_of(row), text, reading=reading, kept=kept)
        if type(record) is RecordError:
            record.record = as_columns(columns.names, row)
        return record
    reason = f"{counted(len(row), 'field')}, but the header has {len(columns.names)}"
    reason += ", and line endings are mixed" if any("\r" in cell for cell in row) else ""
    return RecordError(
        position, reason, record=decode_raw(csv_line(row, delimiter)), code="record-malformed"
    )
