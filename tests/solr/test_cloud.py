"""The main path on SolrCloud: init uploads the configset and creates a sharded collection."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import neardup_solr as nd
from tests.refusals import refusal
from tests.solr import api
from tests.solr.verbs.test_gate import actions, drawn, reported


def test_main_path_on_two_shards(cloud: str) -> None:
    """init, index, search, report and delete work across shards as on one core."""
    solr = nd.connect(cloud, "listings")
    assert nd.init(solr, shards=2).is_created
    assert not nd.init(solr).is_created
    texts = [f"number {n} in the street of the {n % 7} old lamps" for n in range(40)]
    documents = [nd.Document(id=f"s!{n}", text=text) for n, text in enumerate(texts)]
    documents.append(nd.Document(id="copy", text=texts[3].upper()))
    assert nd.index(documents, solr).indexed == 41
    for by in ("shingles", "signatures", "bands"):
        found = nd.search(solr, id="copy", by=by)
        assert (found[0].id, found[0].distance) == ("s!3", 0)
        if by == "shingles":
            assert found[0].shared == 8
    assert [found["id"] for found in solr.export(["id"])] == sorted(solr.ids())
    [pair] = nd.duplicates(solr, by="bands", max_distance=0).pairs
    assert (pair.id, pair.other_id, pair.distance) == ("copy", "s!3", 0)
    report = nd.report(solr, max_distance=0)
    assert [(pair.id, pair.other_id) for pair in report.pairs] == [("copy", "s!3")]
    assert nd.delete(solr, ids=["s!3", "copy"]) == 2
    assert solr.count() == 39


def test_other_numbers_of_shards_or_replicas_are_refused(
    cloud: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Of a collection that exists; more replicas than nodes are told as of little use."""
    solr = nd.connect(cloud, "sized")
    assert nd.init(solr, shards=2, replicas=2).is_created
    assert "2 replicas of each shard on only 1 node" in caplog.text
    caplog.clear()
    for shards, replicas in ((None, None), (2, None), (None, 2), (2, 2)):
        assert not nd.init(solr, shards=shards, replicas=replicas).is_created
    for shards, replicas in ((1, None), (2, 3), (None, 1)):
        with refusal(nd.SettingsError, "collection-exists", "'sized'", "2 shards"):
            nd.init(nd.connect(cloud, "sized"), shards=shards, replicas=replicas)
    assert caplog.text == ""


def test_init_at_once_creates_one_collection(cloud: str) -> None:
    """Several commands that create one collection at the same moment can all use it."""

    def init(_: int) -> bool:
        solr = nd.connect(cloud, "at_once")
        created = nd.init(solr).is_created
        solr.commit()
        return created

    with ThreadPoolExecutor(3) as pool:
        assert sorted(pool.map(init, range(3))) == [False, False, True]


def test_init_leaves_a_configset_as_it_is(cloud: str) -> None:
    """A configset that is there may be in use by others, and changed on purpose."""
    nd.init(nd.connect(cloud, "first"))
    files = {
        path.relative_to(api.CONFIGSET).as_posix(): path.read_text()
        for path in api.CONFIGSET.rglob("*")
        if path.is_file()
    }
    added = '<field name="ours" type="string"/></schema>'
    files["managed-schema.xml"] = files["managed-schema.xml"].replace("</schema>", added)
    api.upload(cloud, "neardup", files, overwrite="true")
    second = nd.connect(cloud, "second")
    nd.init(second)
    assert "ours" in api.schema_fields(second)


def test_a_missing_collection_says_how_to_make_it(cloud: str) -> None:
    """The error of a collection that is not there ends with the command that creates it."""
    solr = nd.connect(cloud, "nowhere")
    with refusal(nd.CoreMissing, "collection-missing", "init -c nowhere"):
        nd.index([nd.Document(id="1", text="x")], solr)
    with refusal(nd.CoreMissing, "collection-missing", "init -c nowhere", "--replicas 2"):
        nd.index([nd.Document(id="1", text="x")], solr, min_replicas=2)


def test_the_gate_on_two_shards(cloud: str) -> None:
    """On SolrCloud, where Solr's own overwriteDupes refuses, decisions are the same."""
    solr = nd.connect(cloud, "gated")
    nd.init(solr, shards=2)
    everything = drawn(200, 3, "c!")
    nd.index(everything[:120], solr)
    policy: dict[str, Any] = {"reject": 0.97, "hold": 0.85, "tag": 0.6}
    new = everything[120:]
    expected = {id: action for id, action, _ in reported(solr, new, policy)}
    assert actions(nd.gate(new, solr, **policy)) == expected
    assert actions(nd.gate(new, solr, **policy, index=True)) == expected
    admitted = [id for id, action in expected.items() if action in ("allow", "tag")]
    assert solr.count() == 120 + len(admitted)
