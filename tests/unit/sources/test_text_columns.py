"""Columns of texts: in any case, several joined, missing ones told; tables without records."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup_solr as nd
from neardup_solr.errors import ArgumentError, SourceError
from tests.reading import told, write
from tests.refusals import refusal


@pytest.mark.parametrize("header", ["ID,Text", " Id , TEXT ", "\ufeffId,tExT", '"ID","Text"'])
def test_headers_are_read_in_any_case(tmp_path: Path, header: str) -> None:
    """A mark or blanks around a name do not count, either."""
    assert told(write(tmp_path / "a.csv", f"{header}\n1,a\n"))[0] == [("1", "a")]


def test_an_exact_name_comes_first(tmp_path: Path) -> None:
    """`ID` is not `id` if both are there; if neither is, and two are near, one has to be named."""
    assert told(write(tmp_path / "a.csv", "ID,id,text\n1,2,a\n"))[0] == [("2", "a")]
    path = write(tmp_path / "b.csv", "ID,Id,text\n1,2,a\n")
    with refusal(SourceError, "column-repeated", "'id'", "'ID'", "'Id'"):
        told(path)
    assert told(path, id="Id")[0] == [("2", "a")]


def test_objects_are_read_in_any_case(tmp_path: Path) -> None:
    """Each object names its own columns; kept ones get the name that was asked for."""
    path = write(tmp_path / "a.jsonl", '{"ID":1,"Text":"a","CITY":"x"}\n{"id":2,"text":"b"}\n')
    found = list(nd.read(path, id="id", keep=("city",)))
    assert [(one.id, one.text, dict(one.kept)) for one in found] == [
        ("1", "a", {"city": "x"}),
        ("2", "b", {}),
    ]


def test_parquet_is_read_in_any_case(tmp_path: Path) -> None:
    """As other tables."""
    pq.write_table(pa.table({"ID": [1], "Text": ["a"]}), tmp_path / "a.parquet")
    assert told(tmp_path / "a.parquet")[0] == [("1", "a")]


BOTH = ("title", "body")


def test_several_columns_are_one_text(tmp_path: Path) -> None:
    """The text of a document is that of all of them, in the order asked for."""
    write(tmp_path / "a.csv", "id,body,title\n1,b,A\n2,,C\n")
    assert told(tmp_path / "a.csv", text=BOTH)[0] == [("1", "A\nb"), ("2", "C\n")]
    pq.write_table(
        pa.table({"id": ["1", "2", "3", "4"], "title": ["A", None, None, "D"],
                  "body": ["b", "c", None, None]}), tmp_path / "a.parquet"
    )  # fmt: skip
    objects = pq.read_table(tmp_path / "a.parquet").to_pylist()
    write(tmp_path / "a.jsonl", "\n".join(map(json.dumps, objects)))
    write(tmp_path / "a.json", json.dumps(objects))
    for name in ("a.parquet", "a.jsonl", "a.json"):
        found, errors, _ = told(tmp_path / name, text=BOTH)
        assert found == [("1", "A\nb"), ("2", "c"), ("4", "D")]
        assert errors == ["no text: 'title' and 'body' are missing or null"]


def test_a_text_column_that_is_nowhere_does_not_go_unnoticed(tmp_path: Path) -> None:
    """A header refuses it; of objects, each of which may lack some, it is told at the end."""
    write(tmp_path / "a.csv", "id,title\n1,A\n")
    with refusal(SourceError, "column-missing", "'body'"):
        told(tmp_path / "a.csv", text=BOTH)
    write(tmp_path / "a.jsonl", '{"id":1,"title":"A"}\n')
    assert told(tmp_path / "a.jsonl", text=BOTH) == (
        [("1", "A")], [], ["a.jsonl: no record has a column 'body'"],
    )  # fmt: skip


def test_an_object_among_several_columns_is_its_json(tmp_path: Path) -> None:
    """Nothing of it is left out in silence; alone it is no text."""
    lines = ['{"id":1,"title":"A","body":"b"}', '{"id":2,"title":"A","body":{"b":5}}']
    assert told(write(tmp_path / "a.jsonl", "\n".join(lines)), text=BOTH)[0] == [
        ("1", "A\nb"), ("2", 'A\n{"b":5}'),
    ]  # fmt: skip


@pytest.mark.parametrize("text", [(), ("a", "a")])
def test_text_columns_that_cannot_be(text: tuple[str, ...]) -> None:
    """There has to be one, and each of them once."""
    with refusal(ArgumentError, "argument-invalid", "`text`"):
        nd.read([("1", "a")], text=text)


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.csv", "id,text\n"), ("a.tsv", "id\ttext\n\n"), ("a.json", "[]"), ("a.txt", "\n\n"),
     ("a.csv.gz", gzip.compress(b"id,text\n", mtime=0))],
)  # fmt: skip
def test_a_header_alone_is_told(tmp_path: Path, name: str, content: str | bytes) -> None:
    """No documents are no error, but no secret either."""
    line = f"{name} contains no records"
    assert told(write(tmp_path / name, content)) == ([], [], [line])


def test_notices_are_logged_if_nobody_asks(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Under the name of the package."""
    assert list(nd.read(write(tmp_path / "a.csv", "id;text\n1;a\n"), id="id"))
    assert [(each.name, each.levelname) for each in caplog.records] == [("neardup_solr", "WARNING")]
