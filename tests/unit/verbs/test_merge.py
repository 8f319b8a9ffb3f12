"""`merge` of a result of duplicates: one record for each cluster, with the values of all."""

import csv
import json
import pickle
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup_solr as nd
from neardup_solr.errors import ArgumentError, DataError, SourceError, TemplateError
from tests.refusals import refusal
from tests.unit.verbs.test_unique import SOURCES, rows_of

ONE, OTHER = "the old mill by the river", "a new bridge over the lake of tides"
ROWS: list[dict[str, Any]] = [
    {"id": "1", "text": ONE, "city": "Bonn", "phone": "", "day": "2024-01-05"},
    {"id": "2", "text": OTHER, "city": "Ulm", "phone": "7", "day": ""},
    {"id": "3", "text": ONE, "city": "Köln", "phone": "31", "day": "05.02.2024 10:00"},
    {"id": "4", "text": ONE, "city": "köln ", "phone": "30", "day": "n/a"},
]


def merge(rows: Any, rules: dict[str, str] | None = None, **arguments: Any) -> Any:
    """Find the near-duplicates of a source, and merge them."""
    return nd.duplicates(rows, **arguments).merge(rules or {})


def with_values(*values: Any) -> list[dict[str, Any]]:
    """Records of one text, the first of which is kept, with these values."""
    days = ("2024-01-01", "2024-03-01", "2024-02-01", None)
    return [
        {"id": str(at), "text": ONE, "value": value, "day": day}
        for at, (value, day) in enumerate(zip(values, days, strict=False))
    ]


@pytest.mark.parametrize(
    ("rule", "values", "expected"),
    [
        (None, ["a", "b", "b"], "a"),
        (None, ["", "b", "c"], "b"),
        (None, [None, "b", "c", "C "], "c"),  # the most frequent fills
        (None, ["n/a", "-", "c"], "c"),
        (None, ["", " ", None], ""),
        (None, [0, 5], 0),
        (None, [False, True], False),
        (None, [[], ["x"]], ["x"]),
        ("kept", ["a", "b", "b"], "a"),
        ("frequent", ["a", "b", "B"], "b"),
        ("frequent", ["a", "b", ""], "a"),
        ("frequent", [[1], [2], [2]], [2]),
        ("longest", ["ab", "abc", "abd"], "abc"),
        ("longest", [["abc"], ["a", "b"], []], ["a", "b"]),
        ("newest", ["a", "b", "c"], "b"),
        ("newest:day", ["a", "", "c"], "c"),  # of those that have a value
        ("newest", ["a", "", "", "d"], "a"),
        ("first:day", ["", "b", "c"], "c"),
        ("first:id", ["", "b", "c"], "b"),
        ("joined", ["a", "b", "A", "c"], "a; b; c"),
        ("joined", ["a; b", "c; b", ""], "a; b; c"),
        ("joined", [["a"], ["b", "a"], None], ["a", "b"]),
        ("joined", [["a"], "b", "a"], ["a", "b"]),
        ("joined", [1, 2.5, 1], "1; 2.5"),
    ],
)
def test_rules(rule: str | None, values: list[Any], expected: Any) -> None:
    """Each chooses one of the values; an empty one is filled whatever the rule is."""
    rules = {} if rule is None else {"value": rule}
    for each in (
        rules,
        {"VALUE": rule} if rule else {},
        {"*": rule, "day": "kept"} if rule else {},
    ):
        if "*" in each and expected == "1; 2.5":  # which only a rule of its own makes a text
            continue
        [record] = merge(with_values(*values), each).records
        assert record == {"id": "0", "text": ONE, "value": expected, "day": "2024-01-01"}


def test_of_equally_frequent_values_a_common_one_counts() -> None:
    """A slip is rare in all records, a name is not."""
    rows = [
        {"id": str(at), "text": text, "city": city}
        for at, (text, city) in enumerate(
            [(ONE, "Hambrug"), (ONE, "Hamburg"), (OTHER, "Hamburg"), (OTHER, "Hamburg")]
        )
    ]
    assert merge(rows, {"city": "frequent"}).records[0]["city"] == "Hamburg"


