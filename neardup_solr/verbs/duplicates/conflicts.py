"""Conflicts of merged records: several values of a column, of which a person may have chosen one.

A choice counts as long as the records of the cluster have the same values in the column.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import orjson

from neardup_solr.answers import Answer, ValueChoice
from neardup_solr.errors import counted
from neardup_solr.progress import LOG
from neardup_solr.sources.values import plain, spell
from neardup_solr.text.normalize import md5
from neardup_solr.verbs.duplicates.record_numbers import RecordGroup
from neardup_solr.verbs.duplicates.value_keys import make_key

# By column and by number of the cluster, the row of a value that was chosen, and the answer.
Placed = Mapping[str, Mapping[int, tuple[int, Answer]]]


def group_rows(keys: Sequence[Hashable], start: int, stop: int) -> dict[Hashable, list[int]]:
    """Group the rows of a cluster by the keys of their values, without those that have none."""
    rows: dict[Hashable, list[int]] = {}
    for row in range(start, stop):
        if keys[row] is not None:
            rows.setdefault(keys[row], []).append(row)
    return rows


def spell_value(value: Any) -> str:
    """Spell a value as a text, lists as JSON."""
    value = plain(value)
    if isinstance(value, list | dict):
        return orjson.dumps(value, default=str).decode()
    return str(spell(value))


def hash_values(values: Sequence[Any]) -> str:
    """Hash the values of a cluster, in whatever order, but for case, blanks and repeated ones."""
    keys = {*map(make_key, values)} - {None}
    spelled = sorted(orjson.dumps(key, default=bytes.decode) for key in keys)
    return md5(b"\n".join(spelled).decode())


def find_row(values: Sequence[Any], bounds: tuple[int, int], choice: ValueChoice) -> int:
    """Find the row of the value of a choice in a cluster, -1 if the values have changed."""
    if hash_values(values[slice(*bounds)]) != choice.values:
        return -1
    spelled = {row: spell_value(values[row]) for row in range(*bounds)}
    equal = [row for row in spelled if make_key(spelled[row]) == make_key(choice.value)]
    return min(equal, key=lambda row: spelled[row] != choice.value, default=-1)


def place_choices(
    choices: Iterable[Answer], groups: Sequence[RecordGroup], bounds: Sequence[int],
    columns: Mapping[str, Sequence[Any]],
) -> tuple[Placed, list[Answer]]:  # fmt: skip
    """Find the clusters and rows of choices, and those that no cluster has such values for.

    Of several choices for a column of a cluster, the last counts.
    """
    clusters = {str(id): at for at, group in enumerate(groups) for id in group.ids}
    latest: dict[tuple[Hashable, str], Answer] = {}
    for answer in choices:
        if answer.choice is not None:
            latest[clusters.get(answer.id, answer.id), answer.choice.column] = answer
    placed: dict[str, dict[int, tuple[int, Answer]]] = defaultdict(dict)
    outdated = []
    for (cluster, column), answer in latest.items():
        row = -1
        if isinstance(cluster, int) and column in columns and answer.choice is not None:
            row = find_row(columns[column], (bounds[cluster], bounds[cluster + 1]), answer.choice)
            placed[column] |= {cluster: (row, answer)} if row >= 0 else {}
        if row < 0:
            outdated.append(answer)
    return placed, outdated


def warn_outdated(outdated: Sequence[Answer]) -> None:
    """Log that choices are not applied."""
    for first in outdated[:1]:
        count = counted(len(outdated), "choice of a value is", "choices of values are")
        column = first.choice.column if first.choice else ""
        reason = "because the records or their values have changed since then: choose again"
        LOG.warning("%s not applied, %s (such as %s of %s)", count, reason, column, first.id)
