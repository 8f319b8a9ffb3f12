"""Objects, each with its names of columns, as documents: those of JSON, and what is like them.

Of pages, e-mails and references, what is written around a text becomes columns, or is left out: it
is never compared as text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias

import orjson

from neardup_solr.errors import RecordError
from neardup_solr.records import NOTHING, Run, as_whole
from neardup_solr.regex import regex
from neardup_solr.sources.column import LACKING, dig
from neardup_solr.sources.document import as_columns, decode_raw, make_document, make_run, unusable
from neardup_solr.sources.part import NUMBERED, Record, SourcePart, SourceTable
from neardup_solr.sources.reading import Reading
from neardup_solr.sources.values import Unusable, decode, too_large
from neardup_solr.text.json_keys import has_key_twice

# Its position, the object or what is wrong with it, and how it is written if that is at hand.
Object: TypeAlias = tuple[str, object, bytes | str]
# A string, or a number that JSON does not have.
_NOT_FINITE: Final = regex(
    rb'"[^"\\]*(?:\\.[^"\\]*)*"|(?<![\w.])[-+]?(?:NaN|Inf(?:inity)?)(?![\w.])',
    re.DOTALL | re.IGNORECASE,
)
# What begins with a backslash: a surrogate without another half is `lone`.
_ESCAPE: Final = regex(rb"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(?P<lone>u[dD][89a-fA-F]..)|.)")
Numbered = tuple[int, Any]  # a row, or what is wrong with it, and where it begins


def make_object(raw: bytes, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of its keys, or raise Unusable if one appears twice: which counts is unclear.

    `raw` is how the record is written.
    """
    item = dict(pairs)
    if len(item) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        reason = f"malformed JSON: the key {twice!r} appears twice"
        raise Unusable(reason, raw, code="record-malformed")
    return item


def from_objects(part: SourcePart, objects: Iterable[Object], reading: Reading) -> Iterator[Record]:
    """Make documents of objects, with a notice at the end on columns that none of them has."""
    unseen = list_unseen(reading)
    yield from make_records(objects, reading, unseen)
    tell_unseen(part, unseen)


def list_unseen(reading: Reading) -> set[str]:
    """List the columns of which a notice is due if no object has them."""
    several = len(reading.text) > 1
    return {*reading.text, *reading.keep} if several or reading.keep else set()


def tell_unseen(part: SourcePart, unseen: set[str]) -> None:
    """Tell in a notice that no object has these columns, if there are any."""
    if unseen:
        names = " or ".join(map(repr, sorted(unseen)))
        part.on_notice(f"{part.name}: no record has a column {names}")


class ObjectColumns(NamedTuple):
    """The columns of objects by name, and which of the names any object has."""

    ids: Sequence[Any]
    values: Mapping[str, Sequence[Any]]
    seen: set[str]


def take_columns(objects: Sequence[dict[Any, Any]], reading: Reading) -> ObjectColumns | None:
    """Take the columns of objects, or None if one is kept that may have lost digits."""
    columns, seen = dict[str, Sequence[Any]](), set[str]()
    names = {*reading.text, *reading.keep} | ({reading.id} if reading.has_ids else set())
    for name in names:
        values = [item.get(name, LACKING) for item in objects]
        if any(value is LACKING for value in values):
            values = [dig(item, name, LACKING) for item in objects]
        if any(value is not LACKING for value in values):
            seen.add(name)
        values = [None if value is LACKING else value for value in values]
        kinds = set(map(type, values))
        if name in reading.keep and not kinds.isdisjoint((float, list)) and are_rounded(values):
            return None
        columns[name] = values
    return ObjectColumns(columns[reading.id] if reading.has_ids else (), columns, seen)


def make_object_run(
    where: str, first: int, columns: ObjectColumns, reading: Reading
) -> Run | None:  # fmt: skip
    """Make a run of the columns of objects, numbered from `first` on, or None as `make_run`."""
    texts = [columns.values[name] for name in reading.text]
    kept = {name: columns.values[name] for name in reading.keep}
    numbers = range(first, first + len(texts[0]))
    return make_run(where, numbers, columns.ids, texts, kept, reading=reading)


def make_records(objects: Iterable[Object], reading: Reading, unseen: set[str]) -> Iterator[Record]:
    """Make documents of objects, whose columns are no longer among the `unseen` ones."""
    several = len(reading.text) > 1
    id_name, text_name = reading.id, reading.text[0]
    for position, item, raw in objects:
        if type(item) is not dict:
            if not isinstance(item, RecordError):
                item = RecordError(
                    position, "not a JSON object", record=decode_raw(raw), code="record-malformed"
                )
            yield item
            continue
        if unseen:
            unseen -= {name for name in tuple(unseen) if dig(item, name, LACKING) is not LACKING}
        id = item[id_name] if id_name in item else dig(item, id_name)
        id = id if reading.has_ids else NUMBERED
        if type(id) is float and raw:
            id = as_whole(dig(_load_exactly(raw), id_name))
        text: object
        if several:
            text = tuple(dig(item, name) for name in reading.text)
        else:
            text = item[text_name] if text_name in item else dig(item, text_name)
        values = ((name, dig(item, name)) for name in reading.keep)
        kept = {name: value for name, value in values if value is not None} or NOTHING
        record = make_document(position, id, text, reading=reading, kept=kept)
        if kept and raw and (name := _find_rounded(kept, item, raw)):
            reason = f"the column {name!r} contains a whole number larger than 64 bits"
            record = RecordError(position, reason, code="value-invalid")
        if type(record) is RecordError:
            record.record = _original(item, raw)
        yield record


