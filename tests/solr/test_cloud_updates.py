"""What a real SolrCloud tells of documents that are sent to any of its nodes."""

from __future__ import annotations

import neardup_solr as nd
from tests.refusals import refusal


def test_what_is_passed_on_has_to_become_newer(cloud: str) -> None:
    """The version that a document had is what its new one is told by."""
    solr = nd.connect(cloud, "passed_on")
    nd.init(solr, shards=2)
    ids = [str(n) for n in range(10)]
    first = solr.take([b'{"id": "%d", "content": "x"}' % n for n in range(10)], ids)
    assert solr.count() == 0  # which tells that it is a cloud
    solr.commit()
    taken = solr.take([b'{"id": "%d", "content": "y"}' % n for n in range(5, 15)],
                      [str(n) for n in range(5, 15)])  # fmt: skip
    before = solr.versions(ids)
    assert taken.versions.keys() == {str(n) for n in range(5, 15)}
    assert all(taken.versions[id] > before[id] >= first.versions.get(id, 0) for id in ids[5:])
    assert all(taken.versions[str(n)] > 0 for n in range(10, 15))
    solr.commit()
    after = solr.versions(list(taken.versions))
    assert all(after[id] >= version for id, version in taken.versions.items())


def test_what_a_cloud_refuses_is_told(cloud: str) -> None:
    """As on one core: the document, and why."""
    solr = nd.connect(cloud, "refused")
    nd.init(solr, shards=2)
    assert solr.count() == 0
    name = "content", "price_i"  # a number
    jsons = [b'{"id": "%d", "%s": "x"}' % (n, name[n == 7].encode()) for n in range(20)]
    taken = solr.take(jsons, [str(n) for n in range(20)])
    assert [one.id for one in taken.refused] == ["7"]
    solr.commit()
    assert solr.count() == 19


def test_other_settings_in_another_shard_are_refused(cloud: str) -> None:
    """As they are on one core: signatures of different settings say nothing of each other."""
    solr = nd.connect(cloud, "mixed")
    nd.init(solr, shards=4)
    fingerprints = [nd.Settings(seed=seed).fingerprint for seed in (1, 2)]
    documents = [{"id": f"{n}", "content": "x", "signature_settings": fingerprints[n % 2]}
                 for n in range(2)]  # fmt: skip
    assert solr.add(documents) == ()
    solr.commit()
    with refusal(nd.SettingsError, "settings-differ"):
        nd.search(solr, text="x", by="bands")
    with refusal(nd.SettingsError, "settings-differ"):
        nd.index([("3", "a b c")], solr)
