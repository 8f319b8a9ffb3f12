"""Verification of many pairs at once, against one pair at a time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup_solr.pure import similarity, verification
from neardup_solr.pure.similarity import Limits

FORMS = st.lists(
    st.lists(st.sampled_from(["a", "b", "word", "ü"]), max_size=8).map(" ".join), min_size=2,
    max_size=6,
)  # fmt: skip
LIMITS = st.one_of(
    st.just(Limits()),
    st.integers(0, 5).map(lambda most: Limits(max_distance=most)),
    st.floats(0, 1).map(lambda least: Limits(min_similarity=least)),
    st.builds(Limits, max_distance=st.integers(0, 5), min_similarity=st.floats(0, 1)),
)


@settings(deadline=None)
@given(FORMS, LIMITS, st.sampled_from([1, 2]))
def test_word_distances_are_those_of_single_pairs(
    forms: list[str], limits: Limits, threads: int
) -> None:
    """Distance and similarity equal the one-pair functions; -1 is beyond the limits."""
    count = len(forms)
    pairs = np.array([(a, b) for a in range(count) for b in range(a + 1, count)], dtype=np.uint32)
    distances, similarities = verification.word_distances(
        forms, pairs, limits=limits, threads=threads
    )
    for (one, other), distance, found in zip(pairs.tolist(), distances, similarities, strict=True):
        first, second = forms[one].split(), forms[other].split()
        longest = max(len(first), len(second))
        expected = similarity.word_distance(first, second, at_most=limits.allowed(longest))
        assert distance == (-1 if expected is None else expected)
        if expected is not None:
            assert found == pytest.approx(similarity.similarity(expected, longest))


def test_pairs_beyond_one_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks change nothing."""
    forms = [f"text {n % 5} of some" for n in range(12)]
    pairs = np.array([(a, b) for a in range(12) for b in range(a + 1, 12)], dtype=np.uint32)
    whole = verification.word_distances(forms, pairs, limits=Limits())
    monkeypatch.setattr(verification, "_AT_ONCE", 7)
    parts = verification.word_distances(forms, pairs, limits=Limits())
    assert all(np.array_equal(a, b) for a, b in zip(whole, parts, strict=True))


def test_more_words_than_characters_below_the_surrogates() -> None:
    """Words take the code points around those that no string may hold."""
    form = " ".join(f"w{n}" for n in range(60_000))
    other = form + " end"
    pairs = np.array([(0, 1)], dtype=np.uint32)
    distances, _ = verification.word_distances([form, other], pairs, limits=Limits())
    assert distances.tolist() == [1]


def test_estimates_are_the_share_of_equal_values() -> None:
    """Two signatures that agree in half of their values are estimated at one half."""
    signatures = np.array([[1, 2, 3, 4], [1, 2, 0, 0], [9, 9, 9, 9]], dtype=np.uint32)
    pairs = np.array([(0, 1), (0, 2)], dtype=np.uint32)
    assert verification.estimated(signatures, pairs).tolist() == [0.5, 0.0]


def test_no_pairs() -> None:
    """Nothing to verify is no error."""
    none = np.empty((0, 2), dtype=np.uint32)
    distances, similarities = verification.word_distances([], none, limits=Limits())
    assert len(distances) == len(similarities) == 0
