"""The order of the matches of a search, by every measure."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from rapidfuzz.distance import Levenshtein

import neardup_solr as nd
from tests.entries import entry_of
from tests.faults.scripted import Answer
from tests.refusals import refusal
from tests.solr import api
from tests.solr.front import front
from tests.solr.test_measures import MEASURES

# The terms of a document are its words, so that a text finds all that share a word with it.
BY_WORD = nd.Settings(shingle_size=1)
ALL: dict[str, Any] = {"by": "shingles", "candidates": 1_000}


def index(solr: nd.Collection, texts: dict[str, str], settings: nd.Settings = BY_WORD) -> None:
    """Index texts by their ids."""
    documents = [nd.Document(id=id, text=text) for id, text in texts.items()]
    assert nd.index(documents, solr, settings=settings).indexed == len(texts)


def search(solr: nd.Collection, text: str, **limits: Any) -> list[nd.Match]:
    """The near-duplicates of a text among all that share a word with it."""
    return nd.search(solr, text=text, **ALL, **limits)


def test_by_words_the_distance_counts_then_shared_then_the_id(solr: nd.Collection) -> None:
    """Nearest first; of equal distance the one that shares more; then the natural order."""
    texts = {"x": "e b c c", "y": "a b c e", "10": "A, b. c! c", "9": "a b c c", "far": "a q r s"}
    index(solr, texts)
    found = search(solr, "a b c c", max_distance=1)
    assert [(match.id, match.distance, match.shared) for match in found] == [
        ("9", 0, 3), ("10", 0, 3), ("y", 1, 3), ("x", 1, 2),
    ]  # fmt: skip
    assert [match.similarity for match in found] == [1.0, 1.0, 0.75, 0.75]


def test_by_words_a_smaller_distance_is_nearer_than_a_larger_similarity(
    solr: nd.Collection,
) -> None:
    """Of two hits the one of fewer edits is first, though it is the less similar one."""
    own = [f"w{at}" for at in range(30)]
    edited = " ".join(["x"] * 6 + own[6:])
    index(solr, {"longer": " ".join([*own, *["y"] * 7]), "edited": edited})
    first, second = search(solr, " ".join(own), min_similarity=0)
    assert (first.id, first.distance, first.similarity) == ("edited", 6, 0.8)
    assert (second.id, second.distance, second.similarity > 0.8) == ("longer", 7, True)


def test_a_hit_that_went_away_is_no_match(solr: nd.Collection) -> None:
    """A document that was deleted between the query and the comparison is left out."""
    index(solr, {"1": "a b", "2": "a b"})
    requests: list[str] = []

    def delete_between(path: str, body: bytes, answer: Callable[[], Answer]) -> Answer:
        requests.append(path)
        if len(requests) == 2:
            solr.delete_ids(["2"])
            solr.commit()
        return answer()

    with front(solr.base, between=delete_between) as address:
        passing = nd.connect(address, solr.name)
        requests += ["connected", "and more"]
        assert [match.id for match in search(passing, "a b c")] == ["1", "2"]
        requests.clear()
        assert [match.id for match in search(passing, "a b c")] == ["1"]
    assert len(requests) == 2


def test_equal_md5_needs_no_comparison(solr: nd.Collection) -> None:
    """A hit of equal MD5 has distance 0, whatever its text."""
    index(solr, {"2": "a b"})
    api.set_fields(solr, {"id": "2", "content": {"set": "another text"}}, commit=True)
    assert solr.texts(["2"]) == {"2": "another text"}
    [found] = search(solr, "a b")
    assert (found.distance, found.similarity) == (0, 1.0)


OWN = "one two three four five six seven eight"
OTHERS = {
    "far": "one nothing of that sort is here at all",
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
        ("containment", {"same": 1, "excerpt": 1, "edited": 5 / 6}),
        ("aligned", {"same": 1, "moved": 1, "excerpt": None}),  # rare words weigh more
    ],
)
def test_each_measure_has_its_own_order_and_limit(
    solr: nd.Collection, measure: nd.types.MeasureName, expected: dict[str, float | None]
) -> None:
    """Most similar first, down to what the measure asks for; only words have a distance."""
    index(solr, OTHERS, nd.Settings())
    found = search(solr, OWN, measure=measure)
    assert [match.id for match in found] == list(expected)
    for match in found:
        if (similarity := expected[match.id]) is not None:
            assert match.similarity == pytest.approx(similarity)
    assert all((match.distance is None) == (measure != "words") for match in found)
    assert {match.id: match.content for match in found} == {id: OTHERS[id] for id in expected}


def test_of_equal_similarity_the_one_that_shares_more_comes_first(solr: nd.Collection) -> None:
    """Where a measure has no distance, shared terms and ids still decide between equals."""
    index(solr, {"10": OTHERS["excerpt"], "9": OTHERS["excerpt"], "more": OWN})
    found = search(solr, OWN, measure="containment")
    assert {match.similarity for match in found} == {1.0}
    assert [match.id for match in found] == ["more", "9", "10"]


def test_an_estimate_compares_signatures(solr: nd.Collection) -> None:
    """By signatures the similarity is the share of equal values."""
    index(solr, OTHERS)
    found = search(solr, OWN, measure="estimate", min_similarity=0.1)
    own = nd.signature.decode(entry_of(OWN, BY_WORD).signature)
    for match in found:
        other = nd.signature.decode(entry_of(OTHERS[match.id], BY_WORD).signature)
        assert match.similarity == (own == other).mean()
        assert match.distance is None
    assert {match.id for match in found[:2]} == {"same", "moved"}
    similarities = [match.similarity for match in found]
    assert similarities == sorted(similarities, reverse=True)
    assert len(set(similarities)) > 2


def test_a_signature_of_other_settings_is_refused(solr: nd.Collection) -> None:
    """Signatures of another number of hashes cannot be compared."""
    index(solr, {"2": OWN})
    other = entry_of(OWN, nd.Settings(hashes=256)).signature
    api.set_fields(solr, {"id": "2", "signature": {"set": other}}, commit=True)
    with refusal(nd.SettingsError, "signature-invalid", "256", "128"):
        search(solr, f"{OWN} nine", measure="estimate")


def invent(words: list[str], most: int, count: int) -> dict[str, str]:
    """Texts of up to so many of these words."""
    draw = Random(7)
    return {
        str(at): " ".join(draw.choices(words, k=draw.randrange(most + 1))) for at in range(count)
    }


@pytest.mark.parametrize("least", [None, 0.3, 1.0])
def test_similarities_are_those_of_whole_collections(
    solr: nd.Collection, least: float | None
) -> None:
    """One document's hits are compared as all pairs are, whatever the measure."""
    invented = invent(["a", "ab", "abbey", "Street", "st", "ü"], 8, 30)
    # Copies would count once in the frequencies of words of the one, and each in the other.
    texts = {id: text for text, id in {text: id for id, text in invented.items() if text}.items()}
    index(solr, texts)
    for measure in MEASURES:
        pairs = nd.duplicates(solr, by="all", measure=measure, min_similarity=least).pairs
        expected: dict[str, dict[str, Any]] = {id: {} for id in texts}
        for pair in pairs:
            alike = (pair.distance, pytest.approx(pair.similarity))
            expected[pair.id][pair.other_id] = expected[pair.other_id][pair.id] = alike
        for id in texts:
            found = nd.search(solr, id=id, measure=measure, min_similarity=least, **ALL)
            alike_by_id = {match.id: (match.distance, match.similarity) for match in found}
            shares = {other for other in texts if {*texts[id].split()} & {*texts[other].split()}}
            wanted = {other: one for other, one in expected[id].items() if other in shares}
            assert alike_by_id == wanted, (measure, id)