def _load_exactly(raw: bytes | str) -> dict[str, Any]:
    """Parse an object with whole numbers as text: orjson makes floats of those over 64 bits."""
    try:
        return dict(json.loads(raw, parse_int=str))
    except RecursionError:
        return {}


def _find_rounded(kept: Mapping[str, Any], item: dict[str, Any], raw: bytes | str) -> str | None:
    """Find a kept column with a whole number over 64 bits, of which orjson made a float."""
    for name, value in kept.items():
        if are_rounded([value]):
            parts = value if type(value) is list else [value]
            written = dig(_load_exactly(raw), name)
            pairs = zip(parts, written if type(written) is list else [written], strict=False)
            if any(type(part) is float and type(text) is str for part, text in pairs):
                return name
    return None


def are_rounded(values: Iterable[object]) -> bool:
    """Tell whether any value, or part of a list, may be a float of a whole number over 64 bits."""
    lists = (value if type(value) is list else [value] for value in values)
    parts = (part for each in lists for part in each)
    return any(type(part) is float and abs(part) >= 2**63 for part in parts)


def _original(item: dict[str, Any], raw: bytes | str) -> dict[str, Any] | str | None:
    """Parse an object as its source has it. Whole numbers over 64 bits are floats in `item`."""
    if not raw:
        return as_columns(item.keys(), item.values())
    written = decode_raw(raw)
    try:
        return written and dict(json.loads(written))
    except (RecursionError, ValueError):  # deeper, or with a longer number, than Python reads
        return written


def load(position: str, raw: bytes | None, reading: Reading) -> Object:
    """Parse an element, or make the error that says what is wrong with it.

    Invalid UTF-8 is another error than malformed JSON, or read anyway if lossy.
    """
    if raw is None:
        error = RecordError(position, too_large(reading.room()), code="record-too-large")
        return position, error, b""
    reason = ""
    try:
        try:
            item = parse_json(raw)
        except ValueError as error:
            reason = f"malformed JSON ({error})"
            raw = decode(raw, reading).encode()
            if reading.lossy:
                raw = _ESCAPE.sub(lambda each: rb"\ufffd" if each["lone"] else each[0], raw)
            item = parse_json(raw)
        if type(item) is not dict or not has_key_twice(item, raw):
            return position, item, raw
        reason = "malformed JSON: a key appears twice"
        json.loads(raw, object_pairs_hook=partial(make_object, raw), parse_int=str)
    except Unusable as problem:
        return position, unusable(position, problem), b""
    except (ValueError, RecursionError):
        pass  # for the reason above
    return (
        position,
        RecordError(position, reason, record=decode_raw(raw), code="record-malformed"),
        b"",
    )


def parse_json(raw: bytes) -> Any:
    """Parse JSON, in which NaN and Infinity, which Python and others write, are missing values.

    Raises ValueError.
    """
    try:
        return orjson.loads(raw)
    except ValueError:
        plain = _NOT_FINITE.sub(lambda each: each[0] if each[0][:1] == b'"' else b"null", raw)
        if plain == raw:
            raise
        return orjson.loads(plain)


def name_document(part: SourcePart, number: int = 0) -> str:
    """Name a document by its file, or by its number in it."""
    if not number:
        return part.within or part.name
    return f"{part.within}#{number}" if part.within else str(number)


def open_rows(part: SourcePart, format: str, rows: Iterator[Numbered]) -> SourceTable:
    """Open rows, each a dict with columns of its own, or a text that says what is wrong."""
    return SourceTable(format=format, reading=part.reading, contents=NamedRows(part, format, rows))


@dataclass(frozen=True, slots=True)
class NamedRows:
    """Rows of a format, each by its names, or the reason why there is none."""

    part: SourcePart
    format: str
    rows: Iterator[Numbered]

    def documents(self) -> Iterator[Record]:
        """Make documents of the rows."""
        unit = "record" if self.format in ("html", "eml", "mbox") else "line"
        where = f"{self.part.name}, {unit} "

        def objects() -> Iterator[Object]:
            for number, row in self.rows:
                item: object = row
                position = f"{where}{number}"
                if not isinstance(row, dict):
                    item = RecordError(position, row, code="record-too-large")
                yield position, item, b""

        return from_objects(self.part, objects(), self.part.reading)

    def records(self) -> Iterator[Numbered]:
        """Yield the rows, None for those that cannot be read."""
        return ((number, row if isinstance(row, dict) else None) for number, row in self.rows)

    def parse(self, record: dict[str, Any]) -> dict[str, Any]:
        """Copy a row."""
        return dict(record)
