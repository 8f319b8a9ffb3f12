"""A column of a record, by its name, or a field within it, by its path."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from neardup_solr import suggestions
from neardup_solr.errors import ArgumentError
from neardup_solr.settings import ALL_FIELDS
from neardup_solr.sources.values import unbox

SHOWN: Final = 10  # names in a message
MANY_NAMES: Final = 100  # names of an object, which are not held in memory
DEEPEST: Final = 5  # of fields in a message
LACKING: Final = object()
_LIKE_ID: Final = re.compile(r"(?<![a-z])(ids?|uuid|guid|identifier|key|nr)(?![a-z])")


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
    near = suggestions.nearest(name.split("'")[1] if "'" in name else name, map(str, names))
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
        raise ArgumentError(f"the column {name!r} cannot be kept: {why}", step)


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
