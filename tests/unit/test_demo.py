"""The demo corpus is consistent, and hard enough to be instructive."""

from __future__ import annotations

import neardup_solr as nd
from neardup_solr import demo

DOCUMENTS = {found.id: found for found in nd.read(demo.listings(), keep=("city", "kind"))}
PAIRS = [(found.id, found.text) for found in nd.read(demo.pairs(), text="other_id")]


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
    """At most 3 words apart: recall and precision above 0.9, and neither is 1."""
    result = nd.duplicates(demo.listings(), measure="words", max_distance=3)
    evaluation = nd.evaluate(demo.pairs(), result)
    assert (evaluation.found, evaluation.right, evaluation.known) == (58, 55, 60)
    assert (round(evaluation.precision, 2), round(evaluation.recall, 2)) == (0.95, 0.92)
