"""A node of a SolrCloud, or its ZooKeeper, is away before a command begins."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import neardup_solr as nd
from tests.command import NEARDUP
from tests.refusals import refusal
from tests.solr import api
from tests.solr import nodes as cloud
from tests.solr.cloud import CloudFolder, nodes, with_jars

pytestmark = pytest.mark.slow  # test_nodes kills a node, too
TEXTS = [f"number {n} of the {n % 7} old lamps in the street" for n in range(40)]


@pytest.fixture(scope="module")
def folder(home: Path, tmp_path_factory: pytest.TempPathFactory) -> CloudFolder:
    """A folder for a cloud, with the jars."""
    return CloudFolder(with_jars(home, tmp_path_factory.mktemp("cloud")))


@pytest.fixture(scope="module")
def running(folder: CloudFolder) -> Iterator[cloud.Cloud]:
    """Two nodes: a collection on both, its shards on one each, and one on the second alone."""
    with nodes(folder.home, 2) as found:
        first, second = found.nodes
        nd.init(nd.connect(first, "both"), shards=2, replicas=2)
        assert nd.index(list(enumerate(TEXTS)), nd.connect(first, "both")).indexed == 40
        nd.init(nd.connect(first, "halves"), shards=2)
        node = second.split("//")[1].replace("/", "_")
        params = {"action": "CREATE", "name": "there", "collection.configName": "neardup",
                  "numShards": "1", "createNodeSet": node}  # fmt: skip
        api.admin(first, "collections", **params)
        yield found


def neardup(*words: str) -> subprocess.CompletedProcess[str]:
    """A command, with a job folder of its own."""
    return subprocess.run([*NEARDUP, *words], capture_output=True, text=True, timeout=120,
                          env=os.environ)  # fmt: skip


@contextmanager
def started_again(folder: CloudFolder, after: float) -> Iterator[None]:
    """Start the nodes that do not run while the block runs, some seconds after it has begun."""

    def start() -> None:
        time.sleep(after)
        folder.start(2)

    thread = threading.Thread(target=start)
    thread.start()
    try:
        yield
    finally:
        thread.join()


def test_a_shard_without_a_node_is_told_and_waited_for(
    folder: CloudFolder, running: cloud.Cloud, tmp_path: Path
) -> None:
    """The message names it; `index` waits, and ends with exit code 4 if it does not come back."""
    source = tmp_path / "a.tsv"
    source.write_text("id\ttext\n1\ta b c d e f\n")
    address = running.nodes[0]
    folder.kill(2)
    with refusal(nd.errors.SolrAnswerError, "cluster-disturbed", "'there'", "start its node"):
        nd.connect(address, "there")
    deadline = time.monotonic() + 60
    while "halves" not in _said_by_a_search(address):  # until the cluster has noticed
        assert time.monotonic() < deadline
        time.sleep(0.5)
    with refusal(nd.errors.SolrAnswerError, "cluster-disturbed", "'halves'", "start its node"):
        nd.delete(nd.connect(address, "halves"), ["1"])
    for name, least in (("halves", "1"), ("there", "1"), ("both", "2")):
        job = str(tmp_path / name)
        done = neardup("index", str(source), "--solr", address, "-c", name, "--job", job,
                       "--patience", "2s", "--min-replicas", least)  # fmt: skip
        assert (done.returncode, done.stdout) == (4, "")
        assert "running the command again starts over" in done.stderr
        assert ("only 1 of 2 required" if least == "2" else "no replica of") in done.stderr
    with started_again(folder, 3):
        solr = nd.connect(address, "there", patience=90)
        assert nd.index(list(enumerate(TEXTS)), solr, patience=90).documents == 40
        solr = nd.connect(address, "halves")
        assert nd.index(list(enumerate(TEXTS)), solr, patience=90).documents == 40


def _said_by_a_search(address: str) -> str:
    try:
        nd.search(nd.connect(address, "halves"), text="old lamps", by="shingles")
    except nd.SolrError as error:
        return error.reason
    return ""


def test_a_zookeeper_that_is_away_is_told_and_waited_for(
    folder: CloudFolder, running: cloud.Cloud
) -> None:
    """It is why nothing can be written; searches go on, and doctor says so."""
    address = running.nodes[1]
    solr = nd.connect(address, "both")
    assert nd.index([(3, TEXTS[3])], solr, min_replicas=2).indexed == 1  # each has recovered
    folder.kill(1)
    assert nd.search(solr, text=TEXTS[3], by="bands")[0].id == "3"
    deadline = time.monotonic() + 60
    while not nd.doctor(solr).problems:  # until the node has noticed
        assert time.monotonic() < deadline
    [found] = nd.doctor(nd.connect(address, "both")).problems
    assert (found.level, found.rule) == ("danger", "zookeeper")
    assert "the state of the replicas is unknown" in found.reason
    said = r"ZooKeeper is unavailable \(Solr says: .*\); start ZooKeeper, then run this again$"
    for write in (
        lambda: nd.index([("1", TEXTS[1])], nd.connect(address, "both"), patience=1),
        lambda: nd.index([("1", TEXTS[1])], nd.connect(address, "halves"), patience=1),
        lambda: nd.delete(nd.connect(address, "both"), ["1"]),
        lambda: nd.init(nd.connect(address, "another", patience=1)),
    ):
        with pytest.raises(nd.errors.SolrAnswerError, match=said):
            write()
    with started_again(folder, 3):
        done = nd.index([(99, "words of its own")], nd.connect(address, "both"), patience=90)
        assert (done.indexed, done.documents) == (1, 41)
