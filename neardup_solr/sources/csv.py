"""Readers of the formats that are made of lines: lines, CSV and TSV."""

from __future__ import annotations

import csv
import io
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import accumulate
from typing import Any, Final

from neardup_solr.errors import RecordError
from neardup_solr.progress import ignore
from neardup_solr.records import NOTHING
from neardup_solr.sources.columns import Columns, are_there, columns
from neardup_solr.sources.lines import lines, lists_of_lines
from neardup_solr.sources.record import (
    NUMBERED,
    Opened,
    Piece,
    Reading,
    Record,
    Unusable,
    as_columns,
    as_text,
    decode,
    record,
    run,
    step_for,
    too_large,
    unusable,
)

# The csv module holds a quoted field at four bytes a character, and a quote that is never closed
# makes one field of the rest of the file. Longer texts can be given as JSONL or Parquet.
MAX_QUOTED_BYTES: Final = 2**25

DELIMITERS: Final = (",", ";", "\t", "|")  # that are known without being named

Numbered = tuple[int, bytes | None]


def read_lines(source: Opened, reading: Reading) -> Iterator[Piece]:
    """Read lines `id text`: the id goes up to the first white space, blank lines are passed over.

    If records are numbered, a line is nothing but text.
    """
    where, first = f"{source.name}, line ", 1
    # Room for the id before a text that is just within the limit.
    for raws in lists_of_lines(source, reading.max_doc_bytes + 1024):
        numbers = range(first, first + len(raws))
        first += len(raws)
        parts = [id_and_text(line, reading) for line in _texts(raws)]
        if set(map(len, parts)) == {2}:
            ids, texts = zip(*parts, strict=True)
            ids = ids if reading.has_ids else ()
            found = run(where, numbers, ids, texts, reading=reading)
            if found is not None:
                yield found
                continue
        yield from _line_by_line(where, zip(numbers, raws, strict=True), reading)


def _texts(raws: Sequence[bytes | None]) -> list[str]:
    """Decode lines, or none if one of them is too long or not UTF-8."""
    if None in raws:
        return []
    written = b"\n".join(raw for raw in raws if raw is not None)
    try:
        return [] if b"\0" in written else written.decode().split("\n")
    except UnicodeDecodeError:
        return []


def id_and_text(line: str, reading: Reading) -> list[str]:
    """Split a line into id and text: nothing if it is blank, an id alone if it has no text."""
    if reading.has_ids:
        parts = line.rstrip("\r").split(None, 1)
        # Before a tab there is a column, if an empty one; blanks may only align the ids.
        return ["", line.strip()] if parts and line.startswith("\t") else parts
    return [NUMBERED, line.rstrip("\r")] if line.strip() else []


def lines_have_ids(lines: Iterable[str]) -> bool:
    """Tell whether the first words of lines look like ids.

    No two are the same, and a tab follows each, or each has a digit.
    """
    lines = [line.strip() for line in lines if line.strip()]
    words = [line.split(None, 1)[0] for line in lines]
    if len(set(words)) < len(words):
        return False
    has_tabs = all(line.startswith(f"{word}\t") for line, word in zip(lines, words, strict=True))
    return has_tabs or all(any(map(str.isdigit, word)) for word in words)


def _line_by_line(where: str, numbered: Iterable[Numbered], reading: Reading) -> Iterator[Record]:
    for number, raw in numbered:
        try:
            parts = id_and_text(decode(raw, reading), reading)
        except Unusable as problem:
            yield unusable(f"{where}{number}", problem)
            continue
        if parts:
            text = parts[1] if len(parts) == 2 else ""
            made = record(f"{where}{number}", parts[0], text, reading=reading)
            if type(made) is RecordError:
                made.record = as_text(raw)
            yield made


def written_lines(source: Opened, reading: Reading) -> Iterator[bytes]:
    """The lines that `read_lines` turns into records, as they are written."""
    for raw in lines(source, reading.max_doc_bytes + 1024):
        try:
            is_blank = not decode(raw, reading).strip()
        except Unusable:
            is_blank = False
        if not is_blank:
            yield raw or b""


