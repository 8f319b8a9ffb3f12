"""JSON: an object a line, or in an array, within an answer or alone, in bounded memory."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial, reduce
from itertools import chain, islice
from operator import getitem
from typing import Any, Final, TypeAlias, cast

import numpy as np
import orjson
from numpy.typing import NDArray

from neardup_solr.errors import RecordError
from neardup_solr.records import Run
from neardup_solr.regex import regex
from neardup_solr.sources.blocks import (
    blocks_of_lines,
    encode_block,
    is_worth,
    map_blocks,
    most_passed_over,
    number_runs,
    read_ahead,
    read_blocks,
    split_lines,
    without_end,
)
from neardup_solr.sources.column import LACKING, choose_id, dig
from neardup_solr.sources.compression import fail
from neardup_solr.sources.objects import (
    ObjectColumns,
    list_unseen,
    load,
    make_object,
    make_object_run,
    make_records,
    parse_json,
    take_columns,
    tell_unseen,
)
from neardup_solr.sources.part import Piece, Record, SourcePart, SourceTable
from neardup_solr.sources.reading import Reading
from neardup_solr.text.json_keys import has_key_twice
from neardup_solr.text.packed import Packed, PackedColumns, pack

_Chunk: TypeAlias = bytes | list[bytes | None] | None  # lines, elements, or a line too long
FIRST_OBJECTS: Final = 100  # that are looked at for their names
ENOUGH: Final = 2**20  # bytes of objects with names, after which no others are looked at
_HEAD: Final = 2**16
# Usual names of the list of records within an answer.
LISTS: Final = "docs hits data results items records rows documents entries features nodes value"
MOST_BLOCKS: Final = 256  # behind an array
_ELEMENT: Final = "[]"
_TOTAL: Final = regex(rb'"(?:numFound|total|value)"\s*:\s*(\d+)')
_PART: Final = regex(rb'"([^"\\]*(?:\\.[^"\\]*)*)(?:"(\s*:)?|\\?\Z)|[\[\]{}]', re.DOTALL)
_OBJECTS: Final = regex(rb"\s*(?:[{\]]|\Z)")  # how a list of objects, or of none, goes on
_QUOTE, _COMMA = b'",'
# A string is a token, which may go on in the next block; then its closing quote is missing.
_STRING_END: Final = regex(rb'[^"\\]*(?:\\.[^"\\]*)*("?)', re.DOTALL)
_TOKEN: Final = regex(rb'"[^"\\]*(?:\\.[^"\\]*)*("?)|[\[\]{},]', re.DOTALL)


def open_json(part: SourcePart) -> SourceTable:
    """Open an object a line, or an array of objects. Blank lines are passed over."""
    room = part.reading.room(2, more=64 * 1024)  # for escapes, and other columns
    part, around = find_array(part, room)
    reading = part.reading
    chunks: Iterator[_Chunk]
    if around is None:
        chunks = blocks_of_lines(part, room)
    else:
        chunks = lists_of_elements(part, room, *around)
    if reading.guess == "number" and reading.has_ids:
        names, chunks = _first_names(part, chunks, room)
        reading = choose_id(part, names, reading) if names else reading
    contents = JsonObjects(part, chunks, reading, room, is_array=around is not None)
    return SourceTable(format="jsonl", reading=reading, contents=contents, is_text=True)


def _split(chunk: _Chunk, room: int) -> list[bytes | None]:
    return chunk if isinstance(chunk, list) else split_lines(chunk, room)


@dataclass(frozen=True, slots=True)
class JsonObjects:
    """Objects in chunks of whole lines, or of elements of an array. None is over the `room`."""

    part: SourcePart
    chunks: Iterator[_Chunk]
    reading: Reading
    room: int
    is_array: bool

    def documents(self) -> Iterator[Piece]:
        """Make documents of the objects, many at once if these are alike."""
        unseen = list_unseen(self.reading)
        chunks = map_blocks(self.part, partial(self._read_run, unseen), self.chunks)
        make = partial(self._make, unseen)
        yield from number_runs(chunks, partial(_split, room=self.room), make)
        tell_unseen(self.part, unseen)

    def _read_run(self, unseen: set[str], numbered: tuple[int, _Chunk]) -> Run | None:
        """Make a run of the objects in a chunk, None if any of them needs a closer look."""
        columns, reading, (number, chunk) = None, self.reading, numbered
        if isinstance(chunk, bytes) and len(chunk) <= self.room:
            columns = _scan(chunk, number, reading)
        columns = columns or _read_objects(_split(chunk, self.room), reading)
        if columns is None:
            return None
        unseen -= columns.seen
        return make_object_run(self._where, 0, columns, reading)

    def records(self) -> Iterator[tuple[int, bytes]]:
        """Yield the objects as they are written, empty for those that are too large."""
        return ((number, raw or b"") for number, raw in self._number(1, self._raws()))

    def record_lists(self) -> Iterator[list[bytes]]:
        """Read the objects of a chunk at a time."""
        for chunk in self.chunks:
            yield [raw or b"" for _, raw in self._number(1, _split(chunk, self.room))]

    def parse(self, record: bytes) -> dict[str, Any]:
        """Parse an object as it is written, or raise ValueError."""
        written = record.decode("utf-8", self.reading.on_invalid)
        item = json.loads(written, object_pairs_hook=partial(make_object, record))
        if not isinstance(item, dict):
            raise ValueError("not a JSON object")
        return item

    @property
    def _where(self) -> str:
        return f"{self.part.name}, {'record' if self.is_array else 'line'} "

    def _raws(self) -> Iterator[bytes | None]:
        return chain.from_iterable(_split(chunk, self.room) for chunk in self.chunks)

    def _number(
        self, first: int, raws: Iterable[bytes | None]
    ) -> Iterator[tuple[int, bytes | None]]:
        """Number elements, or lines, of which blank ones are passed over."""
        for number, raw in enumerate(raws, first):
            if self.is_array or raw is None or raw.strip():
                yield number, raw

    def _make(self, unseen: set[str], first: int, raws: Iterable[bytes | None]) -> Iterator[Record]:
        """Make a document of each object by itself."""
        where, reading = self._where, self.reading
        objects = (load(f"{where}{at}", raw, reading) for at, raw in self._number(first, raws))
        return make_records(objects, reading, unseen)


def _first_names(
    part: SourcePart, chunks: Iterator[_Chunk], room: int
) -> tuple[list[str], Iterator[_Chunk]]:
    """List the names of the first objects, and return the parts to read from the first on.

    Objects are read whole, as a name may come last. Of a pipe, one has to be enough.
    """
    is_file = part.is_file()
    names, looked, count, size = dict[str, None](), list[_Chunk](), 0, 0
    try:
        for chunk in chunks:
            looked.append(chunk)
            for raw in _split(chunk, room)[: FIRST_OBJECTS - count]:
                count, size = count + 1, size + len(raw or b"")
                with suppress(ValueError, TypeError):
                    names.update(dict.fromkeys(dict(parse_json(cast("bytes", raw)))))
            most = ENOUGH if names else room
            if count >= FIRST_OBJECTS or size > most or (names and not is_file):
                break
    except RecordError as error:
        chunks = fail(error)
    return list(names), chain(looked, chunks)


def _scan(block: bytes, number: int, reading: Reading) -> ObjectColumns | None:
    """Read the columns of plain objects in lines, or None if one is not plain."""
    from neardup_solr.kernel.json_lines import LEAST, scan_objects

    if not is_worth(scan_objects, number):
        return None
    names, packed, kinds = _choose_kinds(reading)
    codes, seen = encode_block(block), np.zeros(len(kinds), np.uint8)
    columns = PackedColumns(len(kinds), len(codes), 1 + len(codes) // LEAST)
    count = scan_objects(
        codes, packed.data, packed.bounds, kinds, columns.data, columns.bounds, seen
    )
    if count < 0:
        return None
    taken: list[Any] = list(columns.take(count))
    ids = taken.pop(0) if reading.has_ids else ()
    first = len(reading.text)
    taken[first:] = [orjson.loads(b"[%s]" % each.whole()[:-1]) for each in taken[first:]]
    values = dict(zip(names[len(names) - len(taken) :], taken, strict=True))
    return ObjectColumns(ids, values, {names[at] for at in np.flatnonzero(seen).tolist()})


@lru_cache(maxsize=4)
def _choose_kinds(reading: Reading) -> tuple[list[str], Packed, NDArray[np.uint8]]:
    """List the columns that are read in compiled code (id, texts, kept ones) and their kinds."""
    from neardup_solr.kernel.json_lines import ID, KEPT, MAY_LACK, TEXT

    ids = [reading.id] if reading.has_ids else []
    kept = [name for name in reading.keep if name not in reading.text]
    names = [*ids, *reading.text, *kept]
    kinds = [ID for _ in ids] + [TEXT for _ in reading.text]
    kinds += [MAY_LACK if _stands_alone(name) else KEPT for name in kept]
    return names, pack(names), np.array(kinds, np.uint8)


def _stands_alone(name: str) -> bool:
    """Tell whether an object without a key of this name, in whatever case, lacks the column."""
    return name.isascii() and name == name.strip() and "." not in name


def _read_objects(raws: Sequence[bytes | None], reading: Reading) -> ObjectColumns | None:
    """Read the columns of objects, or None if any of them needs a closer look."""
    written = cast("Sequence[bytes]", raws)  # orjson refuses None, which is a line too long
    try:
        objects = list(map(parse_json, written))
    except (ValueError, TypeError):
        return None
    if {*map(type, objects)} != {dict}:
        return None
    # No object has fewer quotes than its keys and strings need, so an equal sum tells of all.
    values, joined = chain.from_iterable(map(dict.values, objects)), b"".join(written)
    needed = 2 * (sum(map(len, objects)) + list(map(type, values)).count(str))
    if joined.count(b'"') != needed and has_key_twice(objects, joined):
        return None
    columns = take_columns(objects, reading)
    if columns is None:
        return None
    texts = {name: columns.values[name] for name in reading.text}
    packed = {name: pack(each) for name, each in texts.items() if set(map(type, each)) == {str}}
    return columns._replace(values={**columns.values, **packed})


def find_array(part: SourcePart, room: int) -> tuple[SourcePart, tuple[int, int] | None]:
    """Find where an array begins, and read the source from there on. Lines of objects have none.

    A first line is read whole if it is no larger than `room`. Return the number of objects around
    the array, and of the documents that these say were found.
    """

    def has_first(head: bytes) -> bool:
        text = head.lstrip()
        is_open = text.startswith(b"{") or (text[:1] == b"[" and not _OBJECTS.match(text, 1))
        return bool(text) and (not is_open or b"\n" in text or len(text) > room)

    def has_next(head: bytes) -> bool:
        return bool(head.lstrip().partition(b"\n")[2].strip()) or len(head) > room

    head, part = read_ahead(part, has_first)
    first = head.lstrip().partition(b"\n")[0]
    if first.startswith(b"["):
        if not _is_row(first):
            return part, (0, 0)
        head, part = read_ahead(part, has_next)
        return part, None if head.lstrip().partition(b"\n")[2].strip() else (0, 0)
    if not first.startswith(b"{"):
        return part, None
    columns = {*([part.reading.id] if part.reading.has_ids else []), *part.reading.text}
    if is_whole := first.rstrip().endswith(b"}"):
        if not _search_array(first, columns, is_whole)[0] and b'"error"' not in first:
            if not _is_around(first, columns):
                return part, None
            columns.clear()
        head, part = read_ahead(part, has_next)
        if head.lstrip().partition(b"\n")[2].strip():
            return part, None
    for most in (_HEAD, room):
        head, part = read_ahead(part, partial(_is_longer, most))
        path, start = _search_array(head, columns, is_whole)
        if path:
            break
    if not path and first.strip() == b"{" and _is_around(head, columns):
        path, start = _search_array(head, (), is_whole=True)
    _refuse_error(part, head)
    name = ".".join(path)
    if path and path[-1].lower() in LISTS.split() and "groups" not in path:
        part.on_notice(f"{part.name}: using the records in {name!r}")
        totals = _TOTAL.findall(head[:start])
        stream = chain([head[start:]], islice(part.begun or (), 1, None))
        return replace(part, begun=stream), (len(path), int(totals[-1]) if totals else 0)
    if first.strip() == b"{":
        step = "give an array of objects, or one object per line"
        query = f"'.{name}[]'" if path else ". FILE > FILE.jsonl"
        step = f"{step}, for example with: jq -c {query}"
        step = "query Solr with group.main=true" if "grouped" in path else step
        raise part.error("is one JSON object on several lines", step, code="record-malformed")
    return part, None


def _is_row(line: bytes) -> bool:
    """Tell whether a line is a list of values, as that of a row or of names is."""
    try:
        values = [] if _OBJECTS.match(line, 1) else orjson.loads(line)
    except ValueError:
        return False
    return bool(values) and not any(isinstance(value, dict | list) for value in values)


def _is_around(line: bytes, columns: Collection[str]) -> bool:
    """Tell whether an object lacks a column that the first object of a list within it has."""
    path, _ = _search_array(line, (), is_whole=True)
    try:
        whole: Any = orjson.loads(line)
        listed: Any = reduce(getitem, path, whole) if path else []
        first = next(iter(listed), None)
    except (ValueError, LookupError, TypeError):
        return False
    lacking = [name for name in columns if dig(whole, name, LACKING) is LACKING]
    if not (lacking and isinstance(first, dict)):
        return False
    return all(dig(first, name, LACKING) is not LACKING for name in lacking)


def _is_longer(most: int, head: bytes) -> bool:
    return len(head) > most


def _refuse_error(part: SourcePart, head: bytes) -> None:
    """Refuse the answer of a server that is nothing but an error, with its message."""
    try:
        answer = orjson.loads(head)
    except ValueError:  # more than is read at first, as errors are not
        return
    error, needed = answer.get("error"), (part.reading.id, *part.reading.text)
    if isinstance(error, Mapping) and not {*answer}.intersection(needed):
        texts = (error.get(name) for name in ("msg", "message", "reason", "trace"))
        message = next((text for text in texts if isinstance(text, str)), None)
        if message and not any(name.startswith("error.") for name in needed):
            reason = f"is an error message from a server: {message.partition(chr(10))[0]}"
            step = "correct the query and save the response again"
            raise part.error(reason, step, code="file-kind")


def _search_array(head: bytes, columns: Collection[str], is_whole: bool) -> tuple[list[str], int]:
    """Find a list of objects within an object without these columns, by its path and its place.

    The first of a usual name counts, or else the first. Without any, the path is empty. If the
    object `is_whole`, a column behind the list counts as one before it.
    """
    key, path, first, usual = "", list[str](), (list[str](), 0), (list[str](), 0)
    for token in _PART.finditer(head):
        mark = token[0]
        if token[2]:
            key = token[1].decode("utf-8", "replace")
            if len(path) == 1 and key in columns:
                return [], 0
        elif mark in (b"}", b"]"):
            path = path[:-1]
        elif mark in (b"{", b"["):
            has_objects = mark == b"[" and _OBJECTS.match(head, token.end()) is not None
            if has_objects and _ELEMENT not in path and not usual[0]:
                array = [*path[1:], key], token.start()
                first = first if first[0] else array
                usual = array if key.lower() in LISTS.split() else usual
                if usual[0] and not is_whole:
                    break
            path = [*path, _ELEMENT if mark == b"[" else key]
    return usual if usual[0] else first


def lists_of_elements(
    part: SourcePart, room: int, around: int, total: int
) -> Iterator[list[bytes | None]]:
    """Split a JSON array into its elements as they are written, as many as come in a block.

    None stands for an element of more than `room` bytes. A notice says if there are fewer than in
    `total`. Raises RecordError if the array, or the objects `around` it, do not end, or if
    something follows.
    """
    count = 0
    most, passed = most_passed_over(part, room), 0
    held, depth = bytearray(), 0  # of an element that is too large, one byte more than may be
    in_string, escaped = False, 0  # bytes of the next block after a backslash
    stream = read_blocks(part)
    for block in stream:
        start = at = 0
        elements: list[bytes | None] = []
        if in_string and (end := _STRING_END.match(block, escaped)):
            in_string, at, escaped = not end[1], end.end(), len(block) - end.end()
        for token in _TOKEN.finditer(block, at):
            mark = block[token.start()]
            if mark == _QUOTE:
                in_string, escaped = not token[1], len(block) - token.end()
                continue
            depth += (mark in b"[{") - (mark in b"]}")
            if depth == 1 and mark in b"[{":  # the array itself
                start = token.end()
                held.clear()
            elif depth == 0 or (depth == 1 and mark == _COMMA):
                held += block[start : token.start()][: room + 1 - len(held)]
                if mark == _COMMA or held.strip():
                    elements.append(bytes(held) if len(held) <= room else None)
                held.clear()
                start, passed = token.end(), 0
            if depth == 0:
                yield elements
                count += len(elements)
                if count < total:
                    what = f"contains {count:,} of the {total:,} documents found"
                    part.on_notice(f"{part.name}: {what}: request more rows")
                rest = b"".join(islice(chain([block[start:]], stream), MOST_BLOCKS))
                try:
                    orjson.loads(b'{"":' * around + b'""' + rest)
                except ValueError:
                    reason = "the text after the array is not read: write one object per line"
                    cut = "the object around the array is cut off, or is followed by text"
                    reason = cut if around else reason
                    raise RecordError(
                        f"{part.name}, at its end", reason, code="file-damaged"
                    ) from None
                return
        held += block[start:][: room + 1 - len(held)]
        passed += len(block)
        yield elements
        count += len(elements)
        if passed > most:
            raise without_end(part, most)
    if len(held) > room:
        yield [None]
    reason = "the file ends too early (the array is not closed)"
    raise RecordError(f"{part.name}, at its end", reason, code="file-damaged")
