"""Iterables of Documents, dicts, or pairs of id and text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any, Final

from neardup_solr.checks import describe
from neardup_solr.errors import ArgumentError, RecordError, counted
from neardup_solr.records import Document, find_problem
from neardup_solr.sources.column import LACKING, dig
from neardup_solr.sources.document import from_row, make_document
from neardup_solr.sources.header import Columns, choose_id
from neardup_solr.sources.json import FIRST_OBJECTS
from neardup_solr.sources.objects import Object, from_objects
from neardup_solr.sources.part import SourcePart
from neardup_solr.sources.reading import Reading
from neardup_solr.sources.record_errors import as_columns
from neardup_solr.sources.table import ID, NUMBERED, TEXT, Piece, Record
from neardup_solr.sources.values import Unusable, read_id, read_kept, read_value

DOCUMENT: Final = "a Document"
MAPPING: Final = "a dict"
PAIR: Final = "a pair"


def read_iterable(source: Iterable[Any], part: SourcePart) -> Iterator[Piece]:
    """Read an iterable of Documents, dicts, or pairs of id and text, all of a kind."""
    readers = {DOCUMENT: _of_documents, PAIR: _of_pairs, MAPPING: _of_mappings}
    numbered = enumerate(source, 1)
    for number, item in numbered:
        kind = kind_of_item(item)
        if kind:
            if kind == MAPPING:  # numbered if none of the first ones has anything like an id
                few = source[:FIRST_OBJECTS] if isinstance(source, list | tuple) else [item]
                reading = choose_id(part, list_names(few), part.reading)
                part = replace(part, reading=reading)
            items = _of_one_kind(part, chain([(number, item)], numbered), kind)
            yield from readers[kind](items, part)
            return
        yield RecordError(f"{part.name}, record {number}", _misfit(item, kind))


def list_names(items: Iterable[Any]) -> list[Any]:
    """List the names that mappings have."""
    mappings = (item for item in items if kind_of_item(item) == MAPPING)
    return list(dict.fromkeys(name for item in mappings for name in as_mapping(item)))


def as_mapping(item: Any) -> Mapping[Any, Any]:
    """Make a mapping of a named tuple, or of what has keys, such as a sqlite3.Row."""
    if isinstance(item, dict | Mapping):
        return item
    if hasattr(item, "_fields"):
        return dict(zip(item._fields, item, strict=True))
    return {name: item[name] for name in item.keys()}  # noqa: SIM118 - it yields values


def _of_one_kind(
    part: SourcePart, numbered: Iterable[tuple[int, Any]], kind: str
) -> Iterator[tuple[str, Any]]:
    """Pass records on with their positions, with an error in place of each of another kind."""
    for number, item in numbered:
        position = f"{part.name}, record {number}"
        fits = kind_of_item(item) == kind
        yield position, item if fits else RecordError(position, _misfit(item, kind))


def kind_of_item(item: object) -> str:
    """Find the kind of a record, or "" if it is not a record."""
    if isinstance(item, Document):
        return DOCUMENT
    if hasattr(item, "keys") or hasattr(item, "_fields"):  # the latter of a named tuple
        return MAPPING
    return PAIR if isinstance(item, tuple | list) else ""


def _misfit(item: object, kind: str) -> str:
    if kind and kind_of_item(item):
        return f"{kind_of_item(item)}, but the first record is {kind}: give records of one kind"
    return f"{describe(item)} is not a record: give (id, text), a dict or an nd.Document"


def _of_documents(items: Iterable[tuple[str, Any]], part: SourcePart) -> Iterator[Record]:
    """Pass documents on as they are: the verb that uses them checks each."""
    for position, item in items:
        if isinstance(item, RecordError):
            yield item
        elif type(item.id) is not str or type(item.text) is not str or item.kept:
            yield _with_plain_values(item, item.position or position, part.reading)
        elif not part.reading.has_ids:
            yield replace(item, id=NUMBERED, position=item.position or position)
        elif item.position or find_problem(item) is None:
            yield item
        else:
            yield replace(item, position=position)


def _with_plain_values(document: Document, position: str, reading: Reading) -> Record:
    """Make a document with plain values instead of those of NumPy and the like."""
    try:
        id = read_id(document.id, reading) if reading.has_ids else NUMBERED
        text = read_value(document.text, reading)
        kept = {name: read_kept(name, each, reading) for name, each in document.kept.items()}
        record = make_document(position, id, text, reading=reading, kept=kept)
    except Unusable as reason:
        record = RecordError(position, str(reason))
    if type(record) is not RecordError:
        return record
    if type(document.id) is type(document.text) is str:
        return replace(document, position=position)
    columns = {ID: document.id, TEXT: document.text, **document.kept}
    record.record = as_columns(columns.keys(), columns.values())
    return record


def _of_pairs(items: Iterable[tuple[str, Any]], part: SourcePart) -> Iterator[Record]:
    if part.reading.keep:
        problem = f"{part.label}: pairs of id and text have no further columns"
        raise ArgumentError(problem, "give dicts instead, or leave `keep` out")
    id = 0 if part.reading.has_ids else None
    pair = Columns(names=(ID, TEXT), id=id, text=(1,), keep=())
    for position, item in items:
        if isinstance(item, RecordError):
            yield item
        elif len(item) != 2:
            values = counted(len(item), "value")
            yield RecordError(position, f"a record of {values}: give (id, text), or a dict")
        else:
            yield from_row(position, item, pair, part.reading)


def _of_mappings(items: Iterable[tuple[str, Any]], part: SourcePart) -> Iterator[Record]:
    reading = part.reading
    objects = (_take_columns(position, item, reading) for position, item in items)
    return from_objects(part, objects, reading)


def _take_columns(position: str, item: Any, reading: Reading) -> Object:
    """Take the values of the columns that are columns for of a mapping, as Python has them."""
    if isinstance(item, RecordError):
        return position, item, b""
    item = as_mapping(item)
    values: dict[str, Any] = {}
    try:
        for name in (*reading.keep, reading.id, *reading.text):
            if (boxed := dig(item, name, LACKING)) is LACKING:
                continue
            if type(boxed) is str and boxed.isascii():
                values[name] = boxed
            elif name in reading.keep:
                values[name] = read_kept(name, boxed, reading)
            else:
                values[name] = (read_id if name == reading.id else read_value)(boxed, reading)
    except Unusable as problem:
        record = as_columns(item.keys(), item.values())
        return position, RecordError(position, str(problem), record=record), b""
    needed = (*reading.text, reading.id) if reading.has_ids else reading.text
    if None in map(values.get, needed):
        names = (name for name in item if isinstance(name, str))  # for the error
        values = {name: item[name] for name in names} | values
    return position, values, b""
