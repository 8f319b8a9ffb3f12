"""JSON: an object a line, or in an array."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from operator import itemgetter
from typing import Any, Final, TypeAlias, cast

import numpy as np

from neardup_solr.errors import RecordError
from neardup_solr.sources.blocks import blocks_of_lines, split_lines
from neardup_solr.sources.column import dig
from neardup_solr.sources.document import make_run
from neardup_solr.sources.header import choose_id
from neardup_solr.sources.json_array import find_array, lists_of_elements
from neardup_solr.sources.objects import from_objects, load, make_object, parse_json
from neardup_solr.sources.part import SourcePart
from neardup_solr.sources.reading import Reading
from neardup_solr.sources.stream import fail
from neardup_solr.sources.table import Piece, Record, SourceTable
from neardup_solr.text.json_keys import has_key_twice
from neardup_solr.text.packed import SPARE, Packed, pack

_Columns: TypeAlias = tuple[Sequence[Any], Packed]  # ids and texts
_Chunk: TypeAlias = bytes | list[bytes | None] | None  # lines, elements, or a line too long
FIRST_OBJECTS: Final = 100  # that are looked at for their names
ENOUGH: Final = 2**20  # bytes of objects with names, after which no others are looked at
MANY: Final = 10_000  # objects, after which compiled code is worth loading


def open_json(part: SourcePart) -> SourceTable:
    """Open an object a line, or an array of objects. Blank lines are passed over."""
    room = 2 * part.reading.max_doc_bytes + 64 * 1024  # for escapes, and other columns
    part, around = find_array(part, room)
    is_array = around is not None
    reading = part.reading
    where = f"{part.name}, {'record' if is_array else 'line'} "
    chunks: Iterator[_Chunk]
    if around is None:
        chunks = blocks_of_lines(part, room)
    else:
        chunks = lists_of_elements(part, room, *around)

    def numbered(first: int, raws: Iterable[bytes | None]) -> Iterator[tuple[int, bytes | None]]:
        for number, raw in enumerate(raws, first):
            if is_array or raw is None or raw.strip():
                yield number, raw

    def make(first: int, raws: Iterable[bytes | None]) -> Iterator[Record]:
        objects = (load(f"{where}{at}", raw, reading) for at, raw in numbered(first, raws))
        return from_objects(part, objects, reading)

    def split(chunk: _Chunk) -> list[bytes | None]:
        return chunk if isinstance(chunk, list) else split_lines(chunk, room)

    if reading.guess == "number" and reading.has_ids:
        names, chunks = _first_names(part, chunks, split, room)
        reading = choose_id(part, names, reading) if names else reading
    raws = chain.from_iterable(map(split, chunks))

    def documents() -> Iterator[Piece]:
        if not reading.is_in_runs:  # a notice tells of columns that no object has
            yield from make(1, raws)
            return
        first = 1
        for chunk in chunks:
            objects: _Columns | None = None
            if isinstance(chunk, bytes) and len(chunk) <= room and reading.has_ids and first > MANY:
                objects = _scan(chunk, reading)
            written = [] if objects else split(chunk)
            objects = objects or _read_objects(written, reading)
            numbers = range(first, first + len(objects[1] if objects else written))
            first = numbers.stop
            if objects and (piece := make_run(where, numbers, *objects, reading=reading)):
                yield piece
            else:
                yield from make(numbers.start, written or split(chunk))

    def parse(raw: bytes) -> dict[str, Any]:
        written = raw.decode("utf-8", reading.on_invalid)
        item = json.loads(written, object_pairs_hook=partial(make_object, raw))
        if not isinstance(item, dict):
            raise ValueError("not a JSON object")
        return item

    return SourceTable(
        format="jsonl", reading=reading, documents=documents,
        records=((at, raw or b"") for at, raw in numbered(1, raws)), parse=parse, is_text=True,
    )  # fmt: skip


def _first_names(
    part: SourcePart,
    chunks: Iterator[_Chunk],
    split: Callable[[_Chunk], list[bytes | None]],
    room: int,
) -> tuple[list[str], Iterator[_Chunk]]:
    """List the names of the first objects, and return the parts to read from the first on.

    Objects are read whole, as a name may come last. Of a pipe, one has to be enough.
    """
    is_file = part.path is not None and part.path.is_file()
    names, looked, count, size = dict[str, None](), list[_Chunk](), 0, 0
    try:
        for chunk in chunks:
            looked.append(chunk)
            for raw in split(chunk)[: FIRST_OBJECTS - count]:
                count, size = count + 1, size + len(raw or b"")
                with suppress(ValueError, TypeError):
                    names.update(dict.fromkeys(dict(parse_json(cast("bytes", raw)))))
            most = ENOUGH if names else room
            if count >= FIRST_OBJECTS or size > most or (names and not is_file):
                break
    except RecordError as error:
        chunks = fail(error)
    return list(names), chain(looked, chunks)


def _scan(block: bytes, reading: Reading) -> _Columns | None:
    """Read ids and texts of plain objects in lines, or None if one is not plain."""
    from neardup_solr.kernel.json_lines import scan_objects

    try:
        block.decode()
    except UnicodeDecodeError:
        return None
    codes = np.frombuffer(block if block.endswith(b"\n") else block + b"\n", np.uint8)
    texts, names = np.empty(len(codes) + SPARE, np.uint8), np.empty(len(codes), np.uint8)
    bounds = np.empty(1 + np.count_nonzero(codes == ord("\n")), np.uint64)
    keys = (np.frombuffer(name.encode(), np.uint8) for name in (reading.id, reading.text[0]))
    size = scan_objects(codes, *keys, texts, bounds, names)
    if size < 0:
        return None
    ids = names[:size].tobytes().decode().split("\n")[:-1]
    end = int(bounds[-1]) + SPARE
    if 2 * end < len(texts):  # what else the objects have need not be held
        texts = texts[:end].copy()
    return ids, Packed(texts, bounds)


def _read_objects(raws: Sequence[bytes | None], reading: Reading) -> _Columns | None:
    """Read ids and texts of objects, or None if any of them needs a closer look."""
    written = cast("Sequence[bytes]", raws)  # orjson refuses None, which is a line too long
    try:
        objects = list(map(parse_json, written))
        ids = list(map(_getter(reading.id), objects)) if reading.has_ids else []
        texts = list(map(_getter(reading.text[0]), objects))
    except (ValueError, LookupError, TypeError):
        return None
    if {*map(type, objects)} != {dict} or {*map(type, texts)} != {str}:
        return None
    # No object has fewer quotes than its keys and strings need, so an equal sum tells of all.
    values, joined = chain.from_iterable(map(dict.values, objects)), b"".join(written)
    needed = 2 * (sum(map(len, objects)) + list(map(type, values)).count(str))
    if joined.count(b'"') != needed and has_key_twice(objects, joined):
        return None
    return ids, pack(texts)


def _getter(name: str) -> Callable[[Any], Any]:
    return partial(dig, name=name) if "." in name else itemgetter(name)
