"""F1 of a model after 10, 30 and 100 answers, on records with known pairs.

    python benchmarks/answers.py [--sets stroke ...] [--seeds 20]

The candidates are those of fields.py. Somebody who knows the truth is asked about them, in the
order of the page of `neardup review`, in that of a model's doubt, or in random order. Only pairs
that were not asked count: those that the model finds, and those in one cluster, if pairs and
answers make clusters as `duplicates` does. "default" is the measure without answers on the same
pairs, in the same seed. Results go to answers.md and answers.json.
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import combinations, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from fields import SETS, THREADS, Records, join_values, make_columns, prepare
from lib import results
from numpy.typing import NDArray

from neardup_solr.argument_types import PairMeasure
from neardup_solr.clusters.components import Partition
from neardup_solr.measures import logistic, model
from neardup_solr.measures.columns import parse_fields
from neardup_solr.measures.fields import LEAST_PROBABILITY
from neardup_solr.measures.frequencies import count_words
from neardup_solr.measures.logistic import Fit, learn, leave_out
from neardup_solr.measures.model import Model
from neardup_solr.measures.pairs import Pairs
from neardup_solr.measures.record_matcher import RecordMatcher
from neardup_solr.text.normalize import normalize

COUNTS = (10, 30, 100)
# The page of a review: it asks about pairs from this probability on, each third time about any one
# of them, and the model learns after so many answers.
LEAST_ASKED, ANY_ONE, EACH = 0.001, 3, 5
ABOUT_EQUAL = 0.1  # doubts
LEAST_OF_TEXTS = 0.12  # which is a similarity of 0.1 below the threshold
EXAMPLES = Path(__file__).parents[1] / "tests" / "examples"
GOALS = {"restaurants": 0.965, "dblp_acm": 0.975, "cytology": 0.995, "stroke": 0.995}
TEXTS = ("restaurants", "dblp_acm", "cytology", "stroke")  # compared without fields, too
TEXTS_BY: tuple[PairMeasure, ...] = ("aligned", "words")
CHOICES = {"MARGIN": (0.0, 1.0, 3.0), "SHRINKAGE": (0.5, 1.0, 2.0)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Pairs that may be the same, with their features, guesses of the default, and the truth."""

    pairs: Pairs
    values: NDArray[np.float64]
    guesses: NDArray[np.float64]
    is_known: NDArray[np.bool_]
    known: frozenset[tuple[int, int]]
    sides: NDArray[np.uint8] | None
    default: Model

    def judge(self, fit: Fit) -> NDArray[np.float64]:
        """Compute the probabilities of all pairs by what was learnt."""
        return model.judge(self.values, replace(self.default, weights=fit.weights, floor=fit.floor))


