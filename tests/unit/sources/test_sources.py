"""Sources that are as they should be: every format, compressed or not, gives its documents."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import neardup_solr as nd
from tests.reading import read, write

LINES = "1 Café Übermut\n\n\n2\t日本  本屋\n3\n"
EXPECTED = [("1", "Café Übermut"), ("2", "日本  本屋"), ("3", "")]


def pairs(source: str | Path, **options: Any) -> list[tuple[str, str]]:
    return [(document.id, document.text) for document in read(source, **options)]


GOOD: dict[str, str] = {
    "a.txt": LINES,
    "a.csv": 'id,text\n1,Café Übermut\n\n2,"日本  本屋"\n3,\n',
    "a.tsv": "text\tid\nCafé Übermut\t1\n日本  本屋\t2\n\t3\n",
    "a.jsonl": '{"id":1,"text":"Café Übermut"}\n\n{"text":["日本  本屋"],"id":"2"}\n'
    '{"id":"3","text":"","more":[1]}',
    "a.ndjson": '{"id":1,"text":"Caf\\u00e9 Übermut"}\n{"id":"2","text":"日本  本屋"}\n'
    '{"id":"3","text":""}\n',
}


@pytest.mark.parametrize("name", GOOD)
def test_each_format_of_lines_gives_its_documents(tmp_path: Path, name: str) -> None:
    """Lines, CSV, TSV and JSONL of the same documents read the same."""
    assert pairs(write(tmp_path / name, GOOD[name])) == EXPECTED


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize(
    ("suffix", "compress"), [(".gz", gzip.compress), (".ZST", zstandard.compress)]
)
def test_compressed_files_read_as_plain_ones(
    tmp_path: Path, name: str, suffix: str, compress: Callable[[bytes], bytes]
) -> None:
    """Gzip and Zstandard are undone, also where the file is several of them in a row."""
    content = GOOD[name].encode()
    two_members = compress(content[:20]) + compress(content[20:])
    assert pairs(write(tmp_path / (name + suffix), two_members)) == EXPECTED


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ],
)
def test_byte_order_marks_are_recognised(
    tmp_path: Path, name: str, mark: bytes, encoding: str
) -> None:
    """A mark tells UTF-8 or UTF-16 and is no part of the first id or column."""
    assert pairs(write(tmp_path / name, mark + GOOD[name].encode(encoding))) == EXPECTED


@pytest.mark.parametrize("name", GOOD)
def test_windows_line_ends_are_no_part_of_the_text(tmp_path: Path, name: str) -> None:
    """Carriage returns before newlines are taken off."""
    assert pairs(write(tmp_path / name, GOOD[name].replace("\n", "\r\n"))) == EXPECTED


def test_a_format_that_is_named_overrules_the_suffix(tmp_path: Path) -> None:
    """`source_format` decides where the suffix says something else, or nothing."""
    path = write(tmp_path / "listing.dat.gz", gzip.compress(GOOD["a.tsv"].encode()))
    assert pairs(path, source_format="tsv") == EXPECTED


def test_parquet_gives_its_rows(tmp_path: Path) -> None:
    """Parquet columns of text, numbers and bytes become documents with row positions."""
    table = pa.table({"n": [1, 2, 3], "body": [text.encode() for _, text in EXPECTED]})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=2)
    found = list(nd.read(tmp_path / "a.parquet", id="n", text=("body",)))
    assert [(one.id, one.text) for one in found] == EXPECTED
    assert found[2].position == "a.parquet, row 3"


def test_a_folder_gives_its_text_files_in_order(tmp_path: Path) -> None:
    """Files are sorted by path, ids are paths within the folder, hidden files are left out."""
    root = tmp_path / "texts"
    (root / "b" / "deep").mkdir(parents=True)
    write(root / "b" / "deep" / "z.txt", "last\nline")
    write(root / "a.txt", "first")
    write(root / "b" / "m.md.gz", gzip.compress(b"middle"))
    write(root / "empty.txt", "")
    write(root / ".hidden", "no")
    (root / "same").symlink_to(root / "b")
    (root / "z-link.txt").symlink_to(root / "a.txt")
    assert [(one.id, one.text, one.position) for one in nd.read(root, id="id")] == [
        ("a.txt", "first", "texts/a.txt"),
        ("b/deep/z.txt", "last\nline", "texts/b/deep/z.txt"),
        ("b/m.md.gz", "middle", "texts/b/m.md.gz"),
        ("empty.txt", "", "texts/empty.txt"),
        ("z-link.txt", "first", "texts/z-link.txt"),
    ]


def test_standard_input_is_read_as_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """The source "-" is standard input, of the format lines unless another is named."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LINES.encode())))
    found = list(nd.read("-", id="id"))
    assert [(one.id, one.text) for one in found] == EXPECTED
    assert found[1].position == "standard input, line 4"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(GOOD["a.csv"].encode())))
    assert pairs("-", source_format="csv") == EXPECTED


