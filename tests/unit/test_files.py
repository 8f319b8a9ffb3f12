"""Files that come with the package."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from neardup_solr import files
from neardup_solr.errors import SourceError
from neardup_solr.files import read_arrays, write_arrays
from tests import ROOT
from tests.refusals import refusal


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
    monkeypatch.setattr(files, "PACKAGE", tmp_path / "neardup_solr")
    carried = tmp_path / "neardup_solr" / "docs" / "tuning.md"
    carried.parent.mkdir(parents=True)
    carried.touch()
    assert files.page("tuning") == str(carried)


def test_a_page_that_did_not_come_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package without its pages names them all the same."""
    monkeypatch.setattr(files, "PACKAGE", tmp_path / "neardup_solr")
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
    with refusal(SourceError, "paths-conflict", "loop.csv", "SOURCE", "-o"):
        files.check_apart({"SOURCE": link, "-o": tmp_path / "." / "loop.csv"})
    assert not files.is_inside(link, link)
    files.check_place(link)


@pytest.mark.parametrize("source", ["x" * 10_000, "a\nb" * 5_000])
def test_a_text_in_the_place_of_a_source_is_no_folder(source: str, tmp_path: Path) -> None:
    """Whoever reads it says so."""
    files.check_apart({"`output`": tmp_path / "out.csv"}, source=source)


KIND = b"a file of tests\n"


def test_arrays_come_back(tmp_path: Path) -> None:
    """With what they are about, also empty ones, in a file that nobody else can read."""
    path = tmp_path / "kept"
    arrays: dict[str, NDArray[Any]] = {
        "pairs": np.arange(6, dtype=np.uint32).reshape(3, 2),
        "none": np.empty(0),
    }
    write_arrays(path, KIND, {"done": 3}, arrays)
    found = read_arrays(path, KIND)
    assert not isinstance(found, str)
    assert found[0] == {"done": 3}
    assert found[1].keys() == arrays.keys()
    assert all(np.array_equal(found[1][name], array) for name, array in arrays.items())
    assert path.stat().st_mode & 0o077 == 0


def test_damaged_arrays_are_none(tmp_path: Path) -> None:
    """Cut at any place, with another byte in an array, or empty; another file is left alone."""
    path = tmp_path / "kept"
    assert read_arrays(path, KIND) == "there was no earlier run"
    write_arrays(path, KIND, {}, {"array": np.arange(100)})
    whole = path.read_bytes()
    damaged = bytearray(whole)
    damaged[whole.index(np.arange(100).tobytes()) + 9] ^= 1
    cuts = [whole[:at] for at in range(len(KIND), len(whole), 7)]
    for content in (bytes(damaged), bytes(50), *cuts):
        path.write_bytes(content)
        assert read_arrays(path, KIND) == "kept is damaged"
    path.write_bytes(b"")
    assert read_arrays(path, KIND) == "kept is empty"
    for other in (b"id,text\n", b"PK\x03\x04", KIND[:-3]):
        path.write_bytes(other)
        with refusal(SourceError, "file-kind", str(path)):
            read_arrays(path, KIND)


def test_bytes_are_read_on_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It cannot read at a place of a file without going there."""
    (tmp_path / "a").write_bytes(b"one two three")
    with (tmp_path / "a").open("rb") as file:
        for is_windows in (False, True):
            if is_windows:
                monkeypatch.delattr(os, "pread")
            assert files.read_at(file, 4, 3) == b"two"
            assert files.read_at(file, 8, 99) == b"three"
