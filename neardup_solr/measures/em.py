"""A mixture of strangers, lookalikes and matches, which the EM algorithm fits to candidates.

It is fitted to the levels of their fields (Winkler 1988). It has three classes, as two different
things that have much in common, such as two papers of an author, agree in other ways than strangers
do (Larsen and Rubin 2001, "Iterative automated record linkage using mixture models").

EM alone can find other classes than those that are meant. Five things hold it: the similarity of
the whole records, as `aligned` computes it, says where the classes begin, and below `FLOOR` nothing
is a match; candidates of little similarity, which are most of them, count for no more than those
near the threshold; records that are equal in all their fields are matches, from the first round to
the end, in whatever notation, as are those that are nearly equal in all that both have, if they are
more than the equal ones; the records of a class are matches only if they agree in most of what
their fields can tell; and a level weighs no less than a level of less agreement (order restricted
rates; Dykstra, Kochar and Robertson 1995, "Inference for likelihood ratio ordering in the
two-sample problem").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup_solr.measures import Similarities
from neardup_solr.measures.columns import MISSING, FieldKind, Marks, Numbers, Table
from neardup_solr.measures.levels import (
    LEVELS,
    MOST_LEVELS,
    NEARLY,
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Mixture:
    """Strangers, lookalikes and matches among candidate pairs, as EM finds them.

    `shares` (3,) are those of the classes, `rates` (3, fields, MOST_LEVELS) how often each level
    of the fields, which are of these `kinds`, occurs in a class. `classes` (pairs,) has the
    likeliest class of each pair.
    """

    kinds: tuple[FieldKind, ...]
    shares: Table
    rates: Table
    classes: Classes


def fit_mixture(
    kinds: tuple[FieldKind, ...], levels: Levels, similarities: Similarities, sampled: float = 1.0
) -> Mixture:
    """Fit the classes to the levels of candidate pairs, shape (pairs, fields).

    `similarities` (pairs,) are those of the whole records. Each pair below `FLOOR` stands for
    `sampled` pairs.
    """
    guesses = guess_rates(kinds)
    patterns, can_match, begins, counts, numbers = _count_patterns(levels, similarities, sampled)
    _begin_matches(patterns, kinds, can_match, begins, counts)
    met = mark_levels(patterns)
    is_copy = _mark_copies(patterns, kinds, can_match, counts)
    chances = np.full((len(patterns), 3), (1.0 - SURE) / 2)
    chances[np.arange(len(patterns)), begins] = SURE

    def hold_known() -> None:
        chances[~can_match, MATCHES] = 0.0
        chances[is_copy] = np.arange(3) == MATCHES
        chances[:] /= chances.sum(axis=1, keepdims=True)

    for _ in range(MOST_ROUNDS):
        hold_known()
        shares, rates = estimate_rates(met, counts[:, np.newaxis] * chances, guesses)
        logs = met @ compute_logs(rates).reshape(3, -1).T + compute_logs(shares)
        before, chances = chances, np.exp(logs - np.logaddexp.reduce(logs, axis=1)[:, np.newaxis])
        hold_known()
        if np.abs(chances - before).max(initial=0.0) < SETTLED:
            break
    classes = np.where(similarities >= FLOOR, chances.argmax(axis=1)[numbers], STRANGERS)
    return Mixture(kinds=kinds, shares=shares, rates=rates, classes=classes)


def _mark_copies(
    patterns: Levels, kinds: Sequence[FieldKind], can_match: Marks, counts: Table
) -> Marks:
    """Mark patterns that are equal in all fields, and in all that both have, if that is usual.

    Values that are nearly equal count as slips if these are more than the pairs without any.
    """
    are_equal, are_missing = mark_equal(patterns, kinds), patterns == MISSING
    are_near = (patterns == NEARLY) & [kind == "text" for kind in kinds]
    agree = can_match & (are_equal | are_near | are_missing).all(axis=1)
    is_slip = agree & are_near.any(axis=1)
    is_copy: Marks = can_match & are_equal.all(axis=1)
    if counts[is_slip].sum() > counts[agree & ~is_slip].sum():
        is_copy |= is_slip
    return is_copy


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


def _count_patterns(
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


def _begin_matches(
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