@pytest.mark.parametrize("format", ["lines", "csv", "tsv", "jsonl", "json", None])
def test_a_pipe_is_not_touched_before_a_record_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, format: str | None
) -> None:
    """A command may refuse what it was given first, and then read the pipe from its start."""
    piped = io.BytesIO(b"id,text\n1,one two\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(piped))
    nd.read(nd.Source("-", source_format=format), id="id", on_error=lambda _: None)
    assert piped.tell() == 0


def test_positions_are_the_lines_where_records_start(tmp_path: Path) -> None:
    """A quoted newline shifts the line numbers of the records after it."""
    path = write(tmp_path / "a.csv", 'id,text\n\n1,"two\nlines"\n2,"a ""b"", c"\n')
    assert [(one.text, one.position) for one in nd.read(path, id="id")] == [
        ("two\nlines", "a.csv, line 3"),
        ('a "b", c', "a.csv, line 5"),
    ]


def test_quotes_in_tsv_may_be_just_quotes(tmp_path: Path) -> None:
    """TSV that was written without quoting keeps its quotes, and its rows apart."""
    text = 'id\ttext\n1\t"Hello" he said\n2\tshe said "5" pipe"\n3\t"open\n4\tclose"\n5\t"a\nb"\n'
    assert pairs(write(tmp_path / "a.tsv", text)) == [
        ("1", '"Hello" he said'),
        ("2", 'she said "5" pipe"'),
        ("3", '"open'),
        ("4", 'close"'),
        ("5", "a\nb"),
    ]


def test_kept_columns_come_under_their_own_names(tmp_path: Path) -> None:
    """CSV gives text, JSONL gives JSON, what is empty or absent is left out."""
    keep = ("city", "stars")
    table = write(tmp_path / "a.csv", "id,text,city,stars\n1,a,Ås,\n2,b,,4\n")
    assert [dict(one.kept) for one in nd.read(table, keep=keep)] == [
        {"city": "Ås"},
        {"stars": "4"},
    ]
    objects = '{"id":1,"text":"","city":["Ås"],"stars":null}\n{"id":2,"text":"","stars":4.5}\n'
    found = nd.read(write(tmp_path / "a.jsonl", objects), keep=keep)
    assert [dict(one.kept) for one in found] == [{"city": ["Ås"]}, {"stars": 4.5}]


def test_kept_parquet_values_become_json(tmp_path: Path) -> None:
    """Dates come in ISO form, NaN and null are left out, lists stay lists."""
    table = pa.table(
        {
            "id": ["1", "2"],
            "text": ["a", "b"],
            "day": [date(2024, 2, 29), None],
            "stars": [float("nan"), 4.5],
            "tags": [["x"], None],
        }
    )
    pq.write_table(table, tmp_path / "a.parquet")
    found = nd.read(tmp_path / "a.parquet", id="id", keep=("day", "stars", "tags"))
    assert [dict(one.kept) for one in found] == [
        {"day": "2024-02-29", "tags": ["x"]},
        {"stars": 4.5},
    ]


def test_kept_objects_become_their_json(tmp_path: Path) -> None:
    """Solr would take an object for an order or a document: it comes as text, in lists, too."""
    values: list[object] = [{"add": "x"}, [{"é": 1}, "y", [2, None]], {}, True, 3]
    texts = ['{"add":"x"}', ['{"é":1}', "y", "[2,null]"], "{}", True, 3]
    lines = [json.dumps({"id": 1, "text": "", "tags": value}) for value in values]
    found = nd.read(write(tmp_path / "a.jsonl", "\n".join(lines)), keep="tags")
    assert [one.kept["tags"] for one in found] == texts
    struct = pa.array([{"day": date(2024, 2, 29)}])
    mapped = pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64()))
    table = pa.table({"id": ["1"], "text": [""], "struct": struct, "map": mapped})
    pq.write_table(table, tmp_path / "a.parquet")
    (one,) = nd.read(tmp_path / "a.parquet", id="id", keep=("struct", "map"))
    assert dict(one.kept) == {"struct": '{"day":"2024-02-29"}', "map": ['["k",1]']}


