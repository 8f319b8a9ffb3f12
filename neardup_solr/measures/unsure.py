"""Sentences about what the fields of records leave open.

Which of the records that are alike are the same, the fields cannot always tell: a friend who moved
and has another telephone agrees in as much with the older record as two accounts of one holder do.
So the decision is told where it may be the other one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from neardup_solr.errors import counted
from neardup_solr.measures import Similarities
from neardup_solr.measures.em import LOOKALIKES, measure_agreements
from neardup_solr.measures.fields import LEAST_PROBABILITY
from neardup_solr.measures.variants import FEWEST
from neardup_solr.measures.weights import Weights

ALIKE = 0.1  # lookalikes, as a share of the pairs, from which they are told
AGREED, DIFFERED = 0.7, 0.3  # of lookalikes, in a field
FEWEST_MISSED, MISSED = 10, 0.3  # of the pairs that are sure as whole records


def describe_unsure(likely: int, weights: Weights, sure: Similarities) -> str:
    """Describe what is unsure about so many likely pairs and the others, "" if nothing is.

    `sure` are the probabilities of the pairs that are sure as whole records.
    """
    if weights.telling:
        names = _join([weights.names[at] for at in weights.telling])
        return (
            f"Records that differ in {names} count as different, as most of those that are"
            " alike differ in it, and in their names."
        )
    if weights.key:
        return (
            f"Records that agree in {weights.key} alone count as different, as most records"
            f" share it with others: if they are the same, compare {weights.key} alone."
        )
    if weights.lookalikes >= max(FEWEST, ALIKE * likely):
        return _describe_lookalikes(weights)
    missed = np.count_nonzero(sure < LEAST_PROBABILITY)
    if missed >= max(FEWEST_MISSED, MISSED * len(sure)):
        return (
            f"The fields may miss many pairs: {missed:,} of {len(sure):,} that are very similar"
            " as whole records."
        )
    return ""


def _describe_lookalikes(weights: Weights) -> str:
    """Describe the lookalikes that have so few others as copies have."""
    agreements = measure_agreements(weights.kinds, weights.rates)[LOOKALIKES]
    fields = list(zip(weights.names, agreements.tolist(), strict=True))
    agreed = _join([name for name, share in fields if share >= AGREED])
    differed = _join([name for name, share in fields if share <= DIFFERED])
    such = f"{counted(weights.lookalikes, 'pair')} that agree in {agreed or 'much'}, but"
    if not (agreed and differed):
        return f"{such} not in {differed or 'enough else'}, count as different."
    return (
        f"{such} not in {differed}, count as different: if they are the same, compare {agreed}"
        " alone."
    )


def _join(names: Sequence[str]) -> str:
    """Join names by commas and "and"."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
