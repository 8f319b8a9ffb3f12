"""Keys of things that many records tell of, such as the number of a student with many exams.

Records of a thing agree in its keys, and in the rest no more than any two records do. Copies agree
in the rest, too.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from neardup_solr.measures.columns import MISSING, FieldColumn, Table
from neardup_solr.measures.levels import TEXT_STEPS, Levels, list_agreements, mark_equal

FEWEST = 5  # pairs that tell
MORE = 0.15  # of the pairs, that agree in a field beyond chance, to be a sign of copies
SHARED = 0.5  # of the records, whose value in a key others have as well
REST, OF_ALL = 2, 0.3  # fields in which pairs agree by chance, and their share, to be of one thing


def find_key(columns: Sequence[FieldColumn], levels: Levels) -> int | None:
    """Find the column in which alone pairs agree that were taken for matches, if it is a key.

    It is one if most records share their value with others. `levels` (pairs, fields) are those of
    the pairs.
    """
    more = measure_beyond_chance(columns, levels)
    if np.isnan(more).all():
        return None
    key = int(np.nanargmax(more))
    others = np.nan_to_num(np.delete(more, key))
    counts = columns[key].counted.counts
    is_shared = counts[counts > 1].sum() >= SHARED * counts.sum()
    is_alone = len(others) > 0 and more[key] >= MORE > others.max()
    return key if is_alone and is_shared else None


def list_by_chance(columns: Sequence[FieldColumn], levels: Levels) -> list[int]:
    """List the columns in which pairs agree by chance alone, none if these are few.

    `levels` (pairs, fields) are those of the pairs.
    """
    more = measure_beyond_chance(columns, levels)
    rest: list[int] = np.flatnonzero(more < MORE).tolist()
    return rest if len(rest) >= max(REST, OF_ALL * len(columns)) else []


def measure_beyond_chance(columns: Sequence[FieldColumn], levels: Levels) -> Table:
    """Measure how many more pairs agree in each field than by chance, as shares, shape (fields,).

    Pairs that are equal in all fields do not count. NaN if few pairs have values.
    """
    kinds = [column.kind for column in columns]
    levels = levels[~mark_equal(levels, kinds).all(axis=1)]
    agreements = list_agreements(kinds)[np.arange(len(kinds)), levels]
    known = np.count_nonzero(levels != MISSING, axis=0)
    agree = np.count_nonzero(agreements >= TEXT_STEPS[1], axis=0)
    more: Table = agree / np.maximum(known, 1) - [column.share_equal for column in columns]
    return np.where(known >= FEWEST, more, np.nan)
