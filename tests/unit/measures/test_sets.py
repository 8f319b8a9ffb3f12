"""Exact Jaccard similarity and containment of many pairs, against sets of strings."""

from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

import neardup_solr as nd
from neardup_solr import Settings
from tests.entries import entries_of

TEXTS = st.lists(
    st.lists(st.sampled_from(["a", "the", "word", "ü", "wörter", "漢字"]), max_size=9).map(
        " ".join
    ),
    min_size=2,
    max_size=6,
)
SHAPES = [
    Settings(),
    Settings(shingle_size=1),
    Settings(kind="chars", shingle_size=4),
    Settings(kind="stops"),
    Settings(kind="stems", shingle_size=2),
]


def similarities(measure: Any, texts: list[str], shape: Settings) -> dict[tuple[int, int], float]:
    """What a measure says of all pairs of texts that have words, by their places."""
    documents = list(enumerate(texts))
    how: dict[str, Any] = {"min_similarity": 0.0, "by": "all", "settings": shape}
    pairs = nd.duplicates(documents, measure=measure, **how).pairs
    return {(int(pair.id), int(pair.other_id)): pair.similarity for pair in pairs}


@examples(deadline=None)
@given(TEXTS, st.sampled_from(SHAPES))
def test_overlaps_are_those_of_sets(texts: list[str], shape: Settings) -> None:
    """Jaccard similarity and containment of all kinds of shingles, against sets of strings."""
    entries = entries_of(
        [nd.Document(id=str(at), text=text) for at, text in enumerate(texts)], shape
    )
    sets = {at: set(entry.shingles) for at, entry in enumerate(entries) if entry.shingles}
    jaccard, containment = {}, {}
    for one, other in combinations(sets, 2):
        shared = len(sets[one] & sets[other])
        jaccard[one, other] = shared / len(sets[one] | sets[other])
        containment[one, other] = shared / min(len(sets[one]), len(sets[other]))
    assert similarities("jaccard", texts, shape) == pytest.approx(jaccard)
    assert similarities("containment", texts, shape) == pytest.approx(containment)


def test_an_excerpt_is_contained() -> None:
    """A passage taken out of a longer text has containment 1, and little Jaccard similarity."""
    long = " ".join(f"w{n}" for n in range(100))
    texts = [long, " ".join(long.split()[40:60])]
    assert similarities("containment", texts, Settings()) == {(0, 1): 1.0}
    assert similarities("jaccard", texts, Settings()) == pytest.approx({(0, 1): 18 / 98})
