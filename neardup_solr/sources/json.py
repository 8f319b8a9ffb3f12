"""Objects, each with its names of columns, as records: JSON, an object a line or in an array."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from operator import itemgetter
from typing import Any, Final, TypeAlias, cast

import numpy as np
import orjson

from neardup_solr.errors import RecordError
from neardup_solr.records import NOTHING, as_whole
from neardup_solr.sources import lines
from neardup_solr.sources import record as rows
from neardup_solr.sources.record import Opened, Piece, Reading, Record, SourceTable, Unusable, run
from neardup_solr.text.json_keys import has_key_twice
from neardup_solr.text.shingles import SPARE, Packed, pack

# Its position, the object or what is wrong with it, and how it is written if that is at hand.
Object: TypeAlias = tuple[str, object, bytes | str]
_Columns: TypeAlias = tuple[Sequence[Any], Packed]  # ids and texts
_Part: TypeAlias = bytes | list[bytes | None] | None  # lines, elements, or a line too long

_HEAD: Final = 2**16
FIRST_OBJECTS: Final = 100  # that are looked at for their names
ENOUGH: Final = 2**20  # bytes of objects with names, after which no others are looked at
MANY: Final = 10_000  # objects, after which compiled code is worth loading


def open_json(source: Opened) -> SourceTable:
    """Open an object a line, or an array of objects. Blank lines are passed over."""
    room = 2 * source.reading.max_doc_bytes + 64 * 1024  # for escapes, and other columns
    source, around = _begun(source, room)
    is_array = around is not None
    reading = source.reading
    where = f"{source.name}, {'record' if is_array else 'line'} "
    parts: Iterator[_Part]
    if around is None:
        parts = lines.blocks_of_lines(source, room)
    else:
        parts = _lists_of_elements(source, room, *around)

    def numbered(first: int, raws: Iterable[bytes | None]) -> Iterator[tuple[int, bytes | None]]:
        for number, raw in enumerate(raws, first):
            if is_array or raw is None or raw.strip():
                yield number, raw

    def make(first: int, raws: Iterable[bytes | None]) -> Iterator[Record]:
        objects = (load(f"{where}{at}", raw, reading) for at, raw in numbered(first, raws))
        return from_objects(source, objects, reading)

    def split(part: _Part) -> list[bytes | None]:
        return part if isinstance(part, list) else lines.split_lines(part, room)

    if reading.guess == "number" and reading.has_ids:
        names, parts = _first_names(source, parts, split, room)
        reading = rows.choose_id(source, names, reading) if names else reading
    raws = chain.from_iterable(map(split, parts))

    def documents() -> Iterator[Piece]:
        if not reading.is_in_runs:  # a notice tells of columns that no object has
            yield from make(1, raws)
            return
        first = 1
        for part in parts:
            objects: _Columns | None = None
            if isinstance(part, bytes) and len(part) <= room and reading.has_ids and first > MANY:
                objects = _scan(part, reading)
            written = [] if objects else split(part)
            objects = objects or _read_objects(written, reading)
            numbers = range(first, first + len(objects[1] if objects else written))
            first = numbers.stop
            if objects and (piece := run(where, numbers, *objects, reading=reading)):
                yield piece
            else:
                yield from make(numbers.start, written or split(part))

    def parse(raw: bytes) -> dict[str, Any]:
        written = raw.decode("utf-8", reading.on_invalid)
        made = json.loads(written, object_pairs_hook=partial(_distinct, raw))
        if not isinstance(made, dict):
            raise ValueError("not a JSON object")
        return made

    return SourceTable(
        format="jsonl", reading=reading, documents=documents,
        records=((at, raw or b"") for at, raw in numbered(1, raws)), parse=parse, is_text=True,
    )  # fmt: skip


def _distinct(raw: bytes, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of its keys, or raise Unusable if one appears twice: which counts is unclear.

    `raw` is how the record is written.
    """
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Unusable(f"malformed JSON: the key {twice!r} appears twice", raw)
    return made