@pytest.mark.parametrize(
    ("values", "conflicts"),
    [
        (["60,00", "60.00", "60"], 0),
        (["1.299,50 €", "€ 1,299.50", "1299.5"], 0),
        (["16.09.2006", "2006-09-16", "16 September 2006"], 0),
        (["2024-03-01T10:00:00Z", "2024-03-01 10:00"], 0),
        (["030/123 45-6", "(030) 123456"], 0),
        (["Straße 1", "STRAßE  1"], 0),
        (["Weiss", "Weiß"], 1),
        (["60,00", "60.10"], 1),
        (["2006", "2006-01-01"], 1),  # a year is no day
        (["2024-03-01 10:00", "2024-03-01 11:00"], 1),
        (["007", "7"], 1),  # a code
        (["12-3", "1-23"], 1),  # a house
        (["10.1.2.34", "10.12.3.4"], 1),  # an address
        (["030 123456", "+49 30 123456"], 1),
    ],
)
def test_values_in_other_notations_are_equal(values: list[str], conflicts: int) -> None:
    """The kept record has its own notation, and nobody is asked which is right."""
    merged = merge(with_values(*values))
    assert merged.records[0]["value"] == values[0]
    assert merged.conflicts.get("value", 0) == conflicts
    uses = [row["use"] for row in merged.values if row["column"] == "value"]
    assert uses == ["chosen", *("left out" if conflicts else "same" for _ in values[1:])]


def test_what_is_counted_and_listed() -> None:
    """Filled values, conflicts by column, and each value with its record."""
    merged = merge(ROWS)
    assert (merged.clusters, merged.merged, merged.filled, merged.decided) == (1, 3, 1, 0)
    assert merged.conflicts == {"city": 1, "phone": 1, "day": 1}
    assert [record["id"] for record in merged.records] == ["1", "2"]
    listed = [tuple(row.values()) for row in merged.values if row["column"] in ("city", "phone")]
    assert listed == [
        ("1", "city", "Bonn", "1", 1, "chosen"),
        ("1", "city", "Köln", "3", 3, "left out"),
        ("1", "city", "köln ", "4", 4, "left out"),
        ("1", "phone", "31", "3", 3, "chosen"),
        ("1", "phone", "30", "4", 4, "left out"),
    ]
    merged = merge(ROWS, {"city": "frequent", "*": "newest"})
    assert (merged.decided, merged.conflicts) == (3, {})
    assert merged.records[0] == ROWS[0] | {"city": "Köln", "phone": "31", "day": "05.02.2024 10:00"}
    uses = [row["use"] for row in merged.values if row["column"] == "city"]
    assert uses == ["left out", "chosen", "same"]


@pytest.mark.parametrize("output", ["csv", "tsv", "jsonl", "parquet", "xlsx"])
def test_files(output: str, tmp_path: Path) -> None:
    """The format stays, or becomes JSON lines; the values are beside it."""
    source = tmp_path / f"in.{output}"
    SOURCES[source.name](source)
    merged = merge(str(source), {"note": "longest"}, min_similarity=0.7)
    for suffix in {output, "jsonl"}:
        merged.write(tmp_path / f"out.{suffix}")
        kept = rows_of(tmp_path / f"out.{suffix}")
        values = rows_of(tmp_path / f"out.values.{suffix}")
        assert [str(row["id"]) for row in kept] == ["1", "2", "4"]
        assert kept[0]["note"] == 'say "hi", twice'
        assert kept == [json.loads(json.dumps(row, default=str)) for row in merged.records]
        notes = [(row["from_id"], row["value"], row["use"]) for row in values
                 if (row["id"], row["column"]) == ("1", "note")]  # fmt: skip
        assert notes == [("1", 'say "hi", twice', "chosen"), ("5", "the last", "left out")]
        assert {int(row["from_row"]) for row in values} == {1, 3, 5}


