"""Bad sources: every kind gets one located error that says why, and the rest is read."""

from __future__ import annotations

import gzip
import io
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

import neardup_solr as nd
from neardup_solr.errors import ArgumentError, RecordError, SourceError
from tests.reading import Options, read
from tests.refusals import refusal

GOOD_LINE = {
    "txt": b"good text\n",
    "csv": b"good,text\n",
    "tsv": b"good\ttext\n",
    "jsonl": b'{"id":"good","text":"text"}\n',
}
FORMATS = "lines, csv, tsv, jsonl, json, parquet, xlsx, xls, html, eml, mbox, ris, bibtex, folder"
HEADER = {"txt": b"", "csv": b"id,text\n", "tsv": b"id\ttext\n", "jsonl": b""}

# name: the format, one bad record, and words of the reason it gets.
BAD_RECORDS: dict[str, tuple[str, bytes, str]] = {
    "txt_latin1": ("txt", b"1 caf\xe9 bar\n", "invalid UTF-8: byte 0xe9 at offset 5"),
    "txt_latin1_id": ("txt", b"caf\xe9 bar\n", "invalid UTF-8: byte 0xe9 at offset 3"),
    "txt_surrogate": ("txt", b"1 \xed\xa0\x80\n", "invalid UTF-8: byte 0xed at offset 2"),
    "txt_nul": ("txt", b"1 a\0b\n", "NUL"),
    "txt_long_id": ("txt", b"x" * 513 + b" text\n", "the id has 513 bytes, more than 512"),
    "txt_too_large": ("txt", b"1 " + b"word " * 300 + b"\n", "too_large: more than 1,000 bytes"),
    "txt_far_too_large": ("txt", b"1 " + b"word " * 10_000 + b"\n", "too_large"),
    "csv_latin1": ("csv", b"1,caf\xe9\n", "invalid UTF-8: byte 0xe9 at offset 5"),
    "csv_latin1_quoted": ("csv", b'1,"a\ncaf\xe9"\n', "invalid UTF-8: byte 0xe9 at offset 8"),
    "csv_nul": ("csv", b"1,a\0b\n", "NUL"),
    "csv_nul_quoted": ("csv", b'1,"a\0b"\n', "NUL"),
    "csv_few_fields": ("csv", b"1\n", "1 field, but the header has 2"),
    "csv_many_fields": ("csv", b"1,a,b\n", "3 fields, but the header has 2"),
    "csv_no_id": ("csv", b",text\n", "the id is empty"),
    "csv_stray_quote": ("csv", b'1,"a"b\n', "malformed quoting"),
    "csv_open_quote": ("csv", b'1,"open\n', "malformed quoting"),
    "csv_too_large": ("csv", b"1," + b"word " * 300 + b"\n", "too_large"),
    "csv_too_large_quoted": ("csv", b'1,"' + b"word\n" * 300 + b'"\n', "too_large"),
    "tsv_few_fields": ("tsv", b"1 a\n", "1 field, but the header has 2"),
    "tsv_no_id": ("tsv", b"\ttext\n", "the id is empty"),
    "json_latin1": ("jsonl", b'{"id":1,"text":"\xe9"}\n', "invalid UTF-8: byte 0xe9 at offset 16"),
    "json_malformed": ("jsonl", b'{"id":1,"text":"a"\n', "malformed JSON"),
    "json_surrogate": ("jsonl", b'{"id":"\\ud800","text":"a"}\n', "malformed JSON"),
    "json_nan_and_more": ("jsonl", b'{"id":1,"text":"a","n":NaNs}\n', "malformed JSON"),
    "json_deep": ("jsonl", b'{"id":"1","t":' + b"[" * 50_000 + b"]" * 9 + b"\n", "malformed JSON"),
    "json_far_too_large": ("jsonl", b"[" * 200_000 + b"\n", "too_large"),
    "json_array": ("jsonl", b'["1", "a"]\n', "not a JSON object"),
    "json_text": ("jsonl", b'"1 a"\n', "not a JSON object"),
    "json_no_id": ("jsonl", b'{"text":"a"}\n', "no id: 'id' is missing or null"),
    "json_null_id": ("jsonl", b'{"id":null,"text":"a"}\n', "no id: 'id' is missing or null"),
    "json_empty_id": ("jsonl", b'{"id":"","text":"a"}\n', "the id is empty"),
    "json_bool_id": ("jsonl", b'{"id":true,"text":"a"}\n', "the id in 'id' is true or false"),
    "json_float_id": ("jsonl", b'{"id":1.5,"text":"a"}\n', "the id in 'id' is the number 1.5"),
    "json_list_id": ("jsonl", b'{"id":["1"],"text":"a"}\n', "the id in 'id' is a list"),
    "json_huge_id": ("jsonl", b'{"id":' + b"9" * 600 + b',"text":"a"}\n', "malformed JSON"),
    "json_no_text": ("jsonl", b'{"id":1}\n', "no text: 'text' is missing or null"),
    "json_null_text": ("jsonl", b'{"id":1,"text":null}\n', "no text: 'text' is missing or null"),
    "json_number_text": ("jsonl", b'{"id":1,"text":5}\n', "in 'text' is the number 5, not text"),
    "json_mixed_list": ("jsonl", b'{"id":1,"text":["a",1]}\n', "the text in 'text' is a list"),
    "json_key_twice": ("jsonl", b'{"id":1,"text":"a","id":2}\n', "the key 'id' appears twice"),
    "json_key_twice_inside": ("jsonl", b'{"id":1,"text":"a","b":{"c":"d","c":1}}\n', "'c' appears"),
    "json_key_twice_escaped": ("jsonl", b'{"id":1,"text":"\\"","\\u0069d":2}\n', "'id' appears"),
    "json_too_large": ("jsonl", b'{"id":1,"text":"' + b"word " * 300 + b'"}\n', "too_large"),
}


