"""Rows as a workbook of Excel, as openpyxl reads it."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup_solr as nd
from neardup_solr.testing import SIZES


def write_sheets(path: Path, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Write a table as a result does, a sheet to be filled with answers."""
    sheet = nd.duplicates([("1", "a b c"), ("2", "a b c")]).sample()
    columns = {name: [row[at] for row in rows] for at, name in enumerate(names)}
    replace(sheet, table=columns).write(path)


def as_read(path: Path) -> list[list[list[Any]]]:
    """The rows of each sheet."""
    book = openpyxl.load_workbook(path)
    found = [list(map(list, sheet.iter_rows(values_only=True))) for sheet in book.worksheets]
    book.close()
    return found


def escaped(text: str) -> str:
    """A text with the apostrophes of formulas, as a cell of CSV has it."""
    pair = nd.Pair(id=text, other_id="other", distance=0, similarity=1.0)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.csv"
        nd.Report(pairs=(pair,), documents=2, cut=0).write(path)
        with path.open(encoding="utf-8-sig", newline="") as file:
            return list(csv.reader(file))[1][0]


def unescaped(text: object) -> str:
    """A text as Excel shows it."""
    return re.sub("_x([0-9A-F]{4})_", lambda found: chr(int(found[1], 16)), str(text))


def test_texts_and_numbers_are_what_they_were(tmp_path: Path) -> None:
    """Large whole numbers would be rounded, so they are texts; None is an empty cell."""
    rows = [["007", 7, -0.5, None, 2**60, True], ["=1+1", 0, 1e-9, "#N/A", -1, False]]
    write_sheets(tmp_path / "a.xlsx", list("abcdef"), rows)
    book = openpyxl.load_workbook(tmp_path / "a.xlsx")
    found = list(book.worksheets[0].iter_rows())
    assert [cell.value for cell in found[0]] == list("abcdef")
    assert [cell.value for cell in found[1]] == ["007", 7, -0.5, None, str(2**60), True]
    assert [cell.value for cell in found[2]] == ["'=1+1", 0, 1e-9, "#N/A", -1, False]
    assert [cell.data_type for cell in found[2]] == ["s", "n", "n", "s", "n", "b"]  # no formula
    book.close()


@given(st.lists(st.text(), min_size=1, max_size=30))
def test_any_text_comes_back(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    """Control characters, surrogates and what looks like an escape are escaped as by Excel."""
    path = tmp_path_factory.mktemp("texts") / "a.xlsx"
    write_sheets(path, [f"c{at}" for at in range(len(texts))], [texts])
    ((_, found),) = as_read(path)
    assert [unescaped(text or "") for text in found] == list(map(escaped, texts))


def test_a_full_sheet_is_followed_by_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """No row is lost, each sheet has the header, and one line says how many there are."""
    monkeypatch.setattr(SIZES, "sheet_rows", 4)
    for count, parts in ((0, [0]), (3, [3]), (4, [3, 1]), (7, [3, 3, 1])):
        caplog.clear()
        write_sheets(tmp_path / "a.xlsx", ["n"], [[at] for at in range(count)])
        found = as_read(tmp_path / "a.xlsx")
        assert [len(rows) - 1 for rows in found] == parts
        assert {rows[0][0] for rows in found} == {"n"}
        assert [row[0] for rows in found for row in rows[1:]] == list(range(count))
        lines = [line for line in caplog.messages if f"{count} rows" in line]
        assert len(lines) == (len(parts) > 1)
        assert all(f"{len(parts)} sheets" in line for line in lines)


def test_a_text_that_is_too_long_for_a_cell_is_cut_and_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Excel counts the characters of UTF-16, and has 32,767 in a cell."""
    rows = [["x" * 32_767], ["y" * 32_768], ["\U0001f600" * 16_384]]
    write_sheets(tmp_path / "a.xlsx", ["text"], rows)
    ((_, *found),) = as_read(tmp_path / "a.xlsx")
    assert [row[0] for row in found] == [
        "x" * 32_767, "y" * 32_766 + "…", "\U0001f600" * 16_383 + "…",
    ]  # fmt: skip
    (line,) = [line for line in caplog.messages if "32,767" in line]
    assert line.partition("32,767")[0].count("2 texts") == 1


def test_a_sheet_that_is_full_is_told_as_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What Excel left out is not there; nor are further sheets read."""
    monkeypatch.setattr(SIZES, "sheet_rows", 3)
    rows = [[str(at), f"text {at}"] for at in range(3)]
    write_sheets(tmp_path / "a.xlsx", ["id", "text"], rows)
    caplog.clear()
    assert [one.id for one in nd.read(tmp_path / "a.xlsx")] == ["0", "1"]
    first, second = caplog.messages
    assert "'1'" in first
    assert "'2'" in first
    assert "3 rows" in second
