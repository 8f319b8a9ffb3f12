"""One record for each cluster, with the values of all of its records.

The values that the kept record lacks are filled, and rules choose among several values. Each value
that a record had is listed with that record, so that none is lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from neardup_solr import arguments, checks
from neardup_solr.answers import DIFFERENT
from neardup_solr.answers.verdicts import Answered
from neardup_solr.errors import ArgumentError, DataError, counted
from neardup_solr.measures.moments import read_moments
from neardup_solr.progress import OnProgress, ignore
from neardup_solr.records import AnyId, Removed
from neardup_solr.sources.change_column import choose_change_column
from neardup_solr.sources.column import list_near, matches
from neardup_solr.sources.notes import log_note
from neardup_solr.sources.reading import Reading
from neardup_solr.sources.values import plain
from neardup_solr.verbs.duplicates.conflicts import place_choices, warn_outdated
from neardup_solr.verbs.duplicates.merge_rules import (
    EVERY,
    JOINED,
    KEPT,
    NEWEST,
    MergedColumn,
    MergeRule,
    can_be_joined,
    merge_column,
    parse_rules,
)
from neardup_solr.verbs.duplicates.record_numbers import RecordGroup, RecordNumbers
from neardup_solr.verbs.duplicates.value_keys import make_keys

# Columns of the table of values, and what they hold.
VALUE_COLUMNS: Mapping[str, type] = {
    "id": str, "column": str, "value": str, "from_id": str, "from_row": int, "use": str
}  # fmt: skip
Columns: TypeAlias = Mapping[str, Sequence[Any]]  # by name, the values of some records


class RecordStore(Protocol):
    """The records of a source, which can be read once more."""

    @property
    def numbers(self) -> RecordNumbers:
        """The numbers of those that have a near-duplicate."""

    @property
    def reading(self) -> Reading:
        """The way in which the source is read."""

    @property
    def name(self) -> str:
        """The name of the source in messages."""

    @property
    def has_types(self) -> bool:
        """True if all values of a column have its type."""

    def read_columns(self, numbers: Sequence[int], on_progress: OnProgress) -> Columns:
        """Read the columns of some records."""

    def list_names(self) -> Sequence[str]:
        """List the names of the columns that any record has."""

    def take(self, merged: MergedClusters) -> Any:
        """Take all records that stay, the kept ones with their merged values."""

    def tabulate(self, rows: Iterator[Sequence[Any]]) -> Any:
        """Make a table of values like the records that are taken."""

    def write(self, merged: MergedClusters, path: Path, on_progress: OnProgress) -> None:
        """Write all records that stay, and beside them the values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedClusters:
    """Clusters as merged: the records of each, their columns, and what became of each column."""

    groups: Sequence[RecordGroup]
    columns: Columns
    results: Mapping[str, MergedColumn]

    @property
    def bounds(self) -> list[tuple[int, int]]:
        """The first row of each cluster in `columns`, and the first behind it."""
        return [*pairwise(find_bounds(self.groups))]

    def list_values(self) -> Iterator[tuple[AnyId, str, Any, AnyId, int, str]]:
        """List the rows of the table of values."""
        for group, (start, stop) in zip(self.groups, self.bounds, strict=True):
            for name, result in self.results.items():
                for at in range(start, stop):
                    if use := result.uses[at]:
                        value, member = self.columns[name][at], at - start
                        from_id, number = group.ids[member], group.numbers[member]
                        yield group.ids[0], name, value, from_id, number, use

    def list_changes(self) -> dict[int, dict[str, Any]]:
        """List the values that the kept records get from others, by their numbers."""
        changes: dict[int, dict[str, Any]] = {}
        for at, (group, (start, _)) in enumerate(zip(self.groups, self.bounds, strict=True)):
            changed = {
                name: result.values[at]
                for name, result in self.results.items()
                if result.rows[at] != start
            }
            if changed:
                changes[group.numbers[0]] = changed
        return changes


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """Clusters merged into one record each.

    `clusters`: number of merged records; `merged`: number of records in them; `filled`: values that
    the kept records lacked; `decided`: conflicts that a rule has decided; `chosen`: those that a
    person has decided in a review; `conflicts`: number of others by column, which are left to the
    kept record; `outdated`: choices of persons among values that have changed since.
    """

    clusters: int
    merged: int
    filled: int
    decided: int
    chosen: int
    conflicts: Mapping[str, int]
    outdated: int
    _store: RecordStore = field(repr=False)
    _clusters: MergedClusters = field(repr=False)

    @property
    def records(self) -> Any:
        """All records that stay: a DataFrame or an Arrow table like the source, else dicts."""
        return self._store.take(self._clusters)

    @property
    def values(self) -> Any:
        """Every value of merged records with the record that it comes from, like `records`.

        The columns are `id` (of the merged record), `column`, `value`, `from_id`, `from_row` (from
        1 on), and `use`: "chosen", "chosen by NAME" (of who chose it in a review), "same" (equal
        to the chosen one, in whatever notation) or "left out".
        """
        return self._store.tabulate(self._clusters.list_values())

    @arguments.checked
    def write(self, path: str | Path, *, on_progress: OnProgress | None = None) -> None:
        """Write the records that stay to a file, and `values` beside it, as in people.values.csv.

        The suffix selects the format: that of the source, or .jsonl. If writing fails, no file
        changes.

        Raises ArgumentError if the source is not a file or a folder, SourceError if it has changed
        or a file cannot be written.
        """
        self._store.write(self._clusters, Path(path), on_progress or ignore)


