"""Settings made of names and values, on the base of the usual ones or a collection's."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import fields, replace
from itertools import islice
from typing import Any

from neardup_solr import checks
from neardup_solr.checks import require
from neardup_solr.settings import (
    ALL_FIELDS,
    CHOICE_OF_FIELDS,
    DEFAULT_FIELDS,
    LEAST,
    OPTIONAL_FIELDS,
    READ,
    Settings,
    require_known_fields,
)

DEFAULT_SETTINGS = Settings()
# Of annotate, and of index if texts are long: shingles would be most of the index, and signature
# terms find what bands find.
ANNOTATED = Settings(fields=frozenset(DEFAULT_FIELDS) - {"content_ng", "content_sg"})
FIRST_TEXTS = 1_000  # whose lengths decide how long shingles of characters are
SHORT_TEXT, LONGER = 150, 3  # characters: shingles are one longer for each factor beyond
# A base with which each value may be whatever it can be beside some others.
_WIDEST = Settings(kind="stems", hashes=65_536, bands=1, rows=1, signatures=0)


def require_possible(settings: Settings | Mapping[str, Any] | None) -> None:
    """Refuse names and values that no collection can have, before any collection is read.

    Raises ArgumentError. How values go together is checked once they are combined.
    """
    if isinstance(settings, Mapping):
        for name, value in settings.items():
            settings_of({name: value}, _WIDEST)


def settings_of(
    settings: Settings | Mapping[str, Any] | None, base: Settings = DEFAULT_SETTINGS
) -> Settings:
    """Make settings of a mapping by name. All others are those of the base.

    `fields` may be a choice in words, such as "-content_ng", which changes those of the base.

    Raises ArgumentError if a name does not exist, or a value is out of range.
    """
    if not settings:
        return base
    if isinstance(settings, Settings):
        return _with_plain_numbers(settings)
    for name in settings:
        checks.require_choice("settings", name, [field.name for field in fields(Settings)])
    values = dict(settings)
    named = values.get("fields")
    if isinstance(named, str):
        values["fields"] = choose_fields(named, base.fields)
    elif isinstance(named, Sequence | Set):
        values["fields"] = frozenset(map(str, named))
    return _with_plain_numbers(replace(base, **values))


def _with_plain_numbers(settings: Settings) -> Settings:
    """Make settings whose numbers are Python's: numpy's are of other types for compiled code."""
    kinds = {name: READ.get(name, int) for name in LEAST}
    numbers: dict[str, Any] = {
        name: kind(value)
        for name, kind in kinds.items()
        if type(value := getattr(settings, name)) is not kind
    }
    return replace(settings, **numbers) if numbers else settings


def fit_shingles(
    settings: Settings | Mapping[str, Any] | None, base: Settings, lengths: Iterable[int]
) -> Settings:
    """Return the base with shingles of characters that suit texts of these lengths.

    Unless the settings name a size, or other shingles. Texts of 150 characters or less have
    shingles of 3, and each factor of three adds one: the longer two unrelated texts are, the more
    of their short shingles are the same by chance. The median of the first 1,000 lengths counts.
    """
    wanted = settings_of(settings, base)
    first = sorted(islice(lengths, FIRST_TEXTS))
    names_size = isinstance(settings, Settings) or "shingle_size" in (settings or ())
    if wanted.kind != "chars" or names_size or not first:
        return base
    more = math.ceil(math.log(max(first[len(first) // 2], 1) / SHORT_TEXT, LONGER))
    return replace(base, shingle_size=wanted.shingle_size + max(more, 0))


def choose_fields(choice: str, usual: Iterable[str] = DEFAULT_FIELDS) -> frozenset[str]:
    """Choose the fields to write, from a comma-separated choice.

    "all" is every field; "content,signature" is just those; "-content_ng" is the usual fields
    without that, "+profile_hash" the usual fields and that.

    Raises ArgumentError if a name is not that of a field, or only some have a minus.
    """
    names = {name.strip() for name in choice.split(",")} - {""}
    reason = "`fields` does not name any field"
    require(bool(names), reason, CHOICE_OF_FIELDS, code="argument-invalid")
    require_known_fields((name.lstrip("+-") for name in names), (*ALL_FIELDS, "all"))
    chosen = {name for name in names if name[0] not in "+-"} or set(usual)
    is_mixed = names & (chosen - {"all"}) and any(name[0] == "-" for name in names)
    reason = "only some of the `fields` have a minus sign"
    require(not is_mixed, reason, "use it for all or none", code="argument-invalid")
    if "all" in chosen:
        chosen.update(OPTIONAL_FIELDS)
    chosen.update(name[1:] for name in names if name[0] == "+")
    chosen.difference_update(name[1:] for name in names if name[0] == "-")
    return frozenset(chosen).intersection(OPTIONAL_FIELDS)
