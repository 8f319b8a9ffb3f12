"""Documents that are read in runs are those that are read one by one, and so are the errors."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

import neardup_solr as nd
from neardup_solr import sources
from neardup_solr.errors import RecordError, SourceError
from neardup_solr.records import Document, Run
from neardup_solr.sources import Reading, arrow, document, in_memory, lines, objects, text_files
from neardup_solr.sources import csv as csv_rows
from neardup_solr.sources import json as json_lines
from neardup_solr.testing import SIZES
from tests.faults.tiers import sized

BLOCKS = st.sampled_from([16, 64, 2**18])
IDS = st.one_of(
    st.integers(),
    st.text(max_size=3),
    st.sampled_from(["a", "b", "é", "x" * 513, 1.5, True, None, 2**70, -0]),
)
VALUES = st.one_of(
    st.text(max_size=5),
    st.sampled_from(["plain text", 'a "quoted" word', "back\\slash", "\u2028 \0 \r", "x" * 60]),
    st.sampled_from([None, 1, ["two", "lines"], {"a": {"id": '"'}}, [1]]),
)
OBJECTS = st.builds(
    lambda id, text, more, is_ascii: json.dumps(
        {"id": id, "text": text} | more, ensure_ascii=is_ascii
    ).encode("utf-8", "surrogatepass"),
    IDS,
    VALUES,
    st.dictionaries(st.sampled_from(["title", 'a"b', "ID", "é"]), VALUES, max_size=2),
    st.booleans(),
)
ODD_OBJECTS = [
    b"", b"  ", b"[]", b"1", b'"id"', b"{", b'{"id": 1}', b'{"Id": 1, "TEXT": "case"}',
    b'{"id": "1", "text": "twice", "text": "twice"}', b'{"id": "1", "text": "\xff"}',
    b'{"id": "1", "text": "\\ud800"}', b'{"id": "1", "text": "\\u0022", "a": 1, "a": 1}',
    b'{"id": "1", "text": "a"}{"id": "2", "text": "b"}', b'{"id": "1", "text": "a\0"}',
    b'{"id": -7, "text": "", "a": -0.5, "b": [], "c": null, "d": true, "e": false}',
    b'{"id": "1", "text": "a", "n": 1e400}', b'{"id": "1", "text": "a", "n": 01}',
    b'{"id": "1", "text": "a", "n": -}', b'{"id": "1", "text": "a", "n": nul}',
    b'{"id": "1", "text": "a", "n": 1.}', b'{"id": "1", "text": "a", "n": truely}',
    b'{"id": "1", "text": "\\ud83d\\ude00 \\u00e9\\b\\f\\n\\/"}', b'{"id": "1", "text": "\\x"}',
    b'{"id": "1", "text": "\\ud83d\\u0041"}', b'{"id": "1", "text": "\\u12g4"}',
    b'{"id": "1", "text": "\xed\xa0\x80"}', b'{"id": "1", "text": "\xf0\x9f\x98\x80\xc3\xa9"}',
    b' { "text" :\t"blanks" , "id" : "1" } ', b'{"id": "1", "text": "a",}', b'{"id": "1", "text',
    b'{"\\u0069d": "1", "text": "a"}', b'{"id": "1", "text": "\xe2\x82"}',
    b'{"id": 123456789012345678, "text": "a"}', b'{"id": 1234567890123456789, "text": "a"}',
    b'{"id": "1" "text": "a"}', b'{"id": "1", "text": "\xc0\x80"}', b'{"id":1,"text":"a"}\r',
    b'{"id": "1", "text": "within", "o": {"a": "1", "a": "2"}}', b'{"id": -0, "text": "a"}',
    b'{"id": "\xc3\xa9", "text": "\xf4\x90\x80\x80"}', b'{"id": "1", "text": "\xe0\x80\x80"}',
    b'{"id": 1, "text": "' + b"x" * 51 + b'"}', b'{"id": 1, "text": "a"}x{"id": 2, "text": "b"}',
    b'{"id": "1", "text": "a"} x', b'{"id": "", "text": "a"}', b'{"text": "a", "a": "b", "id": 1}',
    b'{"id": "1", "text": "a", "text": "b", "n": "\\u0022\\u0022"}',
    b'{"id": "1", "te\\u0078t": "a", "text": "b"}',
    b'{"id": "1", "text": "\\\\", "o": [{"a": "\\"", "a": "\\u0022\\u0022\\u0022"}]}',
    b'{"id": "1", "text": "a", "' + b'": 1, "'.join(b"%d" % n for n in range(40)) + b'": 1}',
]  # fmt: skip
# One byte is another one, or missing.
SPOILT = st.builds(
    lambda line, at, byte: line[: at % len(line)] + byte + line[at % len(line) + 1 :],
    OBJECTS | st.sampled_from(ODD_OBJECTS[6:]),
    st.integers(0, 200),
    st.binary(max_size=1)
    | st.sampled_from([b'"', b"\\", b",", b"}", b"0", b"e", b"\x80", b"\xe2"]),
)
ROWS = st.one_of(
    st.builds(lambda id, text: f"{id},{text}".encode(), st.text("ab 1", max_size=2), st.text("xy")),
    st.sampled_from(
        [
            b"1,plain", b"2,plain\r", b'3,"quoted"', b'"4","with ""quotes"""', b'5,"two\nlines"',
            b"", b"6", b"7,a,b", b'8,"open', b'9,a "stray" one', b'"10"x,bad', b"\xff,bad",
            b"\0,nul",
            b'11,"a\n\nb"\r', b",no id", b"12," + b"x" * 60, b"13,a\rb", b"14,a\r\r",
        ]
    ),
)  # fmt: skip
LINES = st.sampled_from(
    [b"1 plain", b"2\ttab", b"  3 blanks  ", b"4", b"", b"5 \xff", b"6 a\r", b"7 \0", b"8 x\x85y"]
)
# Columns that are kept, several of text, records without ids.
COLUMNS = st.sampled_from(
    [
        {},
        {"keep": ("text", "id")},
        {"text": ("text", "id")},
        {"text": ("id", "text"), "keep": ("text",)},
        {"id": ":row"},
        {"id": ":row", "keep": ("id",)},
    ]
)
OF_OBJECTS = COLUMNS | st.sampled_from(
    [
        {"keep": ("title", "é", "id")},
        {"text": ("text", "title"), "keep": ("title",)},
        {"text": ("title", "text"), "keep": ("title.id", "lacking")},
        {"keep": ("a", "TITLE", "title"), "id": ":row"},
    ]
)


