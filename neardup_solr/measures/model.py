"""A model of what people answer about pairs, over measures and fields.

A logistic regression gives the probability that two documents are the same. What it knows of a pair
are four measures of the whole texts and, for records, what the measure `fields` says and how far
each field agrees. It begins with what the default measure guesses about all candidates, which
counts as few answers do; so it decides as the default until answers say otherwise. Its weights are
the maximum of the posterior, by Newton's method (iteratively reweighted least squares), and
the Gaussian around it says how sure they are (Laplace; Bishop 2006, "Pattern Recognition and
Machine Learning", section 4.5).

An answer helps most where the model is in doubt (uncertainty sampling; Lewis and Gale 1994, "A
sequential algorithm for training text classifiers").
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup_solr import measures
from neardup_solr.arguments import PairMeasure
from neardup_solr.errors import ArgumentError
from neardup_solr.measures import Measurements, Similarities, measure_named
from neardup_solr.measures import fields as by_fields
from neardup_solr.measures.aligned import compare_records, mutual_best
from neardup_solr.measures.columns import (
    MISSING,
    FieldColumn,
    FieldKind,
    Table,
    make_column,
    parse_fields,
)
from neardup_solr.measures.em import FLOOR, MOST_BITS
from neardup_solr.measures.frequencies import Frequencies, count_words
from neardup_solr.measures.levels import LEVELS, compare_fields
from neardup_solr.measures.lists import SURE, find_lists, match_lists
from neardup_solr.measures.pairs import Pairs, take_evenly
from neardup_solr.measures.pretrained import WholeRecords
from neardup_solr.measures.weights import Evidence, Weights
from neardup_solr.progress import ignore
from neardup_solr.settings import Settings

AT_ONCE = 1 << 19  # pairs whose whole records are compared, between two reports of progress
MEASURES = ("aligned", "words", "jaccard", "containment")
EVIDENCE = "fields"  # the log-odds of that measure
NEUTRAL, SCALE = 0.7, 0.2  # a similarity that says nothing, and how much more says 1
MOST_EVIDENCE = 6.0  # nats
SHARPNESS = 0.05  # of a similarity around the threshold, within which the default is unsure
GUESSES = (20.0, 5.0, 2.0)  # answers that all guesses count for: fewer if these are wrong
BADLY = 0.1  # nats that an answer costs if the guesses foretell it so that fewer may count
MARGIN = 1.0  # nats by which fewer have to foretell the answers better
LEAST_ALIKE = 0.3  # of whole records, the floor of a model that learnt
MOST_GUESSES = 2_000  # that are looked at on either side
LEAST_LIKELY = 0.2  # of whole records, below which few are the same in other words
FEWEST, FEWEST_OF_EACH = 10, 2  # answers, of which a model can be learnt
SHRINKAGE, INTERCEPT_SHRINKAGE = 1.0, 0.01  # of the weights towards 0
MOST_ROUNDS, SETTLED, LONGEST_STEP = 25, 1e-4, 5.0
VERSION = 1


class Features(NamedTuple):
    """Features of the pairs that may be the same, those at `rows`.

    `values` (rows, features) are 0 if they say nothing. Others are not alike at all.
    """

    rows: NDArray[np.intp]
    values: Table


class Fit(NamedTuple):
    """Weights of the intercept and of each feature, their covariance, and the floor of records."""

    weights: Table
    covariance: Table
    floor: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """Measure that answers taught: its similarity is the probability of a match.

    `measure` is the default that it began with, "fields" if records are compared by `fields`, whose
    `evidence` is weighed. `weights` are those of the intercept and of `names`. A pair is a match
    from the probability `threshold` on, but records, if not compared as wholes, never below the
    `floor` of their similarity by "aligned". Two lists in one source have a thing `once` each, if
    those had that it learnt from. It learnt from `same` and `different` answers.
    """

    measure: PairMeasure
    weights: Table
    fields: Mapping[str, FieldKind]
    evidence: Weights | None = None
    threshold: float = by_fields.LEAST_PROBABILITY
    floor: float = FLOOR
    once: bool = False
    same: int = 0
    different: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features: measures, the evidence of all fields, then each field."""
        return (*MEASURES, EVIDENCE, *self.fields) if self.fields else MEASURES

    def to_text(self) -> str:
        """Format the model as JSON, a line for each thing that it knows."""
        rounded = [round(float(weight), 6) for weight in self.weights]
        places = 1 + len(MEASURES)
        content: dict[str, Any] = {
            "neardup_model": VERSION,
            "measure": self.measure,
            "threshold": self.threshold,
            "floor": self.floor,
            **({"once": True} if self.once else {}),
            "same": self.same,
            "different": self.different,
            "neutral": NEUTRAL,
            "scale": SCALE,
            "intercept": rounded[0],
            "measures": dict(zip(MEASURES, rounded[1:places], strict=True)),
        }
        if self.evidence is not None:
            content["evidence"] = rounded[places]
            weighed = zip(self.fields.items(), rounded[places + 1 :], strict=True)
            content["fields"] = {
                name: {"kind": kind, "weight": weight} for (name, kind), weight in weighed
            }
            content["shares"] = self.evidence.shares.tolist()
            content["are_matches"] = self.evidence.are_matches.tolist()
            content["rates"] = self.evidence.rates.round(9).tolist()
            content["bounds"] = {str(key): most for key, most in self.evidence.bounds.items()}
            content["as_wholes"] = self.evidence.as_wholes
            content["telling"] = list(self.evidence.telling)
        lines = (f" {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}"
                 for name, value in content.items())  # fmt: skip
        return "{\n" + ",\n".join(lines) + "\n}\n"


