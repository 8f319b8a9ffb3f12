"""Two lists in one source, such as two catalogues that were put into one file.

Nothing in a file says so, but its matches do. Of records that match each other best, about half are
in different parts, however a single list is parted; if it was parted by what the records are, fewer
are. Of two lists that describe the same things nearly all are. So a source is parted where its
second list may begin, and by what columns tell: a column that one list fills in, or one that has
two values. Most of the best matches have to be across, and more than chance makes so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from neardup_solr.measures.columns import MISSING, FieldColumn, Marks, Numbers, Table
from neardup_solr.measures.fields import LEAST_PROBABILITY
from neardup_solr.measures.pairs import Pairs, mutual_best

MOST_BY_CHANCE = 4.0  # standard deviations
ACROSS, ACROSS_AT_LEAST = 0.75, 0.55  # of the best matches: two lists for sure, or perhaps
SURE = math.log2(9.0)  # log2 odds: nine in ten are the same; or half of the best matches are
SOUND, LACKING = 0.9, 0.5  # F1 of the fields by what is sure, recall of it
# Precision of the fields, if no pair within a list is right: below the first the lists have copies
# of their own, below the second whole records may be better, from the third on nothing is wrong.
MOSTLY_ONCE, ONCE, EXACT = 0.7, 0.9, 0.98
FEW = 3  # pairs within the lists that say nothing
SERIES = 0.5  # of the best matches, from which two lists are parts of a series


class TwoLists(NamedTuple):
    """Two lists: True for records of the second, (records,), and the share of matches across.

    `border` says in words what parts them.
    """

    is_second: Marks
    across: float
    border: str

    def mark_across(self, pairs: Pairs) -> Marks:
        """Mark the pairs of a record of either list, shape (pairs,)."""
        marks: Marks = self.is_second[pairs[:, 0]] != self.is_second[pairs[:, 1]]
        return marks

    def mark_best(self, pairs: Pairs, odds: Table, least: float = 0.0) -> Marks:
        """Mark the pairs across both lists that are the best of both records, shape (pairs,)."""
        marks = np.zeros(len(pairs), dtype=np.bool_)
        rows = np.flatnonzero(self.mark_across(pairs) & (odds >= least))
        marks[rows] = mutual_best(pairs[rows], odds[rows])
        return marks


def find_lists(columns: Sequence[FieldColumn], best: Pairs) -> TwoLists | None:
    """Find the lists that most of the best matches are across, None if no parting has enough.

    `best` (pairs, 2) are pairs of records that match each other best, and are likely the same.
    """
    lists = [
        TwoLists(is_second, float((is_second[best[:, 0]] != is_second[best[:, 1]]).mean()), border)
        for is_second, border in _part(columns, best.astype(np.int64))
    ]
    likely = max(lists, key=lambda each: each.across, default=None)
    least = max(ACROSS_AT_LEAST, 0.5 + MOST_BY_CHANCE / 2 / math.sqrt(max(len(best), 1)))
    return likely if likely is not None and likely.across >= least else None


def _part(columns: Sequence[FieldColumn], best: Numbers) -> Iterator[tuple[Marks, str]]:
    """Part records where most of the best matches are across, and by each column."""
    if not len(best):
        return
    records = len(columns[0].numbers)
    first, last = np.sort(best, axis=1).T
    begun, ended = (np.bincount(ends + 1, minlength=records + 1) for ends in (first, last))
    across = np.cumsum(begun - ended)
    border = int(np.flatnonzero(across == across.max()).mean())
    yield np.arange(records) >= border, f"the second begins with record {border + 1:,}"
    for column in columns:
        is_filled = column.numbers != MISSING
        if not is_filled.all() and is_filled.any():
            yield is_filled, f"one is without {column.name}"
        elif len(column.values) == 2:
            yield column.numbers == 1, f"{column.name} tells them apart"


def match_lists(
    lists: TwoLists, columns: Sequence[FieldColumn], pairs: Pairs, odds: Table, probabilities: Table
) -> tuple[Marks, bool] | None:
    """Mark the pairs that are the best matches across two lists, and tell if by their odds.

    Their `probabilities` by the fields are better, unless these lack what is sure by the `odds`, or
    find much within a list. None if the source is better matched as one list, as parts of a series
    are, which are most alike as wholes.
    """
    is_across, by_odds = lists.mark_across(pairs), lists.mark_best(pairs, odds)
    are_series = _mark_series(columns, pairs[by_odds]).mean() > SERIES
    is_match = probabilities >= LEAST_PROBABILITY
    across, within = (int(np.count_nonzero(is_match & side)) for side in (is_across, ~is_across))
    sure = by_odds & (odds >= min(SURE, float(np.median(odds[by_odds]))))
    recall = float(is_match[sure].mean())
    precision = max(0.0, 1.0 - within / max(across, 1))
    if recall < LACKING:
        return None if are_series else (by_odds, True)
    if lists.across < ACROSS or precision < MOSTLY_ONCE:
        return None
    if precision >= ONCE:
        is_exact = within < max(FEW, (1.0 - EXACT) * across)
        return None if is_exact else (lists.mark_best(pairs, probabilities), False)
    is_sound = 2 * recall * precision / (recall + precision) >= SOUND
    return None if is_sound or are_series else (by_odds, True)


def _mark_series(columns: Sequence[FieldColumn], pairs: Pairs) -> Marks:
    """Mark pairs of records that differ in codes, numbers or dates alone, shape (pairs,)."""
    are_equal, have_others = np.ones(len(pairs), np.bool_), np.zeros(len(pairs), np.bool_)
    for column in columns:
        first, second = column.equal[pairs].T
        if column.kind == "text":
            are_equal &= first == second
        else:
            have_others |= (first != second) & (first != MISSING) & (second != MISSING)
    return are_equal & have_others