def read(source: Any, reading: Reading) -> list[str] | str:
    """All that is said of a source: each document or error with its position, or why it fails."""
    told: list[str] = []
    try:
        for found in sources.open_source(source, reading, on_notice=told.append).records():
            if isinstance(found, Document):
                told.append(
                    repr((found.id, found.text, dict(found.kept), found.position, found.texts))
                )
            else:
                told.append(repr((found.position, found.reason, found.id, found.record)))
    except SourceError as error:
        return str(error)
    return told


@contextmanager
def no_runs() -> Iterator[None]:
    """Documents are read one by one."""
    with ExitStack() as stack:
        for module in (lines, csv_rows, objects, document, text_files):
            stack.enter_context(patch.object(module, "make_run", return_value=None))
        yield


def check(path: Path, block: int, **asked: Any) -> None:
    """Compare what is read, in blocks of so many bytes, with what is read without runs.

    By any number of threads, it is the same.
    """
    reading = Reading(max_doc_bytes=50, **asked)
    with no_runs():
        told = read(path, reading)
    with patch.object(SIZES, "read_block", block):
        assert read(path, reading) == told
        for threads in ("1", "2", "3", "7"):
            with (
                patch.object(SIZES, "read_alone", 0),
                patch.dict(os.environ, {"NEARDUP_THREADS": threads}),
            ):
                assert read(path, reading) == told


@settings(max_examples=sized(usual=100, full=400))
@given(
    found=st.lists(OBJECTS | SPOILT, min_size=1),
    lossy=st.booleans(),
    block=BLOCKS,
    columns=OF_OBJECTS,
)
def test_json_lines(
    tmp_path_factory: pytest.TempPathFactory,
    found: list[bytes],
    lossy: bool,
    block: int,
    columns: dict[str, Any],
) -> None:
    path = tmp_path_factory.mktemp("runs") / "a.jsonl"
    path.write_bytes(b'{"id": 0, "text": "good"}\n' * 3 + b"\n".join(found))
    check(path, block, lossy=lossy, **columns)