@pytest.mark.parametrize("name", BAD_RECORDS)
def test_a_bad_record_is_one_located_error_and_the_rest_is_read(tmp_path: Path, name: str) -> None:
    """Each kind of bad record gets its reason and its line; the records around it are read."""
    suffix, bad, reason = BAD_RECORDS[name]
    good = GOOD_LINE[suffix]
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(HEADER[suffix] + 2 * good + bad + 3 * good)
    errors: list[RecordError] = []
    found = list(nd.read(nd.Source(path, max_doc_bytes=1_000), id="id", on_error=errors.append))
    line = 3 + HEADER[suffix].count(b"\n")
    assert [one.id for one in found] == ["good"] * 5
    assert [error.position for error in errors] == [f"a.{suffix}, line {line}"]
    assert reason in errors[0].reason


def test_without_on_error_the_first_bad_record_is_raised(tmp_path: Path) -> None:
    """The documents before it are given, then its error is raised."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(GOOD_LINE["jsonl"] + b"{}\n" + GOOD_LINE["jsonl"])
    documents = nd.read(path, id="id")
    assert next(documents).id == "good"
    with refusal(RecordError, "id-missing", "a.jsonl, line 2"):
        next(documents)


def test_a_kept_object_of_too_many_levels_costs_its_record_only(tmp_path: Path) -> None:
    """What is too deep to be written as JSON again is an error that names the column."""
    path = tmp_path / "a.jsonl"
    deep = b'{"id":7,"text":"a","tags":' + b'{"a":' * 500 + b"1" + b"}" * 500 + b"}\n"
    path.write_bytes(2 * GOOD_LINE["jsonl"] + deep)
    errors: list[RecordError] = []
    assert len(list(nd.read(path, id="id", keep=("tags",), on_error=errors.append))) == 2
    assert "the column 'tags' cannot be kept as JSON" in errors[0].reason
    assert errors[0].id == "7"


@pytest.mark.parametrize(
    "value", ["9" * 20, "-" + "9" * 30, "[1, 18446744073709551616]", "1" + "0" * 300]
)
def test_a_kept_number_that_would_be_rounded_costs_its_record_only(
    tmp_path: Path, value: str
) -> None:
    """A whole number over 64 bits, in a list too; a float of that size is kept."""
    path = tmp_path / "a.jsonl"
    lines = (f'{{"id":{at},"text":"a","n":{each}}}\n' for at, each in enumerate((1, 1e30, value)))
    path.write_text("".join(lines))
    errors: list[RecordError] = []
    found = nd.read(path, id="id", keep=("n",), on_error=errors.append)
    assert [one.kept["n"] for one in found] == [1, 1e30]
    reason = "the column 'n' contains a whole number larger than 64 bits"
    assert [error.reason for error in errors] == [reason]
    assert errors[0].record == json.loads(path.read_text().splitlines()[-1])


@pytest.mark.parametrize(
    "object",
    [
        {"id": 1, "text": 'a "quoted" word \\ "'},
        {"id": 1, "text": "a", "tags": ["b", "b", {"id": 2, "text": "c"}], "more": {"id": 3}},
        {"id": 1, "text": "a", 'a"b': '"', "": ""},
    ],
)
def test_quotes_and_objects_within_are_no_keys_that_repeat(tmp_path: Path, object: object) -> None:
    """Whatever the texts hold, only a key that is there twice is an error."""
    path = tmp_path / "a.jsonl"
    escaped = json.dumps(object).replace("b", "\\u0062")
    path.write_text(f"{json.dumps(object)}\n{escaped}\n")
    assert len(list(nd.read(path, id="id"))) == 2


def test_an_error_on_a_text_names_the_id(tmp_path: Path) -> None:
    """Where the id is good, the error carries it."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(2 * GOOD_LINE["jsonl"] + b'{"id":7}\n')
    errors: list[RecordError] = []
    assert len(list(nd.read(path, id="id", on_error=errors.append))) == 2
    assert errors[0].id == "7"