def test_json_and_compressed_files(tmp_path: Path) -> None:
    """An array becomes lines; what is compressed has its suffix last."""
    source = tmp_path / "in.json"
    SOURCES["in.json"](source)
    merge(source, min_similarity=0.7).write(tmp_path / "out.jsonl.gz")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "in.json", "out.jsonl.gz", "out.values.jsonl.gz",
    ]  # fmt: skip
    assert len(rows_of(tmp_path / "out.jsonl.gz")) == 3
    with refusal(SourceError, "format-unfit", "out.csv"):
        merge(source, min_similarity=0.7).write(tmp_path / "out.csv")


def test_the_dialect_stays(tmp_path: Path) -> None:
    """Byte order mark, semicolons and line ends are those of the source, other rows its bytes."""
    source, output = tmp_path / "in.csv", tmp_path / "out.csv"
    lines = [
        '\ufeffid;"text";tags;n\r\n',
        f'1;"{ONE}";a;\r\n',
        f'"2";{OTHER};"x";007\r\n',
        f'3;{ONE};"b;""c""";5\r\n',
    ]
    source.write_bytes("".join(lines).encode())
    merge(str(source), {"tags": "joined"}).write(output)
    changed = f'1;{ONE};"a; b;""c""";5\r\n'
    assert output.read_bytes() == "".join([lines[0], changed, lines[2]]).encode()
    values = (tmp_path / "out.values.csv").read_bytes().decode()
    assert values.startswith("\ufeffid;column;value;from_id;from_row;use\r\n1;text;")
    assert '1;tags;"b;""c""";3;3;chosen\r\n' in values


def test_quotes_of_tsv_are_characters(tmp_path: Path) -> None:
    """A merged row has none that its source has not, unless nothing else tells cells apart."""
    source, output = tmp_path / "in.tsv", tmp_path / "out.tsv"
    source.write_text(f'id\ttext\ta\tb\n1\t{ONE} 5"\t\t7\n2\t{ONE} 5"\t5" wide\t\n')
    merge(source).write(output)
    assert output.read_text() == f'id\ttext\ta\tb\n1\t{ONE} 5"\t5" wide\t7\n'
    source.write_text(f'id\ttext\ta\tb\n1\t{ONE}\t\t7\n2\t{ONE}\t"x\ty"\t\n')
    merge(source).write(output)
    assert output.read_text() == f'id\ttext\ta\tb\n1\t{ONE}\t"x\ty"\t7\n'


def test_a_higher_threshold(tmp_path: Path) -> None:
    """A result at another threshold merges its own clusters."""
    source = tmp_path / "in.csv"
    SOURCES["in.csv"](source)
    found = nd.duplicates(source, min_similarity=0.7)
    assert found.merge().merged == 3
    assert found.at(1.0).merge().merged == 2


def test_other_encodings_and_unnamed_columns(tmp_path: Path) -> None:
    """A table in Latin 1 stays one; a column without a name is known by its place."""
    source, output = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_bytes(f"id,text,\n1,{ONE},\n2,{ONE},Straße\n".encode("latin-1"))
    found = nd.duplicates(nd.Source(source, encoding="latin-1"))
    found.merge({"column 3": "longest"}).write(output)
    assert output.read_bytes() == f"id,text,\n1,{ONE},Straße\n".encode("latin-1")


