"""The canonical document of a cluster, which is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from neardup_solr.clusters.components import Labels
from neardup_solr.errors import ArgumentError
from neardup_solr.records import natural
from neardup_solr.regex import regex

LENGTH = "num_words"  # what `longest` and `shortest` compare
FILLED = ":filled"  # what `fullest` compares: the number of values in the fields
ARRIVAL = "_version_"  # of `oldest` and `newest`; Solr counts it up with each change
_NUMBER = regex(r"\s*[+-]?[0-9]{1,300}(\.[0-9]{1,300})?([eE][+-]?[0-9]{1,2})?\s*")
_WORDING = (
    "choose longest, shortest, fullest, oldest, oldest:FIELD (the lowest value), newest,"
    " newest:FIELD (the latest date), first, or trusted values in order of preference, such as"
    " FIELD=wire,agency"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Rule for the canonical document: a field's least value, its greatest, or a trusted value.

    `field` is "" if only the ids count; `trusted` has values in the order of trust, and then no
    other values of the field count. If it `is_date`, what is compared are the moments of its dates.
    """

    field: str = ""
    is_descending: bool = False
    is_date: bool = False
    trusted: tuple[str, ...] = ()

    @property
    def needs(self) -> tuple[str, ...]:
        """The fields to read."""
        return (self.field,) if self.field else ()

    def choose(
        self, members: Sequence[int], ids: Sequence[str], values: Mapping[str, Sequence[Any]]
    ) -> int:
        """Choose the canonical document among the row numbers of a cluster.

        `values` has for each field of `needs` the value of each row, None if it is missing; of
        several values (a list) the best counts. Numbers compare as numbers, and so do texts if all
        in the cluster are numbers; else all compare as text, by code point, which is right for
        ISO dates. A missing value is the last choice; of equal ones the first id in natural
        order is chosen.
        """
        best = self.select_best(members, values[self.field]) if self.field else members
        return min(best, key=lambda row: natural(ids[row]))

    def select_best(self, members: Sequence[int], column: Sequence[Any]) -> Sequence[int]:
        """Select the members with the best value, or all of them if none has a value."""
        pairs_of_values = [(value, row) for row in members for value in _list_values(column[row])]
        if self.trusted:
            places = {name: self.trusted.index(name) for name in self.trusted}
            ranked = [(places[str(v)], row) for v, row in pairs_of_values if str(v) in places]
        else:
            ranked = _comparable(pairs_of_values)
        if not ranked:
            return members
        best = (max if self.is_descending else min)(value for value, _ in ranked)
        return [row for value, row in ranked if value == best]


FIRST = Rule()

_NAMED = {
    "first": FIRST,
    "longest": Rule(field=LENGTH, is_descending=True),
    "shortest": Rule(field=LENGTH),
    "fullest": Rule(field=FILLED, is_descending=True),
    "oldest": Rule(field=ARRIVAL),
    "newest": Rule(field=ARRIVAL, is_descending=True),
}
_BY_FIELD = {
    "oldest:": Rule(),
    "newest:": Rule(is_descending=True, is_date=True),
}


def parse_rule(text: str) -> Rule:
    """The rule that a text stands for.

    `first` (id in natural order), `longest` and `shortest` (by words), `fullest` (by fields that
    have a value), `oldest` and `newest` (by order of arrival), `oldest:FIELD` (its least value),
    `newest:FIELD` (its latest date), or `FIELD=a,b,c`: trusted values, the most trusted first.

    Raises ArgumentError if it is none of these.
    """
    if text in _NAMED:
        return _NAMED[text]
    field, is_trusted, names = text.partition("=")
    trusted = tuple(name.strip() for name in names.split(",") if name.strip())
    if is_trusted and field.strip() and trusted:
        return Rule(field=field.strip(), trusted=trusted)
    for begin, rule in _BY_FIELD.items():
        if not is_trusted and text.startswith(begin) and text != begin:
            return replace(rule, field=text.removeprefix(begin))
    reason = f"`canonical` cannot be {text!r}, which is not a rule"
    raise ArgumentError(reason, _WORDING, code="argument-invalid")


def choose_canonicals(
    rule: Rule,
    labels: Labels,
    ids: Sequence[str],
    values: Mapping[str, Sequence[Any]],
    *,
    are_ordered: bool = False,
) -> Labels:
    """The row number of the canonical document of each document's cluster.

    Shape (documents,), as `labels`; a document alone has itself. `ids` and `values` as for
    `Rule.choose`; `are_ordered` says that the ids are in natural order.
    """
    if are_ordered and not rule.field:
        return labels  # which have the first of each cluster
    chosen = np.arange(len(labels))
    column = values[rule.field] if rule.field and are_ordered and not rule.trusted else [None]
    are_numbers = all(type(value) is int and abs(value) < 1 << 62 for value in column)
    numbers = np.array(column if are_numbers else 0) * (-1 if rule.is_descending else 1)
    order = np.lexsort((np.broadcast_to(numbers, len(labels)), labels))
    starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
    if are_numbers:
        chosen[order] = np.repeat(order[starts], np.diff(starts, append=len(labels)))
        return chosen
    rows = order.tolist()
    for start, stop in pairwise([*starts.tolist(), len(rows)]):
        if stop - start > 1:
            chosen[order[start:stop]] = rule.choose(rows[start:stop], ids, values)
    return chosen


def _list_values(value: object) -> Sequence[Any]:
    """The values of a field of a document: none, a value, or a list. NaN is none."""
    several = value if isinstance(value, list | tuple) else (value,)
    return [each for each in several if each is not None and each != "" and each == each]


def _comparable(values: list[tuple[Any, int]]) -> list[tuple[Any, int]]:
    """The values as numbers if all are numbers or look like numbers, else as text."""
    if all(isinstance(value, int | float) for value, _ in values):
        return values
    texts = [(str(value), row) for value, row in values]
    if all(_NUMBER.fullmatch(text) for text, _ in texts):
        return [(_parse_number(text), row) for text, row in texts]
    return texts


def _parse_number(text: str) -> int | float:
    return int(text) if text.strip().lstrip("+-").isdigit() else float(text)
