"""Collections that one version of Solr wrote, read by a later one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import neardup_solr as nd
from neardup_solr import embedded
from neardup_solr.embedded.layout import CHOSEN, layout
from neardup_solr.testing import private_home
from tests import ROOT
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
    monkeypatch.setenv(CHOSEN, older)
    monkeypatch.chdir(tmp_path)
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    new.mkdir()
    with private_home(old):
        core = nd.connect(embedded.start().url, collection="shop")
        nd.init(core)
        nd.index(LISTINGS, core)
        before = nd.duplicates(core).pairs
        guide(0, core.server)
        written = layout().cores / "shop"
    monkeypatch.setenv(CHOSEN, newer)
    with private_home(new):
        shutil.copytree(written, layout().cores / "shop")
        core = nd.connect(embedded.start().url, collection="shop")
        guide(1, core.server)
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
