"""Delimiters of tables: recognised, named, or refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import neardup_solr as nd
from neardup_solr.errors import ArgumentError, SourceError
from tests.reading import told, write
from tests.refusals import refusal

EXPECTED = [("1", "Café Übermut"), ("2", "日本, 本屋")]


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_another_delimiter_is_noticed_and_told(tmp_path: Path, delimiter: str) -> None:
    """Excel in Europe writes semicolons into .csv files."""
    table = 'id,text\n1,Café Übermut\n2,"日本, 本屋"\n'.replace(",", delimiter)
    table = table.replace(f"日本{delimiter}", "日本,")
    assert told(write(tmp_path / "a.csv", table)) == (
        EXPECTED,
        [],
        [f"a.csv: its columns are separated by {delimiter!r}, and are read that way"],
    )


def test_the_usual_delimiter_is_not_told(tmp_path: Path) -> None:
    """Also where a name or a text holds others."""
    assert told(write(tmp_path / "a.csv", "id,text,a;b|c\n1,x;y,\n")) == ([("1", "x;y")], [], [])
    assert told(write(tmp_path / "a.tsv", "id\ttext\ta,b\n1\tx,y\t\n")) == ([("1", "x,y")], [], [])


@pytest.mark.parametrize("delimiter", ["~", "é", " ", "\\t", "\t", ";"])
def test_a_delimiter_may_be_named(tmp_path: Path, delimiter: str) -> None:
    """One character, of more than one byte too; a tab also as a backslash and a t."""
    one = delimiter.replace("\\t", "\t")
    table = f'id{one}text\n1{one}a,b\n2{one}"c{one}d"\n'
    for name in ("a.csv", "a.tsv", "a.txt", "a.dat", "a"):
        if one != "\t" or "tsv" not in name:
            expected = [("1", "a,b"), ("2", f"c{one}d")]
            assert told(write(tmp_path / name, table), delimiter=delimiter) == (expected, [], [])


@pytest.mark.parametrize("delimiter", ["", ";;", "\n", '"', "\0"])
def test_a_delimiter_that_cannot_be(tmp_path: Path, delimiter: str) -> None:
    """It has to be one character that can stand between fields."""
    with refusal(ArgumentError, "argument-invalid", "`delimiter`"):
        told(tmp_path / "none.csv", delimiter=delimiter)


def test_only_tables_have_a_delimiter(tmp_path: Path) -> None:
    """What has none says so."""
    with refusal(ArgumentError, "arguments-conflict", "jsonl", "`delimiter`"):
        told(write(tmp_path / "a.jsonl", "{}"), delimiter=";")


TABLE = "name,city,price\nAnna Meyer,Rome,10\nBernd Huber,Oslo,20\nCarla Weber,Bonn,30\n"


def test_a_named_delimiter_that_no_row_has_is_refused(tmp_path: Path) -> None:
    """One column of whole lines would be compared."""
    table = write(tmp_path / "a.csv", TABLE)
    with refusal(SourceError, "csv-delimiter", "','"):
        nd.duplicates(nd.Source(table, delimiter=";"))
    assert nd.duplicates(nd.Source(table, delimiter=",")).documents == 3


@pytest.mark.parametrize("rows", ["one, two\nthree\nfour\n", 'one, two\na, b c\n"c; d"\n'])
def test_a_column_with_another_delimiter_in_its_name_is_read(tmp_path: Path, rows: str) -> None:
    """Its rows are not of several columns, or have the named delimiter."""
    table = write(tmp_path / "a.csv", rows)
    assert nd.duplicates(nd.Source(table, delimiter=";")).documents == 2
