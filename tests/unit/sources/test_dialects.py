"""Files as people have them: delimiters, encodings, headers in any case, arrays, Excel, pipes."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import neardup_solr as nd
from neardup_solr.errors import ArgumentError, RecordError, SourceError
from neardup_solr.sources import Reading, reading_of
from neardup_solr.sources import documents as read
from neardup_solr.testing import SIZES

EXPECTED = [("1", "Café Übermut"), ("2", "日本, 本屋")]
WESTERN = [("1", "Café Übermut"), ("2", "piñata, señor")]


def told(
    path: Path | str, reading: Reading | None = None
) -> tuple[list[tuple[str, str]], list[str], list[str]]:
    """The documents, the reasons of bad records, and what is noticed."""
    errors: list[RecordError] = []
    lines: list[str] = []
    found = read(path, reading=reading or Reading(), on_error=errors.append, on_notice=lines.append)
    return [(one.id, one.text) for one in found], [error.reason for error in errors], lines


def dialect(**options: Any) -> Reading:
    """How a source with these options is read."""
    return reading_of(nd.Source((), **options), "none")[1]


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def piped(monkeypatch: pytest.MonkeyPatch, content: str | bytes) -> None:
    raw = content if isinstance(content, bytes) else content.encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))


# Delimiters


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
    reading = dialect(delimiter=delimiter)
    for name in ("a.csv", "a.tsv", "a.txt", "a.dat", "a"):
        if one != "\t" or "tsv" not in name:
            expected = [("1", "a,b"), ("2", f"c{one}d")]
            assert told(write(tmp_path / name, table), reading) == (expected, [], [])


@pytest.mark.parametrize("delimiter", ["", ";;", "\n", '"', "\0"])
def test_a_delimiter_that_cannot_be(delimiter: str) -> None:
    """It has to be one character that can stand between fields."""
    with pytest.raises(ArgumentError, match="`delimiter` cannot be"):
        dialect(delimiter=delimiter)


def test_only_tables_have_a_delimiter(tmp_path: Path) -> None:
    """What has none says so."""
    with pytest.raises(ArgumentError, match="jsonl has no delimiter; leave `delimiter` out"):
        read(write(tmp_path / "a.jsonl", "{}"), reading=dialect(delimiter=";"))


# Encodings


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "mac-roman", "utf-16-le", "utf-32"])
@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.txt", "a.jsonl", "a.json", "a.csv.gz"])
def test_an_encoding_may_be_named(tmp_path: Path, name: str, encoding: str) -> None:
    """Every encoding that Python knows serves for every format of text."""
    lines = {
        "csv": 'id,text\n1,Café Übermut\n2,"piñata, señor"\n',
        "tsv": "id\ttext\n1\tCafé Übermut\n2\tpiñata, señor\n",
        "txt": "1 Café Übermut\n2 piñata, señor\n",
        "jsonl": "".join(json.dumps({"id": i, "text": t}) + "\n" for i, t in WESTERN),
        "json": json.dumps([{"id": i, "text": t} for i, t in WESTERN], ensure_ascii=False),
    }
    content = lines[name.removesuffix(".gz").rpartition(".")[2]].encode(encoding)
    path = write(tmp_path / name, gzip.compress(content) if name.endswith("gz") else content)
    assert told(path, dialect(encoding=encoding)) == (WESTERN, [], [])


@pytest.mark.parametrize("encoding", ["shift_jis", "gb18030", "big5", "euc_jp", "iso2022_jp"])
def test_characters_may_lie_across_blocks(tmp_path: Path, encoding: str) -> None:
    """Characters of several bytes, wherever a block ends."""
    text = "日本" * 200_000
    path = write(tmp_path / "a.txt", f"1 x{text}\n2 {text}\n".encode(encoding))
    assert told(path, dialect(encoding=encoding))[0] == [("1", f"x{text}"), ("2", text)]


def test_what_is_not_of_the_encoding_is_an_error_of_its_record(tmp_path: Path) -> None:
    """It is named; the rest is read; `lossy` reads it all the same."""
    path = write(tmp_path / "a.txt", b"1 a\n2 \x81 b\n3 c\n4 d\n")
    reading = dialect(encoding="cp1252")
    assert told(path, reading) == (
        [("1", "a"), ("3", "c"), ("4", "d")],
        ["invalid cp1252: bytes that are not a character"],
        [],
    )
    lossy = dialect(encoding="cp1252", lossy=True)
    assert told(path, lossy)[0][1] == ("2", "\ufffd b")
    table = write(tmp_path / "a.csv", b'id,text\n1,a\n2,"\x81"\n3,c\n')
    assert told(table, reading)[:2] == (
        [("1", "a"), ("3", "c")],
        ["invalid cp1252: bytes that are not a character"],
    )


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "idna", "punycode"])
@pytest.mark.parametrize("name", ["a.csv", "a.txt", "a.jsonl"])
def test_a_file_that_is_not_of_the_encoding(tmp_path: Path, name: str, encoding: str) -> None:
    """What Python's decoders say is an error of ours."""
    path = write(tmp_path / name, "id,text\n1,größer\n".encode("cp1252"))
    with pytest.raises(SourceError, match=f"is not {encoding.upper()} .*`encoding`.* use cp1252"):
        told(path, dialect(encoding=encoding))


