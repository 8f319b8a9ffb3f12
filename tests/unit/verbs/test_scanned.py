"""`duplicates` of texts that were scanned: chosen by looking at them, told, and found."""

from __future__ import annotations

import random

import pytest

import neardup_solr as nd
from tests.unit.verbs.test_passages import ALPHABETS, make_words, misread

WORDS = make_words(3_000, 7)


def make_texts(count: int, length: int = 120, alphabet: str = ALPHABETS[0]) -> list[str]:
    """Texts of words of which some are frequent, as in a language."""
    draw = random.Random(1)
    words = [f"{word}{other}" for word, other in zip(
        make_words(2_000, 1, alphabet), make_words(2_000, 2, alphabet), strict=True)]  # fmt: skip
    weights = [1 / (at + 5) for at in range(len(words))]
    return [" ".join(draw.choices(words, weights, k=length)) for _ in range(count)]


def number(texts: list[str], prefix: str) -> list[tuple[str, str]]:
    return [(f"{prefix}{at}", text) for at, text in enumerate(texts)]


@pytest.mark.parametrize("share", [0.03, 0.05, 0.1])
def test_scans_are_seen_and_found(share: float, caplog: pytest.LogCaptureFixture) -> None:
    """Without an option, the scans of texts, and excerpts of these, are near to the texts."""
    texts = make_texts(60)
    scans = [misread(text, share, at) for at, text in enumerate(texts)]
    parts = [" ".join(text.split()[10:60]) for text in texts]
    excerpts = [misread(text, share, -at) for at, text in enumerate(parts)]
    result = nd.duplicates(
        [*number(texts, "t"), *number(scans, "s"), *number(excerpts, "e")], min_similarity=0.7
    )
    assert result.measure == "passages"
    assert "scanned" in result.chosen
    pairs = {(pair.other_id, pair.id) for pair in result.pairs}
    pairs |= {(pair.id, pair.other_id) for pair in result.pairs}
    assert sum((f"t{at}", f"s{at}") in pairs for at in range(60)) >= 57
    assert sum((f"t{at}", f"e{at}") in pairs for at in range(60)) >= 57
    assert all(first[1:] == second[1:] for first, second in pairs)


def test_hyphens_at_line_ends_are_seen() -> None:
    """Texts whose lines break words."""
    texts = make_texts(60)
    broken = ["\n".join(f"{word[:4]}-\n{word[4:]}" for word in text.split()) for text in texts]
    result = nd.duplicates([*number(texts, "t"), *number(broken, "b")])
    assert result.measure == "passages"
    assert len(result.pairs) >= 60


@pytest.mark.parametrize("alphabet", ALPHABETS[:6])
def test_written_texts_are_compared_by_words(alphabet: str) -> None:
    """Nothing is chosen for texts that somebody wrote, copies and edited ones included."""
    texts = make_texts(80, alphabet=alphabet)
    edited = [text.replace(text.split()[5], "other") for text in texts]
    result = nd.duplicates([*number(texts, "t"), *number(edited, "e")])
    assert (result.measure, result.chosen) == ("words", "")


def test_what_is_named_is_used() -> None:
    """A measure that somebody chose stays, whatever the texts look like."""
    texts = [misread(text, 0.1, at) for at, text in enumerate(make_texts(60))]
    assert nd.duplicates(number(texts, "t"), measure="words").measure == "words"
