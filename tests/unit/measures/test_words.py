"""Word distance and what limits allow; many distances at once, beside rapidfuzz."""

from itertools import chain, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from neardup_solr.errors import SettingsError
from neardup_solr.kernel import edits
from neardup_solr.measures import Limits
from neardup_solr.measures.edited_words import WORDS
from neardup_solr.measures.text_hashes import hash_words
from tests.faults.tiers import sized

FORMS = st.lists(
    st.lists(st.sampled_from(["a", "b", "word", "ü", "漢字", "-"]), max_size=7).map(" ".join),
    min_size=1,
    max_size=6,
)


def slow_distance(one: list[str], other: list[str]) -> int:
    """Levenshtein distance by its recursion, row by row."""
    row = list(range(len(other) + 1))
    for i, left in enumerate(one, start=1):
        last, row[0] = row[0], i
        for j, right in enumerate(other, start=1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (left != right))
    return row[-1]


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
    assert WORDS.largest_distance(longest, limits) == allowed


@pytest.mark.parametrize(
    ("distance", "similar"), [(-1, None), (None, 1.5), (None, -0.1), (None, float("nan"))]
)
def test_limits_out_of_range(distance: int | None, similar: float | None) -> None:
    """A limit that cannot be is refused."""
    with pytest.raises(SettingsError, match="cannot be"):
        Limits(max_distance=distance, min_similarity=similar)


@examples(deadline=None)
@given(FORMS)
def test_equal_words_are_equal_hashes(forms: list[str]) -> None:
    """Two texts have the same hash just where they have the same word."""
    values, bounds = hash_words(forms)
    texts = [values[first:last].tolist() for first, last in pairwise(bounds.tolist())]
    words = [form.split() for form in forms]
    assert list(map(len, texts)) == list(map(len, words))
    matched = set(zip(chain(*words), chain(*texts), strict=True))
    assert len(matched) == len(set(chain(*words))) == len(set(chain(*texts)))


LONG = st.lists(st.integers(0, 30).map(str), max_size=300)


@st.composite
def edited(draw: st.DrawFn) -> tuple[list[str], list[str]]:
    """A text, and a copy with some words replaced, taken out and put in."""
    one = draw(LONG)
    other = list(one)
    for at, change, word in draw(
        st.lists(st.tuples(st.integers(0, 300), st.integers(0, 2), st.just("new")), max_size=40)
    ):
        at %= len(other) + 1
        other[at : at + (change > 0)] = [word] * (change < 2)
    return one, other


@examples(deadline=None, max_examples=sized(usual=75, full=300))
@given(st.one_of(edited(), st.tuples(LONG, LONG)), st.integers(0, 320))
def test_many_at_once_are_as_rapidfuzz_has_them(
    texts: tuple[list[str], list[str]], most: int
) -> None:
    """Over several blocks of 64 words, with any cut-off, each side first."""
    words = hash_words([" ".join(text) for text in texts])
    pairs = np.array([(0, 1), (1, 0), (0, 0), (1, 1)], dtype=np.uint32)
    found = np.empty(len(pairs), dtype=np.int64)
    allowed = np.full(len(pairs), most, dtype=np.int64)
    edits.compute_distances(*words, pairs, allowed, found)
    distance = Levenshtein.distance(*texts, score_cutoff=most)
    assert found.tolist() == [distance, distance, 0, 0]


def test_blocks_at_their_borders() -> None:
    """Texts of 63 to 65 and 127 to 129 words, each with each, moved by one word."""
    sizes = (0, 1, 63, 64, 65, 127, 128, 129)
    forms = [[f"w{n}" for n in range(start, start + size)] for size in sizes for start in (0, 1)]
    words = hash_words([" ".join(form) for form in forms])
    count = len(forms)
    pairs = np.array([(a, b) for a in range(count) for b in range(count)], dtype=np.uint32)
    expected = [Levenshtein.distance(forms[a], forms[b]) for a, b in pairs.tolist()]
    for most in (0, 1, 2, 3, 62, 64, 66, 130):
        found = np.empty(len(pairs), dtype=np.int64)
        allowed = np.full(len(pairs), most, dtype=np.int64)
        edits.compute_distances(*words, pairs, allowed, found)
        assert found.tolist() == [min(one, most + 1) for one in expected]
