"""What is joined of a collection that has grown, against a join of all of it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from neardup_solr.candidates.by_band import NONE_HOT, Candidates, Joining, band_candidates
from neardup_solr.candidates.grown import chained_only, grown_candidates
from neardup_solr.errors import SettingsError
from neardup_solr.settings import Settings
from tests.unit.candidates.test_by_band import as_set

SMALL = Settings(bands=3, rows=2)
VALUES = st.integers(0, 40).flatmap(
    lambda rows: st.lists(
        st.lists(st.integers(0, 3), min_size=6, max_size=6), min_size=rows, max_size=rows
    )
).map(lambda rows: np.array(rows, dtype=np.uint32).reshape(-1, 6))  # fmt: skip


def grown(
    signatures: NDArray[np.uint32], is_new: NDArray[np.bool_], joining: Joining
) -> Candidates | None:
    """Candidates by way of those among the documents that are not new."""
    old = signatures[~is_new]
    found = band_candidates(old, SMALL, joining=joining)
    chained = as_set(chained_only(found.hot, old, SMALL, joining=joining))
    known = sorted(as_set(found.pairs) - chained)
    rows = np.flatnonzero(~is_new).astype(np.uint32)
    pairs = rows[np.array(known, dtype=np.int64).reshape(-1, 2)]
    return grown_candidates(pairs, found.hot, is_new, signatures, SMALL, joining=joining)


@pytest.mark.parametrize("memory", [1, 1 << 20])
@given(VALUES, st.integers(0, 2**40), st.integers(2, 9))
def test_it_finds_what_a_join_of_all_finds(
    memory: int, signatures: NDArray[np.uint32], drawn: int, cap: int
) -> None:
    """The same pairs and hot keys, unless other keys are hot now: then it says that it cannot."""
    is_new = np.array([drawn >> row & 1 for row in range(len(signatures))], dtype=np.bool_)
    joining = Joining(cap=cap, memory=memory, threads=2)
    before = band_candidates(signatures[~is_new], SMALL, joining=joining)
    expected = band_candidates(signatures, SMALL, joining=joining)
    found = grown(signatures, is_new, joining)
    if sorted(before.hot.tolist()) != sorted(expected.hot.tolist()):
        assert found is None
        return
    assert found is not None
    assert as_set(found.pairs) == as_set(expected.pairs)
    assert found.hot_keys == expected.hot_keys


def test_what_has_gone_cools_a_key() -> None:
    """A key that was hot, and is now of as many documents as the cap, is none to chain."""
    signatures = np.zeros((9, 6), dtype=np.uint32)
    hot = band_candidates(signatures, SMALL, joining=Joining(cap=8)).hot
    is_new = np.zeros(8, dtype=np.bool_)
    none = np.empty((0, 2), dtype=np.uint32)
    assert len(hot) == 3
    for cap, is_sure in ((7, True), (8, False)):
        joining = Joining(cap=cap)
        found = grown_candidates(none, hot, is_new, signatures[:8], SMALL, joining=joining)
        assert (found is not None) == is_sure


def test_chains_are_those_of_pairs_that_share_nothing_else() -> None:
    """A chained pair that shares another key as well is known by that."""
    rows = np.arange(6, dtype=np.uint32)
    signatures = np.stack([rows * 0, rows * 0, rows, rows, rows // 2, rows // 2], axis=1)
    joining = Joining(cap=3)
    found = band_candidates(signatures, SMALL, joining=joining)
    assert found.hot_keys == 1
    chained = chained_only(found.hot, signatures, SMALL, joining=joining)
    by_key = {(0, 1), (2, 3), (4, 5)}
    assert as_set(chained).isdisjoint(by_key)
    assert as_set(found.pairs) == as_set(chained) | by_key
    assert len(chained) > 1


def test_blocks_that_are_full_go_on() -> None:
    """More pairs of one key than fit into a block; more than may be held are refused."""
    signatures = np.zeros((2_000, 6), dtype=np.uint32)
    is_new = np.arange(len(signatures)) % 2 == 0
    old = np.flatnonzero(~is_new).astype(np.uint32)
    known = old[np.stack(np.triu_indices(len(old), 1), axis=1)]
    joining = Joining(cap=5_000, threads=2)
    found = grown_candidates(known, NONE_HOT, is_new, signatures, SMALL, joining=joining)
    assert found is not None
    assert len(as_set(found.pairs)) == len(signatures) * (len(signatures) - 1) // 2
    few = Joining(cap=5_000, most=1_999)
    with pytest.raises(SettingsError, match="more than 1,999 pairs"):
        grown_candidates(known, NONE_HOT, is_new, signatures, SMALL, joining=few)