def list_clusters(merged: Merged) -> MergedClusters:
    """List the clusters that were merged, with all of their values."""
    return merged._clusters


def find_bounds(groups: Sequence[RecordGroup]) -> list[int]:
    """Find where each group begins if they follow each other, and where the last one ends."""
    return [*accumulate((len(group.ids) for group in groups), initial=0)]


def merge_records(
    store: RecordStore, removed: Mapping[AnyId, Removed], rules: Mapping[str, str],
    answered: Answered | None, on_progress: OnProgress = ignore,
) -> Merged:  # fmt: skip
    """Merge the records that are removed into those that are kept.

    Raises ArgumentError if a rule is none, or for a column that is missing; DataError if answers
    call two records of a cluster different, or a rule does not fit the values of its column;
    SourceError if the source has changed.
    """
    by_name = parse_rules(rules)
    groups = store.numbers.list_groups(removed)
    _refuse_different(groups, answered)
    columns = store.read_columns([*chain(*(group.numbers for group in groups))], on_progress)
    ids = list_ids(store.reading, [*columns])
    of_columns = _assign_rules(by_name, columns, ids, store)
    bounds = find_bounds(groups)
    ranks = {rule: _rank(rule, columns) for rule in {*of_columns.values()}}
    choices = answered.choices if answered else ()
    placed, outdated = place_choices(choices, groups, bounds, columns)
    warn_outdated(outdated)
    results = {
        name: merge_column(
            columns[name],
            make_keys(columns[name]),
            bounds,
            rule or MergeRule(KEPT),
            ranks[rule],
            placed.get(name, {}),
        )
        for name, rule in of_columns.items()
    }
    conflicts = {name: result.conflicts for name, result in results.items()}
    return Merged(
        clusters=len(groups),
        merged=bounds[-1],
        filled=sum(result.fills for result in results.values()),
        decided=sum(count for name, count in conflicts.items() if of_columns[name] is not None),
        chosen=sum(len(placed.get(name, ())) for name in results),
        conflicts={name: n for name, n in conflicts.items() if n and of_columns[name] is None},
        outdated=len(outdated),
        _store=store,
        _clusters=MergedClusters(groups=groups, columns=columns, results=results),
    )


