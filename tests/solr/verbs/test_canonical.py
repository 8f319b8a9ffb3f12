"""The canonical documents of a collection: of equals, the first id in natural order."""

from __future__ import annotations

import neardup_solr as nd


def test_first_is_the_natural_order(solr: nd.Collection) -> None:
    """Numbers by their value, before names; also where a field is equal, or nobody has it."""
    text = "the old mill by the river"
    nd.index([nd.Document(id=id, text=text, kept={"n_i": 7}) for id in ("10", "9", "b", "a")], solr)
    for rule in ("first", "longest", "oldest:n_i", "n_i=7"):
        [cluster] = nd.duplicates(solr, canonical=rule).clusters
        assert cluster.canonical == "9", rule
    nd.delete(solr, ["9", "10"])
    [cluster] = nd.duplicates(solr, canonical="first").clusters
    assert cluster.canonical == "a"


def test_newest_of_a_collection(solr: nd.Collection) -> None:
    """It is the document that was changed last, or has the latest date in a field."""
    text = "the old mill by the river"
    days = {"1": "2023-05-01", "2": "2024-01-01", "3": "2022-01-01"}
    for id, day in days.items():
        nd.index([nd.Document(id=id, text=text, kept={"day_s": day})], solr)
    chosen = [
        nd.duplicates(solr, canonical=rule).clusters[0].canonical
        for rule in ("newest", "newest:day_s", "oldest")
    ]
    assert chosen == ["3", "2", "1"]
