"""Every verb works on an alias, as it does on the collection that it stands for."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

import neardup_solr as nd
from tests.command import NEARDUP
from tests.refusals import refusal
from tests.services import serving
from tests.solr import api

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
    api.admin(cloud, "collections", **params)
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
        [(str(id), text) for id, text in enumerate(TEXTS)],
        by="bands",
        measure="jaccard",
        min_similarity=0.5,
    ).pairs
    assert pairs == alone
    assert nd.report(alias, by="bands").pairs
    assert nd.explain(alias, "0", "1").facts.shared_bands
    assert nd.tune(alias, catch=0.8)
    decisions = list(nd.gate([("new", TEXTS[3])], alias, index=True))
    assert [one.action for one in decisions] == ["reject"]
    nd.mark(alias, nd.duplicates(alias, by="bands"), yes=True)
    nd.mark(alias, ())
    assert nd.reband(alias, bands=20, rows=6) == 40
    assert nd.search(alias, text=TEXTS[7], by="bands")
    assert nd.doctor(alias)
    assert nd.lint(alias)
    assert nd.delete(alias, ids=["0", "1"]) == 2
    assert alias.count() == 38


@pytest.mark.parametrize("name", ["several", "of_aliases"])
def test_an_alias_of_several_is_read_and_not_written(cloud: str, name: str) -> None:
    """Each verb that writes refuses it before it writes anything; the others take it."""
    parts = [nd.connect(cloud, each) for each in ("several_1", "several_2")]
    for part, texts in zip(parts, (TEXTS[:20], TEXTS[20:]), strict=True):
        nd.init(part, shards=2)
        nd.index([(f"{part.name} {n}", text) for n, text in enumerate(texts)], part)
    for alias, meant in (("several", "several_1,several_2"), ("of_aliases", "several")):
        params = {"action": "CREATEALIAS", "name": alias, "collections": meant}
        api.admin(cloud, "collections", **params)
    both = nd.connect(cloud, name)
    nd.init(nd.connect(cloud, "several_0"))
    before, fields = [part.state() for part in parts], api.schema_fields(parts[0])
    found = nd.duplicates(both, by="bands")
    assert (found.documents, bool(found.clusters)) == (40, True)
    assert nd.search(both, text=TEXTS[25], by="bands")[0].id.startswith("several_2")
    assert nd.doctor(both).documents == 40

    def writes() -> Iterator[Callable[[nd.Collection], object]]:
        yield lambda solr: nd.index([("several_2 1", TEXTS[0])], solr)
        yield lambda solr: list(nd.gate([("several_2 1", "new words")], solr, index=True))
        yield lambda solr: nd.delete(solr, ["several_2 1"])
        yield lambda solr: nd.delete(solr, query="id:several_2*", dry_run=True)
        yield lambda solr: nd.reband(solr, bands=20, rows=6)
        yield lambda solr: nd.mark(solr, found)
        yield partial(nd.mark, clusters=())
        yield nd.annotate
        yield nd.strip
        yield lambda solr: nd.annotate(nd.connect(cloud, "several_0"), into=solr)
        yield lambda solr: nd.init(solr, prefix="x_")
        yield lambda solr: nd.init(solr, remove=True)

    for write in writes():
        with refusal(nd.SettingsError, "collection-unfit", "several_1, several_2"):
            write(nd.connect(cloud, name))
    command = [*NEARDUP, "duplicates", "--mark", "--yes", "--solr", cloud, "-c", name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (3, "")  # before anything is compared
    assert "is an alias of several collections" in done.stderr
    assert [part.state() for part in parts] == before
    assert api.schema_fields(parts[0]) == fields


def test_a_service_goes_along_with_its_alias(cloud: str, tmp_path: Path) -> None:
    """It answers by the collection that the alias stands for, whose settings may be others."""
    for name, size in (("served_1", 3), ("served_2", 2)):
        solr = nd.connect(cloud, name)
        nd.init(solr, shards=size - 1)
        texts = [(f"{name} {n}", text) for n, text in enumerate(TEXTS)]
        nd.index(texts, solr, settings={"shingle_size": size})

    def switch(name: str) -> None:
        params = {"action": "CREATEALIAS", "name": "served", "collections": name}
        api.admin(cloud, "collections", **params)

    switch("served_1")
    with serving(f"{cloud}/served", tmp_path / "log") as served:
        for name in ("served_1", "served_2", "served_1"):
            switch(name)
            end = time.monotonic() + 30
            while True:
                found = served.ask("check", {"id": "new", "text": TEXTS[3]}).json
                assert found["action"] == "reject", found
                if found["matches"][0]["id"].startswith(name):
                    break
                assert time.monotonic() < end, "it takes too long"
