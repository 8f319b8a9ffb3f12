"""Readers of the formats that are made of lines: lines, CSV and TSV, JSONL."""

from __future__ import annotations

import csv
import json
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, Final

import orjson

from neardup_solr.errors import RecordError
from neardup_solr.records import NOTHING
from neardup_solr.sources.lines import lines
from neardup_solr.sources.record import (
    Opened,
    Reading,
    Record,
    Unusable,
    check_columns,
    decoded,
    record,
    too_large,
)

# The csv module holds a quoted field at four bytes a character, and a quote that is never closed
# makes one of the rest of the file. Longer texts than this fit into JSONL or Parquet.
MAX_QUOTED_BYTES: Final = 2**25

Numbered = tuple[int, bytes | None]


def read_lines(source: Opened, reading: Reading) -> Iterator[Record]:
    """Lines `id text`: the id goes up to the first white space; blank lines are passed over."""
    limit, where = reading.max_doc_bytes, f"{source.name}, line "
    # Room for the id before a text that is just within the limit.
    for number, raw in enumerate(lines(source, limit + 1024), 1):
        try:
            parts = decoded(raw, reading).rstrip("\r").split(None, 1)
        except Unusable as problem:
            yield RecordError(f"{where}{number}", str(problem))
            continue
        if parts:
            text = parts[1] if len(parts) == 2 else ""
            yield record(f"{where}{number}", parts[0], text, reading=reading)


def read_jsonl(source: Opened, reading: Reading) -> Iterator[Record]:
    """One JSON object a line; blank lines are passed over."""
    limit, where = reading.max_doc_bytes, f"{source.name}, line "
    # Twice the limit leaves room for the other fields and for escapes.
    for number, raw in enumerate(lines(source, 2 * limit + 64 * 1024), 1):
        if raw is None:
            yield RecordError(f"{where}{number}", too_large(limit))
            continue
        try:
            found = orjson.loads(raw)
        except ValueError as error:
            if raw.strip():
                yield _second_look(f"{where}{number}", raw, error, reading)
            continue
        yield _from_object(f"{where}{number}", found, raw, reading)


def _from_object(position: str, found: object, raw: bytes | str, reading: Reading) -> Record:
    if type(found) is not dict:
        return RecordError(position, "not a JSON object")
    id = found.get(reading.id)
    if type(id) is float:
        id = _whole_number(raw, reading.id)
    kept = _present(found, reading.keep) if reading.keep else NOTHING
    return record(position, id, found.get(reading.text[0]), reading=reading, kept=kept)


def _present(found: dict[str, Any], keep: Iterable[str]) -> dict[str, Any]:
    return {name: found[name] for name in keep if found.get(name) is not None}


def _whole_number(raw: bytes | str, name: str) -> object:
    """An id as it is written: orjson turns whole numbers over 64 bits into floats."""
    try:
        return json.loads(raw, parse_int=str)[name]
    except RecursionError:
        return float("nan")


def _second_look(position: str, raw: bytes, error: ValueError, reading: Reading) -> Record:
    """Tell invalid UTF-8 from malformed JSON; where lossy, read it all the same."""
    try:
        text = decoded(raw, reading)
        return _from_object(position, orjson.loads(text), text, reading)
    except Unusable as problem:
        return RecordError(position, str(problem))
    except ValueError:
        return RecordError(position, f"malformed JSON ({error})")


def read_csv(source: Opened, reading: Reading) -> Iterator[Record]:
    """Comma-separated values with a header; a quoted field may hold commas and newlines."""
    return _table(source, reading, ",")


def read_tsv(source: Opened, reading: Reading) -> Iterator[Record]:
    """Tab-separated values with a header, quoted as spreadsheets do, or not at all."""
    return _table(source, reading, "\t")


def _table(source: Opened, reading: Reading, delimiter: str) -> Iterator[Record]:
    # The limit is one for the whole process: only ever raised, so that no other reader fails.
    csv.field_size_limit(max(csv.field_size_limit(), MAX_QUOTED_BYTES))
    rows = _rows(source, reading, delimiter)
    header = next(rows, (0, []))[1]
    if not isinstance(header, list):
        raise source.error(f"its header cannot be read: {header}", "check the format")
    check_columns(source, header, reading)
    id_at, text_at = header.index(reading.id), header.index(reading.text[0])
    kept_at = [(name, header.index(name)) for name in reading.keep]
    width, where = len(header), f"{source.name}, line "
    for number, row in rows:
        if not isinstance(row, list):
            yield RecordError(f"{where}{number}", str(row))
        elif len(row) != width:
            yield RecordError(f"{where}{number}", f"{len(row)} fields where the header has {width}")
        else:
            kept = {name: row[at] for name, at in kept_at if row[at]} if kept_at else NOTHING
            yield record(f"{where}{number}", row[id_at], row[text_at], reading=reading, kept=kept)


Row = list[str] | Unusable


def _rows(source: Opened, reading: Reading, delimiter: str) -> Iterator[tuple[int, Row]]:
    """Rows with the line where each starts; in place of one that cannot be read, the reason."""
    feed = _Feed(lines(source, reading.max_doc_bytes + 64 * 1024))
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
    """The row that starts with `first`; further lines that it takes are noted in `taken`."""
    if first is None or b'"' not in first:
        return decoded(first, reading).rstrip("\r").split(delimiter)
    try:
        row = next(
            csv.reader(_continued(first, feed, taken, reading), delimiter=delimiter, strict=True)
        )
        if delimiter == "\t" and taken and any("\t" in field for field in row):
            raise csv.Error("rows that look like one quoted field")
    except (csv.Error, Unusable) as error:
        if delimiter == "\t":  # many write quotes into TSV as they are
            feed.give_back(taken)
            return decoded(first, reading).rstrip("\r").split(delimiter)
        too_long = isinstance(error, Unusable)
        raise Unusable(str(error) if too_long else f"malformed quoting ({error})") from error
    too_large_inside = any(raw is None for _, raw in taken)
    whole = None if too_large_inside else b"\n".join([first, *(raw or b"" for _, raw in taken)])
    taken.clear()
    decoded(whole, reading)  # raises where `_continued` let bytes pass that are not UTF-8
    return row


def _continued(first: bytes, feed: _Feed, taken: list[Numbered], reading: Reading) -> Iterator[str]:
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
    """Numbered lines that can be given back: what a stray quote swallowed is read again."""

    def __init__(self, lines: Iterator[bytes | None]) -> None:
        self._lines = enumerate(lines, 1)
        self._returned: deque[Numbered] = deque()

    def __iter__(self) -> Iterator[Numbered]:
        return self

    def __next__(self) -> Numbered:
        return self._returned.popleft() if self._returned else next(self._lines)

    def give_back(self, taken: list[Numbered]) -> None:
        self._returned.extendleft(reversed(taken))
        taken.clear()
