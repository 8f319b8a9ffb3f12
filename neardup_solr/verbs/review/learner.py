"""A model of the answers of a review, which tells which pairs are in doubt."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from neardup_solr.cores import count_cores
from neardup_solr.measures.columns import make_column
from neardup_solr.measures.frequencies import count_words
from neardup_solr.measures.logistic import can_learn, learn, predict
from neardup_solr.measures.model import make_default
from neardup_solr.measures.record_matcher import Features, RecordMatcher
from neardup_solr.minhash import sign
from neardup_solr.records import AnyId, key_of
from neardup_solr.verbs.duplicates.result import Duplicates

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
        self.features = self._compare(result)
        self.measure = result.measure

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
        return matcher.compare(pairs.reshape(-1, 2), result.measure)

    def predict(self, are_same: Mapping[int, bool]) -> NDArray[np.float64] | None:
        """Compute the probability of each pair to be the same, None if answers are too few.

        `are_same` are the answers, by the number of the pair. A pair that is not alike at all has
        the probability 0.
        """
        if self.features is None:
            return None
        rows, values = self.features
        judged = np.intersect1d(rows, np.fromiter(are_same, np.intp, len(are_same)))
        answers = np.array([are_same[number] for number in judged.tolist()], dtype=np.bool_)
        guesses = predict(values, make_default(self.measure, self.kinds).weights)
        answered = np.searchsorted(rows, judged)
        if not can_learn(guesses[answered], answers):
            return None
        fit = learn(values, guesses, answered, answers, as_wholes=self.as_wholes)
        probabilities = np.zeros(self.size)
        probabilities[rows] = predict(values, fit.weights)
        return probabilities
