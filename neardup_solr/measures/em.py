"""A mixture of strangers, lookalikes and matches, which the EM algorithm fits to candidates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from neardup_solr.measures import Similarities
from neardup_solr.measures.columns import (
    MISSING,
    FieldKind,
    Marks,
    Numbers,
    Table,
)
from neardup_solr.measures.levels import (
    LEVELS,
    MOST_LEVELS,
    TEXT_STEPS,
    Levels,
    list_agreements,
    mark_equal,
)

FLOOR = 0.4  # of whole records, below which no pair is a match
STRANGERS, LOOKALIKES, MATCHES = range(3)
BEGIN = (0.3, 0.75)  # similarities from which a pair begins among lookalikes, among matches
SURE = 0.9  # that it is among these, when it begins
STRATUM = 0.1  # of similarity, in which pairs count alike
FEWEST = 20  # pairs that a stratum counts for at most, if fewer than those begin as matches
GUESSES = 5.0  # pairs that the first guess of a class counts for
AGREEING = 0.5  # of what fields can tell, from which the most similar class is of matches
MOST_BITS = 10.0  # that a field can tell, when classes are judged
MOST_ROUNDS, SETTLED = 200, 1e-4
Classes = NDArray[np.signedinteger]


def mark_levels(levels: Levels) -> Table:
    """Mark the level of each field of pairs, shape (pairs, fields × MOST_LEVELS)."""
    marks = np.zeros((*levels.shape, MOST_LEVELS))
    for at, of_field in enumerate(levels.T):
        present = np.flatnonzero(of_field != MISSING)
        marks[present, at, of_field[present]] = 1.0
    return marks.reshape(len(levels), levels.shape[1] * MOST_LEVELS)


def estimate_rates(met: Table, counted: Table, guesses: Table) -> tuple[Table, Table]:
    """Estimate the shares of the classes and the rates of levels in each.

    `met` are marks of levels, `counted` (pairs, 3) how many pairs each stands for in each class.
    """
    rates = (counted.T @ met).reshape(guesses.shape) + GUESSES * guesses
    rates /= rates.sum(axis=2, keepdims=True)
    return (counted.sum(axis=0) + 1.0) / (counted.sum() + 3.0), rates


def guess_rates(kinds: Sequence[FieldKind]) -> Table:
    """Guess how often the levels of each field are met in each class, before any is learnt."""
    rates = np.zeros((3, len(kinds), MOST_LEVELS))
    for at, kind in enumerate(kinds):
        between = len(LEVELS[kind]) - 3
        # Different, what is between, and equal: strangers agree in common values for the most part.
        matches = [0.05, *[0.35 / max(between, 1)] * between, 0.3, 0.3]
        strangers = [0.5, *[0.4 / max(between, 1)] * between, 0.075, 0.025]
        for of_class, shape in ((STRANGERS, strangers), (MATCHES, matches)):
            rates[of_class, at, : len(shape)] = np.array(shape) / sum(shape)
    rates[LOOKALIKES] = (rates[STRANGERS] + rates[MATCHES]) / 2
    return rates


def count_patterns(
    levels: Levels, similarities: Similarities, sampled: float
) -> tuple[Levels, Marks, Classes, Table, Numbers]:
    """Count pairs of the same levels: these, whether they can match, their first class, how many.

    No stratum of similarity counts for more than the pairs that begin as matches. The last is the
    number of the pattern of each pair.
    """
    can_match = similarities >= FLOOR
    begins: Classes = np.digitize(similarities, BEGIN)
    strata = (similarities / STRATUM + 1e-9).astype(np.int64)
    strata[begins == MATCHES] = strata.max(initial=0) + 1
    each = np.where(can_match, 1.0, sampled)
    most = max(FEWEST, np.count_nonzero(begins == MATCHES))
    each = each * np.minimum(1.0, most / np.maximum(np.bincount(strata, each), 1.0))[strata]
    keys = begins * 2 + can_match
    for column in levels.T:  # so few that they fit into a number again
        keys = keys * (MOST_LEVELS + 1) + column - MISSING
        keys = np.unique(keys, return_inverse=True)[1].reshape(-1)
    _, first = np.unique(keys, return_index=True)
    counts = np.bincount(keys, each).astype(np.float64)
    return levels[first], can_match[first], begins[first], counts, keys


def begin_matches(
    patterns: Levels, kinds: Sequence[FieldKind], can_match: Marks, begins: Classes, counts: Table
) -> None:
    """Let pairs that agree in all fields but one begin as matches, if most of them do not.

    A field that changes, such as a stock, keeps the whole records apart. What agrees is most of
    what the fields can tell, and nearly equal in a field at least: records that are equal but for
    one field may as well be variants.
    """
    agreements = list_agreements(kinds)[np.arange(len(kinds)), patterns]
    is_known = patterns != MISSING
    of_strangers = np.where(begins == STRANGERS, counts, 0.0)
    agreed, present = of_strangers @ (agreements >= TEXT_STEPS[1]), of_strangers @ is_known
    bits = np.minimum(-np.log2((agreed + 1.0) / (present + 2.0)), MOST_BITS) * is_known
    shared = agreements * bits
    rows, unlike = np.arange(len(patterns)), (bits - shared).argmax(axis=1)
    whole = bits.sum(axis=1)
    least = np.maximum(BEGIN[1] * (whole - bits[rows, unlike]), AGREEING * whole)
    unequal = is_known & ~mark_equal(patterns, kinds)
    are_alike = can_match & (is_known.sum(axis=1) > 2) & (unequal.sum(axis=1) > 1)
    are_alike &= shared.sum(axis=1) - shared[rows, unlike] >= least
    if counts[are_alike & (begins == MATCHES)].sum() < counts[are_alike].sum() / 2:
        begins[are_alike] = MATCHES


def measure_agreements(kinds: Sequence[FieldKind], rates: Table) -> Table:
    """Measure how far the pairs of each class agree in each field, 0..1, shape (3, fields)."""
    agreements: Table = (rates * list_agreements(kinds)[:, :MOST_LEVELS]).sum(axis=2)
    return agreements


def compute_logs(rates: Table) -> Table:
    """Compute logarithms, 0 for levels that a kind does not have."""
    logs: Table = np.log(np.where(rates > 0.0, rates, 1.0))
    return logs
