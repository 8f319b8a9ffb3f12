"""Word distance and what limits allow; words as numbers, characters and bags, in plain Python."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from neardup_solr.errors import SettingsError
from neardup_solr.measures import Limits
from neardup_solr.measures.numbered import (
    FIRST_SLOTS,
    Vocabulary,
    characters,
    have_enough_in_common,
)
from neardup_solr.measures.words import MEASURE as WORDS
from neardup_solr.measures.words import word_distance

TEXT = st.lists(st.sampled_from("abc"), max_size=7)
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


@given(TEXT, TEXT, st.integers(0, 8))
def test_word_distance_is_levenshtein(one: list[str], other: list[str], at_most: int) -> None:
    """The distance equals a slow oracle, and is None beyond the cut-off."""
    expected = slow_distance(one, other)
    found = word_distance(one, other, at_most=at_most)
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
    assert WORDS.allowed(longest, limits) == allowed


@pytest.mark.parametrize(
    ("distance", "similar"), [(-1, None), (None, 1.5), (None, -0.1), (None, float("nan"))]
)
def test_limits_out_of_range(distance: int | None, similar: float | None) -> None:
    """A limit that cannot be is refused."""
    with pytest.raises(SettingsError, match="cannot be"):
        Limits(max_distance=distance, min_similarity=similar)


@examples(deadline=None)
@given(FORMS)
def test_equal_words_are_equal_characters(forms: list[str]) -> None:
    """Two texts have the same character just where they have the same word."""
    vocabulary = Vocabulary()
    halves = (forms[: len(forms) // 2], forms[len(forms) // 2 :])
    texts = characters([text for half in halves for text in vocabulary.worded(half)])
    words = [word for form in forms for word in form.split()]
    assert [len(text) for text in texts] == [len(form.split()) for form in forms]
    matched = set(zip(words, "".join(texts), strict=True))
    assert len(matched) == len({word for word, _ in matched}) == len(set("".join(texts)))


@examples(deadline=None)
@given(FORMS, st.integers(0, 6))
def test_too_few_common_words_are_too_far_apart(forms: list[str], most: int) -> None:
    """Pairs are left out just where the longer text has more words that the other lacks."""
    count = len(forms)
    pairs = np.array([(a, b) for a in range(count) for b in range(count)], dtype=np.uint32)
    allowed = np.full(len(pairs), most, dtype=np.int64)
    found = have_enough_in_common(Vocabulary().worded(forms), pairs, allowed)
    bags = [Counter(form.split()) for form in forms]
    for (one, other), may_be in zip(pairs.tolist(), found.tolist(), strict=True):
        longest = max(bags[one].total(), bags[other].total())
        assert may_be == (longest - (bags[one] & bags[other]).total() <= most)


def test_more_words_than_the_first_table_holds() -> None:
    """The table of words grows, and takes the code points around those no string may hold."""
    count = FIRST_SLOTS
    form = " ".join(f"w{number}" for number in range(count))
    texts = characters(Vocabulary().worded([form, form]))
    assert texts[0] == texts[1]
    assert len(set(texts[0])) == count
    texts[0].encode()
