"""Questions about conflicts: which of several values a merged record gets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from math import inf
from typing import Any

from neardup_solr.answers import NO_PAIR, UNSURE, Answer, ValueChoice
from neardup_solr.answers.answer_file import AnswerFile
from neardup_solr.text.normalize import md5
from neardup_solr.verbs.duplicates.conflicts import (
    Placed,
    group_rows,
    hash_values,
    place_choices,
    spell_value,
)
from neardup_solr.verbs.duplicates.merge import MergedClusters
from neardup_solr.verbs.review.questions import LEASE

MOST_SHOWN, BEFORE = 400, 60  # characters of a value, and of those before the first difference
MOST_VALUES, MOST_IDS = 50, 5  # of a column, and of the records of a value
TICK = timedelta(milliseconds=1)


@dataclass(slots=True)
class Visit:
    """Acts of a person: groups that are over, choices to undo, and if chosen ones are shown."""

    over: set[int] = field(default_factory=set)
    history: list[tuple[int, list[Answer]]] = field(default_factory=list)
    is_again: bool = False


class ConflictQuestions:
    """Groups of records with conflicts, those with most first, each for one reader at a time.

    A group is known by the number of its kept record. `read` reads what others add to the `file`.
    Not safe for several threads.
    """

    def __init__(self, file: AnswerFile, who: str, read: Callable[[], object]) -> None:
        self.file, self.who, self.read = file, who, read
        self._visits = defaultdict[str, Visit](Visit)  # by browser
        self._held = dict[int, tuple[str, float]]()
        self.open(MergedClusters(groups=(), columns={}, results={}))

    @property
    def saved(self) -> int:
        """Number of choices that were saved, and not undone."""
        return sum(len(saved) for visit in self._visits.values() for _, saved in visit.history)

    def open(self, merged: MergedClusters) -> None:
        """Ask about groups as they are by the answers, merged without choices of values."""
        self._merged, self._bounds = merged, [0, *(stop for _, stop in merged.bounds)]
        self._placed: Placed = {}  # the choices that stand
        names = [[*self._list_conflicts(at)] for at in range(len(merged.groups))]
        order = sorted(filter(names.__getitem__, range(len(names))), key=lambda at: -len(names[at]))
        self._groups = {merged.groups[at].numbers[0]: (at, names[at]) for at in order}

    def act(
        self, action: str, reader: str, number: int, picks: Mapping[str, int], state: str,
        now: float,
    ) -> dict[str, Any]:  # fmt: skip
        """Do what a page asks for, and give it the next group.

        `picks` are numbers of values, by column, of a group that was shown in this `state`.
        """
        self._read_choices()
        visit, note = self._visits[reader.partition("/")[0]], dict[str, Any](did=action)
        current = _hash(self._describe(number)) if number in self._groups else None
        if action in ("values", "again"):
            visit.over, visit.is_again = set(), action == "again"
        elif action == "undo" and visit.history:
            number, saved = visit.history[-1]
            self._append([replace(each, withdraws=each.time) for each in saved])
            visit.history.pop()
            visit.over.discard(number)
            self._held = {number: (reader, now)} | self._held  # before what is shown now
            note["undone"] = len(saved)
        elif action == "choose" and state != current:
            note["did"] = "changed"
        elif action in ("choose", "pass"):
            choices = self._choose(number, picks) if action == "choose" else []
            visit.history.append((number, self._append(choices)))
            visit.over.add(number)
        return self._show(self._choose_next(reader, visit, now), visit, note)

    def _read_choices(self) -> None:
        """Find the groups of the choices that stand, to which others may have added."""
        self.read()
        merged, choices = self._merged, self.file.choices
        self._placed, _ = place_choices(choices, merged.groups, self._bounds, merged.columns)

    def _list_conflicts(self, at: int) -> dict[str, dict[Hashable, list[int]]]:
        """List the columns in which a group has several values.

        First the value that was chosen, if one was, then by frequency; of equals, first the one
        that counts without a choice.
        """
        conflicts = {}
        for name, result in self._merged.results.items():
            rows = group_rows(result.keys, *self._bounds[at : at + 2])
            if len(rows) < 2:
                continue
            chosen, _ = self._placed.get(name, {}).get(at, (-1, None))
            kept = result.rows[at]
            ranks = {key: (chosen not in same, -len(same), kept not in same)
                     for key, same in rows.items()}  # fmt: skip
            conflicts[name] = {key: rows[key] for key in sorted(rows, key=ranks.__getitem__)}
        return conflicts

    def _list_chosen(self, number: int) -> dict[str, Answer]:
        """List the choices that stand for a group, by column."""
        at, names = self._groups[number]
        return {name: self._placed[name][at][1] for name in names
                if at in self._placed.get(name, {})}  # fmt: skip

    def _describe(self, number: int) -> list[dict[str, Any]]:
        """Describe the columns of a group that have several values.

        That is who chose the first of them, if somebody did, and the place of the one that is
        `kept` without a choice.
        """
        at, chosen = self._groups[number][0], self._list_chosen(number)
        ids, start = self._merged.groups[at].ids, self._bounds[at]
        columns = []
        for name, several in self._list_conflicts(at).items():
            values = [*several.values()][:MOST_VALUES]
            texts = _cut([spell_value(self._merged.columns[name][rows[0]]) for rows in values])
            kept = self._merged.results[name].rows[at]
            columns.append({
                "name": name, "who": chosen[name].who if name in chosen else None,
                "kept": next((at for at, rows in enumerate(values) if kept in rows), -1),
                "values": [(text, len(rows), [str(ids[row - start]) for row in rows[:MOST_IDS]])
                           for text, rows in zip(texts, values, strict=True)],
            })  # fmt: skip
        return columns

    def _choose(self, number: int, picks: Mapping[str, int]) -> list[Answer]:
        """Make choices of values of a group, but for those that stand."""
        at, choices, chosen = self._groups[number][0], [], self._list_chosen(number)
        id = str(self._merged.groups[at].ids[0])
        for name, rows in self._list_conflicts(at).items():
            pick = picks.get(name, -1)
            if (pick > 0 or name not in chosen) and 0 <= pick < len(rows):
                row = [*rows.values()][pick][0]
                column = self._merged.columns[name]
                value, values = spell_value(column[row]), column[slice(*self._bounds[at : at + 2])]
                choice = ValueChoice(column=name, value=value, values=hash_values(values))
                choices.append(Answer(id=id, other_id=id, answer=UNSURE, who=self.who,
                                      withdraws=NO_PAIR, choice=choice))  # fmt: skip
        return choices

    def _append(self, answers: Sequence[Answer]) -> list[Answer]:
        """Save answers, at a later time than that of any other choice."""
        now = max([datetime.now(UTC), *(each.when + TICK for each in self.file.choices[-1:])])
        saved = [replace(answer, when=now) for answer in answers]
        self.file.append(saved)
        self._read_choices()
        return saved

    def _is_open(self, number: int, visit: Visit) -> bool:
        """Return True if a group is to be shown: by default, if not all of it was chosen."""
        is_chosen = len(self._list_chosen(number)) == len(self._groups[number][1])
        return number not in visit.over and (visit.is_again or not is_chosen)

    def _choose_next(self, reader: str, visit: Visit, now: float) -> int | None:
        """Choose the next group for a reader, who keeps it for some time: the same one, if open."""
        mine = [number for number, (holder, _) in self._held.items() if holder == reader]
        self._held = {each: held for each, held in self._held.items() if each not in mine}
        for number in (*mine, *self._groups):
            _, since = self._held.get(number, ("", -inf))
            if now - since > LEASE and number in self._groups and self._is_open(number, visit):
                self._held[number] = reader, now
                return number
        return None

    def _show(self, number: int | None, visit: Visit, note: Mapping[str, Any]) -> dict[str, Any]:
        """Show a group: what its records agree on, and the values that they do not."""
        left = sum(self._is_open(each, visit) for each in self._groups)
        shown = {"note": note, "left": left, "groups": len(self._groups), "number": number}
        if number is None:
            return shown
        at, names = self._groups[number]
        columns = self._describe(number)
        agreed = [(name, spell_value(result.values[at]))
                  for name, result in self._merged.results.items()
                  if result.uses[result.rows[at]] and name not in names]  # fmt: skip
        return shown | {
            "state": _hash(columns), "columns": columns,
            "records": len(self._merged.groups[at].ids),
            "agreed": [(name, *_cut([text])) for name, text in agreed],
        }  # fmt: skip


def _hash(columns: Sequence[Mapping[str, Any]]) -> str:
    """Hash what is shown of a group, so that it is known if that has changed."""
    return md5(repr(columns))


def _cut(texts: Sequence[str]) -> list[str]:
    """Cut long texts to a part that begins before the first difference."""
    begin = 0
    if max(map(len, texts)) > MOST_SHOWN:
        characters = enumerate(zip(*texts, strict=False))
        begin = next((at for at, several in characters if len({*several}) > 1), 0)
        begin = max(0, begin - BEFORE)
    return ["… " * (begin > 0) + text[begin : begin + MOST_SHOWN]
            + " …" * (len(text) > begin + MOST_SHOWN) for text in texts]  # fmt: skip
