"""Candidates by shingles against a slow oracle."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from neardup_solr.candidates import ONE_SIDE, Candidates, Joining
from neardup_solr.candidates.by_shingle import ENOUGH, shingle_candidates, tries_by_share
from neardup_solr.errors import SettingsError
from neardup_solr.measures import Flat, floor
from neardup_solr.testing import SIZES
from tests.refusals import refusal

SETS = st.lists(st.sets(st.integers(0, 40), max_size=16), max_size=14)
LEAST = st.sampled_from([0.1, 0.5, 0.8, 1.0])
Sides = NDArray[np.uint8]


def flat(sets: list[set[int]]) -> Flat:
    """Sets of small numbers as hashes that are spread over 64 bits, and rise."""
    spread = np.random.default_rng(1).integers(0, 2**64, 1 << 16, dtype=np.uint64)
    rising = [np.sort(spread[sorted(one)]) for one in sets]
    bounds = np.cumsum([0, *map(len, rising)])
    return Flat(np.concatenate([spread[:0], *rising]), bounds.astype(np.int64))


def candidates(
    sets: list[set[int]], least: float, *, sides: Sides = ONE_SIDE, cap: int = 64, memory: int = 9
) -> Candidates:
    """The candidates of sets; in as many parts as there are, if the memory is that small."""
    joining = Joining(cap=cap, memory=memory << 10, sides=sides, threads=2)
    return shingle_candidates(flat(sets), floor(least), joining=joining)


def as_set(found: Candidates) -> set[tuple[int, int]]:
    """Pairs as a set; each has to be there once, the smaller number first."""
    listed = [(one, other) for one, other in found.pairs.tolist()]
    assert len(set(listed)) == len(listed)
    assert all(one < other for one, other in listed)
    return set(listed)


def near(sets: list[set[int]], least: float) -> set[tuple[int, int]]:
    """The pairs that share that part of the smaller set, and something."""
    return {
        (one, other)
        for other, second in enumerate(sets)
        for one, first in enumerate(sets[:other])
        if first & second and len(first & second) >= floor(least) * min(len(first), len(second))
    }


@settings(deadline=None)
@given(SETS, LEAST, st.integers(0, 2**14 - 1), st.sampled_from([1, 1 << 20]))
def test_small_sets_miss_nothing(
    sets: list[set[int]], least: float, bits: int, memory: int
) -> None:
    """Any two sets of which one has enough of the other are candidates, and all share something."""
    found = as_set(candidates(sets, least, memory=memory))
    assert near(sets, least) <= found <= near(sets, 0.0)
    sides = np.array([bits >> row & 1 for row in range(len(sets))], dtype=np.uint8)
    across = as_set(candidates(sets, least, sides=sides, memory=memory))
    wanted = {pair for pair in near(sets, least) if sides[pair[0]] != sides[pair[1]]}
    assert wanted <= across
    assert all(sides[one] != sides[other] for one, other in across)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32), st.integers(10, 300), LEAST)
def test_a_part_of_a_large_set_is_found(seed: int, size: int, least: float) -> None:
    """Sets that are found in larger ones are candidates, whatever is missing, up to the limit."""
    draw = np.random.default_rng(seed)
    whole = set(range(5_000))
    parts = [
        {*draw.choice(5_000, shared, replace=False).tolist()}
        | {10_000 + 1_000 * number + at for at in range(size - shared)}
        for number, shared in enumerate([int(np.ceil(floor(least) * size)), size])
    ]
    found = as_set(candidates([whole, *parts], least, memory=1 << 20))
    assert {(0, 1), (0, 2)} <= found


def test_sets_that_share_a_sentence_are_hardly_candidates() -> None:
    """Sixteen shingles of two hundred in common make hardly any pairs candidates at 0.8."""
    sets = [{*range(16), *range(200 * row + 16, 200 * row + 200)} for row in range(1, 40)]
    assert len(as_set(candidates(sets, 0.8, memory=1 << 20))) < 3


@pytest.mark.parametrize("cap", [8, 1_024])
def test_boilerplate_neither_explodes_nor_hides(cap: int) -> None:
    """Excerpts that are half boilerplate of 330 sets are found, and not all of these paired."""
    foot = set(range(25))
    texts = [foot | set(range(100 + 200 * row, 275 + 200 * row)) for row in range(300)]
    excerpts = [foot | set(range(150 + 200 * row, 175 + 200 * row)) for row in range(0, 300, 10)]
    found = as_set(candidates([*texts, *excerpts], 0.8, cap=cap, memory=1 << 20))
    assert {(10 * at, 300 + at) for at in range(30)} <= found
    assert len(found) < 2_000


def test_a_set_of_nothing_but_boilerplate_is_found_in_all() -> None:
    """A foot by itself is found in each text that ends with it, if it is not there too often."""
    foot = set(range(25))
    sets = [foot | set(range(100 + 200 * row, 275 + 200 * row)) for row in range(300)]
    found = candidates([foot, *sets], 0.8, cap=64, memory=1 << 20)
    assert {(0, row) for row in range(1, 301)} <= as_set(found)
    assert found.hot_keys == 0


def test_equal_sets_without_end_meet_some_of_the_others() -> None:
    """Of sets that are all equal, each meets some: the pairs stay few, and the keys are told."""
    found = candidates([set(range(20))] * 1_000, 0.8, cap=64, memory=1 << 20)
    pairs = as_set(found)
    assert {row for pair in pairs for row in pair} == set(range(1_000))
    assert len(pairs) <= 64 * 64
    assert found.hot_keys > 0


def test_more_pairs_than_fit_are_refused() -> None:
    """Candidates that would not fit the memory are refused with what to change."""
    joining = Joining(most=779)
    with refusal(SettingsError, "too-many-pairs", "779", "`cap`"):
        shingle_candidates(flat([set(range(9))] * 40), 0.8, joining=joining)


def test_many_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sets that are looked at some at a time, and pairs beyond one block, make no difference."""
    sets = [set(range(9 * (row // 4), 9 * (row // 4) + 9)) for row in range(80)]
    whole = as_set(candidates(sets, 0.8, memory=1 << 20))
    monkeypatch.setattr(SIZES, "candidate_block", 1)
    monkeypatch.setattr(SIZES, "shingle_lookups", 10)
    assert as_set(candidates(sets, 0.8, memory=1 << 20)) == whole
    assert len(whole) == 20 * 6


def test_how_many_are_looked_for() -> None:
    """As many as leave a chance of one in a million to find too few; all if little is in common."""
    found = tries_by_share()
    assert found[[100, 90, 80, 50]].tolist() == [8, 17, 23, 46]
    assert (np.diff(found) <= 0).all()
    draws = np.random.default_rng(1).random((200_000, int(found[80]))) < 0.8
    assert (draws.sum(axis=1) < ENOUGH).sum() <= 2
