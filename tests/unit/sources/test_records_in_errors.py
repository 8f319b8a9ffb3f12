"""A record that cannot be used brings the original record along, so that nothing of it is lost."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup_solr as nd
from neardup_solr.errors import RecordError
from tests.reading import read_all

GOOD = {
    "txt": b"good text\n",
    "csv": b"good,text,Rome\n",
    "tsv": b"good\ttext\tRome\n",
    "jsonl": b'{"id":"good","text":"text"}\n',
}
MOST_CHARACTERS = 2**24  # of the records that the errors of a result carry along
MOST_CARRIED = 2**20  # characters of a record
HEADER = {"csv": b"id,text,city\n", "tsv": b"id\ttext\tcity\n"}

# name: the suffix, a bad record, and what its error brings along.
RECORDS: dict[str, tuple[str, bytes, object]] = {
    "lines_not_utf8": ("txt", b"1 caf\xe9", "1 caf\udce9"),
    "lines_nul": ("txt", b"1 a\0", "1 a\0"),
    "lines_long_id": ("txt", b"x" * 513 + b" text", "x" * 513 + " text"),
    "lines_too_large": ("txt", b"1 " + b"x" * 999, "1 " + "x" * 999),
    "lines_far_too_large": ("txt", b"1 " + b"x" * 9_999, None),
    "csv_not_utf8": ("csv", b"1,caf\xe9,Ulm", "1,caf\udce9,Ulm"),
    "csv_not_utf8_quoted": ("csv", b'1,"a\ncaf\xe9",Ulm', '1,"a\ncaf\udce9",Ulm'),
    "csv_ragged": ("csv", b"1,text", "1,text"),
    "csv_ragged_quoted": ("csv", b'1,"a, b","c\nd",e', '1,"a, b","c\nd",e'),
    "csv_stray_quote": ("csv", b'1,"a"b,Ulm', '1,"a"b,Ulm'),
    "csv_no_id": ("csv", b",a,Ulm", {"id": "", "text": "a", "city": "Ulm"}),
    "csv_too_large": ("csv", b"1,%s,Ulm" % (b"x" * 999), {"id": "1", "text": "x" * 999,
                                                         "city": "Ulm"}),
    "tsv_ragged": ("tsv", b"1\ttext", "1\ttext"),
    "tsv_no_id": ("tsv", b"\ta\tUlm", {"id": "", "text": "a", "city": "Ulm"}),
    "json_not_utf8": ("jsonl", b'{"id":1,"text":"\xe9"}', '{"id":1,"text":"\udce9"}'),
    "json_malformed": ("jsonl", b'{"id":1', '{"id":1'),
    "json_no_object": ("jsonl", b'["1", "a"]', '["1", "a"]'),
    "json_no_id": ("jsonl", b'{"text":"a","n":[1]}', {"text": "a", "n": [1]}),
    "json_long_number": ("jsonl", b'{"text":"a","n":%d}' % 10**30, {"text": "a", "n": 10**30}),
    "json_too_large": ("jsonl", b'{"id":1,"text":"%s"}' % (b"x" * 999), {"id": 1,
                                                                         "text": "x" * 999}),
}  # fmt: skip


def errors_of(source: Any, **options: Any) -> list[RecordError]:
    return read_all(source, **options).errors


@pytest.mark.parametrize("name", RECORDS)
def test_the_error_on_a_record_brings_it_along(tmp_path: Path, name: str) -> None:
    """The columns by name, or the text of its line; invalid bytes stay what they are."""
    suffix, bad, expected = RECORDS[name]
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(HEADER.get(suffix, b"") + 2 * GOOD[suffix] + bad + b"\n")
    (error,) = errors_of(path, max_doc_bytes=900)
    assert error.record == expected
    assert error.stage == "read"
    if isinstance(error.record, str):
        assert error.record.encode("utf-8", "surrogateescape") == bad


def test_an_element_of_an_array_is_brought_along_as_a_line_is(tmp_path: Path) -> None:
    """Objects as they are, anything else as it is written."""
    path = tmp_path / "a.json"
    path.write_bytes(b'[{"id":1,"text":"a"},{"id":2,"text":"b"},{"id":3,"text":"c"},\n {"id":4},5]')
    assert [error.record for error in errors_of(path)] == [{"id": 4}, "5"]


def test_what_is_too_long_is_not_brought_along(tmp_path: Path) -> None:
    """One character less is: for a line, a row and an object."""
    for suffix, head, tail in (
        ("txt", b"\xff", b""),
        ("csv", b",", b"\xff,\n"),
        ("jsonl", b"", b""),
    ):
        for size in (MOST_CARRIED, MOST_CARRIED + 1):
            path = tmp_path / f"a.{suffix}"
            filled = b"x" * (size - len(head) - len(tail.rstrip()))
            bad = head + filled + tail.rstrip()
            path.write_bytes(HEADER.get(suffix, b"") + 2 * GOOD[suffix] + bad + b"\n")
            (error,) = errors_of(path)
            assert (error.record is None) == (size > MOST_CARRIED)


def _parquet(rows: list[dict[str, Any]], folder: Path) -> Path:
    pq.write_table(pa.Table.from_pylist(rows), folder / "a.parquet")
    return folder / "a.parquet"


def _excel(rows: list[dict[str, Any]], folder: Path) -> Path:
    book = openpyxl.Workbook()
    book.active.append(list(rows[0]))
    for row in rows:
        book.active.append(list(row.values()))
    book.save(folder / "a.xlsx")
    return folder / "a.xlsx"


TABLES: dict[str, Callable[[list[dict[str, Any]], Path], Any]] = {
    "parquet": _parquet,
    "xlsx": _excel,
    "pandas": lambda rows, _: pd.DataFrame(rows),
    "polars": lambda rows, _: pl.DataFrame(rows),
    "arrow": lambda rows, _: pa.Table.from_pylist(rows),
    "columns": lambda rows, _: {name: [row[name] for row in rows] for name in rows[0]},
    "dicts": lambda rows, _: rows,
}


@pytest.mark.parametrize("kind", TABLES)
def test_a_row_of_a_table_is_brought_along_by_the_names_of_its_columns(
    tmp_path: Path, kind: str
) -> None:
    """At least those that are read, their values as JSON has them."""
    rows = [{"id": each, "text": "a b c", "n": 5} for each in ("1", "2", "3", None)]
    (error,) = errors_of(TABLES[kind](rows, tmp_path), keep="n")
    assert error.record == {"id": None, "text": "a b c", "n": 5}


def test_values_without_json_are_brought_along_as_text() -> None:
    """A date in ISO form; bytes that are not UTF-8 as they are."""
    frame = pd.DataFrame({"id": ["1", "2", "3", date(2026, 1, 2)], "text": ["a"] * 4})
    assert [error.record for error in errors_of(frame)] == [{"id": "2026-01-02", "text": "a"}]
    pairs = [("1", "a"), ("2", "b"), ("3", b"caf\xe9")]
    assert [error.record for error in errors_of(pairs)] == [{"id": "3", "text": "caf\udce9"}]


def test_a_file_of_a_folder_is_brought_along_with_its_name(tmp_path: Path) -> None:
    """Its path within the folder and its text are columns, as they would be in a table."""
    for name, content in {"a": b"a", "b": b"b", "c": b"c", "d": b"caf\xe9"}.items():
        (tmp_path / f"{name}.txt").write_bytes(content)
    (error,) = errors_of(tmp_path)
    assert error.record == {"id": "d.txt", "text": "caf\udce9"}


def test_a_document_that_is_refused_later_is_brought_along_too(tmp_path: Path) -> None:
    """With its kept columns, and the stage that tells who refused it."""
    errors: list[RecordError] = []
    good = [nd.Document(id=id, text="a b", kept={"city": "Rome"}) for id in "12"]
    bad = nd.Document(id="7", text="\ud800", kept={"city": "Ulm"})
    nd.signatures([*good, bad], tmp_path / "a.parquet", id="id", on_error=errors.append)
    assert errors[0].record == {"id": "7", "text": "\ud800", "city": "Ulm"}
    assert errors[0].stage == "check"


def test_a_result_holds_errors_without_their_records_if_these_are_large(tmp_path: Path) -> None:
    """Whoever is told gets each with its record; the memory of the result is bounded."""
    told: list[RecordError] = []
    large = "x" * (MOST_CHARACTERS // 4)
    bad = [nd.Document(id=str(number), text="\ud800", kept={"n": large}) for number in range(6)]
    good = [nd.Document(id=f"good {number}", text="a b") for number in range(9)]
    result = nd.signatures([*good, *bad], tmp_path / "a.parquet", id="id", on_error=told.append)
    assert [error.record is not None for error in result.errors] == 3 * [True] + 3 * [False]
    records = [error.record for error in told]
    assert all(isinstance(record, dict) and record["n"] == large for record in records)
    assert [str(error) for error in result.errors] == [str(error) for error in told]
