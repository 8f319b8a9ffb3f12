"""Records of a source: the options by which it is read, its columns, and the check of each record.

Values come as libraries have them and become Python's, or what JSON has.
"""

from __future__ import annotations

import codecs
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import lru_cache
from importlib import import_module
from itertools import chain
from pathlib import Path, PurePath
from typing import Any, Final, Literal, TypeAlias
from uuid import UUID

import orjson

from neardup_solr import arguments, records
from neardup_solr.arguments import OneOrMore, OnRepeat, Source
from neardup_solr.errors import ArgumentError, RecordError, SourceError
from neardup_solr.progress import ignore
from neardup_solr.records import EMPTY_ID, MAX_ID_BYTES, NOTHING, Document, Number, Run
from neardup_solr.settings import ALL_FIELDS
from neardup_solr.sources import magic
from neardup_solr.text.shingles import Packed

# Readers yield errors as values, so that a bad record does not end the stream.
Record: TypeAlias = Document | RecordError
# What a reader yields: a record, or a run of documents.
Piece: TypeAlias = Record | Run

ROW: Final = ":row"  # the column of ids that numbers records
# Stands for an id until a record has its number: recognized by its identity, not by its letters.
NUMBERED: Final = "".join((":", "row"))
ID, TEXT = "id", "text"  # what the columns are called in a format without names
ROWS_BELOW: Final = 20  # a header, one of which may be the header itself
SHOWN: Final = 10  # names in a message
MANY: Final = 100  # names of an object, which are not held in memory
DEEPEST: Final = 5  # of fields in a message
LACKING: Final = object()
MOST_BYTES: Final = 4  # of a character in UTF-8
MOST_CARRIED: Final = 2**20  # characters of a record that its error carries along: many are held

NEEDS_FORMATS: Final = 'install it with: pip install "neardup-solr[formats]"'
NOT_UTF8: Final = "invalid UTF-8: "  # how the reason begins
NO_ID, NO_TEXT = "no id", ("no text", "the text in")  # how the reasons begin
NO_TEXT_FILE: Final = "not text"  # in the reason for a file that is something else
HOLDS_NUL: Final = "holds a NUL byte: binary data, or UTF-16 without a byte order mark"
AGAIN: Final = "its id came before"