def parse_model(text: str) -> Model:
    """Parse a model that `to_text` has formatted.

    Raises ValueError, with a reason, if it is none.
    """
    try:
        content = json.loads(text)
        version = content["neardup_model"]
        if version == VERSION:
            return _parse_model(content)
    except (ValueError, LookupError, TypeError, AttributeError, ArgumentError) as error:
        raise ValueError(f"is not a neardup model ({type(error).__name__}: {error})") from None
    raise ValueError(f"has version {version!r}, but this neardup supports {VERSION}")


def _parse_model(content: dict[str, Any]) -> Model:
    """Make a model of what its file says. Raises ValueError or the like if it is none."""
    fields = {name: value["kind"] for name, value in content.get("fields", {}).items()}
    weights: Any = [content["intercept"], *(content["measures"][name] for name in MEASURES)]
    evidence, kinds = None, parse_fields(fields) if fields else {}
    if fields:
        weights += [content["evidence"], *(value["weight"] for value in content["fields"].values())]
        shares, rates = np.array(content["shares"]), np.array(content["rates"], dtype=np.float64)
        if shares.shape != (3,) or rates.shape[:2] != (3, len(kinds)) or rates.ndim != 3:
            raise ValueError("rates are missing")
        are_matches = np.array(content["are_matches"], dtype=np.bool_)
        evidence = Weights(
            names=tuple(kinds), kinds=tuple(kinds.values()), shares=shares, rates=rates,
            are_matches=are_matches,
            bounds={int(key): float(most) for key, most in content.get("bounds", {}).items()},
            as_wholes=bool(content.get("as_wholes", False)),
            telling=tuple(range(len(kinds))[at] for at in content.get("telling", [])),
        )  # fmt: skip
    weights = np.array(weights, dtype=np.float64)
    is_scaled = (content["neutral"], content["scale"]) == (NEUTRAL, SCALE)
    is_valid = content["measure"] == EVIDENCE if fields else content["measure"] in MEASURES
    bounds = content["threshold"], content["floor"]
    is_possible = all(0 <= bound <= 1 for bound in bounds) and np.isfinite(weights).all()
    if not (is_scaled and is_valid and is_possible):
        raise ValueError("a value is out of range")
    return Model(
        measure=content["measure"],
        weights=weights,
        fields=kinds,
        evidence=evidence,
        threshold=content["threshold"],
        floor=content["floor"],
        once=bool(content.get("once", False)),
        same=int(content["same"]),
        different=int(content["different"]),
    )