TABLE = pa.table(
    {
        "id": pa.array([1, 2, 3], pa.int32()),
        "text": [ONE, ONE, OTHER],
        "price": pa.array([None, 1.5, 2.5], pa.float32()),
        "born": pa.array([None, date(1990, 1, 1), None], pa.date32()),
        "seen": pa.array([datetime(2023, 1, 1, tzinfo=UTC), datetime(2024, 1, 1, tzinfo=UTC), None],
                         pa.timestamp("us", "UTC")),
        "at": pa.array([None, 1_700_000_000_123_456_789, None], pa.timestamp("ns")),
        "tags": pa.array([["a"], ["b", "a"], None], pa.list_(pa.string())),
        "kind": pa.array(["x", "y", "x"]).dictionary_encode(),
        "cost": pa.array([None, Decimal("1.20"), None], pa.decimal128(10, 2)),
    }
)  # fmt: skip
RULES = {"tags": "joined", "kind": "newest:seen", "seen": "newest:seen"}


def check_types(table: pa.Table) -> None:
    """The table is merged, and its columns have the types that they had."""
    assert table.schema.equals(TABLE.schema)
    expected = TABLE.to_pylist()[1] | {"id": 1, "tags": ["a", "b"]}
    assert table.to_pylist() == [expected, TABLE.to_pylist()[2]]


def test_types_of_parquet(tmp_path: Path) -> None:
    """They stay, of times that Python does not have, too."""
    pq.write_table(TABLE, tmp_path / "in.parquet")
    merge(tmp_path / "in.parquet", RULES).write(tmp_path / "out.parquet")
    check_types(pq.read_table(tmp_path / "out.parquet"))


def test_arrow_tables() -> None:
    """A table is merged to a table of its types."""
    merged = merge(TABLE, RULES)
    check_types(merged.records)
    assert merged.values.column_names == ["id", "column", "value", "from_id", "from_row", "use"]


@pytest.mark.parametrize("is_lazy", [False, True])
def test_polars(is_lazy: bool) -> None:
    """A DataFrame is merged to one of its types, and so is a LazyFrame."""
    frame: Any = pl.from_arrow(TABLE)
    merged = merge(frame.lazy() if is_lazy else frame, RULES)
    assert merged.records.schema == frame.schema
    row = merged.records.row(0, named=True)
    assert (row["price"], row["tags"], row["kind"]) == (1.5, ["a", "b"], "y")
    assert merged.values.filter(pl.col("column") == "kind")["value"].to_list() == ["x", "y"]


def test_odd_types() -> None:
    """Views of texts, which Arrow cannot take, stay; what is joined is no longer of an Enum."""
    table = TABLE.select(["id", "text"]).append_column(
        "v", pa.array(["", "b", "c"]).cast("string_view")
    )
    merged = merge(table).records
    assert merged.schema.equals(table.schema)
    assert merged["v"].to_pylist() == ["b", "c"]
    kind = pl.Enum(["u", "v"])
    frame = pl.DataFrame({"id": [1, 2], "text": [ONE, ONE], "e": pl.Series(["u", "v"], dtype=kind)})
    assert merge(frame).records.schema["e"] == kind
    assert merge(frame, {"e": "joined"}).records["e"].to_list() == ["u; v"]


def test_pandas() -> None:
    """A DataFrame is merged to one of its types, with the index of what stays."""
    frame = TABLE.to_pandas().set_index(pd.Index(["u", "v", "w"]))
    merged = merge(frame, RULES)
    assert [*merged.records.index] == ["u", "w"]
    assert dict(merged.records.dtypes) == dict(frame.dtypes)
    assert merged.records.loc["u", "price"] == 1.5
    assert list(merged.records.loc["u", "tags"]) == ["a", "b"]
    assert merged.records.loc["u", "born"] == date(1990, 1, 1)
    assert merged.values[merged.values["column"] == "kind"]["from_id"].tolist() == [1, 2]
    assert frame.loc["u", "kind"] == "x"  # which stays as it was
    joined = merge(frame, {"kind": "joined"}).records
    assert joined["kind"].tolist() == ["x; y", "x"]
    numbered = frame.drop(columns="id")
    assert len(merge(numbered, id=":row").records) == 2


