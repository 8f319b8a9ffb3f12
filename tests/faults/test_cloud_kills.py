"""Nodes of a SolrCloud are killed again and again, and nothing is lost."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

import neardup_solr as nd
from neardup_solr.errors import Passes
from tests.faults.history import judged
from tests.faults.invented import invent
from tests.faults.killer import Command
from tests.faults.place import FIELDS
from tests.faults.tiers import sized
from tests.solr.cloud import CloudFolder, with_jars

NODES, SHARDS, REPLICAS = 3, 2, 2
DOCUMENTS = sized(usual=20_000, full=300_000)
EVERY = 10.0  # seconds between two kills
SEED = 20_261_122
OLD = "ba de fi go"


@pytest.fixture
def cloud(home: Path, tmp_path: Path) -> Iterator[CloudFolder]:
    """The folder of a SolrCloud whose nodes may be killed."""
    (tmp_path / "cloud").mkdir()
    made = CloudFolder(with_jars(home, tmp_path / "cloud"))
    yield made
    made.stop(NODES)


@pytest.fixture
def address(cloud: CloudFolder, monkeypatch: pytest.MonkeyPatch) -> str:
    """The first node of that SolrCloud, which commands connect to."""
    started = cloud.start(NODES)
    monkeypatch.setenv("NEARDUP_SOLR_URL", started.url)
    return started.url


class NodeKiller(threading.Thread):
    """Kills a random node every so often, and starts it again as a service manager would."""

    def __init__(self, cloud: CloudFolder, random: Random) -> None:
        super().__init__(daemon=True)
        self.cloud, self.random, self.kills = cloud, random, 0
        self.fault: BaseException | None = None
        self._stopped = threading.Event()

    def run(self) -> None:
        try:
            while not self._stopped.wait(EVERY):
                self.cloud.kill(self.random.randint(1, NODES))
                self.kills += 1
                self.cloud.start(NODES)
        except BaseException as error:
            self.fault = error

    def stop(self) -> None:
        """Kill no more, once all nodes run again."""
        self._stopped.set()
        self.join(120)
        if self.fault is not None:
            raise self.fault


class Asking(threading.Thread):
    """Searches without end, as another program would, and remembers the slowest answer."""

    def __init__(self, collection: nd.Collection) -> None:
        super().__init__(daemon=True)
        self.collection, self.answers, self.slowest = collection, 0, 0.0
        self.faults: list[nd.NeardupError] = []
        self.unanswered = 0
        self._stopped = threading.Event()

    def run(self) -> None:
        while not self._stopped.wait(0.1):
            began = time.monotonic()
            try:
                nd.search(self.collection, text="ba de fi go lu mar nes pil", by="bands")
                self.answers += 1
            except nd.errors.SolrAnswerError as error:
                # Then all replicas of a shard are away for longer than a search tries again.
                passes = error.passes is Passes.ALWAYS
                self.unanswered += passes
                if not passes:
                    self.faults.append(error)
            except nd.NeardupError as error:
                self.faults.append(error)
            self.slowest = max(self.slowest, time.monotonic() - began)

    def stop(self) -> None:
        self._stopped.set()
        self.join(60)


@pytest.mark.slow
def test_nodes(cloud: CloudFolder, address: str, tmp_path: Path, row: Any) -> None:
    """One `neardup index` through many kills of nodes ends with 0, and searches go on."""
    documents = invent(tmp_path / "documents.jsonl", DOCUMENTS)
    solr = nd.connect(address, "killed")
    nd.init(solr, shards=SHARDS, replicas=REPLICAS)
    fields = nd.Settings(fields=frozenset(FIELDS.split(",")))
    older = documents.good[::10]  # is replaced, so that a version that is lost is found out
    nd.index([nd.Document(id=id, text=OLD) for id in older], solr, settings=fields)
    words = ["index", str(documents.path), "-c", solr.name, "--fields", FIELDS, "--job",
             str(tmp_path / "job"), "--patience", "5m"]  # fmt: skip
    killer, asking = NodeKiller(cloud, Random(SEED)), Asking(nd.connect(address, "killed"))
    running = Command(words, tmp_path / "said.txt", {})
    killer.start()
    asking.start()
    try:
        code = running.wait()
    finally:
        running.kill()
        asking.stop()
        killer.stop()
    assert code == 0, running.said()
    assert killer.kills
    verdict = judged(documents, solr.ids(), [])
    assert verdict.is_right(), verdict
    assert OLD not in solr.texts(older).values()
    there = {(one.id, one.other_id) for one in nd.duplicates(solr).pairs}
    assert there == {(one.id, one.other_id) for one in nd.duplicates(documents.path).pairs}
    assert not asking.faults
    row(
        "R1",
        f"SolrCloud of {NODES} nodes, {SHARDS} shards, {REPLICAS} replicas, {DOCUMENTS:,}"
        f" documents, {killer.kills} kills of a random node: exit code 0, lost 0;"
        f" {asking.answers:,} of {asking.answers + asking.unanswered:,} searches beside it were"
        f" answered, the slowest in {asking.slowest:.1f} s",
    )
