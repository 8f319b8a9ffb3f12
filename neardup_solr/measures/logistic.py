"""Logistic regression of answers and guesses: fitted, judged by what it leaves out.

Its weights are the maximum of the posterior, by Newton's method (iteratively reweighted least
squares), and the Gaussian around it says how sure they are (Laplace; Bishop 2006, "Pattern
Recognition and Machine Learning", section 4.5).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup_solr.measures import Similarities
from neardup_solr.measures.columns import (
    Table,
)
from neardup_solr.measures.pairs import take_evenly

GUESSES = (20.0, 5.0, 2.0)  # answers that all guesses count for: fewer if these are wrong
BADLY = 0.1  # nats that an answer costs if the guesses foretell it so that fewer may count
MARGIN = 1.0  # nats by which fewer have to foretell the answers better
LEAST_ALIKE = 0.3  # of whole records, the floor of a model that learnt
MOST_GUESSES = 2_000  # that are looked at on either side
FEWEST, FEWEST_OF_EACH = 10, 2  # answers, of which a model can be learnt
SHRINKAGE, INTERCEPT_SHRINKAGE = 1.0, 0.01  # of the weights towards 0
MOST_ROUNDS, SETTLED, LONGEST_STEP = 25, 1e-4, 5.0


class Fit(NamedTuple):
    """Weights of the intercept and of each feature, their covariance, and the floor of records."""

    weights: Table
    covariance: Table
    floor: float


def predict(values: Table, weights: Table) -> Similarities:
    """Compute the probabilities of a match for features, shape (pairs, features)."""
    odds = np.clip(weights[0] + values @ weights[1:], -60.0, 60.0)
    probabilities: Similarities = 1.0 / (1.0 + np.exp(-odds))
    return probabilities


def can_learn(guesses: Similarities, are_same: NDArray[np.bool_]) -> bool:
    """Tell if answers can teach more than the guesses about their pairs, both (answers,).

    `guesses` are their probabilities by the default.
    """
    same = int(np.count_nonzero(are_same))
    unexpected = int(np.count_nonzero(are_same & (guesses < 0.5)))
    return are_telling(same, len(are_same) - same, unexpected)


def are_telling(same: int, different: int, unexpected: int) -> bool:
    """Tell if so many answers teach something, `unexpected` of the same below the threshold.

    There have to be some of either kind, or some that are unexpected: most candidates are different
    for sure, so that guesses can stand for these, but not for matches.
    """
    return min(same, max(different, unexpected)) >= FEWEST_OF_EACH


def learn(
    values: Table,
    guesses: Similarities,
    answered: NDArray[np.intp],
    are_same: NDArray[np.bool_],
    *,
    as_wholes: bool = False,
) -> Fit:
    """Learn weights from answers about pairs, and from guesses about all of them.

    `values` (pairs, features) are those of the candidates, `guesses` (pairs,) their probabilities
    by the default; `answered` (answers,) are rows of them, and `are_same` (answers,) the answers.
    If the guesses foretell the answers badly, each left out in turn, they count less, if that
    foretells them clearly better. Guesses about records that are compared `as_wholes` were learnt
    from answers, and so count.
    """
    best, most = None, -math.inf
    for count in GUESSES:
        fit = _fit(values, guesses, answered, are_same, count)
        foretold = leave_out(values[answered], are_same, fit)
        likely = float(np.log(np.where(are_same, foretold, 1.0 - foretold)).sum())
        if best is None or likely > most + MARGIN:
            best, most = fit, likely
        if as_wholes or likely > -BADLY * len(answered):
            break
    assert best is not None
    return best


def _fit(
    values: Table,
    guesses: Similarities,
    answered: NDArray[np.intp],
    are_same: NDArray[np.bool_],
    count: float,
) -> Fit:
    """Find the most probable weights, if all guesses count as so many answers."""
    sides = [np.flatnonzero(guesses >= 0.5), np.flatnonzero(guesses < 0.5)]
    most = min(MOST_GUESSES, len(guesses))
    sides = [take_evenly(side, most) for side in sides if len(side)]
    shares = [np.full(len(side), count / 2 / len(side)) for side in sides]
    rows = np.concatenate([*sides, answered])
    design = np.column_stack([np.ones(len(rows)), values[rows]])
    targets = np.concatenate([guesses[rows[: len(rows) - len(answered)]], are_same])
    counts = np.concatenate([*shares, np.ones(len(answered))])
    precision = np.diag([INTERCEPT_SHRINKAGE, *[SHRINKAGE] * values.shape[1]])
    weights, covariance = fit_logistic(design, targets, counts, precision)
    return Fit(weights, covariance, LEAST_ALIKE)


def fit_logistic(
    design: Table, targets: Table, counts: Table, precision: Table
) -> tuple[Table, Table]:
    """Find the most probable weights of a logistic regression, and their covariance.

    The first column of `design` (rows, weights) is 1. Each of the `targets` (rows,), 0..1, counts
    as so many. `precision` (weights, weights) is that of the prior, whose mean is 0.
    """
    weights = np.zeros(design.shape[1])
    for _ in range(MOST_ROUNDS):
        chances = predict(design[:, 1:], weights)
        slopes = counts * np.maximum(chances * (1.0 - chances), 1e-6)
        curvature = design.T @ (design * slopes[:, np.newaxis]) + precision
        ascent = design.T @ (counts * (targets - chances)) - precision @ weights
        step = np.linalg.solve(curvature, ascent)
        length = float(np.linalg.norm(step))
        weights = weights + step * min(1.0, LONGEST_STEP / max(length, SETTLED))
        if length < SETTLED:
            break
    return weights, np.asarray(np.linalg.inv(curvature), dtype=np.float64)


def leave_out(values: Table, are_same: NDArray[np.bool_], fit: Fit) -> Similarities:
    """Compute the probability of each answered pair as if its answer were missing.

    By one step of Newton's method back from `fit` (Pregibon 1981, "Logistic regression
    diagnostics").
    """
    design = np.column_stack([np.ones(len(values)), values])
    chances = predict(values, fit.weights)
    spread = ((design @ fit.covariance) * design).sum(axis=1)
    pull = np.maximum(1.0 - spread * chances * (1.0 - chances), 1e-6)
    odds = design @ fit.weights - spread * (are_same - chances) / pull
    probabilities: Similarities = 1.0 / (1.0 + np.exp(-np.clip(odds, -60.0, 60.0)))
    return probabilities
