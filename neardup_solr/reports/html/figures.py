"""The two pictures of a report page, as SVG that takes its colours and fonts from the page."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from neardup_solr.errors import SettingsError
from neardup_solr.minhash.bands import probability

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BINS = 50
_EACH_SIZE = 24  # up to so many documents, each cluster size has a bar of its own
_LEAST_SIZES = 8  # there is room for, so that few bars are not huge
_LOG_FROM = 40  # a bar this many times as high as another asks for a logarithm
_ROUND = [digit * 10**power for power in range(7) for digit in (1, 2, 5)]
_POWERS = [10**power for power in range(10)]
_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"
# Drawn in these colours, which become classes that the style of the page colours.
_BARS, _CURVE, _TEXT, _GRID = "#b9c3cf", "#1f5fa8", "#4a4a4a", "#dddddd"
_CLASSES = {_BARS: "bars", _CURVE: "curve", _TEXT: "text", _GRID: "grid", "none": "none"}
_STYLE: dict[Any, Any] = {
    "font.size": 11,  # leaves room; the page sets its own
    "font.family": "DejaVu Sans",  # comes with matplotlib
    "svg.hashsalt": "neardup",  # the same picture is the same file
    "svg.fonttype": "none",
    "text.color": _TEXT,
    "xtick.color": _TEXT,
    "ytick.color": _TEXT,
    "axes.edgecolor": _GRID,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": _GRID,
    "axes.spines.top": False,
    "axes.spines.left": False,
    "axes.spines.right": False,
    "axes.titlesize": 11,
    "xtick.major.pad": 6,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "xtick.minor.size": 0,
    "ytick.minor.size": 0,
}


def check_figures() -> None:
    """Refuse a page whose pictures could not be drawn, before any work is done for it.

    Raises SettingsError where matplotlib is missing.
    """
    if find_spec("matplotlib") is None:
        raise SettingsError(
            "pictures need matplotlib",
            'pip install "neardup-solr[plot]", or write a .tsv, .csv or .jsonl report',
        )


def similarities_figure(similarities: Sequence[float], curve: tuple[int, int] | None) -> str:
    """Pairs by similarity as an SVG, with the S-curve of (bands, rows) over them where known.

    P(s) = 1 - (1 - s^rows)^bands, "Mining of Massive Datasets", section 3.4.2.
    """
    check_figures()
    counts, edges = np.histogram(similarities, bins=BINS, range=(0.0, 1.0))
    figure, axes = _blank()
    _bars(axes, counts, edges)
    axes.set_xlim(0, 1)
    axes.set_xticks(np.linspace(0, 1, 6), ["0", "0.2", "0.4", "0.6", "0.8", "1"])
    _say(axes, "pairs", "similarity")
    if curve is not None:
        _draw_curve(axes, *curve)
    return _svg(figure, "similarities", "Pairs by similarity")


def sizes_figure(sizes: Sequence[int]) -> str:
    """Clusters by their number of documents as an SVG; logarithmic where they differ much."""
    check_figures()
    figure, axes = _blank()
    most = max(sizes, default=2)
    if most <= _EACH_SIZE:
        by_size = Counter(sizes)
        counts = np.array([by_size[size] for size in range(2, most + 1)])
        _bars(axes, counts, np.arange(2.0, most + 2) - 0.5)
        axes.set_xlim(1.4, max(most, _LEAST_SIZES) + 0.6)
        axes.set_xticks(range(2, max(most, _LEAST_SIZES) + 1, 1 + most // 12))
    else:
        edges = np.unique(np.geomspace(2, most + 1, 25).round()) - 0.5
        _bars(axes, np.histogram(sizes, bins=edges)[0], edges)
        axes.set_xscale("log")
        steps = _ROUND if most < 200 else (2, *_POWERS[1:])
        axes.set_xticks([at for at in steps if 2 <= at <= most])
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.minorticks_off()
    _say(axes, "clusters", "documents in the cluster")
    return _svg(figure, "sizes", "Clusters by number of documents")


def _blank() -> tuple[Figure, Axes]:
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(6, 3), layout="constrained")
        return figure, figure.add_subplot()


def _bars(axes: Axes, counts: NDArray[np.int64], edges: NDArray[np.float64]) -> None:
    """Bars between edges, a little apart; on a logarithmic scale where heights differ much."""
    from matplotlib.ticker import MaxNLocator

    shown = counts > 0
    widths = np.diff(edges)[shown]
    axes.bar(edges[:-1][shown] + widths * 0.06, counts[shown], widths * 0.88, align="edge",
             color=_BARS, linewidth=0)  # fmt: skip
    most = int(counts.max(initial=1))
    if most >= _LOG_FROM * int(counts[shown].min(initial=most)):
        axes.set_yscale("log")
        axes.set_ylim(0.7, most * 1.6)
        steps = _ROUND if most < 200 else _POWERS
        axes.set_yticks([at for at in steps if at <= most])
        axes.minorticks_off()
    else:
        axes.set_ylim(0, max(most, 4) * 1.05)
        axes.yaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 5, 10], integer=True))
    axes.yaxis.set_major_formatter("{x:,.0f}")


def _say(axes: Axes, above: str, below: str) -> None:
    logarithmic = " (logarithmic)" if axes.get_yscale() == "log" else ""
    axes.set_title(above + logarithmic, loc="left")
    axes.set_xlabel(below, color=_TEXT)


def _draw_curve(axes: Axes, bands: int, rows: int) -> None:
    along = np.linspace(0, 1, 201)
    chance = axes.twinx()
    chance.plot(along, [100 * probability(at, bands, rows) for at in along], color=_CURVE, lw=2)
    chance.set_ylim(0, 105)
    chance.set_yticks(range(0, 101, 25), [f"{at} %" for at in range(0, 101, 25)], color=_CURVE)
    chance.grid(False)
    for spine in chance.spines.values():
        spine.set_visible(False)
    chance.tick_params(length=0)
    axes.set_title("chance of being found", loc="right", color=_CURVE)


def _svg(figure: Figure, name: str, label: str) -> str:
    """A figure as SVG without metadata, styles, white paper or ids of other pictures."""
    import matplotlib

    drawn = io.StringIO()
    with matplotlib.rc_context(_STYLE):
        figure.savefig(drawn, format="svg", metadata={"Date": None}, transparent=True)
    root = ElementTree.fromstring(drawn.getvalue())
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.endswith(("metadata", "style")):
                parent.remove(child)
    for element in root.iter():
        _restyle(element)
        _rename(element, name)
    view = root.get("viewBox", "")
    root.attrib.clear()
    root.attrib.update(viewBox=view, role="img")
    root.set("aria-label", label)
    root.set("class", "plot")
    ElementTree.register_namespace("", _SVG[1:-1])
    ElementTree.register_namespace("xlink", _HREF[1:].partition("}")[0])
    return ElementTree.tostring(root, encoding="unicode")


def _restyle(element: ElementTree.Element) -> None:
    """Styles become attributes and classes: the policy of the page allows no inline style."""
    declared = dict(re.findall(r"([a-z-]+): ([^;]+)", element.attrib.pop("style", "")))
    declared.pop("font", None)
    classes = [
        f"{property}-{_CLASSES[colour]}"
        for property in ("fill", "stroke")
        if (colour := declared.pop(property, "")) in _CLASSES
    ]
    if classes:
        element.set("class", " ".join(classes))
    for property, value in declared.items():
        element.set(property, value)


def _rename(element: ElementTree.Element, name: str) -> None:
    if "id" in element.attrib:
        element.set("id", f"{name}-{element.attrib['id']}")
    for attribute in (_HREF, "clip-path"):
        if attribute in element.attrib:
            element.set(attribute, element.attrib[attribute].replace("#", f"#{name}-"))
