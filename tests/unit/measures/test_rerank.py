"""The order of matches, by every measure."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from neardup_solr import Document, Match, Settings, signature
from neardup_solr.errors import SettingsError
from neardup_solr.measures import NAMES, Comparer, Limits, measure_named
from neardup_solr.measures.edited_words import WORDS
from neardup_solr.measures.frequencies import Frequencies, count_words
from neardup_solr.measures.rerank import rerank
from neardup_solr.minhash import make_entry
from neardup_solr.records import Entry, Hit
from neardup_solr.text import normalize
from tests.refusals import refusal

TEXT = st.lists(st.sampled_from("abc"), max_size=7)
TEXTS = st.lists(st.sampled_from(["a", "ab", "abbey", "Street", "st", "ü"]), max_size=8).map(
    " ".join
)
ALL_ALIKE = Frequencies(1, {})  # every word weighs as much as any other
BY_TEXT = [name for name in NAMES if measure_named(name).needs_texts]


def hit(id: str, content: str, shared: int = 1) -> Hit:
    """A hit as Solr would give it."""
    normal = normalize.normalize(content)
    words = len(normal.split())
    return Hit(id=id, md5_hash=normalize.md5(normal), num_words=words, shared=shared)


def entry_of(text: str) -> Entry:
    """The entry of a text whose hits are re-ranked."""
    return make_entry(Document(id="1", text=text), Settings())


def reranked(text: str, texts: dict[str, str], comparer: Comparer, **shared: int) -> list[Match]:
    """The hits of these texts by id, re-ranked; for the estimate by their signatures."""
    hits = [hit(id, content, shared.get(id, 1)) for id, content in texts.items()]
    if not comparer.measure.needs_texts:
        texts = {id: entry_of(content).signature for id, content in texts.items()}
    return rerank(entry_of(text), hits, texts, comparer)


def within(**limits: float) -> Comparer:
    """By words, within these limits."""
    limited = Limits(**limits)  # type: ignore[arg-type]  # either of two kinds
    return Comparer(measure=WORDS, limits=limited)


def test_by_words_the_distance_counts_then_shared_then_the_id() -> None:
    """Nearest first; of equal distance the one that shares more; then the natural order."""
    texts = {"x": "a b c e", "y": "a b c f", "10": "A, b. c! d", "9": "a b c d", "far": "p q r s"}
    found = reranked("a b c d", texts, within(max_distance=1), y=2)
    assert [(match.id, match.distance) for match in found] == [
        ("9", 0), ("10", 0), ("y", 1), ("x", 1),
    ]  # fmt: skip
    assert found[2].similarity == 0.75


def test_by_words_a_smaller_distance_is_nearer_than_a_larger_similarity() -> None:
    """Of two hits the one of fewer edits is first, though it is the less similar one."""
    texts = {"longer": "a b c d e f g h x y", "shorter": "b c d"}
    found = reranked("a b c d", {"shorter": "b c d"}, within(min_similarity=0))
    assert (found[0].distance, found[0].similarity) == (1, 0.75)
    found = reranked("a b c d e f g h", texts | {"shorter": "a"}, within(min_similarity=0))
    assert [(match.id, match.distance) for match in found] == [("longer", 2), ("shorter", 7)]


def test_a_hit_that_went_away_is_no_match() -> None:
    """A document that was deleted between the query and the comparison is left out."""
    found = rerank(entry_of("a b"), [hit("2", "a b")], {}, within())
    assert found == []


def test_equal_md5_needs_no_comparison() -> None:
    """A hit of equal MD5 has distance 0, whatever its text."""
    entry = entry_of("a b")
    same = Hit(id="2", md5_hash=entry.md5_hash, num_words=2, shared=1)
    [found] = rerank(entry, [same], {"2": ""}, within())
    assert (found.distance, found.similarity) == (0, 1.0)


OWN = "one two three four five six seven eight"
OTHERS = {
    "far": "nothing of that sort here",
    "moved": "five six seven eight one two three four",
    "excerpt": "one two three four",
    "edited": "one two three four five six seven ate",
    "same": "One, two, three; four five six seven EIGHT!",
}


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("words", {"same": 1, "edited": 7 / 8, "excerpt": 4 / 8}),
        ("jaccard", {"same": 1, "edited": 5 / 7, "moved": 4 / 8}),
        ("containment", {"excerpt": 1, "same": 1, "edited": 5 / 6}),
        ("aligned", {"moved": 1, "same": 1, "edited": 7 / 8, "excerpt": (8 / 12 + 1) / 2}),
    ],
)
def test_each_measure_has_its_own_order_and_limit(measure: str, expected: dict[str, float]) -> None:
    """Most similar first, down to what the measure asks for; only words have a distance."""
    found = reranked(OWN, OTHERS, Comparer(measure=measure_named(measure), frequencies=ALL_ALIKE))
    assert [match.id for match in found] == list(expected)
    assert {match.id: match.similarity for match in found} == pytest.approx(expected)
    assert all((match.distance is None) == (measure != "words") for match in found)
    assert {match.id: match.content for match in found} == {id: OTHERS[id] for id in expected}


def test_of_equal_similarity_the_one_that_shares_more_comes_first() -> None:
    """Where a measure has no distance, shared terms and ids still decide between equals."""
    same = {"10": OWN, "9": OWN, "more": OWN}
    found = reranked(OWN, same, Comparer(measure=measure_named("jaccard")), more=2)
    assert [match.id for match in found] == ["more", "9", "10"]


def test_an_estimate_compares_signatures() -> None:
    """By signatures the similarity is the share of equal values, and there are no texts."""
    limits = Limits(min_similarity=0.1)
    found = reranked(OWN, OTHERS, Comparer(measure=measure_named("estimate"), limits=limits))
    own = signature.decode(entry_of(OWN).signature)
    for match in found:
        other = signature.decode(entry_of(OTHERS[match.id]).signature)
        assert match.similarity == (own == other).mean()
        assert (match.distance, match.content) == (None, "")
    assert [match.id for match in found][:2] == ["same", "edited"]
    similarities = [match.similarity for match in found]
    assert similarities == sorted(similarities, reverse=True)


def test_a_signature_of_other_settings_is_refused() -> None:
    """Signatures of another number of hashes cannot be compared."""
    other = make_entry(Document(id="2", text=OWN), Settings(hashes=256)).signature
    with refusal(SettingsError, "signature-invalid", "256", "128"):
        rerank(
            entry_of(OWN),
            [hit("2", OWN)],
            {"2": other},
            Comparer(measure=measure_named("estimate")),
        )


@pytest.mark.parametrize("measure", BY_TEXT)
@settings(deadline=None)
@given(own=TEXTS, others=st.lists(TEXTS, max_size=4), least=st.sampled_from([None, 0.0, 0.3, 1.0]))
def test_similarities_are_those_of_whole_collections(
    measure: str, own: str, others: list[str], least: float | None
) -> None:
    """One document's hits, pair by pair, are compared as many pairs are."""
    texts = {str(at): text for at, text in enumerate(others)}
    forms = [normalize.normalize(text) for text in (own, *others)]
    comparer = Comparer(
        measure=measure_named(measure),
        limits=Limits(min_similarity=least),
        frequencies=count_words(forms),
    )
    pairs = np.array([(0, at + 1) for at in range(len(others))], dtype=np.uint32).reshape(-1, 2)
    distances, similarities, is_near = comparer.compare_texts(forms, pairs)
    hits = [hit(id, text) for id, text in texts.items()]
    found = rerank(entry_of(own), hits, texts, comparer)
    by_id = {match.id: match for match in found}
    assert set(by_id) == {str(at) for at in np.flatnonzero(is_near).tolist()}
    for at, match in ((int(id), match) for id, match in by_id.items()):
        assert match.similarity == pytest.approx(similarities[at])
        assert match.distance == (None if distances[at] < 0 else distances[at])


def slowly_near(one: list[str], other: list[str], limits: Limits) -> bool:
    """Whether two texts are within the limits, by comparing them."""
    longest = max(len(one), len(other))
    return Levenshtein.distance(one, other) <= WORDS.largest_distance(longest, limits)


@given(TEXT, TEXT, st.integers(0, 4))
def test_only_what_cannot_be_near_is_passed_over(
    one: list[str], other: list[str], most: int
) -> None:
    """No text within the limits is judged away by its number of words."""
    comparer = within(max_distance=most)
    near = slowly_near(one, other, comparer.limits)
    assert comparer.may_be_near(len(one), len(other)) or not near
    assert comparer.may_be_near(len(one), None)


@pytest.mark.parametrize("measure", NAMES)
def test_numbers_of_words_judge_nothing_but_words(measure: str) -> None:
    """A long text may hold a short one: only edits of words are bounded by the lengths."""
    may_be = Comparer(measure=measure_named(measure)).may_be_near(3, 150)
    assert may_be == (measure != "words")