def test_what_is_in_memory_is_written_by_others(tmp_path: Path) -> None:
    """There is no file of it; what can be read once only, or has changed, is refused."""
    with refusal(ArgumentError, "argument-type", "`records`"):
        merge(ROWS).write(tmp_path / "out.csv")
    with refusal(ArgumentError, "argument-type", "DataFrames"):
        merge(iter(ROWS))
    with refusal(ArgumentError, "argument-type", "DataFrames"):
        merge([("1", ONE), ("2", ONE)])
    found = nd.duplicates(row for row in ROWS)
    assert pickle.loads(pickle.dumps(found)).clusters == found.clusters
    for once in (found, nd.duplicates(TABLE.to_reader())):
        with refusal(ArgumentError, "argument-type", "DataFrames"):
            once.merge()
    assert len(merge(TABLE.to_batches()[0]).records) == 2
    rows = [*ROWS]
    found = nd.duplicates(rows)
    rows.pop()
    with refusal(SourceError, "source-changed"):
        found.merge()


cells = st.sampled_from(["", "a", "A", "b", "n/a", "x; y", "=1", 'say "q"', "ä\nö", ";"])
rules = st.sampled_from(
    ["kept", "frequent", "longest", "joined", "first:id", "first:one", "newest:two"]
)


@given(
    st.lists(st.tuples(st.integers(0, 2), cells, cells), min_size=1, max_size=9),
    st.dictionaries(st.sampled_from(["one", "two", "*"]), rules),
)
def test_nothing_is_lost(drawn: list[tuple[int, str, str]], by_column: dict[str, str]) -> None:
    """Whatever the rules are, each record can be made again of what stays and the values."""
    texts = (ONE, OTHER, "seven words that have nothing in common there")
    rows = [
        {"id": str(at), "text": texts[text], "one": one, "two": two}
        for at, (text, one, two) in enumerate(drawn)
    ]
    merged = nd.duplicates(rows).merge(by_column, yes=True)
    again: dict[str, dict[str, Any]] = {}
    for row in merged.values:
        again.setdefault(row["from_id"], {"id": row["from_id"]})[row["column"]] = row["value"]
    for record in merged.records:
        again.setdefault(record["id"], record)
    filled = {row["id"]: {name: cell for name, cell in row.items() if cell} for row in rows}
    assert {id: {n: c for n, c in row.items() if c} for id, row in again.items()} == filled
    for row in merged.values:
        if row["use"] == "chosen":
            [record] = [each for each in merged.records if each["id"] == row["id"]]
            assert str(row["value"]).split("; ")[0] in str(record[row["column"]])


def test_records_of_one_id_are_merged(tmp_path: Path) -> None:
    """What another record of its id stands for is a value, too, whichever counts."""
    rows = [("1", OTHER, "a", ""), ("1", OTHER, "", "b"), ("2", ONE, "c", ""), ("3", ONE, "", "d")]
    source = tmp_path / "in.csv"
    with source.open("w", newline="") as file:
        csv.writer(file).writerows([("id", "text", "one", "two"), *rows])
    for which in ("first", "last"):
        found = nd.duplicates(nd.Source(source, on_repeat=which))
        kept = [[row["one"], row["two"]] for row in found.merge().records]
        assert kept == [["a", "b"], ["c", "d"]]
    assert [row["id"] for row in nd.duplicates(source).merge().records] == ["1", "2"]


