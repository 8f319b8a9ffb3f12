"""Every verb works on an alias, as it does on the collection that it stands for."""

from __future__ import annotations

import pytest

import neardup_solr as nd
from neardup_solr.solr.answers import answer

WORDS = [
    "the",
    "old",
    "lamps",
    "of",
    "the",
    "street",
    "were",
    "lit",
    "by",
    "nobody",
    "knows",
    "whom",
    "in",
    "the",
    "evening",
]
TEXTS = [" ".join(WORDS[n % 5 :]) + f" number {n // 2}" for n in range(40)]


@pytest.fixture(scope="module")
def alias(cloud: str) -> nd.Collection:
    """An alias of a collection of two shards."""
    nd.init(nd.connect(cloud, "jobs_2026"), shards=2)
    solr = nd.connect(cloud, "jobs_2026")
    params = {"action": "CREATEALIAS", "name": "jobs", "collections": solr.name}
    answer(solr.session.get(f"{cloud}/admin/collections", params=params))
    return nd.connect(cloud, "jobs")


def test_each_verb_takes_an_alias(alias: nd.Collection) -> None:
    """From the first document to the last."""
    assert not nd.init(alias).is_created
    done = nd.index(list(enumerate(TEXTS)), alias, min_replicas=1)
    assert (done.indexed, alias.count()) == (40, 40)
    assert nd.search(alias, text=TEXTS[7], by="bands")[0].distance == 0
    assert nd.search(alias, id="7", by="shingles")
    pairs = nd.duplicates(alias, by="bands", measure="jaccard", min_similarity=0.5).pairs
    alone = nd.duplicates(
        list(enumerate(TEXTS)), by="bands", measure="jaccard", min_similarity=0.5
    ).pairs
    assert pairs == alone
    assert nd.report(alias, by="bands").pairs
    assert nd.explain(alias, "0", "1").facts.shared_bands
    assert nd.tune(alias, catch=0.8)
    decisions = list(nd.gate([("new", TEXTS[3])], alias, index=True))
    assert [one.action for one in decisions] == ["reject"]
    nd.mark(alias, nd.duplicates(alias, by="bands"))
    nd.unmark(alias)
    assert nd.reband(alias, bands=20, rows=6) == 40
    assert nd.search(alias, text=TEXTS[7], by="bands")
    assert nd.doctor(alias)
    assert nd.lint(alias)
    assert nd.delete(alias, ids=["0", "1"]) == 2
    assert alias.count() == 38
