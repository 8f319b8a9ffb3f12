"""A SolrCloud as it describes itself, and which of its nodes are asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from neardup_solr.errors import SolrUnreachable
from neardup_solr.solr.cloud import Shard, SolrCluster, cluster_of, parse_cluster
from neardup_solr.solr.collection import open_collection
from neardup_solr.solr.nodes import Nodes
from neardup_solr.solr.session import open_session
from tests.faults.scripted import Answer, answering
from tests.refusals import refusal

ONE, TWO = "http://a:8983/solr", "http://b:8983/solr"


def told(**router: object) -> dict[str, object]:
    """What Solr tells of a cluster of two nodes, one of which does not live."""
    replica = {"state": "active", "base_url": ONE, "core": "jobs_1", "node_name": "a:8983_solr"}
    dead = replica | {"base_url": TWO, "node_name": "b:8983_solr", "leader": "true"}
    shard = {"state": "active", "replicas": {"1": replica, "2": dead}}
    old = shard | {"state": "inactive"}
    jobs = {"router": router, "shards": {"s1": shard, "old": old}}
    return {"live_nodes": ["a:8983_solr"], "collections": {"jobs": jobs}}


def test_a_cluster_is_understood() -> None:
    """Replicas on nodes that do not live count for nothing, split shards for nothing either."""
    found = parse_cluster(told(name="compositeId"), "jobs", "http")
    assert found.nodes == (ONE,)
    [shard] = found.shards
    assert (shard.name, shard.leader) == ("s1", None)
    assert shard.replicas == (f"{ONE}/jobs_1",)


def test_what_lets_one_id_get_into_several_shards_is_told() -> None:
    """A router of its own, or a field that decides instead of the id."""
    alias = parse_cluster(told(name="compositeId"), "an alias", "http")
    assert [one.name for one in alias.shards] == ["s1"]
    assert not alias.misplacing
    by_hand = parse_cluster(told(name="implicit"), "an alias", "http")
    assert "'implicit'" in by_hand.misplacing
    by_field = parse_cluster(told(name="compositeId", field="shop"), "jobs", "http")
    assert "'shop'" in by_field.misplacing
    assert parse_cluster("no cluster", "jobs", "http") == SolrCluster()


def test_an_alias_of_several_is_told() -> None:
    """Also one of aliases, of which Solr lists no collection; a circle ends."""
    listed = told(name="compositeId")
    aliases = {"both": "jobs, toys", "all": "both,more", "one": "jobs", "a": "b", "b": "a"}
    for name, several in (("both", ("jobs", "toys")), ("all", ("jobs", "toys", "more")),
                          ("one", ("jobs",)), ("jobs", ()), ("a", ("a",))):  # fmt: skip
        found = parse_cluster(listed | {"aliases": aliases}, name, "http")
        assert found.alias_of == several


@pytest.mark.parametrize(
    "cluster",
    [b"7", b"[]", b'{"collections": {"x": {"shards": []}}}', b'{"live_nodes": 3}',
     b'{"collections": {"x": {"shards": {"s": {"state": "active", "replicas": {"r": {"state":'
     b'"active", "node_name": "a"}}}}}}, "live_nodes": ["a"]}'],
)  # fmt: skip
def test_what_is_no_cluster_is_empty(cluster: bytes) -> None:
    """A server that answers something else has no shards."""
    body = b'{"responseHeader": {"status": 0}, "cluster": %s}' % cluster
    with answering(Answer(body=body)) as (address, _):
        solr = open_collection(address, "x")
        found = cluster_of(solr.session.once, solr.base, "x")
    assert not found.shards


def nodes(given: str, *others: str, has_secrets: bool = False) -> list[str]:
    """The addresses that a request for the collection is sent to."""
    made = Nodes(given, has_secrets=has_secrets)
    made.learn(others)
    return list(made.in_turn(f"{given}/jobs/select"))


def test_each_node_is_asked_in_turn() -> None:
    """The next one, if one does not answer; that which did is asked first next time."""
    made = Nodes(ONE, has_secrets=False)
    made.learn([ONE, TWO])
    url = f"{ONE}/jobs/select"
    assert list(made.in_turn(url)) == [url, f"{TWO}/jobs/select"]
    for place in made.in_turn(url):
        if place != url:
            break  # it answered
    assert next(made.in_turn(url)) == f"{TWO}/jobs/select"
    made.next_node()
    assert next(made.in_turn(url)) == url
    made.learn([])
    assert list(made.in_turn(url)) == [url]


def test_a_password_goes_nowhere_that_the_address_would_not_let_it() -> None:
    """Not from this machine to others in plain text, and never from TLS to plain text."""
    near, far = "http://127.0.0.1:8983/solr", "http://a:8983/solr"
    assert len(nodes(near, far)) == 2
    assert len(nodes(near, far, has_secrets=True)) == 1
    assert len(nodes(near, "http://127.0.0.1:8984/solr", has_secrets=True)) == 2
    assert len(nodes("https://a:8983/solr", far)) == 1
    assert len(nodes("https://a:8983/solr", "https://b:8983/solr", has_secrets=True)) == 2


def test_no_password_is_sent_where_it_may_not_go() -> None:
    """Not even if the cluster names that place as the one of a shard."""
    with answering(Answer(body=b"{}")) as (address, asked):
        session = open_session("https://me:secret@solr.example/solr")
        session.nodes = Nodes("https://solr.example/solr", has_secrets=True)
        with refusal(SolrUnreachable, "solr-unreachable"):
            list(session.pieces(f"{address}/x/export", {}))
    assert not asked


def test_nobodys_password_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """~/.netrc may have one for a host that the cluster names; the user did not name that host."""
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    with answering(Answer(body=b'{"responseHeader": {"status": 0}}')) as (address, _):
        session = open_session("http://solr.example:8983/solr")
        session.nodes = Nodes("http://solr.example:8983/solr", has_secrets=False)
        answered = session.get(f"{address}/x/select")
    assert "Authorization" not in answered.request.headers


@pytest.mark.parametrize(
    ("leader", "other", "expected"),
    [
        ({"1": 9, "2": 9}, {"1": 9, "2": 9}, 2),
        ({"1": 9, "2": 9}, {"1": 9, "2": 8}, 1),  # it has an older version
        ({"1": 9, "2": 9}, {"1": 9}, 1),
        ({"1": 9, "2": 9}, None, 1),
        ({"1": 9}, {"1": 9, "2": 9}, 0),  # a leader that has lost one
        (None, {"1": 9, "2": 9}, 0),
    ],
)
def test_replicas_count_if_they_have_all_of_it(
    leader: dict[str, int] | None, other: dict[str, int] | None, expected: int
) -> None:
    """In the version that is required, and none that cannot be asked."""
    shard = Shard(name="s", leader="a", replicas=("a", "b"), size=2)
    found = SolrCluster(nodes=(), shards=(shard,))
    assert found.copies({"1": 9, "2": 9}, {"a": leader, "b": other}.get) == expected


def test_other_addresses_are_asked_as_they_are() -> None:
    """That of a shard's replica, for one."""
    made = Nodes(ONE, has_secrets=False)
    made.learn([TWO])
    replica = f"{TWO}/jobs_2/export"
    assert list(made.in_turn(replica)) == [replica]
