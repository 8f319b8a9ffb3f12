"""Word distance and limits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup_solr.errors import SettingsError
from neardup_solr.measures import words
from neardup_solr.measures.words import Limits

TEXT = st.lists(st.sampled_from("abc"), max_size=7)


def slow_distance(one: list[str], other: list[str]) -> int:
    """Levenshtein distance by its recursion, row by row."""
    row = list(range(len(other) + 1))
    for i, left in enumerate(one, start=1):
        last, row[0] = row[0], i
        for j, right in enumerate(other, start=1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (left != right))
    return row[-1]


@given(TEXT, TEXT, st.integers(0, 8))
def test_word_distance_is_levenshtein(one: list[str], other: list[str], at_most: int) -> None:
    """The distance equals a slow oracle, and is None beyond the cut-off."""
    expected = slow_distance(one, other)
    found = words.word_distance(one, other, at_most=at_most)
    assert found == (expected if expected <= at_most else None)


@pytest.mark.parametrize(
    ("limits", "longest", "allowed"),
    [
        (Limits(), 10, 5),
        (Limits(max_distance=2), 10, 2),
        (Limits(max_distance=2), 1, 1),
        (Limits(min_similarity=0.9), 10, 1),
        (Limits(min_similarity=0.0), 10, 10),
        (Limits(min_similarity=1.0), 10, 0),
        (Limits(max_distance=3, min_similarity=0.8), 10, 2),
    ],
)
def test_allowed_distance(limits: Limits, longest: int, allowed: int) -> None:
    """Both limits hold; without any, half of the words may differ."""
    assert limits.allowed(longest) == allowed


@pytest.mark.parametrize(
    ("distance", "similar"), [(-1, None), (None, 1.5), (None, -0.1), (None, float("nan"))]
)
def test_limits_out_of_range(distance: int | None, similar: float | None) -> None:
    """A limit that cannot be is refused."""
    with pytest.raises(SettingsError, match="cannot be"):
        Limits(max_distance=distance, min_similarity=similar)
