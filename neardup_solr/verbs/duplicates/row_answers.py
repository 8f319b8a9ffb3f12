"""Answers of people about the documents of `duplicates`, by row."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup_solr.answers import (
    DIFFERENT,
    JUDGEMENTS,
    SAME,
    UNSURE,
    Answer,
    choose_latest,
    hash_text,
    list_choices,
)
from neardup_solr.answers.verdicts import CHANGED, GONE, Answered, place_answers
from neardup_solr.clusters.components import components
from neardup_solr.distinct import mark_among, sort_distinct_rows
from neardup_solr.measures.pairs import Pairs, number_pairs
from neardup_solr.verbs.duplicates.corpus import Corpus
from neardup_solr.verbs.duplicates.parts import AT_ONCE


@dataclass(frozen=True, slots=True, kw_only=True)
class RowAnswers:
    """The answers that are obeyed: by their word, pairs of rows, the smaller one first.

    `apart` are the pairs of rows that share no cluster; `groups` has for each row the first one
    that is the same by answers.
    """

    pairs: Mapping[str, Pairs]
    answered: Answered
    apart: Pairs
    groups: NDArray[np.int64]

    def mark_allowed(self, pairs: Pairs) -> NDArray[np.bool_]:
        """Mark the pairs that are not apart, by an answer or by what follows from several."""
        apart = _number_unordered(self.groups[self.apart])
        return ~mark_among(_number_unordered(self.groups[pairs]), apart)

    def name(self, pairs: Pairs) -> list[str]:
        """The answer about each pair of rows, "" if there is none."""
        words = {
            number: word
            for word, answered in self.pairs.items()
            for number in _number_unordered(answered).tolist()
        }
        return [words.get(number, "") for number in _number_unordered(pairs).tolist()]


def _number_unordered(pairs: NDArray[Any]) -> NDArray[np.uint64]:
    """Give each pair as one number, whatever its order."""
    return number_pairs(np.sort(pairs, axis=1).astype(np.uint32))


def find_answered(
    corpus: Corpus, answers: Iterable[Answer], *, unsure_apart: bool = False
) -> RowAnswers:  # fmt: skip
    """Find the documents that answers are about, and the answers that are obeyed.

    Documents that answers are unsure of are apart, too, if `unsure_apart`.
    """
    answers = [*answers]
    latest = choose_latest(answers)
    ends = [(id, hash) for answer in latest for id, hash in
            ((answer.id, answer.hash), (answer.other_id, answer.other_hash))]  # fmt: skip
    rows = _find_rows(corpus, {id for id, _ in ends})
    hashes = _hash_texts(
        corpus, sorted({row for id, hash in ends if hash for row in rows.get(id, ())})
    )

    def locate(answer: Answer) -> tuple[int, int] | str:
        places = list(_find_places(answer, rows, corpus))
        near = next((pair for pair in places if _agrees(answer, *pair, hashes)), None)
        return near or (CHANGED if places else GONE)

    verdicts, answered = place_answers(latest, locate)
    pairs = {
        word: sort_distinct_rows(
            np.sort(np.array([pair for answer, *pair in verdicts.held if answer.answer == word],
                             np.uint32).reshape(-1, 2), axis=1)
        )
        for word in JUDGEMENTS
    }  # fmt: skip
    groups = components(len(corpus), pairs[SAME])
    apart = pairs[DIFFERENT]
    if unsure_apart:
        first, second = groups[pairs[UNSURE]].T  # those that are the same by others stay together
        apart = np.concatenate([apart, pairs[UNSURE][first != second]])
    answered = replace(answered, choices=tuple(list_choices(answers)))
    return RowAnswers(pairs=pairs, answered=answered, groups=groups, apart=apart)


def _find_rows(corpus: Corpus, wanted: Collection[str]) -> dict[str, list[int]]:
    """Find the rows of documents by their ids, several if two sides have an id."""
    rows: dict[str, list[int]] = defaultdict(list)
    living = corpus.living()
    for at in range(0, len(living) if wanted else 0, AT_ONCE):
        part = living[at : at + AT_ONCE].tolist()
        for row, id in zip(part, map(str, corpus.ids(part)), strict=True):
            if id in wanted:
                rows[id].append(row)
    return rows


def _hash_texts(corpus: Corpus, rows: Sequence[int]) -> dict[int, str]:
    """Hash the texts of ascending rows, without those that are gone."""
    hashes: dict[int, str] = {}
    for at in range(0, len(rows), AT_ONCE):
        part = rows[at : at + AT_ONCE]
        texts = zip(part, corpus.texts(part), strict=True)
        hashes |= {row: hash_text(text) for row, text in texts if text is not None}
    return hashes


def _find_places(
    answer: Answer, rows: Mapping[str, Sequence[int]], corpus: Corpus
) -> Iterator[tuple[int, int]]:
    """Find the rows that an answer may be about, first those across two sides in order."""
    has_sides = len(corpus.sides) > 1
    second = corpus.bounds[1]

    def is_across(pair: tuple[int, int]) -> bool:
        return pair[0] < second <= pair[1]

    def order(pair: tuple[int, int]) -> tuple[bool, bool, tuple[int, int]]:
        return not is_across(pair), not is_across((pair[1], pair[0])), pair

    pairs = product(rows.get(answer.id, ()), rows.get(answer.other_id, ()))
    for pair in sorted(pairs, key=order):
        if pair[0] != pair[1] and (is_across(pair) or not (answer.ordered and has_sides)):
            yield pair


def _agrees(answer: Answer, row: int, other_row: int, hashes: Mapping[int, str]) -> bool:
    """Tell whether both texts are those that were judged, as far as that is known."""
    pairs = ((answer.hash, row), (answer.other_hash, other_row))
    return all(not hash or hashes.get(row) == hash for hash, row in pairs)
