"""Files that come with the package."""

from __future__ import annotations

from pathlib import Path

import pytest

from neardup_solr import files
from tests import ROOT


@pytest.fixture(autouse=True)
def unpublished(monkeypatch: pytest.MonkeyPatch) -> None:
    """No address of the documentation."""
    monkeypatch.delenv("NEARDUP_DOCS", raising=False)
    monkeypatch.setattr(files, "SITE", "")


def test_a_page_is_the_one_that_came_along() -> None:
    """Without an address it is the Markdown file of the checkout."""
    assert files.page("tuning") == str(ROOT / "docs" / "tuning.md")


def test_a_page_inside_the_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package has it in its own folder."""
    monkeypatch.setattr(files, "files", lambda package: tmp_path / package)
    carried = tmp_path / "neardup_solr" / "docs" / "tuning.md"
    carried.parent.mkdir(parents=True)
    carried.touch()
    assert files.page("tuning") == str(carried)


def test_a_page_that_did_not_come_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package without its pages names them all the same."""
    monkeypatch.setattr(files, "files", lambda package: tmp_path / package)
    assert files.page("tuning") == "docs/tuning.md"


def test_a_page_on_the_site(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address of the site comes first, and $NEARDUP_DOCS before the one that is set."""
    monkeypatch.setattr(files, "SITE", "https://docs.example.org/neardup")
    assert files.page("tuning") == "https://docs.example.org/neardup/tuning.html"
    monkeypatch.setenv("NEARDUP_DOCS", "http://intranet/neardup/")
    assert files.page("tuning") == "http://intranet/neardup/tuning.html"
