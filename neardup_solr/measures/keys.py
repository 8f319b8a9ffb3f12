"""Keys of things that many records tell of, such as the number of a student with many exams.

Records of a thing agree in its key, and in the rest no more than any two records do. Copies agree
in the rest, too. So if most records share their value of a field with others, and what was taken
for matches agrees in no other field more than by chance, these are records of a thing, no copies.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from neardup_solr.measures.columns import MISSING, FieldColumn
from neardup_solr.measures.levels import TEXT_STEPS, Levels, list_agreements

FEWEST = 5  # pairs that tell
MORE = 0.15  # of the pairs, that agree in a field beyond chance, to be a sign of copies
SHARED = 0.5  # of the records, whose value in a key others have as well


def find_key(columns: Sequence[FieldColumn], likely: Levels) -> int | None:
    """Find the column in which alone pairs agree that were taken for matches, if it is a key.

    `likely` (pairs, fields) are the levels of these pairs, but of those that are equal in all.
    """
    kinds = [column.kind for column in columns]
    agreements = list_agreements(kinds)[np.arange(len(kinds)), likely]
    known = np.count_nonzero(likely != MISSING, axis=0)
    agree = np.count_nonzero(agreements >= TEXT_STEPS[1], axis=0)
    more = agree / np.maximum(known, 1) - [column.share_equal for column in columns]
    more[known < FEWEST] = 0.0
    key = int(more.argmax())
    others = np.delete(more, key)
    counts = columns[key].counted.counts
    is_shared = counts[counts > 1].sum() >= SHARED * counts.sum()
    is_alone = len(others) > 0 and more[key] >= MORE > others.max()
    return key if is_alone and is_shared else None