@pytest.mark.parametrize(
    "content", ["id,text\n1,größer\n2,größer\n", "id,text,größe\n1,a,b\n"], ids=["rows", "header"]
)
def test_what_is_not_utf8_asks_for_the_encoding_only(tmp_path: Path, content: str) -> None:
    """The columns are not to blame."""
    path = write(tmp_path / "a.csv", content.encode("cp1252"))
    with pytest.raises(SourceError, match="invalid UTF-8") as caught:
        told(path)
    assert caught.value.next_step == "it appears to be cp1252: set `encoding` to cp1252"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Café crème à Paris", "cp1252"), ("5 € – „gut“, größer", "cp1252"),
        ("Smörgåsbord på Åland", "cp1252"), ("¿Qué? Señor, mañana", "cp1252"),
        ("zażółć gęślą jaźń", "cp1250"), ("příliš žluťoučký kůň", "cp1250"),
        ("Привет мир и люди", "cp1251"), ("Καλημέρα κόσμε τι κάνεις", "cp1253"),
        ("これは日本語の文章です", "cp932"), ("这是一个中文句子测试", "gb18030"),
        ("這是一個中文句子測試", "big5"), ("안녕하세요 세계 이것은", "cp949"),
        ("größer", "utf-16-le"), ("größer", "utf-16-be"), ("北京大学", "gb18030"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.txt"])
def test_the_likely_encoding_is_named(tmp_path: Path, text: str, encoding: str, name: str) -> None:
    """And with it the file can be read."""
    lines = {
        "a.csv": f'id,text\n1,"{text}"\n',
        "a.jsonl": json.dumps({"id": "1", "text": text}, ensure_ascii=False) + "\n",
        "a.txt": f"1 {text}\n",
    }
    path = write(tmp_path / name, lines[name].encode(encoding))
    with pytest.raises(SourceError) as caught:
        told(path)
    assert caught.value.next_step == f"it appears to be {encoding}: set `encoding` to {encoding}"
    assert told(path, dialect(encoding=encoding))[0] == [("1", text)]


@pytest.mark.parametrize(("text", "notices"), [("5 € “new”", 1), ("größer", 0)])
def test_cp1252_is_not_taken_for_latin_1(tmp_path: Path, text: str, notices: int) -> None:
    """A line says so, once, if there are bytes that are characters in cp1252 only."""
    path = write(tmp_path / "a.csv", f"id,text\n1,{text}\n2,{text}\n".encode("cp1252"))
    line = "a.csv: this looks like cp1252: characters such as € would be lost; "
    expected = [f"{line}set its encoding to cp1252"] * notices
    assert told(path, dialect(encoding="latin-1"))[2] == expected
    assert told(path, dialect(encoding="cp1252"))[2] == []


def test_a_mark_of_utf8_is_passed_over_where_it_is_named(tmp_path: Path) -> None:
    """`utf-8-sig` and UTF-8 are the same here."""
    path = write(tmp_path / "a.csv", b"\xef\xbb\xbfid,text\n1,caf\xc3\xa9\n")
    for encoding in ("utf-8", "utf-8-sig", "UTF8"):
        assert told(path, dialect(encoding=encoding))[0] == [("1", "café")]


@pytest.mark.parametrize("encoding", ["no-such", "zlib", "rot13", "", "a\0b"])
def test_an_encoding_that_cannot_be(encoding: str) -> None:
    """What Python does not know as an encoding of text is refused before anything is read."""
    with pytest.raises(ArgumentError, match="`encoding` cannot be"):
        dialect(encoding=encoding)


def test_binary_formats_have_their_own_encoding(tmp_path: Path) -> None:
    """Parquet and Excel say so."""
    with pytest.raises(ArgumentError, match="parquet has its own encoding; leave `encoding` out"):
        read(write(tmp_path / "a.parquet", ""), reading=dialect(encoding="latin-1"))


# Columns


@pytest.mark.parametrize("header", ["ID,Text", " Id , TEXT ", "\ufeffId,tExT", '"ID","Text"'])
def test_headers_are_read_in_any_case(tmp_path: Path, header: str) -> None:
    """A mark or blanks around a name do not count, either."""
    assert told(write(tmp_path / "a.csv", f"{header}\n1,a\n"))[0] == [("1", "a")]


def test_an_exact_name_comes_first(tmp_path: Path) -> None:
    """`ID` is not `id` if both are there; if neither is, and two are near, one has to be named."""
    assert told(write(tmp_path / "a.csv", "ID,id,text\n1,2,a\n"))[0] == [("2", "a")]
    path = write(tmp_path / "b.csv", "ID,Id,text\n1,2,a\n")
    with pytest.raises(SourceError, match="'id' matches several columns: 'ID', 'Id'"):
        told(path)
    assert told(path, Reading(id="Id"))[0] == [("2", "a")]


def test_objects_are_read_in_any_case(tmp_path: Path) -> None:
    """Each object names its own columns; kept ones get the name that was asked for."""
    path = write(tmp_path / "a.jsonl", '{"ID":1,"Text":"a","CITY":"x"}\n{"id":2,"text":"b"}\n')
    found = list(read(path, reading=Reading(keep=("city",))))
    assert [(one.id, one.text, dict(one.kept)) for one in found] == [
        ("1", "a", {"city": "x"}),
        ("2", "b", {}),
    ]


def test_parquet_is_read_in_any_case(tmp_path: Path) -> None:
    """As other tables."""
    pq.write_table(pa.table({"ID": [1], "Text": ["a"]}), tmp_path / "a.parquet")
    assert told(tmp_path / "a.parquet")[0] == [("1", "a")]


BOTH = Reading(text=("title", "body"))


def test_several_columns_are_one_text(tmp_path: Path) -> None:
    """The text of a document is that of all of them, in the order asked for."""
    write(tmp_path / "a.csv", "id,body,title\n1,b,A\n2,,C\n")
    assert told(tmp_path / "a.csv", BOTH)[0] == [("1", "A\nb"), ("2", "C\n")]
    pq.write_table(
        pa.table({"id": ["1", "2", "3", "4"], "title": ["A", None, None, "D"],
                  "body": ["b", "c", None, None]}), tmp_path / "a.parquet"
    )  # fmt: skip
    objects = pq.read_table(tmp_path / "a.parquet").to_pylist()
    write(tmp_path / "a.jsonl", "\n".join(map(json.dumps, objects)))
    write(tmp_path / "a.json", json.dumps(objects))
    for name in ("a.parquet", "a.jsonl", "a.json"):
        found, errors, _ = told(tmp_path / name, BOTH)
        assert found == [("1", "A\nb"), ("2", "c"), ("4", "D")]
        assert errors == ["no text: 'title' and 'body' are missing or null"]


def test_a_text_column_that_is_nowhere_does_not_go_unnoticed(tmp_path: Path) -> None:
    """A header refuses it; of objects, each of which may lack some, it is told at the end."""
    write(tmp_path / "a.csv", "id,title\n1,A\n")
    with pytest.raises(SourceError, match="the column 'body' is missing"):
        told(tmp_path / "a.csv", BOTH)
    write(tmp_path / "a.jsonl", '{"id":1,"title":"A"}\n')
    assert told(tmp_path / "a.jsonl", BOTH) == (
        [("1", "A")], [], ["a.jsonl: no record has a column 'body'"],
    )  # fmt: skip


def test_an_object_among_several_columns_is_its_json(tmp_path: Path) -> None:
    """Nothing of it is left out in silence; alone it is no text."""
    lines = ['{"id":1,"title":"A","body":"b"}', '{"id":2,"title":"A","body":{"b":5}}']
    assert told(write(tmp_path / "a.jsonl", "\n".join(lines)), BOTH)[0] == [
        ("1", "A\nb"), ("2", 'A\n{"b":5}'),
    ]  # fmt: skip


@pytest.mark.parametrize("text", [(), ("a", "a")])
def test_text_columns_that_cannot_be(text: tuple[str, ...]) -> None:
    """There has to be one, and each of them once."""
    with pytest.raises(ArgumentError, match="`text` must name columns"):
        Reading(text=text)


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
    assert list(read(write(tmp_path / "a.csv", "id;text\n1;a\n")))
    assert [(each.name, each.levelname) for each in caplog.records] == [("neardup_solr", "WARNING")]


# JSON


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.ndjson", "a.json.gz"])
@pytest.mark.parametrize("indent", [None, 0, 2])
def test_an_array_of_objects_is_a_source(tmp_path: Path, name: str, indent: int | None) -> None:
    """Written in one line or in many, whatever the suffix says."""
    text = 'a "quote", {bracket], \\ and [\n'
    objects = [{"id": 1, "text": text, "more": [{"a": []}]}, {"id": "2", "text": "é"}]
    content = b"\xef\xbb\xbf " + json.dumps(objects, indent=indent, ensure_ascii=False).encode()
    path = write(tmp_path / name, gzip.compress(content) if name.endswith("gz") else content)
    assert told(path) == ([("1", text), ("2", "é")], [], [])


def test_an_object_a_line_may_be_called_json(tmp_path: Path) -> None:
    """The suffix .json says both."""
    assert told(write(tmp_path / "a.json", '{"id":1,"text":"a"}\n'))[0] == [("1", "a")]


def test_bad_elements_cost_themselves_only(tmp_path: Path) -> None:
    """They are counted from 1; the rest of the array is read."""
    good = ",".join(f'{{"id":{number},"text":"a"}}' for number in range(6))
    content = f'[{good}, 5, {{"id":7}}, {{"id": x}}, , {{"id":"10","text":"b"}}]'.encode()
    errors: list[RecordError] = []
    found = list(read(write(tmp_path / "a.json", content), on_error=errors.append))
    assert [one.id for one in found] == ["0", "1", "2", "3", "4", "5", "10"]
    assert found[-1].position == "a.json, record 11"
    assert [f"{error.position}: {error.reason.partition(' (')[0]}" for error in errors] == [
        "a.json, record 7: not a JSON object",
        "a.json, record 8: no text: 'text' is missing or null",
        "a.json, record 9: malformed JSON",
        "a.json, record 10: malformed JSON",
    ]


ELEMENTS = ",".join(f'{{"id":{number},"text":"a"}}' for number in range(6))
ENDS: dict[str, tuple[str, str]] = {
    "cut": (f"[{ELEMENTS},", "the file ends too early (the array is not closed)"),
    "cut_within": (f'[{ELEMENTS},{{"id":"7', "the file ends too early (the array is not closed)"),
    "followed": (f"[{ELEMENTS}]\n[1]", "the text after the array is not read: write one"),
}


@pytest.mark.parametrize("name", ENDS)
def test_an_array_that_does_not_end_as_it_should(tmp_path: Path, name: str) -> None:
    """What is whole is read; then one error."""
    content, words = ENDS[name]
    found, errors, _ = told(write(tmp_path / "a.json", content))
    assert len(found) == 6
    assert len(errors) == 1
    assert errors[0].startswith(words)


HUGE = {
    "string": '"%s"' % ("x" * 2_000_000),
    "marks": '"%s"' % ("]}{[,:" * 300_000),
    "escapes": '"%s"' % (r"\"\\" * 400_000),
    "numbers": f"[{'1,' * 900_000}1]",
    "objects": '{"a":[{"b":"]"}]},' * 90_000 + "1",
    "levels": "[" * 300_000 + "]" * 300_000,
    "backslashes": '"%s"' % ("\\" * 1_000_000),
}


@pytest.mark.parametrize("kind", HUGE)
@pytest.mark.parametrize("block", [4_099, 2**18])
def test_an_element_over_the_limit_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, block: int
) -> None:
    """It is one error and not held; those after it are read, and so is the end of the array."""
    monkeypatch.setattr(SIZES, "read_block", block)
    reading = Reading(max_doc_bytes=1_000)
    element = f'{{"id":"7","text":"a","more":[{HUGE[kind]}]}}'
    for content, ids, words in (
        (f'[{ELEMENTS},{element},{{"id":"8","text":"a"}}]', [*"012345", "8"], None),
        (f"[{ELEMENTS},{element}]", [*"012345"], None),
        (f"[{ELEMENTS},{element} ", [*"012345"], "the file ends too early"),
        (f"[{ELEMENTS},{element}] x", [*"012345"], "the text after the array is not read"),
        (f"[{element},{ELEMENTS}]", [*"012345"], None),
    ):
        found, errors, _ = told(write(tmp_path / "a.json", content), reading)
        assert [id for id, _ in found] == ids
        assert errors[0] == "too_large: more than 1,000 bytes"
        assert len(errors) == (2 if words else 1)
        assert errors[-1].startswith(words or "too_large")


