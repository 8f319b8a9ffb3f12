"""Columns of records, by name or by path."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final, TypeAlias

from neardup_solr import suggestions
from neardup_solr.errors import ArgumentError
from neardup_solr.regex import regex
from neardup_solr.settings import ALL_FIELDS
from neardup_solr.sources.part import NUMBERED, SourcePart
from neardup_solr.sources.reading import ROW, Reading
from neardup_solr.sources.values import unbox

SHOWN: Final = 10  # names in a message
MANY_NAMES: Final = 100  # names of an object, which are not held in memory
DEEPEST: Final = 5  # of fields in a message
LACKING: Final = object()
_LIKE_ID: Final = regex(r"(?<![a-z])(ids?|uuid|guid|identifier|key|nr)(?![a-z])")
Objects: TypeAlias = Sequence[Mapping[Any, Any]]


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


def is_like_id(name: str) -> bool:
    """Tell whether a column is named as ids are. Its words may be joined: adId has two."""
    return _LIKE_ID.search(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()) is not None


def find_key(name: str, names: tuple[object, ...]) -> object:
    """Find the key of an object that a name stands for, or the name if none or several match."""
    place, path = split_path(name, names)
    return name if path or place < 0 else names[place]


def show_names(names: Sequence[object]) -> str:
    """Name columns in a message, only the first ones if there are many."""
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return (", ".join(repr(name) for name in names[:SHOWN]) or "none") + more


def list_near(name: str, names: Sequence[object]) -> str:
    """Write which names are at hand instead of a name, or of that in quotes."""
    name, others = name.split("'")[1] if "'" in name else name, [*map(str, names)]
    near = [] if name in others else suggestions.nearest(name, others)
    return f"{f' (did you mean {near[0]!r}?)' if near else ''}; available: {show_names(names)}"


def describe_problem(name: str, columns: Sequence[object]) -> str:
    """Say why a name does not stand for a single column. `columns` match it."""
    if not columns:
        return f"the column {name!r} is missing"
    if name in columns:
        return f"the column {name!r} appears twice"
    return f"the name {name!r} matches several columns: {show_names(columns)}"


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
        raise ArgumentError(f"the column {name!r} cannot be kept: {why}", step, code="name-invalid")


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
    return (_split_path if len(names) <= MANY_NAMES else _split_path.__wrapped__)(name, names)


@lru_cache(maxsize=1_024)
def _split_path(name: str, names: tuple[object, ...]) -> tuple[int, str]:
    for end in [*(at for at, sign in enumerate(name) if sign == "."), len(name)][::-1]:
        if len(places := matches(name[:end], names)) == 1:
            return places[0], name[end + 1 :]
    return -1, ""


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
    part: SourcePart,
    names: Sequence[object],
    reading: Reading,
    rows: Callable[[], Objects] = list,
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
        if not names:
            reason = "there are no columns: its rows are blank"
            raise part.error(reason, "check the file", code="file-empty")
        problem = describe_problem(name, [names[place] for place in places])
        reason = f"{problem}{list_near(name, list_fields(rows()) or names)}"
        is_twice = [names[place] for place in places].count(name) > 1  # no name tells them apart
        step = "rename one of them" if is_twice else "name the right ones with `id` and `text`"
        step += number_them(reading) if name == reading.id else ""
        step = "check its name" if name in reading.keep and not is_twice else step
        raise part.error(reason, step, code="column-repeated" if places else "column-missing")

    reading = choose_id(part, names, reading)
    return Columns(
        names=tuple(names),
        id=at(reading.id) if reading.has_ids else None,
        text=tuple(map(at, reading.text)),
        keep=tuple((name, at(name)) for name in reading.keep),
        within=tuple(within),
    )


def _have_field(rows: Objects, name: str) -> bool:
    """Tell whether a row has a field, or all lack the object that it would be in."""
    values = [dig(row, name, LACKING) for row in rows]
    has_value = any(value is not None and value is not LACKING for value in values)
    return has_value or (bool(values) and not any(value is LACKING for value in values))


def strip_end(cells: Sequence[Any]) -> list[Any]:
    """List cells without empty ones at their end."""
    last = max((at for at, cell in enumerate(cells, 1) if str(cell or "").strip()), default=0)
    return list(cells[:last])


def choose_id(part: SourcePart, names: Iterable[object], reading: Reading) -> Reading:
    """Return the reading, by which records are numbered if none of the columns looks like an id.

    A notice says so. Without a guess, nothing changes.
    """
    names = list(names)
    is_known = not names or matches(reading.id, names)  # without any columns it is an error
    if reading.guess != "number" or not reading.has_ids or is_known:
        return reading
    if any(isinstance(name, str) and is_like_id(name) for name in names):
        return reading
    has_others = any(not any(matches(text, [name]) for text in reading.text) for name in names)
    step = "; if another has the ids, name it with `id`" if has_others else ""
    part.on_notice(
        f"{part.name} has no column named like ids: its records are numbered from 1{step}"
    )
    return replace(reading, id=ROW)


def number_them(reading: Reading) -> str:
    """Write the end of a next step: how to do without ids, and what is wrong with that."""
    step = ", or set `id` to :row to number the records"
    limit = " (in a collection, records with the same number replace each other)"
    return f"{step}{limit}" if reading.guess == "refuse" else step


def has_columns(names: Sequence[object], reading: Reading) -> bool:
    """Tell whether a table with these columns has those of the id and of the text."""
    needs_id = reading.id != ROW and reading.guess != "number"
    needed = (reading.id, *reading.text) if needs_id else reading.text
    return all(len(matches(name, names)) == 1 for name in needed)
