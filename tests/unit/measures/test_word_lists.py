"""Words of many texts at once: the same as those of each text by itself."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup_solr.measures.frequencies import count_words, split_words
from neardup_solr.measures.word_lists import WordLists, list_words
from neardup_solr.text.normalize import normalize
from tests.faults.tiers import sized

WORDS = st.sampled_from(
    [
        "fifth",
        "5th",
        "5",
        "twenty-one",
        "ii",
        "-",
        "b-52",
        "straße",
        "漢字かな",
        "é" * 70,
        "21st",
        "",
    ]
)
TEXTS = st.lists(st.one_of(st.lists(WORDS, max_size=6).map(" ".join), st.text(max_size=12)))


def read(lists: WordLists) -> list[list[str]]:
    """The words of each text."""
    words = [lists.words[number] for number in lists.numbers.tolist()]
    ends = lists.bounds.tolist()
    return [words[first:last] for first, last in pairwise(ends)]


def split_each(forms: Sequence[str]) -> list[list[str]]:
    """The words of each text by itself."""
    return [*map(split_words, forms)]


@settings(deadline=None, max_examples=sized(usual=40, full=300))
@given(TEXTS)
def test_words_of_all_are_those_of_each(texts: list[str]) -> None:
    """In order, of any texts; words are numbered by their first use."""
    forms = [*map(normalize, texts)]
    lists = list_words(forms)
    assert read(lists) == split_each(forms)
    used = [word for words in split_each(forms) for word in words]
    assert lists.words == [*dict.fromkeys(used)]


@settings(deadline=None, max_examples=sized(usual=40, full=300))
@given(TEXTS, st.data())
def test_some_texts_are_taken_and_counted(texts: list[str], data: st.DataObject) -> None:
    """A word that a text has twice counts once, and a text as often as it is there."""
    forms = [*map(normalize, texts)]
    rows = data.draw(st.lists(st.sampled_from(range(len(forms))), max_size=9)) if forms else []
    lists = list_words(forms).take(np.array(rows, dtype=np.int64))
    some = [forms[row] for row in rows]
    assert read(lists) == split_each(some)
    assert lists.count_texts() == count_words(some).counts
    thrice = count_words([form for form in some for _ in range(3)])
    assert lists.count_texts(np.full(len(rows), 3)) == thrice.counts