@pytest.mark.parametrize("block", [4_099, 2**18])
def test_an_element_is_too_large_wherever_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    """One that is read with others at once is refused as one that is not."""
    monkeypatch.setattr(SIZES, "read_block", block)
    element = '{"id":"7","text":"short","html":"%s"}' % ("x" * 70_000)
    path = write(tmp_path / "a.json", f"[{ELEMENTS},{element}]")
    found, errors, _ = told(path, Reading(max_doc_bytes=1_000))
    assert len(found) == 6
    assert errors == ["too_large: more than 1,000 bytes"]


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    rows=st.lists(st.tuples(st.text(min_size=1, max_size=20), st.text()), min_size=1, max_size=9),
    indent=st.sampled_from([None, 1]),
    ascii=st.booleans(),
    block=st.integers(min_value=1, max_value=40),
)
def test_arrays_round_trip(
    tmp_path: Path, rows: list[tuple[str, str]], indent: int | None, ascii: bool, block: int
) -> None:
    """Strings and brackets may lie across blocks of any size."""

    content = json.dumps([{"id": i, "text": t} for i, t in rows], indent=indent, ensure_ascii=ascii)
    if "\\ud" in content and ascii:
        ascii = False
    path = tmp_path / "a.json"
    try:
        path.write_bytes(content.encode())
    except UnicodeEncodeError:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SIZES, "read_block", block)
        assert told(path)[0] == rows


