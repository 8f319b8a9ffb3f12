"""Candidates of a whole collection, and components, against slow oracles."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from neardup_solr.pure import candidates
from neardup_solr.pure.candidates import band_candidates, components

KEYS = st.integers(0, 30).flatmap(
    lambda rows: st.lists(
        st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=rows, max_size=rows
    )
).map(lambda rows: np.array(rows, dtype=np.uint64).reshape(-1, 3))  # fmt: skip


@pytest.fixture(params=["compiled", "slow"])
def path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to the result."""
    if request.param == "slow":
        monkeypatch.setattr(candidates, "is_compiled", lambda: False)
    return str(request.param)


def as_set(pairs: NDArray[np.uint32]) -> set[tuple[int, int]]:
    """Pairs as a set; each has to be there once, the smaller number first."""
    listed = [tuple(pair) for pair in pairs.tolist()]
    assert len(set(listed)) == len(listed)
    assert all(one < other for one, other in listed)
    return set(listed)


@settings(deadline=None)
@given(KEYS)
def test_all_pairs_that_share_a_band(keys: NDArray[np.uint64]) -> None:
    """Below the cap the candidates are just the pairs that agree in some band."""
    expected = {
        (one, other)
        for one in range(len(keys))
        for other in range(one + 1, len(keys))
        if (keys[one] == keys[other]).any()
    }
    assert as_set(band_candidates(keys).pairs) == expected
    assert as_set(candidates._candidates_slowly(keys, 256).pairs) == expected


@settings(deadline=None)
@given(KEYS, st.integers(1, 5))
def test_hot_bands_lose_no_component(keys: NDArray[np.uint64], cap: int) -> None:
    """Chained or not, the same documents are connected, and the hot keys are counted."""
    capped, whole = band_candidates(keys, cap=cap), band_candidates(keys)
    assert as_set(capped.pairs) <= as_set(whole.pairs)
    rows = len(keys)
    assert np.array_equal(components(rows, capped.pairs), components(rows, whole.pairs))
    hot = sum((np.unique(column, return_counts=True)[1] > cap).sum() for column in keys.T)
    assert capped.hot_keys == candidates._candidates_slowly(keys, cap).hot_keys == hot


@settings(deadline=None)
@given(KEYS, st.integers(1, 5))
def test_a_pair_of_a_cool_band_is_never_lost(keys: NDArray[np.uint64], cap: int) -> None:
    """Two documents that share a key of few documents are a pair, whatever else is hot."""
    found = as_set(band_candidates(keys, cap=cap).pairs)
    for column in keys.T:
        for key in np.unique(column):
            run = np.flatnonzero(column == key).tolist()
            if len(run) <= cap:
                assert {(a, b) for a in run for b in run if a < b} <= found


def test_many_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairs beyond one block come with the next ones."""
    monkeypatch.setattr(candidates, "_ROOM", 1)
    keys = np.repeat(np.arange(50, dtype=np.uint64), 4).reshape(-1, 1)
    assert len(as_set(band_candidates(keys, cap=8).pairs)) == 50 * 6


def test_nothing_to_join(path: str) -> None:
    """No documents have no pairs."""
    found = band_candidates(np.empty((0, 3), dtype=np.uint64))
    assert (len(found.pairs), found.hot_keys) == (0, 0)
    assert len(components(0, found.pairs)) == 0


def test_components_by_hand(path: str) -> None:
    """Chains and crossings come together under their smallest number."""
    pairs = np.array([[4, 5], [1, 3], [3, 4], [0, 2]], dtype=np.uint32)
    assert components(7, pairs).tolist() == [0, 1, 0, 1, 1, 1, 6]
