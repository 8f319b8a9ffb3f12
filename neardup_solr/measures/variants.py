"""Columns that tell variants apart, such as the length that tells songs of an album apart.

Variants of a thing have so much in common that they may pass for matches, and are often more than
these. But they differ in several columns at once: another song has another length, and another
title. Matches agree in both, but for slips. So if most of what was taken for matches differs in a
telling column, and these have other names far more often than the rest, they are variants, and
records that differ in the column are no matches.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from neardup_solr.measures.columns import FieldColumn, Marks

TELLING = 0.02  # of pairs of records, at most, that are equal in a telling column
MOST = 0.5  # of the pairs, that differ in the column
FEWEST, SHARE, OFTEN = 5, 0.03, 3.0  # pairs that are equal in it; of all; more than by chance
TOGETHER = 0.5  # more pairs differ in a second column, of those that differ, than of those equal


def find_telling(columns: Sequence[FieldColumn], different: Marks, equal: Marks) -> int | None:
    """Find the column that tells most variants apart, None if the pairs are no variants.

    `different` and `equal` (pairs, fields) mark in which columns pairs that were taken for matches
    differ wholly, and are equal.
    """
    telling = [at for at, column in enumerate(columns) if is_telling(column)]
    naming = next((at for at in telling if columns[at].kind == "text"), None)
    chosen: int | None = None
    most = MOST
    for at in telling if naming is not None else ():
        differ, agree = different[:, at], equal[:, at]
        share = int(np.count_nonzero(differ)) / max(len(differ), 1)
        is_often = np.count_nonzero(agree) >= count_by_chance(columns[at], len(differ))
        if at != naming and share > most and is_often:
            of_others, of_equal = (
                _share(different[side, naming], equal[side, naming]) for side in (differ, agree)
            )
            if of_others >= of_equal + TOGETHER:
                chosen, most = at, share
    return chosen


def is_telling(column: FieldColumn) -> bool:
    """Tell whether few records are equal in a column, but some."""
    return 0.0 < column.share_equal <= TELLING


def count_by_chance(column: FieldColumn, pairs: int) -> float:
    """Count how many of so many pairs have to be equal in a column to be no chance."""
    return max(FEWEST, max(SHARE, OFTEN * column.share_equal) * pairs)


def _share(different: Marks, equal: Marks) -> float:
    """Measure how many pairs differ wholly, of those that differ or are equal."""
    count = int(np.count_nonzero(different))
    return count / max(count + int(np.count_nonzero(equal)), 1)
