"""The answers of people about the documents that are compared, by row, and how they are obeyed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from numpy.typing import NDArray

from neardup_solr.answers import (
    DIFFERENT,
    SAME,
    UNSURE,
    Answer,
    choose_latest,
    hash_text,
    set_aside,
)
from neardup_solr.clusters import NO_PAIRS, components
from neardup_solr.errors import counted
from neardup_solr.measures.arrays import Pairs, number_pairs
from neardup_solr.progress import LOG
from neardup_solr.records import AnyId
from neardup_solr.verbs.duplicates.inputs import AT_ONCE, Gathered

DocumentKey = tuple[int, AnyId]  # a document: its side, 0 or 1, and its id


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The answers that a run was given, each the latest about its pair, by what became of them.

    `obeyed` ones said same or different; `unsure` ones change nothing; those `set_aside` contradict
    newer ones. The texts of `changed` ones are others by now, and the documents of `gone` ones are
    not there, or have no words: neither is obeyed. `same` and `different` are the pairs that were
    judged so, by side and id, if both documents have a near-duplicate.
    """

    obeyed: tuple[Answer, ...] = ()
    unsure: tuple[Answer, ...] = ()
    set_aside: tuple[Answer, ...] = ()
    changed: tuple[Answer, ...] = ()
    gone: tuple[Answer, ...] = ()
    same: frozenset[tuple[DocumentKey, DocumentKey]] = field(default=frozenset(), repr=False)
    different: frozenset[tuple[DocumentKey, DocumentKey]] = field(default=frozenset(), repr=False)

    def __str__(self) -> str:
        counts = {"set aside": self.set_aside, "about other texts": self.changed,
                  "about documents that are not there": self.gone}  # fmt: skip
        more = "".join(f", {len(ones):,} {why}" for why, ones in counts.items() if ones)
        return f"{counted(len(self.obeyed), 'answer')} obeyed{more}"

    def warn(self, path: object) -> None:
        """Log which answers of a file are not obeyed, and why."""
        if self.set_aside:
            LOG.warning(
                "%s not obeyed, because newer ones contradict: neardup answer --list --answers %s"
                " shows them",
                counted(len(self.set_aside), "answer is", "answers are"), path,
            )  # fmt: skip
        for ones, why in (
            (self.changed, "texts that have changed since: answer again"),
            (self.gone, "documents that are not there, or have no words"),
        ):
            if ones:
                answers = counted(len(ones), "answer is", "answers are")
                pair = f"{ones[0].id} – {ones[0].other_id}"
                LOG.warning("%s not obeyed, about %s (such as %s)", answers, why, pair)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowAnswers:
    """The answers that are obeyed, as pairs of rows, the smaller one first.

    `groups` has for each row the first one that is the same by answers; `apart` are the pairs of
    groups that are different, as `number_pairs` numbers them.
    """

    same: Pairs
    different: Pairs
    unsure: Pairs
    answered: Answered
    groups: NDArray[np.int64]
    apart: NDArray[np.uint64]

    def mark_allowed(self, pairs: Pairs) -> NDArray[np.bool_]:
        """Mark the pairs that are not different, by an answer or by what follows from several."""
        groups = np.sort(self.groups[pairs], axis=1).astype(np.uint32)
        return ~np.isin(number_pairs(groups), self.apart)

    def name(self, pairs: Pairs) -> list[str]:
        """The answer about each pair of rows, "" if there is none."""
        known = {
            pair: word
            for word, ones in ((SAME, self.same), (UNSURE, self.unsure))
            for pair in number_pairs(ones).tolist()
        }
        numbers = number_pairs(np.sort(pairs, axis=1).astype(np.uint32))
        return [known.get(number, "") for number in numbers.tolist()]


