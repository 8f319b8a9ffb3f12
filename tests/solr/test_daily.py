"""The part of docs/guides/daily.md that needs a SolrCloud, as it stands."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import neardup_solr as nd
from tests import ROOT
from tests.refusals import refusal
from tests.test_examples import ADDRESS, FILES, blocks, run_console

PAGE = ROOT / "docs" / "guides" / "daily.md"


def test_a_name_moves_to_another_collection(
    cloud: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each command goes by the alias, before and after it is switched."""
    shutil.copytree(FILES, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NEARDUP_SOLR_URL", cloud)
    for block in blocks(PAGE):
        if block.mark == "not run" and Path(__file__).name in block.note:
            run_console(block.text.replace(ADDRESS, cloud), f"{block.page}, block {block.number}")
    shop = nd.connect(cloud, "shop")
    assert shop.count() == 6
    assert shop.count(["neardup_canonical:0"]) == 2


def test_the_name_of_a_folder_that_a_swapped_core_has(address: str) -> None:
    """A core cannot be created in it, and the message says what to do."""
    for name in ("first", "second"):
        nd.init(nd.connect(address, name))
    first = nd.connect(address, "first")
    for action, more in (("SWAP", {"other": "second"}), ("UNLOAD", {"core": "second"})):
        params = {"action": action, "core": "first", **more, "deleteInstanceDir": "true"}
        first.session.ask("GET", f"{address}/admin/cores", {}, params=params)
    with refusal(nd.SolrError, "collection-exists", "'second'"):
        nd.init(nd.connect(address, "second"))