@pytest.mark.parametrize("left_out", [set(), {"num_words"}], ids=["usual", "no numbers of words"])
def test_only_what_cannot_be_near_is_passed_over(solr: nd.Collection, left_out: set[str]) -> None:
    """No text within the limits is judged away by its number of words, nor without one."""
    texts = invent(["a", "b", "c"], 7, 30)
    index(solr, texts, nd.Settings(shingle_size=1, fields=nd.Settings().fields - left_out))
    for most in range(5):
        for id, text in texts.items():
            found = nd.search(solr, id=id, max_distance=most, **ALL)
            near = {
                other: distance
                for other, words in texts.items()
                if other != id and {*text.split()} & {*words.split()}
                and (distance := Levenshtein.distance(text.split(), words.split())) <= most
            }  # fmt: skip
            assert {match.id: match.distance for match in found} == near


@pytest.mark.parametrize(
    "measure", [each for each in MEASURES if each not in ("estimate", "passages")]
)
def test_numbers_of_words_judge_nothing_but_words(
    solr: nd.Collection, measure: nd.types.MeasureName
) -> None:
    """A long text may hold a short one: only edits of words are bounded by the lengths."""
    index(solr, {"long": " ".join(["one two three", *(f"w{at}" for at in range(147))])})
    limit = {"max_distance": 2} if measure == "words" else {"min_similarity": 0.001}
    found = search(solr, "one two three", measure=measure, **limit)
    assert [match.id for match in found] == ([] if measure == "words" else ["long"])
