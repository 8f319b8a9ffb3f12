"""A SolrCloud whose nodes come and go."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import neardup_solr as nd
from tests.refusals import refusal
from tests.solr import api
from tests.solr import nodes as cloud
from tests.solr.cloud import CloudFolder, empty, nodes, with_jars


@pytest.fixture(scope="module")
def folder(home: Path, tmp_path_factory: pytest.TempPathFactory) -> CloudFolder:
    """A folder for a cloud, with the jars."""
    return CloudFolder(with_jars(home, tmp_path_factory.mktemp("cloud")))


@pytest.fixture
def joined(
    one_cloud: str, cloud_home: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[CloudFolder]:
    """The cloud of all tests, whose second node is soon noticed to be away, and gone afterwards."""
    folder = CloudFolder(cloud_home)
    monkeypatch.setitem(cloud._COMMON, "zkClientTimeout", "5000")
    try:
        yield folder
        empty(one_cloud)
    finally:
        folder.end(2)


def test_a_node_that_is_away_is_not_missed(joined: CloudFolder) -> None:
    """Any node is an address; searches and updates go to the nodes that live."""
    running = joined.start(2)
    first, second = running.nodes
    assert cloud.collections(running) == {}
    solr = nd.connect(second, "two")
    assert nd.init(solr, shards=2, replicas=2).is_created
    other = nd.connect(first, "two")
    texts = [f"number {n} of the {n % 7} old lamps in the street" for n in range(60)]
    assert nd.index(list(enumerate(texts[:30])), other, min_replicas=2).indexed == 30
    assert solr.count() == 30
    # Until the cluster notices it, Solr drops what is for a shard that this node leads.
    make_leader(solr, second)
    joined.kill(2)
    assert nd.search(solr, text=texts[3], by="bands")[0].id == "3"
    done = nd.index([(n, texts[n]) for n in range(30, 60)], solr, patience=60)
    assert (done.indexed, solr.count()) == (30, 60)
    with refusal(nd.SolrUnreachable, "solr-unreachable", "1 of 2"):
        nd.index([(7, texts[7])], solr, patience=1, min_replicas=2)
    again = joined.start(2)
    assert again.nodes == running.nodes
    assert nd.index([(7, texts[7])], solr, patience=60, min_replicas=2).indexed == 1
    with refusal(nd.ArgumentError, "argument-out-of-range", "'two'", "2 replicas"):
        nd.index([(7, texts[7])], solr, min_replicas=3)
    assert cloud.collections(again) == {"two": 60}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("update", "query"),
    [
        (lambda solr: nd.mark(solr, nd.duplicates(solr), yes=True), "neardup_cluster:[* TO *]"),
        (nd.strip, "-md5_hash:*"),
    ],
    ids=["mark", "strip"],
)
def test_updates_wait_until_a_lost_leader_is_noticed(
    update: Callable[[nd.Collection], object], query: str, folder: CloudFolder
) -> None:
    """Until then Solr drops what is for its shards."""
    with nodes(folder.home, 2) as running:
        first, second = running.nodes
        solr = nd.connect(first, "three")
        nd.init(solr, shards=2, replicas=2)
        texts = [f"number {n} of the {n % 7} old lamps in the street" for n in range(30)]
        nd.index(list(enumerate(texts)), solr, min_replicas=2)
        make_leader(solr, second)
        folder.kill(2)
        update(solr)
        solr.commit()
        assert (solr.count([query]), solr.count()) == (30, 30)


def make_leader(solr: nd.Collection, node: str) -> None:
    """Make a node of a cloud the leader of all shards."""

    def ask(action: str, **params: str) -> dict[str, Any]:
        params |= {"action": action, "collection": solr.name}
        return api.admin(solr.base, "collections", **params)

    def shards() -> dict[str, Any]:
        found = ask("CLUSTERSTATUS")["cluster"]["collections"][solr.name]["shards"]
        return {
            shard: next(
                (name, replica)
                for name, replica in state["replicas"].items()
                if replica["base_url"] == node
            )
            for shard, state in found.items()
        }

    for shard, (name, _) in shards().items():
        preferred = {"property": "preferredLeader", "property.value": "true"}
        ask("ADDREPLICAPROP", shard=shard, replica=name, **preferred)
    until = time.monotonic() + 60
    while not all(replica.get("leader") == "true" for _, replica in shards().values()):
        assert time.monotonic() < until, shards()
        ask("REBALANCELEADERS", maxWaitSeconds="5")


@pytest.mark.parametrize(
    ("router", "said"),
    [
        ({"router.name": "implicit", "shards": "a,b"}, "the router 'implicit'"),
        ({"router.field": "town_s", "numShards": "2"}, "the router.field 'town_s'"),
    ],
)
def test_a_router_that_does_not_go_by_the_id_is_refused(
    cloud: str, router: dict[str, str], said: str
) -> None:
    """There Solr would put the same id into several shards."""

    nd.init(nd.connect(cloud, "usual"))
    name = f"routed_by_{len(router)}_{router.get('router.name', 'a_field')}"
    params = {"action": "CREATE", "name": name, "collection.configName": "neardup", **router}
    solr = nd.connect(cloud, name)
    api.admin(cloud, "collections", **params)
    with refusal(nd.SettingsError, "collection-unfit", said, "neardup init"):
        nd.index([{"id": "1", "text": "a b c", "town_s": "Oslo"}], solr, keep="town_s")
    with refusal(nd.SettingsError, "collection-unfit", said):
        list(nd.gate([("1", "a b c")], solr, index=True))
    for update in (
        partial(nd.mark, clusters=()),
        nd.annotate,
        nd.strip,
    ):  # each asks by itself what Solr this is
        with refusal(nd.SettingsError, "collection-unfit", said):
            update(nd.connect(cloud, name))
    with refusal(nd.SettingsError, "collection-unfit", said):
        nd.reband(nd.connect(cloud, name), bands=20, rows=6)
    assert nd.delete(nd.connect(cloud, name), ["1"]) == 0
    [danger] = nd.lint(nd.connect(cloud, name)).dangers
    assert (danger.rule, said in danger.reason) == ("router", True)
    assert danger.remedy.endswith(f"neardup annotate {nd.connect(cloud, name).place} --into OTHER")
