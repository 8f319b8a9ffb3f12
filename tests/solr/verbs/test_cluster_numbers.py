"""The numbers that `mark` gives to clusters, on a real Solr."""

from __future__ import annotations

import pytest
import requests

import neardup_solr as nd


def cluster(id: str) -> nd.Cluster:
    """A cluster of two documents, named after the first."""
    members = tuple(nd.types.Member(id=each, similarity=1.0, distance=0) for each in (id, f"{id}b"))
    return nd.Cluster(id=id, canonical=id, members=members, pairs=1, diameter=1, bridges=())


def mark(solr: nd.Collection, *ids: str) -> dict[str, int]:
    """Mark clusters of these ids, and give the number that Solr has of each."""
    nd.mark(solr, [cluster(id) for id in ids])
    solr.commit()
    asked = {"q": f"id:({' '.join(ids)})", "fl": "id,neardup_cluster"}
    found = requests.get(f"{solr.url}/select", asked, timeout=30).json()["response"]["docs"]
    return {document["id"]: document["neardup_cluster"] for document in found}


@pytest.fixture
def filled(solr: nd.Collection) -> nd.Collection:
    """A collection with two documents for each cluster."""
    ids = [f"{id}{end}" for id in ("x", "9", "doc1", "8525", "48462") for end in ("", "b")]
    nd.index([nd.Document(id=id, text=f"text {id}") for id in ids], solr)
    return solr


def test_numbers_stay(filled: nd.Collection) -> None:
    """Numbers of clusters are stored, so they are pinned; each is its own in any company."""
    numbers = {"9": 306574160, "doc1": 1818716954, "x": 525159821}
    assert mark(filled, *numbers) == numbers
    assert mark(filled, "9") == {"9": numbers["9"]}


def test_numbers_that_collide(filled: nd.Collection) -> None:
    """Of two ids with one hash the first by code point keeps it, the other takes the next seed."""
    assert mark(filled, "8525") == {"8525": 418331794}
    assert mark(filled, "48462") == {"48462": 418331794}
    both = mark(filled, "8525", "48462")
    assert both["48462"] == 418331794
    assert both["8525"] not in (418331794, 0)
