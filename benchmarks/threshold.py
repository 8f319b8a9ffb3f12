"""What open wedges and the pairs around a threshold tell of F1, on eight sets with known pairs.

    python benchmarks/threshold.py

Candidates are those of the measure `aligned`, compared by four measures. First, whether a warning
at the default threshold is right: it should come if another threshold is better by more than 0.05
of F1. Its two limits are chosen anew leaving one source out. Then, whether a rule that moves the
threshold to where wedges are fewest is better than the default, in the same way: three of the sets
are of one source, and so are two others. Results go to threshold.md and threshold.json.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from importlib import resources
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from fields import SETS, THREADS, Records, join_values, prepare
from lib import results
from numpy.typing import NDArray

from neardup_solr.argument_types import MeasureName
from neardup_solr.measures import Comparer, Limits, floor, measure_named
from neardup_solr.measures.frequencies import count_words
from neardup_solr.measures.wedges import count_open_wedges
from neardup_solr.records import BORDER, DENSE, FEWEST, OPEN, Borderline
from neardup_solr.text.normalize import normalize

MEASURES: tuple[MeasureName, ...] = ("aligned", "words", "jaccard", "containment")
THRESHOLDS = [round(0.2 + step / 100, 2) for step in range(77)]
LOSS = 0.05  # of F1, against the best threshold, that is worth a warning
SOURCES = {"restaurants": "restaurants", "dblp_acm": "dblp_acm", "cytology": "bibliographies",
           "stroke": "bibliographies", "demo": "demo"}  # fmt: skip
LIMITS = [*product((0.05, 0.1, 0.15, 0.2, 0.3, 9.0), (0.1, 0.15, 0.2, 0.25, 0.3, 9.0))]


class Point(NamedTuple):
    """What is found at a threshold, and how good it is."""

    threshold: float
    f1: float
    precision: float
    recall: float
    pairs: int
    open: int
    around: int  # pairs within BORDER on either side


class Setting(NamedTuple):
    """A set compared by a measure: at the default threshold, and at all."""

    name: str
    measure: MeasureName
    default: Point
    borderline: Borderline
    points: list[Point]
    has_wedges: bool

    @property
    def source(self) -> str:
        """Where the set comes from: sets of one source are left out together."""
        return SOURCES[self.name.partition(",")[0].partition(" in ")[0]]

    @property
    def loss(self) -> float:
        """How much F1 the best threshold gains."""
        return max(point.f1 for point in self.points) - self.default.f1


Rule = Callable[[Setting], Point]


def demo() -> Records:
    """Listings of the demo in one file."""
    folder = resources.files("neardup_solr.demo")
    listings, pairs = (
        list(csv.DictReader((folder / name).read_text("utf-8").splitlines(), delimiter="\t"))
        for name in ("listings.tsv", "pairs.tsv")
    )
    row = {one["id"]: at for at, one in enumerate(listings)}
    known = {tuple(sorted((row[one["id"]], row[one["other_id"]]))) for one in pairs}
    return Records({"text": [one["text"] for one in listings]}, None, known)  # type: ignore[arg-type]


def look(name: str, records: Records, named: Sequence[str]) -> list[Setting]:
    """Compare the candidates of a set by each measure."""
    of = prepare(records, named)
    order = np.lexsort((of.pairs[:, 1], of.pairs[:, 0]))
    pairs, is_known = of.pairs[order], of.is_known[order]
    forms = list(map(normalize, join_values(list(records.values.values()))))
    found = []
    for measure in MEASURES:
        comparer = Comparer(
            measure=measure_named(measure), limits=Limits(min_similarity=0.0),
            frequencies=count_words(forms), threads=THREADS,
        )  # fmt: skip
        similarities = comparer.compare_texts(forms, pairs).similarities

        def judge(least: float, similarities: NDArray[np.float64] = similarities) -> Point:
            near = similarities >= floor(least)
            right, kept = int((near & is_known).sum()), int(near.sum())
            is_around = abs(similarities - least) < BORDER
            opened = count_open_wedges(pairs, pairs[near], len(forms))
            f1 = 2 * right / (kept + of.known)
            share = right / max(kept, 1), right / of.known
            return Point(least, f1, *share, kept, opened, int(is_around.sum()))

        at = comparer.measure.default
        default, higher, lower = judge(at), judge(at + BORDER), judge(at - BORDER)
        has_wedges = records.sides is None
        borderline = Borderline(
            min_similarity=at, pairs=default.pairs, above=default.pairs - higher.pairs,
            below=lower.pairs - default.pairs, open=default.open if has_wedges else None,
            open_higher=higher.open if has_wedges else None,
        )  # fmt: skip
        points = [judge(least) for least in THRESHOLDS]
        found.append(Setting(name, measure, default, borderline, points, has_wedges))
    return found


def warns(one: Setting, limits: tuple[float, float]) -> bool:
    """Tell whether there is a warning by these limits."""
    opened, dense = limits
    border = one.borderline
    has_wedges = border.open is not None and border.open >= max(FEWEST, opened * border.pairs)
    return has_wedges or border.above >= max(FEWEST, dense * border.pairs)


def count_wrong(settings: Sequence[Setting], limits: tuple[float, float]) -> int:
    """Count warnings that nothing is lost by, and losses without a warning."""
    return sum(warns(one, limits) != (one.loss > LOSS) for one in settings)


def stay(one: Setting) -> Point:
    """Keep the default threshold."""
    return one.default


def move_to_fewest(one: Setting) -> Point:
    """Move to the threshold with the fewest open wedges for each pair."""
    there = [point for point in one.points if point.pairs >= FEWEST]
    if not (one.has_wedges and there):
        return one.default
    return min(there, key=lambda point: point.open / point.pairs)


def move_by_gain(cost: int) -> Rule:
    """Move to the most pairs, less so many for each open wedge."""

    def move(one: Setting) -> Point:
        gained = max(one.points, key=lambda point: point.pairs - cost * point.open)
        return gained if one.has_wedges else one.default

    return move


def move_to_valley(one: Setting) -> Point:
    """Move to the threshold that the fewest pairs are around, of those that are not the last."""
    inner = [point for point in one.points if point.threshold <= 1 - 2 * BORDER and point.pairs]
    return min(inner, key=lambda point: point.around, default=one.default)


RULES: dict[str, Rule] = {
    "default": stay,
    "fewest open wedges for a pair": move_to_fewest,
    **{f"pairs - {cost} × open wedges": move_by_gain(cost) for cost in (1, 3, 10)},
    "fewest pairs around": move_to_valley,
}


def leave_one_out(settings: Sequence[Setting]) -> list[dict[str, Any]]:
    """Choose a rule by all other sources, by the mean F1 of a measure, and judge it on each set."""
    found = []
    for one in settings:
        others = [other for other in settings if other.source != one.source]
        means = {name: float(np.mean([rule(each).f1 for each in others]))
                 for name, rule in RULES.items()}  # fmt: skip
        best = max(means, key=means.__getitem__)
        found.append({"set": one.name, "measure": one.measure, "rule": best,
                      "threshold": RULES[best](one).threshold, "f1": RULES[best](one).f1,
                      "default": one.default.f1, "best": one.default.f1 + one.loss})  # fmt: skip
    return found


def correlate(one: Sequence[float], other: Sequence[float]) -> float:
    """Compute Spearman's rank correlation, of mean ranks."""
    first, second = (
        np.array([np.mean(np.flatnonzero(np.sort(row) == each)) for each in row])
        for row in (np.asarray(one), np.asarray(other))
    )
    return float(np.corrcoef(first, second)[0, 1])