def test_what_an_open_quote_swallowed_is_read_again(tmp_path: Path) -> None:
    """Only the line with the stray quote is lost, not all the rows down to the next quote."""
    path = tmp_path / "a.csv"
    rows = ["1,a", '2,"open', *(f"{number},text" for number in range(3, 3_000))]
    path.write_text("\n".join(["id,text", *rows]))
    errors: list[RecordError] = []
    found = [one.id for one in nd.read(path, id="id", on_error=errors.append)]
    assert found == ["1", *map(str, range(3, 3_000))]
    assert [error.position for error in errors] == ["a.csv, line 3"]


def test_too_long_a_line_within_quotes_costs_its_record_only(tmp_path: Path) -> None:
    """The record that a line over the limit belongs to is one error, however many its lines."""
    path = tmp_path / "a.csv"
    path.write_text('id,text\n1,a\n2,"b\n' + 200_000 * "b" + '\n3,c\n"\n4,d\n')
    errors: list[RecordError] = []
    found = [
        one.id
        for one in nd.read(nd.Source(path, max_doc_bytes=10), id="id", on_error=errors.append)
    ]
    assert found == ["1", "4"]
    assert [error.position for error in errors] == ["a.csv, line 3"]


def test_half_a_million_characters_in_quotes_are_read(tmp_path: Path) -> None:
    """The csv module's own limit of 131,072 characters a field does not hold."""
    path = tmp_path / "a.csv"
    path.write_bytes(b'id,text\n1,"' + b"word " * 100_000 + b'"\n')
    assert [len(found.text) for found in nd.read(path, id="id")] == [500_000]


def _truncated(compress: Callable[[bytes], bytes], cut: int) -> bytes:
    content = b"".join(b"%d %s\n" % (number, os.urandom(40).hex().encode()) for number in range(50))
    return compress(content)[:-cut]


