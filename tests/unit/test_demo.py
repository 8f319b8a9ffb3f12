"""The demo corpus is consistent, and hard enough to be instructive."""

from __future__ import annotations

from itertools import combinations

from rapidfuzz.distance import Levenshtein

from neardup_solr import demo
from neardup_solr.sources import Reading, open_source
from neardup_solr.text.normalize import normalize
from neardup_solr.text.shingles import word_shingles
from neardup_solr.verbs.evaluate import evaluate_pairs

KEEPING = Reading(keep=("city", "kind"))
DOCUMENTS = {found.id: found for found in open_source(demo.listings(), KEEPING).documents()}
PAIRS = [
    (found.id, found.text)
    for found in open_source(demo.pairs(), Reading(text=("other_id",))).documents()
]


def test_ids_are_unique_and_of_two_guides() -> None:
    """Each line of the listings has an id of its own, in one of two guides of similar size."""
    lines = demo.listings().read_text(encoding="utf-8").splitlines()
    assert len(DOCUMENTS) == len(lines) - 1
    guides = [id.partition("-")[0] for id in DOCUMENTS]
    assert set(guides) == {"lantern", "wayfarer"}
    assert 0.4 < guides.count("lantern") / len(guides) < 0.6


def test_counts_are_those_of_the_documentation() -> None:
    """About 400 listings with 60 pairs, each with a text, a city and a kind."""
    assert (len(DOCUMENTS), len(PAIRS)) == (404, 60)
    assert all(found.text and set(found.kept) == {"city", "kind"} for found in DOCUMENTS.values())
    assert sum(not found.text.isascii() for found in DOCUMENTS.values()) >= 80


def test_pairs_refer_to_listings_in_order() -> None:
    """Pairs name two different listings of one city and kind, sorted, each once."""
    assert sorted(set(PAIRS)) == PAIRS
    for id, other_id in PAIRS:
        assert id < other_id
        assert DOCUMENTS[id].kept == DOCUMENTS[other_id].kept


def test_the_demo_finds_most_pairs_and_few_false_ones() -> None:
    """Shared shingle, same first word, at most 3 words apart: recall about 0.8, precision > 0.9."""
    normal = {id: normalize(found.text) for id, found in DOCUMENTS.items()}
    split = {id: text.split() for id, text in normal.items()}
    shingles = {id: set(word_shingles(text, 3)) for id, text in normal.items()}
    found = [
        (one, other)
        for one, other in combinations(DOCUMENTS, 2)
        if split[one][0] == split[other][0]
        and not shingles[one].isdisjoint(shingles[other])
        and Levenshtein.distance(split[one], split[other]) <= 3
    ]
    evaluation = evaluate_pairs(PAIRS, found)
    assert (evaluation.found, evaluation.right, evaluation.known) == (52, 49, 60)
    assert (round(evaluation.precision, 2), round(evaluation.recall, 2)) == (0.94, 0.82)
