"""What is in memory as a source: DataFrames, Arrow, mappings of columns, iterables of records."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections import namedtuple
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neardup_solr as nd
from neardup_solr.errors import ArgumentError, NeardupError, RecordError, SourceError
from tests.faults.tiers import sized
from tests.reading import Options, noticed, read
from tests.refusals import refusal

COLUMNS: dict[str, list[Any]] = {"id": ["1", "2"], "text": ["Café", "日本"], "city": ["Ås", None]}
KEEP: Options = {"keep": "city"}
NUMBER = type(next(nd.read([(1, "a")], id="id")).id)  # a text that was a whole number
EXPECTED = [("1", "Café", {"city": "Ås"}), ("2", "日本", {})]


def test_a_tuple_as_a_text_is_read_as_a_list_is() -> None:
    """Its parts are lines; what is not made of texts is refused, whatever its length."""
    given = [("1", ("a", "b")), ("2", ["a", "b"]), ("3", (None, None)), ("4", ())]
    found, said = [], []
    for one in nd.read(given, id="id", on_error=lambda error: said.append(error.reason)):
        found.append((one.id, one.text))
    assert found == [("1", "a\nb"), ("2", "a\nb"), ("4", "")]
    assert said == ["the text in 'text' is a list, not text"]


def told(source: Any, options: Options = KEEP) -> list[tuple[str, str, dict[str, Any]]]:
    return [(one.id, one.text, dict(one.kept)) for one in read(source, **options)]


def errors(source: Any, **options: Any) -> tuple[list[str], list[str]]:
    """The ids that are usable, and what is said of the other records."""
    found: list[RecordError] = []
    usable = read(source, found.append, **options)
    return [one.id for one in usable], [str(error) for error in found]


def rows() -> list[dict[str, Any]]:
    return [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]


def table() -> Any:
    return pa.table(COLUMNS)


Row = namedtuple("Row", ["id", "text", "city"])  # as `itertuples` of pandas gives


def selected() -> list[sqlite3.Row]:
    with closing(sqlite3.connect(":memory:")) as opened:
        opened.row_factory = sqlite3.Row
        opened.execute("CREATE TABLE ads (id, text, city)")
        opened.executemany("INSERT INTO ads VALUES (?, ?, ?)", zip(*COLUMNS.values(), strict=True))
        return opened.execute("SELECT id, text, city FROM ads ORDER BY id").fetchall()


class Interchange:
    """A DataFrame of a library that knows only the older protocol."""

    def __dataframe__(self, **given: Any) -> Any:
        return table().__dataframe__(**given)


SOURCES: dict[str, Callable[[], Any]] = {
    "pandas": lambda: pd.DataFrame(COLUMNS),
    "pandas_categories": lambda: pd.DataFrame(COLUMNS).astype("category"),
    "pandas_arrow": lambda: pd.DataFrame(COLUMNS).convert_dtypes(dtype_backend="pyarrow"),
    "pandas_objects": lambda: pd.DataFrame(COLUMNS, dtype=object),
    "pandas_index": lambda: pd.DataFrame(COLUMNS).set_index("id"),
    "pandas_indices": lambda: pd.DataFrame(COLUMNS | {"n": [1, 2]}).set_index(["n", "id"]),
    "pandas_subclass": lambda: type("Frame", (pd.DataFrame,), {})(COLUMNS),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "polars_categories": lambda: pl.DataFrame(COLUMNS).cast(pl.Categorical),
    "polars_lazy": lambda: pl.LazyFrame(COLUMNS),
    "table": table,
    "batch": lambda: table().to_batches()[0],
    "reader": lambda: table().to_reader(),
    "dataset": lambda: ds.dataset(table()),
    "interchange": Interchange,
    "mapping": lambda: COLUMNS,
    "mapping_of_arrays": lambda: {name: np.array(v, dtype=object) for name, v in COLUMNS.items()},
    "mapping_of_series": lambda: {name: pd.Series(v) for name, v in COLUMNS.items()},
    "dicts": rows,
    "generator": lambda: (row for row in rows()),
    "named_tuples": lambda: pd.DataFrame(COLUMNS).itertuples(index=False),
    "named_tuples_too": lambda: [Row(**row) for row in rows()],
    "series": lambda: (row for _, row in pd.DataFrame(COLUMNS).iterrows()),
    "sqlite": selected,
    "documents": lambda: [nd.Document(id=i, text=t, kept=k) for i, t, k in EXPECTED],
}  # fmt: skip


@pytest.mark.parametrize("name", SOURCES)
def test_anything_with_columns_is_a_source(name: str) -> None:
    """The same documents, whatever they are held in; what is missing is not kept."""
    assert told(SOURCES[name]()) == EXPECTED


@pytest.mark.parametrize("make", [list, tuple, iter, lambda pairs: [list(each) for each in pairs]])
def test_pairs_are_documents(make: Callable[[Any], Any]) -> None:
    """(id, text), whole numbers too, need no names."""
    assert told(make([("1", "a"), (2, "b"), (np.int64(3), "c")]), {}) == [
        ("1", "a", {}), ("2", "b", {}), ("3", "c", {}),
    ]  # fmt: skip
    with refusal(ArgumentError, "arguments-conflict", "`keep`"):
        told([("1", "a")])


def test_numbers_of_every_kind_are_ids() -> None:
    """Whole numbers of numpy, pandas, polars and Arrow become their digits."""
    ids = {
        "int8": pd.Series([1, 2], dtype="int8"),
        "UInt64": pd.Series([1, 2], dtype="UInt64"),
        "arrow": pd.Series([1, 2], dtype="int64[pyarrow]"),
        "huge": pd.Series([2**70, 2], dtype=object),
    }
    for name, column in ids.items():
        found = told(pd.DataFrame({"id": column, "text": ["a", "b"]}), {})
        assert [id for id, *_ in found] == [str(2**70) if name == "huge" else "1", "2"]
    assert told([{"id": pa.scalar(7), "text": pa.scalar("x")}], {}) == [("7", "x", {})]
    assert told(pl.DataFrame({"id": [2**63], "text": ["a"]}), {}) == [(str(2**63), "a", {})]


TEXTS = ["a"] * 5
WITH_FLOATS: dict[str, Callable[[list[Any], Path], Any]] = {
    "pandas": lambda ids, _: pd.DataFrame({"id": ids, "text": TEXTS}),
    "polars": lambda ids, _: pl.DataFrame({"id": ids, "text": TEXTS}),
    "arrow": lambda ids, _: pa.table({"id": ids, "text": TEXTS}),
    "mapping": lambda ids, _: {"id": ids, "text": TEXTS},
    "dicts": lambda ids, _: [{"id": id, "text": "a"} for id in ids],
    "pairs": lambda ids, _: [(id, "a") for id in ids],
    "documents": lambda ids, _: [nd.Document(id=id, text="a") for id in ids],
    "parquet": lambda ids, path: write(path / "a.parquet", ids),
    "jsonl": lambda ids, path: write(path / "a.jsonl", ids),
    "xlsx": lambda ids, path: write(path / "a.xlsx", ids),
}


def write(path: Path, ids: list[Any]) -> Path:
    """Write a file with such ids, as pandas does."""
    frame = pd.DataFrame({"id": ids, "text": TEXTS})
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    elif path.suffix == ".xlsx":
        frame.to_excel(path, index=False)
    else:
        frame.to_json(path, orient="records", lines=True, double_precision=15)
    return path


@pytest.mark.parametrize("kind", WITH_FLOATS)
def test_floats_that_are_whole_numbers_are_these_as_ids(kind: str, tmp_path: Path) -> None:
    """If an id is missing, the others become floats. Those that may be rounded are refused."""
    make = WITH_FLOATS[kind]
    missing = "no id: 'id' is missing or null"
    assert errors(make([3.0, None, -4.0, 1e15, 0.0], tmp_path))[0] == ["3", "-4", str(10**15), "0"]
    ids, reasons = errors(make([1.0, None, 2.5, 2.0, 3.0], tmp_path))
    assert ids == ["1", "2", "3"]
    assert [reason.partition(": ")[2] for reason in reasons] == [
        missing, "the id in 'id' is the number 2.5, not text or a whole number"]  # fmt: skip
    large = 1e300 if kind == "xlsx" else 2.0**53  # openpyxl writes all digits
    ids, (reason,) = errors(make([large, 1.0, 2.0, 3.0, 2.0**53 - 1], tmp_path))
    assert ids == ["1", "2", "3", str(2**53 - 1)]
    assert "floats this large are rounded" in reason


def test_decimals_and_uuids_are_ids() -> None:
    """Databases have whole numbers as decimals. Small floats are exact up to 2**24 only."""
    ids = [Decimal("7.00"), UUID(int=8), np.float16(9), np.float32(2**24 - 1), "1.0"]
    bad = [Decimal("7.5"), Decimal("NaN"), Decimal("1E+9999999"), np.float32(2**24)]
    found, reasons = errors([{"id": id, "text": "a"} for id in [*ids, *bad]])
    assert found == ["7", str(ids[1]), "9", str(2**24 - 1), "1.0"]
    assert len(reasons) == len(bad)


NESTED: list[dict[str, Any]] = [
    {
        "key": {"id": n},
        "doc": {"text": f"text {n}", "year": 2_000 + n, "by": [{"name": "A"}, {"name": f"B{n}"}]},
        "plain": "x",
        "a.b": n,
        "a": {"b": 0},
    }
    for n in range(1, 4)
]
WITH_FIELDS: dict[str, Callable[[Path], Any]] = {
    "pandas": lambda _: pd.DataFrame(NESTED),
    "arrays": lambda path: pd.read_parquet(write_nested(path / "a.parquet")),
    "polars": lambda _: pl.DataFrame(NESTED),
    "lazy": lambda _: pl.LazyFrame(NESTED),
    "arrow": lambda _: pa.Table.from_pylist(NESTED),
    "dataset": lambda path: ds.dataset(write_nested(path / "a.parquet")),
    "mapping": lambda _: {name: [row[name] for row in NESTED] for name in NESTED[0]},
    "dicts": lambda _: NESTED,
    "parquet": lambda path: write_nested(path / "a.parquet"),
    "jsonl": lambda path: write_nested(path / "a.jsonl"),
    "json": lambda path: write_nested(path / "a.json"),
}


def write_nested(path: Path) -> Path:
    """Write the objects with fields to a file."""
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(NESTED), path)
    elif path.suffix == ".json":
        path.write_text(json.dumps(NESTED, indent=1))
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in NESTED))
    return path


@pytest.mark.parametrize("kind", WITH_FIELDS)
def test_fields_within_columns_are_read_by_their_path(kind: str, tmp_path: Path) -> None:
    """Also as ids, kept, in lists and in another case; a column of that very name goes first."""
    make = WITH_FIELDS[kind]
    reading: Options = {"id": "key.id", "text": "doc.text"}
    assert told(make(tmp_path), reading) == [(str(n), f"text {n}", {}) for n in (1, 2, 3)]
    reading = {"id": "a.b", "text": ("Doc.By.Name", "plain"), "keep": ("doc.year", "doc.by.name")}
    kept = {"doc.year": 2_002, "doc.by.name": ["A", "B2"]}
    assert told(make(tmp_path), reading)[1] == ("2", "A\nB2\nx", kept)


@pytest.mark.parametrize("kind", WITH_FIELDS)
@pytest.mark.parametrize("name", ["doc.txt", "doc.text.more", "plain.more"])
def test_a_wrong_path_shows_the_fields_that_there_are(kind: str, name: str, tmp_path: Path) -> None:
    """A name that is near is proposed; a wrong one to keep is refused, or told."""
    source = WITH_FIELDS[kind](tmp_path)
    near = r" \(did you mean 'doc\.text'\?\)" if name == "doc.txt" else ""
    shown = r"available: 'key\.id', 'doc\.text', 'doc\.year', 'doc\.by\.name', 'plain', 'a\.b'"
    with pytest.raises(SourceError, match=rf"'{name}' is missing.*{near}; {shown}"):
        told(source, {"id": "key.id", "text": (name,)})
    notices: list[str] = []
    reading: Options = {"id": "key.id", "text": "plain", "keep": name}
    with suppress(SourceError):
        with noticed(notices):
            assert list(read(source, **reading))
        assert [line.partition(": ")[2] for line in notices] == [f"no record has a column {name!r}"]


MISSING: list[Any] = [None, float("nan"), np.nan, np.float32("nan"), pd.NaT, pd.NA,
                      np.datetime64("NaT", "ns"), pa.scalar(None)]  # fmt: skip


@pytest.mark.parametrize("nothing", MISSING, ids=repr)
def test_what_is_missing_is_said_or_left_out(nothing: Any) -> None:
    """A missing id or text is an error of its record; a missing value to keep is left out."""
    good = [{"id": str(number), "text": "a", "city": nothing} for number in range(3)]
    bad = [{"id": nothing, "text": "a"}, {"id": "x", "text": nothing}]
    assert errors([*good, *bad], keep="city") == (
        ["0", "1", "2"],
        [
            "list, record 4: no id: 'id' is missing or null",
            "list, record 5 (id 'x'): no text: 'text' is missing or null",
        ],
    )
    assert [kept for *_, kept in told(good)] == [{}] * 3


KEPT: dict[str, tuple[Any, Any]] = {
    "int": (np.int64(3), 3),
    "float": (np.float32(0.5), 0.5),
    "bool": (np.bool_(True), True),
    "str": (np.str_("x"), "x"),
    "infinite": (float("inf"), None),
    "timestamp": (pd.Timestamp("2024-02-29 12:00"), "2024-02-29T12:00:00"),
    "zone": (pd.Timestamp("2024-02-29", tz="UTC"), "2024-02-29T00:00:00+00:00"),
    "datetime64": (np.datetime64("2024-02-29T12:00:00.000000001"), "2024-02-29T12:00:00.000000001"),
    "moments": (np.array(["2024-02-29", "NaT"], dtype="datetime64[D]"), ["2024-02-29", None]),
    "date": (date(2024, 2, 29), "2024-02-29"),
    "timedelta": (pd.Timedelta(days=1), "P1DT0H0M0S"),
    "decimal": (Decimal("1.50"), "1.50"),
    "uuid": (UUID(int=1), str(UUID(int=1))),
    "array": (np.array([1, 2]), [1, 2]),
    "tuple": (("a", np.int8(1)), ["a", 1]),
    "nested": ([["a"], {"b": np.int64(1)}], ['["a"]', '{"b":1}']),
    "dict": ({"b": pd.NA, 1: date(2024, 2, 29)}, '{"b":null,"1":"2024-02-29"}'),
    "bytes": (b"caf\xc3\xa9", "café"),
    "arrow": (pa.scalar([date(2024, 2, 29)]), ["2024-02-29"]),
}


@pytest.mark.parametrize("name", KEPT)
def test_values_are_kept_as_what_they_are(name: str) -> None:
    """Numbers stay numbers; dates come in ISO form, decimals as text; objects become their JSON."""
    given, expected = KEPT[name]
    wanted = [{} if expected is None else {"city": expected}]
    assert [kept for *_, kept in told([{"id": 1, "text": "", "city": given}])] == wanted
    frame = pd.DataFrame({"id": [1], "text": [""], "city": pd.Series([given], dtype=object)})
    assert [kept for *_, kept in told(frame)] == wanted


def test_bad_values_are_errors_of_their_records() -> None:
    """An object column of all kinds, lone surrogates, bytes that are not UTF-8, unknown classes."""
    given: list[tuple[Any, Any, Any]] = [
        (1, "good", None), (True, "a", None), (1.5, "a", None), (["1"], "a", None),
        ("", "a", None), ("x" * 513, "a", None), ("\ud800", "a", None), (b"\xe9", "a", None),
        ("t1", 5, None), ("t2", {"a": 1}, None), ("t3", "\udc80 a", None), ("t4", ["a", 1], None),
        ("t5", date(2024, 2, 29), None), ("k1", "a", object()), ("k2", "a", "\ud800"),
        ("k3", "a", 2**70),
    ]  # fmt: skip
    good = [(f"good{number}", ["good", "text"], None) for number in range(20)]
    frame = pd.DataFrame([*good, *given], columns=["id", "text", "city"], dtype=object)
    usable, said = errors(frame, keep="city")
    assert usable == [*(id for id, *_ in good), "1"]
    assert [line.partition(", row ")[2].partition(" ")[2] for line in said] == [
        "the id in 'id' is true or false, not text or a whole number",
        "the id in 'id' is the number 1.5, not text or a whole number",
        "the id in 'id' is a list, not text or a whole number",
        "the id is empty",
        "the id has 513 bytes, more than 512",
        "invalid Unicode: a lone surrogate (U+D800) is not a character",
        "invalid UTF-8: byte 0xe9 at offset 0 of the record",
        "(id 't1'): the text in 'text' is the number 5, not text",
        "(id 't2'): the text in 'text' is an object, not text",
        "invalid Unicode: a lone surrogate (U+DC80) is not a character",
        "(id 't4'): the text in 'text' is a list, not text",
        "(id 't5'): the text in 'text' is a date, not text",
        "the column 'city' cannot be kept as JSON (Type is not JSON serializable: object)",
        "the column 'city' cannot be kept as JSON (str is not valid UTF-8: surrogates not allowed)",
        "the column 'city' cannot be kept as JSON (Integer exceeds 64-bit range)",
    ]


def test_numbers_and_dates_are_text_among_several_columns() -> None:
    """As a zip or a day of birth is, in records that are compared by columns."""
    frame = pd.DataFrame({"id": ["a", "b"], "name": ["Ada", "Otto"], "zip": [1017.0, None],
                          "born": pd.to_datetime(["1961-03-04", None])})  # fmt: skip
    reading: Options = {"text": ("name", "zip", "born")}
    whole = {"id": 1, "name": "Ada", "zip": 2.5, "born": datetime(1961, 3, 4, 12, 30)}
    texts = told(frame, reading) + told([whole], reading)
    assert [text for _, text, _ in texts] == [
        "Ada\n1017\n1961-03-04", "Otto", "Ada\n2.5\n1961-03-04 12:30:00"
    ]  # fmt: skip


def test_records_of_another_kind_are_refused_one_by_one() -> None:
    """The first record says of what kind the others have to be."""
    good = [{"id": str(number), "text": "a"} for number in range(6)]
    usable, said = errors([*good, ("7", "a"), None, "a", 5, nd.Document(id="8", text="a")])
    assert usable == [str(number) for number in range(6)]
    assert said == [
        "list, record 7: a pair, but the first record is a dict: give records of one kind",
        "list, record 8: None is not a record: give (id, text), a dict or an nd.Document",
        "list, record 9: the string 'a' is not a record: give (id, text), a dict or an nd.Document",
        "list, record 10: 5 is not a record: give (id, text), a dict or an nd.Document",
        "list, record 11: a Document, but the first record is a dict: give records of one kind",
    ]
    usable, said = errors(iter([None, ("1", "a"), ("2",), ("3", "a", "b"), {"id": "4"}]))
    assert usable == ["1"]
    assert [line.partition(", ")[2] for line in said] == [
        "record 1: None is not a record: give (id, text), a dict or an nd.Document",
        "record 3: a record of 1 value: give (id, text), or a dict",
        "record 4: a record of 3 values: give (id, text), or a dict",
        "record 5: a dict, but the first record is a pair: give records of one kind",
    ]


def test_documents_are_checked_and_keep_their_position(tmp_path: Path) -> None:
    """A Document may be made of anything: what cannot be indexed is refused, by who uses it."""
    made: list[Any] = [nd.Document(id="1", text="a", position="a.csv, line 7"),
                       nd.Document(id="2", text="a"), nd.Document(id="3", text="b", kept={"n": 1}),
                       nd.Document(id=4, text=None), nd.Document(id="5", text="\ud800")]  # type: ignore[arg-type]  # fmt: skip
    documents = list(nd.read(made[:3], id="id"))
    assert [one.position for one in documents] == ["a.csv, line 7", "", "list, record 3"]
    assert [one.id for one in documents] == ["1", "2", "3"]
    found: list[RecordError] = []
    written = nd.signatures(made, tmp_path / "a.parquet", id="id", on_error=found.append).written
    assert written == 3
    assert [error.position for error in found] == ["list, record 4", "list, record 5"]


def hashable(value: object) -> bool:
    return not isinstance(value, np.ndarray)


class Opened:
    def read(self) -> str:
        return ""

    def __iter__(self) -> Iterator[str]:
        return iter(["1 a"])


REFUSED: dict[str, tuple[Any, str]] = {
    "none": (None, "None is not a source; give the path"),
    "int": (5, "5 is not a source"),
    "bytes": (b"1 a", "a bytes is not a source"),
    "object": (object(), "an object is not a source"),
    "class": (pd.DataFrame, "the class DataFrame is not a source"),
    "opened_file": (Opened(), "Opened is not a source; give the path"),
    "no_such_path": ("no/such.csv", "there is no such file or folder; check the path"),
    "a_text": ("The quick brown fox", "pass a text as"),
    "a_long_text": ("The quick brown fox\n" * 10_000, "cannot be read"),
    "strings": (
        ["1 a", "2 b"],
        "a list of texts has no ids; give pairs of id and text",
    ),
    "numbers": ([1, 2], "1 is not a record"),
    "record": ({"id": "1", "text": "a"}, "its column 'id' is the string '1', not a list of values"),
    "generators": ({"id": iter("1"), "text": ["a"]}, "not a list of values"),
    "ragged": ({"id": ["1", "2"], "text": ["a"]}, "differ in length: 'id' 2, 'text' 1"),
    "other_columns": ({"key": [1], "body": [""]}, "available: 'key', 'body'; name the right"),
    "other_keys": ([{"key": 1, "text": ""}], "no id: 'id' is missing"),
    "no_columns": (pd.DataFrame(), "the column 'id' is missing; available: none"),
    "no_id": (pd.DataFrame({"text": ["a"]}), "make the index the id: df.rename_axis('id')"),
    "no_text": (pd.DataFrame({"id": ["a"]}), "the column 'text' is missing"),
    "twice": (pd.DataFrame([[1, 2, 3]], columns=["id", "id", "text"]), "'id' appears twice"),
    "either": (
        pl.DataFrame({"ID": ["1"], "Id": ["2"], "text": [""]}),
        "several columns: 'ID', 'Id'",
    ),
    "levels": (
        pd.DataFrame([[1, "a"]], columns=pd.MultiIndex.from_tuples([("a", "id"), ("a", "text")])),
        "its columns have several levels",
    ),
    "numbered": (pd.DataFrame([[1, "a"]]), "available: 0, 1"),
    "polars_other": (pl.DataFrame({"key": ["1"]}), "'id' is missing; available: 'key'"),
    "lazy_other": (pl.LazyFrame({"key": ["1"]}), "'id' is missing; available: 'key'"),
    "arrow_array": (pa.array(["a"]), "has no columns"),
    "arrow_chunks": (pa.chunked_array([["a"]]), "has no columns"),
    "arrow_other": (pa.table({"key": ["1"]}), "'id' is missing; available: 'key'"),
    "dataset_other": (ds.dataset(pa.table({"key": ["1"]})), "'id' is missing; available"),
    "many": ({str(n): [1] for n in range(50)}, "'9' and 40 more"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_source_is_one_clear_error(name: str) -> None:
    """It says what to do, and is never an error from inside."""
    source, words = REFUSED[name]
    with pytest.raises((SourceError, ArgumentError)) as caught:
        list(nd.read(source, id="id", on_error=lambda error: None))
    assert words in str(caught.value)
    assert len(str(caught.value)) < 2_000
    assert isinstance(caught.value, NeardupError)


def test_pysolr_is_no_source() -> None:
    """What speaks to a Solr has no documents of its own."""
    import pysolr

    with refusal(ArgumentError, "argument-type", "pysolr.Solr"):
        nd.read(pysolr.Solr("http://127.0.0.1:1/solr/a"), id="id")


def test_without_on_error_the_first_bad_record_is_raised() -> None:
    """As with files."""
    given = iter([("1", "a"), ("2", None)])
    found = nd.read(given, id="id")
    assert next(found).id == "1"
    with refusal(RecordError, "text-missing", "record 2", "'2'"):
        next(found)


def test_an_iterator_is_not_read_ahead() -> None:
    """A document is given before the next one is asked for: they may be slow to come."""
    asked = []

    def slow() -> Iterator[tuple[str, str]]:
        for number in range(3):
            asked.append(number)
            yield str(number), "a"

    found = nd.read(slow(), id="id")
    assert next(found).id == "0"
    assert asked == [0]


def test_an_error_of_the_iterator_is_its_own() -> None:
    """What a generator raises is not taken for a bad record."""

    def broken() -> Iterator[tuple[str, str]]:
        yield "1", "a"
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        list(nd.read(broken(), id="id"))


EMPTY: list[Any] = [[], (), {}.items(), iter(()), {"id": [], "text": []},
                    *(make({"id": [], "text": []})
                      for make in (pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table)),
]  # fmt: skip


@pytest.mark.parametrize("source", EMPTY, ids=lambda source: type(source).__name__)
def test_what_is_empty_gives_nothing(source: Any) -> None:
    """No documents, and no error."""
    assert list(nd.read(source, id="id")) == []


def test_several_columns_are_one_text() -> None:
    """They are joined by line breaks; what is missing is left out, unless all of it is."""
    frame = pd.DataFrame(
        {"id": list("123"), "title": ["A", None, None], "body": ["b", "c", pd.NA]}, dtype=object
    )
    for source in (frame, pl.from_pandas(frame.replace(pd.NA, None)), frame.to_dict("records")):
        found: list[RecordError] = []
        usable = read(source, found.append, text=("title", "body"))
        assert [(one.id, one.text) for one in usable] == [("1", "A\nb"), ("2", "c")]
        assert [error.reason for error in found] == [
            "no text: 'title' and 'body' are missing or null"
        ]


def test_names_of_columns_may_differ_in_case() -> None:
    """`ID` serves for `id` if no other column would, blanks around it or not."""
    assert told({"ID": ["1"], " Text ": ["a"], "CITY": ["Ås"]}) == [("1", "a", {"city": "Ås"})]
    assert told([{"Id": "1", "TEXT": "a", "City": "Ås"}]) == [("1", "a", {"city": "Ås"})]
    assert told(pl.DataFrame({"ID": ["1"], "id": ["2"], "text": ["a"]}), {}) == [("2", "a", {})]


def test_a_column_that_no_dict_has_is_told() -> None:
    """A misspelt column to keep does not go unnoticed."""
    lines: list[str] = []
    with noticed(lines):
        assert list(nd.read(rows(), keep="cty"))
    assert lines == ["list: no record has a column 'cty'"]


def test_invalid_bytes_of_arrow_cost_their_row_only() -> None:
    """Arrow does not check that its text is UTF-8."""
    bad = pa.Array.from_buffers(
        pa.string(),
        1,
        [None, pa.py_buffer(bytes([0, 0, 0, 0, 2, 0, 0, 0])), pa.py_buffer(b"a\xe9")],
    )
    texts = pa.chunked_array([pa.array(["a", "b"]), bad])
    usable, said = errors(pa.table({"id": ["1", "2", "3"], "text": texts}))
    assert usable == ["1", "2"]
    assert said == ["Table, row 3: invalid UTF-8: byte 0xe9 at offset 1 of the record"]


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary(), st.dates(),
    st.sampled_from([object(), int, pd.NA, pd.NaT, np.float64(3), np.array([[1], [2]]), "\ud800"]),
)  # fmt: skip
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner, inner),
        st.dictionaries(
            st.one_of(st.sampled_from(["id", "ID", "text"]), SCALARS.filter(hashable)),
            inner,
            max_size=3,
        ),
    ),
    max_leaves=12,
)


@settings(max_examples=sized(usual=37, full=150), deadline=None)
@given(given=VALUES, options=st.sampled_from([{}, KEEP, {"text": ("text", "body")}]))
def test_whatever_is_given_the_errors_are_ours(given: Any, options: Options) -> None:
    """No TypeError, KeyError or AttributeError, and each document is one that can be indexed."""
    if isinstance(given, str) or hasattr(given, "__fspath__"):
        return  # a path
    found: list[nd.Document] = []
    with suppress(NeardupError):
        found = list(read(given, lambda error: None, **options))
    for one in found:
        assert type(one.id) in (str, NUMBER)
        assert type(one.text) is str
        (one.id + one.text).encode()


WITHOUT = """
import sys
sys.modules["pyarrow"] = None
import neardup_solr as nd
assert "pandas" not in sys.modules and "polars" not in sys.modules
import pandas, polars
for library in (pandas, polars):
    found = nd.read(library.DataFrame({"id": [1, 2], "text": ["a", "b"]}))
    assert [one.id for one in found] == ["1", "2"]