def test_huge_whole_numbers_stay_exact_as_ids(tmp_path: Path) -> None:
    """An id of more than 64 bits is what is written, digit for digit."""
    path = write(tmp_path / "a.jsonl", '{"id":123456789012345678901234567890,"text":"a"}\n')
    assert pairs(path) == [("123456789012345678901234567890", "a")]


def test_a_table_of_only_a_header_has_no_documents(tmp_path: Path) -> None:
    """A header without rows is a table of none, not an error."""
    assert pairs(write(tmp_path / "a.csv", "id,text\n")) == []


def test_lossy_reading_replaces_invalid_bytes(tmp_path: Path) -> None:
    """With `lossy`, bytes that are not UTF-8 become U+FFFD in every format."""
    contents = {
        "a.txt": b"1 caf\xe9\n",
        "a.csv": b'id,text\n1,"caf\xe9"\n',
        "a.tsv": b"id\ttext\n1\tcaf\xe9\n",
        "a.jsonl": b'{"id":1,"text":"caf\xe9"}\n',
    }
    for name, content in contents.items():
        assert pairs(write(tmp_path / name, content), lossy=True) == [("1", "caf\ufffd")], name


# Round trips. A carriage return at the end of a line cannot be told from a line end, and NUL is
# refused; what Python calls white space ends an id of the format lines.
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"))
IDS = TEXT.filter(lambda text: 0 < len(text.encode()) <= 512)
ROWS = st.lists(st.tuples(IDS, TEXT), max_size=20)
round_trip = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@round_trip
@given(rows=ROWS, delimiter=st.sampled_from([",", "\t"]), quoting=st.sampled_from([0, 1]))
def test_tables_round_trip(
    tmp_path: Path, rows: list[tuple[str, str]], delimiter: str, quoting: int
) -> None:
    """What Python's csv module writes is read back, quoted where needed or everywhere."""
    if delimiter == "\t":  # a field with both is taken for rows, as TSV mostly is not quoted
        rows = [(id.replace("\t", " "), text.replace("\t", " ")) for id, text in rows]
    path = tmp_path / ("a.csv" if delimiter == "," else "a.tsv")
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL if quoting else 0)
        writer.writerows([("id", "text"), *rows])
    assert pairs(path) == rows


@round_trip
@given(rows=ROWS, ascii=st.booleans())
def test_jsonl_round_trips(tmp_path: Path, rows: list[tuple[str, str]], ascii: bool) -> None:
    """What Python's json module writes is read back, escaped or not."""
    lines = [json.dumps({"id": id, "text": text}, ensure_ascii=ascii) for id, text in rows]
    assert pairs(write(tmp_path / "a.jsonl", "\n" + "\n".join(lines))) == rows


@round_trip
@given(rows=ROWS)
def test_lines_round_trip(tmp_path: Path, rows: list[tuple[str, str]]) -> None:
    """Ids without white space and texts on one line are read back."""
    rows = [("".join(id.split()) or "x", text.replace("\n", " ").strip()) for id, text in rows]
    lines = "\n" + "\n".join(f"{id} {text}" for id, text in rows)
    assert pairs(write(tmp_path / "a.txt", lines)) == rows


def test_documents_are_given_while_the_source_is_read(tmp_path: Path) -> None:
    """A long source is streamed: the first documents come before its end is known."""
    good = "".join(f"{number} text\n" for number in range(5_000))
    path = write(tmp_path / "a.txt.gz", gzip.compress(good.encode())[:-9])
    documents = nd.read(path, id="id")
    assert isinstance(next(documents), nd.Document)
