"""Documents go to the leader of their shard, as a real SolrCloud parts them."""

from __future__ import annotations

import random

import pytest

import neardup_solr as nd
from neardup_solr.solr import collection
from neardup_solr.solr.answers import answer
from neardup_solr.solr.cluster import cluster_of
from neardup_solr.solr.routing import hash_of

ODD = ["a!b", "a!b!c", "!y", "a!!b", "!!", "a!b!", "a!b!c!d", "é!ü", "漢字", "𝒳!a", "a/b", "!a!b",
       "a!!", "!a!", "a b!c", "ab", "!a", "a\x00b!c"]  # fmt: skip


def test_the_shard_of_an_id_is_the_one_that_solr_finds(cloud: str) -> None:
    """Plain ids and those with `!`, odd ones among them."""
    solr = collection.open_collection(cloud, "routed")
    nd.init(solr, shards=4)
    draw = random.Random(14)
    parts = ["".join(draw.choices("abcäß漢/ -.", k=draw.randint(1, 6))) for _ in range(900)]
    ids = {*ODD, *parts[:300]}
    ids |= {f"{one}!{other}" for one, other in zip(parts[:300], parts[300:600], strict=True)}
    ids |= {"!".join(some) for some in zip(parts[:300], parts[300:600], parts[600:], strict=True)}
    assert solr.add([{"id": id, "content": "x"} for id in sorted(ids)]) == ()
    solr.commit()
    params = {"q": "*:*", "fl": "id,shard:[shard]", "rows": "2000"}
    told = answer(solr.session.get(f"{solr.url}/select", params=params))["response"]["docs"]
    where = {one["id"]: one["shard"] for one in told}
    assert where.keys() == ids
    cluster = cluster_of(solr.session, solr.base, solr.name)
    assert cluster is not None
    known = {id: hashed for id in ids if (hashed := hash_of(id)) is not None}
    assert len(known) > 600
    for shard in cluster.shards:
        assert shard.range is not None
        own = {id for id, hashed in known.items() if hashed in shard.range}
        assert {where[id] for id in own} == {shard.name}


def test_leaders_take_the_documents_and_tell_their_versions(cloud: str) -> None:
    """A node that passes documents on tells no version; their leader does."""
    solr = collection.open_collection(cloud, "led")
    nd.init(solr, shards=2)
    assert solr.count() == 0
    assert solr.session.nodes.is_cloud
    ids = [str(n) for n in range(50)]
    taken = solr.take([b'{"id": "%d", "content": "x"}' % n for n in range(50)], ids)
    assert taken.refused == ()
    assert sorted(taken.versions) == sorted(ids)
    assert min(taken.versions.values()) > 0
    solr.commit()
    assert solr.versions(ids) == dict(taken.versions)
    assert solr.seen(ids, min(taken.versions.values())) == 50


def test_what_is_passed_on_has_to_become_newer(cloud: str) -> None:
    """Where no leader is known, the version that a document had is what its new one is told by."""
    solr = collection.open_collection(cloud, "passed_on")
    nd.init(solr, shards=2)
    ids = [str(n) for n in range(10)]
    first = solr.take([b'{"id": "%d", "content": "x"}' % n for n in range(10)], ids)
    assert solr.count() == 0  # which tells that it is a cloud
    solr.commit()
    solr._leaders._ask = lambda: None  # type: ignore[method-assign]
    taken = solr.take([b'{"id": "%d", "content": "y"}' % n for n in range(5, 15)],
                      [str(n) for n in range(5, 15)])  # fmt: skip
    before = solr.versions(ids)
    assert taken.versions.keys() == {str(n) for n in range(5, 15)}
    assert all(taken.versions[id] > before[id] >= first.versions.get(id, 0) for id in ids[5:])
    assert all(taken.versions[str(n)] > 0 for n in range(10, 15))
    solr.commit()
    after = solr.versions(list(taken.versions))
    assert all(after[id] >= version for id, version in taken.versions.items())


def test_what_a_leader_refuses_is_told(cloud: str) -> None:
    """As on one core: the document, and why."""
    solr = collection.open_collection(cloud, "refused")
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
    solr = collection.open_collection(cloud, "mixed")
    nd.init(solr, shards=4)
    fingerprints = [nd.Settings(seed=seed).fingerprint for seed in (1, 2)]
    documents = [{"id": f"{n}", "content": "x", "signature_settings": fingerprints[n % 2]}
                 for n in range(2)]  # fmt: skip
    assert solr.add(documents) == ()
    solr.commit()
    with pytest.raises(nd.SettingsError, match="settings"):
        nd.search(solr, text="x", by="bands")
    with pytest.raises(nd.SettingsError, match="settings"):
        nd.index([("3", "a b c")], solr)
