"""Cells that a spreadsheet would run: how they are written, and that they come back."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup_solr as nd

# Texts of little else than what counts: signs, what is passed over, separators, marks.
ODD = st.text(alphabet="=+-@\uff1d'\"\\,;|\t\n\r \u200b\xa0ab1", max_size=12)
ANY = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=40)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for all files of this module."""
    return tmp_path_factory.mktemp("cells")


def report_of(id: str) -> nd.Report:
    """A report of a pair with this id."""
    pair = nd.Pair(id=id, other_id="other", distance=0, similarity=1.0)
    return nd.Report(pairs=(pair,), documents=2, cut=0)


def write_csv(folder: Path, text: str) -> str:
    """Write a text into a cell of a CSV, and give the cell."""
    report_of(text).write(folder / "a.csv")
    content = (folder / "a.csv").read_bytes().decode("utf-8-sig")
    (_, (cell, *_)) = csv.reader(io.StringIO(content, newline=""))
    return cell


def write_tsv(folder: Path, text: str) -> str:
    """Write a text into a cell of a TSV, and give the cell."""
    report_of(text).write(folder / "a.tsv")
    (_, line) = (folder / "a.tsv").read_bytes().decode().removesuffix("\n").split("\n")
    (cell, *_) = line.split("\t")
    return cell


def read_id(folder: Path, cell: str, suffix: str) -> str:
    """Read the id of a pair from a cell, as it stands in a file."""
    with (folder / f"pairs{suffix}").open("w", encoding="utf-8", newline="") as file:
        if suffix == ".csv":
            csv.writer(file).writerows([["id", "other_id"], [cell, "other"]])
        else:
            file.write(f"id\tother_id\n{cell}\tother\n")
    found = nd.evaluate([("some", "pair")], folder / f"pairs{suffix}", ordered=True)
    ((id, _),) = found.false
    return str(id)


@given(text=ODD | ANY)
def test_every_text_comes_back(folder: Path, text: str) -> None:
    """Whatever is written into a cell is read from it, and one of TSV is a single cell."""
    csv_cell, tsv_cell = write_csv(folder, text), write_tsv(folder, text)
    assert not set("\t\n\r") & set(tsv_cell)
    if text:
        assert read_id(folder, csv_cell, ".csv") == text
        assert read_id(folder, tsv_cell, ".tsv") == text


@pytest.mark.parametrize(
    ("text", "csv", "tsv"),
    [
        ("", "", ""),
        ("plain", "plain", "plain"),
        ("a-b, c@d.example = 2", "a-b, c@d.example = 2", "a-b, c@d.example = 2"),
        ("=1+1", "'=1+1", "\\=1+1"),
        ("-5", "'-5", "\\-5"),
        ("\uff1d1", "'\uff1d1", "\\\uff1d1"),
        (" =1", " '=1", " \\=1"),
        ('"=1"', '"\'=1"', '\\"\\=1"'),
        ("\u200b@x", "\u200b'@x", "\u200b\\@x"),
        ("\t=1", "'\t'=1", "\\t=1"),
        ("a;=1", "a;'=1", "a;\\=1"),
        ("a, -b", "a, '-b", "a, \\-b"),
        ("a\n+1", "a\n'+1", "a\\n+1"),
        ("'quoted'", "''quoted'", "'quoted'"),
        ("'=1", "'''=1", "'\\=1"),
        ("a\\b", "a\\b", "a\\\\b"),
    ],
)
def test_cells_by_hand(folder: Path, text: str, csv: str, tsv: str) -> None:
    """Only a sign that could begin a cell gets a mark, and what a mark could be taken for."""
    assert (write_csv(folder, text), write_tsv(folder, text)) == (csv, tsv)


@pytest.mark.parametrize(
    ("cell", "text"),
    [("'=1+1", "=1+1"), ("''abc", "'abc"), ("'-a;=b", "-a;=b"), ("'\t=1", "\t=1")],
)
def test_csv_of_earlier_versions(folder: Path, cell: str, text: str) -> None:
    """Reports in which only the start of a cell has an apostrophe are read as they were meant."""
    assert read_id(folder, cell, ".csv") == text


@pytest.mark.parametrize("cell", ["=1+1", "a\\b", "\\x", "\\'", "'quoted'"])
def test_tsv_of_others(folder: Path, cell: str) -> None:
    """A backslash that escapes nothing of ours is one, and other cells are as they are."""
    assert read_id(folder, cell, ".tsv") == cell


def test_long_runs_take_no_longer_than_long_texts(folder: Path) -> None:
    """A million blanks, tabs or quotes before nothing are looked at once, not a million times."""
    csv.field_size_limit(1 << 22)
    for run in (" " * 1_000_000, "\t" * 1_000_000, ";'" * 500_000):
        cell = write_csv(folder, f"a{run}b")
        assert len(cell) >= len(run)
        with pytest.raises(nd.SourceError, match="line 2"):  # no id is as long
            read_id(folder, cell, ".csv")
