"""How a source is read, and the check that makes a document or an error of each record."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import orjson

from neardup_solr import records
from neardup_solr.errors import RecordError, SourceError
from neardup_solr.records import NOTHING, Document
from neardup_solr.settings import ALL_FIELDS

# Readers yield errors as values, so that one bad record does not end the stream.
Record: TypeAlias = Document | RecordError


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How to read a source.

    `id`, `text` (one column, for now) and `keep` name columns (CSV, TSV, JSONL, Parquet);
    `source_format` is one of `FORMATS`, or None to go by the suffix; `lossy` replaces invalid
    UTF-8 by U+FFFD instead of refusing the record; a record with more text than `max_doc_bytes`
    of UTF-8 is refused.
    """

    id: str = "id"
    text: tuple[str, ...] = ("text",)
    keep: tuple[str, ...] = ()
    source_format: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    lossy: bool = False
    max_doc_bytes: int = 100 * 2**20

    @property
    def on_invalid(self) -> str:
        """The name that Python's decoders have for what `lossy` asks for."""
        return "replace" if self.lossy else "strict"


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A source that is read: what the user named, where it is, and whom to tell how far we are."""

    given: str  # as the user wrote it, for errors on the whole
    name: str  # short, for the positions of records
    path: Path | None  # None: standard input
    on_progress: Callable[[int], None] | None = None

    def error(self, reason: str, next_step: str) -> SourceError:
        return SourceError(self.given, reason, next_step)


class Unusable(ValueError):
    """Why a value cannot be used; whoever catches it adds where it stands."""


def record(
    position: str,
    id: object,
    text: object,
    *,
    reading: Reading,
    kept: Mapping[str, Any] = NOTHING,
) -> Record:
    """Check an id, a text and kept values: the document, or the error that says what is wrong."""
    try:
        good_id = _as_id(id, reading)
    except Unusable as problem:
        return RecordError(position, str(problem))
    try:
        good_text = _as_text(text, reading)
        good_kept = {name: _as_kept(name, value) for name, value in kept.items()} if kept else kept
        return Document(id=good_id, text=good_text, kept=good_kept, position=position)
    except Unusable as problem:
        return RecordError(position, str(problem), good_id)


def _as_id(value: object, reading: Reading) -> str:
    if type(value) is int:
        value = str(value)
    if not isinstance(value, str):
        raise Unusable(
            f"no id: {reading.id!r} is missing or null"
            if value is None
            else f"the id in {reading.id!r} is {_kind(value)}, not text or a whole number"
        )
    reason = records.id_problem(value)
    if reason is not None:
        raise Unusable(reason)
    return value


def _as_text(value: object, reading: Reading) -> str:
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        value = "\n".join(value)
    if not isinstance(value, str):
        raise Unusable(
            f"no text: {reading.text[0]!r} is missing or null"
            if value is None
            else f"the text in {reading.text[0]!r} is {_kind(value)}, not text"
        )
    # A character takes at most four bytes: short texts need not be measured, nor copied.
    if len(value) * 4 > reading.max_doc_bytes and _utf8_bytes(value) > reading.max_doc_bytes:
        raise Unusable(too_large(reading.max_doc_bytes))
    return value


def _as_kept(name: str, value: object) -> object:
    """A value as Solr stores it: text, numbers, true or false, and flat lists of those.

    Solr would take an object for an order to change the document ({"add": ...}) or for another
    document within it, and store a list within a list as Java prints it: both become their JSON.
    """
    if isinstance(value, dict):
        return _json_text(name, value)
    if isinstance(value, list):
        return [_json_text(name, part) if isinstance(part, dict | list) else part for part in value]
    return value


def _json_text(name: str, value: object) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError as error:  # orjson's own, for more than 254 levels
        raise Unusable(f"the column {name!r} cannot be kept as JSON ({error})") from error


def _utf8_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _kind(value: object) -> str:
    names = {bool: "true or false", float: f"the number {value!r}", dict: "an object"}
    return names.get(type(value), f"a {type(value).__name__}")


def too_large(limit: int) -> str:
    """The reason for a record over `limit` bytes."""
    return f"too_large: more than {limit:,} bytes"


def decoded(raw: bytes | None, reading: Reading) -> str:
    """Decode one record's UTF-8; raises Unusable, with the offset of the first bad byte.

    None stands for a record that was too large to be held.
    """
    if raw is None:
        raise Unusable(too_large(reading.max_doc_bytes))
    if b"\0" in raw:
        raise Unusable("holds a NUL byte: binary data, or UTF-16 without a byte order mark")
    try:
        return raw.decode("utf-8", reading.on_invalid)
    except UnicodeDecodeError as error:
        raise Unusable(
            f"invalid UTF-8: byte 0x{raw[error.start]:02x} at offset {error.start} of the record"
        ) from error


def check_keep(source: Opened, reading: Reading) -> None:
    """Raise SourceError where a column to keep has the name of a field of ours or of Solr's."""
    for name in reading.keep:
        if name in ALL_FIELDS:
            why = "the collection has a field of that name"
        elif name.startswith("_"):
            why = 'names that start with "_" belong to Solr'
        else:
            continue
        raise source.error(
            f"the column {name!r} cannot be kept: {why}",
            "rename the column in the source, or leave it out of `keep`",
        )


def check_columns(source: Opened, columns: Sequence[str], reading: Reading) -> None:
    """Raise SourceError unless each column that is asked for is there exactly once."""
    for name in (reading.id, *reading.text, *reading.keep):
        if columns.count(name) == 1:
            continue
        problem = "appears twice" if name in columns else "is missing"
        shown = ", ".join(repr(column) for column in columns[:20]) or "none"
        raise source.error(
            f"the column {name!r} {problem}; those there are: {shown}",
            "name the right ones with `id`, `text` and `keep`",
        )