@pytest.mark.parametrize(
    ("suffix", "content", "reason"),
    [
        ("gz", _truncated(gzip.compress, 500), "the file ends too early (truncated gzip)"),
        ("gz", _truncated(gzip.compress, 4), "the file ends too early (truncated gzip)"),
        (
            "gz",
            gzip.compress(b"1 a\n2 b\n", mtime=0) + b"junk",
            "the gzip data is damaged from here on",
        ),
        (
            "gz",
            gzip.compress(b"1 a\n" * 9, mtime=0)[:-8] + bytes(8),
            "the gzip data is damaged from here",
        ),
        (
            "zst",
            zstandard.compress(b"1 a\n") + _truncated(zstandard.compress, 4),
            "the file ends too early (truncated zstd)",
        ),
        ("zst", zstandard.compress(b"1 a\n2 b\n") + b"junk", "the zstd data is damaged from here"),
    ],
)
def test_a_source_that_ends_badly_gives_what_is_good(
    tmp_path: Path, suffix: str, content: bytes, reason: str
) -> None:
    """Truncated and damaged compression: the records before, then one error for the end."""
    path = tmp_path / f"a.txt.{suffix}"
    path.write_bytes(content)
    errors: list[RecordError] = []
    assert list(nd.read(path, id="id", on_error=errors.append))
    assert [error.position for error in errors] == [f"a.txt.{suffix}, at its end"]
    assert reason in errors[0].reason


def test_half_a_utf16_character_at_the_end_is_an_error(tmp_path: Path) -> None:
    """UTF-16 that was cut within a character gives the records before and an error."""
    path = tmp_path / "a.txt"
    path.write_bytes("1 a\n2 b\n3 c\n".encode("utf-16") + b"4")
    errors: list[RecordError] = []
    assert len(list(nd.read(path, id="id", on_error=errors.append))) == 3
    assert "half a UTF-16 character" in errors[0].reason