class Other:
    def __arrow_c_stream__(self): ...
try:
    nd.read(Other())
except Exception as error:
    print(error)
"""


def test_dataframes_need_no_arrow() -> None:
    """They are read by their own means; a table of Arrow says what is missing."""
    ran = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == (
        "the Other: Arrow needs the library pyarrow; "
        'install it with: pip install "neardup-solr[formats]"\n'
    )


MEMORY = """
import resource
import pyarrow as pa
import neardup_solr as nd
schema = pa.schema({"id": pa.int64(), "text": pa.string()})
def batches(number):
    for part in range(number):
        yield pa.record_batch({"id": pa.array(range(5000)), "text": ["word " * 200] * 5000})
def count(number):
    reader = pa.RecordBatchReader.from_batches(schema, batches(number))
    return sum(1 for _ in nd.read(reader))
count(2)
base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(count(60), (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - base) // 1024)
"""


def test_batches_are_read_one_by_one() -> None:
    """A stream of 300 MB of Arrow takes no more than some of its batches."""
    command = [sys.executable, "-c", MEMORY]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    count, mebibytes = map(int, ran.stdout.split())
    assert count == 300_000
    assert mebibytes <= 64


def test_a_dataset_reads_only_what_it_needs(tmp_path: Any) -> None:
    """Files of Parquet that are read together, as one source."""
    for part in range(2):
        pq.write_table(
            pa.table({"id": [f"{part}-1"], "text": ["a"], "more": [None]}),
            tmp_path / f"{part}.parquet",
        )
    assert [id for id, *_ in told(ds.dataset(tmp_path), {})] == ["0-1", "1-1"]
    assert [id for id, *_ in told(pl.scan_parquet(tmp_path), {})] == ["0-1", "1-1"]


NO_TEXT: list[Any] = [{"id": 1}, {"id": 2, "text": None}]
STEP = "; give each record an id and a text, and name its columns with `id` and `text`"


@pytest.mark.parametrize("given", [NO_TEXT, {"a", "b"}, pd.DataFrame({"id": [1], "text": [None]})])
def test_what_is_in_memory_has_no_format_to_check(given: Any) -> None:
    """The error says what applies."""
    with pytest.raises(SourceError) as caught:
        told(given, {})
    assert str(caught.value).endswith(STEP)
    assert "source_format" not in str(caught.value)


def test_an_iterator_without_a_usable_record_is_refused_at_its_end() -> None:
    """One usable record is enough; nothing at all is no error."""
    bad: list[RecordError] = []
    with refusal(SourceError, "records-unusable", 2) as caught:
        list(nd.read(iter(NO_TEXT), id="id", on_error=bad.append))
    assert len(bad) == 2
    assert str(caught.value).endswith(STEP)
    some = nd.read(iter([*NO_TEXT, {"id": 3, "text": "a"}]), id="id", on_error=bad.append)
    assert [one.id for one in some] == ["3"]
    assert list(nd.read(iter([]), id="id")) == []
