"""Whatever bytes a file holds: errors of ours only, every record counted, memory bounded."""

from __future__ import annotations

import gzip
import io
import json
import tempfile
import tracemalloc
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from neardup_solr import Document
from neardup_solr.errors import NeardupError, RecordError
from tests.faults import tiers
from tests.faults.conftest import RecordRow
from tests.reading import Options, read

EXAMPLES = tiers.sized(usual=60, full=500)
LIMIT = 1_000  # bytes of a document
LONGEST_ID = 512  # bytes
MOST_BYTES = 64 * 2**20  # of Python's own memory for a file of some kilobytes

fuzzed = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

# Pieces that mean something to one of the readers, and any bytes.
PIECES = st.sampled_from(
    [
        b"id", b"text", b"ID", b"id,text\n", b"id\ttext\n", b'{"id":', b'"text":',
        b'{"id":1,"text":"a"}',
        b"\n", b"\r\n", b"\r", b",", b"\t", b";", b'"', b'""', b"\\", b"\\u",
        b"\\ud800", b"[", b"]", b"{", b"}", b"[{", b"}]", b":", b"null", b"true", b"NaN", b"1e999",
        b"9" * 30, b"-", b"1", b"a b c", b"\0", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xe9",
        b"\xed\xa0\x80", b"\xc3", b"\xe6\x97\xa5", b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04",
        b"x" * 2_000, b"[" * 600, b" ", b"\x0b", b"\x85", b"\n1 a b\n", b"\n1,a b\n", b"\n1\ta b\n",
    ]
)  # fmt: skip
CONTENT = st.lists(st.one_of(PIECES, PIECES, st.binary(max_size=12)), max_size=40).map(b"".join)
OPTIONS = st.fixed_dictionaries(
    {
        "text": st.sampled_from([("text",), ("text", "title")]),
        "keep": st.sampled_from([(), ("city",)]),
        "lossy": st.booleans(),
        "encoding": st.sampled_from([None, None, None, "cp1252", "utf-16-le", "shift_jis"]),
        "delimiter": st.sampled_from([None, None, ";"]),
        "max_doc_bytes": st.just(LIMIT),
    }
)
KEPT = {"keep": ("city",), "max_doc_bytes": LIMIT}


def check(name: str, content: bytes, options: Options) -> int | None:
    """Read a file, and see that what comes out of it can be indexed or told.

    Gives the number of records; None if the file is refused as a whole.
    """
    found: list[Document] = []
    errors: list[RecordError] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        tracemalloc.start()
        try:
            found.extend(read(path, errors.append, **options))
        except NeardupError as refused:
            refusal: str | None = str(refused)
        else:
            refusal = None
        finally:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
    assert peak <= MOST_BYTES
    assert "\n" not in (refusal or "")
    for document in found:
        assert 0 < len(document.id.encode()) <= LONGEST_ID
        assert not any(isinstance(value, Mapping) for value in document.kept.values())
        assert len(document.text.encode()) <= LIMIT
        json.dumps(dict(document.kept))
    for error in errors:
        assert error.position.startswith(name)
        assert "\n" not in str(error)
        json.dumps(error.record if isinstance(error.record, str) else dict(error.record or {}))
    positions = [each.position for each in found] + [error.position for error in errors]
    assert len(set(positions)) == len(positions)  # no record counts twice
    return None if refusal else len(positions)


@pytest.mark.parametrize("name", ["a.txt", "a.csv", "a.tsv", "a.json", "a.jsonl"])
@fuzzed
@given(content=CONTENT, options=OPTIONS)
def test_any_bytes_in_a_format_of_text(name: str, content: bytes, options: Options) -> None:
    """Lines, tables and objects made of whatever means something to them; each line counts."""
    counted = check(name, content, options)
    has_marks = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    if name == "a.txt" and counted is not None and not (options["encoding"] or has_marks):
        end = b"\n" if b"\n" in content else b"\r"  # as on old Macs
        text = content.removeprefix(b"\xef\xbb\xbf")
        if text.rstrip(b"\0")[-1:] in (b"", end):  # NUL bytes of a crash
            text = text.rstrip(b"\0")
        lines = text.decode("utf-8", "replace").split(end.decode())
        assert counted == sum(1 for line in lines if line.strip())


@pytest.mark.parametrize("suffix", ["gz", "zst"])
@fuzzed
@given(content=CONTENT, options=OPTIONS, data=st.data())
def test_any_bytes_that_are_compressed(
    suffix: str, content: bytes, options: Options, data: st.DataObject
) -> None:
    """Whole, cut, damaged, twice and not at all compressed."""
    packed = gzip.compress(content) if suffix == "gz" else zstandard.compress(content)
    check(f"a.csv.{suffix}", mutated(packed, data), options)


