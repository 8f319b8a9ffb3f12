"""Words as numbers, characters and bags, compiled and not, against plain Python."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from neardup_solr.measures import words as measure
from neardup_solr.measures.words import FIRST_SLOTS, Vocabulary, characters, may_be_near

FORMS = st.lists(
    st.lists(st.sampled_from(["a", "b", "word", "ü", "漢字", "-"]), max_size=7).map(" ".join),
    min_size=1,
    max_size=6,
)


@examples(deadline=None)
@given(FORMS)
def test_equal_words_are_equal_characters(forms: list[str]) -> None:
    """Two texts have the same character just where they have the same word."""
    for compiled in (True, False):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(measure, "is_compiled", lambda compiled=compiled: compiled)
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
    found = may_be_near(Vocabulary().worded(forms), pairs, allowed)
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
