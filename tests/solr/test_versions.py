"""Collections that one version of Solr wrote, read by a later one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import neardup_solr as nd
from neardup_solr import embedded
from neardup_solr.embedded.layout import CHOSEN, layout
from neardup_solr.testing import private_home

LISTINGS = Path(__file__).parents[1] / "examples" / "listings.csv"


@pytest.mark.slow
@pytest.mark.parametrize(("older", "newer"), [("8.11.4", "9.10.1"), ("9.4.1", "9.10.1")])
def test_a_collection_survives_an_upgrade(
    older: str, newer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its pairs are the same after it, and it can be marked, searched and added to."""
    monkeypatch.delenv("NEARDUP_SOLR_URL", raising=False)
    monkeypatch.setenv(CHOSEN, older)
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    new.mkdir()
    with private_home(old):
        core = nd.connect(embedded.start().url, collection="ads")
        nd.init(core)
        nd.index(LISTINGS, core)
        before = nd.duplicates(core).pairs
        written = layout().cores / "ads"
    monkeypatch.setenv(CHOSEN, newer)
    with private_home(new):
        shutil.copytree(written, layout().cores / "ads")
        core = nd.connect(embedded.start().url, collection="ads")
        found = nd.duplicates(core)
        assert found.pairs == before
        nd.mark(core, found)
        assert core.count(["neardup_canonical:0"]) == len(before) == 2
        assert nd.index([("x", "a b c d e"), ("y", "a b c d e")], core).indexed == 2
        assert [one.id for one in nd.search(core, id="x", by="bands")] == ["y"]
        assert nd.doctor(core).problems == ()
