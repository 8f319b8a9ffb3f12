"""Candidates of a whole collection, and components, against slow oracles."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from neardup_solr import Settings
from neardup_solr.candidates import ONE_SIDE, Candidates, Joining
from neardup_solr.candidates.by_band import band_candidates, key_candidates
from neardup_solr.clusters.components import components
from neardup_solr.errors import SettingsError
from neardup_solr.minhash.sign import hash_bands
from neardup_solr.testing import SIZES
from tests.refusals import refusal
from tests.unit.candidates import oracle

KEYS = st.integers(0, 30).flatmap(
    lambda rows: st.lists(
        st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=rows, max_size=rows
    )
).map(lambda rows: np.array(rows, dtype=np.uint64).reshape(-1, 3))  # fmt: skip


def as_set(pairs: NDArray[np.uint32]) -> set[tuple[int, int]]:
    """Pairs as a set; each has to be there once, the smaller number first."""
    listed = [tuple(pair) for pair in pairs.tolist()]
    assert len(set(listed)) == len(listed)
    assert all(one < other for one, other in listed)
    return set(listed)


SIDES = st.none() | st.integers(0, 2**30)


def joined(
    keys: NDArray[np.uint64], *, cap: int = 256, split: int | None = None, slowly: bool = False
) -> Candidates:
    """The candidates of keys, among documents of two sides where `split` draws them."""
    sides = ONE_SIDE
    if split is not None:
        sides = np.sort(np.array([split >> row & 1 for row in range(len(keys))], dtype=np.uint8))
    alike = np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1).astype(np.uint64)
    joining = Joining(cap=cap, sides=sides, threads=2)
    if slowly:
        return oracle.candidates(keys, alike, joining, is_first=True)
    return key_candidates(np.ascontiguousarray(keys.T), alike, joining=joining)


@settings(deadline=None)
@given(KEYS, SIDES)
def test_all_pairs_that_share_a_band(keys: NDArray[np.uint64], split: int | None) -> None:
    """Below the cap the candidates are just the pairs that agree in some band."""
    sides = [0] * len(keys) if split is None else sorted(split >> n & 1 for n in range(len(keys)))
    expected = {
        (one, other)
        for one in range(len(keys))
        for other in range(one + 1, len(keys))
        if (keys[one] == keys[other]).any() and (split is None or sides[one] != sides[other])
    }
    assert as_set(joined(keys, split=split).pairs) == expected
    assert as_set(joined(keys, split=split, slowly=True).pairs) == expected


@settings(deadline=None)
@given(KEYS, st.integers(2, 5), SIDES)
def test_chains_are_like_those_of_the_oracle(
    keys: NDArray[np.uint64], cap: int, split: int | None
) -> None:
    """Both ways chain within the same keys, of documents that really share one."""
    fast, slow = (joined(keys, cap=cap, split=split, slowly=slowly) for slowly in (False, True))
    whole = as_set(joined(keys, split=split).pairs)
    assert as_set(fast.pairs) <= whole
    assert as_set(slow.pairs) <= whole
    hot = sum((np.unique(column, return_counts=True)[1] > cap).sum() for column in keys.T)
    assert fast.hot_keys == slow.hot_keys == hot


@settings(deadline=None)
@given(KEYS, st.integers(1, 5))
def test_hot_bands_lose_no_component(keys: NDArray[np.uint64], cap: int) -> None:
    """Chained or not, the same documents are connected."""
    rows, whole = len(keys), joined(keys)
    for slowly in (False, True):
        capped = joined(keys, cap=cap, slowly=slowly)
        assert np.array_equal(components(rows, capped.pairs), components(rows, whole.pairs))


@settings(deadline=None)
@given(KEYS)
def test_components_are_those_of_the_oracle(keys: NDArray[np.uint64]) -> None:
    """Joined in compiled code or one pair at a time, the same documents are connected."""
    pairs = joined(keys).pairs
    assert np.array_equal(components(len(keys), pairs), oracle.components(len(keys), pairs))


@settings(deadline=None)
@given(KEYS, st.integers(2, 5), st.integers(0, 2**30))
def test_equal_signatures_of_two_sides_always_meet(
    keys: NDArray[np.uint64], cap: int, split: int
) -> None:
    """However hot its bands: a document with its equal on the other side is compared with one."""
    sides = sorted(split >> row & 1 for row in range(len(keys)))
    found = as_set(joined(keys, cap=cap, split=split).pairs)
    partners = {row for pair in found if (keys[pair[0]] == keys[pair[1]]).all() for row in pair}
    for one in range(len(keys)):
        equals = [row for row in range(len(keys)) if (keys[row] == keys[one]).all()]
        assert one in partners or all(sides[row] == sides[one] for row in equals)


@settings(deadline=None)
@given(KEYS, st.integers(1, 5))
def test_a_pair_of_a_cool_band_is_never_lost(keys: NDArray[np.uint64], cap: int) -> None:
    """Two documents that share a key of few documents are a pair, whatever else is hot."""
    found = as_set(joined(keys, cap=cap).pairs)
    for column in keys.T:
        for key in np.unique(column):
            run = np.flatnonzero(column == key).tolist()
            if len(run) <= cap:
                assert {(a, b) for a in run for b in run if a < b} <= found


def test_many_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairs beyond one block come with the next ones."""
    monkeypatch.setattr(SIZES, "candidate_block", 1)
    monkeypatch.setattr(SIZES, "candidate_block", 1)
    keys = np.repeat(np.arange(50, dtype=np.uint64), 4).reshape(-1, 1)
    assert len(as_set(joined(keys, cap=8).pairs)) == 50 * 6


