"""Files that come with the package."""

from __future__ import annotations

from pathlib import Path

import pytest

from neardup_solr import files
from neardup_solr.errors import SourceError
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


def test_a_link_that_leads_to_itself_is_compared_by_its_name(tmp_path: Path) -> None:
    """It leads nowhere, so it is only refused where it is named twice."""
    link = tmp_path / "loop.csv"
    link.symlink_to(link)
    files.check_apart({"SOURCE": link, "-o": tmp_path / "out.csv", "--unique": None})
    with pytest.raises(SourceError, match=r"loop\.csv: is both SOURCE and -o; name two files"):
        files.check_apart({"SOURCE": link, "-o": tmp_path / "." / "loop.csv"})
    assert not files.is_inside(link, link)
    files.check_place(link)
