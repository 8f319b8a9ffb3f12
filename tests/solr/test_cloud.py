"""The main path on SolrCloud: init uploads the configset and creates a sharded collection."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import neardup_solr as nd
from neardup_solr.edges import client
from tests.solr.cloud import node


@pytest.fixture(scope="module")
def cloud(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A SolrCloud of one node."""
    folder = tmp_path_factory.mktemp("cloud")
    jars = next(home.glob("solr-*"))
    (folder / jars.name).symlink_to(jars.resolve())
    with node(folder) as url:
        yield url


def test_main_path_on_two_shards(cloud: str) -> None:
    """init, index, search, report and delete work across shards as on one core."""
    solr = client.connect(cloud, "listings")
    assert nd.init(solr, shards=2)
    assert not nd.init(solr)
    texts = [f"number {n} in the street of the {n % 7} old lamps" for n in range(40)]
    documents = [nd.Document(id=f"s!{n}", text=text) for n, text in enumerate(texts)]
    documents.append(nd.Document(id="copy", text=texts[3].upper()))
    assert nd.index(documents, solr).indexed == 41
    for by in ("shingles", "signatures", "bands"):
        found = nd.search(solr, id="copy", criteria=nd.Criteria(by=by))
        assert (found[0].id, found[0].distance) == ("s!3", 0)
        if by == "shingles":
            assert found[0].shared == 8
    report = nd.report(solr, criteria=nd.Criteria(limits=nd.Limits(max_distance=0)))
    assert [(pair.id, pair.other_id) for pair in report.pairs] == [("copy", "s!3")]
    assert nd.delete(solr, ids=["s!3", "copy"]) == 2
    assert solr.count() == 39


def test_a_missing_collection_says_how_to_make_it(cloud: str) -> None:
    """The error of a collection that is not there ends with the command that creates it."""
    solr = client.connect(cloud, "nowhere")
    with pytest.raises(nd.CoreMissing, match="neardup init nowhere"):
        nd.index([nd.Document(id="1", text="x")], solr)