# Excel


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
    found = list(read(path, reading=Reading(keep=("stars", "day", "new"))))
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
        both = told(tmp_path / name, Reading(text=("title", "text")))
        assert both[:2] == ([("1", "a\nb"), ("2", "c\n"), ("3", "\nd")], [])


def test_bad_rows_and_files_of_excel(tmp_path: Path) -> None:
    """As those of other tables."""
    rows: list[list[Any]] = [["id", "text"], *([number, "a"] for number in range(6))]
    path = sheet(tmp_path / "a.xlsx", [*rows, [None, "b"], [8, None], [9, 5]])
    assert told(path)[1] == [
        "no id: 'id' is missing or null",
        "the text in 'text' is the number 5, not text",
    ]
    with pytest.raises(SourceError, match="the column 'id' is missing; available: 'key'"):
        told(sheet(tmp_path / "b.xlsx", [["key"], ["a"]]))
    with pytest.raises(SourceError, match="there are no columns"):
        told(sheet(tmp_path / "c.xlsx", []))
    for content in (b"", b"id,text\n1,a\n", (tmp_path / "a.xlsx").read_bytes()[:-500]):
        with pytest.raises(SourceError, match="is not a complete Excel file"):
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
    with pytest.raises(SourceError, match=r'openpyxl; .*pip install "neardup-solr\[formats\]"'):
        told(write(tmp_path / "a.xlsx", b""))


