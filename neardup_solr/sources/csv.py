"""Readers of the formats that are made of lines: lines, CSV and TSV, and how their lines look."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import accumulate, pairwise
from typing import Any, Final

from neardup_solr.errors import RecordError, counted
from neardup_solr.progress import ignore
from neardup_solr.records import NOTHING
from neardup_solr.sources.lines import begun, lines, lists_of_lines
from neardup_solr.sources.record import (
    NUMBERED,
    ROW,
    Columns,
    Opened,
    Piece,
    Reading,
    Record,
    Unusable,
    are_there,
    as_text,
    columns,
    decode,
    number_them,
    record,
    run,
    shown,
    step_for,
    too_large,
    unusable,
)
from neardup_solr.sources.values import as_columns

# The csv module holds a quoted field at four bytes a character, and a quote that is never closed
# makes one field of the rest of the file. Longer texts can be given as JSONL or Parquet.
MAX_QUOTED_BYTES: Final = 2**25

DELIMITERS: Final = (",", ";", "\t", "|")  # that are known without being named

# The first lines tell the format of standard input, and if there are ids.
MOST_LINES: Final = 5
MOST_OF_LINES: Final = 1_000  # that tell whether they begin with ids
MOST_BYTES: Final = 2**16

BLANK: Final = (b"", b"\r")

Row = list[str] | Unusable


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


def _line_by_line(
    where: str, numbered: Iterable[tuple[int, bytes | None]], reading: Reading
) -> Iterator[Record]:
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
    feed, delimiter = _open_table(source, reading, usual)
    header, size = _row(feed, 0, delimiter, reading) if feed.has(0) else ([], 0)
    if isinstance(header, Unusable):
        step = step_for([str(header)], "check `encoding` and `source_format`")
        raise source.error(f"its header cannot be read: {header}", step)
    feed.drop(size)
    asked = columns(source, header, reading)
    where = f"{source.name}, line "
    for begins, rows, _ in _batches(feed, reading, delimiter):
        numbers = [feed.number + at for at in begins]
        if len(rows) > 1 and reading.is_in_runs and set(map(len, rows)) == {len(header)}:
            ids = [] if asked.id is None else [row[asked.id] for row in rows]
            texts = [row[asked.text[0]] for row in rows]
            if found := run(where, numbers, ids, texts, reading=reading):
                yield found
                continue
        for number, row in zip(numbers, rows, strict=True):
            yield _of_row(f"{where}{number}", row, asked, reading, delimiter)


def _open_table(source: Opened, reading: Reading, usual: str) -> tuple[_Feed, str]:
    """The lines of a table from its header on, and what separates its columns."""
    # The limit of a field is one for the whole process: only ever raised, so that no other reader
    # fails.
    csv.field_size_limit(max(csv.field_size_limit(), MAX_QUOTED_BYTES))
    feed = _Feed(lists_of_lines(source, reading.max_doc_bytes + 64 * 1024))
    while feed.has(0) and feed.held[0] in BLANK:
        feed.drop(1)
    first = feed.held[0] if feed.has(0) else None
    return feed, choose_delimiter(source, first, reading, usual)


class _Feed:
    """Lines that are read as far as rows need them: `number` is that of the first that is held."""

    def __init__(self, lists: Iterable[Sequence[bytes | None]]) -> None:
        self._lists = iter(lists)
        self.held: list[bytes | None] = []
        self.number = 1

    def has(self, at: int) -> bool:
        """Tell whether there is a line `at`, counted from the first that is held."""
        while at >= len(self.held) and (more := next(self._lists, None)):
            self.held += more
        return at < len(self.held)

    def drop(self, count: int) -> None:
        """Let the first lines go."""
        del self.held[:count]
        self.number += count


def _batches(
    feed: _Feed, reading: Reading, delimiter: str, *, splits: bool = True
) -> Iterator[tuple[Sequence[int], Sequence[Any], int]]:
    """Read rows, as many as are at hand, or one if any of these is odd.

    They come with the held lines where they begin, and where the last one ends. Unless it `splits`,
    rows are not taken apart where each is a line.
    """
    while feed.has(0):
        end, count = len(feed.held), _in_whole_rows(feed.held)
        rows, begins = _split(_texts(feed.held[:count]), delimiter, splits=splits)
        at = 0
        if rows:
            yield begins, rows, count
            at = end = count
        # What a stray quote would swallow is looked at again, line by line.
        while at < end:
            begin, size = at, 1
            if feed.held[at] not in BLANK:
                row, size = _row(feed, at, delimiter, reading)
                yield [begin], [row], begin + size
            at += size
        feed.drop(at)


def _in_whole_rows(lines: Sequence[bytes | None]) -> int:
    """Count the lines that make up whole rows, as far as their quotes tell."""
    counts = list(accumulate((line or b"").count(b'"') for line in lines))
    return next((at for at in range(len(counts), 0, -1) if counts[at - 1] % 2 == 0), 0)


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


def _row(feed: _Feed, at: int, delimiter: str, reading: Reading) -> tuple[Row, int]:
    """Read the row that begins at a line, or why it cannot be read; and how many lines it has."""
    first, row, size = feed.held[at], None, 1
    try:
        if first is not None and b'"' in first:
            row, size = _quoted_row(feed, at, delimiter, reading)
        written = decode(_join(feed.held[at : at + size]), reading)
    except Unusable as problem:
        return problem, size
    return written.rstrip("\r").split(delimiter) if row is None else row, size


def _quoted_row(
    feed: _Feed, at: int, delimiter: str, reading: Reading
) -> tuple[list[str] | None, int]:
    """Read a row with quotes, or None if they are text: many write them into TSV as they are."""
    reader = csv.reader(_continue_row(feed, at, reading), delimiter=delimiter, strict=True)
    try:
        row = next(reader)
    except (csv.Error, Unusable) as error:
        if delimiter == "\t":
            return None, 1
        is_long = isinstance(error, Unusable)
        reason = str(error) if is_long else f"malformed quoting ({error})"
        raise Unusable(reason, feed.held[at]) from error
    size = reader.line_num
    are_several = delimiter == "\t" and size > 1 and "\t" in "".join(row)  # that look like one
    return (None, 1) if are_several else (row, size)


def _continue_row(feed: _Feed, at: int, reading: Reading) -> Iterator[str]:
    """The lines of a quoted row, as many as the csv module asks for."""
    on_invalid = "replace" if reading.lossy else "surrogateescape"
    size = 0
    while feed.has(at):
        raw = feed.held[at] or b""
        # Each line that is held costs its objects, too: many short ones must not add up.
        size += len(raw) + 100
        if size > MAX_QUOTED_BYTES:
            reason = too_large(MAX_QUOTED_BYTES)
            raise Unusable(f"{reason} in quotes, or a quote that is never closed")
        yield raw.decode("utf-8", on_invalid) + "\n"
        at += 1


def _join(lines: Sequence[bytes | None]) -> bytes | None:
    """The lines of a row as they are written, or None if one was too long to be held."""
    held = [line for line in lines if line is not None]
    return b"\n".join(held) if len(held) == len(lines) else None


def _of_row(position: str, row: Row, asked: Columns, reading: Reading, delimiter: str) -> Record:
    if isinstance(row, Unusable):
        return unusable(position, row)
    if len(row) == len(asked.names):
        text = tuple(row[at] for at in asked.text) if len(asked.text) > 1 else row[asked.text[0]]
        kept = {name: row[at] for name, at in asked.keep if row[at]} if asked.keep else NOTHING
        made = record(position, asked.id_of(row), text, reading=reading, kept=kept)
        if type(made) is RecordError:
            made.record = as_columns(asked.names, row)
        return made
    reason = f"{counted(len(row), 'field')}, but the header has {len(asked.names)}"
    line = io.StringIO()
    csv.writer(line, delimiter=delimiter, lineterminator="\n").writerow(row)
    return RecordError(position, reason, record=as_text(line.getvalue().removesuffix("\n")))


def written_rows(source: Opened, reading: Reading, usual: str) -> tuple[str, Iterator[bytes]]:
    """Find what separates the columns, and the rows as they are written, header first.

    A row that cannot be read is given as well, empty if it is too long to be held.
    """
    feed, delimiter = _open_table(source, reading, usual)
    return delimiter, _as_written(feed, reading, delimiter)


def fields_of(row: bytes, reading: Reading, delimiter: str) -> list[str]:
    """The fields of a row as it is written."""
    feed = _Feed([row.split(b"\n")])
    found, _ = _row(feed, 0, delimiter, reading) if feed.has(0) else ([], 0)
    if isinstance(found, Unusable):
        raise found
    return found


def _as_written(feed: _Feed, reading: Reading, delimiter: str) -> Iterator[bytes]:
    """Give each row with its lines, without blank lines between rows."""
    for begins, rows, last in _batches(feed, reading, delimiter, splits=False):
        if len(rows) == last:  # each is a line
            yield from (line or b"" for line in feed.held[:last])
            continue
        for begin, end in pairwise([*begins, last]):
            while feed.held[end - 1] in BLANK and end > begin + 1:
                end -= 1
            yield _join(feed.held[begin:end]) or b""


def choose_delimiter(source: Opened, first: bytes | None, reading: Reading, usual: str) -> str:
    """Choose what separates the columns: the usual, unless only another one makes them fit."""
    if reading.delimiter:
        return reading.delimiter
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


def first_fields(source: Opened, head: bytes, format: str) -> list[str]:
    """The names of the columns of a table that begins so, or none if they take several lines."""
    first = next(iter(_first_lines(head)), "")
    if first.count('"') % 2:
        return []
    usual = "\t" if format == "tsv" else ","
    quiet = replace(source, on_notice=ignore)
    return fields(first, choose_delimiter(quiet, first.encode(), source.reading, usual))


def are_enough(head: bytes) -> bool:
    """Tell whether these bytes show the format. If someone types, the answer should come soon."""
    lines = _first_lines(head[: head.rfind(b"\n") + 1])
    if len(head) >= MOST_BYTES or len(lines) >= MOST_LINES:
        return True
    return bool(lines) and (_is_json(head) or _is_plain(lines[0]))


def recognize_format(source: Opened, head: bytes, reading: Reading) -> tuple[str, Reading]:
    """The format of a source that begins with `head`, and how to read it.

    Raises SourceError if it looks like a table without the columns that are asked for.
    """
    lines = _first_lines(head) or [""]
    if _is_json(head):
        return "json", reading
    if reading.delimiter:
        return "csv", reading
    fitting = [each for each in DELIMITERS if are_there(fields(lines[0], each), reading)]
    if len(fitting) == 1:
        format = "tsv" if fitting[0] == "\t" else "csv"
        return format, replace(reading, delimiter=fitting[0])
    likely = [each for each in DELIMITERS if _is_table(lines, each)]
    if likely:
        names = shown(fields(lines[0], likely[0]))
        raise source.error(
            f"looks like a table with the columns {names}, without {reading.id!r} or "
            f"{' or '.join(map(repr, reading.text))}",
            "name the right ones by `id` and `text`; if it holds lines of an id and a text, "
            "give `source_format` as lines",
        )
    return "lines", reading


def with_ids_of_lines(source: Opened) -> Opened:
    """The source, whose lines are numbered if they do not begin with ids, as a notice says.

    Raises SourceError if they have to.
    """
    head, source = begun(source, are_enough)
    whole = head[: head.rfind(b"\n") + 1] or head
    lines = whole.decode("utf-8", "replace").split("\n")[:MOST_OF_LINES]
    reading = replace(source.reading, guess="none")
    if lines_have_ids(lines):
        source.on_notice(f"{source.name}: the first word of each line is its id")
        return replace(source, reading=reading)
    if source.reading.guess == "refuse":
        reason = "the first words of its lines do not look like ids"
        step = f"give id for `id` if they are{number_them(source.reading)}"
        raise source.error(reason, step)
    source.on_notice(
        f"{source.name}: the first words of its lines do not look like ids,"
        " so the lines are numbered from 1"
    )
    return replace(source, reading=replace(reading, id=ROW))


def _first_lines(head: bytes) -> list[str]:
    lines = head.decode("utf-8", "replace").splitlines()
    return [line for line in lines if line.strip()][:MOST_LINES]


def _is_json(head: bytes) -> bool:
    squeezed = b"".join(head[:1_000].split())
    return squeezed.startswith((b'{"', b"[{", b"[]", b"{}"))


def _is_plain(line: str) -> bool:
    """Tell whether a line begins with an id and a blank, and is no header of a table."""
    first = line.split(None, 1)[0]
    return first != line.rstrip() and "\t" not in line and not any(map(first.count, DELIMITERS))


def _is_table(lines: Sequence[str], delimiter: str) -> bool:
    """Tell whether all lines have as many fields, and the first has names without blanks.

    Two fields with a tab between them are an id and a text, not a table.
    """
    counts = {len(fields(line, delimiter)) for line in lines}
    least = 3 if delimiter == "\t" else 2
    words = fields(lines[0], delimiter)
    return (
        len(lines) > 1
        and len(counts) == 1
        and min(counts) >= least
        and not any(" " in word for word in words)
    )
