"""Rules by which the values that the records of a cluster have in a column become one value."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

from neardup_solr.answers import Answer
from neardup_solr.clusters.canonical import Rule
from neardup_solr.errors import ArgumentError
from neardup_solr.regex import regex
from neardup_solr.sources.values import plain, spell, unbox
from neardup_solr.verbs.duplicates.value_keys import make_key

EVERY: Final = "*"  # stands for all columns that have no rule of their own
KEPT, LONGEST, NEWEST, FIRST, JOINED = "kept", "longest", "newest", "first", "joined"
SEPARATOR: Final = "; "  # between texts that are joined
# What becomes of a value: the merged record has it, or one that is equal to it.
CHOSEN, SAME, LEFT_OUT = "chosen", "same", "left out"
_RULE: Final = regex(r"(kept|frequent|longest|newest|joined)|(newest|first):(.+)", re.DOTALL)
_WRITTEN: Final = regex(
    r"(.+?):((?:kept|frequent|longest|newest|joined)|(?:newest|first):.+)", re.DOTALL
)
_CHOICES: Final = "kept, frequent, longest, newest, newest:COLUMN, first:COLUMN or joined"


@dataclass(frozen=True, slots=True)
class MergeRule:
    """Rule for a column: its name, and the column that `newest` and `first` compare, if named."""

    name: str
    column: str = ""

    @property
    def order(self) -> Rule:
        """The rule that ranks records by the column that is compared."""
        is_newest = self.name == NEWEST
        return Rule(field=self.column, is_descending=is_newest, is_date=is_newest)


@dataclass(slots=True)
class MergedColumn:
    """A column of merged records: of each the value, and the row that has it, -1 if it is joined.

    `keys` are those of the values of all rows. `uses` says of each what becomes of its value, "" if
    it has none. `fills` counts the kept records that had no value, `conflicts` the clusters with
    several, of which a person has chosen none.
    """

    keys: Sequence[Hashable]
    values: list[Any] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    uses: list[str] = field(default_factory=list)
    fills: int = 0
    conflicts: int = 0


def split_rules(words: Iterable[str]) -> dict[str, str]:
    """Split rules that are written as COLUMN:RULE, by column.

    Raises ArgumentError if a word is no such rule, or a column has two.
    """
    rules: dict[str, str] = {}
    for word in words:
        match = _WRITTEN.fullmatch(word)
        if match is None:
            reason = f"`merge_rule` cannot be {word!r}"
            step = f"give COLUMN:RULE, where RULE is {_CHOICES}"
            raise ArgumentError(reason, step, code="argument-invalid")
        if match[1] in rules:
            reason = f"the column {match[1]!r} has two rules"
            raise ArgumentError(reason, "give it one", code="arguments-conflict")
        rules[match[1]] = match[2]
    return rules


def parse_rules(rules: Mapping[str, str]) -> dict[str, MergeRule]:
    """Parse the rules of columns, or raise ArgumentError."""
    parsed: dict[str, MergeRule] = {}
    for column, text in rules.items():
        match = _RULE.fullmatch(text)
        if match is None:
            reason = f"the rule of {column!r} cannot be {text!r}"
            raise ArgumentError(reason, f"choose {_CHOICES}", code="argument-invalid")
        parsed[column] = MergeRule(match[1] or match[2], match[3] or "")
    return parsed


def merge_column(
    values: Sequence[Any], keys: Sequence[Hashable], bounds: Sequence[int], rule: MergeRule,
    ranks: Sequence[Any], choices: Mapping[int, tuple[int, Answer]],
) -> MergedColumn:  # fmt: skip
    """Merge the values of a column: cluster c has the rows from bounds[c] on, the kept one first.

    `ranks` has for each row what `newest` and `first` compare; `choices` have by number of the
    cluster the row that a person chose, with the answer. Values of equal `keys` (of `make_keys`)
    are one value. An empty value is filled whatever the rule is. Of equally good values,
    that of the kept record is chosen, then that of the first.
    """
    common = Counter(keys)
    merged = MergedColumn(keys=keys, uses=[""] * len(values))
    for cluster, (start, stop) in enumerate(pairwise(bounds)):
        use = CHOSEN
        filled = [row for row in range(start, stop) if keys[row] is not None]
        chosen = {*filled[:1]} or {start}
        value = values[min(chosen)]
        if cluster in choices:
            row, answer = choices[cluster]
            value, chosen = values[row], {row}
            use = f"{CHOSEN} by {answer.who}" if answer.who else CHOSEN
        elif len({keys[row] for row in filled}) > 1:
            merged.conflicts += 1
            if rule.name == JOINED:
                value, chosen = _join(values, filled)
            else:
                chosen = {_choose(values, keys, common, filled, start, rule, ranks)}
                value = values[min(chosen)]
        merged.fills += keys[start] is None and bool(filled)
        merged.values.append(value)
        merged.rows.append(min(chosen) if len(chosen) == 1 else -1)
        equal = {keys[row] for row in chosen}
        is_joined = rule.name == JOINED and cluster not in choices
        for row in range(start, stop):
            if keys[row] is None and plain(values[row]) in (None, "", []):
                continue
            is_equal = keys[row] in equal or is_joined
            merged.uses[row] = use if row in chosen else SAME if is_equal else LEFT_OUT
    return merged


def can_be_joined(values: Iterable[Any], *, as_texts: bool) -> bool:
    """Tell whether values are texts or lists, or could at least be written `as_texts`."""
    kinds = {*map(type, map(unbox, values))} - {type(None)}
    if as_texts:
        return kinds.isdisjoint((dict, bool))
    return all(issubclass(kind, (str, list, tuple)) for kind in kinds)


def _choose(
    values: Sequence[Any], keys: Sequence[Hashable], common: Mapping[Hashable, int],
    filled: Sequence[int], kept: int, rule: MergeRule, ranks: Sequence[Any],
) -> int:  # fmt: skip
    """Choose one of the rows of a cluster that have a value."""
    if rule.name == KEPT and keys[kept] is not None:
        return kept
    if rule.name == LONGEST:
        return max(filled, key=lambda row: _measure(values[row]))
    if rule.name in (NEWEST, FIRST):
        return rule.order.select_best(filled, ranks)[0]
    # The most frequent, of equals that which more of all records have: a slip is rare.
    counts = Counter(keys[row] for row in filled)
    return max(filled, key=lambda row: (counts[keys[row]], common[keys[row]]))


def _measure(value: Any) -> tuple[int, int]:
    """Measure how long a value is: the entries of a list, then its characters."""
    value = plain(value)
    return len(value) if isinstance(value, list) else 1, len(str(spell(value)))


def _join(values: Sequence[Any], rows: Sequence[int]) -> tuple[Any, set[int]]:
    """Join the values of rows, each part once, and tell which rows the parts are of.

    Lists, and single values among lists, become a list.
    """
    lists = {row: plain(values[row]) for row in rows}
    are_lists = any(isinstance(value, list) for value in lists.values())
    parts: dict[Hashable, Any] = {}
    chosen: set[int] = set()
    for row, value in lists.items():
        several = value if isinstance(value, list) else [value]
        if not are_lists:
            several = str(spell(value)).split(SEPARATOR)
        for part in several:
            if (key := make_key(part)) not in parts:
                parts[key] = part
                chosen.add(row)
    return ([*parts.values()] if are_lists else SEPARATOR.join(parts.values())), chosen
