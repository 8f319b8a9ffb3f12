"""The options of reading, and the check that makes a document or an error of each record."""

from __future__ import annotations

import codecs
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias
from uuid import UUID

import orjson

from neardup_solr import records
from neardup_solr.arguments import (
    MAX_DOC_BYTES,
    READING,
    in_bytes,
    listed,
    require_positive,
)
from neardup_solr.errors import ArgumentError, RecordError, SourceError
from neardup_solr.progress import ignore
from neardup_solr.records import EMPTY_ID, MAX_ID_BYTES, NOTHING, Document, Number, Run
from neardup_solr.text.packed import Packed

if TYPE_CHECKING:
    from neardup_solr.records import Places

# Readers yield errors as values, so that one bad record does not end the stream.
Record: TypeAlias = Document | RecordError
# What a reader gives: a record, or a run of documents.
Piece: TypeAlias = Record | Run


ROW: Final = ":row"  # the column of ids that numbers records
# Stands for an id until a record has its number: known by its identity, not by what it says.
NUMBERED: Final = "".join((":", "row"))
Guess: TypeAlias = Literal["none", "refuse", "number"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Options of reading a source.

    `id`, `text` and `keep` name columns; the id ":row" stands for the number of the record, from 1
    on. `guess` says what is done if nobody named the id and nothing looks like one: "refuse" the
    source, or "number" its records; the text of a document is that of its `text` columns
    joined by line breaks, without those that a record lacks. `source_format` is one of `FORMATS`,
    or None to go by the suffix; `delimiter` is the character between the columns of CSV and TSV;
    `encoding` is that of text, None for UTF-8 or what a byte order mark says; `lossy` replaces
    bytes that cannot be decoded by U+FFFD instead of refusing the record; a record with more text
    than `max_doc_bytes` of UTF-8 is refused, and never held as a whole if a format allows that.
    With `at_once` records of standard input are passed on as they come; else the first 1,000 are
    read before, of which most have to be usable.

    Raises ArgumentError if there is no such delimiter or encoding, `text` names no column, or
    `max_doc_bytes` is not positive.
    """

    id: str = "id"
    text: tuple[str, ...] = ("text",)
    keep: tuple[str, ...] = ()
    guess: Guess = "none"
    source_format: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    lossy: bool = False
    # What is made of a text takes some fifteen times its size while it is indexed.
    max_doc_bytes: int = in_bytes(MAX_DOC_BYTES)
    at_once: bool = False

    def __post_init__(self) -> None:
        if not self.text or len(set(self.text)) < len(self.text):
            raise ArgumentError("`text` has to name columns, each once", 'give text="title"')
        require_positive(max_doc_bytes=self.max_doc_bytes)
        if self.delimiter is not None:
            object.__setattr__(self, "delimiter", _delimiter(self.delimiter))
        if self.encoding is not None:
            object.__setattr__(self, "encoding", _encoding(self.encoding))

    @property
    def has_ids(self) -> bool:
        """True if ids are read. If not, records are numbered."""
        return self.id != ROW

    @property
    def is_in_runs(self) -> bool:
        """True if documents may come in runs: several columns of text, and kept ones, do not."""
        return not self.keep and len(self.text) == 1

    @property
    def on_invalid(self) -> str:
        """The name that Python's decoders have for the way in which `lossy` is handled."""
        return "replace" if self.lossy else "strict"


def reading_of(given: Mapping[str, Any], guess: Guess, *, at_once: bool = False) -> Reading:
    """Choose how a source is read, by the arguments of a verb that `nd.Source` has, too.

    What is None or not given is as `Reading` has it. `guess` counts if no `id` is named. Raises
    ArgumentError as `Reading` does.
    """
    asked = {name: given[name] for name in READING if given.get(name) is not None}
    asked |= {name: listed(asked[name]) for name in ("text", "keep") if name in asked}
    if "max_doc_bytes" in asked:
        asked["max_doc_bytes"] = in_bytes(asked["max_doc_bytes"], "max_doc_bytes")
    return Reading(guess="none" if "id" in asked else guess, at_once=at_once, **asked)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A source that is read: what the user named, where it is, and who is told about it."""

    given: str  # as the user wrote it, for errors on the whole
    name: str  # short, for the positions of records
    path: Path | None  # None: standard input
    reading: Reading
    on_progress: Callable[[int], None] | None = None
    on_notice: Callable[[str], None] = ignore
    begun: Iterator[bytes] | None = None  # its blocks, if the first ones were read already

    def error(self, reason: str, next_step: str) -> SourceError:
        return SourceError(self.given, reason, next_step)


def _delimiter(given: str) -> str:
    """Find the character between columns, or raise ArgumentError if it is not one character."""
    found = "\t" if given.lower() in ("\\t", "tab") else given  # it is hard to type in a shell
    if len(found) != 1 or found in '"\r\n\0\ufeff':
        step = "give one character, such as ; or a tab"
        raise ArgumentError(f"`delimiter` cannot be {given!r}", step)
    return found


def _encoding(given: str) -> str | None:
    """Look up an encoding under Python's name, None for UTF-8, or raise ArgumentError."""
    step = "give an encoding of text that Python knows, such as cp1252, latin-1 or shift_jis"
    try:
        name = codecs.lookup(given).name
        " ".encode(name)  # refuses what does not encode text, such as zlib
    except (LookupError, ValueError) as error:
        raise ArgumentError(f"`encoding` cannot be {given!r}", step) from error
    return None if name in ("utf-8", "utf-8-sig") else name


# What stands for a missing value in pandas, by the names of the types: it need not be imported.
MISSING: Final = frozenset({"NAType", "NaTType"})

MOST_BYTES: Final = 4  # of a character in UTF-8

# Characters of a record that its error carries along: many errors may be held at once.
MOST_CARRIED: Final = 2**20

NOT_UTF8: Final = "invalid UTF-8: "  # how the reason begins
NO_ID: Final = "no id"
HOLDS_NUL: Final = "holds a NUL byte: binary data, or UTF-16 without a byte order mark"


def step_for(reasons: Iterable[str], otherwise: str) -> str:
    """Choose a next step for records that all have one fault, else `otherwise`."""
    reasons = list(reasons)
    if all(reason.startswith((NO_ID, EMPTY_ID)) for reason in reasons):
        return f"{otherwise}, or give :row for `id` to number the records"
    if not all(reason.startswith((NOT_UTF8, HOLDS_NUL)) for reason in reasons):
        return otherwise
    if HOLDS_NUL in reasons:
        return "give a file of text; if it is UTF-16, give `encoding` as utf-16-le"
    return "give `encoding`, such as cp1252 (Excel on Windows)"


class Unusable(ValueError):
    """Reason why a value cannot be used, and how its record is written, without the place."""

    def __init__(self, reason: str, raw: bytes | None = None) -> None:
        super().__init__(reason)
        self.raw = raw


AGAIN: Final = "its id came before"


def came_before(document: Document, record: Mapping[str, Any] | None = None) -> RecordError:
    """Make the error for a document whose id came before. `record` is as its source has it."""
    where, id = document.position, document.id
    return RecordError(where, AGAIN, id, record=record, stage="check")


def unusable(position: str, problem: Unusable) -> RecordError:
    """The error for a record that could not even be taken apart."""
    return RecordError(position, str(problem), record=as_text(problem.raw))


def as_text(raw: bytes | str | None) -> str | None:
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
        return {name: _as_json(each) for name, each in columns.items()}
    except RecursionError:  # a list in a list, and so on a thousand times
        return None


def _as_json(value: Any) -> Any:
    return as_text(value) if type(value) is bytes else plain(value)


def number_records(found: Iterable[Piece]) -> Iterator[Piece]:
    """The same, in which records that came without an id have their number as one."""
    before = 0
    for piece in found:
        if isinstance(piece, Run):
            last = before + len(piece)
            if not len(piece.ids):
                ids = list(map(str, range(before + 1, last + 1)))
                piece = replace(piece, ids=ids, are_numbers=True)
            before = last
        else:
            before += 1
            if piece.id is NUMBERED:
                piece = _with_id(piece, Number(before))
        yield piece


def _with_id(piece: Record, id: str) -> Record:
    if isinstance(piece, Document):
        return replace(piece, id=id)
    where, reason = piece.position, piece.reason
    return RecordError(where, reason, id, record=piece.record, stage=piece.stage)


def one_by_one(found: Iterable[Piece]) -> Iterator[Record]:
    """The records of runs and records."""
    for piece in found:
        if isinstance(piece, Run):
            yield from piece.documents()
        else:
            yield piece


def record(
    position: str,
    id: object,
    text: object,
    *,
    reading: Reading,
    kept: Mapping[str, Any] = NOTHING,
) -> Record:
    """Check an id, a text and kept values: the document, or the error that says what is wrong.

    The text of several columns is a tuple of theirs.
    """
    try:
        good_id = _as_id(id, reading)
    except Unusable as problem:
        return RecordError(position, str(problem))
    try:
        good_text = _as_text(text, reading)
        good_kept = {name: _as_kept(name, value) for name, value in kept.items()} if kept else kept
        texts = text if type(text) is tuple else ()
        return Document(id=good_id, text=good_text, kept=good_kept, position=position, texts=texts)
    except Unusable as problem:
        return RecordError(position, str(problem), good_id)


def run(
    where: str,
    numbers: Sequence[int],
    ids: Sequence[Any],
    texts: Sequence[Any],
    begins: Places = (),
    sizes: Places = (),
    *,
    reading: Reading,
) -> Run | None:
    """Check many ids and texts at once, or return None if `record` has to say what is wrong.

    There has to be one at least, and no text may have lone surrogates. Without ids they are
    numbered later.
    """
    kinds = set(map(type, ids)) if len(ids) else {str}
    if kinds == {int}:
        ids = list(map(str, ids))
    if isinstance(texts, Packed):
        are_texts = texts.longest <= reading.max_doc_bytes
    else:
        most = reading.max_doc_bytes // MOST_BYTES
        are_texts = set(map(type, texts)) == {str} and max(map(len, texts)) <= most
    if not are_texts or kinds not in ({int}, {str}) or not _are_ids(ids):
        return None
    return Run(
        ids=ids,
        texts=texts,
        where=where,
        numbers=numbers,
        begins=begins,
        sizes=sizes,
        are_numbers=kinds == {int},
    )


def _are_ids(ids: Sequence[str]) -> bool:
    """Tell whether nothing is wrong with any id. Of ASCII, that is seen all at once."""
    if "".join(ids).isascii() and all(ids) and max(map(len, ids), default=0) <= MAX_ID_BYTES:
        return True
    return not any(map(records.id_problem, ids))


def _as_id(value: object, reading: Reading) -> str:
    if value is NUMBERED:
        return NUMBERED
    if type(value) is int:
        value = Number(value)
    if not isinstance(value, str):
        if value is None:
            raise Unusable(f"{NO_ID}: {reading.id!r} is missing or null")
        whole = isinstance(value, float) and value.is_integer()
        step = '; make whole numbers of the column, in pandas by .astype("Int64")' if whole else ""
        kind = _kind(value)
        raise Unusable(f"the id in {reading.id!r} is {kind}, not text or a whole number{step}")
    reason = records.id_problem(value)
    if reason is not None:
        raise Unusable(reason)
    return value


def _as_text(value: object, reading: Reading) -> str:
    if type(value) is tuple:
        value = _join_texts(value, reading)
    elif type(value) is not str:
        value = _one_text(value, reading.text[0])
    # Short texts need not be measured, nor copied.
    if (
        len(value) * MOST_BYTES > reading.max_doc_bytes
        and _utf8_bytes(value) > reading.max_doc_bytes
    ):
        raise Unusable(too_large(reading.max_doc_bytes))
    return value


def _join_texts(values: tuple[object, ...], reading: Reading) -> str:
    pairs = zip(values, reading.text, strict=True)
    texts = [_one_text(value, name) for value, name in pairs if value is not None]
    if not texts:
        names = " and ".join(map(repr, reading.text))
        raise Unusable(f"no text: {names} are missing or null")
    return "\n".join(texts)


def _one_text(value: object, name: str) -> str:
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return "\n".join(value)
    if not isinstance(value, str):
        raise Unusable(
            f"no text: {name!r} is missing or null"
            if value is None
            else f"the text in {name!r} is {_kind(value)}, not text"
        )
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
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"the number {value!r}"
    names = {bool: "true or false", dict: "an object"}
    name = type(value).__name__
    return names.get(type(value)) or f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def too_large(limit: int) -> str:
    """The reason for a record over `limit` bytes."""
    return f"too_large: more than {limit:,} bytes"


def decode(raw: bytes | None, reading: Reading) -> str:
    """Decode one record's UTF-8, or raise Unusable with the offset of the first bad byte.

    None stands for a record that was too large to be held.
    """
    if raw is None:
        raise Unusable(too_large(reading.max_doc_bytes))
    if b"\0" in raw:
        raise Unusable(HOLDS_NUL, raw)
    try:
        return raw.decode("utf-8", reading.on_invalid)
    except UnicodeDecodeError as error:
        if reading.encoding:  # it is decoded already; `lines` marks what could not be
            reason = f"invalid {reading.encoding}: bytes that are no character"
            raise Unusable(reason, raw) from error
        reason = f"{NOT_UTF8}byte 0x{raw[error.start]:02x} at offset {error.start} of the record"
        raise Unusable(reason, raw) from error


def unbox(value: Any) -> Any:
    """Make Python's own of a value of a library, and None of a missing one, such as NaN.

    Dates are left as they are, and so is what Python has no equivalent for.
    """
    kind = type(value)
    if kind is str or value is None or kind is int or kind is bool or kind is list or kind is bytes:
        return value
    if isinstance(value, float):
        return None if math.isnan(value) else float(value)
    if kind.__name__ in MISSING:
        return None
    if isinstance(value, str):  # numpy.str_, or an enum
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    if hasattr(value, "as_py"):  # a scalar of Arrow
        return unbox(value.as_py())
    if hasattr(value, "tolist") and hasattr(value, "dtype"):  # a scalar or an array of numpy
        return _of_numpy(value)
    return value


def _of_numpy(value: Any) -> Any:
    if value.dtype.kind not in "mM":
        return unbox(value.tolist())
    if getattr(value, "shape", ()):
        return [_of_numpy(part) for part in value]
    text = str(value)  # in ISO form; `tolist` would give a number of nanoseconds
    return None if text == "NaT" else text


def plain(value: Any) -> Any:
    """A value as JSON has it: dates in ISO form, decimals as text, NaN as None.

    What has no such form is left as it is.
    """
    value = unbox(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, list | tuple | set | frozenset):  # tuples are the entries of a map
        return [plain(part) for part in value]
    if isinstance(value, dict):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value) if value.is_finite() else None
    return str(value) if isinstance(value, timedelta | UUID | PurePath) else value