def _refuse_different(groups: Sequence[RecordGroup], answered: Answered | None) -> None:
    """Refuse to merge records that an answer calls different, whether it is obeyed or not."""
    if answered is None:
        return
    group_of = {str(id): at for at, group in enumerate(groups) for id in group.ids}
    answers = (*answered.obeyed, *answered.set_aside, *answered.changed)
    apart = [
        answer
        for answer in answers
        if answer.answer == DIFFERENT and answer.id in group_of
        if group_of[answer.id] == group_of.get(answer.other_id)
    ]
    if apart:
        pair = f"{apart[0].id} and {apart[0].other_id}"
        more = f" and {counted(len(apart) - 1, 'more pair')}" if len(apart) > 1 else ""
        reason = f"answers call {pair}{more} different, but they are in one cluster"
        step = "answer again, or withdraw an answer that contradicts them"
        raise DataError(reason, step, code="data-at-risk")


def list_ids(reading: Reading, names: Sequence[str]) -> list[str]:
    """List the columns of ids, which are those of the kept records."""
    return [names[at] for at in matches(reading.id, names)] if reading.has_ids else []


def _assign_rules(
    by_name: Mapping[str, MergeRule], columns: Columns, ids: Sequence[str], store: RecordStore
) -> dict[str, MergeRule | None]:
    """Assign a rule, or None, to each column that has no ids."""
    names = [*columns]
    if any(not matches(each, names) for each in _list_named(by_name)):
        names = [*dict.fromkeys([*names, *store.list_names()])]
    check_rules(by_name, names, ids)
    of_columns = {names[at]: rule for name, rule in by_name.items() for at in matches(name, names)}
    newest = ""
    if MergeRule(NEWEST) in by_name.values() and any(columns.values()):
        newest = _find_newest(columns, store)

    def assign(name: str) -> MergeRule | None:
        rule = of_columns.get(name, by_name.get(EVERY))
        if rule is None:
            return None
        if rule.name == JOINED:
            is_named = name in of_columns
            as_texts = is_named and not store.has_types
            if not can_be_joined(columns[name], as_texts=as_texts):
                reason = f"the column {name!r} cannot be joined: its values are no texts or lists"
                step = "choose a different rule for it"
                checks.require(not is_named, reason, step, DataError, code="values-unfit")
                return None
        if rule.column:
            return replace(rule, column=names[matches(rule.column, names)[0]])
        return replace(rule, column=newest) if rule.name == NEWEST else rule

    return {name: assign(name) for name in columns if name not in ids}


def check_rules(
    by_name: Mapping[str, MergeRule], names: Sequence[str], ids: Sequence[str] = ()
) -> None:
    """Refuse rules for columns that are missing, or of the ids, by ArgumentError."""
    for name in _list_named(by_name):
        if not matches(name, names):
            reason = f"the column {name!r} of a rule is missing{list_near(name, names)}"
            raise ArgumentError(reason, "correct its name", code="column-missing")
    for name in ids:
        reason = f"the column {name!r} has the ids, and a merged record has that of the kept one"
        has_rule = any(matches(each, [name]) for each in by_name)
        checks.require(not has_rule, reason, "leave out its rule", code="arguments-conflict")


def _list_named(by_name: Mapping[str, MergeRule]) -> list[str]:
    """List the columns that rules name."""
    others = (rule.column for rule in by_name.values() if rule.column)
    return [name for name in (*by_name, *others) if name != EVERY]


def _find_newest(columns: Columns, store: RecordStore) -> str:
    """Find the column with the date of the last change, and say which it is."""
    name = choose_change_column(columns)
    log_note(f"{store.name}: the newest record is told by the column {name!r}")
    return name


def _rank(rule: MergeRule | None, columns: Columns) -> Sequence[Any]:
    """List what a rule compares of each record."""
    if rule is None or not rule.column:
        return ()
    values = columns.get(rule.column) or [None] * len(next(iter(columns.values()), ()))
    return read_moments(values) if rule.order.is_date else [plain(value) for value in values]