def read_csv(source: Opened, reading: Reading) -> Iterator[Piece]:
    """Read comma-separated values with a header. A quoted field may hold commas and newlines."""
    return _table(source, reading, ",")


def read_tsv(source: Opened, reading: Reading) -> Iterator[Piece]:
    """Tab-separated values with a header, quoted as spreadsheets do, or not at all."""
    return _table(source, reading, "\t")


def _table(source: Opened, reading: Reading, usual: str) -> Iterator[Piece]:
    feed = _Feed(lists_of_lines(source, _room(reading)))
    delimiter = reading.delimiter or _delimiter(source, feed.peek(), reading, usual)
    header = next(_rows(feed, reading, delimiter), (0, []))[1]
    if not isinstance(header, list):
        step = step_for([str(header)], "check `encoding` and `source_format`")
        raise source.error(f"its header cannot be read: {header}", step)
    asked = columns(source, header, reading)
    where = f"{source.name}, line "
    for numbers, rows in _batches(feed, reading, delimiter):
        if len(rows) > 1 and reading.is_in_runs and set(map(len, rows)) == {len(header)}:
            ids = [] if asked.id is None else [row[asked.id] for row in rows]
            texts = [row[asked.text[0]] for row in rows]
            if found := run(where, numbers, ids, texts, reading=reading):
                yield found
                continue
        for number, row in zip(numbers, rows, strict=True):
            yield _of_row(f"{where}{number}", row, asked, reading, delimiter)


def _room(reading: Reading) -> int:
    """The bytes that a line may take: a text within the limit, and other columns."""
    # The limit of a field is one for the whole process: only ever raised, so that no other reader
    # fails.
    csv.field_size_limit(max(csv.field_size_limit(), MAX_QUOTED_BYTES))
    return reading.max_doc_bytes + 64 * 1024


def _batches(
    feed: _Feed, reading: Reading, delimiter: str, *, splits: bool = True
) -> Iterator[tuple[Sequence[int], Sequence[Any]]]:
    """Read rows with the lines where they start, as many as are at hand, or one if any is odd.

    Unless it `splits`, rows are not taken apart where each is a line.
    """
    while numbered := feed.some():
        last = numbered[-1][0]
        whole = numbered[: _in_whole_rows(numbered)]
        rows, begins = _split(_texts([raw for _, raw in whole]), delimiter, splits=splits)
        feed.give_back(numbered[len(whole) if rows else 0 :])
        if rows:
            yield [whole[at][0] for at in begins], rows
            continue
        for number, row in _rows(feed, reading, delimiter):
            yield [number], [row]
            if feed.number > last:
                break


def _in_whole_rows(numbered: Sequence[Numbered]) -> int:
    """Count the lines that make up whole rows, as far as their quotes tell."""
    quotes = [(raw or b"").count(b'"') for _, raw in numbered]
    if sum(quotes) % 2 == 0:
        return len(quotes)
    counts = accumulate(quotes)
    return max((lines for lines, count in enumerate(counts, 1) if count % 2 == 0), default=0)