def _first_names(
    source: Opened, parts: Iterator[_Part], split: Callable[[_Part], list[bytes | None]], room: int
) -> tuple[list[str], Iterator[_Part]]:
    """List the names of the first objects, and return the parts to read from the first on.

    Objects are read whole, as a name may come last. Of a pipe, one has to be enough.
    """
    is_file = source.path is not None and source.path.is_file()
    names, looked, count, size = dict[str, None](), list[_Part](), 0, 0
    try:
        for part in parts:
            looked.append(part)
            for raw in split(part)[: FIRST_OBJECTS - count]:
                count, size = count + 1, size + len(raw or b"")
                with suppress(ValueError, TypeError):
                    names.update(dict.fromkeys(dict(parse_json(cast("bytes", raw)))))
            most = ENOUGH if names else room
            if count >= FIRST_OBJECTS or size > most or (names and not is_file):
                break
    except RecordError as error:
        parts = lines.fail(error)
    return list(names), chain(looked, parts)


def _begun(source: Opened, room: int) -> tuple[Opened, tuple[int, int] | None]:
    """Find where an array begins, and read the source from there on. Lines of objects have none.

    A first line is read whole if it is no larger than `room`. Return the number of objects around
    the array, and of the documents that these say were found.
    """

    def has_first(head: bytes) -> bool:
        text = head.lstrip()
        return bool(text) and (not text.startswith(b"{") or b"\n" in text or len(text) > room)

    def has_next(head: bytes) -> bool:
        return bool(head.lstrip().partition(b"\n")[2].strip()) or len(head) > room

    head, source = lines.begun(source, has_first)
    first = head.lstrip().partition(b"\n")[0]
    if first.startswith(b"["):
        return source, (0, 0)
    if not first.startswith(b"{"):
        return source, None
    columns = {source.reading.id, *source.reading.text}
    if is_whole := first.rstrip().endswith(b"}"):
        if not _find_array(first, columns, is_whole)[0] and b'"error"' not in first:
            return source, None
        head, source = lines.begun(source, has_next)
        if head.lstrip().partition(b"\n")[2].strip():
            return source, None
    for most in (_HEAD, room):
        head, source = lines.begun(source, partial(_is_longer, most))
        path, start = _find_array(head, columns, is_whole)
        if path:
            break
    _refuse_error(source, head)
    name = ".".join(path)
    if path and path[-1].lower() in LISTS.split() and "groups" not in path:
        source.on_notice(f"{source.name}: using the records in {name!r}")
        totals = _TOTAL.findall(head[:start])
        stream = chain([head[start:]], islice(source.begun or (), 1, None))
        return replace(source, begun=stream), (len(path), int(totals[-1]) if totals else 0)
    if first.strip() == b"{":
        step = "give an array of objects, or one object per line"
        step = f"{step}, for example with: jq -c '.{name}[]'" if path else step
        step = "query Solr with group.main=true" if "grouped" in path else step
        raise source.error("is one JSON object on several lines", step)
    return source, None


def _is_longer(most: int, head: bytes) -> bool:
    return len(head) > most


def _refuse_error(source: Opened, head: bytes) -> None:
    """Refuse the answer of a server that is nothing but an error, with its message."""
    try:
        answer = orjson.loads(head)
    except ValueError:  # more than is read at first, as errors are not
        return
    error, needed = answer.get("error"), (source.reading.id, *source.reading.text)
    if isinstance(error, Mapping) and not {*answer}.intersection(needed):
        texts = (error.get(name) for name in ("msg", "message", "reason", "trace"))
        message = next((text for text in texts if isinstance(text, str)), None)
        if message and not any(name.startswith("error.") for name in needed):
            reason = f"is an error message from a server: {message.partition(chr(10))[0]}"
            raise source.error(reason, "correct the query and save the response again")


