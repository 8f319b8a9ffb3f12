"""Precision, recall and F1 of a result at every threshold."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from neardup_solr.arguments import checked
from neardup_solr.errors import SourceError, counted
from neardup_solr.files import write_lines
from neardup_solr.measures import floor
from neardup_solr.records import ordered
from neardup_solr.reports import tables
from neardup_solr.reports.html.figures import Line, lines_figure
from neardup_solr.reports.rows import write_rows
from neardup_solr.text.markup import html_table
from neardup_solr.verbs.evaluate import KnownPairs, evaluate
from neardup_solr.verbs.evaluate.answers import WIDTH, Answers, IdPair, precision_of

if TYPE_CHECKING:
    from neardup_solr.verbs.duplicates import Duplicates

STEP = 0.01  # between thresholds, with known pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """The pairs of at least one similarity: how many were `found`, and how right they are.

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
class Sweep(tables.Table):
    """Precision, recall and F1 of a result at each threshold. A notebook shows a picture."""

    points: tuple[Point, ...]

    def __repr__(self) -> str:
        name = "precision" if self.best.f1 is None else "F1"
        value = self.best.precision if self.best.f1 is None else self.best.f1
        where = f"at min_similarity {self.best.min_similarity:g}"
        return f"<Sweep: {counted(len(self.points), 'threshold')}, best {name} {value:.3f} {where}>"

    @property
    def best(self) -> Point:
        """The point of the highest F1; without known pairs, of the highest precision.

        Of equal ones it is the one with the lowest threshold.
        """
        return max(self.points, key=lambda point: point.precision if point.f1 is None else point.f1)

    def columns(self) -> tables.Columns:
        """A row for each point, without the columns that no point has."""
        names = [name for name in Point.__slots__ if getattr(self.points[0], name) is not None]
        return {name: [getattr(point, name) for point in self.points] for name in names}

    @checked
    def write(self, path: str | Path) -> None:
        """Write the picture to an .svg file, or the points to a .tsv, .csv, .jsonl or .xlsx file.

        Raises SourceError if the suffix is not known or the file cannot be written.
        """
        path = Path(path)
        if path.suffix.lower() == ".svg":
            write_lines(path, [self.svg])
            return
        columns = self.columns()
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        try:
            write_rows(rows, list(columns), path)
        except SourceError as error:
            raise SourceError(error.source, error.reason, f"{error.next_step}, .svg") from None

    @property
    def svg(self) -> str:
        """The picture: precision, recall and F1 over the threshold."""
        colours = {"precision": "blue", "recall": "orange", "f1": "green"}
        lines = [
            Line(name={"f1": "F1"}.get(name, name), colour=colour, points=self._line(name))
            for name, colour in colours.items()
            if getattr(self.points[0], name) is not None
        ]
        has_bounds = self.points[0].low is not None
        band = [*self._line("low"), *self._line("high")[::-1]] if has_bounds else []
        return lines_figure("Shares by threshold", "min_similarity", lines, band)

    def _line(self, name: str) -> list[tuple[float, float]]:
        return [(point.min_similarity, getattr(point, name)) for point in self.points]

    def _repr_html_(self) -> str:
        columns = self.columns()
        rows = [
            [f"{value:.3f}" if isinstance(value, float) else value for value in row]
            for row in zip(*columns.values(), strict=True)
            if row[0] * 100 % 10 < 0.5 or row[0] == self.best.min_similarity
        ]
        return f"{self.svg}{html_table(list(columns), rows)}"


def sweep(found: Duplicates, known: KnownPairs) -> Sweep:
    """Evaluate the pairs of a result at each threshold, from its own upwards.

    `known` is as for `evaluate`. Raises ArgumentError and SourceError as that does.
    """
    similarities = {
        ordered(str(pair.id), str(pair.other_id)): pair.similarity for pair in found.pairs
    }
    answers = Answers.of(known)
    if answers is not None:
        points = _answered(similarities, answers.of_pairs(similarities), found.min_similarity)
    else:
        whole = evaluate(known, found)
        right = set(similarities) - {(str(id), str(other_id)) for id, other_id in whole.false}
        points = _known(similarities, right, whole.known, found.min_similarity)
    return Sweep(points=tuple(points))


def _known(
    similarities: Mapping[IdPair, float], right: Set[IdPair], known: int, least: float
) -> Iterator[Point]:
    everything = np.sort(np.fromiter(similarities.values(), np.float64, len(similarities)))
    correct = np.sort([similarities[pair] for pair in right])
    for threshold in _thresholds(least, STEP):
        found = len(everything) - int(np.searchsorted(everything, floor(threshold)))
        true = len(correct) - int(np.searchsorted(correct, floor(threshold)))
        yield Point(
            min_similarity=threshold,
            found=found,
            precision=true / found if found else 1.0,
            recall=true / known if known else 1.0,
            f1=2 * true / (found + known) if found + known else 1.0,
        )


def _answered(
    similarities: Mapping[IdPair, float], answers: Answers, least: float
) -> Iterator[Point]:
    for threshold in _thresholds(least, WIDTH):
        near = {pair: at for pair, at in similarities.items() if at >= floor(threshold)}
        own = Answers(same=answers.same & near.keys(), different=answers.different & near.keys())
        if own.same or own.different:
            share = precision_of(near, own)
            yield Point(
                min_similarity=threshold,
                found=len(near),
                precision=share.value,
                low=share.low,
                high=share.high,
            )


def _thresholds(least: float, step: float) -> list[float]:
    """The threshold of a result, and the round ones above it, up to 1."""
    first, last = math.floor(least / step + 1e-9) + 1, round(1 / step)
    return [least, *(round(at * step, 2) for at in range(first, last + 1))]