WHOLE: dict[str, tuple[str, bytes, Options, str]] = {
    "empty": ("a.txt", b"", {}, "is empty"),
    "empty_gz": ("a.csv.gz", gzip.compress(b""), {}, "is empty"),
    "empty_parquet": ("a.parquet", b"", {}, "is not a complete Parquet file"),
    "unknown_suffix": (
        "a.docx",
        b"x",
        {},
        FORMATS,
    ),
    "no_suffix": ("a", b"x", {}, "set `source_format`"),
    "unknown_format": ("a.txt", b"x", {"source_format": "xml"}, "unknown format 'xml'"),
    "not_gzip": ("a.txt.gz", b"1 a\n", {}, "is not gzip despite its suffix"),
    "not_zstd": ("a.txt.zst", b"1 a\n", {}, "is not zstd despite its suffix"),
    "not_parquet": ("a.parquet", b"id,text\n1,a\n", {}, "is not a complete Parquet file"),
    "file_as_folder": (
        "a.txt",
        b"1 a\n",
        {"source_format": "folder"},
        "is a file, not a folder",
    ),
    "csv_no_text": ("a.csv", b"id,title\n1,a\n", {}, "'text' is missing; available"),
    "csv_semicolons": ("a.csv", b"key;title\n1;a\n", {}, "'key', 'title'"),
    "csv_blank": ("a.csv", b"\n\n", {}, "there are no columns"),
    "csv_twice": ("a.csv", b"id,text,text\n1,a,b\n", {}, "'text', 'text'; rename one of them"),
    "csv_kept": ("a.csv", b"id,text\n1,a\n", {"keep": ("city",)}, "'city' is missing"),
    "csv_latin1_header": ("a.csv", b"id,text,\xe9\n1,a\n", {}, "its header cannot be read"),
    "lines_as_jsonl": ("a.jsonl", b"the ferry\nleaves\n", {}, "to lines if"),
    "lists": ("a.json", b'[[1, "a"], [2, "b"]]', {}, "jq -c '.[] | {id: .[0], text: .[1]}'"),
    "list_a_line": ("a.jsonl", b'[1, "a"]\n[2, "b"]\n', {}, "jq -c '{id: .[0], text: .[1]}'"),
    "names_and_lists": ("a.jsonl", b'["id", "text"]\n["1", "a b"]\n["2", "c"]\n', {}, "jq -cn"),
    "names_in_lists": ("a.json", b'[["id", "text"], ["1", "a b"]]', {}, "jq -c '.[0] as $names"),
    "strings": ("a.json", b'["a b", "b c"]', {}, "jq -c '.[] | {text: .}'"),
    "string_a_line": ("a.jsonl", b'"a b"\n"b c"\n', {}, "jq -c '{text: .}'"),
    "objects_in_a_row": ("a.jsonl", b'{"id":1,"text":"a"}{"id":2,"text":"b"}', {}, "jq -c ."),
    "commas": ("a.jsonl", b'{"id":1,"text":"a"},\n{"id":2,"text":"b"},\n', {}, "a comma behind it"),
    "single_quotes": ("a.jsonl", b"{'id': 1, 'text': 'a'}\n" * 2, {}, "json.dumps"),
    "json_document": ("a.jsonl", b'{\n"id":1,\n"text":"a"}\n', {}, "on several lines"),
    "json_other_fields": ("a.jsonl", b'{"key":1,"text":"a"}\n', {}, "`id` and `text`"),
    "utf16_without_mark": ("a.txt", "1 a\n2 b\n".encode("utf-16-le"), {}, "UTF-16 without"),
    "binary": ("a.txt", bytes(range(256)) * 9, {}, "is not text: it has NUL"),
    "nul": ("a.csv", b"id,text\n" + b"1,\0\n" * 3, {}, "give a text file"),
    "nul_header": ("a.csv", b"i\0d,text\n1,a\n", {}, "give a text file"),
    "xlsx_as_csv": ("a.csv", b"PK\x03\x04\x14\0", {}, "is a ZIP archive, not text"),
    "parquet_as_txt": ("a.txt", b"PAR1\x15\x04", {}, "is a Parquet file, not text"),
    "gzip_as_csv": ("a.csv", gzip.compress(b"id,text\n"), {}, "is compressed with gzip"),
    "png_as_jsonl": ("a.jsonl", b"\x89PNG\r\n\x1a\n", {}, "is a PNG image, not text"),
    "many_columns": ("a.csv", b"a," * 11 + b"a\n", {}, "'a' and 2 more; name"),
    "bad_lines": ("a.txt", b"1\x00\n\xff \n", {}, "give a text file"),
    "lines_keep": ("a.txt", b"1 a\n", {"keep": ("city",)}, "has no further columns"),
}


@pytest.mark.parametrize("name", WHOLE)
def test_a_source_that_is_wrong_as_a_whole_is_refused(tmp_path: Path, name: str) -> None:
    """One line that names the source and says what to do, before any document or error."""
    file, content, options, words = WHOLE[name]
    (tmp_path / file).write_bytes(content)
    errors: list[RecordError] = []
    asked = name in ("unknown_format", "lines_keep")
    with pytest.raises(ArgumentError if asked else SourceError) as caught:
        next(read(tmp_path / file, errors.append, **options))
    assert words in str(caught.value)
    assert str(tmp_path / file) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not errors


def test_bad_records_after_the_first_thousand_do_not_stop_the_run(tmp_path: Path) -> None:
    """Only the first 1,000 records decide whether the format is the right one."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(1_000 * GOOD_LINE["jsonl"] + 3_000 * b"{}\n")
    errors: list[RecordError] = []
    assert len(list(nd.read(path, id="id", on_error=errors.append))) == 1_000
    assert len(errors) == 3_000


@pytest.mark.parametrize("bad", [500, 501])
def test_most_means_more_than_half(tmp_path: Path, bad: int) -> None:
    """Half of the first thousand may be bad, one more may not."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(bad * b"{}\n" + (1_000 - bad) * GOOD_LINE["jsonl"] + 2_000 * b"{}\n")
    errors: list[RecordError] = []
    documents = nd.read(path, id="id", on_error=errors.append)
    if bad == 500:
        assert len(list(documents)) == 500
        return
    with refusal(SourceError, "records-unusable", 501, 1000):
        next(documents)


