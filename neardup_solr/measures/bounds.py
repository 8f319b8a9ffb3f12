"""Bounds of the odds of a match: by records that agree alike, and by chance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup_solr.distinct import mark_among
from neardup_solr.measures.columns import MISSING, FieldColumn, Marks, Numbers, Table
from neardup_solr.measures.em import MOST_BITS
from neardup_solr.measures.levels import (
    LEVELS,
    MOST_LEVELS,
    NEARLY,
    Levels,
    compare_fields,
    mark_equal,
)
from neardup_solr.measures.members import is_code
from neardup_solr.measures.other_names import mark_names
from neardup_solr.measures.pairs import Pairs, number_pairs
from neardup_solr.measures.weights import Weights

DRAWN = 50_000  # pairs of strangers
RARELY = 0.05  # pairs of these, for which a level counts that none of them has
FEWEST_OTHERS = 2  # that agree as a pair does, from which they count against it
_ODD = np.uint64(0x9E3779B97F4A7C15)


def bound_odds(
    columns: Sequence[FieldColumn], pairs: Pairs, levels: Levels, weights: Weights
) -> Table:
    """Compute the most log2 odds that pairs may have by the records that agree as they do.

    How many of these differ from each other is the inverse of the share of two that do not (the
    inverse index of Simpson 1949), in the field where they differ least: the copies of a record,
    and few slips in them, count once.
    """
    is_same = mark_equal(levels, weights.kinds)
    is_unlike: Marks = levels == 0
    is_unlike |= ~is_same & (levels != MISSING) & ~is_unlike.any(axis=1, keepdims=True)
    bits = weights.measure_levels()[np.arange(len(columns)), levels]
    others_say = np.where(is_same, 0.0, bits).sum(axis=1)
    of_records = np.stack([column.numbers for column in columns], axis=1)
    numbers = np.stack([column.counted.numbers for column in columns], axis=1)
    is_beside = columns[0].sample is not None  # which the pairs belong to as well
    hashes, own_hashes = _hash_fields(numbers), _hash_fields(of_records)
    most = np.full(len(pairs), np.inf)
    patterns, of_pattern = np.unique(np.hstack([is_same, is_unlike]), axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        same, unlike = pattern[: len(columns)], pattern[len(columns) :]
        at = np.flatnonzero((of_pattern.reshape(-1) == number) & (others_say <= 0.0))
        if not (len(at) and same.any() and unlike.any()):
            continue
        of_pairs = own_hashes[:, same].sum(axis=1)[pairs[at]]
        shared = hashes[:, same].sum(axis=1)
        agreeing = np.flatnonzero(mark_among(shared, of_pairs))
        agreeing = agreeing[(numbers[agreeing][:, unlike] != MISSING).all(axis=1)]
        shared = shared[agreeing]
        differ: Table = np.full(of_pairs.shape, np.inf)
        for column in np.flatnonzero(unlike).tolist():
            both = _hash(shared * _ODD + hashes[agreeing, column])
            each, first, counts = np.unique(both, return_index=True, return_counts=True)
            groups, places = np.unique(shared[first], return_inverse=True)
            sizes, squares = (
                _look_up(groups, np.bincount(places, counts**power), of_pairs)
                for power in (1.0, 2.0)
            )
            if is_beside:
                for side in (0, 1):
                    values = own_hashes[pairs[at, side], column][:, np.newaxis]
                    squares += 1.0 + 2.0 * _look_up(each, counts, _hash(of_pairs * _ODD + values))
                sizes += 2.0
            differ = np.minimum(differ, sizes**2 / squares)
        others = differ.max(axis=1) - 2.0
        counting = others >= FEWEST_OTHERS - 0.01
        bound = others_say[at] - 1.0 - np.log2(np.maximum(others, 1.0))
        most[at] = np.where(counting, bound, np.inf)
    return most


def _look_up(keys: NDArray[np.uint64], sums: NDArray[Any], sought: NDArray[np.uint64]) -> Table:
    """Look up the sum of each key that is sought among rising keys, 0.0 if it is not there."""
    places = np.searchsorted(keys, sought)
    padded = np.append(keys, np.uint64(0)), np.append(sums, 0.0)
    looked_up: Table = np.where(padded[0][places] == sought, padded[1][places], 0.0)
    return looked_up


def bound_states(
    columns: Sequence[FieldColumn], pairs: Pairs, levels: Levels, weights: Weights, threads: int
) -> dict[int, float]:
    """Compute the most log2 odds that pairs in a state may have, by their number.

    If all records were of different things and their fields independent, as many pairs of different
    records as the rates of the levels say would agree as far in the same fields. The odds are those
    of what is more, by two standard deviations. A text that is nearly equal in a match by `weights`
    is no chance, and so does not count for the rates, nor does a rare code that is equal in one. A
    name without any other value has no such bound: nothing else could agree.
    """
    values = np.stack([column.numbers for column in columns], axis=1)
    _, distinct, records = np.unique(values, axis=0, return_index=True, return_inverse=True)
    if not len(pairs) or len(distinct) < 2:
        return {}
    ends = np.sort(records.reshape(-1)[pairs], axis=1).astype(np.uint32)
    once = levels[np.unique(number_pairs(ends), return_index=True)[1]]
    odds = weights.weigh(once)
    keys, firsts, counts = np.unique(hash_levels(once), return_index=True, return_counts=True)
    states = once[firsts]
    are_texts = [column.kind == "text" for column in columns]
    drawn = np.random.default_rng(0).integers(0, len(distinct), (DRAWN, 2))
    strangers = distinct[drawn[drawn[:, 0] != drawn[:, 1]]].astype(np.uint32)
    sample = compare_fields(columns, strangers, threads=threads)
    near = np.flatnonzero(((sample == NEARLY) & are_texts).any(axis=1))
    sample = np.delete(sample, near[weights.weigh(sample[near]) >= 0.0], axis=0)
    expected = np.full(len(keys), len(distinct) * (len(distinct) - 1) / 2)
    for at, column in enumerate(columns):
        rates = _rate_levels(column, distinct, sample[:, at])
        if column.kind == "exact" and is_code(column):  # equal by chance in others alone
            top = len(LEVELS["exact"]) - 1
            of_others = odds[once[:, at] == top] < 0.0
            rates[top] *= max(float(of_others.mean()), RARELY) if len(of_others) else 1.0
        expected *= rates[states[:, at]]
    more = counts - expected - 2.0 * np.sqrt(expected)
    most = np.log2(np.maximum(more, 1e-3) / np.maximum(expected, 1e-9))
    are_present = states != MISSING
    is_alone = (are_present.sum(axis=1) == 1) & (are_present & mark_names(columns)).any(axis=1)
    few = np.flatnonzero((most < MOST_BITS) & ~is_alone)
    return dict(zip(keys[few].tolist(), most[few].round(6).tolist(), strict=True))


def _rate_levels(column: FieldColumn, distinct: Numbers, sample: Levels) -> Table:
    """Compute how often the levels of a field are met, the last for missing, shape (levels + 1,).

    Equal values are counted in all `distinct` records, as a `sample` of pairs has few of them.
    """
    rates = np.bincount(sample - MISSING, minlength=MOST_LEVELS + 1) + RARELY
    rates /= max(len(sample), 1)
    numbers = column.numbers[distinct]
    counts = np.bincount(numbers[numbers != MISSING], minlength=len(column.values))
    pairs = len(distinct) * (len(distinct) - 1) / 2
    top = len(LEVELS[column.kind]) - 1
    for level, values in ((top - 1, ~column.has_rare), (top, column.has_rare)):
        equal = (counts[values] * (counts[values] - 1.0)).sum() / 2
        rates[level - MISSING] = max(equal, RARELY) / pairs
    return np.roll(rates, MISSING)


def hash_levels(levels: Levels) -> NDArray[np.uint64]:
    """Hash the levels of pairs, shape (pairs,)."""
    hashes: NDArray[np.uint64] = _hash_fields(levels.astype(np.int64) - MISSING).sum(axis=1)
    return hashes


def _hash_fields(numbers: Numbers) -> NDArray[np.uint64]:
    """Hash the numbers of fields, shape (rows, fields), each field by itself."""
    return _hash(numbers.astype(np.uint64) + np.arange(numbers.shape[1], dtype=np.uint64) * _ODD)


def _hash(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix the bits of numbers, as the finaliser of splitmix64 does."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        numbers = (numbers ^ numbers >> np.uint64(shift)) * np.uint64(factor)
    return numbers ^ numbers >> np.uint64(31)
