"""Headers of tables: a first line that is a record is told, whatever stands between the columns."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pytest

import neardup_solr as nd
from neardup_solr.errors import SourceError
from tests.reading import write
from tests.refusals import refusal

RECORDS = {
    "commas in some texts": [
        "1;Red house by the lake, with a door", "2;Green car without any wheels",
        "3;Red house by the lake, with a doors", "4;Oak table",
    ],
    "decimal commas": [
        "A1;Bern;Red house, with a door;120,50", "A2;Rome;Green car without any wheels;80,00",
        "A3;Bern;Red house, with a doors;120,50",
    ],
    "a comma in each text": [
        "2024-01-05 10:00;ERROR;disk full on node, retry",
        "2024-01-05 10:01;WARN;disk full on node, retry later",
        "2024-01-05 10:02;INFO;disk full on nodes, retry",
    ],
    "quoted": ['"1";"Red house, with a door"', '"2";"Green car"', '"3";"Oak, old"'],
    "dates": [
        "Anna Meier;12.05.1990;Seeweg 5", "Beat Huber;01.02.1980;Bahnhofstrasse 17, Bern",
        "Anna Meyer;12.05.1990;Seeweg 5",
    ],
    "addresses": ["Anna;anna@example.org", "Beat, Dr.;beat@example.org", "Eva;eva@example.com"],
    "numbers that go on": ["1;Oak", "2;Ash wood", "3;Pine, old", "4;Elm"],
    "values that come again": [
        "Red house by the lake, with a door;Bern", "Green car;Oslo", "Red house, with a door;Bern",
    ],
    "sentences": [
        "The ferry leaves at nine, with a band.;x", "The market opens at ten.;y",
        "The ferry leaves at nine, with two bands.;z",
    ],
}  # fmt: skip
TABLES = {
    "years": ["country;2019;2020;2021", "Chad;2020;1,5;5", "Mali;2019;2,5;5"],
    "numbers of questions": ["id;1;2;3", "a;1;1;2", "b;2;1;3", "c;4;4;1"],
    "a long name": ["Please describe what you have seen;age", "It was, all in all, good;33",
                    "I did not see much;44", "It was, all in all, good;33"],
    "commas in names": ["item;price, EUR", "Oak table;1,50", "Ash table;2,50", "Oak tables;1,50"],
    "codes": ["item;Q1.2", "Oak table;1.2", "Ash table;1.3", "Oak tables;1.2"],
}  # fmt: skip


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
@pytest.mark.parametrize("rows", RECORDS.values(), ids=[*RECORDS])
def test_a_record_is_no_header(rows: list[str], delimiter: str, tmp_path: Path) -> None:
    """It is not lost, and the names that the error proposes are of as many columns."""
    lines = [row.replace(";", delimiter) for row in rows]
    path = write(tmp_path / "a.csv", "\n".join([*lines, ""]))
    with refusal(SourceError, "header-invalid", "no header") as caught:
        nd.duplicates(path)
    header = caught.value.next_step.rpartition(" ")[2]
    assert header.count(delimiter) == rows[0].count(";")
    path = write(path, "\n".join([header, *lines, ""]))
    assert nd.duplicates(path, by="all").documents == len(rows)


@pytest.mark.parametrize("rows", TABLES.values(), ids=[*TABLES])
def test_names_that_look_like_values_are_a_header(rows: list[str], tmp_path: Path) -> None:
    """Years, numbers and long names are read as what they are."""
    path = write(tmp_path / "a.csv", "\n".join([*rows, ""]))
    assert nd.duplicates(path, by="all").documents == len(rows) - 1


def test_a_record_of_a_sheet_is_no_header(tmp_path: Path) -> None:
    """Its cells may be dates and numbers."""
    book = openpyxl.Workbook()
    for row in RECORDS["dates"]:
        book.active.append(row.split(";"))
    book.save(tmp_path / "a.xlsx")
    with refusal(SourceError, "header-invalid", "no header"):
        nd.duplicates(tmp_path / "a.xlsx")


@pytest.mark.parametrize("rows", ["1,red;green\n2,red;blue\n3,red;green\n", "a;b,c;d\ne;f,g;h\n"])
def test_semicolons_within_values_separate_nothing(rows: str, tmp_path: Path) -> None:
    """The usual delimiter counts where it makes columns, too."""
    path = write(tmp_path / "a.csv", f"id,text\n{rows}")
    assert next(each.text for each in nd.read(path)) in ("red;green", "c;d")
