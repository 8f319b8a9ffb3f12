"""Documents of records, many at once as a run, and the errors of records that make none."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from types import NoneType
from typing import Any, Final

import numpy as np
import orjson

from neardup_solr import records
from neardup_solr.errors import RecordError
from neardup_solr.records import EMPTY_ID, MAX_ID_BYTES, NOTHING, Document, Number, Run, characters
from neardup_solr.sources.column import Columns, dig, list_fields, list_near
from neardup_solr.sources.encodings import SAMPLE, guess_encoding
from neardup_solr.sources.json_layouts import step_for_layout
from neardup_solr.sources.part import NUMBERED, Piece, Record, SourcePart
from neardup_solr.sources.reading import Reading
from neardup_solr.sources.values import (
    CHARACTER_BYTES,
    HOLDS_NUL,
    LOST,
    NOT_UTF8,
    STRICT,
    Unusable,
    as_kept,
    describe_kind,
    plain,
    read_id,
    read_kept,
    read_value,
    replace_lost,
    spell,
    too_large,
)
from neardup_solr.text.packed import Packed, make_room, size_of

MOST_CARRIED: Final = 2**20  # characters of a record that its error carries along: many are held
NO_ID, NO_TEXT = "no id", ("no text", "the text in")  # how the reasons begin
NO_TEXT_FILE: Final = "not text"  # in the reason for a file that is something else
AGAIN: Final = "its id came before"
# What is read first, to see whether the source is of that format at all.
FIRST_RECORDS: Final = 1_000
FIRST_CHARACTERS: Final = 2**24
PLAIN: Final = {str, int, float, bool, NoneType}  # types of values that are neither odd nor rare


def make_run(
    where: str, numbers: Sequence[Any], ids: Sequence[Any], parts: Sequence[Sequence[Any]],
    kept: Mapping[str, Sequence[Any]] = NOTHING, *, reading: Reading,
) -> Run | None:  # fmt: skip
    """Check many records at once, or return None if `make_document` has to say what is wrong.

    `parts` are the columns of text; none of them may have lone surrogates, and at least one record
    is needed. Without ids they are numbered later.
    """
    kinds = set(map(type, ids)) if len(ids) and not isinstance(ids, Packed) else {str}
    if float in kinds:
        ids = list(map(records.as_whole, ids))
        kinds = set(map(type, ids))
    if kinds == {int}:
        ids = list(map(str, ids))
    if kinds not in ({int}, {str}) or not _are_ids(ids):
        return None
    if reading.strip_html:
        parts, kept = _strip_columns(parts, kept, reading)
    texts = parts[0] if len(parts) == 1 else _join_columns(parts)
    if texts is None or not _are_texts(texts, reading.room()):
        return None
    good = {name: _keep_column(name, values, reading) for name, values in kept.items()}
    if reading.lossy:
        values = chain(ids, texts, *(values or () for values in good.values()))
        if any(LOST.search(value) for value in values if isinstance(value, str)):
            return None
    columns = {name: values for name, values in good.items() if values is not None}
    if len(columns) < len(kept):
        return None
    return Run(
        ids=ids, texts=texts, where=where, numbers=numbers, are_numbers=kinds == {int},
        kept=columns, parts=parts if len(parts) > 1 else (),
    )  # fmt: skip


def _strip_columns(
    parts: Sequence[Sequence[Any]], kept: Mapping[str, Sequence[Any]], reading: Reading
) -> tuple[list[list[Any]], dict[str, Sequence[Any]]]:
    """Read the columns of text, also those that are kept, as a browser shows them."""
    from neardup_solr.sources.html_text import strip_html

    columns = {
        name: [*map(strip_html, values)] if name in reading.text else values
        for name, values in kept.items()
    }
    return [[*map(strip_html, part)] for part in parts], columns


def _are_texts(texts: Sequence[Any], room: int) -> bool:
    """Tell whether all are texts that surely have room."""
    if isinstance(texts, Packed):
        return texts.longest <= room
    most = room // CHARACTER_BYTES
    return set(map(type, texts)) == {str} and max(map(len, texts)) <= most


def _join_columns(parts: Sequence[Sequence[Any]]) -> Sequence[str] | None:
    """Join the texts of several columns, None if any needs a closer look, or a record has none."""
    from neardup_solr.kernel.text_lines import join_texts

    packed = [part for part in parts if isinstance(part, Packed)]
    if len(packed) == len(parts) and join_texts.is_stored():
        joined = packed[0]
        for more in packed[1:]:
            room = make_room(joined.size + more.size + len(more), len(more))
            columns = (joined.data, joined.bounds, more.data, more.bounds)
            join_texts(*columns, room.data, room.bounds)
            joined = room
        return joined
    values = []
    for part in parts:
        kinds = set(map(type, part)) if not isinstance(part, Packed) else {str}
        if not kinds <= PLAIN:
            return None
        values.append(list(part) if kinds <= {str, NoneType} else list(map(spell, part)))
    rows = [[text for text in row if text is not None] for row in zip(*values, strict=True)]
    return ["\n".join(row) for row in rows] if all(rows) else None


def _keep_column(name: str, values: Sequence[Any], reading: Reading) -> Sequence[Any] | None:
    """Make what is kept of a column, None if a value cannot be kept."""
    if isinstance(values, Packed):
        return values
    try:
        kinds = set(map(type, values))
        if kinds <= PLAIN:
            if float in kinds:
                values = list(map(plain, values))
            orjson.dumps(values, option=STRICT)
            return values
        kept = [read_kept(name, value, reading) for value in values]
        return [as_kept(name, value) for value in kept]
    except (TypeError, Unusable):
        return None


def _are_ids(ids: Sequence[str]) -> bool:
    """Tell whether nothing is wrong with any id. Of ASCII, that is seen all at once."""
    if isinstance(ids, Packed):
        sizes = np.diff(ids.bounds)
        return bool(sizes.min(initial=1) and sizes.max(initial=0) <= MAX_ID_BYTES)
    if "".join(ids).isascii() and all(ids) and max(map(len, ids), default=0) <= MAX_ID_BYTES:
        return True
    return not any(map(records.id_problem, ids))


def from_columns(
    where: str, first: int, parts: Sequence[Sequence[Any]], columns: Columns, reading: Reading
) -> Iterator[Piece]:
    """Make documents of rows, numbered from `first` on. `parts` has their values by column."""
    numbers = range(first, first + len(parts[0]))
    fields = [[dig(value, path) for value in parts[at]] for at, path in columns.within]
    ids: Sequence[Any] = () if columns.id is None else [*parts, *fields][columns.id]
    if not isinstance(ids, Packed):
        ids = list(ids)
    texts = [_without_nan([*parts, *fields][at]) for at in columns.text]
    kept = {name: [*parts, *fields][at] for name, at in columns.keep}
    if len(numbers):
        run = make_run(where, numbers, ids, texts, kept, reading=reading)
        if run is not None and are_unicode(run.texts):
            yield run
            return
    for number, row in zip(numbers, zip(*parts, strict=True), strict=True):
        yield from_row(f"{where}{number}", row, columns, reading)


def _without_nan(values: Sequence[Any]) -> Sequence[Any]:
    if isinstance(values, Packed) or float not in set(map(type, values)):
        return values
    return [None if value != value else value for value in values]


def are_unicode(texts: Sequence[str]) -> bool:
    """Tell whether no text has lone surrogates."""
    return isinstance(texts, Packed) or all(map(_is_unicode, texts))


def _is_unicode(text: str) -> bool:
    """Tell whether a text has no lone surrogates."""
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False


def from_row(position: str, row: Sequence[Any], columns: Columns, reading: Reading) -> Record:
    """Make a document of a row, whose values are as a library has them."""
    row, values = columns.spread(row), row
    try:
        id, text = columns.id_of(row), row[columns.text[0]]
        if type(id) is not str or not id.isascii():
            id = read_id(id, reading)
        if len(columns.text) > 1:
            text = tuple(read_value(row[at], reading) for at in columns.text)
        elif type(text) is not str or not text.isascii():
            text = read_value(text, reading)
        kept = _kept(row, columns, reading) if columns.keep else NOTHING
        record = make_document(position, id, text, reading=reading, kept=kept)
    except Unusable as problem:
        record = RecordError(position, str(problem), code=problem.code)
    if type(record) is RecordError:
        record.record = as_columns(columns.names, values)
    return record


def _kept(row: Sequence[Any], columns: Columns, reading: Reading) -> dict[str, Any]:
    values = ((name, read_kept(name, row[at], reading)) for name, at in columns.keep)
    return {name: each for name, each in values if each is not None}


def make_document(
    position: str, id: object, text: object, *, reading: Reading,
    kept: Mapping[str, Any] = NOTHING,
) -> Record:  # fmt: skip
    """Make a document of an id, a text and kept values, or the error that says what is wrong.

    The text of several columns is a tuple of theirs.
    """
    if reading.lossy:
        id, text, kept = map(replace_lost, (id, text, kept))
    if reading.strip_html:
        from neardup_solr.sources.html_text import strip_html

        text = strip_html(text)
        kept = {n: strip_html(each) if n in reading.text else each for n, each in kept.items()}
    try:
        good_id = _as_id(id, reading)
    except Unusable as problem:
        return RecordError(position, str(problem), code=problem.code)
    try:
        good_text = _as_text(text, reading)
        good_kept = {name: as_kept(name, value) for name, value in kept.items()} if kept else kept
        texts = text if type(text) is tuple else ()
        return Document(id=good_id, text=good_text, kept=good_kept, position=position, texts=texts)
    except Unusable as problem:
        return RecordError(position, str(problem), good_id, code=problem.code)


def _as_id(value: object, reading: Reading) -> str:
    if value is NUMBERED:
        return NUMBERED
    if type(value) is int:
        value = Number(value)
    if not isinstance(value, str):
        if value is None:
            raise Unusable(f"{NO_ID}: {reading.id!r} is missing or null", code="id-missing")
        is_rounded = isinstance(value, float) and value.is_integer()
        step = "; floats this large are rounded: write whole numbers or strings" * is_rounded
        kind = describe_kind(value)
        problem = f"the id in {reading.id!r} is {kind}, not text or a whole number{step}"
        raise Unusable(problem, code="id-invalid")
    reason = records.id_problem(value)
    if reason is not None:
        raise Unusable(reason, code=records.code_of_id(reason))
    return value


def _as_text(value: object, reading: Reading) -> str:
    if type(value) is tuple:
        value = _join_texts(value, reading)
    elif type(value) is not str:
        value = _one_text(value, reading.text[0])
    # Short texts need not be measured, nor copied.
    most = reading.room()
    if len(value) > most or (len(value) * CHARACTER_BYTES > most and len(value.encode()) > most):
        raise Unusable(too_large(most), code="record-too-large")
    return value


def _join_texts(values: tuple[object, ...], reading: Reading) -> str:
    """Join the values of several columns, where numbers, dates and objects are texts, too."""
    pairs = zip(map(spell, values), reading.text, strict=True)
    texts = [_one_text(as_kept(name, value), name) for value, name in pairs if value is not None]
    if not texts:
        names = " and ".join(map(repr, reading.text))
        raise Unusable(f"no text: {names} are missing or null", code="text-missing")
    return "\n".join(texts)


def _one_text(value: object, name: str) -> str:
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return "\n".join(value)
    if not isinstance(value, str):
        if value is None:
            raise Unusable(f"no text: {name!r} is missing or null", code="text-missing")
        reason = f"the text in {name!r} is {describe_kind(value)}, not text"
        raise Unusable(reason, code="value-invalid")
    return value


def step_for(errors: Iterable[RecordError], otherwise: str, others: Iterable[str] = ()) -> str:
    """Choose a next step for records that all have the same fault, else `otherwise`.

    `others` are texts of records that can be read.
    """
    errors = list(errors)
    if step := step_for_layout(errors):
        return step
    reasons = [error.reason for error in errors]
    if all(reason.startswith((NO_ID, EMPTY_ID)) for reason in reasons):
        number = "set `id` to :row to number the records"
        return f"{otherwise}, or {number}" if otherwise else number
    if all(", but the header has " in reason for reason in reasons):
        return "set `delimiter`, or put quotes around fields that contain it"
    if all(reason.startswith(("the id in ", "the text in ")) for reason in reasons):
        if all(_is_by_columns(error.record) for error in errors):
            return 'give an array of objects, as of to_json(orient="records") in pandas'
        if all(" is an object," in reason or " is a list," in reason for reason in reasons):
            return (
                "name columns of texts with `id` and `text`, or fields of objects, as in doc.text"
            )
        return otherwise
    if all(NO_TEXT_FILE in reason for reason in reasons):
        return "give files of text, or tables, or leave these out"
    if not all(reason.startswith((NOT_UTF8, HOLDS_NUL)) for reason in reasons):
        return otherwise
    records = [error.record or "" for error in errors]
    parts = ([each] if isinstance(each, str) else each.values() for each in records)
    lines = [" ".join(map(str, each)) for each in parts]
    if name := guess_encoding("\n".join(lines).encode("utf-8", "surrogateescape")[:SAMPLE]):
        if all(map(str.isascii, others)):
            return f"it appears to be {name}: set `encoding` to {name}"
        return f"they appear to be {name}, but others are UTF-8: write all of them in UTF-8"
    text = "give a text file; if it is UTF-16, set `encoding` to utf-16-le"
    return text if HOLDS_NUL in reasons else "set its `encoding`"


def _is_by_columns(record: object) -> bool:
    """Tell whether a record is a whole table by columns: all its values hold several."""
    return isinstance(record, dict) and all(isinstance(v, dict | list) for v in record.values())


def describe_error(error: RecordError) -> str:
    """Describe an error, with the fields of a record that lacks its id or its text."""
    if isinstance(error.record, dict) and error.reason.startswith((NO_ID, *NO_TEXT)):
        filled = {name: value for name, value in error.record.items() if value is not None}
        names = list(dict.fromkeys(list_fields([filled])))
        return f"{error}{list_near(error.reason, names)}"
    return str(error)


def came_before(document: Document, record: Mapping[str, Any] | None = None) -> RecordError:
    """Make the error for a document whose id came before. `record` is as its source has it."""
    position, id = document.position, document.id
    return RecordError(position, AGAIN, id, record=record, stage="check", code="id-repeated")


def unusable(position: str, problem: Unusable) -> RecordError:
    """Make the error for a record that could not even be taken apart."""
    return RecordError(position, str(problem), record=decode_raw(problem.raw), code=problem.code)


def decode_raw(raw: bytes | str | None) -> str | None:
    """Decode a record as it is written, or None if it is too long to be carried along.

    Bytes that are not UTF-8 stay what they are, as lone surrogates.
    """
    if raw is None or len(raw) > MOST_CARRIED:
        return None
    return raw if isinstance(raw, str) else raw.decode("utf-8", "surrogateescape")


def as_columns(names: Iterable[object], row: Iterable[Any]) -> dict[str, Any] | None:
    """Make a dict of a row, or None if it is too long to be carried along."""
    columns = {str(name): each for name, each in zip(names, row, strict=False) if name is not None}
    if records.characters(columns) > MOST_CARRIED:
        return None
    try:
        return {
            name: decode_raw(each) if type(each) is bytes else plain(each)
            for name, each in columns.items()
        }
    except RecursionError:  # a list in a list, and so on a thousand times
        return None


def first_line(error: Exception) -> str:
    """Take the first line of an error. Those of Arrow go on with places in its code."""
    return str(error).partition("\n")[0]


def notice_if_none(part: SourcePart, pieces: Iterator[Piece]) -> Iterator[Piece]:
    """Pass the records on, with a notice if none comes at all."""
    is_empty = True
    for piece in pieces:
        is_empty = False
        yield piece
    if is_empty:
        part.on_notice(f"{part.name} contains no records")


def require_most(part: SourcePart, pieces: Iterator[Piece], step: str) -> Iterator[Piece]:
    """Pass the records on, but raise SourceError if most of the first are bad."""
    first: deque[Piece] = deque()
    records = size = 0
    for piece in pieces:
        first.append(piece)
        records += len(piece) if isinstance(piece, Run) else 1
        size += _count_characters(piece)
        if records >= FIRST_RECORDS or size > FIRST_CHARACTERS:
            break
    bad = [piece for piece in first if isinstance(piece, RecordError)]
    if len(first) == 1 and bad:
        _refuse_damage(part, bad[0])
    if 2 * len(bad) > records:
        reason = f"{len(bad)} of the first {records} records cannot be used, the first being "
        good = (piece.text for piece in first if isinstance(piece, Document))
        step = step_for(bad, step, good)
        raise part.error(reason + describe_error(bad[0]), step, code="records-unusable")
    while first:  # each is let go at once, for they may be large
        yield first.popleft()
    yield from pieces


def _refuse_damage(part: SourcePart, error: RecordError) -> None:
    """Raise SourceError if the error of the first record is that the file is damaged."""
    if error.ends_source:
        reason = f"no record can be read: {error.reason}"
        raise part.error(reason, error.next_step, code=error.code)


def _count_characters(piece: Piece) -> int:
    if isinstance(piece, RecordError):
        return characters(piece.record)
    return len(piece.text) if isinstance(piece, Document) else size_of(piece.texts)


def require_some(part: SourcePart, pieces: Iterator[Piece], step: str) -> Iterator[Piece]:
    """Pass the records on, but raise SourceError at the end if none of them can be used."""
    first, count = None, 0
    for piece in pieces:
        yield piece
        if not isinstance(piece, RecordError):
            yield from pieces
            return
        first, count = first or piece, count + 1
    if first is not None:
        _refuse_damage(part, first)
        reason = f"none of its {count:,} records can be used, the first being "
        raise part.error(reason + describe_error(first), step, code="records-unusable")
