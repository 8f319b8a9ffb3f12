"""The two figures of a report page, as SVG that takes its colours and fonts from the page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup_solr.minhash import plans
from neardup_solr.records import Borderline

BINS = 50
WIDTH, HEIGHT = 432, 216
TOP, BOTTOM = 18, 181  # of the bars; titles are above, the axis and its name below
CHARACTER = 7  # its approximate width in the largest font that the page uses in figures

EACH_SIZE = 24  # up to this size, each cluster size has a bar
LEAST_SIZES = 8  # bars at least, for which room is left, or a few would be huge
LOG_FROM = 40  # if a bar is this many times as high as another, the axis is logarithmic
POWERS = [10**power for power in range(12)]
ROUND = [digit * power for power in POWERS for digit in (1, 2, 5)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """An axis with the value `low` at the coordinate `start` and `high` at `end`."""

    low: float
    high: float
    start: float
    end: float
    ticks: Sequence[float]
    is_logarithmic: bool = False

    def place(self, value: float) -> float:
        """Compute the coordinate of a value."""
        low, high = self.low, self.high
        if self.is_logarithmic:
            low, high, value = math.log(low), math.log(high), math.log(value)
        return round(self.start + (value - low) / (high - low) * (self.end - self.start), 2)


CHANCE = Axis(low=0, high=105, start=BOTTOM, end=TOP, ticks=range(0, 101, 25))


def similarities_figure(
    similarities: Sequence[float],
    curve: tuple[int, int] | None,
    borderline: Borderline | None = None,
    *,
    name: str = "similarity",
) -> str:
    """Draw pairs by similarity as an SVG, with the S-curve of (bands, rows) over them.

    P(s) = 1 - (1 - s^rows)^bands, "Mining of Massive Datasets", section 3.4.2. The threshold of
    `borderline` is marked, with the pairs just below it as a bar of the same area.
    """
    counts, edges = np.histogram(similarities, bins=BINS, range=(0.0, 1.0))
    below = 0
    if borderline is not None and borderline.below and borderline.lower < borderline.min_similarity:
        width = borderline.min_similarity - borderline.lower
        below = max(round(borderline.below / (BINS * width)), 1)
    up = _counts_axis(np.append(counts, below))
    right = WIDTH - (38 if curve else 4)
    across = Axis(low=0, high=1, start=_left(up), end=right, ticks=[0, 0.2, 0.4, 0.6, 0.8, 1])
    parts = [*_axes(across, up, name, "pairs"), *_bars(counts, edges, across, up)]
    if borderline is not None:
        zone, *mark = _mark(borderline, below, across, up)
        parts = [zone, *parts, *mark]
    return _svg(f"Pairs by {name}", [*parts, *(_curve(across, *curve) if curve else ())])


def sizes_figure(sizes: Sequence[int]) -> str:
    """Draw clusters by their number of documents as an SVG, logarithmic if sizes differ much."""
    most = max(sizes, default=2)
    edges: NDArray[np.float64]
    ticks: Sequence[int]
    if most <= EACH_SIZE:
        last = max(most, LEAST_SIZES)
        edges, ticks = np.arange(2.0, last + 2) - 0.5, range(2, last + 1, 1 + most // 12)
    else:
        edges = np.unique(np.geomspace(2, most + 1, 25).round()) - 0.5
        steps = ROUND if most < 200 else [2, *POWERS[1:]]
        ticks = [at for at in steps if 2 <= at <= most]
    counts, _ = np.histogram(sizes, bins=edges)
    up = _counts_axis(counts)
    across = Axis(
        low=edges[0],
        high=edges[-1],
        start=_left(up),
        end=WIDTH - 4 - CHARACTER * len(f"{ticks[-1]:,}") // 2,  # the last label stands below it
        ticks=ticks,
        is_logarithmic=most > EACH_SIZE,
    )
    parts = [*_axes(across, up, "documents in the cluster", "clusters")]
    return _svg("Clusters by number of documents", [*parts, *_bars(counts, edges, across, up)])


def _counts_axis(counts: NDArray[np.int64]) -> Axis:
    """Make the vertical axis of bars, logarithmic if their heights differ much."""
    most = int(counts.max(initial=1))
    least = int(counts[counts > 0].min(initial=most))
    if most >= LOG_FROM * least:
        low, high = 0.7, most * 1.6
        ticks = [at for at in (ROUND if most < 200 else POWERS) if at <= most]
    else:
        low, high = 0.0, max(most, 4) * 1.05
        ticks = list(range(0, int(high) + 1, next(step for step in ROUND if 5 * step >= high)))
    return Axis(low=low, high=high, start=BOTTOM, end=TOP, ticks=ticks, is_logarithmic=low > 0)


def _left(up: Axis) -> int:
    """Compute the left end of the bars, with room for the labels beside them."""
    return 6 + CHARACTER * max(len(f"{tick:,}") for tick in up.ticks)


def _axes(across: Axis, up: Axis, below: str, above: str) -> Iterator[str]:
    """Draw the grid lines, and the labels and titles of both axes."""
    for tick in up.ticks:
        yield _line(across, up.place(tick))
        yield _text(across.start - 4, up.place(tick), f"{tick:,}", anchor="end")
    yield _line(across, BOTTOM)
    for tick in across.ticks:
        yield _text(across.place(tick), 191, f"{tick:,}")
    yield _text((across.start + across.end) / 2, 206, below)
    logarithmic = " (logarithmic)" if up.is_logarithmic else ""
    yield _text(across.start, 8, above + logarithmic, anchor="start")


def _bars(
    counts: NDArray[np.int64], edges: NDArray[np.float64], across: Axis, up: Axis
) -> Iterator[str]:
    """Draw bars between the edges, a little apart."""
    for count, low, high in zip(counts.tolist(), edges[:-1], edges[1:], strict=True):
        if count:
            gap, top = 0.06 * (high - low), up.place(count)
            yield _rectangle(across.place(low + gap), across.place(high - gap), top, "bars")


def _mark(borderline: Borderline, below: int, across: Axis, up: Axis) -> Iterator[str]:
    """Mark a threshold, what lies around it, and the pairs that are just below it."""
    low, at, high = map(
        across.place, (borderline.lower, borderline.min_similarity, borderline.higher)
    )
    yield _rectangle(low, high, TOP, "zone")
    if below:
        yield _rectangle(low, at, up.place(below), "below")
    yield f'<path d="M{at} {TOP}V{BOTTOM}" class="stroke-mark" stroke-width="1.2"/>'
    is_left = borderline.min_similarity < 0.3
    anchor, x = ("start", high + 4) if is_left else ("end", low - 4)
    yield _text(x, BOTTOM - 12, f"threshold {borderline.min_similarity:g}", anchor=anchor)


def _rectangle(left: float, right: float, top: float, colour: str) -> str:
    return (
        f'<rect x="{left}" y="{top}" width="{right - left:.2f}"'
        f' height="{BOTTOM - top:.2f}" class="fill-{colour}"/>'
    )


def _curve(across: Axis, bands: int, rows: int) -> Iterator[str]:
    """Draw the chance of a candidate along the similarities, with another axis."""
    points = " ".join(
        f"{across.place(at)},{CHANCE.place(100 * float(plans.curve(at, bands, rows)))}"
        for at in np.linspace(0, 1, 201).tolist()
    )
    yield f'<polyline points="{points}" class="fill-none stroke-curve" stroke-width="2"/>'
    yield _text(across.end, 8, "chance of being found", anchor="end", colour="curve")
    for tick in CHANCE.ticks:
        place = CHANCE.place(tick)
        yield _text(across.end + 4, place, f"{tick} %", anchor="start", colour="curve")


def _line(across: Axis, height: float) -> str:
    return (
        f'<path d="M{across.start} {height}H{across.end}" class="stroke-grid" stroke-width="0.8"/>'
    )


def _text(x: float, y: float, text: str, *, anchor: str = "middle", colour: str = "text") -> str:
    """Draw a text with its middle at the height `y`, whatever its font size."""
    return (
        f'<text x="{x}" y="{y}" dy="0.35em" text-anchor="{anchor}" class="fill-{colour}">'
        f"{text}</text>"
    )


def _svg(label: str, parts: Sequence[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"'
    return "\n".join([f'{head} aria-label="{label}" class="plot">', *parts, "</svg>"])
