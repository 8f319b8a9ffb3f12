"""Exact Jaccard similarity and containment of many pairs, against sets of strings."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from neardup_solr import Settings
from neardup_solr.measures import Comparer, Similarities, measure_named
from neardup_solr.measures.pairs import Pairs
from neardup_solr.text.normalize import normalize
from neardup_solr.text.shingles import shingles

FORMS = st.lists(
    st.lists(st.sampled_from(["a", "the", "word", "ü", "wörter", "漢字"]), max_size=9).map(
        lambda words: normalize(" ".join(words))
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


def similarities(name: str, forms: list[str], pairs: Pairs, shape: Settings) -> Similarities:
    """What a measure says of pairs."""
    comparer = Comparer(measure=measure_named(name), settings=shape)
    return comparer.compare_texts(forms, pairs).similarities


@examples(deadline=None)
@given(FORMS, st.sampled_from(SHAPES))
def test_overlaps_are_those_of_sets(forms: list[str], shape: Settings) -> None:
    """Jaccard similarity and containment of all kinds of shingles, against sets of strings."""
    count = len(forms)
    pairs = np.array([(a, b) for a in range(count) for b in range(a + 1, count)], dtype=np.uint32)
    found = {name: similarities(name, forms, pairs, shape) for name in ("jaccard", "containment")}
    sets = [set(shingles(form, shape)) for form in forms]
    both = zip(pairs.tolist(), found["jaccard"], found["containment"], strict=True)
    for (one, other), jaccard, containment in both:
        first, second = sets[one], sets[other]
        shared = len(first & second)
        assert jaccard == pytest.approx(shared / len(first | second) if first | second else 1)
        fewer = min(len(first), len(second))
        expected = shared / fewer if fewer else float(first == second)
        assert containment == pytest.approx(expected)


def test_an_excerpt_is_contained() -> None:
    """A passage taken out of a longer text has containment 1, and little Jaccard similarity."""
    long = " ".join(f"w{n}" for n in range(100))
    forms, pair = [long, " ".join(long.split()[40:60])], np.array([[0, 1]], np.uint32)
    assert similarities("containment", forms, pair, Settings()).tolist() == [1.0]
    assert similarities("jaccard", forms, pair, Settings())[0] == pytest.approx(18 / 98)