def test_unusable_records_are_in_no_file(tmp_path: Path) -> None:
    """They stay out, as with `write_unique`; the numbers of the others count them."""
    source = tmp_path / "in.csv"
    source.write_text(f"id,text,n\n,{ONE},0\n1,{ONE},\n2\n3,{ONE},5\n")
    merged = merge(source, on_error=lambda error: None)
    merged.write(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == f"id,text,n\n1,{ONE},5\n"
    assert {row["from_row"] for row in merged.values} == {2, 4}


@pytest.mark.parametrize(
    ("wrong", "kind", "code", "names"),
    [
        ({"town": "kept"}, ArgumentError, "column-missing", ["'town'", "'city'"]),
        ({"city": "first:towm"}, ArgumentError, "column-missing", ["'towm'"]),
        ({"city": "best"}, ArgumentError, "argument-invalid", ["'city'", "'best'", "joined"]),
        ({"city": "first"}, ArgumentError, "argument-invalid", ["first:COLUMN"]),
        ({"id": "joined"}, ArgumentError, "arguments-conflict", ["'id'"]),
        ({"some": "joined"}, DataError, "values-unfit", ["'some'"]),
        ({"*": "newest"}, DataError, "column-missing", ["newest:"]),
    ],
)
def test_wrong_rules(wrong: dict[str, str], kind: Any, code: str, names: list[str]) -> None:
    """A line says what is wrong with a rule, and with its column."""
    rows = [{**row, "some": {"a": at}, "day": None} for at, row in enumerate(ROWS)]
    with refusal(kind, code, *names):
        merge(rows, wrong)


def test_numbers_of_a_type_cannot_be_joined() -> None:
    """A rule of all columns leaves them out; one of their own is refused."""
    with refusal(DataError, "values-unfit", "'seen'"):
        merge(TABLE, {"seen": "joined"})
    assert merge(TABLE, {"*": "joined"}).conflicts == {"seen": 1}


def test_no_rule_for_two_sources() -> None:
    """The kept record is of another source, with other columns."""
    with refusal(ArgumentError, "arguments-conflict", "one source"):
        merge(ROWS, against=ROWS)


def test_columns_that_only_other_records_have(tmp_path: Path) -> None:
    """A rule for a column that no record of a cluster has is none for a missing one."""
    rows = [*ROWS, {"id": "5", "text": "something that is alone in here", "rare": 1}]
    assert merge(rows, {"rare": "longest"}).decided == 0
    source = tmp_path / "in.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert merge(source, {"rare": "longest"}).decided == 0
    with refusal(ArgumentError, "column-missing", "'rarer'", "'rare'"):
        merge(source, {"rarer": "longest"})


def answer_file(path: Path, *answers: tuple[str, str, str, int, str]) -> Path:
    """A file of answers: both ids, the answer, its hour, and the hash of the first text."""
    path.write_text(
        "".join(
            json.dumps({"id": id, "other_id": other, "answer": answer, "hash": hash,
                        "when": f"2024-01-01T{hour:02}:00:00+00:00"}) + "\n"
            for id, other, answer, hour, hash in answers
        )
    )  # fmt: skip
    return path


def list_contradictions() -> Iterator[list[tuple[str, str, str, int, str]]]:
    """Answers that call two records different which are in one cluster all the same."""
    yield [("1", "3", "same", 2, ""), ("3", "4", "same", 3, ""), ("1", "4", "different", 1, "")]
    yield [("1", "3", "different", 1, "00" * 16)]  # of another text


@pytest.mark.parametrize("answers", [*list_contradictions()])
def test_what_is_different_is_not_merged(answers: Any, tmp_path: Path) -> None:
    """An answer that is not obeyed is one line, though `yes` removes what is doubted."""
    found = nd.duplicates(ROWS, answers=answer_file(tmp_path / "answers.jsonl", *answers))
    assert len(found.clusters[0].members) == 3
    with refusal(DataError, "data-at-risk", answers[-1][0], answers[-1][1], "different"):
        found.merge(yes=True)


def test_an_answer_that_is_obeyed_keeps_records_apart(tmp_path: Path) -> None:
    """They are in two clusters, so that nothing is in the way."""
    answers = answer_file(tmp_path / "answers.jsonl", ("1", "3", "different", 1, ""))
    merged = merge(ROWS, answers=answers)
    assert (merged.clusters, merged.merged) == (1, 2)


CHOICES = """
{"id":"4","other_id":"4","answer":"unsure","who":"Åsa","when":"2026-03-01T12:00:00Z","withdraws":"-","choice":{"column":"city","value":"Köln","values":"f3622b65341280cb58892997f8f703f8"}}
{"id":"3","other_id":"3","answer":"unsure","who":"","when":"2026-03-01T12:00:00Z","withdraws":"-","choice":{"column":"phone","value":"30","values":"d322e8f58a41b9970565834948d7b600"}}
{"id":"9","other_id":"9","answer":"unsure","who":"Åsa","when":"2026-03-01T12:00:00Z","withdraws":"-","choice":{"column":"day","value":"2024-01-05","values":"b0680eac07ce7d76fc2a9bfbc7aea3ab"}}
"""


def test_choices_of_people_count_more_than_rules(tmp_path: Path) -> None:
    """As they are in a file, of whatever record of the cluster; of a record that is gone, none."""
    path = tmp_path / "answers.jsonl"
    path.write_text(CHOICES)
    for rules in ({}, {"*": "joined"}):
        merged = merge(ROWS, rules, answers=path)
        counts = (merged.chosen, merged.outdated, merged.decided, merged.conflicts)
        assert counts == (2, 1, len(rules), {} if rules else {"day": 1})
        assert (merged.records[0]["city"], merged.records[0]["phone"]) == ("Köln", "30")
        uses = [row["use"] for row in merged.values if row["column"] in ("city", "phone")]
        assert uses == ["left out", "chosen by Åsa", "same", "left out", "chosen"]


def test_the_guard_is_asked() -> None:
    """What may be no copies is merged only if `yes` says so."""
    rows = [
        {"id": str(n), "text": f"Disk usage on web-{n} is {70 + n} percent of the volume"}
        for n in range(20)
    ]
    found = nd.duplicates(rows, measure="words")
    with pytest.raises(TemplateError):
        found.merge()
    assert found.merge(yes=True).clusters == 1


def test_a_source_that_has_changed(tmp_path: Path) -> None:
    """Nothing is written of it."""
    source = tmp_path / "in.csv"
    SOURCES["in.csv"](source)
    found = nd.duplicates(source, min_similarity=0.7)
    merged = found.merge()
    source.write_text(source.read_text() + "6,x,y,z\n")
    for again in (found.merge, lambda: merged.write(tmp_path / "out.csv"), lambda: merged.records):
        with refusal(SourceError, "source-changed"):
            again()
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


def test_two_columns_of_one_name(tmp_path: Path) -> None:
    """Which of them a rule is for is not clear."""
    source = tmp_path / "in.csv"
    source.write_text(f"id,text,a,a\n1,{ONE},1,2\n2,{ONE},3,4\n")
    with refusal(SourceError, "column-repeated", "'a'"):
        merge(source)
    frame = pd.DataFrame([["1", ONE, 1, 2], ["2", ONE, 3, 4]], columns=["id", "text", "a", "a"])
    with refusal(ArgumentError, "column-repeated", "'a'"):
        merge(frame)


def test_files_of_other_columns(tmp_path: Path) -> None:
    """Records of several files are merged, and a value stands in a column that its file lacks."""
    first, second = tmp_path / "a.csv", tmp_path / "b.jsonl"
    first.write_text(f"id,text,city\n1,{ONE},\n2,{OTHER},Ulm\n")
    second.write_text(json.dumps({"id": "3", "text": ONE, "city": "Bonn", "tags": ["x"]}) + "\n")
    merged = merge([first, second])
    merged.write(tmp_path / "out.jsonl")
    assert rows_of(tmp_path / "out.jsonl") == [
        {"id": "1", "text": ONE, "city": "Bonn", "tags": ["x"]},
        {"id": "2", "text": OTHER, "city": "Ulm"},
    ]
    folder = tmp_path / "texts"
    folder.mkdir()
    for name in "ab":
        (folder / f"{name}.txt").write_text(ONE)
    merge(folder).write(tmp_path / "texts.jsonl")
    assert rows_of(tmp_path / "texts.jsonl") == [{"id": "a.txt", "text": ONE}]
