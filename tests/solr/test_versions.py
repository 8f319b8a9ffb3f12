"""Collections that one version of Solr wrote, read by a later one; clouds of two; unknown ones."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import neardup_solr as nd
from neardup_solr.testing import private_home
from tests import ROOT, versions
from tests.command import neardup
from tests.faults.scripted import Answer
from tests.solr import api
from tests.solr.cloud import mixed
from tests.solr.front import front
from tests.test_examples import blocks, run_console

LISTINGS = ROOT / "tests" / "examples" / "listings.csv"
DAILY = ROOT / "docs" / "guides" / "daily.md"


@pytest.mark.slow
@pytest.mark.parametrize(("older", "newer"), [("8.11.4", "9.10.1"), ("9.4.1", "9.10.1")])
def test_a_collection_survives_an_upgrade(
    older: str, newer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its pairs are the same after it, and it can be marked, searched and added to."""
    monkeypatch.delenv("NEARDUP_SOLR_URL", raising=False)
    monkeypatch.setenv("NEARDUP_SOLR_VERSION", older)
    monkeypatch.chdir(tmp_path)
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    new.mkdir()
    with private_home(old):
        core = nd.connect(api.embedded_base(), collection="shop")
        nd.init(core)
        nd.index(LISTINGS, core)
        before = nd.duplicates(core).pairs
        guide(0, core.base)
        written = api.folder(core)
    monkeypatch.setenv("NEARDUP_SOLR_VERSION", newer)
    with private_home(new):
        nd.init(nd.connect(api.embedded_base(), collection="shop"))
        place = api.folder(nd.connect(api.embedded_base(), collection="shop"))
        assert neardup("solr", "stop").returncode == 0
        shutil.rmtree(place)
        shutil.copytree(written, place)
        core = nd.connect(api.embedded_base(), collection="shop")
        guide(1, core.base)
        found = nd.duplicates(core)
        assert found.pairs == before
        nd.mark(core, found)
        assert core.count(["neardup_canonical:0"]) == len(before) == 2
        assert nd.index([("x", "a b c d e"), ("y", "a b c d e")], core).indexed == 2
        assert [one.id for one in nd.search(core, id="x", by="bands")] == ["y"]
        assert nd.doctor(core).problems == ()


def guide(number: int, address: str) -> None:
    """Run what docs/guides/daily.md says to do before an upgrade, or after it."""
    page = [one for one in blocks(DAILY) if Path(__file__).name in one.note]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NEARDUP_SOLR_URL", address)
        run_console(page[number].text, f"daily.md, block {page[number].number}")


@pytest.mark.slow
def test_a_cloud_of_two_versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both nodes take documents, find those of the other, and copy its shard; lint names them."""
    monkeypatch.delenv("NEARDUP_SOLR_URL", raising=False)
    with mixed(tmp_path, "9.10.1", "9.7.0") as cloud:
        nd.init(nd.connect(cloud.url, "ads"), shards=2, replicas=2)
        for address in cloud.nodes:
            core = nd.connect(address, "ads")
            assert nd.index(LISTINGS, core, min_replicas=2).indexed == core.count()
            found = nd.duplicates(core)
            assert len(found.pairs) == 2
            nd.mark(core, found)
            assert core.count(["neardup_canonical:0"]) == 2
            said = [one.reason for one in nd.lint(core).findings if one.rule == "version"]
            assert said[0] == "the nodes of this SolrCloud run 9.10.1 and 9.7.0"
            assert said[0] in [one.reason for one in nd.doctor(core).problems]


@pytest.mark.parametrize(
    ("version", "remedy"),
    [("7.7.3", "upgrade to 9.10.1"), ("11.0.0", "try it on a copy first"), (None, "one this is")],
)
def test_a_version_that_nobody_has_tried(
    version: str | None, remedy: str, solr: nd.Collection
) -> None:
    """It is used like any other, whatever it tells; `lint` says what to do."""

    def with_version(path: str, body: bytes, answer: Callable[[], Answer]) -> Answer:
        given = answer()
        if not path.partition("?")[0].endswith("/admin/info/system"):
            return given
        told = json.loads(given.body) | {"lucene": {"solr-spec-version": version}}
        return replace(given, body=json.dumps(told).encode())

    with front(solr.base, between=with_version) as address:
        core = nd.connect(address, solr.name)
        assert nd.index(LISTINGS, core).indexed == solr.count()
        assert len(nd.duplicates(core).pairs) == 2
        (found,) = (one for one in nd.lint(core).findings if one.rule == "version")
        assert found.remedy.endswith(remedy)


def test_a_version_that_is_tried_alone_keeps_the_rows_of_the_others() -> None:
    """Its own row is written anew, in its place; one of a version that there is not goes."""
    page = (ROOT / "docs" / "versions.md").read_text("utf-8")
    assert versions.with_rows(page, {}) == page
    one = versions.with_rows(page, {"9.10.1": "index: a | b"})
    assert one == page.replace("| 9.10.1 | nothing |", "| 9.10.1 | index: a | b |")
    assert versions.with_rows(one, {"9.10.1": "nothing"}) == page
    old = page.replace("| 9.0.0 |", "| 7.7.3 | nothing |\n| 9.0.0 |")
    assert versions.with_rows(old, {"10.0.0": "nothing"}) == page