def test_what_is_not_there_or_not_a_file_is_refused(tmp_path: Path) -> None:
    """Missing paths, folders as files and impossible names each get their sentence."""
    with refusal(SourceError, "file-missing", "no.txt"):
        nd.read(tmp_path / "no.txt", id="id")
    with refusal(SourceError, "file-kind", tmp_path):
        nd.read(nd.Source(tmp_path, source_format="csv"), id="id")
    with refusal(SourceError, "argument-invalid", "''"):
        nd.read("", id="id")
    with refusal(SourceError, "file-unreadable"):
        nd.read("a\0b.txt", id="id")
    with refusal(SourceError, "file-unreadable"):
        nd.read("x" * 5_000, id="id")
    (tmp_path / "empty").mkdir()
    with refusal(SourceError, "file-empty"):
        next(nd.read(tmp_path / "empty", id="id"))
    (tmp_path / "loop.txt").symlink_to(tmp_path / "loop.txt")
    with refusal(SourceError, "file-unreadable"):
        nd.read(tmp_path / "loop.txt", id="id")


def test_standard_input_may_be_empty_closed_or_unfit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing on standard input, no standard input, and Parquet on it are refused."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with refusal(SourceError, "file-empty", "standard input"):
        next(nd.read("-", id="id"))
    monkeypatch.setattr(sys, "stdin", None)
    with refusal(SourceError, "file-missing", "standard input"):
        next(nd.read("-", id="id"))
    for format in ("parquet", "folder"):
        with pytest.raises(SourceError, match=r"standard input|not a folder"):
            next(nd.read(nd.Source("-", source_format=format), id="id"))


@pytest.mark.parametrize(
    ("name", "library"), [("a.txt.zst", "zstandard"), ("a.parquet", "pyarrow")]
)
def test_a_missing_library_is_named_with_its_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, library: str
) -> None:
    """Without the extra [formats], its two formats say how to install it."""
    (tmp_path / name).write_bytes(b"x")
    monkeypatch.setitem(sys.modules, library, None)
    with refusal(SourceError, "package-missing", "[formats]"):
        next(nd.read(tmp_path / name, id="id"))


def test_a_folder_with_bad_files_gives_its_good_ones(tmp_path: Path) -> None:
    """Links out, to nothing and in circles, pipes, sockets, bad bytes and names: errors each."""
    root = tmp_path / "texts"
    root.mkdir()
    for number in range(12):
        (root / f"good{number:02}.txt").write_text("text")
    (tmp_path / "secret.txt").write_text("secret")
    (root / "out.txt").symlink_to(tmp_path / "secret.txt")
    (root / "out").symlink_to(tmp_path)
    (root / "nothing.txt").symlink_to(root / "no such file")
    (root / "circle").symlink_to(root / "circle")
    (root / "latin1.txt").write_bytes(b"caf\xe9")
    (root / "large.txt").write_bytes(b"word " * 300)
    (root / "cut.txt.gz").write_bytes(gzip.compress(b"some text of a file that was cut off")[:-9])
    (root / os.fsdecode(b"n\xe9.txt")).write_text("text")
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(root / "socket"))
    errors: list[RecordError] = []
    found = list(nd.read(nd.Source(root, max_doc_bytes=1_000), id="id", on_error=errors.append))
    assert [one.id for one in found] == [f"good{number:02}.txt" for number in range(12)]
    assert {error.position: error.reason.partition(":")[0] for error in errors} == {
        "texts/circle": "cannot be read (Too many levels of symbolic links)",
        "texts/cut.txt.gz": "the file ends too early (truncated gzip)",
        "texts/large.txt": "too_large",
        "texts/latin1.txt": "invalid UTF-8",
        "texts/nothing.txt": "cannot be read (No such file or directory)",
        "texts/n\ufffd.txt": "the id holds a lone surrogate or bytes that are not UTF-8",
        "texts/out": "a link that leaves the folder is not followed",
        "texts/out.txt": "a link that leaves the folder is not followed",
        "texts/pipe": "not a regular file",
        "texts/socket": "not a regular file",
    }