# What JSON does not have is refused, rather than written as an object.
_STRICT: Final = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_SUBCLASS
# What stands for a missing value in pandas, by the names of the types: it need not be imported.
MISSING: Final = frozenset({"NAType", "NaTType"})
LOST: Final = re.compile("[\0\ud800-\udfff]")  # what `lossy` replaces
_LIKE_ID: Final = re.compile(r"(?<![a-z])(ids?|uuid|guid|identifier|key|nr)(?![a-z])")
Guess: TypeAlias = Literal["none", "refuse", "number"]
Objects: TypeAlias = Sequence[Mapping[Any, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Options of reading a source.

    `id`, `text` and `keep` name columns; the id ":row" stands for the number of the record, from 1
    on. `guess` says what is done if nobody named the id and no column looks like it: "refuse" the
    source, or "number" its records; the text of a document is that of its `text` columns
    joined by line breaks, without those that a record lacks. `source_format` is in `FORMATS`,
    or None to go by the suffix; `delimiter` is the character between the columns of CSV and TSV;
    `encoding` is that of text, None for UTF-8 or what a byte order mark says; `skip_rows` are above
    the header of a table; `sheet` names that of Excel, None for the first; `lossy` replaces
    what is no character by U+FFFD instead of refusing the record; a record with more text
    than `max_doc_bytes` of UTF-8 is refused, and never held as a whole if a format allows that.
    With `at_once` records of standard input are passed on as they come; else the first 1,000 are
    read before, of which most have to be usable. `on_repeat` says which record counts if an id
    comes again.

    Raises ArgumentError if delimiter or encoding cannot be, `text` names no column, or
    `max_doc_bytes` is not positive.
    """

    id: str = "id"
    text: tuple[str, ...] = ("text",)
    keep: tuple[str, ...] = ()
    guess: Guess = "none"
    source_format: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    skip_rows: int = 0
    sheet: str | None = None
    lossy: bool = False
    # What is made of a text takes some fifteen times its size while it is indexed.
    max_doc_bytes: int = arguments.in_bytes(arguments.MAX_DOC_BYTES)
    at_once: bool = False
    on_repeat: OnRepeat | None = None

    def __post_init__(self) -> None:
        if not self.text or len(set(self.text)) < len(self.text):
            raise ArgumentError("`text` must name columns, each only once", 'give text="title"')
        arguments.require_positive(max_doc_bytes=self.max_doc_bytes)
        arguments.require(
            self.skip_rows >= 0, f"`skip_rows` cannot be {self.skip_rows}", "give 0 or more"
        )
        if self.delimiter is not None:
            object.__setattr__(self, "delimiter", _delimiter(self.delimiter))
        if self.encoding is not None:
            object.__setattr__(self, "encoding", _encoding(self.encoding))

    def as_record(self, document: Document) -> Mapping[str, object]:
        """Name the values of a document as its source does, joined texts by the first column."""
        return {self.id: document.id, self.text[0]: document.text, **document.kept}

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


def reading_of(
    source: Any, guess: Guess, *, id: str | None = None, text: OneOrMore | None = None,
    keep: OneOrMore | None = None, at_once: bool = False,
) -> tuple[Any, Reading]:  # fmt: skip
    """Return a source without its `Source`, and how it is read.

    The columns are those of the `Source`, or else `id` and `text`, or else the usual ones. `guess`
    counts if no id is named. Raises ArgumentError as `Reading` does.
    """
    written = source if isinstance(source, Source) else Source(())
    id = id if written.id is None else written.id
    text = text if written.text is None else written.text
    dialect = {name: getattr(written, name) for name in arguments.DIALECT}
    dialect["max_doc_bytes"] = arguments.in_bytes(written.max_doc_bytes, "max_doc_bytes")
    reading = Reading(
        id="id" if id is None else id, text=("text",) if text is None else arguments.listed(text),
        keep=arguments.listed(keep or ()), guess=guess if id is None else "none", at_once=at_once,
        **dialect,
    )  # fmt: skip
    return written.source if source is written else source, reading


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A source that is read: what the user named, where it is, and who hears about it."""

    label: str  # as the user wrote it, for errors on the whole
    name: str  # short, for the positions of records
    path: Path | None  # None: standard input
    reading: Reading
    format: str | None = None  # None: standard input has to tell it
    on_progress: Callable[[int], None] | None = None
    on_notice: Callable[[str], None] = ignore
    begun: Iterator[bytes] | None = None  # its blocks, if the first ones were read already
    within: str = ""  # its path in the folder, or its name among several files

    def error(self, reason: str, next_step: str) -> SourceError:
        return SourceError(self.label, reason, next_step)

    def require(self, format: str, library: str) -> Any:
        """Import the library that a format needs, or raise SourceError."""
        try:
            return import_module(library)
        except ImportError as error:
            reason = f"{format} needs the library {library}"
            raise self.error(reason, NEEDS_FORMATS) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceTable:
    """A source that is open: its columns, its documents, and its records as they are written.

    Either `documents` or `records` can be read, once. There are as many records as documents and
    errors, in the same order; each comes with its number, and is None where the source is damaged.
    `parse` gives its values, by name or in the order of `names` (None if each record has others),
    and raises ValueError if it cannot be taken apart. If `is_text`, a record is its bytes without
    the line break. `above` are the lines above the header, which is `head`; `delimiter` stands
    between the columns; the file has that `encoding` and ends lines by `newline`.
    `schema` is that of a table of Arrow, of which a record is a batch and the
    place of a row in it. `reading` has the ids that were chosen.
    """

    format: str
    reading: Reading
    documents: Callable[[], Iterator[Piece]]
    records: Iterator[tuple[int, Any]]
    parse: Callable[[Any], Sequence[Any] | dict[str, Any]]
    is_text: bool = False
    above: bytes = b""
    head: bytes = b""
    delimiter: str = ","
    encoding: str = "utf-8"
    newline: str = "\n"
    names: Sequence[Any] | None = None
    schema: Any = None

    def row(self, record: Any) -> dict[Any, Any]:
        """Take a record apart into its values by column, or raise ValueError."""
        values = self.parse(record)
        if isinstance(values, dict):
            return values
        row = dict(zip(self.names or (), values, strict=True))
        if list(self.names or ()).count("") > 1:  # which mostly are empty cells behind the header
            cells = enumerate(zip(self.names or (), values, strict=True), 1)
            row = {name or f"column {at}": value for at, (name, value) in cells if name or value}
        return row

    def is_apart(self, record: Any) -> bool:
        """Tell whether a record, which may be None, can be taken apart."""
        try:
            return record is not None and bool(self.row(record))
        except (ValueError, RecursionError):
            return False

    def text_of(self, record: Any) -> str | None:
        """Decode a record that cannot be taken apart. Bytes that are no text are escaped."""
        if isinstance(record, tuple):  # of a part
            part: SourceTable = record[0]
            return part.text_of(record[1])
        raw: bytes = record or b""
        return raw.removesuffix(b"\r").decode("utf-8", "backslashreplace") or None


def _delimiter(name: str) -> str:
    """Find the character between columns, or raise ArgumentError if it is no character."""
    delimiter = "\t" if name.lower() in ("\\t", "tab") else name  # it is hard to type in a shell
    if len(delimiter) != 1 or delimiter in '"\r\n\0\ufeff':
        step = "give one character, such as ; or a tab"
        raise ArgumentError(f"`delimiter` cannot be {name!r}", step)
    return delimiter


def _encoding(label: str) -> str | None:
    """Look up an encoding under Python's name, None for UTF-8, or raise ArgumentError."""
    step = "give a text encoding that Python supports, such as cp1252, latin-1 or shift_jis"
    try:
        name = codecs.lookup(label).name
        " ".encode(name)  # refuses what does not encode text, such as zlib
    except (LookupError, ValueError) as error:
        raise ArgumentError(f"`encoding` cannot be {label!r}", step) from error
    return None if name in ("utf-8", "utf-8-sig") else name


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Places of the id, the text and what is kept in each row, the latter by the names to keep.

    `names` are those of all columns of a row; `id` is None if records are numbered. The places
    after those of a row are of fields `within` its columns, each by the place of that and a path.
    """

    names: tuple[object, ...]
    id: int | None
    text: tuple[int, ...]
    keep: tuple[tuple[str, int], ...]
    within: tuple[tuple[int, str], ...] = ()

    def id_of(self, row: Sequence[Any]) -> Any:
        """Take the id of a row, which may have to be numbered."""
        return NUMBERED if self.id is None else row[self.id]

    def spread(self, row: Sequence[Any]) -> Sequence[Any]:
        """Add the values within its columns to a row."""
        return [*row, *(dig(row[at], path) for at, path in self.within)] if self.within else row

    def needed(self) -> tuple[list[int], Columns]:
        """List the places of the columns that are needed, and the columns among these."""
        fields = range(len(self.names), len(self.names) + len(self.within))
        used = [*self.text, *(at for _, at in self.keep), *(at for at, _ in self.within)]
        used = used if self.id is None else [*used, self.id]
        places = sorted({*used}.difference(fields))
        at = {place: number for number, place in enumerate([*places, *fields])}
        return places, Columns(
            names=tuple(self.names[place] for place in places),
            id=None if self.id is None else at[self.id],
            text=tuple(at[place] for place in self.text),
            keep=tuple((name, at[place]) for name, place in self.keep),
            within=tuple((at[place], path) for place, path in self.within),
        )


def find_columns(
    source: Opened, names: Sequence[object], reading: Reading, rows: Callable[[], Objects] = list
) -> Columns:
    """Find the columns that a reading names, or fields within them, as doc.text is in doc.

    `rows` gives some of them, or what is like them, if their columns may have fields. Raises
    SourceError unless each name is that of a single column, or of a field.
    """
    within: list[tuple[int, str]] = []

    def at(name: str) -> int:
        places = matches(name, names)
        if len(places) == 1:
            return places[0]
        place, path = split_path(name, tuple(names))
        if path and not places and _have_field(rows(), name):
            within.append((place, path))
            return len(names) + len(within) - 1
        problem = _problem(name, [names[place] for place in places])
        raise source.error(
            f"{problem}{_list_names(name, list_fields(rows()) or names)}",
            "check its name"
            if name in reading.keep
            else "name the right ones with `id` and `text`"
            + (number_them(reading) if name == reading.id else ""),
        )

    reading = choose_id(source, names, reading)
    return Columns(
        names=tuple(names),
        id=at(reading.id) if reading.has_ids else None,
        text=tuple(map(at, reading.text)),
        keep=tuple((name, at(name)) for name in reading.keep),
        within=tuple(within),
    )


def dig(item: Any, name: str, lacking: Any = None) -> Any:
    """Take the value of a column of an object, or of a field within it, or `lacking` without one.

    Of a list, it is the list of those of its objects.
    """
    if type(item) is dict:
        if name in item:  # as most are, which is seen soonest
            return item[name]
    elif isinstance(item := unbox(item), list):
        if item and all(type(part) is tuple and len(part) == 2 for part in item):
            return dig(dict(item), name, lacking)  # a map of Arrow
        values = [dig(part, name, lacking) for part in item]
        lists = [value if type(value) is list else [value] for value in values]
        parts = (part for each in lists for part in each)
        return [part for part in parts if part is not None and part is not lacking] or lacking
    elif not isinstance(item, Mapping):
        return None if item is None else lacking
    place, path = split_path(name, names := tuple(item))
    value = item[names[place]] if place >= 0 else lacking
    return dig(value, path, lacking) if path else value


def split_path(name: str, names: tuple[object, ...]) -> tuple[int, str]:
    """Find the place of the longest column that begins a path, -1 for none, and the rest of it."""
    return (_split_path if len(names) <= MANY else _split_path.__wrapped__)(name, names)


@lru_cache(maxsize=1_024)
def _split_path(name: str, names: tuple[object, ...]) -> tuple[int, str]:
    for end in [*(at for at, sign in enumerate(name) if sign == "."), len(name)][::-1]:
        if len(places := matches(name[:end], names)) == 1:
            return places[0], name[end + 1 :]
    return -1, ""


def _have_field(rows: Objects, name: str) -> bool:
    """Tell whether a row has a field, or all lack the object that it would be in."""
    values = [dig(row, name, LACKING) for row in rows]
    has_value = any(value is not None and value is not LACKING for value in values)
    return has_value or (bool(values) and not any(value is LACKING for value in values))


def list_fields(values: Iterable[Any], before: str = "") -> list[str]:
    """List the paths of all fields within some objects, also those that are in lists."""
    fields: dict[str, list[Any]] = {}
    for value in map(unbox, values):
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, Mapping) and before.count(".") < DEEPEST:
                for name, each in part.items():
                    fields.setdefault(f"{before}{name}", []).append(each)
    nested = ((name, list_fields(parts, f"{name}.")) for name, parts in fields.items())
    return [each for name, inner in nested for each in inner or [name]]


PROSE = 6  # words of a name that is rather a text, if those below are no longer


def check_header(
    source: Opened, names: Sequence[Any], below: Iterable[tuple[int, Sequence[Any]]]
) -> None:
    """Refuse a header without the columns that are needed, if it is a title, or a record.

    `below` has the first rows below it, and how many rows are above each. Raises SourceError.
    """
    rows = [(above, strip_end(cells)) for above, cells in below]
    if has_columns(names, source.reading) or not rows or not names:
        return
    wide = [row for row in rows if len(row[1]) > 1]
    is_title = len(strip_end(names)) == 1 and len({len(cells) for _, cells in wide}) == 1
    headers = [row for row in rows if has_columns(row[1], source.reading)]
    headers = headers or (wide if is_title and len(wide) > 1 else [])
    if headers:
        above = headers[0][0]
        reason = f"its first line does not look like a header, but line {above + 1} does"
        step = f"if lines above the header are titles, set `skip_rows` to {above}"
        raise source.error(reason, step)
    are_records = all(str(cell).isdigit() for cell in (names[0], *rows[0][1][:1]))
    are_records = are_records and any(len(str(name).split()) > 2 for name in names)
    sizes = sorted(len(str(cells[0]).split()) for _, cells in rows if len(cells) == 1)
    is_text = len(names) == 1 and len(sizes) == len(rows)  # of a single column, as its first row
    is_long = is_text and len(str(names[0]).split()) >= max(PROSE, sizes[len(sizes) // 2] / 2)
    if are_records or is_long:
        reason = "has no header: its first line looks like a record"
        example = "text" if is_long else "id,text"
        raise source.error(reason, f"add the column names as the first line, such as {example}")


def strip_end(cells: Sequence[Any]) -> list[Any]:
    """List cells without empty ones at their end."""
    last = max((at for at, cell in enumerate(cells, 1) if str(cell or "").strip()), default=0)
    return list(cells[:last])


def choose_id(source: Opened, names: Iterable[object], reading: Reading) -> Reading:
    """Return the reading, by which records are numbered if none of the columns looks like an id.

    A notice says so. Without a guess, nothing changes.
    """
    names = list(names)
    if reading.guess != "number" or not reading.has_ids or matches(reading.id, names):
        return reading
    if any(isinstance(name, str) and is_like_id(name) for name in names):
        return reading
    source.on_notice(f"{source.name} has no column of ids: its records are numbered from 1")
    return replace(reading, id=ROW)


def number_them(reading: Reading) -> str:
    """Write the end of a next step: how to do without ids, and what is wrong with that."""
    step = ", or set `id` to :row to number the records"
    limit = " (in a collection, records with the same number replace each other)"
    return f"{step}{limit}" if reading.guess == "refuse" else step


def is_like_id(name: str) -> bool:
    """Tell whether a column is named as ids are. Its words may be joined: adId has two."""
    return _LIKE_ID.search(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()) is not None


def has_columns(names: Sequence[object], reading: Reading) -> bool:
    """Tell whether a table with these columns has those of the id and of the text."""
    needs_id = reading.has_ids and reading.guess != "number"
    needed = (reading.id, *reading.text) if needs_id else reading.text
    return all(len(matches(name, names)) == 1 for name in needed)


def matches(name: str, names: Iterable[object]) -> list[int]:
    """Find the columns of that name, or else those that differ from it in case only.

    Blanks around a name and a byte order mark before it do not count then either.
    """
    texts = [(place, column) for place, column in enumerate(names) if isinstance(column, str)]
    exactly = [place for place, column in texts if column == name]
    if exactly:
        return exactly
    plain_name = _plain_name(name)
    return [place for place, column in texts if _plain_name(column) == plain_name]


def _plain_name(name: str) -> str:
    return name.strip().removeprefix("\ufeff").strip().casefold()


def key(name: str, names: tuple[object, ...]) -> object:
    """Find the key of an object that a name stands for, or the name if none or several match."""
    place, path = split_path(name, names)
    return name if path or place < 0 else names[place]


def shown(names: Sequence[object]) -> str:
    """Name columns in a message, only the first ones if there are many."""
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return (", ".join(repr(name) for name in names[:SHOWN]) or "none") + more


def _list_names(name: str, names: Sequence[object]) -> str:
    """Write which names are at hand instead of a name, or of that in quotes."""
    near = arguments.nearest(name.split("'")[1] if "'" in name else name, map(str, names))
    return f"{f' (did you mean {near[0]!r}?)' if near else ''}; available: {shown(names)}"


def _problem(name: str, columns: Sequence[object]) -> str:
    """Say why a name does not stand for a single column. `columns` match it."""
    if not columns:
        return f"the column {name!r} is missing"
    if name in columns:
        return f"the column {name!r} appears twice"
    return f"the name {name!r} matches several columns: {shown(columns)}"


def check_keep(keep: Iterable[str]) -> None:
    """Refuse columns that a collection cannot keep: they have names of fields of ours or of Solr's.

    Raises ArgumentError.
    """
    for name in keep:
        if name in ALL_FIELDS:
            why = "the collection has a field of that name"
        elif name.startswith("_"):
            why = 'names that start with "_" are reserved for Solr'
        else:
            continue
        step = "rename the column in the source, or leave it out of `keep`"
        raise ArgumentError(f"the column {name!r} cannot be kept: {why}", step)


class Unusable(ValueError):
    """Reason why a value cannot be used, and how its record is written, without the place."""

    def __init__(self, reason: str, raw: bytes | None = None) -> None:
        super().__init__(reason)
        self.raw = raw


SAMPLE = 20_000  # bytes by which an encoding is guessed
# What a text of Western Europe has in cp1252: no three letters with accents in a row.
_WESTERN = re.compile(
    r"(?:[\x00-\x7f\u2013\u2014\u2018\u2019\u201c-\u201e\u2026\u20ac£§©«®°·»¿¡]"
    "|(?<![À-ÿŒœ][À-ÿŒœ])[ÀÂÄÁÃÅÆÇÉÈÊËÍÎÏÌÑÓÔÖÒÕØŒÚÙÛÜßàâäáãåæçéèêëíîïìñóôöòõøœúùûüÿ])*"
)
# Of other texts: what the guess chooses from.
_ENCODINGS = ["cp1250", "cp1251", "cp1253"]
_KANA = re.compile("[\u3040-\u30ff]")
_EASTERN = ["cp932", "euc_jp", "gb18030", "big5", "cp949"]


def guess_encoding(raw: bytes) -> str | None:
    """Guess the encoding of bytes that are not UTF-8, None if it is none of the usual ones."""
    if b"\0" in raw:
        name = "utf-16-be" if raw[:1] == b"\0" else "utf-16-le"
        is_likely = 3 * raw.count(0) > len(raw)
        return name if is_likely and magic.is_written(raw.decode(name, "replace")) else None
    if magic.find_kind(raw) is not None or magic.is_binary(raw):
        return None
    with suppress(UnicodeDecodeError):
        if _WESTERN.fullmatch(raw.decode("cp1252")):
            return "cp1252"
    for end in range(len(raw), len(raw) - MOST_BYTES, -1):  # its last character may be cut off
        if (guessed := _guess_multibyte(raw[:end])) is not None:
            return guessed
    return None


def _guess_multibyte(raw: bytes) -> str | None:
    """Guess an encoding, which may be of several bytes a character, None if it is none of ours."""
    for name in ("euc_jp", "cp932"):  # no other has so many kana
        with suppress(UnicodeDecodeError):
            text = raw.decode(name)
            if len(_KANA.findall(text)) > len(text) / 8:
                return name
    from charset_normalizer import from_bytes

    words = b" ".join(re.findall(rb"[^\0-\x3f]*[\x80-\xff][^\0-\x3f]*", raw))
    best = from_bytes(words, cp_isolation=[*_ENCODINGS, *_EASTERN]).best()
    if best and best.encoding in _EASTERN:  # of which it knows few in a short text
        best = from_bytes(4 * words, cp_isolation=_EASTERN).best() or best
    return None if best is None else best.encoding


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
        return f"{error}{_list_names(error.reason, names)}"
    return str(error)


def came_before(document: Document, record: Mapping[str, Any] | None = None) -> RecordError:
    """Make the error for a document whose id came before. `record` is as its source has it."""
    position, id = document.position, document.id
    return RecordError(position, AGAIN, id, record=record, stage="check")


def unusable(position: str, problem: Unusable) -> RecordError:
    """Make the error for a record that could not even be taken apart."""
    return RecordError(position, str(problem), record=decode_raw(problem.raw))


def too_large(limit: int) -> str:
    """Write the reason for a record over `limit` bytes."""
    return f"too_large: more than {limit:,} bytes"


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


def decode(raw: bytes | None, reading: Reading) -> str:
    """Decode a record's UTF-8, or raise Unusable with the offset of the first bad byte.

    None stands for a record that was too large to be held.
    """
    if raw is None:
        raise Unusable(too_large(reading.max_doc_bytes))
    if b"\0" in raw and not reading.lossy:
        raise Unusable(HOLDS_NUL, raw)
    try:
        return raw.decode("utf-8", reading.on_invalid)
    except UnicodeDecodeError as error:
        if reading.encoding:  # it is decoded already; `lines` marks what could not be
            reason = f"invalid {reading.encoding}: bytes that are not a character"
            raise Unusable(reason, raw) from error
        reason = f"{NOT_UTF8}byte 0x{raw[error.start]:02x} at offset {error.start} of the record"
        raise Unusable(reason, raw) from error


def number_records(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Pass pieces on. Records that came without an id get their number instead."""
    before = 0
    for piece in pieces:
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
    position, reason = piece.position, piece.reason
    return RecordError(position, reason, id, record=piece.record, stage=piece.stage)


def one_by_one(pieces: Iterable[Piece]) -> Iterator[Record]:
    """Yield the records of runs, and those between them."""
    for piece in pieces:
        if isinstance(piece, Run):
            yield from piece.documents()
        else:
            yield piece


def run(
    where: str, numbers: Sequence[int], ids: Sequence[Any], texts: Sequence[Any], *,
    reading: Reading,
) -> Run | None:  # fmt: skip
    """Check many ids and texts at once, or return None if `record` has to say what is wrong.

    None may have lone surrogates, and at least a text is needed. Without ids they are numbered
    later.
    """
    kinds = set(map(type, ids)) if len(ids) else {str}
    if float in kinds:
        ids = list(map(records.as_whole, ids))
        kinds = set(map(type, ids))
    if kinds == {int}:
        ids = list(map(str, ids))
    if isinstance(texts, Packed):
        are_texts = texts.longest <= reading.max_doc_bytes
    else:
        most = reading.max_doc_bytes // MOST_BYTES
        are_texts = set(map(type, texts)) == {str} and max(map(len, texts)) <= most
    if not are_texts or kinds not in ({int}, {str}) or not _are_ids(ids):
        return None
    if reading.lossy and any(map(LOST.search, chain(ids, texts))):
        return None
    return Run(ids=ids, texts=texts, where=where, numbers=numbers, are_numbers=kinds == {int})


def _are_ids(ids: Sequence[str]) -> bool:
    """Tell whether nothing is wrong with any id. Of ASCII, that is seen all at once."""
    if "".join(ids).isascii() and all(ids) and max(map(len, ids), default=0) <= MAX_ID_BYTES:
        return True
    return not any(map(records.id_problem, ids))


def from_columns(
    where: str, first: int, parts: Sequence[Sequence[Any]], columns: Columns, reading: Reading
) -> Iterator[Piece]:
    """Make documents of rows, numbered from `first` on. `parts` has their values by column."""
    numbers = range(first, first + len(parts[0]))
    fields = [[dig(value, path) for value in parts[at]] for at, path in columns.within]
    ids: Sequence[Any] = () if columns.id is None else list([*parts, *fields][columns.id])
    texts = [*parts, *fields][columns.text[0]]
    if len(texts) and reading.is_in_runs:
        piece = run(where, numbers, ids, texts, reading=reading)
        if piece is not None and (isinstance(texts, Packed) or all(map(_is_unicode, texts))):
            yield piece
            return
    for number, row in zip(numbers, zip(*parts, strict=True), strict=True):
        yield from_row(f"{where}{number}", row, columns, reading)


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
            id = id_value(id, reading)
        if len(columns.text) > 1:
            text = tuple(value(row[at], reading) for at in columns.text)
        elif type(text) is not str or not text.isascii():
            text = value(text, reading)
        kept = _kept(row, columns, reading) if columns.keep else NOTHING
        made = record(position, id, text, reading=reading, kept=kept)
    except Unusable as problem:
        made = RecordError(position, str(problem))
    if type(made) is RecordError:
        made.record = as_columns(columns.names, values)
    return made


def _kept(row: Sequence[Any], columns: Columns, reading: Reading) -> dict[str, Any]:
    values = ((name, kept_value(name, row[at], reading)) for name, at in columns.keep)
    return {name: each for name, each in values if each is not None}


def record(
    position: str, id: object, text: object, *, reading: Reading,
    kept: Mapping[str, Any] = NOTHING,
) -> Record:  # fmt: skip
    """Make a document of an id, a text and kept values, or the error that says what is wrong.

    The text of several columns is a tuple of theirs.
    """
    if reading.lossy:
        id, text, kept = map(_replace_lost, (id, text, kept))
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


def _replace_lost(value: Any) -> Any:
    """Replace NUL and lone surrogates in all texts of a value."""
    if type(value) is str and value is not NUMBERED:
        return LOST.sub("\ufffd", value)
    if isinstance(value, list | tuple):
        return type(value)(map(_replace_lost, value))
    if isinstance(value, dict):
        return {name: _replace_lost(each) for name, each in value.items()}
    return value


def _as_id(value: object, reading: Reading) -> str:
    if value is NUMBERED:
        return NUMBERED
    if type(value) is int:
        value = Number(value)
    if not isinstance(value, str):
        if value is None:
            raise Unusable(f"{NO_ID}: {reading.id!r} is missing or null")
        is_rounded = isinstance(value, float) and value.is_integer()
        step = "; floats this large are rounded: write whole numbers or strings" * is_rounded
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
    most = reading.max_doc_bytes
    if len(value) > most or (len(value) * MOST_BYTES > most and len(value.encode()) > most):
        raise Unusable(too_large(most))
    return value


def _join_texts(values: tuple[object, ...], reading: Reading) -> str:
    """Join the values of several columns, where numbers, dates and objects are texts, too."""
    pairs = zip(map(_spell, values), reading.text, strict=True)
    texts = [_one_text(_as_kept(name, value), name) for value, name in pairs if value is not None]
    if not texts:
        names = " and ".join(map(repr, reading.text))
        raise Unusable(f"no text: {names} are missing or null")
    return "\n".join(texts)


def _spell(value: object) -> object:
    """Write a number or a date as people do: 2024.0 is 2024, and midnight is no part of a day."""
    if not isinstance(value, int | float | date | Decimal):
        return value
    if value != value:  # NaN, and no time
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, datetime) and value.time() == time.min:
        value = value.date()
    return str(value)


def _one_text(value: object, name: str) -> str:
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return "\n".join(value)
    if not isinstance(value, str):
        if value is None:
            raise Unusable(f"no text: {name!r} is missing or null")
        raise Unusable(f"the text in {name!r} is {_kind(value)}, not text")
    return value


def _as_kept(name: str, value: object) -> object:
    """Make what Solr stores of a value: text, numbers, true or false, and flat lists of those.

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
    except TypeError as error:  # orjson's, for more than 254 levels
        raise Unusable(f"the column {name!r} cannot be kept as JSON ({error})") from error


def _kind(value: object) -> str:
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return f"the number {value}" if len(str(value)) < 40 else "a very long number"
    names = {bool: "true or false", dict: "an object"}
    return names.get(type(value)) or arguments.with_article(type(value).__name__)


def value(boxed: Any, reading: Reading) -> Any:
    """Make a value of Python of an id or a text of a library, or raise Unusable."""
    plain_value = unbox(boxed)
    if type(plain_value) is bytes:
        return decode(plain_value, reading)
    if type(plain_value) in (list, tuple):  # a tuple stands for several columns later
        return [value(part, reading) for part in plain_value]
    if type(plain_value) is str and not plain_value.isascii() and not reading.lossy:
        try:
            plain_value.encode()
        except UnicodeEncodeError as error:
            reason = f"a lone surrogate (U+{ord(plain_value[error.start]):04X}) is not a character"
            raise Unusable(f"invalid Unicode: {reason}") from error
    return plain_value


def id_value(boxed: Any, reading: Reading) -> Any:
    """Make a text or a whole number of an id of a library, if it is one, or raise Unusable."""
    id = value(records.as_whole(boxed), reading)
    return str(id) if isinstance(id, UUID) else id


def kept_value(name: str, boxed: Any, reading: Reading) -> Any:
    """Make a value to keep as JSON has it, or raise Unusable if it has no such form."""
    kept = plain(decode(boxed, reading) if type(boxed) is bytes else boxed)
    kept = _replace_lost(kept) if reading.lossy else kept
    if kept is None or type(kept) is bool:
        return kept
    try:
        orjson.dumps(kept, option=_STRICT)
    except TypeError as error:  # orjson's: an unknown type, a lone surrogate, over 64 bits
        raise Unusable(f"the column {name!r} cannot be kept as JSON ({error})") from error
    return kept


def unbox(value: Any) -> Any:
    """Make a value of Python of that of a library, and None of what is missing, such as NaN.

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
    """Make what JSON has of a value: dates in ISO form, decimals as text, NaN as None.

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
        return value.decode("utf-8", "backslashreplace")
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value) if value.is_finite() else None
    return str(value) if isinstance(value, timedelta | UUID | PurePath) else value