# Pipes

PIPED: dict[str, tuple[str, str]] = {
    "csv": ('id,text\n1,Café Übermut\n2,"日本, 本屋"\n', "CSV"),
    "csv_semicolons": ("ID;Text\n1;Café Übermut\n2;日本, 本屋\n", "CSV"),
    "tsv": ("id\ttext\n1\tCafé Übermut\n2\t日本, 本屋\n", "TSV"),
    "jsonl": ('{"id":1,"text":"Café Übermut"}\n{"id": 2, "text":"日本, 本屋"}\n', "JSON"),
    "json": ('\n[\n {"id":1,"text":"Café Übermut"},\n{"id":2,"text":"日本, 本屋"}]', "JSON"),
}


@pytest.mark.parametrize("name", PIPED)
def test_a_pipe_tells_its_format(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Standard input is what its first lines say, and one line tells which."""
    content, format = PIPED[name]
    piped(monkeypatch, content)
    line = f"standard input looks like {format} and is read as such"
    assert told("-") == (EXPECTED, [], [line])


PLAIN: dict[str, list[tuple[str, str]]] = {
    "1 a, b\n2 c, d\n3 e, f\n": [("1", "a, b"), ("2", "c, d"), ("3", "e, f")],
    "1\ta\n2\tb\n3\tc\n": [("1", "a"), ("2", "b"), ("3", "c")],
    "a;b one two\nc;d three four\ne;f five\n": [("a;b", "one two"), ("c;d", "three four"),
                                              ("e;f", "five")],
    "[1] a\n[2] b\n": [("[1]", "a"), ("[2]", "b")],
    "{x} a\n": [("{x}", "a")],
    "a,b\n": [("a,b", "")],
    "1\n": [("1", "")],
    "id text\n": [("id", "text")],
}  # fmt: skip


@pytest.mark.parametrize("content", PLAIN)
def test_lines_on_a_pipe_are_lines(monkeypatch: pytest.MonkeyPatch, content: str) -> None:
    """What does not look like a table or JSON is lines of an id and a text, as ever."""
    piped(monkeypatch, content)
    assert told("-") == (PLAIN[content], [], [])
    piped(monkeypatch, content)
    assert told("-", Reading(source_format="lines")) == (PLAIN[content], [], [])


AMBIGUOUS = {
    "csv": "ad_id,title,body\n1,a,b c\n2,d,e f\n",
    "semicolons": "ad_id;title\n1;a b\n2;d e\n",
    "tsv": "ad_id\ttitle\tbody\n1\ta\tb\n2\td\te\n",
}


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_a_table_of_other_columns_on_a_pipe_is_refused(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Read as lines, it would be made nonsense of; one line names the way out."""
    piped(monkeypatch, AMBIGUOUS[name])
    with pytest.raises(SourceError) as caught:
        told("-")
    assert "standard input: looks like a table with the columns 'ad_id', 'title'" in str(
        caught.value
    )
    assert "`source_format`" in str(caught.value)
    piped(monkeypatch, AMBIGUOUS[name])
    assert told("-", Reading(id="ad_id", text=("title",)))[0][0][0] == "1"
    piped(monkeypatch, AMBIGUOUS[name])
    assert len(told("-", Reading(source_format="lines"))[0]) == 3


def test_columns_of_a_pipe_are_kept_and_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """`keep` and `delimiter` go with what was recognised."""
    piped(monkeypatch, "id,text,city\n1,a,x\n")
    assert [dict(one.kept) for one in read("-", reading=Reading(keep=("city",)))] == [{"city": "x"}]
    piped(monkeypatch, "1 a\n")
    with pytest.raises(ArgumentError, match="the format lines has no further columns"):
        told("-", Reading(keep=("city",)))
    piped(monkeypatch, "id~text\n1~a\n")
    assert told("-", dialect(delimiter="~")) == ([("1", "a")], [], [])
    piped(monkeypatch, "id,text\n1,caf\xe9\n".encode("latin-1"))
    assert told("-", dialect(encoding="latin-1"))[0] == [("1", "café")]


@pytest.mark.parametrize(
    "content", [b"", b"\n", b" ", b"\xff\xfe", bytes(range(256)), b"a" * 99_999]
)
def test_whatever_is_on_a_pipe_is_read_or_refused(
    monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    """Nothing, blanks, binary data and endless lines are no reason for an error from inside."""
    piped(monkeypatch, content)
    with suppress(SourceError):
        found, errors, lines = told("-")
        assert len(found) + len(errors) + len(lines) > 0


def test_a_slow_pipe_is_read_as_it_comes() -> None:
    """The first documents are given before the rest of the lines are there."""
    code = (
        "from neardup_solr.sources import documents as read\n"
        "for found in read('-'): print(found.id, flush=True)\n"
    )
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        for _ in range(1_000):
            process.stdin.write(b"1 some text\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"1\n"
        process.stdin.close()
