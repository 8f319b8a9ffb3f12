"""Lookalikes, which have much in common but are not the same, and those that may be copies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from neardup_solr.measures.columns import FieldKind, Marks, Table
from neardup_solr.measures.em import (
    AGREEING,
    LOOKALIKES,
    MATCHES,
    MOST_BITS,
    STRANGERS,
    Classes,
    measure_agreements,
)
from neardup_solr.measures.levels import MOST_LEVELS, TEXT_STEPS, list_agreements
from neardup_solr.measures.pairs import Pairs
from neardup_solr.measures.wedges import count_all_open_wedges

LOOKALIKES_AGREEING = 0.65  # of what fields can tell, from which lookalikes are matches
CLOSED_AGREEING, OPEN = 0.58, 1.0  # if they leave few open wedges: for each pair of them
FEW_AGREEING = 0.45  # from which they could be copies, if they have few others:
FEW, MOSTLY_FEW = 2, 0.6  # that either record is like, at most; of the lookalikes


def judge_classes(agreed: Table) -> Marks:
    """Tell which classes are of matches, by the share of what fields can tell that they agree in.

    `agreed` (3,) are these shares.
    """
    are_matches: Marks = agreed >= np.array([np.inf, LOOKALIKES_AGREEING, AGREEING])
    are_matches[LOOKALIKES] &= are_matches[MATCHES]
    return are_matches


def measure_agreed(kinds: Sequence[FieldKind], rates: Table) -> Table:
    """Measure the share of what the fields can tell that the classes agree in, shape (3,).

    A field can tell as many bits as strangers seldom agree in it.
    """
    agrees = list_agreements(kinds)[:, :MOST_LEVELS] >= TEXT_STEPS[1]
    by_chance = (rates[STRANGERS] * agrees).sum(axis=1)
    bits = np.minimum(-np.log2(np.maximum(by_chance, 1e-9)), MOST_BITS)
    agreed: Table = measure_agreements(kinds, rates) @ bits / max(bits.sum(), 1e-9)
    return agreed


def are_closed(pairs: Pairs, classes: Classes) -> bool:
    """Tell whether lookalikes, added to the matches, leave few open wedges, as copies do.

    A wedge is open if two records are alike to a third, but not to each other.
    """
    matches, all_alike = (pairs[side] for side in (classes == MATCHES, classes != STRANGERS))
    added = len(all_alike) - len(matches)
    return (
        added > 0
        and count_all_open_wedges(all_alike) - count_all_open_wedges(matches) < OPEN * added
    )


def count_lookalikes(pairs: Pairs, classes: Classes) -> int:
    """Count the lookalikes if they could be copies, and 0 if they could not.

    Members of a family, such as the songs of an album, have many others; copies have few. `classes`
    (pairs,) are those of `pairs` (pairs, 2).
    """
    counts = np.bincount(pairs[classes != STRANGERS].reshape(-1).astype(np.int64))
    others = counts[pairs[classes == LOOKALIKES]].max(axis=1, initial=0)
    are_few = len(others) > 0 and np.count_nonzero(others <= FEW) >= MOSTLY_FEW * len(others)
    return len(others) if are_few else 0