def _find_array(head: bytes, columns: Collection[str], is_whole: bool) -> tuple[list[str], int]:
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


def from_objects(source: Opened, objects: Iterable[Object], reading: Reading) -> Iterator[Record]:
    """Make documents of objects, with a notice at the end on columns that none of them has."""
    several = len(reading.text) > 1
    id_name, text_name = reading.id, reading.text[0]
    unseen = {*reading.text, *reading.keep} if several or reading.keep else set()
    for position, item, raw in objects:
        if type(item) is not dict:
            if not isinstance(item, RecordError):
                item = RecordError(position, "not a JSON object", record=rows.decode_raw(raw))
            yield item
            continue
        if unseen:
            unseen = {name for name in unseen if rows.dig(item, name, rows.LACKING) is rows.LACKING}
        id = item[id_name] if id_name in item else rows.dig(item, id_name)
        id = id if reading.has_ids else rows.NUMBERED
        if type(id) is float and raw:
            id = as_whole(rows.dig(_load_exactly(raw), id_name))
        text: object
        if several:
            text = tuple(rows.dig(item, name) for name in reading.text)
        else:
            text = item[text_name] if text_name in item else rows.dig(item, text_name)
        values = ((name, rows.dig(item, name)) for name in reading.keep)
        kept = {name: value for name, value in values if value is not None} or NOTHING
        made = rows.record(position, id, text, reading=reading, kept=kept)
        if kept and raw and (name := _find_rounded(kept, item, raw)):
            reason = f"the column {name!r} contains a whole number larger than 64 bits"
            made = RecordError(position, reason)
        if type(made) is RecordError:
            made.record = _original(item, raw)
        yield made
    if unseen:
        names = " or ".join(map(repr, sorted(unseen)))
        source.on_notice(f"{source.name}: no record has a column {names}")


def _load_exactly(raw: bytes | str) -> dict[str, Any]:
    """Parse an object with whole numbers as text: orjson makes floats of those over 64 bits."""
    try:
        return dict(json.loads(raw, parse_int=str))
    except RecursionError:
        return {}


def _find_rounded(kept: Mapping[str, Any], item: dict[str, Any], raw: bytes | str) -> str | None:
    """Find a kept column with a whole number over 64 bits, of which orjson made a float."""
    for name, value in kept.items():
        parts = value if type(value) is list else [value]
        if any(type(part) is float and abs(part) >= 2**63 for part in parts):
            written = rows.dig(_load_exactly(raw), name)
            pairs = zip(parts, written if type(written) is list else [written], strict=False)
            if any(type(part) is float and type(text) is str for part, text in pairs):
                return name
    return None


def _original(item: dict[str, Any], raw: bytes | str) -> dict[str, Any] | str | None:
    """Parse an object as its source has it. Whole numbers over 64 bits are floats in `item`."""
    if not raw:
        return rows.as_columns(item.keys(), item.values())
    written = rows.decode_raw(raw)
    try:
        return written and dict(json.loads(written))
    except (RecursionError, ValueError):  # deeper, or with a longer number, than Python reads
        return written


def _scan(block: bytes, reading: Reading) -> _Columns | None:
    """Read ids and texts of plain objects in lines, or None if one is not plain."""
    from neardup_solr.kernel.json_lines import scan_objects

    try:
        block.decode()
    except UnicodeDecodeError:
        return None
    codes = np.frombuffer(block if block.endswith(b"\n") else block + b"\n", np.uint8)
    texts, names = np.empty(len(codes) + SPARE, np.uint8), np.empty(len(codes), np.uint8)
    bounds = np.empty(1 + np.count_nonzero(codes == _NEWLINE), np.uint64)
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
    return partial(rows.dig, name=name) if "." in name else itemgetter(name)


