"""Many pairs at once, against one pair at a time, by every measure."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup_solr.errors import SettingsError
from neardup_solr.measures import NAMES, Compared, Comparer, Limits, measure_named, measure_of, sets
from neardup_solr.measures.pairs import Pairs
from neardup_solr.measures.sets import WORDS, estimate_pairs
from neardup_solr.option_table import ROWS
from neardup_solr.testing import SIZES
from tests.refusals import refusal
from tests.unit.measures.test_words import slow_distance

FORMS = st.lists(
    st.lists(st.sampled_from(["a", "b", "word", "ü"]), max_size=8).map(" ".join), min_size=2,
    max_size=6,
)  # fmt: skip
LIMITS = st.one_of(
    st.just(Limits()),
    st.integers(0, 5).map(lambda most: Limits(max_distance=most)),
    st.floats(0, 1).map(lambda least: Limits(min_similarity=least)),
    st.builds(Limits, max_distance=st.integers(0, 5), min_similarity=st.floats(0, 1)),
)


def by_words(forms: list[str], pairs: Pairs, *, limits: Limits, threads: int = 1) -> Compared:
    """Pairs by word-level Levenshtein distance."""
    return Comparer(measure=WORDS, limits=limits, threads=threads).compare_texts(forms, pairs)


@settings(deadline=None)
@given(FORMS, LIMITS, st.sampled_from([1, 2]))
def test_word_distances_are_those_of_single_pairs(
    forms: list[str], limits: Limits, threads: int
) -> None:
    """Distance and similarity equal those of a slow oracle; -1 is beyond the limits."""
    count = len(forms)
    pairs = np.array([(a, b) for a in range(count) for b in range(a + 1, count)], dtype=np.uint32)
    distances, similarities, _ = by_words(forms, pairs, limits=limits, threads=threads)
    for (one, other), distance, found in zip(pairs.tolist(), distances, similarities, strict=True):
        first, second = forms[one].split(), forms[other].split()
        longest = max(len(first), len(second))
        expected = slow_distance(first, second)
        is_near = expected <= WORDS.largest_distance(longest, limits)
        assert distance == (expected if is_near else -1)
        if is_near:
            assert found == pytest.approx(sets.similarity(expected, longest))


def test_pairs_beyond_one_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks change nothing."""
    forms = [f"text {n % 5} of some" for n in range(12)]
    pairs = np.array([(a, b) for a in range(12) for b in range(a + 1, 12)], dtype=np.uint32)
    whole = by_words(forms, pairs, limits=Limits())
    monkeypatch.setattr(SIZES, "compared_by_thread", 7)
    parts = by_words(forms, pairs, limits=Limits())
    assert all(np.array_equal(a, b) for a, b in zip(whole, parts, strict=True))


def test_estimates_are_the_share_of_equal_values() -> None:
    """Two signatures that agree in half of their values are estimated at one half."""
    signatures = np.array([[1, 2, 3, 4], [1, 2, 0, 0], [9, 9, 9, 9]], dtype=np.uint32)
    pairs = np.array([(0, 1), (0, 2)], dtype=np.uint32)
    assert estimate_pairs(signatures, pairs).tolist() == [0.5, 0.0]


def test_no_pairs() -> None:
    """Nothing to verify is no error."""
    none = np.empty((0, 2), dtype=np.uint32)
    distances, similarities, _ = by_words([], none, limits=Limits())
    assert len(distances) == len(similarities) == 0


@pytest.mark.parametrize(
    ("measure", "similarity", "least"),
    [
        ("words", 4 / 6, 0.5),
        ("jaccard", 2 / 4, 0.5),
        ("containment", 2 / 2, 0.8),
        ("aligned", None, 0.75),
    ],
)
def test_measures_by_hand(measure: str, similarity: float | None, least: float) -> None:
    """Each measure by its name, with the similarity that it asks for where no limit is given."""
    forms = ["one two three four five six", "one two three four", "others altogether here"]
    pairs = np.array([[0, 1], [0, 2]], dtype=np.uint32)
    comparer = Comparer(measure=measure_named(measure))
    distances, similarities, is_near = comparer.compare_texts(forms, pairs)
    assert comparer.least == least
    if similarity is not None:
        assert similarities[0] == pytest.approx(similarity)
        assert is_near.tolist() == [True, False]
    assert (distances[0] == 2) == (measure == "words")


@pytest.mark.parametrize("measure", ["jaccard", "containment", "aligned"])
def test_limits_hold_for_every_measure(measure: str) -> None:
    """What is below the smallest similarity does not count; there is no distance to limit."""
    forms = ["one two three four five six", "one two three four five seven"]
    pairs = np.array([[0, 1]], dtype=np.uint32)
    for least, expected in ((0.0, True), (1.0, False)):
        limits = Limits(min_similarity=least)
        comparer = Comparer(measure=measure_of(measure, limits), limits=limits)
        assert comparer.compare_texts(forms, pairs).is_near.tolist() == [expected]
    with refusal(SettingsError, "arguments-conflict", measure, "`max_distance`"):
        measure_of(measure, Limits(max_distance=2))


def test_an_estimate_reads_no_texts() -> None:
    """Texts cannot be compared by the measure that needs none."""
    assert not measure_named("estimate").needs_texts
    with pytest.raises(SettingsError, match="'a' is not a stored signature"):
        Comparer(measure=measure_named("estimate")).compare_texts(
            ["a"], np.empty((0, 2), np.uint32)
        )


def test_a_measure_that_is_not_known_is_refused() -> None:
    """The error names those that there are."""
    with pytest.raises(SettingsError, match="`measure` cannot be 'cosine'; choose") as refused:
        measure_of("cosine", Limits())
    assert all(name in str(refused.value) for name in NAMES)


def test_the_help_tells_every_default() -> None:
    """The options that bound a similarity say what each measure asks for without them."""
    own = [f"{one.name} {one.default:g}" for one in map(measure_named, NAMES) if one.default != 0.5]
    bounds = {name: ROWS[name][1].text for name in ("min_similarity", "tag")}
    usual = f"{measure_named('words').default:g}; {', '.join(own)}"
    assert f"[default: {usual};" in bounds["min_similarity"]
    assert f": {usual}]" in bounds["tag"]


@pytest.mark.parametrize("measure", ["words", "jaccard", "containment", "aligned", "records"])
def test_one_text_is_compared_as_many_are(measure: str) -> None:
    """The similarity is that of many pairs."""
    forms = ["one two three four", "one two three five"]
    comparer, pairs = Comparer(measure=measure_named(measure)), np.array([[0, 1]], dtype=np.uint32)
    many = comparer.compare_texts(forms, pairs)
    assert comparer.compare_one(forms[0], forms[1:])[0][1] == many.similarities[0]
