"""Errors of records: what each carries along, the next step, and when they are too many."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from neardup_solr import records
from neardup_solr.errors import RecordError
from neardup_solr.records import EMPTY_ID, Document, Run, characters
from neardup_solr.sources.column import list_fields, list_near
from neardup_solr.sources.encodings import SAMPLE, guess_encoding
from neardup_solr.sources.part import Piece, SourcePart
from neardup_solr.sources.values import HOLDS_NUL, NOT_UTF8, Unusable, plain
from neardup_solr.text.packed import size_of

MOST_CARRIED: Final = 2**20  # characters of a record that its error carries along: many are held
NO_ID, NO_TEXT = "no id", ("no text", "the text in")  # how the reasons begin
NO_TEXT_FILE: Final = "not text"  # in the reason for a file that is something else
AGAIN: Final = "its id came before"
# What is read first, to see whether the source is of that format at all.
FIRST_RECORDS: Final = 1_000
FIRST_CHARACTERS: Final = 2**24


def step_for(errors: Iterable[RecordError], otherwise: str) -> str:
    """Choose a next step for records that all have the same fault, else `otherwise`."""
    errors = list(errors)
    reasons = [error.reason for error in errors]
    if all(reason.startswith((NO_ID, EMPTY_ID)) for reason in reasons):
        number = "set `id` to :row to number the records"
        return f"{otherwise}, or {number}" if otherwise else number
    if all(", but the header has " in reason for reason in reasons):
        return "set `delimiter`, or put quotes around fields that contain it"
    if all(NO_TEXT_FILE in reason for reason in reasons):
        return "give files of text, or tables, or leave these out"
    if not all(reason.startswith((NOT_UTF8, HOLDS_NUL)) for reason in reasons):
        return otherwise
    records = [error.record or "" for error in errors]
    parts = ([each] if isinstance(each, str) else each.values() for each in records)
    lines = [" ".join(map(str, each)) for each in parts]
    if name := guess_encoding("\n".join(lines).encode("utf-8", "surrogateescape")[:SAMPLE]):
        return f"it appears to be {name}: set `encoding` to {name}"
    text = "give a text file; if it is UTF-16, set `encoding` to utf-16-le"
    return text if HOLDS_NUL in reasons else "set its `encoding`"


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
    if 2 * len(bad) > records:
        reason = f"{len(bad)} of the first {records} records cannot be used, the first being "
        step = step_for(bad, step)
        raise part.error(reason + describe_error(bad[0]), step, code="records-unusable")
    while first:  # each is let go at once, for they may be large
        yield first.popleft()
    yield from pieces


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
        reason = f"none of its {count:,} records can be used, the first being "
        raise part.error(reason + describe_error(first), step, code="records-unusable")