def load(position: str, raw: bytes | None, reading: Reading) -> Object:
    """Parse an element, or make the error that says what is wrong with it.

    Invalid UTF-8 is another error than malformed JSON, or read anyway if lossy.
    """
    if raw is None:
        return position, RecordError(position, rows.too_large(reading.max_doc_bytes)), b""
    reason = ""
    try:
        try:
            item = parse_json(raw)
        except ValueError as error:
            reason = f"malformed JSON ({error})"
            raw = rows.decode(raw, reading).encode()
            if reading.lossy:
                raw = _ESCAPE.sub(lambda each: rb"\ufffd" if each["lone"] else each[0], raw)
            item = parse_json(raw)
        if type(item) is not dict or not has_key_twice(item, raw):
            return position, item, raw
        reason = "malformed JSON: a key appears twice"
        json.loads(raw, object_pairs_hook=partial(_distinct, raw), parse_int=str)
    except Unusable as problem:
        return position, rows.unusable(position, problem), b""
    except (ValueError, RecursionError):
        pass  # for the reason above
    return position, RecordError(position, reason, record=rows.decode_raw(raw)), b""


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


# Usual names of the list of records within an answer.
LISTS: Final = "docs hits data results items records rows documents entries features nodes value"
MOST_BLOCKS: Final = 256  # behind an array
_ELEMENT: Final = "[]"
_TOTAL: Final = re.compile(rb'"(?:numFound|total|value)"\s*:\s*(\d+)')
_PART: Final = re.compile(rb'"([^"\\]*(?:\\.[^"\\]*)*)(?:"(\s*:)?|\\?\Z)|[\[\]{}]', re.DOTALL)
_OBJECTS: Final = re.compile(rb"\s*(?:[{\]]|\Z)")  # how a list of objects, or of none, goes on
_QUOTE, _COMMA, _NEWLINE = b'",\n'
# A string, or a number that JSON does not have.
_NOT_FINITE: Final = re.compile(
    rb'"[^"\\]*(?:\\.[^"\\]*)*"|(?<![\w.])[-+]?(?:NaN|Inf(?:inity)?)(?![\w.])',
    re.DOTALL | re.IGNORECASE,
)
# What begins with a backslash: a surrogate without another half is `lone`.
_ESCAPE: Final = re.compile(
    rb"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(?P<lone>u[dD][89a-fA-F]..)|.)"
)
# A string is a token, which may go on in the next block; then its closing quote is missing.
_STRING_END: Final = re.compile(rb'[^"\\]*(?:\\.[^"\\]*)*("?)', re.DOTALL)
_TOKEN: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*("?)|[\[\]{},]', re.DOTALL)


def _lists_of_elements(
    source: Opened, room: int, around: int, total: int
) -> Iterator[list[bytes | None]]:
    """Split a JSON array into its elements as they are written, as many as come in a block.

    None stands for an element of more than `room` bytes. A notice says if there are fewer than in
    `total`. Raises RecordError if the array, or the objects `around` it, do not end, or if
    something follows.
    """
    count = 0
    most, passed = lines.most_passed_over(source, room), 0
    held, depth = bytearray(), 0  # of an element that is too large, one byte more than may be
    in_string, escaped = False, 0  # bytes of the next block after a backslash
    stream = lines.blocks(source)
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
                    source.on_notice(f"{source.name}: {what}: request more rows")
                rest = b"".join(islice(chain([block[start:]], stream), MOST_BLOCKS))
                try:
                    orjson.loads(b'{"":' * around + b'""' + rest)
                except ValueError:
                    reason = "the text after the array is not read: write one object per line"
                    cut = "the object around the array is cut off, or is followed by text"
                    reason = cut if around else reason
                    raise RecordError(f"{source.name}, at its end", reason) from None
                return
        held += block[start:][: room + 1 - len(held)]
        passed += len(block)
        yield elements
        count += len(elements)
        if passed > most:
            raise lines.without_end(source, most)
    if len(held) > room:
        yield [None]
    reason = "the file ends too early (the array is not closed)"
    raise RecordError(f"{source.name}, at its end", reason)