@pytest.mark.parametrize("columns", [{}, {"text": ("text", "a"), "keep": ("n", "o")}])
@pytest.mark.parametrize("line", ODD_OBJECTS)
def test_odd_objects(tmp_path: Path, line: bytes, columns: dict[str, Any]) -> None:
    good = b'{"id": 0, "text": "good"}\n'
    path = tmp_path / "a.jsonl"
    path.write_bytes(good + line + b"\n" + good * 2)
    check(path, 2**18, **columns)
    path.write_bytes(good * 3 + line)
    check(path, 16, **columns)


@given(
    rows=st.lists(ROWS, min_size=1),
    suffix=st.sampled_from([".csv", ".tsv"]),
    lossy=st.booleans(),
    block=BLOCKS,
    columns=COLUMNS,
)
def test_tables(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[bytes],
    suffix: str,
    lossy: bool,
    block: int,
    columns: dict[str, Any],
) -> None:
    path = tmp_path_factory.mktemp("runs") / f"a{suffix}"
    content = b"id,text\n" + b"0,good\n" * 3 + b"\n".join(rows)
    path.write_bytes(content.replace(b",", b"\t") if suffix == ".tsv" else content)
    check(path, block, lossy=lossy, **columns)


@given(found=st.lists(LINES, min_size=1), block=BLOCKS)
def test_lines(tmp_path_factory: pytest.TempPathFactory, found: list[bytes], block: int) -> None:
    path = tmp_path_factory.mktemp("runs") / "a.txt"
    path.write_bytes(b"0 good\n" * 3 + b"\n".join(found))
    check(path, block)


@given(
    rows=st.lists(
        st.tuples(IDS, VALUES | st.just("\ud800"), VALUES | st.floats() | st.just("\ud800")),
        min_size=1,
    ),
    columns=OF_OBJECTS.filter(lambda columns: "é" not in str(columns)),
    lossy=st.booleans(),
)
def test_columns(rows: list[tuple[Any, Any, Any]], columns: dict[str, Any], lossy: bool) -> None:
    good = [("0", "good", 2.5)] * len(rows)
    frame = pd.DataFrame(good + rows, columns=["id", "text", "title"], dtype=object)
    reading = Reading(lossy=lossy, **columns)
    items: list[Any] = [dict(zip(frame.columns, row, strict=True)) for row in good + rows]
    lacking = [{name: item[name] for name in item if item[name] is not None} for item in items]
    given: list[Any] = [frame, frame.to_dict("list"), items, lacking, [*items, "odd", *items]]
    if not reading.keep and "title" not in reading.text:
        given += [[row[:2] for row in good + rows], [good[0][:2], *rows]]
    for source in given:
        with patch.object(in_memory, "FRAME_ROWS", 2):
            found = read(source, reading)
        assert read(source, reading) == found
        with no_runs():
            assert read(source, reading) == found


WRITERS = st.sampled_from(
    [
        (".jsonl", bytes),
        (".jsonl", lambda written: b"\xef\xbb\xbf" + written),
        (".jsonl", lambda written: written.decode("utf-8", "replace").encode("utf-16")),
        (".jsonl.gz", gzip.compress),
        (".jsonl.zst", lambda written: zstandard.compress(written)[:-3]),
    ]
)


@given(
    parts=st.lists(st.tuples(st.lists(OBJECTS | SPOILT, max_size=3), WRITERS), max_size=4),
    block=BLOCKS,
    columns=OF_OBJECTS,
)
def test_parts_of_a_table(
    tmp_path_factory: pytest.TempPathFactory,
    parts: list[tuple[list[bytes], tuple[str, Callable[[bytes], bytes]]]],
    block: int,
    columns: dict[str, Any],
) -> None:
    folder = tmp_path_factory.mktemp("runs") / "parts"
    folder.mkdir()
    good = [b'{"id": 0, "text": "good"}'] * 4
    (folder / "a.jsonl").write_bytes(b"\n".join(good))
    for at, (found, (suffix, compress)) in enumerate(parts):
        (folder / f"b{at}{suffix}").write_bytes(compress(b"\n".join([*good[:1], *found])))
    check(folder, block, **columns)


CONTENTS = st.one_of(
    st.text(max_size=5).map(str.encode),
    st.binary(max_size=5),
    st.sampled_from(
        [
            b"two\r\nlines", b"old\rMac", b"\xef\xbb\xbfmarked", "wide".encode("utf-16"), b"x" * 60,
            b"<html><body>a page", b"%PDF-1.7\n1 0 obj", b"{\"id\": 1}", b"plain", b"", b"end\0\0",
            b"From: a\nDate: 1 May 2020 10:00:00 +0000\nTo: b\n\nmail", gzip.compress(b"packed"),
        ]
    ),
)  # fmt: skip


