"""Levels up to which the values of a field agree: not at all, nearly, wholly.

A value that is missing is no evidence. A rare value that both have says more than a common value,
so it is another level (frequency-based matching, Winkler 2000).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from neardup_solr.measures import Similarities
from neardup_solr.measures.alignment import compare_records
from neardup_solr.measures.columns import MISSING, FieldColumn, FieldKind, Marks, Numbers, Table
from neardup_solr.measures.pairs import Pairs, number_pairs, pairs_of

MISSING_LEVEL = "missing"  # the level of a pair that lacks a value
# The levels of each kind, with how far the two values agree, 0..1. The last two are equal values.
LEVELS: dict[FieldKind, tuple[tuple[str, float], ...]] = {
    "text": (
        ("different", 0.0), ("related", 0.6), ("similar", 0.8), ("nearly equal", 0.95),
        ("equal", 1.0), ("equal and rare", 1.0),
    ),
    "exact": (("different", 0.0), ("equal", 1.0), ("equal and rare", 1.0)),
    "number": (
        ("different", 0.0), ("within 10 %", 0.6), ("within 1 %", 0.8),
        ("equal", 1.0), ("equal and rare", 1.0),
    ),
    "date": (("different", 0.0), ("near", 0.6), ("equal", 1.0), ("equal and rare", 1.0)),
}  # fmt: skip
MOST_LEVELS = max(map(len, LEVELS.values()))
NEARLY = 3  # level of texts that are nearly equal
TEXT_STEPS = (0.5, 0.75, 0.9)  # similarities by `aligned` from which texts are related, similar, …
NUMBER_STEPS = (0.1, 0.01)  # differences, as a share of the larger number
DAYS = 31  # that dates are apart and still near
Levels = NDArray[np.int8]


def compare_fields(columns: Sequence[FieldColumn], pairs: Pairs, *, threads: int = 1) -> Levels:
    """Find the level up to which each field of each pair agrees, shape (pairs, fields)."""
    levels = np.full((len(pairs), len(columns)), MISSING, dtype=np.int8)
    for at, column in enumerate(columns):
        numbers = column.numbers[pairs]
        present = np.flatnonzero((numbers != MISSING).all(axis=1))
        levels[present, at] = _compare_values(column, numbers[present], threads)
    return levels


def _compare_values(column: FieldColumn, pairs: Numbers, threads: int) -> Levels:
    """Find the levels of pairs of values."""
    steps = len(LEVELS[column.kind])
    levels = np.zeros(len(pairs), dtype=np.int8)
    is_equal = pairs[:, 0] == pairs[:, 1]
    others = np.flatnonzero(~is_equal)
    if column.kind == "text":
        similarities = _compare_texts(column, pairs[others], threads)
        levels[others] = np.digitize(similarities, TEXT_STEPS)
        is_equal[others[similarities >= 1.0]] = True
    elif column.kind == "number":
        first, second = column.parsed[pairs[others], 0].T
        largest = np.maximum(np.abs(first), np.abs(second))
        apart = np.abs(first - second) / np.maximum(largest, 1e-300)
        levels[others] = sum((apart <= step).astype(np.int8) for step in NUMBER_STEPS)
    elif column.kind == "date":
        levels[others] = _are_near(column.parsed[pairs[others]])
    equal = pairs[is_equal]
    levels[is_equal] = steps - 2 + (column.has_rare[equal[:, 0]] | column.has_rare[equal[:, 1]])
    return levels


def _compare_texts(column: FieldColumn, pairs: Numbers, threads: int) -> Similarities:
    """Compute the similarities of pairs of texts, comparing each two once."""
    numbered = number_pairs(np.sort(pairs, axis=1).astype(np.uint32))
    each, places = np.unique(numbered, return_inverse=True)
    similarities = compare_records(
        column.values, pairs_of(each), column.words, threads=threads, lists=column.lists
    )
    return similarities[places.reshape(-1)]


def _are_near(dates: Table) -> Marks:
    """Mark pairs of dates, shape (pairs, 2, 3), that may be the same but for a slip.

    Two of their parts are equal, or day and month are swapped, or they are at most a month apart,
    or years alone at most one year. A part that either lacks may be as in the other.
    """
    first, second = dates[:, 0], dates[:, 1]
    is_given = (first > 0) & (second > 0)
    same = (first == second) & is_given
    swapped = same[:, 0] & (first[:, 1] == second[:, 2]) & (first[:, 2] == second[:, 1])
    days = np.abs((first - second) @ (365.25, 30.44, 1.0))
    are_whole = is_given.all(axis=1)
    part = np.where(is_given[:, 1], same[:, :2].all(axis=1), np.abs(first - second)[:, 0] <= 1)
    whole = (same.sum(axis=1) >= 2) | swapped | (days <= DAYS)
    near: Marks = np.where(are_whole, whole, part)
    return near


def mark_equal(levels: Levels, kinds: Sequence[FieldKind]) -> Marks:
    """Mark the fields that are equal in each pair, shape (pairs, fields)."""
    marks: Marks = levels >= np.array([len(LEVELS[kind]) - 2 for kind in kinds])
    return marks


def list_agreements(kinds: Sequence[FieldKind]) -> Table:
    """List how far values agree by field and level, the last for missing."""
    agreements = np.zeros((len(kinds), MOST_LEVELS + 1))
    for at, kind in enumerate(kinds):
        agreements[at, : len(LEVELS[kind])] = [agreement for _, agreement in LEVELS[kind]]
    return agreements
