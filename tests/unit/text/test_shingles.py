"""Shingles of every kind."""

from typing import Any

import pytest

from neardup_solr import Settings
from neardup_solr.errors import ArgumentError
from tests.entries import entry_of


def shingles(normal: str, settings: Settings) -> list[str]:
    """The shingles of a text that is its own normal form."""
    entry = entry_of(normal, settings)
    assert entry.normal == normal
    return list(entry.shingles)


@pytest.mark.parametrize(
    ("kind", "size", "normal", "expected"),
    [
        ("words", 3, "", []),
        ("words", 3, "pizza", ["pizza"]),
        ("words", 3, "a b", ["a b"]),
        ("words", 3, "a b c", ["a b c"]),
        ("words", 3, "a b c d", ["a b c", "b c d"]),
        ("words", 2, "a b a b a", ["a b", "b a"]),
        ("words", 1, "a b a", ["a", "b"]),
        ("chars", 3, "", []),
        ("chars", 3, "東京", ["東京"]),
        ("chars", 3, "東京都庁", ["東京都", "京都庁"]),
        ("chars", 2, "a b", ["a ", " b"]),
        ("chars", 2, "aaaa", ["aa"]),
        ("stops", 3, "", []),
        ("stops", 3, "buy sudzo", ["buy sudzo"]),
        ("stops", 3, "a spokesperson for the sudzo corporation revealed today",
         ["a spokesperson for", "for the sudzo", "the sudzo corporation"]),
        ("stems", 2, "", []),
        ("stems", 2, "the houses are running", ["hous run"]),
        ("stems", 2, "the of and", ["the of", "of and"]),
    ],
)  # fmt: skip
def test_table(kind: Any, size: int, normal: str, expected: list[str]) -> None:
    """Each kind gives the set of its pieces, in order of first appearance."""
    assert shingles(normal, Settings(kind=kind, shingle_size=size, normalization=1)) == expected


def test_other_languages_have_stems_too() -> None:
    """A language of Snowball's stems its own words; its stop words stay."""
    german = Settings(kind="stems", language="german", shingle_size=1)
    assert shingles("die häuser laufen", german) == ["die", "haus", "lauf"]


def test_a_language_without_stemmer() -> None:
    """A language that Snowball does not know names those that it does."""
    with pytest.raises(ArgumentError, match=r"'klingon'.*english"):
        shingles("a b", Settings(kind="stems", language="klingon"))
