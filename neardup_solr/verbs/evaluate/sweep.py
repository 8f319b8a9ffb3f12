"""Precision, recall and F1 of a result at each threshold."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass

import numpy as np

from neardup_solr.errors import counted
from neardup_solr.measures import floor
from neardup_solr.reports.html_table import make_html_table
from neardup_solr.reports.result_table import Table
from neardup_solr.reports.rows import Columns
from neardup_solr.verbs.evaluate import evaluate_result
from neardup_solr.verbs.evaluate.evaluation import divide, say_closed
from neardup_solr.verbs.evaluate.id_pairs import (
    IdPair,
    KnownPairs,
    PairResult,
    columns_of,
    read_similarities,
)
from neardup_solr.verbs.evaluate.precision import JudgedPairs, precision_of
from neardup_solr.verbs.evaluate.sample import WIDTH

STEP = 0.01  # between thresholds, with known pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """Pairs found at a threshold, with their precision and recall.

    With answers instead of known pairs, the precision lies between `low` and `high` with 95 %
    confidence, and `recall` and `f1` are None.
    """

    min_similarity: float
    found: int
    precision: float
    recall: float | None = None
    f1: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Sweep(Table):
    """Precision, recall and F1 of a result at each threshold.

    `closed` known pairs were added by transitivity.
    """

    points: tuple[Point, ...]
    closed: int = 0

    def __repr__(self) -> str:
        name = "precision" if self.best.f1 is None else "F1"
        value = self.best.precision if self.best.f1 is None else self.best.f1
        where = f"at min_similarity {self.best.min_similarity:g}"
        best = f"best {name} {value:.3f} {where}{say_closed(self.closed)}"
        return f"<Sweep: {counted(len(self.points), 'threshold')}, {best}>"

    @property
    def best(self) -> Point:
        """The point of the highest F1 or, without known pairs, of the highest precision.

        Of equal points it is that of the lowest threshold.
        """
        return max(self.points, key=lambda point: point.precision if point.f1 is None else point.f1)

    def columns(self) -> Columns:
        """Make a row for each point, without the columns that no point has."""
        names = [name for name in Point.__slots__ if getattr(self.points[0], name) is not None]
        return {name: [getattr(point, name) for point in self.points] for name in names}

    def _repr_html_(self) -> str:
        columns = self.columns()
        rows = [
            [f"{value:.3f}" if isinstance(value, float) else value for value in row]
            for row in zip(*columns.values(), strict=True)
            if row[0] * 100 % 10 < 0.5 or row[0] == self.best.min_similarity
        ]
        return make_html_table(list(columns), rows)


def sweep(
    result: PairResult, expected: KnownPairs, min_similarity: float, *, in_order: bool
) -> Sweep:
    """Evaluate the pairs of a result at each threshold, from its `min_similarity` upwards.

    `expected` are the known pairs, as for `evaluate`, which raises the same errors.
    """
    similarities = read_similarities(result, in_order=in_order)
    answers, closed = JudgedPairs.of(expected, columns_of(expected), in_order=in_order), 0
    if answers is not None:
        points = _points_of_answers(similarities, answers.of_pairs(similarities), min_similarity)
    else:
        whole = evaluate_result(expected, result, ordered=None, as_given=False)
        closed = whole.closed
        right = set(similarities) - {(str(id), str(other_id)) for id, other_id in whole.false}
        points = _points_of_known(similarities, right, whole.known, min_similarity)
    return Sweep(points=tuple(points), closed=closed)


def _points_of_known(
    similarities: Mapping[IdPair, float], right: Set[IdPair], expected: int, least: float
) -> Iterator[Point]:
    everything = np.sort(np.fromiter(similarities.values(), np.float64, len(similarities)))
    correct = np.sort([similarities[pair] for pair in right])
    for threshold in _thresholds(least, STEP):
        count = len(everything) - int(np.searchsorted(everything, floor(threshold)))
        true = len(correct) - int(np.searchsorted(correct, floor(threshold)))
        yield Point(
            min_similarity=threshold,
            found=count,
            precision=divide(true, count),
            recall=divide(true, expected),
            f1=divide(2 * true, count + expected),
        )


def _points_of_answers(
    similarities: Mapping[IdPair, float], answers: JudgedPairs, least: float
) -> Iterator[Point]:
    for threshold in _thresholds(least, WIDTH):
        near = {pair: at for pair, at in similarities.items() if at >= floor(threshold)}
        near_answers = JudgedPairs(
            same=answers.same & near.keys(), different=answers.different & near.keys()
        )
        if near_answers.same or near_answers.different:
            share = precision_of(near, near_answers)
            yield Point(
                min_similarity=threshold,
                found=len(near),
                precision=share.value,
                low=share.low,
                high=share.high,
            )


def _thresholds(least: float, step: float) -> list[float]:
    """List the threshold of a result, and the round thresholds above it, up to 1."""
    first, last = math.floor(least / step + 1e-9) + 1, round(1 / step)
    return [least, *(round(at * step, 2) for at in range(first, last + 1))]
