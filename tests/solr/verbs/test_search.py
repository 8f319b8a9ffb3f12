"""Searches by bands on a collection that stays open: one request, and the same answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import neardup_solr as nd
from tests.faults.scripted import Answer
from tests.refusals import refusal
from tests.solr.families import families
from tests.solr.front import front

FOX = "the quick brown fox jumps over the lazy dog in the park near the old mill"


CRITERIA: list[dict[str, Any]] = [
    {"by": "bands"},
    {"by": "bands", "candidates": 2},
    {"by": "bands", "candidates": 1, "max_distance": 2},
    {"by": "bands", "fq": ("half_i:1",)},
    {"by": "bands", "measure": "jaccard", "min_similarity": 0.3},
    {"by": "bands", "measure": "containment"},
    {"by": "bands", "measure": "aligned"},
    {"by": "bands", "measure": "estimate", "candidates": 3},
    {"by": "bands", "same": ("first_word",)},
]


@pytest.mark.parametrize("criteria", CRITERIA, ids=str)
def test_an_open_collection_answers_the_same(solr: nd.Collection, criteria: dict[str, Any]) -> None:
    """A search by one request gives what the first search of a fresh connection gives."""
    documents = families(80, 11, copied=0.8, wordless=("", "\u200b"))
    nd.index(documents, solr)
    found = 0
    nd.search(solr, text=FOX, **criteria)
    for document in documents[::4]:
        fresh = nd.search(solr.with_names(solr.names), id=document.id, **criteria)
        assert nd.search(solr, id=document.id, **criteria) == fresh
        changed = f"{document.text} more"
        fresh = nd.search(solr.with_names(solr.names), text=changed, **criteria)
        assert nd.search(solr, text=changed, **criteria) == fresh
        found += len(fresh)
    assert found > 0


@pytest.mark.parametrize(("by", "most"), [("bands", 1), ("md5", 1), ("shingles", 2)])
def test_one_request_does(solr: nd.Collection, by: nd.types.By, most: int) -> None:
    """Once the settings were met, a search needs no other request, and one for texts at most."""
    nd.index([nd.Document(id=str(n), text=f"{FOX} {n}") for n in range(5)], solr)
    requests: list[str] = []

    def note(path: str, body: bytes, answer: Callable[[], Answer]) -> Answer:
        requests.append(path)
        return answer()

    with front(solr.base, between=note) as address:
        passing = nd.connect(address, solr.name)
        requests.clear()
        first = nd.search(passing, text=f"{FOX} 3", by=by)
        assert (first[0].id, first[0].distance) == ("3", 0)
        assert len(requests) > most
        for candidates in (100, 1):
            requests.clear()
            best = nd.search(passing, text=f"{FOX} 3", by=by, candidates=candidates)
            assert best == first[:candidates]
            assert len(requests) == most


def test_other_settings_are_noticed(solr: nd.Collection) -> None:
    """Whatever others do to a collection, a search goes by the settings that it has now."""
    criteria: dict[str, Any] = {"by": "bands"}
    nd.index([nd.Document(id="1", text=FOX)], solr)
    assert nd.search(solr, text=FOX, **criteria)
    elsewhere = solr.with_names(solr.names)
    nd.delete(elsewhere, query="*:*")
    with refusal(nd.SettingsError, "collection-empty"):
        nd.search(solr, text=FOX, **criteria)
    nd.index([nd.Document(id="2", text=FOX)], elsewhere, settings=nd.Settings(shingle_size=2))
    assert [match.id for match in nd.search(solr, text=FOX, **criteria)] == ["2"]
    solr.add([{"id": "3", "content": FOX, "signature_settings": nd.Settings().fingerprint}])
    solr.commit()
    with refusal(nd.SettingsError, "settings-differ"):
        nd.search(solr, text=FOX, **criteria)
    # Documents of another program have no settings, and are nobody's near-duplicates by bands.
    nd.delete(elsewhere, ids=["3"])
    solr.add([{"id": "4", "content": FOX}])
    solr.commit()
    assert [match.id for match in nd.search(solr, text=FOX, **criteria)] == ["2"]


def test_the_usual_way_of_a_collection_is_taken(solr: nd.Collection) -> None:
    """Where a collection has no shingles, bands are its way, in one request as in several."""
    fields = frozenset({"content", "content_bands", "signature"})
    nd.index([nd.Document(id="1", text=FOX)], solr, settings=nd.Settings(fields=fields))
    first, second = nd.search(solr, text=FOX), nd.search(solr, text=FOX)
    assert first == second
    assert (first[0].id, first[0].shared, first[0].content) == ("1", 42, FOX)


def test_an_id_may_be_a_whole_number(solr: nd.Collection) -> None:
    """It stands for its text, as in a source."""
    nd.index([(1, "one two three four"), (2, "one two three five")], solr)
    assert nd.search(solr, id=1, by="bands") == nd.search(solr, id="1", by="bands")
    assert [match.id for match in nd.search(solr, id=1)] == ["2"]