def test_bad_parquet_rows_are_errors_of_their_own(tmp_path: Path) -> None:
    """Null and float ids, absent texts and invalid UTF-8 cost their row only."""
    invalid = pa.Array.from_buffers(
        pa.string(),
        1,
        [None, pa.py_buffer(bytes([0, 0, 0, 0, 2, 0, 0, 0])), pa.py_buffer(b"a\xe9")],
    )
    texts = pa.concat_arrays([pa.array(["a", "b", None, "d"]), invalid, pa.array(["f"])])
    table = pa.table({"id": ["1", "", "3", None, "5", "6"], "text": texts})
    pq.write_table(table, tmp_path / "a.parquet")
    errors: list[RecordError] = []
    with refusal(SourceError, "records-unusable", "4 of the first 6"):
        next(nd.read(tmp_path / "a.parquet", id="id", on_error=errors.append))
    many = pa.concat_tables([table, pa.table({"id": list("uvwxyz"), "text": list("uvwxyz")})])
    pq.write_table(many, tmp_path / "a.parquet")
    found = list(nd.read(tmp_path / "a.parquet", id="id", on_error=errors.append))
    assert [one.id for one in found] == ["1", "6", *"uvwxyz"]
    assert [str(error) for error in errors] == [
        "a.parquet, row 2: the id is empty",
        "a.parquet, row 3 (id '3'): no text: 'text' is missing or null",
        "a.parquet, row 4: no id: 'id' is missing or null",
        "a.parquet, row 5: invalid UTF-8: byte 0xe9 at offset 1 of the record",
    ]


def test_a_damaged_parquet_file_ends_with_an_error(tmp_path: Path) -> None:
    """Damage within gives the rows before it and one error for the rest."""
    path = tmp_path / "a.parquet"
    texts = [os.urandom(2_000).hex() for _ in range(2_000)]
    table = pa.table({"id": range(2_000), "text": texts})
    pq.write_table(table, path, row_group_size=500, compression="snappy", use_dictionary=False)
    content = bytearray(path.read_bytes())
    content[-len(content) // 3 : -len(content) // 5] = bytes(len(content) // 3 - len(content) // 5)
    path.write_bytes(content)
    errors: list[RecordError] = []
    found = list(nd.read(path, id="id", on_error=errors.append))
    assert 0 < len(found) < 2_000
    assert [one.text for one in found] == texts[: len(found)]
    assert errors[0].position == f"a.parquet, after row {len(found)}"


GIANTS = """
import resource, sys
import neardup_solr as nd
base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
errors = []
for path in sys.argv[1:]:
    documents = nd.read(nd.Source(path, max_doc_bytes=2**20), id="id", on_error=errors.append)
    assert [found.text for found in documents] == ["a"] * 4
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(len(errors), (peak - base) // 1024, *{error.reason.partition(":")[0] for error in errors})
"""


def test_giant_lines_and_bombs_are_passed_over_without_being_held(tmp_path: Path) -> None:
    """Lines of 100 MB and gzip and Zstandard bombs are read in 64 MiB at most."""
    for suffix, good in (("txt", b"1 a\n"), ("csv", b"1,a\n"), ("jsonl", b'{"id":1,"text":"a"}\n')):
        with (tmp_path / f"a.{suffix}").open("wb") as file:
            file.write(HEADER[suffix] + 2 * good)
            file.truncate(100_000_000)  # a hole: NULs that take no room
            file.seek(0, os.SEEK_END)
            file.write(b"\n" + 2 * good)
    content = 2 * b"1 a\n" + bytes(50_000_000) + b"\n" + 2 * b"1 a\n"
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(content, compresslevel=1))
    (tmp_path / "a.txt.zst").write_bytes(zstandard.compress(content))
    paths = sorted(str(path) for path in tmp_path.iterdir())
    command = [sys.executable, "-c", GIANTS, *paths]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    errors, mebibytes, reason = int(output[0]), int(output[1]), output[2:]
    assert errors == 5
    assert reason == ["too_large"]
    assert mebibytes <= 64


