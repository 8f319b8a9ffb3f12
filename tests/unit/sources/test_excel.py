"""Sheets of Excel: values, empty cells, damage."""

from __future__ import annotations

import sys
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import openpyxl
import pytest

import neardup_solr as nd
from neardup_solr.errors import SourceError
from tests.reading import told, write
from tests.refusals import refusal


def sheet(path: Path, rows: list[list[Any]]) -> Path:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.create_sheet("other").append(["id", "text"])
    book.save(path)
    return path


def test_the_first_sheet_of_excel_is_a_source(tmp_path: Path) -> None:
    """Numbers, dates and true or false are kept as they are; blank rows are passed over."""
    rows: list[list[Any]] = [
        [],
        ["ID", "Text", "stars", "day", "new"],
        [1, "Café", 4.5, datetime(2024, 2, 29), True],
        [],
        ["2", "日本"],
    ]
    path = sheet(tmp_path / "a.xlsx", rows)
    found = list(nd.read(path, id="id", keep=("stars", "day", "new")))
    assert [(one.id, one.text, dict(one.kept), one.position) for one in found] == [
        ("1", "Café", {"stars": 4.5, "day": "2024-02-29T00:00:00", "new": True}, "a.xlsx, row 3"),
        ("2", "日本", {}, "a.xlsx, row 5"),
    ]


def test_an_empty_cell_is_an_empty_text_in_every_table(tmp_path: Path) -> None:
    """CSV, TSV and Excel alike; without an id a record is still refused."""
    rows: list[list[Any]] = [["id", "title", "text"], [1, "a", "b"], [2, "c"], [3, None, "d"]]
    sheet(tmp_path / "a.xlsx", rows)
    for name, between in (("a.csv", ","), ("a.tsv", "\t")):
        lines = (between.join(str(cell or "") for cell in [*row, None][:3]) for row in rows)
        write(tmp_path / name, "\n".join(lines))
    for name in ("a.csv", "a.tsv", "a.xlsx"):
        assert told(tmp_path / name)[:2] == ([("1", "b"), ("2", ""), ("3", "d")], [])
        both = told(tmp_path / name, text=("title", "text"))
        assert both[:2] == ([("1", "a\nb"), ("2", "c\n"), ("3", "\nd")], [])


def test_bad_rows_and_files_of_excel(tmp_path: Path) -> None:
    """As those of other tables."""
    rows: list[list[Any]] = [["id", "text"], *([number, "a"] for number in range(6))]
    path = sheet(tmp_path / "a.xlsx", [*rows, [None, "b"], [8, None], [9, 5]])
    assert told(path)[1] == [
        "no id: 'id' is missing or null",
        "the text in 'text' is the number 5, not text",
    ]
    with refusal(SourceError, "column-missing", "'id'", "'key'"):
        told(sheet(tmp_path / "b.xlsx", [["key"], ["a"]]))
    with refusal(SourceError, "file-empty", "c.xlsx"):
        told(sheet(tmp_path / "c.xlsx", []))
    for content in (b"", b"id and text\n1 a\n", (tmp_path / "a.xlsx").read_bytes()[:-500]):
        with refusal(SourceError, "file-damaged", "d.xlsx"):
            told(write(tmp_path / "d.xlsx", content))
    damaged = bytearray((tmp_path / "a.xlsx").read_bytes())
    for at in range(0, len(damaged), 40):
        path = write(tmp_path / "e.xlsx", bytes([*damaged[:at], 255, *damaged[at + 1 :]]))
        with suppress(SourceError):
            assert len(told(path)[0]) <= 7


def test_excel_without_its_library_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The extra [formats] has it."""
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with refusal(SourceError, "package-missing", "openpyxl", "[formats]"):
        told(write(tmp_path / "a.xlsx", b""))
