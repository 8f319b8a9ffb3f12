"""The embedded Solr is killed while a verb works: the verb starts it again, and ends its work."""

from __future__ import annotations

import logging
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

import neardup_solr as nd
from neardup_solr.testing import SIZES
from tests.faults.killer import kill_solr
from tests.faults.tiers import tier

DOCUMENTS = 800
KILLS = [300, 750]
WORDS = [f"word{number}" for number in range(2_000)]


pytestmark = pytest.mark.usefixtures("killed")


@pytest.fixture
def collection(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> nd.Collection:
    """An empty collection of the embedded Solr, connected to as users do."""
    monkeypatch.delenv("NEARDUP_SOLR_URL", raising=False)
    name = "".join(sign for sign in request.node.name if sign.isalnum())
    return nd.connect(collection=name, create=True)


def documents(count: int = DOCUMENTS) -> list[nd.Document]:
    """Documents of thirty words, all different."""
    random = Random(1)
    return [
        nd.Document(id=f"d{number}", text=" ".join(random.choices(WORDS, k=30)))
        for number in range(count)
    ]


def killing(at: list[int]) -> Callable[[nd.types.Progress], None]:
    """What is told of progress, and kills Solr each time that so much is done."""
    left = list(at)

    def on_progress(told: nd.types.Progress) -> None:
        if left and told.done >= left[0]:
            del left[0]
            assert kill_solr()

    return on_progress


@pytest.mark.slow  # as kills of many runs are in test_kills
def test_index(collection: nd.Collection, caplog: pytest.LogCaptureFixture) -> None:
    """Killed twice, the second time near the end: everything is there, and a line tells."""
    with caplog.at_level(logging.WARNING, "neardup_solr"):
        done = nd.index(
            documents(), collection, batch=100, checkpoint_every=200,
            on_progress=killing(KILLS),
        )  # fmt: skip
    assert (done.indexed, done.failed, done.documents) == (DOCUMENTS, 0, DOCUMENTS)
    assert collection.session.outages.count >= len(KILLS)
    assert "waiting up to 5 minutes for it" in caplog.text
    assert "it is available again after" in caplog.text


@pytest.mark.slow
def test_index_without_patience(collection: nd.Collection) -> None:
    """With a patience of 0 the run ends with the error, and the same call again is safe."""
    with pytest.raises(nd.SolrUnreachable, match="restarts Solr"):
        nd.index(documents(), collection, batch=100, patience=0, on_progress=killing([300]))
    again = nd.connect(collection=collection.name)
    assert nd.index(documents(), again).documents == DOCUMENTS


def test_annotate_and_strip(collection: nd.Collection) -> None:
    """Fields are written to all documents, and removed from all, though Solr is killed."""
    collection.add([{"id": one.id, "content": one.text} for one in documents()])
    collection.commit()
    done = nd.annotate(collection, batch=100, on_progress=killing([500]))
    assert done.failed == 0
    assert collection.count(["signature:*"]) == DOCUMENTS
    assert nd.annotate(collection).unchanged == DOCUMENTS
    outages = collection.session.outages.count
    assert outages >= 1
    nd.strip(collection, batch=100, on_progress=killing([500] if tier() else []))
    assert collection.count(["signature:*"]) == 0
    assert len(collection.texts([one.id for one in documents()])) == DOCUMENTS
    assert (collection.session.outages.count > outages) == bool(tier())


def test_mark(collection: nd.Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    """All members of clusters are marked, though Solr is killed between two batches."""
    monkeypatch.setattr(SIZES, "mark_batch", 100)
    texts = [one.text for one in documents(100)]
    twins = [nd.Document(id=f"{side}{at}", text=text) for at, text in enumerate(texts)
             for side in "ab"]  # fmt: skip
    nd.index(twins, collection)
    found = nd.duplicates(collection)
    assert len(found.clusters) == len(texts)
    marks = nd.mark(collection, found, on_progress=killing([100]))
    assert marks.marked == len(twins)
    assert collection.count(["neardup_cluster:[* TO *]"]) == len(twins)
    assert collection.session.outages.count >= 1


READERS: dict[str, Callable[..., Any]] = {
    "duplicates": lambda solr, **given: nd.duplicates(solr, by="bands", **given).pairs,
    "report": lambda solr, **given: nd.report(solr, by="bands", **given).pairs,
}


@pytest.mark.parametrize("verb", READERS)
def test_readers(collection: nd.Collection, verb: str) -> None:
    """What is read of a whole collection is the same, though Solr is killed meanwhile."""
    texts = [one.text for one in documents(100)]
    nd.index(
        [
            nd.Document(id=f"{side}{at}", text=text)
            for at, text in enumerate(texts)
            for side in "ab"
        ],
        collection,
    )
    pairs = READERS[verb](collection)
    assert READERS[verb](collection, on_progress=killing([50])) == pairs
    assert len(pairs) == len(texts)
    assert collection.session.outages.count >= 1


def test_gate(collection: nd.Collection) -> None:
    """What the gate admits is in the collection, though Solr is killed; no document twice."""
    decisions = list(nd.gate(documents(300), collection, index=True, on_progress=killing([100])))
    assert {one.action for one in decisions} == {"allow"}
    assert collection.count() == len(decisions) == 300
    assert collection.session.outages.count >= 1
