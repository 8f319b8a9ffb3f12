"""Word diffs: what is compared, what is shown, and that nothing is lost."""

import random
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

import neardup_solr as nd
from neardup_solr.text import diff
from tests.entries import entry_of


def facts_of(first: str, second: str) -> Any:
    """What an explanation knows of two texts."""
    documents = [nd.Document(id="1", text=first), nd.Document(id="2", text=second)]
    return nd.explain(documents, 1, 2, measure="words").facts


def split(text: str) -> Any:
    """The words of a text, as an explanation shows and compares them."""
    return facts_of(text, "another text").first.words


TEXT = st.text(st.sampled_from("aB é-/&.,\u0301\u00ad\u200b \n\u00a0\x00½ﬁ\u0130ß٣"), max_size=30)
WORDS = st.lists(st.sampled_from("abcd"), max_size=12)


@pytest.mark.parametrize(
    ("text", "shown", "forms"),
    [
        ("", (), ()),
        ("& …", ("&", "..."), ("&", "...")),
        ("C#/C++.", ("C#/", "C++."), ("c#", "c++")),
        (
            "买iPhone手机壳。",
            ("买", "iPhone", "手", "机", "壳。"),
            ("买", "iphone", "手", "机", "壳"),
        ),
        ("ﾀﾜｰ", ("ﾀ", "ﾜ", "ｰ"), ("タ", "ワ", "ー")),
        # Khmer
        ("ខ្មែរ", ("ខ្", "មែ", "រ"), ("ខ្", "មែ", "រ")),
        # Thai
        ("กิน น้ำ", ("กิ", "น", "น้ํ", "า"), ("กิ", "น", "น้ํ", "า")),
        ("Plum & Thistle,", ("Plum &", "Thistle,"), ("plum", "thistle")),
        ("& Sons", ("& Sons",), ("sons",)),
        ("(wine/glass)", ("(wine/", "glass)"), ("wine", "glass")),
        ("031-463-3539.", ("031-463-3539.",), ("031-463-3539",)),
        ("soft\u00adly", ("soft\u00adly",), ("softly",)),
        ("½ cup", ("1", "2", "cup"), ("1", "2", "cup")),
        ("a\x00b", ("a\x00", "b"), ("a", "b")),
        ("Straße", ("Straße",), ("strasse",)),
        ("x" * 100_000, ("x" * 100_000,), ("x" * 100_000,)),
    ],
)
def test_words_as_shown_and_compared(
    text: str, shown: tuple[str, ...], forms: tuple[str, ...]
) -> None:
    """Words are shown as written where that lines up, and compared in normal form."""
    words = split(text)
    assert (words.shown, words.forms) == (shown, forms)


@given(TEXT)
def test_forms_are_the_words_of_the_normal_form(text: str) -> None:
    """Every text lines up: as many shown as forms, and the forms are those that are measured."""
    words = split(text)
    assert words.forms == tuple(entry_of(text).normal.split())
    assert len(words.shown) == len(words.forms)
    assert [entry_of(shown).normal for shown in words.shown] == list(words.forms)


def test_text_is_put_together_again() -> None:
    """Words that no space parted are shown so; a part begins with its first word."""
    text = "Plum & Thistle: don't take and/or leave"
    words = split(text)
    assert words.text(slice(None)) == text
    assert words.text(slice(2, 5)) == "don't take"
    assert words.text(slice(3, 5)) == "t take"
    assert words.text(slice(3, 3)) == ""


def test_case_and_punctuation_are_no_change() -> None:
    """Texts of equal normal form have one equal run."""
    (change,) = facts_of("Wine, by the GLASS!", "wine by the glass").changes
    assert (change.kind, change.first, change.second) == ("equal", slice(0, 4), slice(0, 4))


def test_each_kind_of_change() -> None:
    """Replaced, deleted and inserted words are told apart, and slices read the shown words."""
    facts = facts_of("Old house, by the wide blue sea shore", "New house by the sea shore today")
    one, other = facts.first.words, facts.second.words
    found = [
        (change.kind, one.shown[change.first], other.shown[change.second])
        for change in facts.changes
    ]
    assert found == [
        ("replace", ("Old",), ("New",)),
        ("equal", ("house,", "by", "the"), ("house", "by", "the")),
        ("delete", ("wide", "blue"), ()),
        ("equal", ("sea", "shore"), ("sea", "shore")),
        ("insert", (), ("today",)),
    ]


@given(WORDS, WORDS)
def test_changes_cover_both_and_cost_the_distance(first: list[str], second: list[str]) -> None:
    """The runs put together are both sequences, and the changed ones cost what is measured."""
    found = facts_of(" ".join(first), " ".join(second)).changes
    assert [word for change in found for word in first[change.first]] == first
    assert [word for change in found for word in second[change.second]] == second
    assert all((c.kind == "equal") == (first[c.first] == second[c.second]) for c in found)
    cost = sum(max(len(first[c.first]), len(second[c.second])) for c in found if c.kind != "equal")
    assert cost == Levenshtein.distance(first, second)


@pytest.mark.parametrize("seed", range(3))
def test_long_sequences_are_compared_in_parts(seed: int) -> None:
    """The runs cover both sequences in order, equal words are in equal runs, and few are missed."""
    draw = random.Random(seed)
    first = [str(draw.randrange(3_000)) for _ in range(14_000)]
    second = list(first)
    for _ in range(60):
        at = draw.randrange(len(second))
        second[at : at + draw.randrange(12)] = ["new"] * draw.randrange(12)
    runs = diff.changes_in_parts(first, second)
    ends = [0, 0]
    for run in runs:
        assert [run.first.start, run.second.start] == ends
        ends = [run.first.stop, run.second.stop]
        assert (first[run.first] == second[run.second]) == (run.kind == "equal")
    assert ends == [len(first), len(second)]
    kinds = [run.kind for run in runs]
    assert ("equal", "equal") not in pairwise(kinds)
    changed, least = (
        sum(max(run.first.stop - run.first.start, run.second.stop - run.second.start)
            for run in each if run.kind != "equal")
        for each in (runs, diff.changes(first, second))
    )  # fmt: skip
    assert least <= changed <= 1.05 * least
