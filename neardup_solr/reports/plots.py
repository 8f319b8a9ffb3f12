"""The plot of a tuning: pairs of a sample by similarity, and the curve that finds them."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup_solr.errors import SettingsError, SourceError
from neardup_solr.files import check_place, whole
from neardup_solr.minhash.plans import Tuning, curve, percent
from neardup_solr.minhash.statistics import histogram

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SUFFIXES = (".png", ".svg")
BINS = 64
_PAIRS, _KNOWN, _CURVE, _MARK = "#b9c3cf", "#e08a1e", "#1f5fa8", "#4a4a4a"
_STYLE: dict[Any, Any] = {
    "font.size": 11,
    "font.family": "DejaVu Sans",  # comes with matplotlib
    "svg.hashsalt": "neardup",  # the same picture is the same file
    "svg.fonttype": "none",
}


def check_plot(path: Path) -> None:
    """Refuse a plot that cannot be made, before any work is done for it.

    Raises SettingsError if matplotlib is missing, SourceError if the suffix is not .png or .svg or
    no file can be created there.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise SourceError(
            str(path), f"there are no plots of suffix {path.suffix!r}", "name a .png or .svg"
        )
    check_place(path)
    if find_spec("matplotlib") is None:
        raise SettingsError(
            "plots need matplotlib", 'pip install "neardup-solr[plot]", or leave `plot` out'
        )


def plot(tuning: Tuning, path: Path) -> None:
    """Draw the pairs of a sample by estimated similarity, and the curve of the recommended bands.

    Pairs are bars on a logarithmic scale, with known pairs in another colour in front of them; the
    suffix of the file (.png, .svg) selects the format.

    Raises what `check_plot` raises, and SourceError if the file cannot be written.
    """
    check_plot(path)
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(9, 5.2), dpi=150, layout="constrained", facecolor="white")
        pairs = figure.add_subplot()
        found = pairs.twinx()
        _draw_pairs(pairs, tuning)
        _draw_curve(found, tuning)
        figure.suptitle(_title(tuning), fontsize=13, fontweight="bold")
        pairs.set_title(_subtitle(tuning), fontsize=10, color=_MARK)
        handles = [*pairs.get_legend_handles_labels()[0], *found.get_legend_handles_labels()[0]]
        figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False)
        format = path.suffix.lower()[1:]
        metadata = {"Date": None} if format == "svg" else None
        with whole(path) as unfinished:
            figure.savefig(unfinished, format=format, metadata=metadata)


def _draw_pairs(axes: Axes, tuning: Tuning) -> None:
    bars = [("pairs of the sample", tuning.agreements, _PAIRS)]
    if tuning.known:
        bars.append(("known pairs", tuning.known, _KNOWN))
    for label, agreements, colour in bars:
        counts = histogram(agreements, BINS)
        left = np.arange(len(counts)) / len(counts)
        axes.bar(left, counts, 1 / len(counts), align="edge", color=colour, label=label)
    axes.set_yscale("log")
    axes.set_ylim(0.7, 3 * max(tuning.agreements))
    axes.set_xlim(0, 1)
    axes.set_xticks(np.linspace(0, 1, 11))
    axes.set_xlabel("estimated Jaccard similarity")
    axes.set_ylabel("pairs (logarithmic)")
    axes.spines["top"].set_visible(False)


def _draw_curve(axes: Axes, tuning: Tuning) -> None:
    chosen, demand = tuning.choice.plan, tuning.demand
    along = np.linspace(0, 1, 501)
    chance = 100 * curve(along, chosen.bands, chosen.rows)
    axes.plot(along, chance, color=_CURVE, linewidth=2.4, label="found, by the curve")
    axes.set_ylim(0, 118)
    axes.set_yticks(range(0, 101, 20))
    axes.set_ylabel("found (%)", color=_CURVE)
    axes.tick_params(axis="y", colors=_CURVE)
    axes.spines["top"].set_visible(False)
    for word, at, chance_there, height in (
        ("pass over", demand.avoid, chosen.load, 113),
        ("catch", demand.catch, chosen.caught, 106),
    ):
        axes.axvline(at, color=_MARK, linewidth=1, linestyle="--")
        is_right = at > 0.75  # then there is no room for a label on the right
        axes.annotate(
            f"{word} {at:g}: {percent(chance_there)}",
            (at, height),
            xytext=(-5 if is_right else 5, 0),
            textcoords="offset points",
            ha="right" if is_right else "left",
            va="center",
            color=_MARK,
        )


def _title(tuning: Tuning) -> str:
    chosen = tuning.choice.plan
    return f"{chosen.bands} bands of {chosen.rows} rows: threshold {chosen.threshold:.2f}"


def _subtitle(tuning: Tuning) -> str:
    return (
        f"{tuning.sampled:,} of {tuning.documents:,} documents,"
        f" {sum(tuning.agreements):,} pairs;"
        f" {tuning.choice.candidates:.3g} candidates for a document expected"
    )
