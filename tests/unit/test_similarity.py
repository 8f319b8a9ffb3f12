"""Word distance, limits, and the order of matches."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup_solr.pure import normalize, signature, similarity
from neardup_solr.pure.config import Settings
from neardup_solr.pure.errors import SettingsError
from neardup_solr.pure.model import Document, Hit
from neardup_solr.pure.similarity import Limits

TEXT = st.lists(st.sampled_from("abc"), max_size=7)


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
    found = similarity.word_distance(one, other, at_most=at_most)
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
    assert limits.allowed(longest) == allowed


@pytest.mark.parametrize(
    ("distance", "similar"), [(-1, None), (None, 1.5), (None, -0.1), (None, float("nan"))]
)
def test_limits_out_of_range(distance: int | None, similar: float | None) -> None:
    """A limit that cannot be is refused."""
    with pytest.raises(SettingsError, match="cannot be"):
        Limits(max_distance=distance, min_similarity=similar)


def hit(id: str, content: str, shared: int = 1) -> Hit:
    """A hit as Solr would give it."""
    normal = normalize.normalize(content)
    return Hit(id=id, content=content, md5_hash=normalize.md5(normal), shared=shared)


def test_rerank_orders_by_distance_then_shared_then_id() -> None:
    """Nearest first; of equal distance the one that shares more; then the natural order."""
    entry = signature.entry(Document(id="1", text="a b c d"), Settings())
    hits = [hit("x", "a b c e", 1), hit("y", "a b c f", 2), hit("10", "A, b. c! d"),
            hit("9", "a b c d"), hit("far", "p q r s")]  # fmt: skip
    found = similarity.rerank(entry, hits, limits=Limits(max_distance=1))
    assert [(match.id, match.distance) for match in found] == [
        ("9", 0), ("10", 0), ("y", 1), ("x", 1),
    ]  # fmt: skip
    assert found[2].similarity == 0.75


def test_equal_md5_needs_no_text() -> None:
    """A hit of equal MD5 has distance 0, whatever its text."""
    entry = signature.entry(Document(id="1", text="a b"), Settings())
    same = Hit(id="2", content="", md5_hash=entry.md5_hash, shared=1)
    assert similarity.rerank(entry, [same], limits=Limits())[0].distance == 0