NO_END = "and its end was not reached: reading stops here"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
@pytest.mark.parametrize(
    ("name", "good", "endless"),
    [
        ("a.txt", b"1 a text\n", b"2 "),
        ("a.csv", b"id,text\n1,a text\n", b"2,"),
        ("a.tsv", b"id\ttext\n1\ta text\n", b"2\t"),
        ("a.jsonl", b'{"id":"1","text":"a text"}\n', b'{"id":"2","text":"'),
        ("a.json", b'[{"id":"1","text":"a text"},', b'{"id":"2","text":"'),
        ("array.json", b'[{"id":"1","text":"a text"},', b'{"id":"2","text":['),
    ],
)
def test_a_record_of_a_pipe_without_an_end_ends_the_reading(
    tmp_path: Path, name: str, good: bytes, endless: bytes
) -> None:
    """What came before it is used; a writer that never stops is not waited for."""
    path = tmp_path / name
    os.mkfifo(path)
    write = f"""
import sys
with open({str(path)!r}, "wb") as pipe:
    pipe.write({good!r} + {endless!r})
    while True:
        pipe.write(b"x" * 65536)
"""
    with subprocess.Popen([sys.executable, "-c", write], stderr=subprocess.DEVNULL) as writer:
        errors: list[RecordError] = []
        found = nd.read(nd.Source(path, max_doc_bytes=1_000), id="id", on_error=errors.append)
        assert [one.text for one in found] == ["a text"]
        assert writer.wait(timeout=60) != 0  # nobody reads it any more
    assert [(one.position, NO_END in one.reason) for one in errors] == [
        (f"{name}, last record", True)
    ]


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no such device here")
@pytest.mark.parametrize("suffix", [".txt", ".csv", ".jsonl", ".json", ".xlsx", ".parquet", ".gz"])
def test_an_endless_device_is_refused_in_one_line(tmp_path: Path, suffix: str) -> None:
    """Whatever format its name says; it would be read for ever."""
    (tmp_path / f"a.csv{suffix}").symlink_to("/dev/zero")
    with pytest.raises(SourceError) as caught:
        next(nd.read(nd.Source(tmp_path / f"a.csv{suffix}", max_doc_bytes=1_000), id="id"))
    assert "\n" not in str(caught.value)


def test_a_long_line_of_a_file_is_passed_over_however_long(tmp_path: Path) -> None:
    """A file has an end, so what comes after the line is read."""
    (tmp_path / "a.txt").write_bytes(b"1 a text\n2 " + b"x" * 2**20 + b"\n3 more\n")
    errors: list[RecordError] = []
    found = nd.read(
        nd.Source(tmp_path / "a.txt", max_doc_bytes=100), id="id", on_error=errors.append
    )
    assert [one.id for one in found] == ["1", "3"]
    assert [one.position for one in errors] == ["a.txt, line 2"]


def test_a_line_that_begins_with_a_tab_has_no_id(tmp_path: Path) -> None:
    """Its first word is not taken for one; blanks before an id only align it."""
    path = tmp_path / "a.txt"
    path.write_bytes(b"\tThe old pier\n  7 a text\n")
    errors: list[RecordError] = []
    found = list(nd.read(path, id="id", on_error=errors.append))
    assert [(one.id, one.text) for one in found] == [("7", "a text")]
    assert [error.reason for error in errors] == ["the id is empty"]