def main() -> None:
    """Measure, print and keep."""
    conditions = results.conditions()
    settings = [one for name, (load, named) in SETS.items() for one in look(name, load(), named)]
    settings += look("demo", demo(), ("text",))
    sources = list(dict.fromkeys(one.source for one in settings))
    rows, wrong, chosen = [], 0, []
    for one in settings:
        border, default = one.borderline, one.default
        share = max(default.pairs, 1)
        opened = "–" if border.open is None else f"{border.open / share:.2f}"
        right = bool(border.warning) == (one.loss > LOSS)
        rows.append([one.name, one.measure, default.threshold, f"{default.f1:.3f}",
                     f"{one.loss:.3f}", f"{default.precision:.2f}", f"{default.recall:.2f}",
                     default.pairs, opened, f"{border.above / share:.2f}",
                     "yes" if border.warning else "", "" if right else "wrong"])  # fmt: skip
    for source in sources:
        others = [one for one in settings if one.source != source]
        own = [one for one in settings if one.source == source]
        best = min(LIMITS, key=lambda limits: count_wrong(others, limits))
        wrong += count_wrong(own, best)
        chosen.append([source, *best, count_wrong(own, best), count_wrong(own, (OPEN, DENSE)),
                       len(own)])  # fmt: skip
    with_wedges = [one for one in settings if one.has_wedges and one.default.pairs]
    shares = [one.default.open / one.default.pairs for one in with_wedges]
    ranks = {
        "precision": correlate(shares, [one.default.precision for one in with_wedges]),
        "F1": correlate(shares, [one.default.f1 for one in with_wedges]),
        "loss": correlate(shares, [one.loss for one in with_wedges]),
    }
    by_measure = {m: [one for one in settings if one.measure == m] for m in MEASURES}
    left_out = [one for own in by_measure.values() for one in leave_one_out(own)]
    means = [
        [rule, *(f"{np.mean([RULES[rule](one).f1 for one in own]):.3f}"
                 for own in by_measure.values())] for rule in RULES
    ]  # fmt: skip
    means.append(["chosen leaving one source out", *(
        f"{np.mean([one['f1'] for one in left_out if one['measure'] == m]):.3f}" for m in MEASURES
    )])  # fmt: skip
    means.append(["best threshold of each set", *(
        f"{np.mean([one.default.f1 + one.loss for one in own]):.3f}" for own in by_measure.values()
    )])  # fmt: skip
    now = count_wrong(settings, (OPEN, DENSE))
    worth = sum(one.loss > LOSS for one in settings)
    results.keep("threshold", {
        "conditions": conditions, "ranks": ranks, "left_out": left_out,
        "limits": {"open": OPEN, "dense": DENSE, "fewest": FEWEST, "wrong": now,
                   "wrong_left_out": wrong, "worth": worth, "of": len(settings)},
        "settings": [{"set": one.name, "measure": one.measure, "loss": one.loss,
                      "default": one.default._asdict(),
 "best": max(one.points, key=lambda point: point.f1)._asdict()}
                     for one in settings],
    }, [
        ("At the default threshold",
         "Open: open wedges for each pair; above: the share of pairs less than 0.05 above the"
         " threshold; loss: what\nthe best threshold (0.2 to 0.96) would gain. A warning is wrong"
         f" if the loss is no more than {LOSS}, and\nits absence if it is more. Rank correlation"
         " of open wedges for each pair"
         f" (Spearman, {len(with_wedges)} settings) with\nprecision {ranks['precision']:+.2f}, F1"
         f" {ranks['F1']:+.2f}, loss {ranks['loss']:+.2f}.\n\n" + results.table(
             ["set", "measure", "threshold", "F1", "loss", "precision", "recall", "pairs", "open",
              "above", "warning", ""], rows)),
        ("The limits of the warning",
         f"Shipped: {OPEN} open wedges for a pair, {DENSE} of the pairs above. Of {len(settings)}"
         f" settings, {worth} lose more than {LOSS};\nthese limits are wrong in {now}, a warning"
         f" always in {len(settings) - worth}, never in {worth}. Chosen anew from {len(LIMITS)}"
         f" combinations leaving\neach source out they are wrong in {wrong} (9: no such"
         " warning).\n\n" + results.table(
             ["left out", "open", "above", "wrong", "wrong as shipped", "settings"], chosen)),
        ("Moving the threshold by a rule",
         "Mean F1 over the sets. A set of two sides has no wedges, and keeps the default.\n\n"
         + results.table(["rule", *MEASURES], means)),
        ("The rule that all other sources would choose",
         results.table(["left out", "measure", "rule", "threshold", "its F1", "F1 by default",
                        "best"],
                       [[one["set"], one["measure"], one["rule"], one["threshold"],
                         f"{one['f1']:.3f}", f"{one['default']:.3f}", f"{one['best']:.3f}"]
                        for one in left_out])),
    ])  # fmt: skip


if __name__ == "__main__":
    main()
