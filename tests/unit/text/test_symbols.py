"""Symbols carry a meaning that no word has; punctuation varies between prints of a text."""

from typing import Any

import pytest

import neardup_solr as nd


def are_copies(first: str, second: str, normalization: int = 2, **arguments: Any) -> bool:
    """Tell whether two texts are taken for copies of one another."""
    documents = [nd.Document(id=first, text=first), nd.Document(id=second, text=second)]
    settings = nd.Settings(normalization=normalization)
    found = nd.duplicates(
        documents, measure="words", max_distance=0, settings=settings, **arguments
    )
    return len(found.pairs) == 1


def differ_in_symbols(first: str, second: str) -> bool:
    """Tell whether an explanation says that two texts differ in symbols alone."""
    documents = [nd.Document(id="1", text=first), nd.Document(id="2", text=second)]
    return any("symbol" in reason for reason in nd.explain(documents, 1, 2).reasons)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("if x > 0 then go", "if x < 0 then go"),
        ("if a = b then go", "if a != b then go"),
        ("a && b", "a || b"),
        ("a * b", "a + b"),
        ("x**2", "x*2"),
        ("*p = x", "&p = x"),
        ("return !ready", "return ready"),
        ("i++", "i"),
        ("5 \u00b1 1 grams", "5 1 grams"),
        ("x \u2264 5", "x \u2265 5"),
        ("x \u2208 A", "x \u2209 A"),
        ("p(a|b)", "p(a,b)"),
        ("10\u2075 cells", "105 cells"),
        ("take 1/2 tablet", "take 1.2 tablet"),
        ("price \u20ac5 now", "price $5 now"),
        ("50 % off", "50 off"),
        ("\u22125 \u00b0C outside", "5 \u00b0C outside"),
        ("\u20135 \u00b0C outside", "5 \u00b0C outside"),
        ("good \U0001f44d job", "good \U0001f44e job"),
        ("\u2605\u2605\u2605\u2605\u2606 nice", "\u2605\u2605\u2606\u2606\u2606 nice"),
        ("\u2713 done", "\u2717 done"),
        ("A \u2192 B", "A \u2190 B"),
        ("1. e4! e5", "1. e4? e5"),
        ("e4 e5 Nf3+ for 2", "e4 e5 Nf3 for 2"),
        ("You did it?", "You did it."),
        ("AT&T shares", "AT T shares"),
        ("we heard of it today :-)", "we heard of it today :-("),
        ("so it went :/ again", "so it went again"),
    ],
)
def test_other_symbols(first: str, second: str) -> None:
    """Texts of the same words, one of which means something else."""
    assert are_copies(first, second, 1) or are_copies(first, second)
    for normalization in (1, 2):
        assert not are_copies(first, second, normalization, equal="symbols")
    assert differ_in_symbols(first, second) or not are_copies(first, second)


@pytest.mark.parametrize(("first", "second"), [("C++ code", "C code"), ("Na+ ion", "Na ion")])
def test_signs_of_the_first_normalization(first: str, second: str) -> None:
    """Collections of normalization 1 have no signs in their normal forms."""
    assert are_copies(first, second, 1)
    assert not are_copies(first, second, 1, equal="symbols")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("\u201cHello\u201d, she said.", '"Hello" she said'),
        ("It's here", "It\u2019s here"),
        ("Wait\u2026 what", "Wait... what"),
        ("We won!", "We won."),
        ("co-op (big)", "co-op [big]"),
        ("# Title here", "Title here"),
        ("**bold** and *thin* text", "bold and thin text"),
        ("\u2022 item one\n\u2022 item two", "item one\nitem two"),
        ("* item one\n* item two", "item one\nitem two"),
        ("> quoted line\n> next", "quoted line\nnext"),
        ("Title\n=====\ntext", "Title\ntext"),
        ("Windows\u00ae here", "Windows here"),
        ("News | Sport", "News, Sport"),
        ("x > 0", "x>0"),
        ("50%", "50 %"),
        ("a \u00d7 b", "a * b"),
        ("a\u2264b", "a <= b"),
        ("really??", "really?"),
        ("mail <a@b.org> now", "mail a@b.org now"),
        ("Stra\u00dfe > 5", "STRASSE > 5"),
        ("12/05/2020", "12.05.2020"),
        ("call 0497/470862", "call 0497 470862"),
        ("for 5\u20ac", "for \u20ac5"),
        ("$1,250.00 off", "1,250.00 $ off"),
        ("\u22485 km", "~5 km"),
        ("\u2764\ufe0f you", "\u2764 you"),
        ("we heard of it today :)", "we heard of it today"),
    ],
)
def test_prints_of_a_text(first: str, second: str) -> None:
    """Quotes, dashes, bullets, mark-up and the like say nothing."""
    assert are_copies(first, second)
    assert are_copies(first, second, equal="symbols")
    assert not differ_in_symbols(first, second)
