"""A result in a notebook: its length, what it iterates over, its names, and its charts."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import matplotlib
import pytest
from matplotlib import pyplot

import neardup_solr as nd
from tests.refusals import refusal

TEXTS = [
    "a green bicycle with seven gears bought last spring",
    "a green bicycle with seven gears bought last summer",
    "a green bicycle with seven gears sold last summer",
    "a quiet room above the bakery with a view",
    "a quiet room above the bakery with a view",
]
PEOPLE = [
    {"id": at, "name": f"{first} {last}", "zip": str(10_000 + at // 2)}
    for at, (first, last) in enumerate(
        (first, last)
        for last in ("Moss", "Fern", "Reed", "Sedge")
        for first in ("Ada", "Ida", "Bo")
    )
]


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    with matplotlib.rc_context({"backend": "agg"}):
        yield
    pyplot.close("all")


def test_a_result_has_the_length_of_its_pairs() -> None:
    """And iterates over them; without any, it is false."""
    found = nd.duplicates(TEXTS)
    assert len(found) == len(found.pairs) == 4
    assert list(found) == list(found.pairs)
    assert not nd.duplicates(TEXTS[2:4])


def test_what_is_inner_is_not_among_the_names() -> None:
    """An editor offers what the reference has, and no module of the package."""
    names = {name for name in dir(nd.duplicates(TEXTS)) if name[0] != "_"}
    assert {"pairs", "clusters", "plot", "to_pandas"} <= names
    assert not {"grouped", "origin", "whole_ids", "mark_doubted"} & names
    assert {name for name in dir(nd) if name[0] != "_"} == {*nd.__all__, "errors", "signature",
                                                            "types"}  # fmt: skip


def test_a_notebook_shows_the_largest_clusters_without_making_all() -> None:
    """The largest first, and how many more there are."""
    texts = [f"text {word} with the number {word}" for word in "abcdefghijkl"]
    found = nd.duplicates([*texts * 2, texts[11]], min_similarity=1)
    shown = found._repr_html_()
    assert "2 more" in shown
    assert shown.index("<bdi>11</bdi>") < shown.index("<bdi>0</bdi>")
    assert shown.count("<tr>") == 1 + 10


def test_the_chart_of_similarities_has_each_pair_and_the_threshold() -> None:
    """Its bars add up to the pairs; the one below the threshold is about pairs that are not."""
    found = nd.duplicates(TEXTS, min_similarity=0.8)
    axes: Any = found.plot()
    heights = {round(bar.get_x(), 6): bar.get_height() for bar in axes.patches}
    assert sum(height for at, height in heights.items() if at >= 0.8) == len(found) == 3
    assert list(axes.lines[0].get_xdata()) == [0.8, 0.8]
    assert axes.get_xlabel() == "similarity"
    for few in (nd.duplicates(TEXTS[2:4]), nd.duplicates(TEXTS, min_similarity=1)):
        axes = few.plot()
        assert sum(bar.get_height() for bar in axes.patches) == len(few)


def test_the_chart_of_clusters_is_what_higher_thresholds_give() -> None:
    """As `at` gives it: clusters, documents to remove, documents of the largest."""
    found = nd.duplicates(TEXTS)
    axes: Any = found.plot("clusters")
    clusters, others, largest = axes.lines
    for place, *counts in zip(
        clusters.get_xdata(), *(each.get_ydata() for each in (clusters, others, largest)),
        strict=True,
    ):  # fmt: skip
        higher = found.at(float(place))
        sizes = [len(each.members) for each in higher.clusters]
        assert counts == [len(sizes), len(higher.removed), max(sizes)]


def test_the_chart_of_weights_has_a_bar_for_each_level() -> None:
    """In the order of the fields; charts of probabilities show the logarithm of their odds."""
    found = nd.duplicates(PEOPLE, fields={"name": "text", "zip": "exact"})
    assert found.weights is not None
    table = found.weights.table()
    axes: Any
    figure, axes = pyplot.subplots(1, 2)
    left, right = axes
    assert found.plot("weights", left) is left
    bars: list[Any] = [*left.patches]
    assert [bar.get_width() for bar in bars] == [weight.bits for weight in table]
    assert left.get_yticklabels()[0].get_text() == f"{table[0].field}: {table[0].level}"
    assert "log2" in found.plot("similarities", right).get_xlabel()
    assert pyplot.get_fignums() == [figure.number]


def test_what_no_chart_can_show_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights without fields, other words, and a missing matplotlib."""
    found = nd.duplicates(TEXTS)
    with refusal(nd.errors.DataError, "values-unfit", "`fields`"):
        found.plot("weights")
    with refusal(nd.ArgumentError, "argument-invalid", "similarities"):
        found.plot("pairs")  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with refusal(nd.SettingsError, "package-missing", "neardup-solr[plot]"):
        found.plot()