def _split(
    texts: Sequence[str], delimiter: str, *, splits: bool
) -> tuple[Sequence[Any], Sequence[int]]:
    """Split lines into rows, with the places where these begin, or none if one is odd."""
    begins = [at for at, text in enumerate(texts) if text not in ("", "\r")]
    if not splits and all(map(_row_pattern(delimiter).fullmatch, texts)):
        return begins, begins
    if not any('"' in text for text in texts):
        return [texts[at].rstrip("\r").split(delimiter) for at in begins], begins
    if delimiter == "\t":  # in which a quote may be one
        return [], ()
    rows, begins, line = [], [], 0
    reader = csv.reader((f"{text}\n" for text in texts), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            if row:  # not of a blank line
                rows.append(row)
                begins.append(line)
            line = reader.line_num
    except csv.Error:
        return [], ()
    return rows, begins


@cache
def _row_pattern(delimiter: str) -> re.Pattern[str]:
    """A line that is a whole row, in which each quote is where it belongs."""
    # No possessive quantifiers: Python before 3.11.5 gets some of them wrong.
    other = rf"[^\r{re.escape(delimiter)}]"
    field = rf'(?:"[^"]*(?:""[^"]*)*"|(?!"){other}+)?'
    return re.compile(rf"{field}(?:{re.escape(delimiter)}{field})*\r?")


def _of_row(position: str, row: Row, asked: Columns, reading: Reading, delimiter: str) -> Record:
    header = asked.names
    if not isinstance(row, list):
        return unusable(position, row)
    if len(row) != len(header):
        count = "1 field" if len(row) == 1 else f"{len(row)} fields"
        reason = f"{count}, but the header has {len(header)}"
        return RecordError(position, reason, record=_spell(row, delimiter))
    several = len(asked.text) > 1
    text = tuple(row[at] for at in asked.text) if several else row[asked.text[0]]
    kept = {name: row[at] for name, at in asked.keep if row[at]} if asked.keep else NOTHING
    made = record(position, asked.id_of(row), text, reading=reading, kept=kept)
    if type(made) is RecordError:
        made.record = as_columns(header, row)
    return made


def _spell(row: list[str], delimiter: str) -> str | None:
    """A row as a line, with quotes if it needs them."""
    line = io.StringIO()
    csv.writer(line, delimiter=delimiter, lineterminator="\n").writerow(row)
    return as_text(line.getvalue().removesuffix("\n"))


def written_rows(source: Opened, reading: Reading, usual: str) -> tuple[str, Iterator[bytes]]:
    """Find what separates the columns, and the rows as they are written, header first.

    A row that cannot be read is given as well, empty if it is too long to be held.
    """
    held: deque[bytes | None] = deque()
    feed = _Feed(_remember(lists_of_lines(source, _room(reading)), held))
    delimiter = reading.delimiter or _delimiter(source, feed.peek(), reading, usual)
    return delimiter, _as_written(feed, held, reading, delimiter)


def fields_of(row: bytes, reading: Reading, delimiter: str) -> list[str]:
    """The fields of a row as it is written."""
    first, *others = row.split(b"\n")
    return _row(first, _Feed([others]), [], delimiter, reading)


def _remember(
    lists: Iterable[list[bytes | None]], held: deque[bytes | None]
) -> Iterator[list[bytes | None]]:
    for raws in lists:
        held.extend(raws)
        yield raws


def _as_written(
    feed: _Feed, held: deque[bytes | None], reading: Reading, delimiter: str
) -> Iterator[bytes]:
    """Give each row with its lines, without blank lines between rows."""
    line = 1  # the number of the first that is held
    for numbers, rows in _batches(feed, reading, delimiter, splits=False):
        raws = [held.popleft() or b"" for _ in range(feed.number - line)]
        if len(raws) == len(rows):  # each is a line
            yield from raws
            line += len(raws)
            continue
        for begin, end, row in zip(numbers, [*numbers[1:], feed.number], rows, strict=True):
            taken = raws[begin - line : end - line]
            while taken[-1] in (b"", b"\r") and len(taken) > 1:
                taken.pop()
            yield row.raw or b"" if isinstance(row, Unusable) else b"\n".join(taken)
        line += len(raws)


def delimiter_of(source: Opened, first: bytes, format: str) -> str:
    """Find what separates the columns of a table, by its first line."""
    quiet = replace(source, on_notice=ignore)
    usual = "\t" if format == "tsv" else ","
    return source.reading.delimiter or _delimiter(quiet, first, source.reading, usual)


def _delimiter(source: Opened, first: bytes | None, reading: Reading, usual: str) -> str:
    """Choose what separates the columns: the usual, unless only another one makes them fit."""
    header = (first or b"").decode("utf-8", "replace").rstrip("\r")
    names = fields(header, usual)
    others = [each for each in DELIMITERS if each != usual and len(fields(header, each)) > 1]
    fitting = [each for each in others if are_there(fields(header, each), reading)]
    if are_there(names, reading) or len(fitting or others) != 1:
        return usual
    if fitting:
        line = (
            f"{source.name}: its columns are separated by {fitting[0]!r}, and it is read that way"
        )
        source.on_notice(line)
        return fitting[0]
    return others[0] if len(names) == 1 else usual  # the error then shows the columns


def fields(line: str, delimiter: str) -> list[str]:
    """The fields of one line of a table."""
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return line.split(delimiter)


Row = list[str] | Unusable


def _rows(feed: _Feed, reading: Reading, delimiter: str) -> Iterator[tuple[int, Row]]:
    """Read rows with the line where each starts, or the reason why one cannot be read."""
    for number, raw in feed:
        if raw in (b"", b"\r"):
            continue
        taken: list[Numbered] = []
        try:
            row: Row = _row(raw, feed, taken, delimiter, reading)
        except Unusable as problem:
            row = problem
            feed.give_back(taken)
        yield number, row


def _row(
    first: bytes | None, feed: _Feed, taken: list[Numbered], delimiter: str, reading: Reading
) -> list[str]:
    """Read the row that starts with `first`. Further lines of it are noted in `taken`."""
    if first is None or b'"' not in first:
        return decode(first, reading).rstrip("\r").split(delimiter)
    try:
        row = next(
            csv.reader(_continue_row(first, feed, taken, reading), delimiter=delimiter, strict=True)
        )
        if delimiter == "\t" and taken and any("\t" in field for field in row):
            raise csv.Error("rows that look like one quoted field")
    except (csv.Error, Unusable) as error:
        if delimiter == "\t":  # many write quotes into TSV as they are
            feed.give_back(taken)
            return decode(first, reading).rstrip("\r").split(delimiter)
        too_long = isinstance(error, Unusable)
        reason = str(error) if too_long else f"malformed quoting ({error})"
        raise Unusable(reason, first) from error
    too_large_inside = any(raw is None for _, raw in taken)
    whole = None if too_large_inside else b"\n".join([first, *(raw or b"" for _, raw in taken)])
    taken.clear()
    decode(whole, reading)  # raises if `_continue_row` let pass that are not UTF-8
    return row


def _continue_row(
    first: bytes, feed: _Feed, taken: list[Numbered], reading: Reading
) -> Iterator[str]:
    """The lines of a quoted record, as many as the csv module asks for."""
    on_invalid = "replace" if reading.lossy else "surrogateescape"
    size, raw = 0, first
    while True:
        # Each line that is held costs its objects, too: many short ones must not add up.
        size += len(raw) + 100
        if size > MAX_QUOTED_BYTES:
            reason = too_large(MAX_QUOTED_BYTES)
            raise Unusable(f"{reason} in quotes, or a quote that is never closed")
        yield raw.decode("utf-8", on_invalid) + "\n"
        number, following = next(feed, (0, None))
        if not number:
            return
        taken.append((number, following))
        raw = following or b""


class _Feed:
    """Numbered lines that can be given back, so that what a stray quote swallowed is read again."""

    def __init__(self, lists: Iterable[Sequence[bytes | None]]) -> None:
        self._lists = iter(lists)
        self._waiting: deque[Numbered] = deque()
        self._following = 1

    def __iter__(self) -> Iterator[Numbered]:
        return self

    def __next__(self) -> Numbered:
        self._fill()
        if not self._waiting:
            raise StopIteration
        return self._waiting.popleft()

    @property
    def number(self) -> int:
        """The number of the next line."""
        return self._waiting[0][0] if self._waiting else self._following

    def some(self) -> list[Numbered]:
        """Take the next lines, as many as there are at hand, none at the end."""
        self._fill()
        taken = list(self._waiting)
        self._waiting.clear()
        return taken

    def _fill(self) -> None:
        if self._waiting:
            return
        for raws in self._lists:
            self._waiting.extend(enumerate(raws, self._following))
            self._following += len(raws)
            return

    def peek(self) -> bytes | None:
        """The first line that is not blank, without taking it."""
        passed: list[Numbered] = []
        found: bytes | None = None
        for number, found in self:
            passed.append((number, found))
            if found not in (b"", b"\r"):
                break
        self.give_back(passed)
        return found

    def give_back(self, taken: list[Numbered]) -> None:
        self._waiting.extendleft(reversed(taken))
        taken.clear()
