"""A model of the answers of a review, which tells which pairs are in doubt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from neardup_solr.cores import count_cores
from neardup_solr.measures.columns import make_column
from neardup_solr.measures.frequencies import count_words
from neardup_solr.measures.levels import Levels, compare_fields
from neardup_solr.measures.logistic import Fit, can_learn, learn, predict
from neardup_solr.measures.model import ALIKE, MEASURES, UNLIKE, Model, make_default
from neardup_solr.measures.record_matcher import Features, RecordMatcher
from neardup_solr.minhash import sign
from neardup_solr.records import AnyId, key_of
from neardup_solr.verbs.duplicates.result import Duplicates
from neardup_solr.verbs.review.lesson import NOTHING_NEW, TOO_FEW, TOO_UNLIKE, describe_lesson

MOST_CHARACTERS = 50_000_000  # of all pairs, which the model's measures compare in ten seconds


class Learner:
    """A model of the answers about the pairs of a result, which tells what is in doubt.

    `features` are None if to compare the pairs by all measures would take long.
    """

    def __init__(self, result: Duplicates) -> None:
        weights = result.weights
        self.kinds = {} if weights is None else dict(zip(weights.names, weights.kinds, strict=True))
        self.as_wholes = weights is not None and weights.as_wholes
        self.size = len(result.pairs)
        self.measure, self.weights = result.measure, weights
        self.levels: Levels | None = None  # of the fields of each pair
        self.features = self._compare(result)

    def _compare(self, result: Duplicates) -> Features | None:
        """Compare the pairs by all measures, and by the fields of the result."""
        rows: dict[AnyId, int] = {}
        ends = [key_of(id, side) for pair in result.pairs for side, id in pair.ends]
        pairs = np.array([rows.setdefault(key, len(rows)) for key in ends], np.uint32)
        texts = [result.texts.get(key, "") for key in rows]
        normalization = result.settings.normalization
        forms = sign.normal_forms(texts, normalization, threads=count_cores())
        sizes = np.array([len(form) for form in forms])
        if result.measure == "estimate" or sizes[pairs].sum() > MOST_CHARACTERS:
            return None
        matcher = RecordMatcher(
            columns=[make_column(name, kind, [result.kept.get(key, {}).get(name) for key in rows])
                     for name, kind in self.kinds.items()],
            forms=forms,
            frequencies=result.frequencies or count_words(forms, normalization),
            settings=result.settings,
            threads=count_cores(),
            weights=result.weights,
        )  # fmt: skip
        pairs = pairs.reshape(-1, 2)
        if self.weights is not None:
            self.levels = compare_fields(matcher.columns, pairs, threads=count_cores())
        return matcher.compare(pairs, result.measure)

    def predict(self, are_same: Mapping[int, bool]) -> NDArray[np.float64] | None:
        """Compute the probability of each pair to be the same, None if answers are too few.

        `are_same` are the answers, by the number of the pair. A pair that is not alike at all has
        the probability 0.
        """
        fit = self._learn(are_same)
        if self.features is None or fit is None:
            return None
        rows, values = self.features
        probabilities = np.zeros(self.size)
        probabilities[rows] = predict(values, fit.weights)
        return probabilities

    def describe(self, before: Mapping[int, bool], after: Mapping[int, bool]) -> str:
        """Say what the answers that came after some others taught, "" if nothing learns from them.

        The weights that both teach are compared, by what the new pairs have.
        """
        if self.features is None:
            return ""
        fit = self._learn(after)
        if fit is None:
            return TOO_FEW
        new = [number for number in after if before.get(number) != after[number]]
        met = {each for number in new for each in self._list_levels(number)}
        if not met:
            return TOO_UNLIKE if new else NOTHING_NEW
        earlier = self._learn(before, least=False)
        assert earlier is not None
        are_same = all(after[number] for number in new)
        return describe_lesson(self._weigh(earlier), self._weigh(fit), met, are_same=are_same)

    def _learn(self, are_same: Mapping[int, bool], *, least: bool = True) -> Fit | None:
        """Learn from answers, None if these are too few, and have to be more."""
        if self.features is None:
            return None
        rows, values = self.features
        judged = np.intersect1d(rows, np.fromiter(are_same, np.intp, len(are_same)))
        answers = np.array([are_same[number] for number in judged.tolist()], dtype=np.bool_)
        guesses = predict(values, make_default(self.measure, self.kinds).weights)
        answered = np.searchsorted(rows, judged)
        if least and not can_learn(guesses[answered], answers):
            return None
        return learn(values, guesses, answered, answers, as_wholes=self.as_wholes)

    def _weigh(self, fit: Fit) -> dict[tuple[str, str], float]:
        """List the bits of each level of the fields, or of the measures, that were learnt."""
        default = make_default(self.measure, self.kinds)
        model: Model = replace(default, weights=fit.weights, evidence=self.weights)
        weighed = model.weigh_levels() if self.kinds else model.weigh_measures()
        return {(each.field, each.level): each.bits for each in weighed}

    def _list_levels(self, number: int) -> list[tuple[str, str]]:
        """List the fields of a pair with their levels, or the measures, none if it is not alike."""
        assert self.features is not None
        rows, values = self.features
        at = int(np.searchsorted(rows, number))
        if at == len(rows) or rows[at] != number:
            return []
        if self.weights is not None and self.levels is not None:
            return [*zip(self.kinds, self.weights.label(self.levels[number].tolist()), strict=True)]
        of_measures = (values[at, : len(MEASURES)] >= 0.0).tolist()
        return [(name, ALIKE if is_alike else UNLIKE)
                for name, is_alike in zip(MEASURES, of_measures, strict=True)]  # fmt: skip
