"""What documents of a collection are to each other, by the texts that are compared."""

from __future__ import annotations

from pathlib import Path

import pytest

import neardup_solr as nd

WORDS = [
    "alfa", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india",
    "juliett", "kilo", "lima", "mike", "november", "oscar", "papa", "quebec",
    "romeo", "sierra", "tango",
]  # fmt: skip
TEXTS = {"1": WORDS, "2": WORDS, "3": [*WORDS[:19], "zulu"], "4": WORDS[:12]}


@pytest.fixture
def texts(solr: nd.Collection) -> list[nd.Document]:
    """Documents that are in the collection, too."""
    documents = [nd.Document(id=id, text=" ".join(words)) for id, words in TEXTS.items()]
    nd.index(documents, solr)
    return documents


@pytest.mark.parametrize("measure", ["words", "jaccard", "containment", "passages"])
@pytest.mark.parametrize("by", ["all", "words"])
def test_a_collection_has_the_relations_of_its_texts(
    solr: nd.Collection, texts: list[nd.Document], measure: nd.types.MeasureName, by: nd.types.Way
) -> None:
    """Copies, which are compared once, included."""
    stored = nd.duplicates(solr, measure=measure, by=by)
    assert stored.pairs == nd.duplicates(texts, measure=measure, by=by).pairs
    assert {pair.relation for pair in stored} > {"copy"}


def test_two_sides_have_the_relations_of_their_texts(
    solr: nd.Collection, texts: list[nd.Document]
) -> None:
    """A source against a collection."""
    found = nd.duplicates(texts[3:], against=solr, measure="words")
    related = {(pair.other_id, pair.relation) for pair in found}
    assert related == {("1", "part of"), ("2", "part of"), ("3", "part of"), ("4", "copy")}


def test_remembered_pairs_have_their_relations(
    solr: nd.Collection, texts: list[nd.Document], tmp_path: Path
) -> None:
    """The texts of documents that were there before are not read."""
    first = nd.duplicates(solr, remember=tmp_path / "known", measure="words")
    nd.index([nd.Document(id="5", text=" ".join(WORDS[:16]))], solr)
    again = nd.duplicates(solr, remember=tmp_path / "known", measure="words")
    assert again.since is not None
    assert again.since.reused == 6
    assert again.pairs == nd.duplicates(solr, measure="words").pairs
    assert {pair.relation for pair in first} == {"copy", "edited", "contains"}


def test_signatures_tell_no_relation(solr: nd.Collection, texts: list[nd.Document]) -> None:
    """By estimates no texts are read, so how long they are is not known."""
    found = nd.duplicates(solr, measure="estimate")
    assert {pair.relation for pair in found} == {None}
    assert found.to_arrow()["relation"].null_count == len(found)