@dataclass(slots=True, kw_only=True)
class RecordMatcher:
    """Records that are compared by their fields, or by a `model`: their probability of a match.

    `columns` are those of the fields, none for plain texts, `forms` the normal forms of the whole
    records, of which `frequencies` weigh the words and `settings` shape the shingles. The first
    pairs teach it the `weights` of the fields. Those of two sources are compared `as_wholes`, by
    those of a `sample` if they come a few at a time. A source that `may_be_lists` is matched as two
    lists if it is likely that it has them; `border` then says what parts them. `unsure` is a
    sentence about what is unsure, or "".
    """

    columns: Sequence[FieldColumn]
    forms: Sequence[str]
    frequencies: Frequencies
    settings: Settings = field(default_factory=Settings)
    threads: int = 1
    weights: Weights | None = None
    model: Model | None = None
    as_wholes: bool = False
    sample: WholeRecords | None = None
    may_be_lists: bool = False
    border: str = field(init=False, default="")
    unsure: str = field(init=False, default="")
    _sure: Similarities = field(init=False, repr=False, default_factory=lambda: np.empty(0))
    _wholes: WholeRecords = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.model is not None:
            self.weights = self.model.evidence
        if self.weights is not None:
            self.as_wholes = self.weights.as_wholes
        self._wholes = WholeRecords(self.forms, self.columns, self.threads, self.sample)

    def match(self, pairs: Pairs, tell: Callable[[int], None] = ignore) -> Similarities:
        """Compute the probability of each pair that both records are the same.

        `tell` gets how many are done.
        """
        tell(0)
        is_first = self.weights is None
        if self.model is None and self.as_wholes:
            probabilities = by_fields.to_probabilities(self._weigh_wholes(pairs))
        elif self.model is None:
            probabilities = self._match_fields(pairs, tell)
        else:
            rows, values = self.compare(pairs, self.model.measure)
            probabilities = np.zeros(len(pairs))
            probabilities[rows] = judge(values, self.model)
            if self.may_be_lists:
                probabilities = self._match_lists(pairs, probabilities, rows)
        if is_first and self.weights is not None:
            from neardup_solr.measures.unsure import describe_unsure  # for records alone

            self.unsure = describe_unsure(
                self.columns, pairs, probabilities, self.weights, self._sure
            )
        tell(len(pairs))
        return probabilities

    def _match_fields(self, pairs: Pairs, tell: Callable[[int], None]) -> Similarities:
        whole = np.empty(len(pairs), dtype=np.float64)
        for at in range(0, len(pairs), AT_ONCE):
            part = slice(at, at + AT_ONCE)
            tell(at * 3 // 4)  # the fields take about a quarter of the time
            whole[part] = self._compare_whole(pairs[part])
        return self._learn_fields(pairs, whole)

    def _learn_fields(self, pairs: Pairs, whole: Similarities) -> Similarities:
        """Compute probabilities by the fields. The first pairs teach their weights."""
        is_first = self.weights is None
        probabilities, self.weights = by_fields.match_fields(
            self.columns, pairs, whole, weights=self.weights, threads=self.threads
        )
        if is_first and self.may_be_lists:
            likely = np.flatnonzero(whole >= LEAST_LIKELY)
            return self._match_lists(pairs, probabilities, likely)
        return probabilities

    def _match_lists(
        self, pairs: Pairs, probabilities: Similarities, likely: NDArray[np.intp]
    ) -> Similarities:
        """Keep the best matches across two lists alone, if the source has them.

        They are among the `likely` rows of pairs. What a model says is not replaced by the odds of
        whole records.
        """
        if not len(likely):
            return probabilities
        odds = np.full(len(pairs), -MOST_BITS)
        odds[likely] = self._wholes.weigh(pairs[likely])
        is_best = mutual_best(pairs, odds) & (odds >= 0.0)
        self._sure = probabilities[is_best & (odds >= SURE)]
        lists = find_lists(self.columns, pairs[is_best])
        if lists is None:
            return probabilities
        if self.model is not None and self.model.once:
            are_best, by_odds = lists.mark_best(pairs, probabilities), False
        else:
            matched = match_lists(lists, self.columns, pairs, odds, probabilities)
            if matched is None or (self.model is not None and matched[1]):
                return probabilities
            are_best, by_odds = matched
        self.border, self._sure = lists.border, np.empty(0)
        if by_odds:
            self.as_wholes = True
            odds = np.where(are_best, odds, np.minimum(odds, -1.0))
            self.weights = self._wholes.estimate_weights(pairs, odds)
            probabilities = by_fields.to_probabilities(odds)
        are_best |= by_fields.mark_same(self.columns, pairs)
        return np.where(are_best, probabilities, 0.0)

    def _weigh_wholes(self, pairs: Pairs) -> Table:
        """Compute the log2 odds of whole records. The first pairs teach what explains them."""
        odds = self._wholes.weigh(pairs)
        if self.weights is None:
            self.weights = self._wholes.estimate_weights(pairs, odds)
        return odds

    def _compare_whole(self, pairs: Pairs) -> Similarities:
        """Compare whole records: as equal if all fields are, in whatever notation."""
        whole = compare_records(self.forms, pairs, self.frequencies, threads=self.threads)
        shares_code = by_fields.mark_codes(self.columns, pairs)
        whole[shares_code] = np.maximum(whole[shares_code], FLOOR)
        whole[by_fields.mark_same(self.columns, pairs)] = 1.0
        return whole

    def explain(self, pairs: Pairs) -> list[list[Evidence]]:
        """List what each measure and field adds to the odds of each pair.

        The first is what speaks for a match before anything is compared. Without others the two are
        not alike at all.
        """
        if self.model is None:
            assert self.weights is not None
            odds = self._weigh_wholes(pairs) if self.as_wholes else None
            return by_fields.explain_pairs(self.columns, pairs, self.weights, odds)
        bits = (self.model.weights / math.log(2)).tolist()
        explained = [[Evidence("", "", bits[0])] for _ in pairs]
        rows, values = self.compare(pairs, self.model.measure)
        levels = compare_fields(self.columns, pairs[rows])
        for at, row, of_fields in zip(rows.tolist(), values.tolist(), levels.tolist(), strict=True):
            labels = [f"{NEUTRAL + SCALE * value:.2f}" for value in row[: len(MEASURES)]]
            if self.weights is not None:
                labels += [f"{row[len(MEASURES)]:+.1f}", *self.weights.label(of_fields)]
            weighed = (weight * value for weight, value in zip(bits[1:], row, strict=True))
            explained[at] += map(Evidence, self.model.names, labels, weighed)
        return explained

    def compare(self, pairs: Pairs, measure: PairMeasure) -> Features:
        """Compute the features of the pairs that are alike at all, by this default measure too.

        The weights of the fields are learnt from the first pairs, if none are set.
        """
        columns, threads = self.columns, self.threads
        whole = self._compare_whole(pairs)
        may_match = whole >= LEAST_ALIKE
        if not columns and measure not in ("aligned", "records"):
            least = LEAST_ALIKE
            may_match |= self._measure(measure, self.forms, pairs, least) >= least
        if columns and self.weights is None and not self.as_wholes:
            self._learn_fields(pairs, whole)
        odds = self._weigh_wholes(pairs) if columns and self.as_wholes else None
        if odds is not None:
            may_match |= odds >= 0.0
        rows = np.flatnonzero(may_match)
        alike = pairs[rows]
        numbers, places = np.unique(alike, return_inverse=True)
        forms = [self.forms[row] for row in numbers.tolist()]
        numbered = places.reshape(-1, 2).astype(np.uint32)
        features = [(whole[rows] - NEUTRAL) / SCALE]
        for name in MEASURES[1:]:
            features.append((self._measure(name, forms, numbered) - NEUTRAL) / SCALE)
        if columns:
            assert self.weights is not None
            levels = compare_fields(columns, alike, threads=threads)
            if odds is None:
                bits = by_fields.weigh_pairs(columns, alike, levels, self.weights)
            else:
                bits = odds[rows]
            nats = bits * math.log(2)
            nats[(levels == MISSING).all(axis=1)] = -MOST_EVIDENCE
            features.append(np.clip(nats, -MOST_EVIDENCE, MOST_EVIDENCE))
            for column, of_column in zip(columns, levels.T, strict=True):
                agreements = [agreement for _, agreement in LEVELS[column.kind]]
                # Missing is the last: no evidence.
                features.append((np.array([*agreements, NEUTRAL])[of_column] - NEUTRAL) / SCALE)
        return Features(rows, np.stack(features, axis=1))

    def _measure(
        self, name: str, forms: Sequence[str], pairs: Pairs, least: float = 0.0
    ) -> Similarities:
        """Compute similarities by a measure of texts, those below a limit about."""
        comparer = measures.Comparer(
            measure=measure_named(name),
            limits=measures.Limits(min_similarity=least),
            settings=self.settings,
            threads=self.threads,
        )
        return comparer.measure.compare(comparer.prepare(forms), pairs, comparer).similarities


def make_measure(model: Model) -> measures.Measure:
    """Make the measure of a model, whose candidates are those of the default that it began with."""
    default = measure_named(model.measure)
    return replace(
        MODEL, default=model.threshold, way=default.way, counts_shingles=default.counts_shingles
    )


def make_joined_measure(
    model: Model, rows: Sequence[Mapping[str, object]], forms: Sequence[str], normalization: int
) -> measures.Measure:
    """Make the measure of a model for documents that come a few at a time.

    Documents of the collection, their values in `rows` and their normal `forms`, tell how rare a
    value or a term is: what a pair gets does not depend on what comes with it.
    """
    samples = [
        make_column(name, kind, [row.get(name) for row in rows])
        for name, kind in model.fields.items()
    ]
    wholes = WholeRecords(forms, samples, threads=1)
    counts = count_words(forms, normalization)

    def compare(joined: Sequence[str], pairs: Pairs, comparer: measures.Comparer) -> Measurements:
        rows = map(json.loads, joined) if model.fields else ([form] for form in joined)
        forms, *values = zip(*rows, strict=True)
        columns = [
            make_column(each.name, each.kind, column, each)
            for each, column in zip(samples, values, strict=True)
        ]
        matcher = RecordMatcher(
            columns=columns, forms=forms, frequencies=counts, settings=comparer.settings,
            threads=comparer.threads, model=model, sample=wholes,
        )  # fmt: skip
        return Measurements(matcher.match(pairs))

    return replace(
        make_measure(model),
        prepare=lambda joined, _: list(joined),
        compare=compare,
        fields=tuple(model.fields),
        needs_frequencies=False,  # `counts` are these
    )


def predict(values: Table, weights: Table) -> Similarities:
    """Compute the probabilities of a match for features, shape (pairs, features)."""
    odds = np.clip(weights[0] + values @ weights[1:], -60.0, 60.0)
    probabilities: Similarities = 1.0 / (1.0 + np.exp(-odds))
    return probabilities


def judge(values: Table, model: Model) -> Similarities:
    """Compute the probabilities of a match by a model, shape (pairs,)."""
    probabilities = predict(values, model.weights)
    if model.fields and not (model.evidence and model.evidence.as_wholes):
        probabilities[values[:, 0] * SCALE + NEUTRAL < model.floor - 1e-9] = 0.0
    return probabilities


def make_default(measure: PairMeasure, fields: Mapping[str, FieldKind]) -> Model:
    """Make the model that decides as a measure does by its default, before any answer.

    For records it is that of aligned: their numbers are not among what it weighs.
    """
    measure = "aligned" if measure == "records" else measure
    weights = np.zeros(1 + len(MEASURES) + (1 + len(fields) if fields else 0))
    if fields:
        weights[1 + len(MEASURES)] = 1.0
        return Model(measure="fields", weights=weights, fields=fields)
    weights[1 + MEASURES.index(measure)] = SCALE / SHARPNESS
    weights[0] = (NEUTRAL - measure_named(measure).default) / SHARPNESS
    return Model(measure=measure, weights=weights, fields=fields)


def can_learn(guesses: Similarities, are_same: NDArray[np.bool_]) -> bool:
    """Tell if answers can teach more than the guesses about their pairs, both (answers,).

    `guesses` are their probabilities by the default.
    """
    same = int(np.count_nonzero(are_same))
    unexpected = int(np.count_nonzero(are_same & (guesses < 0.5)))
    return are_telling(same, len(are_same) - same, unexpected)


def are_telling(same: int, different: int, unexpected: int) -> bool:
    """Tell if so many answers teach something, `unexpected` of the same below the threshold.

    There have to be some of either kind, or some that are unexpected: most candidates are different
    for sure, so that guesses can stand for these, but not for matches.
    """
    return min(same, max(different, unexpected)) >= FEWEST_OF_EACH


def learn(
    values: Table,
    guesses: Similarities,
    answered: NDArray[np.intp],
    are_same: NDArray[np.bool_],
    *,
    as_wholes: bool = False,
) -> Fit:
    """Learn weights from answers about pairs, and from guesses about all of them.

    `values` (pairs, features) are those of the candidates, `guesses` (pairs,) their probabilities
    by the default; `answered` (answers,) are rows of them, and `are_same` (answers,) the answers.
    If the guesses foretell the answers badly, each left out in turn, they count less, if that
    foretells them clearly better. Guesses about records that are compared `as_wholes` were learnt
    from answers, and so count.
    """
    best, most = None, -math.inf
    for count in GUESSES:
        fit = _fit(values, guesses, answered, are_same, count)
        foretold = leave_out(values[answered], are_same, fit)
        likely = float(np.log(np.where(are_same, foretold, 1.0 - foretold)).sum())
        if best is None or likely > most + MARGIN:
            best, most = fit, likely
        if as_wholes or likely > -BADLY * len(answered):
            break
    assert best is not None
    return best


def _fit(
    values: Table,
    guesses: Similarities,
    answered: NDArray[np.intp],
    are_same: NDArray[np.bool_],
    count: float,
) -> Fit:
    """Find the most probable weights, if all guesses count as so many answers."""
    sides = [np.flatnonzero(guesses >= 0.5), np.flatnonzero(guesses < 0.5)]
    most = min(MOST_GUESSES, len(guesses))
    sides = [take_evenly(side, most) for side in sides if len(side)]
    shares = [np.full(len(side), count / 2 / len(side)) for side in sides]
    rows = np.concatenate([*sides, answered])
    design = np.column_stack([np.ones(len(rows)), values[rows]])
    targets = np.concatenate([guesses[rows[: len(rows) - len(answered)]], are_same])
    counts = np.concatenate([*shares, np.ones(len(answered))])
    precision = np.diag([INTERCEPT_SHRINKAGE, *[SHRINKAGE] * values.shape[1]])
    weights, covariance = fit_logistic(design, targets, counts, precision)
    return Fit(weights, covariance, LEAST_ALIKE)


def fit_logistic(
    design: Table, targets: Table, counts: Table, precision: Table
) -> tuple[Table, Table]:
    """Find the most probable weights of a logistic regression, and their covariance.

    The first column of `design` (rows, weights) is 1. Each of the `targets` (rows,), 0..1, counts
    as so many. `precision` (weights, weights) is that of the prior, whose mean is 0.
    """
    weights = np.zeros(design.shape[1])
    for _ in range(MOST_ROUNDS):
        chances = predict(design[:, 1:], weights)
        slopes = counts * np.maximum(chances * (1.0 - chances), 1e-6)
        curvature = design.T @ (design * slopes[:, np.newaxis]) + precision
        ascent = design.T @ (counts * (targets - chances)) - precision @ weights
        step = np.linalg.solve(curvature, ascent)
        length = float(np.linalg.norm(step))
        weights = weights + step * min(1.0, LONGEST_STEP / max(length, SETTLED))
        if length < SETTLED:
            break
    return weights, np.asarray(np.linalg.inv(curvature), dtype=np.float64)


def leave_out(values: Table, are_same: NDArray[np.bool_], fit: Fit) -> Similarities:
    """Compute the probability of each answered pair as if its answer were missing.

    By one step of Newton's method back from `fit` (Pregibon 1981, "Logistic regression
    diagnostics").
    """
    design = np.column_stack([np.ones(len(values)), values])
    chances = predict(values, fit.weights)
    spread = ((design @ fit.covariance) * design).sum(axis=1)
    pull = np.maximum(1.0 - spread * chances * (1.0 - chances), 1e-6)
    odds = design @ fit.weights - spread * (are_same - chances) / pull
    probabilities: Similarities = 1.0 / (1.0 + np.exp(-np.clip(odds, -60.0, 60.0)))
    return probabilities


# Whole records are prepared as `aligned` does; a model goes on from there.
MODEL = replace(by_fields.FIELDS, name="model")