def mutated(content: bytes, data: st.DataObject) -> bytes:
    """A file with some bytes changed, cut out, doubled or put in."""
    made = bytearray(content)
    for _ in range(data.draw(st.integers(min_value=0, max_value=4))):
        at = data.draw(st.integers(min_value=0, max_value=max(0, len(made) - 1)))
        size = data.draw(st.sampled_from([1, 1, 1, 2, 4, 30, 400]))
        way = data.draw(st.sampled_from(["set", "cut", "double", "put", "end"]))
        if way == "set":
            made[at : at + size] = data.draw(st.binary(min_size=size, max_size=size))
        elif way == "cut":
            del made[at : at + size]
        elif way == "double":
            made[at:at] = made[at : at + size]
        elif way == "put":
            made[at:at] = data.draw(st.binary(min_size=size, max_size=size))
        else:
            del made[at:]
    return bytes(made)


def parquet() -> bytes:
    """A good file of some row groups."""
    rows = [{"id": str(at), "text": f"text {at} " * 9, "city": None if at % 3 else "Ulm"}
            for at in range(40)]  # fmt: skip
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), stream, row_group_size=15, compression="zstd")
    return stream.getvalue()


def excel() -> bytes:
    """A good sheet."""
    book = openpyxl.Workbook()
    book.active.append(["id", "text", "city"])
    for at in range(20):
        book.active.append([at, f"text {at}", "Ulm"])
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


GOOD: dict[str, bytes] = {"a.parquet": parquet(), "a.xlsx": excel()}


@pytest.mark.parametrize("name", GOOD)
@fuzzed
@given(data=st.data())
@pytest.mark.filterwarnings("ignore::UserWarning:openpyxl")
def test_a_file_with_changed_bytes(name: str, data: st.DataObject) -> None:
    """Parquet and Excel, damaged anywhere."""
    check(name, mutated(GOOD[name], data), KEPT)


@fuzzed
@given(data=st.data())
@pytest.mark.filterwarnings("ignore::UserWarning:openpyxl")
def test_an_excel_file_with_changed_parts(data: st.DataObject) -> None:
    """The archive is whole, but the XML within it is not, so that it gets further."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(GOOD["a.xlsx"])) as old, zipfile.ZipFile(made, "w") as new:
        names = old.namelist()
        changed = data.draw(st.sampled_from([*names, "xl/worksheets/sheet1.xml"]))
        for name in names:
            content = old.read(name)
            new.writestr(name, altered(content, data) if name == changed else content)
    check("a.xlsx", made.getvalue(), KEPT)


WORDS = st.sampled_from(
    [
        '"', "<", ">", "/", "&", "0", "-1", "9" * 20, "1e9", "s", "n", "d", "b", "e", "str",
        "inlineStr", "A1", "ZZZ9", "ZZZZ9", "A99999999", "true", "nan", "<v>", "</row>", "", "\0",
        "2026-13-45",
    ]
)  # fmt: skip


def altered(content: bytes, data: st.DataObject) -> bytes:
    """XML of which a value or a tag is another one."""
    text = content.decode()
    at = data.draw(st.integers(min_value=0, max_value=len(text)))
    begin = max(text.rfind(mark, 0, at) for mark in '"><') + 1
    found = [place for mark in '"><' if (place := text.find(mark, begin)) >= 0]
    end = min(found, default=len(text))
    return (text[:begin] + data.draw(WORDS) + text[end:]).encode("utf-8", "replace")


VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


@pytest.mark.parametrize("make", [lambda rows: rows, iter], ids=["list", "iterator"])
@fuzzed
@given(rows=st.lists(st.dictionaries(st.sampled_from(["id", "text", "city"]), VALUES), max_size=6))
def test_objects_round_trip_or_are_told(
    make: Callable[[list[dict[str, Any]]], Any], rows: list[dict[str, Any]]
) -> None:
    """As many documents and errors as there are objects, in memory as in a file."""
    errors: list[RecordError] = []
    count = 0
    try:
        for _ in read(make(rows), errors.append, keep=("city",)):
            count += 1
    except NeardupError:
        return
    assert count + len(errors) == len(rows)


def test_the_number_of_examples_is_told(row: RecordRow) -> None:
    """More of them are tried by `scripts/test --faults`."""
    row("R11", f"{EXAMPLES} invented files for each of 12 readers")
    assert EXAMPLES >= 60
