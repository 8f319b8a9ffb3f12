"""The canonical document of a cluster, the one to keep: a rule in words, and its choice."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np

from neardup_solr.clusters import Labels
from neardup_solr.errors import ArgumentError
from neardup_solr.records import Cluster, Duplicate, Removed, natural

LENGTH = "num_words"  # what `longest` and `shortest` compare
ARRIVAL = "_version_"  # what `oldest` compares; Solr counts it up with each change
_NUMBER = re.compile(r"\s*[+-]?[0-9]{1,300}(\.[0-9]{1,300})?([eE][+-]?[0-9]{1,2})?\s*")
_WORDING = (
    "choose longest, shortest, oldest, oldest:FIELD, first, FIELD:asc, FIELD:desc"
    " or trusted values in their order, FIELD=wire,agency"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Rule for the canonical document: a field's least value, its greatest, or a trusted one.

    `field` is "" if only the ids count; `trusted` has values in the order of trust, and then no
    other values of the field count.
    """

    field: str = ""
    is_descending: bool = False
    trusted: tuple[str, ...] = ()

    @property
    def needs(self) -> tuple[str, ...]:
        """The fields to read."""
        return (self.field,) if self.field else ()

    def choose(
        self, members: Sequence[int], ids: Sequence[str], values: Mapping[str, Sequence[Any]]
    ) -> int:
        """The canonical one among the row numbers of a cluster.

        `values` has for each field of `needs` the value of each row, None if it is missing; of
        several values (a list) the best counts. Numbers compare as numbers, and so do texts if all
        in the cluster are numbers; else all compare as text, by code point, which is right for
        ISO dates. A missing value is the last choice; of equal ones the first id in natural
        order is chosen.
        """
        best = self._best(members, values[self.field]) if self.field else members
        return min(best, key=lambda row: natural(ids[row]))

    def _best(self, members: Sequence[int], column: Sequence[Any]) -> Sequence[int]:
        """The members with the best value; all of them if none has a value."""
        found = [(value, row) for row in members for value in _values(column[row])]
        if self.trusted:
            places = {name: self.trusted.index(name) for name in self.trusted}
            ranked = [(places[str(v)], row) for v, row in found if str(v) in places]
        else:
            ranked = _comparable(found)
        if not ranked:
            return members
        best = (max if self.is_descending else min)(value for value, _ in ranked)
        return [row for value, row in ranked if value == best]


FIRST = Rule()
_NAMED: Mapping[str, Rule] = MappingProxyType(
    {
        "first": FIRST,
        "longest": Rule(field=LENGTH, is_descending=True),
        "shortest": Rule(field=LENGTH),
        "oldest": Rule(field=ARRIVAL),
    }
)


def rule(text: str) -> Rule:
    """The rule that a text stands for.

    `first` (id in natural order), `longest` and `shortest` (by words), `oldest` (by order of
    arrival), `oldest:FIELD`, `FIELD:asc`, `FIELD:desc`, or `FIELD=a,b,c`: trusted values, the most
    trusted first.

    Raises ArgumentError if it is none of these.
    """
    if text in _NAMED:
        return _NAMED[text]
    field, is_trusted, names = text.partition("=")
    trusted = tuple(name.strip() for name in names.split(",") if name.strip())
    if is_trusted and field.strip() and trusted:
        return Rule(field=field.strip(), trusted=trusted)
    field, _, direction = text.rpartition(":")
    if not is_trusted and field and direction in ("asc", "desc"):
        return Rule(field=field, is_descending=direction == "desc")
    if not is_trusted and text.startswith("oldest:") and text != "oldest:":
        return Rule(field=text.removeprefix("oldest:"))
    raise ArgumentError(f"`canonical` cannot be {text!r}, which is not a rule", _WORDING)


def canonicals(
    rule: Rule,
    labels: Labels,
    ids: Sequence[str],
    values: Mapping[str, Sequence[Any]],
    *,
    are_ordered: bool = False,
) -> Labels:
    """The row number of the canonical document of each document's cluster.

    Shape (documents,), as `labels`; a document alone is its own. `ids` and `values` as for
    `Rule.choose`; `are_ordered` says that the ids are in natural order.
    """
    if are_ordered and not rule.field:
        return labels  # which have the first of each cluster
    chosen = np.arange(len(labels))
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
    rows = order.tolist()
    for start, stop in pairwise([*starts.tolist(), len(rows)]):
        if stop - start > 1:
            chosen[order[start:stop]] = rule.choose(rows[start:stop], ids, values)
    return chosen


def _values(value: object) -> Sequence[Any]:
    """The values of a field of a document: none, one or a list of them. NaN is none."""
    several = value if isinstance(value, list | tuple) else (value,)
    return [one for one in several if one is not None and one != "" and one == one]


def _comparable(found: list[tuple[Any, int]]) -> list[tuple[Any, int]]:
    """The values as numbers if all are numbers or look like numbers, else as text."""
    if all(isinstance(value, int | float) for value, _ in found):
        return found
    texts = [(str(value), row) for value, row in found]
    if all(_NUMBER.fullmatch(text) for text, _ in texts):
        return [(_number(text), row) for text, row in texts]
    return texts


def _number(text: str) -> int | float:
    return int(text) if text.strip().lstrip("+-").isdigit() else float(text)


def removed_within(pairs: Sequence[Duplicate], clusters: Sequence[Cluster]) -> dict[str, Removed]:
    """The documents that the canonical document of their cluster makes superfluous, by id.

    Complete linkage tears pairs apart, and a canonical document may be near that of another
    cluster. The later of two such is removed, and what is near to no kept document is kept, so that
    no pair is left.
    """
    removed: dict[str, Removed] = {}
    torn = _neighbours(pair for pair in pairs if not pair.cluster)
    kept: set[str] = set()

    def decide(id: str, near: Mapping[str, float]) -> None:
        there = [(-similarity, other) for other, similarity in near.items() if other in kept]
        if there:
            similarity, other = min(there, key=lambda one: (one[0], str(one[1])))
            removed[id] = Removed(id=id, duplicate_of=other, similarity=-similarity)
        else:
            kept.add(id)

    for cluster in clusters:
        decide(cluster.canonical, torn.get(cluster.canonical, {}))
    left = dict.fromkeys(torn)
    for cluster in clusters:
        for member in cluster.members:
            if member.id == cluster.canonical:
                continue
            if cluster.canonical in kept:
                removed[member.id] = Removed(
                    id=member.id, duplicate_of=cluster.canonical, similarity=member.similarity
                )
            else:
                left[member.id] = None
    rest = [id for id in left if id not in removed and id not in kept]
    if rest:
        wanted = set(rest)
        near = _neighbours(p for p in pairs if p.id in wanted or p.other_id in wanted)
        for id in rest:
            decide(id, near.get(id, {}))
    return removed


def removed_across(pairs: Iterable[Duplicate]) -> dict[str, Removed]:
    """The documents of the first side that have a near-duplicate in the other, by id."""
    removed: dict[str, Removed] = {}
    for pair in pairs:
        known = removed.get(pair.id)
        if known is None or (known.similarity or 0.0) < pair.similarity:
            removed[pair.id] = Removed(
                id=pair.id, duplicate_of=pair.other_id, similarity=pair.similarity
            )
    return removed


def _neighbours(pairs: Iterable[Duplicate]) -> dict[str, dict[str, float]]:
    near: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for pair in pairs:
        near[pair.id][pair.other_id] = pair.similarity
        near[pair.other_id][pair.id] = pair.similarity
    return near
