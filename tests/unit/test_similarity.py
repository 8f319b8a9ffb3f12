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
    words = len(normal.split())
    return Hit(id=id, md5_hash=normalize.md5(normal), num_words=words, shared=shared)


def test_rerank_orders_by_distance_then_shared_then_id() -> None:
    """Nearest first; of equal distance the one that shares more; then the natural order."""
    entry = signature.entry(Document(id="1", text="a b c d"), Settings())
    texts = {"x": "a b c e", "y": "a b c f", "10": "A, b. c! d", "9": "a b c d", "far": "p q r s"}
    hits = [hit(id, text, 2 if id == "y" else 1) for id, text in texts.items()]
    found = similarity.rerank(entry, hits, texts, limits=Limits(max_distance=1))
    assert [(match.id, match.distance) for match in found] == [
        ("9", 0), ("10", 0), ("y", 1), ("x", 1),
    ]  # fmt: skip
    assert found[2].similarity == 0.75


def test_a_hit_that_went_away_is_no_match() -> None:
    """A document that was deleted between the query and the comparison is left out."""
    entry = signature.entry(Document(id="1", text="a b"), Settings())
    assert similarity.rerank(entry, [hit("2", "a b")], {}, limits=Limits()) == []


def test_equal_md5_needs_no_comparison() -> None:
    """A hit of equal MD5 has distance 0, whatever its text."""
    entry = signature.entry(Document(id="1", text="a b"), Settings())
    same = Hit(id="2", md5_hash=entry.md5_hash, num_words=2, shared=1)
    assert similarity.rerank(entry, [same], {"2": ""}, limits=Limits())[0].distance == 0


@given(TEXT, TEXT, st.integers(0, 4))
def test_only_what_cannot_be_near_is_passed_over(
    one: list[str], other: list[str], most: int
) -> None:
    """No text within the limits is judged away by its number of words."""
    limits = Limits(max_distance=most)
    entry = signature.entry(Document(id="1", text=" ".join(one)), Settings())
    near = slow_distance(one, other) <= limits.allowed(max(len(one), len(other)))
    assert similarity.may_be_near(entry, hit("2", " ".join(other)), limits) or not near
    unknown = Hit(id="2", md5_hash="", num_words=None, shared=1)
    assert similarity.may_be_near(entry, unknown, limits)
