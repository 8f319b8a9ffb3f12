"""Records and texts that are compared by their fields, or by a model of answers."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup_solr import measures
from neardup_solr.argument_types import PairMeasure
from neardup_solr.measures import Measurements, Similarities, measure_named
from neardup_solr.measures import fields as by_fields
from neardup_solr.measures.alignment import compare_records, prepare_records
from neardup_solr.measures.columns import (
    MISSING,
    FieldColumn,
    Table,
    make_column,
)
from neardup_solr.measures.em import FLOOR, MOST_BITS
from neardup_solr.measures.frequencies import Frequencies, count_words
from neardup_solr.measures.levels import LEVELS, compare_fields
from neardup_solr.measures.lists import SURE, find_lists, match_lists
from neardup_solr.measures.logistic import LEAST_ALIKE
from neardup_solr.measures.model import MEASURES, NEUTRAL, SCALE, Model, judge, make_measure
from neardup_solr.measures.pairs import Pairs, find_pairs, mutual_best
from neardup_solr.measures.pretrained import WholeRecords
from neardup_solr.measures.unsure import describe_unsure
from neardup_solr.measures.weights import Evidence, Weights
from neardup_solr.progress import ignore
from neardup_solr.settings import Settings

AT_ONCE = 1 << 19  # pairs whose whole records are compared, between two reports of progress
MOST_EVIDENCE = 6.0  # nats
LEAST_LIKELY = 0.2  # of whole records, below which few are the same in other words


class Features(NamedTuple):
    """Features of the pairs that may be the same, those at `rows`.

    `values` (rows, features) are 0 if they say nothing. Others are not alike at all.
    """

    rows: NDArray[np.intp]
    values: Table


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
    _are_sure: NDArray[np.bool_] | None = field(init=False, repr=False, default=None)
    _wholes: WholeRecords = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.model is not None:
            self.weights = self.model.evidence
        if self.weights is not None:
            self.as_wholes = self.weights.as_wholes
        self._wholes = WholeRecords(self.forms, self.columns, self.threads, self.sample)

    def match(
        self, pairs: Pairs, tell: Callable[[int], None] = ignore, *, every: Pairs | None = None,
        least: float = 0.0,
    ) -> Similarities:  # fmt: skip
        """Compute the probability of each pair that both records are the same.

        If the weights are known, pairs of less than `least` may get 0 instead.

        `tell` gets how many are done. If the pairs are some of `every` pair of the records, those
        teach the weights, and so do not depend on which are asked for.
        """
        tell(0)
        is_first = self.weights is None
        if is_first and every is not None and self.model is None and not self.as_wholes:
            return self._match_some(pairs, every, tell)
        if self.model is None and self.as_wholes:
            probabilities = by_fields.to_probabilities(self._weigh_wholes(pairs))
        elif self.model is None and (is_first or least <= 0.0):
            probabilities = self._match_fields(pairs, tell)
        elif self.model is None:
            assert self.weights is not None
            likely = by_fields.find_likely(self.columns, pairs, self.weights, least, self.threads)
            probabilities = np.zeros(len(pairs))
            probabilities[likely] = self._match_fields(pairs[likely], tell)
        else:
            rows, values = self.compare(pairs, self.model.measure)
            probabilities = np.zeros(len(pairs))
            probabilities[rows] = judge(values, self.model)
            if self.may_be_lists:
                probabilities = self._match_lists(pairs, probabilities, rows)
        if is_first and self.weights is not None:
            self._describe_unsure(pairs, probabilities, self._are_sure)
        tell(len(pairs))
        return probabilities

    def _match_some(
        self, pairs: Pairs, every: Pairs, tell: Callable[[int], None]
    ) -> Similarities:  # fmt: skip
        """Compute the probabilities of pairs as they are among `every` pair, which teaches."""
        taught = self._match_fields(every, tell)
        places = find_pairs(pairs, every)
        is_taught = places >= 0
        probabilities = np.empty(len(pairs))
        probabilities[is_taught] = taught[places[is_taught]]
        probabilities[~is_taught] = self.match(pairs[~is_taught])
        are_sure = self._are_sure
        if are_sure is not None:
            are_sure = np.where(is_taught, are_sure[places], np.False_)
        self._describe_unsure(pairs, probabilities, are_sure)
        tell(len(pairs))
        return probabilities

    def _describe_unsure(
        self, pairs: Pairs, probabilities: Similarities, are_sure: NDArray[np.bool_] | None
    ) -> None:
        """Say what is unsure about pairs, of which some are sure as whole records."""
        assert self.weights is not None
        if self.weights.as_wholes:
            return
        likely = int(np.count_nonzero(probabilities >= by_fields.LEAST_PROBABILITY))
        sure = probabilities[:0] if are_sure is None else probabilities[are_sure]
        self.unsure = describe_unsure(likely, self.weights, sure)

    def _match_fields(self, pairs: Pairs, tell: Callable[[int], None]) -> Similarities:
        whole = np.empty(len(pairs), dtype=np.float64)
        compare = prepare_records(self.forms, pairs, self.frequencies, threads=self.threads)
        for at in range(0, len(pairs), AT_ONCE):
            part = slice(at, at + AT_ONCE)
            tell(at * 3 // 4)  # the fields take about a quarter of the time
            whole[part] = self._raise_equal(pairs[part], compare(pairs[part]))
        return self._learn_fields(pairs, whole)

    def _learn_fields(self, pairs: Pairs, whole: Similarities) -> Similarities:
        """Compute probabilities by the fields. The first pairs teach their weights."""
        is_first = self.weights is None
        probabilities, self.weights = by_fields.match_fields(
            self.columns, pairs, whole, weights=self.weights, threads=self.threads,
            names=self._wholes.names,
        )  # fmt: skip
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
        self._are_sure = is_best & (odds >= SURE)
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
        self.border, self._are_sure = lists.border, None
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
        return self._raise_equal(pairs, whole)

    def _raise_equal(self, pairs: Pairs, whole: Similarities) -> Similarities:
        """Raise the similarity of pairs that share a code, or are equal in all fields."""
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
            return by_fields.explain_pairs(
                self.columns, pairs, self.weights, self._wholes.names, odds
            )
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
                bits = by_fields.weigh_pairs(
                    columns, alike, levels, self.weights, self._wholes.names
                )
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
