"""Match probability of records by their fields, with weights that need no answers.

Each field of two records agrees up to a level: not at all, nearly, wholly. A model of the records
that may be the same tells how often each level is met among matches (m) and among others (u); a
level weighs log2(m / u) bits (Fellegi and Sunter 1969, "A theory for record linkage"). `em` finds
the model, `weights` are what it gives.

A value that is missing is no evidence. A rare value that both have says more than a common value,
so it is another level (frequency-based matching, Winkler 2000). Fields depend on each
other: that journal, volume and year are equal says little more than that the volume is. So where
records that agree in the same values differ among themselves in what a pair differs in, as the
notices of a journal do in their pages, that agreement is no evidence (see `weigh_pairs`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup_solr.measures import Similarities
from neardup_solr.measures.aligned import ALIGNED
from neardup_solr.measures.bounds import bound_odds, bound_states, hash_levels
from neardup_solr.measures.columns import MISSING, FieldColumn, Marks, Table
from neardup_solr.measures.em import BEGIN, FLOOR
from neardup_solr.measures.keys import find_key
from neardup_solr.measures.levels import Levels, compare_fields, mark_equal
from neardup_solr.measures.members import is_code
from neardup_solr.measures.other_names import NameColumns
from neardup_solr.measures.pairs import Pairs, take_evenly
from neardup_solr.measures.variants import find_telling
from neardup_solr.measures.weights import Evidence, Weights, learn_weights

LEAST_PROBABILITY = 0.5  # more likely than not
OTHER_NAMES = -12.0  # log2 odds of things of other names, at most: no question need be put
EQUAL_ODDS = 10.0  # log2 odds of records that are equal in all their fields, at least
ROUNDED = 1e-6  # log2 odds: what is lost where they are computed
SAMPLE = 100_000  # pairs below the floor that are looked at
# Whole records are prepared and compared as `aligned` does; whoever has their fields goes on.
FIELDS = replace(ALIGNED, name="fields", default=LEAST_PROBABILITY, joins_numbers=False)


class FieldMatches(NamedTuple):
    """Match probabilities of pairs, of shape (pairs,), and the weights that they come from."""

    probabilities: Similarities
    weights: Weights


def match_fields(
    columns: Sequence[FieldColumn],
    pairs: Pairs,
    similarities: Similarities,
    *,
    weights: Weights | None = None,
    threads: int = 1,
    names: NameColumns | None = None,
) -> FieldMatches:
    """Compute the probability that the records of each pair are the same, by their fields.

    `pairs` (pairs × 2) are candidates, `similarities` (pairs,) those of their whole records by
    `aligned`. Without `weights` these are learnt from all of them. A pair below `FLOOR`
    has probability 0.
    """
    names = names or NameColumns(columns)
    above, below = (np.flatnonzero(side) for side in (similarities >= FLOOR, similarities < FLOOR))
    most = SAMPLE if weights is None else 0
    some = take_evenly(below, most)
    compared = np.concatenate([above, some])
    levels = compare_fields(columns, pairs[compared], threads=threads)
    if weights is None:
        fields = {column.name: column.kind for column in columns}
        sampled = len(below) / max(len(some), 1)
        learnt = ~names.mark_others(pairs[compared], levels)
        begins = similarities[compared] >= BEGIN[1]
        # Families are left out if they are most of what begins: matches are not like them.
        if np.count_nonzero(begins & learnt) >= np.count_nonzero(begins) / 2:
            learnt[:] = True
        telling = list[int]()
        while True:
            rows = compared[learnt]
            weights = learn_weights(
                fields, levels[learnt], similarities[rows], sampled=sampled, pairs=pairs[rows]
            )
            likely = levels[: len(above)][learnt[: len(above)]]
            likely = likely[weights.weigh(likely) >= 0.0]
            at = find_telling(columns, likely == 0, mark_equal(likely, weights.kinds))
            if at is None:
                break
            telling.append(at)
            learnt &= levels[:, at] != 0
        if (key := find_key(columns, likely)) is not None:
            weights = weights.without_matches(columns[key].name)
        bounds = bound_states(columns, pairs[above], levels[: len(above)], weights, threads)
        weights = replace(weights, bounds=bounds, telling=tuple(telling))
    levels = levels[: len(above)]
    probabilities = np.zeros(len(pairs))
    bits = np.clip(weigh_pairs(columns, pairs[above], levels, weights, names), -60.0, 60.0)
    says_nothing = (levels == MISSING).all(axis=1)
    probabilities[above] = np.where(says_nothing, 0.0, to_probabilities(bits))
    return FieldMatches(probabilities=probabilities, weights=weights)


def find_likely(
    columns: Sequence[FieldColumn], pairs: Pairs, weights: Weights, least: float, threads: int = 1
) -> NDArray[np.intp]:
    """Find the pairs that may have a probability of `least`, or are equal in all fields.

    The fields are compared one by one, as long as the odds suffice if the others say the most they
    can. Those that say most against a match if they differ come first.
    """
    rows, are_same = np.arange(len(pairs)), mark_same(columns, pairs)
    are_equal = np.ones(len(pairs), np.bool_)
    begin, bits = weights.compare_classes()
    highest = bits.max(axis=1)
    order = np.argsort((bits[:, 0] - highest).sum(axis=(1, 2)), kind="stable")
    apart = np.tile(begin + highest.sum(axis=0), (len(pairs), 1, 1))
    least_odds = -math.log2(1.0 / least - 1.0) - ROUNDED
    for at in order.tolist():
        levels = compare_fields([columns[at]], pairs[rows], threads=threads)
        are_equal &= mark_equal(levels, [weights.kinds[at]])[:, 0]
        apart += (bits[at] - highest[at])[levels[:, 0]]
        odds = np.logaddexp2.reduce(-np.logaddexp2.reduce(-apart, axis=2), axis=1)
        is_likely = (odds >= least_odds) | are_equal | are_same[rows]
        rows, apart, are_equal = rows[is_likely], apart[is_likely], are_equal[is_likely]
    return rows


def to_probabilities(odds: Table) -> Similarities:
    """Convert log2 odds to probabilities, shape (pairs,)."""
    probabilities: Similarities = 1.0 / (1.0 + 2.0**-odds)
    return probabilities


def weigh_pairs(
    columns: Sequence[FieldColumn],
    pairs: Pairs,
    levels: Levels,
    weights: Weights,
    names: NameColumns,
) -> Table:
    """Compute the log2 odds of a match for pairs of these levels, shape (pairs,).

    They are those of `Weights.weigh` but for four kinds of pairs. Records that are equal in all
    fields have `EQUAL_ODDS` or better. Things of other names have at most `OTHER_NAMES`, and so
    have records that differ in a telling field. And if other records have the values in which a
    pair is equal, but differ from each other where the pair does, the odds are at most that of any
    of them to be right, with what the other fields say against it. They are at most the bounds of
    `weights`, too.
    """
    bits = weights.weigh(levels)
    is_equal = mark_equal(levels, weights.kinds).all(axis=1) | mark_same(columns, pairs)
    have_other_names = names.mark_others(pairs, levels)
    have_other_names |= (levels[:, list(weights.telling)] == 0).any(axis=1)
    bits[have_other_names] = np.minimum(bits[have_other_names], OTHER_NAMES)
    likely = np.flatnonzero((bits >= 0.0) & ~is_equal)
    if len(likely):
        most = bound_odds(columns, pairs[likely], levels[likely], weights)
        bits[likely] = np.minimum(bits[likely], most)
        states, places = np.unique(hash_levels(levels[likely]), return_inverse=True)
        most = np.array([weights.bounds.get(state, np.inf) for state in states.tolist()])
        bits[likely] = np.minimum(bits[likely], most[places.reshape(-1)])
    bits[is_equal] = np.maximum(bits[is_equal], EQUAL_ODDS)
    return bits


def mark_same(columns: Sequence[FieldColumn], pairs: Pairs) -> Marks:
    """Mark the pairs of records that have the same values, at least one, and lack the same."""
    are_same, have_value = np.ones(len(pairs), np.bool_), np.zeros(len(pairs), np.bool_)
    for column in columns:
        first, second = column.equal[pairs].T
        are_same &= first == second
        have_value |= first != MISSING
    return are_same & have_value


def mark_codes(columns: Sequence[FieldColumn], pairs: Pairs) -> Marks:
    """Mark the pairs of records that share a rare code, in whatever notation."""
    marks = np.zeros(len(pairs), np.bool_)
    for column in columns:
        if column.kind == "exact" and is_code(column):
            first, second = column.numbers[pairs].T
            marks |= (first == second) & (first != MISSING) & column.has_rare[first]
    return marks


def explain_pairs(
    columns: Sequence[FieldColumn],
    pairs: Pairs,
    weights: Weights,
    names: NameColumns,
    odds: Table | None = None,
) -> list[list[Evidence]]:
    """List what each field adds to the odds of each pair.

    The last is what `weigh_pairs` makes of it, or what makes up the log2 `odds` of whole records,
    (pairs,), if that is not their sum.
    """
    levels = compare_fields(columns, pairs)
    explained = weights.explain(levels)
    all_odds = weigh_pairs(columns, pairs, levels, weights, names) if odds is None else odds
    rest = all_odds - weights.weigh(levels)
    have_other_names = names.mark_others(pairs, levels)
    for at in np.flatnonzero(np.abs(rest) > 1e-9).tolist():
        reason = ("all fields", "equal") if rest[at] > 0 else ("others", "as similar, but differ")
        if odds is not None:
            reason = ("whole record", "more alike" if rest[at] > 0 else "less alike")
        if have_other_names[at]:
            reason = ("name", "different name")
        explained[at].append(Evidence(*reason, float(rest[at])))
    return explained
