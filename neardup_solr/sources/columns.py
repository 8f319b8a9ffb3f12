"""The columns of a source, found by the names that were asked for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import orjson

from neardup_solr.errors import ArgumentError, RecordError
from neardup_solr.records import NOTHING
from neardup_solr.settings import ALL_FIELDS
from neardup_solr.sources.record import (
    NUMBERED,
    ROW,
    Opened,
    Piece,
    Reading,
    Record,
    Unusable,
    as_columns,
    decode,
    plain,
    record,
    run,
    unbox,
)
from neardup_solr.text.packed import Packed

SHOWN = 10  # names in a message
# What JSON does not have is refused, rather than written as an object.
_STRICT = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_SUBCLASS


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Places of the id, the text and what is kept in each row, the latter by the names asked for.

    `names` are those of all columns of a row; there is no id if records are numbered.
    """

    names: tuple[object, ...]
    id: int | None
    text: tuple[int, ...]
    keep: tuple[tuple[str, int], ...]

    def id_of(self, row: Sequence[Any]) -> Any:
        """The id of a row, which may have to be numbered."""
        return NUMBERED if self.id is None else row[self.id]

    def needed(self) -> tuple[list[int], Columns]:
        """The places of the columns that are needed, each once, and the columns among these."""
        own = () if self.id is None else (self.id,)
        places = sorted({*own, *self.text, *(at for _, at in self.keep)})
        at = {place: number for number, place in enumerate(places)}
        text = tuple(at[place] for place in self.text)
        keep = tuple((name, at[place]) for name, place in self.keep)
        names = tuple(self.names[place] for place in places)
        id = None if self.id is None else at[self.id]
        return places, Columns(names=names, id=id, text=text, keep=keep)


def columns(source: Opened, names: Sequence[object], reading: Reading) -> Columns:
    """Find the columns that are asked for.

    Raises SourceError unless each of them is there exactly once.
    """

    def at(name: str) -> int:
        found = matches(name, names)
        if len(found) == 1:
            return found[0]
        raise source.error(
            f"{_problem(name, [names[place] for place in found])}; those there are: {shown(names)}",
            "name the right ones with `id`, `text` and `keep`"
            + (number_them(reading) if name == reading.id else ""),
        )

    reading = choose_id(source, names, reading)
    return Columns(
        names=tuple(names),
        id=at(reading.id) if reading.has_ids else None,
        text=tuple(map(at, reading.text)),
        keep=tuple((name, at(name)) for name in reading.keep),
    )


def choose_id(source: Opened, names: Iterable[object], reading: Reading) -> Reading:
    """The reading, by which records are numbered if none of the columns looks like an id.

    A notice says so. If nobody asked for a guess, nothing changes.
    """
    names = list(names)
    if reading.guess != "number" or not reading.has_ids or matches(reading.id, names):
        return reading
    if any(isinstance(name, str) and _LIKE_ID.search(_apart(name)) for name in names):
        return reading
    source.on_notice(f"{source.name} has no column of ids: its records are numbered from 1")
    return replace(reading, id=ROW)


def number_them(reading: Reading) -> str:
    """The end of a next step: how to do without ids, and what is wrong with that."""
    step = ", or give :row for `id` to number the records"
    if reading.guess != "refuse":
        return step
    return f"{step}, if no other source comes into the collection: numbers would replace each other"


_LIKE_ID = re.compile(r"(?<![a-z])(ids?|uuid|guid|identifier|key|nr)(?![a-z])")