@pytest.mark.parametrize("few", [1, 10 * 60 * 2, 1 << 30])
@pytest.mark.parametrize("memory", [1, 10 * 60 * 2, 1 << 30])
def test_bands_in_groups_give_the_same(
    monkeypatch: pytest.MonkeyPatch, memory: int, few: int
) -> None:
    """However few bands are joined at a time, the candidates are the same, each once."""
    monkeypatch.setattr(SIZES, "few_band_keys", few)
    shape = Settings(hashes=12, bands=5, rows=2, signatures=0)
    drawn = np.random.default_rng(1).integers(0, 3, (60, 12), dtype=np.uint32)
    drawn[50:] = drawn[7]
    keys = hash_bands(drawn, 5, 2)
    found = band_candidates(drawn, shape, joining=Joining(memory=memory, cap=8, threads=2))
    single = band_candidates(drawn, shape, joining=Joining(memory=1 << 30, cap=1000))
    pairs = {(a, b) for a in range(60) for b in range(a + 1, 60) if (keys[a] == keys[b]).any()}
    assert as_set(single.pairs) == pairs
    assert as_set(found.pairs) <= pairs
    assert np.array_equal(components(60, found.pairs), components(60, single.pairs))
    uncapped = band_candidates(drawn, shape, joining=Joining(memory=memory, cap=1000))
    assert as_set(uncapped.pairs) == pairs


def test_equal_documents_without_end_are_a_chain() -> None:
    """Documents that are all equal are chained once, not once a band."""
    equal = np.ones((5_000, 12), dtype=np.uint32)
    found = band_candidates(equal, Settings(hashes=12, bands=4, rows=3, signatures=0))
    assert as_set(found.pairs) == {(row, row + 1) for row in range(4_999)}
    assert found.hot_keys == 4


def test_nothing_to_join() -> None:
    """No documents have no pairs."""
    found = band_candidates(np.empty((0, 128), dtype=np.uint32), Settings())
    assert (len(found.pairs), found.hot_keys) == (0, 0)
    assert len(components(0, found.pairs)) == 0


def test_components_by_hand() -> None:
    """Chains and crossings come together under their smallest number."""
    pairs = np.array([[4, 5], [1, 3], [3, 4], [0, 2]], dtype=np.uint32)
    assert components(7, pairs).tolist() == [0, 1, 0, 1, 1, 1, 6]


def test_more_pairs_than_fit_are_refused() -> None:
    """A collection whose candidates would not fit the memory is told what to change."""
    equal = np.ones((40, 12), dtype=np.uint32)
    shape = Settings(hashes=12, bands=4, rows=3, signatures=0)
    assert len(band_candidates(equal, shape, joining=Joining(most=780)).pairs) == 780
    with refusal(SettingsError, "too-many-pairs", "779", "`cap`"):
        band_candidates(equal, shape, joining=Joining(most=779))
