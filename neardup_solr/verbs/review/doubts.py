"""The doubts of a model of the answers about the pairs of a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup_solr.measures.aligned import frequencies
from neardup_solr.measures.arrays import Pairs
from neardup_solr.measures.fields import RecordMatcher, make_column
from neardup_solr.measures.model import Features, ModelMatcher, learn, make_default, predict
from neardup_solr.minhash import sign
from neardup_solr.records import AnyId, key_of
from neardup_solr.verbs.duplicates import Duplicates
from neardup_solr.verbs.duplicates.inputs import THREADS

MOST_CHARACTERS = 50_000_000  # of all pairs, which the model's measures compare in ten seconds
FEWEST = 2  # answers of either kind that a model needs


class Texts(NamedTuple):
    """The documents of the pairs of a result, each once: their keys and normal forms."""

    keys: Sequence[AnyId]
    forms: Sequence[str]
    pairs: Pairs


def read_texts(found: Duplicates) -> Texts:
    """Normalise the texts of the pairs of a result."""
    rows: dict[AnyId, int] = {}
    ends = ((key_of(id, side) for side, id in pair.ends) for pair in found.pairs)
    pairs = [[rows.setdefault(key, len(rows)) for key in two] for two in ends]
    contents = [found.texts.get(key, "") for key in rows]
    forms = sign.normal_forms(contents, found.settings.normalization, threads=THREADS)
    return Texts(list(rows), forms, np.array(pairs, np.uint32))


def compare_by_all(found: Duplicates, texts: Texts) -> Features | None:
    """Compute what a model knows of the pairs of a result, None if that would take long."""
    sizes = np.array([len(form) for form in texts.forms])
    if found.measure == "estimate" or sizes[texts.pairs].sum() > MOST_CHARACTERS:
        return None
    weights = found.weights
    fields = {} if weights is None else dict(zip(weights.names, weights.kinds, strict=True))
    columns = [make_column(name, kind, [found.kept.get(key, {}).get(name) for key in texts.keys])
               for name, kind in fields.items()]  # fmt: skip
    records = RecordMatcher(
        columns=columns,
        forms=texts.forms,
        frequencies=found.frequencies or frequencies(texts.forms, found.settings.normalization),
        threads=THREADS,
        weights=weights,
    )
    matcher = ModelMatcher(records=records, settings=found.settings, measure=found.measure)
    return matcher.compare(texts.pairs)


def find_doubts(
    found: Duplicates, features: Features, are_same: Mapping[int, bool]
) -> NDArray[np.float64] | None:
    """Compute the probability of each pair to be the same, by a model of the answers.

    None if they are too few. A pair that is not alike at all has the probability 0.
    """
    asked = np.intersect1d(features.rows, np.fromiter(are_same, np.intp, len(are_same)))
    answers = np.array([are_same[number] for number in asked.tolist()], dtype=np.bool_)
    if min(np.count_nonzero(answers), np.count_nonzero(~answers)) < FEWEST:
        return None
    weights = found.weights
    fields = {} if weights is None else dict(zip(weights.names, weights.kinds, strict=True))
    default = make_default(found.measure, fields)
    guesses = predict(features.values, default.weights)
    fit = learn(features.values, guesses, np.searchsorted(features.rows, asked), answers)
    probabilities = np.zeros(len(found.pairs))
    probabilities[features.rows] = predict(features.values, fit.weights)
    return probabilities
