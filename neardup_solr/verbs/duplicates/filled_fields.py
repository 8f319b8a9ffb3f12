"""The compared fields of records that have a value, of removed records and the kept ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neardup_solr.measures.columns import MISSING
from neardup_solr.verbs.duplicates.comparison import Comparison
from neardup_solr.verbs.duplicates.doubts import find_kept
from neardup_solr.verbs.duplicates.graph import Grouped, RowNumbers


def count_fuller(comparison: Comparison, grouped: Grouped, rows: RowNumbers) -> int:
    """Count the removed records of a table, by their rows, that have more values than the kept one.

    Those of texts have none, and those of two sources are removed for what the other one has.
    """
    if comparison.corpus.is_across or not (len(rows) and comparison.columns):
        return 0
    filled, kept = count_filled(comparison, rows), find_kept(grouped)
    return int(np.count_nonzero(filled > filled[kept]))


def count_filled(comparison: Comparison, rows: RowNumbers) -> NDArray[np.int64]:
    """Count the compared fields of each row that have a value."""
    filled = np.zeros(len(rows), np.int64)
    for column in comparison.columns:
        filled += column.numbers[rows] != MISSING
    return filled
