"""Candidates by words, and all pairs, against slow oracles."""

from collections import defaultdict
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup_solr.candidates import ONE_SIDE, Joining, all_candidates
from neardup_solr.candidates.by_word import ENOUGH_WORDS, RAREST, word_candidates
from neardup_solr.errors import SettingsError
from neardup_solr.measures.frequencies import split_words
from neardup_solr.measures.pairs import Pairs
from neardup_solr.testing import SIZES
from tests.refusals import refusal

WORDS = st.sampled_from(["mill", "lane", "old-mill", "3rd", "third", "heron"])
FORMS = st.lists(st.lists(WORDS, max_size=5).map(" ".join), max_size=14)


def as_set(pairs: Pairs) -> set[tuple[int, int]]:
    """Pairs as a set; each has to be there once, the smaller number first."""
    listed = [(one, other) for one, other in pairs.tolist()]
    assert pairs.dtype == np.uint32
    assert len(set(listed)) == len(listed)
    assert all(one < other for one, other in listed)
    return set(listed)


def slowly(forms: list[str], cap: int) -> tuple[set[tuple[int, int]], int]:
    """The pairs that share a word that few have, or a combination of hot ones; how many are hot.

    Words are combined in records with few others to share. Those of a hot combination are chained
    in alphabetical order, forwards and backwards.
    """
    lists = [{*split_words(form)} for form in forms]
    having: dict[frozenset[str], set[int]] = defaultdict(set)
    first_use = list(dict.fromkeys(word for form in forms for word in split_words(form)))
    for row, words in enumerate(lists):
        for word in words:
            having[frozenset([word])].add(row)
    counts = {word: len(having[frozenset([word])]) for word in first_use}
    rarest = [
        sorted((word for word in words if counts[word] > cap),
               key=lambda word: (counts[word], first_use.index(word)))[: RAREST]
        if sum(1 < counts[word] <= cap for word in words) < ENOUGH_WORDS else []
        for words in lists
    ]  # fmt: skip
    for size in range(2, RAREST + 1):
        for row, few in enumerate(rarest):
            for some in map(frozenset, combinations(few, size)):
                if all(len(having[some - {word}]) > cap for word in some):
                    having[some].add(row)
    pairs = {
        pair
        for rows in having.values()
        if len(rows) <= cap
        for pair in combinations(sorted(rows), 2)
    }
    runs: dict[tuple[str, str], set[int]] = defaultdict(set)
    for row, form in enumerate(forms):
        for run in pairwise(split_words(form)):
            if all(counts[word] > cap for word in run):
                runs[run].add(row)
    pairs |= {
        pair for rows in runs.values() if len(rows) <= cap for pair in combinations(sorted(rows), 2)
    }
    for some, rows in having.items():
        for turn in (1, -1) if len(some) > 1 and len(rows) > cap else ():
            chain = sorted(sorted(rows), key=lambda row: forms[row][::turn])
            pairs |= {(min(pair), max(pair)) for pair in pairwise(chain)}
    return pairs, sum(len(rows) > cap for rows in (*having.values(), *runs.values()))


@settings(deadline=None)
@given(FORMS, st.integers(2, 6), st.integers(0, 2**14 - 1))
def test_pairs_that_share_words_of_few(forms: list[str], cap: int, bits: int) -> None:
    """Candidates share a word below the cap, or as many above it as few records have together."""
    expected, hot = slowly(forms, cap)
    found = word_candidates(forms, Joining(cap=cap))
    assert as_set(found.pairs) == expected
    assert found.hot_keys == hot
    sides = np.array([bits >> row & 1 for row in range(len(forms))], dtype=np.uint8)
    across = word_candidates(forms, Joining(sides=sides, cap=cap))
    assert as_set(across.pairs) == {pair for pair in expected if sides[pair[0]] != sides[pair[1]]}
    assert across.hot_keys == hot


def test_many_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairs beyond one block come with the next ones."""
    forms = [f"w{number // 4}" for number in range(40)]
    whole = as_set(word_candidates(forms).pairs)
    for at_once in (1, 7, 11):  # also more than one block of one word
        monkeypatch.setattr(SIZES, "candidate_block", at_once)
        assert as_set(word_candidates(forms).pairs) == whole
    assert len(whole) == 10 * 6


def test_pairs_fit_the_memory() -> None:
    """There are at most so many pairs, and an error says what to do about more."""
    forms = ["lane"] * 40
    assert len(word_candidates(forms, Joining(cap=50, most=780)).pairs) == 780
    with pytest.raises(
        SettingsError,
        match=r" share a word; lower `cap` from 50 to 25, or increase \$NEARDUP_MEMORY$",
    ):
        word_candidates(forms, Joining(cap=50, most=779))


@settings(deadline=None)
@given(st.lists(st.booleans(), max_size=12))
def test_all_pairs(sides: list[bool]) -> None:
    """Every pair is there, or every pair of different sides."""
    every = set(combinations(range(len(sides)), 2))
    assert as_set(all_candidates(len(sides)).pairs) == every
    across = as_set(all_candidates(len(sides), Joining(sides=np.array(sides, np.uint8))).pairs)
    assert across == {(one, other) for one, other in every if sides[one] != sides[other]}


def test_too_many_pairs() -> None:
    """Beyond 20 million pairs the error says how many they are, and what to do instead."""
    with refusal(SettingsError, "too-many-pairs", "7,000", "24,496,500"):
        all_candidates(7_000)
    with pytest.raises(SettingsError, match=r"25,000,000 pairs"):
        all_candidates(10_000, Joining(sides=(np.arange(10_000) % 2).astype(np.uint8)))


@settings(deadline=None)
@given(FORMS, st.integers(2, 6), st.integers(0, 2**14 - 1))
def test_pairs_beyond_the_cap_share_common_words_only(
    forms: list[str], cap: int, bits: int
) -> None:
    """Of few records all are the sample: the pairs are those that share a word, less candidates."""
    sides = np.array([bits >> row & 1 for row in range(len(forms))], dtype=np.uint8)
    lists = [set(split_words(form)) for form in forms]
    for across in (ONE_SIDE, sides):
        found = word_candidates(forms, Joining(sides=across, cap=cap))
        sharing = {
            (one, other)
            for one, other in combinations(range(len(forms)), 2)
            if lists[one] & lists[other] and (not len(across) or sides[one] != sides[other])
        }
        assert as_set(found.beyond) == sharing - as_set(found.pairs)
        assert found.sample.tolist() == list(range(len(forms)))


def test_the_sample_of_many_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many records there are, a few are asked, and each for a few others: the likest."""
    monkeypatch.setattr(SIZES, "cap_sample", 10)
    monkeypatch.setattr(SIZES, "cap_neighbours", 2)
    forms = [f"old mill lane {row} {row // 2}x {row}y" for row in range(200)]
    forms[100] = forms[199] = "old"
    found = word_candidates(forms, Joining(cap=3))
    assert len(found.sample) == 10
    assert len(found.beyond) <= 20
    assert (100, 199) in as_set(found.beyond)
