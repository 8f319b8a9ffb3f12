"""Weights of fields: how much each level speaks for a match, and how they are learnt.

A level weighs log2(m / u) bits, by how often it is met among matches (m) and among others (u)
(Fellegi and Sunter 1969, "A theory for record linkage").
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup_solr.measures import Similarities
from neardup_solr.measures.columns import MISSING, FieldKind, Marks, Table
from neardup_solr.measures.em import (
    LOOKALIKES,
    MATCHES,
    MOST_BITS,
    STRANGERS,
    compute_logs,
    estimate_rates,
    fit_mixture,
    guess_rates,
    mark_levels,
)
from neardup_solr.measures.levels import LEVELS, MISSING_LEVEL, Levels
from neardup_solr.measures.lookalikes import (
    CLOSED_AGREEING,
    FEW_AGREEING,
    are_closed,
    count_lookalikes,
    judge_classes,
    measure_agreed,
)
from neardup_solr.measures.pairs import Pairs


class Evidence(NamedTuple):
    """Weight that a field adds to a match, as the logarithm of the odds to base 2."""

    field: str
    level: str
    bits: float


class Weight(NamedTuple):
    """Weight of a field's level in bits, by its rates among matches (m) and all other pairs (u)."""

    field: str
    level: str
    m: float
    u: float
    bits: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Weights of fields, estimated from all candidate pairs as a mixture of three classes.

    `shares` (3,) are those of strangers, lookalikes and matches, `rates` (3, fields, MOST_LEVELS)
    how often each level occurs in a class. `are_matches` (3,) is True for classes of matches.
    `bounds` are the highest log2 odds of pairs that are in some states, see `bound_states`.
    Records that differ in one of the fields at `telling` are no matches. So many `lookalikes` could
    be copies, as they have few others. Records that agree in a `key` alone, if there is one, are no
    matches. If records are compared `as_wholes`, by `pretrained`, these weights only explain it.
    """

    names: tuple[str, ...]
    kinds: tuple[FieldKind, ...]
    shares: Table
    rates: Table
    are_matches: Marks
    bounds: Mapping[int, float] = field(default_factory=dict)
    telling: tuple[int, ...] = ()
    lookalikes: int = 0
    key: str = ""
    as_wholes: bool = False

    def weigh(self, levels: NDArray[np.int8]) -> Table:
        """Compute the log2 odds of a match for pairs of these levels, shape (pairs,)."""
        return self._odds(self._classes(levels).sum(axis=1))

    def without_matches(self, key: str) -> Weights:
        """Make weights of which no class is of matches, as these agree in a key alone."""
        none = np.zeros(len(self.are_matches), np.bool_)
        rates = _order_rates(self.rates, self.shares, self.kinds, none)
        return replace(self, rates=rates, are_matches=none, key=key)

    def explain(self, levels: Levels) -> list[list[Evidence]]:
        """List what each field adds to the odds of pairs of these levels, after the fields before.

        The first is what speaks for a match before any field is compared. The sum is that of
        `weigh`.
        """
        steps = self._odds(self._classes(levels).cumsum(axis=1))
        bits = np.diff(steps, prepend=0.0, axis=1).tolist()
        return [
            list(map(Evidence, ("", *self.names), ("", *self.label(row)), of_pair))
            for row, of_pair in zip(levels.tolist(), bits, strict=True)
        ]

    def label(self, levels: Sequence[int]) -> list[str]:
        """Name the levels of a pair."""
        return [
            MISSING_LEVEL if level == MISSING else LEVELS[kind][level][0]
            for kind, level in zip(self.kinds, levels, strict=True)
        ]

    def table(self) -> list[Weight]:
        """List the weights of all levels, each as if it were the only field."""
        weights = []
        m, u = (self._mean_rates(side) for side in (self.are_matches, ~self.are_matches))
        for at, (name, kind) in enumerate(zip(self.names, self.kinds, strict=True)):
            for level, (label, _) in enumerate(LEVELS[kind]):
                both = float(m[at, level]), float(u[at, level])
                weights.append(Weight(name, label, *both, math.log2(both[0] / both[1])))
        return weights

    def measure_levels(self) -> Table:
        """Compute the bits of each level as `table` lists them, the last for missing."""
        m, u = (
            compute_logs(self._mean_rates(side)) for side in (self.are_matches, ~self.are_matches)
        )
        return np.pad((m - u) / math.log(2), ((0, 0), (0, 1)))

    def compare_classes(self) -> tuple[Table, Table]:
        """Compute the bits by which each class of matches differs from each class of others.

        Those before any field is compared, (matches, others), and those of each level, the last for
        missing, (fields, MOST_LEVELS + 1, matches, others).
        """
        begin, bits = (
            each[self.are_matches, np.newaxis] - each[np.newaxis, ~self.are_matches]
            for each in (compute_logs(self.shares), compute_logs(self.rates))
        )
        bits = np.moveaxis(bits, (0, 1), (2, 3))
        return begin / math.log(2), np.pad(bits / math.log(2), ((0, 0), (0, 1), (0, 0), (0, 0)))

    def _mean_rates(self, side: Marks) -> Table:
        # If no class is of matches, what the most similar class would say.
        chosen = side if side.any() else np.arange(3) == MATCHES
        return np.average(self.rates[chosen], axis=0, weights=self.shares[chosen])

    def _classes(self, levels: NDArray[np.int8]) -> Table:
        """Compute the logarithms of each class: its share, then each level, (pairs, 1 + fields, 3).

        A level that is missing says the same of each class.
        """
        logs = compute_logs(self.rates)
        summands = np.zeros((len(levels), 1 + len(self.names), 3))
        summands[:, 0] = compute_logs(self.shares)
        for at in range(len(self.names)):
            is_present = levels[:, at] != MISSING
            summands[is_present, 1 + at] = logs[:, at, levels[is_present, at]].T
        return summands

    def _odds(self, logs: Table) -> Table:
        """Compute the log2 odds of a match by the logarithms of the classes in the last axis."""
        if not self.are_matches.any():
            return np.full(logs.shape[:-1], -MOST_BITS)
        of_matches = np.logaddexp.reduce(logs[..., self.are_matches], axis=-1)
        of_others = np.logaddexp.reduce(logs[..., ~self.are_matches], axis=-1)
        odds: Table = (of_matches - of_others) / math.log(2)
        return odds


def learn_weights(
    fields: Mapping[str, FieldKind],
    levels: Levels,
    similarities: Similarities,
    *,
    sampled: float = 1.0,
    pairs: Pairs | None = None,
) -> Weights:
    """Learn the weights of fields from the levels of candidate pairs, shape (pairs, fields).

    `similarities` (pairs,) are those of the whole records. Each pair below `FLOOR` stands for
    `sampled` pairs. The `pairs` (pairs, 2) tell how many lookalikes a record has.
    """
    mixture = fit_mixture(tuple(fields.values()), levels, similarities, sampled)
    agreed = measure_agreed(mixture.kinds, mixture.rates)
    are_matches = judge_classes(agreed)
    weights = _make_weights(fields, mixture.shares, mixture.rates, are_matches)
    if pairs is None or not are_matches[MATCHES] or are_matches[LOOKALIKES]:
        return weights
    if agreed[LOOKALIKES] >= CLOSED_AGREEING and are_closed(pairs, mixture.classes):
        return _make_weights(fields, mixture.shares, mixture.rates, np.arange(3) != STRANGERS)
    if measure_agreed(mixture.kinds, weights.rates)[LOOKALIKES] < FEW_AGREEING:  # in order
        return weights
    return replace(weights, lookalikes=count_lookalikes(pairs, mixture.classes))


def estimate_weights(
    fields: Mapping[str, FieldKind], levels: Levels, are_same: Marks, *, sampled: float = 1.0
) -> Weights:
    """Estimate the weights of fields from pairs that are known to be the same or not, (pairs,).

    `levels` has shape (pairs, fields). Each pair that is not the same stands for `sampled` pairs.
    They explain what decided about the pairs.
    """
    guesses = guess_rates(tuple(fields.values()))
    counted = np.where(are_same, [[0.0], [0.0], [1.0]], [[sampled], [0.0], [0.0]]).T
    shares, rates = estimate_rates(mark_levels(levels), counted, guesses)
    weights = _make_weights(fields, shares, rates, np.arange(3) == MATCHES)
    return replace(weights, as_wholes=True)


def _make_weights(
    fields: Mapping[str, FieldKind], shares: Table, rates: Table, are_matches: Marks
) -> Weights:
    """Make weights of what was estimated, with the rates in order."""
    kinds = tuple(fields.values())
    return Weights(
        names=tuple(fields),
        kinds=kinds,
        shares=shares,
        rates=_order_rates(rates, shares, kinds, are_matches),
        are_matches=are_matches,
    )


def _order_rates(
    rates: Table, shares: Table, kinds: Sequence[FieldKind], are_matches: Marks
) -> Table:
    """Change the rates of others so that each level weighs no less than a level of less agreement.

    And "equal" no less than nothing. The ratios to the rates of matches become isotonic, by the
    formula of the largest least mean (Robertson, Wright and Dykstra 1988, "Order Restricted
    Statistical Inference", section 1.4), so that the rates of a field still sum to 1.
    """
    sides = np.array(are_matches if are_matches.any() else [False, False, True])
    base = np.average(rates[sides], axis=0, weights=shares[sides])
    ordered = rates.copy()
    for of in np.flatnonzero(~sides):
        # From the highest level down, as the ratio of others to matches rises that way.
        ends = [
            np.pad(side[:, ::-1].cumsum(axis=1), ((0, 0), (1, 0))) for side in (rates[of], base)
        ]
        some, others = (end[:, np.newaxis, 1:] - end[:, :-1, np.newaxis] for end in ends)
        means = np.divide(some, others, out=np.ones_like(some), where=others > 1e-12)
        least = np.minimum.accumulate(means[:, :, ::-1], axis=2)[:, :, ::-1]
        ratios = np.maximum.accumulate(least, axis=1).diagonal(axis1=1, axis2=2)[:, ::-1]
        ordered[of] = base * ratios
        for at, kind in enumerate(kinds):
            equal = len(LEVELS[kind]) - 2
            if ratios[at, equal] > 1.0:
                both = slice(equal, equal + 2)
                whole = ordered[of, at, both].sum()
                ordered[of, at, both] = base[at, both] * whole / base[at, both].sum()
    return ordered
