"""Open wedges: two documents near a third one, compared, but not near each other."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup_solr.measures.pairs import Pairs
from neardup_solr.measures.wedges import count_all_open_wedges, count_open_wedges
from neardup_solr.testing import SIZES

DOCUMENTS = 9
PAIRS = st.sets(st.sampled_from([*combinations(range(DOCUMENTS), 2)]))


def as_pairs(pairs: set[tuple[int, int]]) -> Pairs:
    """Pairs as an array, in ascending order."""
    return np.array(sorted(pairs), dtype=np.uint32).reshape(-1, 2)


def count_slowly(compared: set[tuple[int, int]], near: set[tuple[int, int]]) -> int:
    """Count by looking at each third document."""
    both = near | {(other, one) for one, other in near}
    return sum(
        (one, third) in both and (third, other) in both
        for one, other in compared - near
        for third in range(DOCUMENTS)
    )


@settings(deadline=None)
@given(compared=PAIRS, near=PAIRS)
def test_open_wedges(compared: set[tuple[int, int]], near: set[tuple[int, int]]) -> None:
    """They are counted as by a slow count, whatever was compared, and in whatever order."""
    turned = as_pairs(compared)[::-1]
    count = count_open_wedges(turned, as_pairs(near), DOCUMENTS)
    assert count == count_slowly(compared, near)


@settings(deadline=None)
@given(near=PAIRS)
def test_open_wedges_of_all(near: set[tuple[int, int]]) -> None:
    """Without pairs that were compared, each pair that is not near leaves its wedges open."""
    every = {*combinations(range(DOCUMENTS), 2)}
    assert count_all_open_wedges(as_pairs(near)[::-1]) == count_slowly(every, near)


def test_a_pair_that_was_not_compared_leaves_no_wedge_open() -> None:
    """A chain of three has one, if its ends were compared."""
    chain = as_pairs({(0, 1), (1, 2)})
    assert count_open_wedges(chain, chain, 3) == 0
    assert count_open_wedges(as_pairs({(0, 1), (1, 2), (0, 2)}), chain, 3) == 1


def test_many_open_wedges_are_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sample gives about as many as there are, in two digits."""
    draw = np.random.default_rng(5)
    compared = as_pairs(set(combinations(range(300), 2)))
    near = compared[draw.random(len(compared)) < 0.3]
    exact = count_open_wedges(compared, near, 300)
    monkeypatch.setattr(SIZES, "wedge_steps", exact // 20)
    about = count_open_wedges(compared, near, 300)
    assert about == pytest.approx(exact, rel=0.1)
    assert about != exact
    assert int(f"{about:.1e}".partition("e")[0].replace(".", "")) == int(str(about)[:2])
    assert not str(about)[2:].strip("0")
