"""Charts of a result, drawn with matplotlib: similarities, clusters by threshold, weights."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from neardup_solr import checks
from neardup_solr.argument_types import ChartOf
from neardup_solr.errors import DataError, SettingsError
from neardup_solr.measures import BY_PROBABILITY
from neardup_solr.records import BORDER
from neardup_solr.verbs.duplicates.graph import Graph, count_clusters

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from neardup_solr.measures.weights import Weights

Values: TypeAlias = NDArray[np.float64]
MOST_THRESHOLDS, MOST_LINKED = 26, 10_000_000  # to link pairs at; pairs that are linked in all
MOST_BITS = 40.0
STRONG, PALE, AGAINST = "#1d6078", "#b5c7cc", "#b4552d"


class Scale(NamedTuple):
    """Scale of an axis of similarities: its label, where they are, and the width of a bar."""

    label: str
    of: Callable[[Values], Values]
    back: Callable[[Values], Values]
    step: float

    def ends(self, graph: Graph, least: float) -> tuple[float, float]:
        """Return where the threshold is, and the end: that of what is similar, or a step on."""
        most = graph.similarities.max(initial=least) if graph.measure in BY_PROBABILITY else 1.0
        start, end = self.of(np.array([least, most])).tolist()
        return start, max(start, end) + self.step * (graph.measure in BY_PROBABILITY)


def _to_bits(similarities: Values) -> Values:
    with np.errstate(divide="ignore"):
        bits: Values = np.log2(similarities) - np.log2(1.0 - similarities)
    return np.clip(bits, -MOST_BITS, MOST_BITS)


def _from_bits(bits: Values) -> Values:
    probabilities: Values = 1.0 / (1.0 + np.exp2(-bits))
    return probabilities


# Most probabilities are next to 0 or 1, so an axis shows the logarithm of their odds.
SCALES = (
    Scale("similarity", np.array, np.array, 0.01),
    Scale("bits, log2 of similarity / (1 - similarity)", _to_bits, _from_bits, 0.5),
)


def draw(
    of: ChartOf, axes: Axes | None, *, graph: Graph, least: float, below: int | None,
    weights: Weights | None,
) -> Axes:  # fmt: skip
    """Draw a chart of a result on axes, or on new ones, and return them.

    `least` is the threshold, and about so many compared pairs are right `below` it. Raises
    SettingsError if matplotlib is missing, DataError if there are no weights to draw.
    """
    checks.require_choice("of", of, get_args(ChartOf))
    if of == "weights" and weights is None:
        reason = f"there are no weights, as the measure is {graph.measure}"
        raise DataError(reason, "compare columns with `fields`", code="values-unfit")
    axes = _make_axes() if axes is None else axes
    if of == "weights" and weights is not None:
        _draw_weights(weights, axes)
    elif of == "clusters":
        _draw_clusters(graph, least, axes)
    else:
        _draw_similarities(graph, least, below, axes)
    return axes


def _make_axes() -> Axes:
    """Make a figure that a notebook shows by itself, with axes."""
    try:
        from matplotlib import pyplot
    except ImportError:
        reason, step = "matplotlib is not installed", 'pip install "neardup-solr[plot]"'
        raise SettingsError(reason, step, code="package-missing") from None
    axes: Axes = pyplot.subplots(layout="constrained")[1]
    return axes


def _draw_similarities(graph: Graph, least: float, below: int | None, axes: Axes) -> None:
    """Draw a bar for each step of similarity, and the threshold.

    About the pairs right `below` it, which are not in the result, only their number is known.
    """
    scale = SCALES[graph.measure in BY_PROBABILITY]
    places = scale.of(graph.similarities)
    start, end = scale.ends(graph, least)
    # People may have called pairs below the threshold the same.
    first = math.floor((min(start, places.min(initial=start)) - start) / scale.step + 1e-6)
    last = max(0, math.ceil((end - start) / scale.step - 1e-6) - 1)
    numbers = np.floor((places - start) / scale.step + 1e-6).astype(np.int64)
    heights = np.bincount(np.clip(numbers, first, last) - first, minlength=last + 1 - first)
    bars = start + np.arange(first, last + 1) * scale.step
    axes.bar(bars, heights, scale.step, align="edge", color=STRONG)
    if below and least:
        width = start - float(scale.of(np.array([max(0.0, least - BORDER)]))[0])
        label = f"about {below:,} pairs below it"
        height = below * scale.step / width
        axes.bar(start - width, height, width, align="edge", color=PALE, label=label)
    axes.axvline(start, color=AGAINST, label=f"threshold {least:g}")
    axes.set(xlabel=scale.label, ylabel="pairs")
    axes.legend()


def _draw_clusters(graph: Graph, least: float, axes: Axes) -> None:
    """Draw how many clusters, and documents beside their kept ones, higher thresholds leave."""
    scale = SCALES[graph.measure in BY_PROBABILITY]
    most = max(3, min(MOST_THRESHOLDS, MOST_LINKED // max(1, len(graph.pairs))))
    start, end = scale.ends(graph, least)
    places = np.linspace(start, end, most)
    sizes = [count_clusters(graph, each) for each in scale.back(places).tolist()]
    clusters, documents = [len(each) for each in sizes], [int(each.sum()) for each in sizes]
    others = np.subtract(documents, clusters)
    largest = [int(each.max(initial=0)) for each in sizes]
    axes.plot(places, clusters, color=STRONG, label="clusters")
    axes.plot(places, others, color=AGAINST, label="documents to remove")
    axes.plot(places, largest, color=STRONG, linestyle=":", label="documents of the largest")
    axes.set(xlabel=f"threshold: {scale.label}", ylim=(0, None))
    axes.legend()


def _draw_weights(weights: Weights, axes: Axes) -> None:
    """Draw a bar for the weight of each level, fields and levels in their order from above."""
    table = weights.table()
    bits = [weight.bits for weight in table]
    colors = [STRONG if each > 0 else AGAINST for each in bits]
    places = range(len(table))
    axes.barh(places, bits, color=colors)
    axes.set_yticks(places, [f"{weight.field}: {weight.level}" for weight in table])
    axes.invert_yaxis()
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set(xlabel="bits for a match")
