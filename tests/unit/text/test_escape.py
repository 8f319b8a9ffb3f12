"""Cells that a spreadsheet would run: how they are written, and that they come back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup_solr.text.escape import from_csv, from_tsv, to_csv, to_tsv

# Texts of little else than what counts: signs, what is passed over, separators, marks.
ODD = st.text(alphabet="=+-@\uff1d'\"\\,;|\t\n\r \u200b\xa0ab1", max_size=12)
ANY = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=40)


@given(text=ODD | ANY)
def test_every_text_comes_back(text: str) -> None:
    """Whatever is written into a cell is read from it."""
    assert from_csv(to_csv(text)) == text
    assert from_tsv(to_tsv(text)) == text


@given(text=ODD | ANY)
def test_a_cell_of_tsv_is_one_cell(text: str) -> None:
    """It has neither a tab nor a line break."""
    assert not set("\t\n\r") & set(to_tsv(text))


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
def test_cells_by_hand(text: str, csv: str, tsv: str) -> None:
    """Only a sign that could begin a cell gets a mark, and what a mark could be taken for."""
    assert (to_csv(text), to_tsv(text)) == (csv, tsv)


@pytest.mark.parametrize(
    ("cell", "text"),
    [("'=1+1", "=1+1"), ("''abc", "'abc"), ("'-a;=b", "-a;=b"), ("'\t=1", "\t=1")],
)
def test_csv_of_earlier_versions(cell: str, text: str) -> None:
    """Reports in which only the start of a cell has an apostrophe are read as they were meant."""
    assert from_csv(cell) == text


@pytest.mark.parametrize("cell", ["=1+1", "a\\b", "\\x", "\\'", "'quoted'"])
def test_tsv_of_others(cell: str) -> None:
    """A backslash that escapes nothing of ours is one, and other cells are as they are."""
    assert from_tsv(cell) == cell


def test_long_runs_take_no_longer_than_long_texts() -> None:
    """A million blanks, tabs or quotes before nothing are looked at once, not a million times."""
    for run in (" " * 1_000_000, "\t" * 1_000_000, ";'" * 500_000):
        assert from_csv(to_csv(f"a{run}b")) == f"a{run}b"