def people() -> Records:
    """The invented people of the guide to a clean file, whom their families resemble."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, EXAMPLES / "messy.py"], cwd=folder, check=True)
        head, *rows = _read_rows(Path(folder) / "people.csv")
        truth = _read_rows(Path(folder) / "truth.csv")[1:]
    row = {own[0]: at for at, own in enumerate(rows)}
    values = {name: [own[at] for own in rows] for at, name in enumerate(head) if name != "id"}
    return Records(values, None, {(row[one], row[other]) for one, other, *_ in truth})


def _read_rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


class Scores(NamedTuple):
    """F1 of a model and of the default, by pairs and by clusters."""

    pairs: float
    default: float
    clusters: float
    default_clusters: float
    right: float  # share of answers that are foretold, each left out in turn


def make_task(records: Records, named: Sequence[str], measure: PairMeasure = "fields") -> Task:
    """Find the candidates, and compute their features."""
    of = prepare(records, named)
    forms = list(map(normalize, join_values(list(records.values.values()))))
    with_fields = measure == "fields"
    matcher = RecordMatcher(
        columns=make_columns(records, named) if with_fields else (),
        forms=forms,
        frequencies=count_words(forms),
        threads=THREADS,
    )
    rows, values = matcher.compare(of.pairs, measure)
    default = model.make_default(measure, parse_fields(named) if with_fields else {})
    return Task(
        pairs=of.pairs[rows],
        values=values,
        guesses=model.judge(values, default),
        is_known=of.is_known[rows],
        known=frozenset((min(pair), max(pair)) for pair in records.known),
        sides=records.sides,
        default=default,
    )


ALL_SETS: dict[str, tuple[Callable[[], Records], tuple[str, ...]]] = {
    **SETS, "people": (people, ("name", "street", "town", "phone:exact", "born:date")),
}  # fmt: skip


def compute_f1(found: int, right: int, known: int) -> float:
    """Compute F1; 1 if there is nothing to find, and nothing found."""
    return 2 * right / (found + known) if found + known else 1.0


def score_pairs(task: Task, is_found: NDArray[np.bool_], asked: Sequence[int]) -> float:
    """Compute the F1 of the found pairs that were not asked about."""
    is_open = np.ones(len(task.pairs), dtype=np.bool_)
    is_open[list(asked)] = False
    right = int(np.count_nonzero(is_found & is_open & task.is_known))
    known = len(task.known) - int(np.count_nonzero(task.is_known[list(asked)]))
    return compute_f1(int(np.count_nonzero(is_found & is_open)), right, known)


def score_clusters(task: Task, probabilities: NDArray[np.float64], asked: Sequence[int]) -> float:
    """Compute the F1 of the pairs in one cluster that were not asked about."""
    partition = Partition()
    pairs = [(int(one), int(other)) for one, other in task.pairs]
    for at in asked:
        join = partition.unite if task.is_known[at] else partition.separate
        join(*pairs[at])
    found = np.flatnonzero(probabilities >= LEAST_PROBABILITY)
    for at in found[np.argsort(-probabilities[found], kind="stable")].tolist():
        partition.unite(*pairs[at])
    groups: dict[Any, list[int]] = {}
    for row in {row for pair in pairs for row in pair}:
        groups.setdefault(partition.find(row), []).append(row)
    told = {(min(pairs[at]), max(pairs[at])) for at in asked}
    inside = {
        pair
        for group in groups.values()
        for pair in combinations(sorted(group), 2)
        if task.sides is None or task.sides[pair[0]] != task.sides[pair[1]]
    } - told
    known = task.known - told
    return compute_f1(len(inside), len(inside & known), len(known))


def ask(task: Task, seed: int, order: str, counts: Sequence[int], wrong: float = 0.0) -> list[Any]:
    """Ask about pairs one after the other, and score what was learnt after so many answers."""
    draw = np.random.default_rng(seed)
    is_open = np.ones(len(task.pairs), dtype=np.bool_)
    if order == "page":
        is_open = task.guesses >= (LEAST_ASKED if task.default.fields else LEAST_OF_TEXTS)
    said = task.is_known ^ (draw.random(len(is_open)) < wrong)
    if order == "permuted":
        said = draw.permutation(said)
    asked: list[int] = []
    probabilities, found = task.guesses, []
    while len(asked) < max(counts):
        chosen = choose_doubtful(probabilities, is_open, draw)
        if order == "random" or (order == "page" and len(asked) % ANY_ONE == ANY_ONE - 1):
            chosen = int(draw.choice(np.flatnonzero(is_open)))
        is_open[chosen] = False
        asked.append(chosen)
        is_idle = order == "random" or (order == "page" and len(asked) % EACH)
        if is_idle and len(asked) not in counts:
            continue
        rows = np.array(asked)
        fit = learn(task.values, task.guesses, rows, said[rows])
        if order != "page" or len(asked) % EACH == 0:
            probabilities = task.judge(fit)
        if len(asked) in counts:
            found.append(score(task, fit, said, asked))
    return found


def choose_doubtful(
    probabilities: NDArray[np.float64], is_open: NDArray[np.bool_], draw: np.random.Generator
) -> int:
    """Choose an open pair near 0.5, at random of those that differ by less than ABOUT_EQUAL."""
    doubts = np.abs(probabilities - 0.5) + ABOUT_EQUAL * draw.random(len(probabilities))
    return int(np.where(is_open, doubts, np.inf).argmin())


def score(
    task: Task,
    fit: Fit,
    said: NDArray[np.bool_],
    asked: list[int],
) -> Scores:
    """Score a model beside the default."""
    probabilities = task.judge(fit)
    is_found = probabilities >= LEAST_PROBABILITY
    foretold = leave_out(task.values[asked], said[asked], fit) >= LEAST_PROBABILITY
    return Scores(
        right=float((foretold == said[asked]).mean()),
        pairs=score_pairs(task, is_found, asked),
        default=score_pairs(task, task.guesses >= LEAST_PROBABILITY, asked),
        clusters=score_clusters(task, probabilities, asked),
        default_clusters=score_clusters(task, task.guesses, asked),
    )


def measure(task: Task, seeds: int, order: str, wrong: float = 0.0) -> list[dict[str, Any]]:
    """Ask in each seed, and take medians, and the worst loss against the default, by count."""
    runs = [ask(task, seed, order, COUNTS, wrong) for seed in range(seeds)]
    found = []
    for count, scores in zip(COUNTS, zip(*runs, strict=True), strict=True):
        one = {
            name: float(np.median([getattr(each, name) for each in scores]))
            for name in ("pairs", "default", "clusters", "default_clusters", "right")
        }
        gains = [(each.pairs - each.default, each.clusters - each.default_clusters)
                 for each in scores]  # fmt: skip
        found.append({
            "order": order, "answers": count, **one,
            "worst_gain": min(gain for gain, _ in gains),
            "worst_gain_clusters": min(gain for _, gain in gains),
        })  # fmt: skip
    return found


@contextmanager
def chosen(choice: dict[str, float]) -> Iterator[None]:
    """Let the model have other constants for a while."""
    usual = {name: getattr(logistic, name) for name in choice}
    try:
        for name, value in choice.items():
            setattr(logistic, name, value)
        yield
    finally:
        for name, value in usual.items():
            setattr(logistic, name, value)


def leave_one_out(tasks: dict[str, Task], seeds: int) -> list[list[Any]]:
    """Choose the constants by all sets but one, by their mean F1 after 30, judged on that one."""
    tried = [dict(zip(CHOICES, values, strict=True)) for values in product(*CHOICES.values())]
    f1s = np.zeros((len(tried), len(tasks)))
    for at, choice in enumerate(tried):
        with chosen(choice):
            for number, task in enumerate(tasks.values()):
                scores = [ask(task, seed, "page", COUNTS[1:2])[0] for seed in range(seeds)]
                f1s[at, number] = np.median([one.pairs for one in scores])
    found = []
    for number, name in enumerate(tasks):
        best = int(np.delete(f1s, number, axis=1).mean(axis=1).argmax())
        own = f1s[:, number]
        found.append([name, *(f"{value:g}" for value in tried[best].values()), _f1(own[best]),
                      _f1(own.min()), _f1(own.max())])  # fmt: skip
    return found


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", choices=list(ALL_SETS), default=list(ALL_SETS))
    parser.add_argument("--seeds", type=int, default=20)
    asked = parser.parse_args()
    measured: dict[str, Any] = {"conditions": results.conditions(), "seeds": asked.seeds,
                                "sets": {}}  # fmt: skip
    rows, others, texts = [], [], []
    tasks, fewer = {}, -(-asked.seeds // 2)
    for name in asked.sets:
        load, named = ALL_SETS[name]
        task = tasks[name] = make_task(load(), named)
        started = time.perf_counter()
        runs = {"page": measure(task, asked.seeds, "page")}
        runs |= {order: measure(task, fewer, order) for order in ("doubt", "random", "permuted")}
        runs["one in twenty wrong"] = measure(task, fewer, "page", wrong=0.05)
        measured["sets"][name] = {**runs, "seconds": time.perf_counter() - started}
        rows.append([name, GOALS.get(name, "–"), *_cells(runs["page"])])
        others += [[name, order, *(_f1(one["pairs"]) for one in runs[order]),
                    *(f"{one['worst_gain']:+.3f}" for one in runs[order]),
                    *(f"{100 * one['right']:.0f} %" for one in runs[order])]
                   for order in runs]  # fmt: skip
        if name in TEXTS:
            for by in TEXTS_BY:
                found = measure(make_task(load(), named, by), asked.seeds, "page")
                measured["sets"][name][f"texts by {by}"] = found
                texts.append([name, by, *_cells(found)])
    left_out = leave_one_out(tasks, min(asked.seeds, 5)) if len(tasks) > 2 else []
    measured["left_out"] = left_out
    heads = [head for count in COUNTS for head in (
        f"pairs, {count}", "default", "clusters", "default", "worst")]  # fmt: skip
    results.keep("answers", measured, [
        (f"F1 on what was not asked, by fields; medians of {asked.seeds} seeds",
         "Asked in the order of the page of `neardup review`. `worst` is the least gain over the"
         " default of all\nseeds, by pairs or by clusters.\n\n"
         + results.table(["set", "goal at 30", *heads], rows)),
        ("The same texts without fields",
         results.table(["set", "default", *heads], texts)),
        ("Orders, and answers that are wrong",
         f"Of {fewer} seeds. `page`: as above, the model learns after each fifth answer. `doubt`:"
         " after each one, and all\ncandidates may be asked about. `permuted`: the same, but before"
         " the first question the answers are dealt out at\nrandom among all candidates."
         " `foretold`: how many\nanswers the model gives by itself, each left out in"
         " turn; they are about pairs of which it is in doubt.\n\n" + results.table(
             ["set", "order", *(f"pairs, {count}" for count in COUNTS),
              *(f"worst, {count}" for count in COUNTS),
              *(f"foretold, {count}" for count in COUNTS)], others)),
        ("Constants chosen anew leaving one set out",
         "By the mean F1 after 30 answers of the other sets. The form of the model was chosen with"
         " all of these sets in sight.\n\n" + results.table(
             ["left out", *CHOICES, "its F1", "least of all", "most of all"], left_out)),
    ])  # fmt: skip


def _cells(found: list[dict[str, Any]]) -> list[str]:
    return [cell for one in found for cell in (
        _f1(one["pairs"]), _f1(one["default"]), _f1(one["clusters"]), _f1(one["default_clusters"]),
        f"{min(one['worst_gain'], one['worst_gain_clusters']):+.3f}")]  # fmt: skip


def _f1(value: float) -> str:
    return f"{value:.3f}"


if __name__ == "__main__":
    main()