def find_answered(gathered: Gathered) -> RowAnswers:
    """Find the documents that answers are about, and the answers that are obeyed."""
    latest = choose_latest(gathered.options.judged)
    rows = _find_rows(gathered, {id for one in latest for id in (one.id, one.other_id)})
    hashed = {one.id for one in latest if one.hash} | {
        one.other_id for one in latest if one.other_hash
    }
    hashes = _hash_texts(gathered, sorted({row for id in hashed for row in rows.get(id, ())}))
    placed: list[tuple[Answer, int, int]] = []
    gone: list[Answer] = []
    changed: list[Answer] = []
    for answer in latest:
        places = list(_find_places(answer, rows, gathered))
        near = [pair for pair in places if _agrees(answer, *pair, hashes)]
        if near:
            placed.append((answer, *near[0]))
        else:
            (changed if places else gone).append(answer)
    aside = list(set_aside(placed))
    refused = set(map(id, aside))
    by_word: dict[str, list[tuple[int, int]]] = {SAME: [], DIFFERENT: [], UNSURE: []}
    for answer, one, other in placed:
        if id(answer) not in refused:
            by_word[answer.answer].append((min(one, other), max(one, other)))
    tables = {word: _table(pairs) for word, pairs in by_word.items()}
    groups = components(len(gathered), tables[SAME])
    apart = np.sort(groups[tables[DIFFERENT]], axis=1).astype(np.uint32)
    obeyed = [one for one, *_ in placed if id(one) not in refused]
    answered = Answered(
        obeyed=tuple(one for one in obeyed if one.answer != UNSURE),
        unsure=tuple(one for one in obeyed if one.answer == UNSURE),
        set_aside=tuple(aside),
        changed=tuple(changed),
        gone=tuple(gone),
    )
    answered.warn(gathered.options.answers)
    return RowAnswers(
        same=tables[SAME],
        different=tables[DIFFERENT],
        unsure=tables[UNSURE],
        answered=answered,
        groups=groups,
        apart=number_pairs(apart),
    )


def _table(pairs: Sequence[tuple[int, int]]) -> Pairs:
    return np.unique(np.array(pairs, dtype=np.uint32), axis=0) if pairs else NO_PAIRS


def _find_rows(gathered: Gathered, wanted: Collection[str]) -> Mapping[str, Sequence[int]]:
    """Find the rows of documents by their ids, several if two sides have an id."""
    found: dict[str, list[int]] = defaultdict(list)
    living = gathered.living()
    for at in range(0, len(living) if wanted else 0, AT_ONCE):
        rows = living[at : at + AT_ONCE].tolist()
        for row, id in zip(rows, map(str, gathered.ids(rows)), strict=True):
            if id in wanted:
                found[id].append(row)
    return found


def _hash_texts(gathered: Gathered, rows: Sequence[int]) -> dict[int, str]:
    """Hash the texts of ascending rows, without those that are gone."""
    found: dict[int, str] = {}
    for at in range(0, len(rows), AT_ONCE):
        part = rows[at : at + AT_ONCE]
        texts = zip(part, gathered.texts(part), strict=True)
        found |= {row: hash_text(text) for row, text in texts if text is not None}
    return found


def _find_places(
    answer: Answer, rows: Mapping[str, Sequence[int]], gathered: Gathered
) -> Iterator[tuple[int, int]]:
    """Find the rows that an answer may be about; of two sides, first those across them in order."""
    bounds = gathered.bounds
    second = bounds[1] if len(bounds) > 2 else bounds[-1]
    pairs = [pair for pair in product(rows.get(answer.id, ()), rows.get(answer.other_id, ()))
             if pair[0] != pair[1]]  # fmt: skip
    sides = {pair: (pair[0] >= second, pair[1] >= second) for pair in pairs}
    for pair in sorted(pairs, key=lambda pair: (sides[pair] != (False, True), pair)):
        if not answer.ordered or len(bounds) == 2 or sides[pair] == (False, True):
            yield pair


def _agrees(answer: Answer, one: int, other: int, hashes: Mapping[int, str]) -> bool:
    """Tell whether both texts are those that were judged, as far as that is known."""
    known = ((answer.hash, one), (answer.other_hash, other))
    return all(not hash or hashes.get(row) == hash for hash, row in known)
