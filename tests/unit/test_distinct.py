"""Distinct values are those of NumPy, in the same order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from neardup_solr.distinct import mark_among, sort_distinct, sort_distinct_rows


@pytest.mark.parametrize("count", [0, 1, 2, 50])
@pytest.mark.parametrize("kind", [np.int64, np.uint32, np.uint64])
def test_distinct(count: int, kind: type) -> None:
    """Of values in a matrix, and of its rows."""
    matrix: Any = np.random.default_rng(count).integers(0, 5, (count, 2)).astype(kind)
    for made, usual in (
        (sort_distinct(matrix), np.unique(matrix)),
        (sort_distinct_rows(matrix), np.unique(matrix, axis=0)),
    ):
        assert made.dtype == usual.dtype
        assert made.tolist() == usual.tolist()


@pytest.mark.parametrize(("count", "others"), [(0, 3), (3, 0), (50, 1), (50, 9)])
def test_among(count: int, others: int) -> None:
    """Of values that are none, few or many."""
    draw = np.random.default_rng(count).integers
    values, among = draw(0, 20, count), draw(0, 20, others)
    assert mark_among(values, among).tolist() == np.isin(values, among).tolist()
