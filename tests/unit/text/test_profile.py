"""TextProfileSignature, stable."""

import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup_solr import Settings
from tests.entries import entry_of


def hash_profile(text: str, **parameters: Any) -> str:
    """The field profile_hash of a text."""
    fields = Settings().fields | {"profile_hash"}
    return str(entry_of(text, Settings(fields=fields, **parameters)).profile_hash)


def md5(profile: str) -> str:
    """The hash of a profile's lines."""
    return hashlib.md5(profile.encode()).hexdigest()


@pytest.mark.parametrize(
    ("text", "profile"),
    [
        ("one two three", "one 1\nthree 1\ntwo 1"),
        ("two one two one two", "one 2\ntwo 2"),
        ("big big big cat dog", "big 2"),
        ("abc-def abc def", "abc 2\ndef 2"),
        ("an ox is in it but here", "but 1\nhere 1"),
        ("größe größe maß", "grösse 2"),
    ],
)
def test_profiles_by_hand(text: str, profile: str) -> None:
    """Counts are rounded down; short and rare tokens fall out; ties are by code point."""
    assert hash_profile(text) == md5(profile)


def test_nothing_to_profile() -> None:
    """Texts without a token have no profile, and so are not each other's duplicates."""
    assert hash_profile("") == hash_profile("an ox - it") == ""


def test_parameters() -> None:
    """A longer least length drops tokens; a higher rate rounds more."""
    assert hash_profile("abc abcd", profile_min_token_len=3) == md5("abcd 1")
    assert hash_profile("aaa " * 10 + "bbb " * 4, profile_quant_rate=0.5) == md5("aaa 10")


@given(st.lists(st.sampled_from(["the", "cat", "sat", "mat"]), min_size=1).flatmap(st.permutations))
def test_order_does_not_matter(words: list[str]) -> None:
    """The profile is that of the bag of words."""
    assert hash_profile(" ".join(words)) == hash_profile(" ".join(sorted(words)))


@given(st.lists(st.sampled_from(["the", "cat", "sat"]), min_size=6, max_size=12))
def test_words_that_are_dropped_change_nothing(words: list[str]) -> None:
    """Ten rare words beside a text whose words repeat leave its profile as it is."""
    text = " ".join(words)
    rare = " ".join(f"rare{n}" for n in range(10))
    assert hash_profile(f"{text} {rare}") == hash_profile(text)