def _apart(name: str) -> str:
    """A name in small letters, with blanks between its words: adId has two."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()


def from_columns(
    where: str, first: int, parts: Sequence[Sequence[Any]], asked: Columns, reading: Reading
) -> Iterator[Piece]:
    """Make documents of rows, numbered from `first` on. `parts` has their values by column."""
    texts = parts[asked.text[0]]
    ids = () if asked.id is None else list(parts[asked.id])
    numbers = range(first, first + len(texts))
    is_run = len(texts) > 0 and reading.is_in_runs
    found = run(where, numbers, ids, texts, reading=reading) if is_run else None
    if found is not None and (isinstance(texts, Packed) or all(map(_is_unicode, texts))):
        yield found
        return
    for number, row in zip(numbers, zip(*parts, strict=True), strict=True):
        yield from_row(f"{where}{number}", row, asked, reading)


def _is_unicode(text: str) -> bool:
    """Tell whether a text has no lone surrogates."""
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False


def from_row(position: str, row: Sequence[Any], asked: Columns, reading: Reading) -> Record:
    """The document in a row of values as a library gives them."""
    try:
        id, text = asked.id_of(row), row[asked.text[0]]
        if type(id) is not str or not id.isascii():
            id = value(id, reading)
        if len(asked.text) > 1:
            text = tuple(value(row[at], reading) for at in asked.text)
        elif type(text) is not str or not text.isascii():
            text = value(text, reading)
        kept = _kept(row, asked, reading) if asked.keep else NOTHING
        made = record(position, id, text, reading=reading, kept=kept)
    except Unusable as problem:
        made = RecordError(position, str(problem))
    if type(made) is RecordError:
        made.record = as_columns(asked.names, row)
    return made


def _kept(row: Sequence[Any], asked: Columns, reading: Reading) -> dict[str, Any]:
    found = ((name, kept_value(name, row[at], reading)) for name, at in asked.keep)
    return {name: each for name, each in found if each is not None}


def value(given: Any, reading: Reading) -> Any:
    """Make Python's own of an id or a text of a library, or raise Unusable."""
    found = unbox(given)
    if type(found) is bytes:
        return decode(found, reading)
    if type(found) is list or type(found) is tuple:  # a tuple stands for several columns later
        return [value(part, reading) for part in found]
    if type(found) is str and not found.isascii():
        try:
            found.encode()
        except UnicodeEncodeError as error:
            reason = f"a lone surrogate (U+{ord(found[error.start]):04X}) is no character"
            raise Unusable(f"invalid Unicode: {reason}") from error
    return found


def kept_value(name: str, given: Any, reading: Reading) -> Any:
    """Make a value to keep as JSON has it, or raise Unusable if it has no such form."""
    found = plain(decode(given, reading) if type(given) is bytes else given)
    if found is None or type(found) is bool:
        return found
    try:
        orjson.dumps(found, option=_STRICT)
    except TypeError as error:  # orjson's own: an unknown type, a lone surrogate, over 64 bits
        raise Unusable(f"the column {name!r} cannot be kept as JSON ({error})") from error
    return found


def are_there(names: Sequence[object], reading: Reading) -> bool:
    """Tell whether the columns of the id and of the text are there."""
    needs_id = reading.has_ids and reading.guess != "number"
    wanted = (reading.id, *reading.text) if needs_id else reading.text
    return all(len(matches(name, names)) == 1 for name in wanted)


def matches(name: str, names: Iterable[object]) -> list[int]:
    """Find the columns of that name, or else those that differ from it in case only.

    Blanks around a name and a byte order mark before it do not count then either.
    """
    texts = [(place, column) for place, column in enumerate(names) if isinstance(column, str)]
    exactly = [place for place, column in texts if column == name]
    if exactly:
        return exactly
    plain_name = _plain(name)
    return [place for place, column in texts if _plain(column) == plain_name]


@lru_cache(maxsize=1_024)
def key(name: str, names: tuple[object, ...]) -> object:
    """Find the key of an object that a name stands for, or the name if none or several match."""
    found = matches(name, names)
    return names[found[0]] if len(found) == 1 else name


def shown(names: Sequence[object]) -> str:
    """Name columns in a message, only the first ones if there are many."""
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return (", ".join(repr(name) for name in names[:SHOWN]) or "none") + more


def check_keep(keep: Iterable[str]) -> None:
    """Refuse columns that a collection cannot keep: they have names of fields of ours or of Solr's.

    Raises ArgumentError.
    """
    for name in keep:
        if name in ALL_FIELDS:
            why = "the collection has a field of that name"
        elif name.startswith("_"):
            why = 'names that start with "_" belong to Solr'
        else:
            continue
        raise ArgumentError(
            f"the column {name!r} cannot be kept: {why}",
            "rename the column in the source, or leave it out of `keep`",
        )


def _plain(name: str) -> str:
    return name.strip().removeprefix("\ufeff").strip().casefold()


def _problem(name: str, found: Sequence[object]) -> str:
    if not found:
        return f"the column {name!r} is missing"
    if name in found:
        return f"the column {name!r} appears twice"
    return f"the column {name!r} matches several: {shown(found)}"