@given(
    files=st.dictionaries(
        st.sampled_from(["a.txt", "b.txt", "b.txt.gz", "é.txt", "in/c", "in/d.md", "z.bin", ".h"]),
        CONTENTS,
    ),
    lossy=st.booleans(),
    at_once=st.sampled_from([1, 2, 64]),
)
def test_texts_of_a_folder(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes], lossy: bool, at_once: int
) -> None:
    folder = tmp_path_factory.mktemp("runs") / "texts"
    (folder / "in").mkdir(parents=True)
    for name in "0123":
        (folder / name).write_text("good")
    (folder / "in/link").symlink_to("../a.txt")
    for name, content in files.items():
        (folder / name).write_bytes(content)
    with patch.object(SIZES, "read_files", at_once):
        check(folder, 2**18, lossy=lossy)


@pytest.mark.parametrize("damage", ["none", "cut", "overwritten"])
@pytest.mark.parametrize(
    ("suffix", "compress"),
    [
        (".gz", gzip.compress),
        (".bz2", bz2.compress),
        (".xz", lzma.compress),
        (".zst", zstandard.compress),
    ],
)
def test_compressed_files(
    tmp_path: Path, suffix: str, compress: Callable[[bytes], bytes], damage: str
) -> None:
    """They are decompressed in a thread of their own, up to where they are damaged."""
    path = tmp_path / f"a.jsonl{suffix}"
    written = [b'{"id": %d, "text": "number %d"}' % (n, n * n % 997) for n in range(2_000)]
    written[700] = b'{"id": 700'
    content = bytearray(b"".join(compress(b"\n".join(part) + b"\n") for part in
                                 (written[:1000], written[1000:])))  # fmt: skip
    if damage == "cut":
        del content[-len(content) // 4 :]
    elif damage == "overwritten":
        at = len(content) * 3 // 4
        content[at : at + 9] = b"\xff" * 9
    path.write_bytes(content)
    with (
        patch.object(SIZES, "read_block", 1_000),
        patch.object(SIZES, "read_alone", 2),
    ):
        told = [read(path, Reading())]
        for threads in ("1", "2", "3", "7"):
            with patch.dict(os.environ, {"NEARDUP_THREADS": threads}):
                told.append(read(path, Reading()))
    assert told[1:] == told[:-1]
    assert len(told[0]) == 2_000 if damage == "none" else 1_000 < len(told[0]) < 2_000
    assert sum("line 701" in each for each in told[0]) == 1
    assert sum("at its end" in each for each in told[0]) == (damage != "none")


def test_most_documents_come_in_runs(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    good = [f'{{"id": {n}, "text": "{n} \\"quoted\\"", "of": ["{n}"]}}' for n in range(10)]
    path.write_text("\n".join(good))
    found = list(sources.open_source(path).pieces())
    assert sum(len(each) for each in found if isinstance(each, Run)) == 10


def test_plain_objects_are_read_in_compiled_code(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": 1, "text": "plain", "of": null}\n{"text": "\\u00e9\\n", "id": "é"}\n')
    with patch.object(json_lines, "has_key_twice", side_effect=AssertionError):
        (run,) = sources.open_source(path).pieces()
    assert isinstance(run, Run)
    assert (list(run.ids), list(run.texts)) == (["1", "é"], ["plain", "é\n"])


def test_even_rows_are_read_in_compiled_code(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    first = [f"a,{n},first" for n in range(30_000)]  # more than what is read to choose the encoding
    rows = ['1,"of, it",plain', "", "\r", "é,,two\r"]
    rows += ['"3","a ""b""","with\nlines, ""some"""', "4,,b\n"]
    path.write_text("\n".join(["title,id,text", *first, *rows]), newline="")
    with (
        patch.object(SIZES, "read_block", 1000),
        patch.object(SIZES, "read_alone", 0),
        patch.object(csv_rows, "_split", wraps=csv_rows._split) as split,
    ):
        documents = list(sources.open_source(path, Reading(id="title")).records())
    assert {text for call in split.call_args_list for text in call.args[0]} < {*first}
    assert documents[-5:] == [
        Document(id=id, text=text, position=f"a.csv, line {30_000 + line}")
        for id, text, line in [
            ("a", "first", 1),
            ("1", "plain", 2),
            ("é", "two", 5),
            ("3", 'with\nlines, "some"', 6),
            ("4", "b", 8),
        ]
    ]


@pytest.mark.parametrize("rows", [1, 7, 400, 1000])
@pytest.mark.parametrize("is_damaged", [False, True])
def test_row_groups(tmp_path: Path, rows: int, is_damaged: bool) -> None:
    """Whatever their size, and by any number of threads, they are read as a single one."""
    texts = [None if n % 50 == 7 else f"text {n} " * (n % 9) for n in range(1000)]
    table = pa.table({"id": [f"d{n}" for n in range(1000)], "a.b": range(1000), "text": texts})
    path = tmp_path / "a.parquet"
    pq.write_table(table, path, row_group_size=rows, compression="snappy", use_dictionary=False)
    if is_damaged:
        content = bytearray(path.read_bytes())
        at = len(content) // (20 if rows == 1 else 2)  # among the rows, before their description
        content[at : at + 40] = b"\xff" * 40
        path.write_bytes(content)
    with patch.dict(os.environ, {"NEARDUP_THREADS": "1"}):
        expected = read(path, Reading())
    whole = 1000 if not is_damaged else {1: 10, 7: 300, 400: 400}.get(rows, 0)
    assert whole == 0 or len(expected) >= whole
    for threads in ("2", "3", "7"):
        with patch.dict(os.environ, {"NEARDUP_THREADS": threads}):
            assert read(path, Reading()) == expected
    with patch.object(arrow, "SMALL_GROUP", 0):  # streamed
        assert read(path, Reading()) == expected


def test_lines_are_no_objects_together(tmp_path: Path) -> None:
    """Half an object in a line is an error, though the next line has the other half."""
    path = tmp_path / "a.jsonl"
    halves = [
        '{"id": 1, "text": "a", "of": [{}',
        "{}]}",
        '{"id": 2, "text": "b"}, {"id": 3, "text": "c"}',
    ]
    good = [f'{{"id": {n}, "text": "good"}}' for n in range(9)]
    path.write_text("\n".join([*halves, *good]))
    found = list(sources.open_source(path).records())
    assert [each.id for each in found if isinstance(each, Document)] == [str(n) for n in range(9)]
    errors = [each.position for each in found if isinstance(each, RecordError)]
    assert errors == ["a.jsonl, line 1", "a.jsonl, line 2", "a.jsonl, line 3"]
    check(path, 2**18)


def test_a_line_is_too_long_wherever_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    good = '{"id": 0, "text": "good"}\n' * 9
    path.write_text(good + '{"id": 1, "text": "short", "html": "' + "x" * 70_000 + '"}\n' + good)
    check(path, 2**18)


def test_a_blank_line_is_no_row_of_a_table_of_one_column(tmp_path: Path) -> None:
    """It was a document without words, where the lines around it had no quotes."""
    for written in (["text", "a b", "", "c d", "\r"], ["text", "a b", "", '"c d"', ""]):
        (tmp_path / "a.csv").write_text("\n".join(written) + "\n", newline="")
        found = nd.read(tmp_path / "a.csv", id=":row")
        assert [(one.id, one.text) for one in found] == [("1", "a b"), ("2", "c d")]


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.txt", "a.tsv"])
def test_reading_few_records_compiles_nothing(tmp_path: Path, name: str) -> None:
    """The first blocks are read without compiled code if that is not there yet."""
    rows = [(f"d{n}", f"text {n}") for n in range(50)]
    path, folder = tmp_path / name, tmp_path / "compiled"
    between = {".csv": ",", ".tsv": "\t"}.get(path.suffix, " ")
    written = [between.join(row) for row in [("id", "text"), *rows]]
    objects = [json.dumps({"id": id, "text": text}) for id, text in rows]
    path.write_text("\n".join(objects if name == "a.jsonl" else written[name == "a.txt" :]))
    code = "import sys, neardup_solr as nd; print([(d.id, d.text) for d in nd.read(sys.argv[1])])"
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        env=os.environ | {"NUMBA_CACHE_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"{rows}\n"
    assert not folder.exists() or not [*folder.rglob("*.o"), *folder.rglob("*.nbi")]
