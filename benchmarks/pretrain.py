"""Learn the weights of `measures.pretrained`, and measure them on kinds that they have not seen.

    python benchmarks/pretrain.py

Prints the weights that the tables of two sources in the test data and in lib/made.py teach. The
figures, kept in pretrain.md and pretrain.json, are those of weights that learnt from no table of
the same family.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from kinds import write_rows
from lib import results
from lib.kinds import Table, read_tables
from lib.made import MADE
from numpy.typing import NDArray

from neardup_solr.measures.logistic import fit_logistic
from neardup_solr.measures.pairs import mutual_best
from neardup_solr.measures.pretrained import WholeRecords
from neardup_solr.memory import Spill
from neardup_solr.verbs.duplicates.candidate_pairs import find_candidates, name_way
from neardup_solr.verbs.duplicates.comparison import Comparison
from neardup_solr.verbs.duplicates.corpus import read_corpus
from neardup_solr.verbs.duplicates.plan import make_plan
from neardup_solr.verbs.duplicates.request import DuplicatesRequest

SHRINKAGE = 1.0
EACH = 400.0  # pairs that each table counts for
BINS = (0.5, 0.7, 0.9, 1.0)  # of probabilities, whose share of true pairs is measured

Values = NDArray[np.float64]
Marks = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Sample:
    """Candidates of a table: pairs, their features, which are true, and how many there are."""

    table: Table
    pairs: NDArray[np.uint32]
    features: Values
    are_true: Marks
    known: int


def read_sample(table: Table) -> Sample:
    """Find the candidates of a table as `duplicates` does. Records that are equal count once."""
    with tempfile.TemporaryDirectory() as name, Spill() as spill:
        first, second = (write_rows(rows, Path(name) / f"{'ab'[at]}.csv")
                         for at, rows in enumerate(table.sides))  # fmt: skip
        plan = make_plan(DuplicatesRequest(first, against=second))
        documents = read_corpus(plan, spill)
        comparison = Comparison.of(plan, documents)
        way = name_way(plan, documents, comparison.distinct)
        candidates = find_candidates(
            plan, documents, way, comparison.copies, comparison.columns
        ).pairs
        ids = list(map(str, documents.ids(range(len(documents)))))
        matcher, copies = comparison.matcher, comparison.copies
        assert matcher is not None
        assert copies is not None
        rows = {id: int(copies.firsts[row]) for row, id in enumerate(ids)}
        known = {(rows[id], rows[other]) for id, other in table.pairs}
        firsts = copies.firsts[candidates]
        are_true = np.array([pair in known for pair in map(tuple, firsts.tolist())])
        features = WholeRecords(matcher.forms, matcher.columns, matcher.threads).measure_features(
            candidates
        )
    return Sample(table, candidates, features, are_true, len(known))


def fit(features: Values, are_true: Marks, counts: Values) -> Values:
    """Fit a logistic regression over standardised features, whose weights shrink towards 0."""
    mean = np.average(features, axis=0, weights=counts)
    spread = np.sqrt(np.average((features - mean) ** 2, axis=0, weights=counts)) + 1e-6
    design = np.column_stack([np.ones(len(features)), (features - mean) / spread])
    precision = SHRINKAGE * np.diag([0.0] + [1.0] * features.shape[1])
    weights, _ = fit_logistic(design, are_true.astype(float), counts, precision)
    slopes = weights[1:] / spread
    return np.concatenate([[weights[0] - mean @ slopes], slopes])


def learn(samples: list[Sample]) -> Values:
    """Learn weights: first to rank all candidates, then to judge the best of both records."""
    counts = []
    for each in samples:
        share = np.where(each.are_true, each.are_true.sum(), (~each.are_true).sum())
        counts.append(EACH / 2 / np.maximum(share, 1))
    features, are_true = (np.concatenate([getattr(each, name) for each in samples])
                          for name in ("features", "are_true"))  # fmt: skip
    weights = fit(features, are_true, np.concatenate(counts))
    best = [mark_best(each, weights) for each in samples]
    counts = [np.full(marks.sum(), EACH / marks.sum()) for marks in best]
    both = [np.concatenate(best)]
    return fit(features[both[0]], are_true[both[0]], np.concatenate(counts))


def weigh(sample: Sample, weights: Values) -> Values:
    """Compute the probabilities of the pairs of a sample."""
    chances: Values = 1.0 / (1.0 + np.exp(-(weights[0] + sample.features @ weights[1:])))
    return chances


def mark_best(sample: Sample, weights: Values) -> Marks:
    """Mark the pairs that are the best of both records."""
    return mutual_best(sample.pairs, weigh(sample, weights))


def main() -> None:
    """Learn, measure, print and keep."""
    conditions = results.conditions()
    tables = [*read_tables(), *(table for make in MADE.values() for table in make())]
    samples = [read_sample(table) for table in tables if len(table.sides) > 1]
    weights = learn(samples)
    print("weights", weights.round(2).tolist())
    rows, kept, judged = [], dict[str, Any](), []
    for each in samples:
        others = [other for other in samples if other.table.family != each.table.family]
        unseen = learn(others)
        chances, are_best = weigh(each, unseen), mark_best(each, unseen)
        is_near = are_best & (chances >= BINS[0])
        right = int(each.are_true[is_near].sum())
        figure = 2 * right / max(int(is_near.sum()) + each.known, 1)
        recall = each.are_true.sum() / max(each.known, 1)
        judged.append((chances[are_best], each.are_true[are_best]))
        kept[each.table.name] = {"f1": figure, "candidates": recall}
        rows.append([each.table.name, each.table.family, f"{figure:.3f}", f"{recall:.3f}"])
        print(*rows[-1], flush=True)
    names = ["table", "family", "F1", "recall of candidates"]
    chances, are_true = map(np.concatenate, zip(*judged, strict=True))
    shares = []
    for least, most in pairwise(BINS):
        within = (chances >= least) & (chances < most)
        shares.append([f"{least:g} to {most:g}", within.sum(), f"{are_true[within].mean():.3f}"])
    title = "Weights that learnt from no table of the same family"
    sections = [
        (title, results.table(names, rows)),
        ("Best pairs of both records that are true, by their probability",
         results.table(["probability", "pairs", "true"], shares)),
    ]  # fmt: skip
    results.keep(
        "pretrain", {"conditions": conditions, "weights": weights.tolist(), **kept}, sections
    )


if __name__ == "__main__":
    main()
