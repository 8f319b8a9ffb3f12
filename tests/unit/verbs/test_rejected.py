"""Every record of a source is in exactly one of three files: unique, removed, rejected."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st

import neardup_solr as nd
from tests.split import write_copies
from tests.unit.verbs.test_unique import rows_of

REASON, POSITION, RECORD = "neardup_reason", "neardup_position", "neardup_record"
OURS = ("neardup_duplicate_of", "neardup_similarity", REASON, POSITION)
GOOD = [{"id": f"g{at}", "text": f"good text {at} of many", "n": str(at)} for at in range(12)]

# Ids that are blank, repeated, hostile or of other types, and texts.
IDS = st.sampled_from(["1", "2", "1@row2", "", " ", "é", 'a"b', "x" * 513, "g1"])
TEXTS = st.sampled_from(["one two three", "one two three four", "", ".", 'a "quoted", word', "ä;|"])
ROWS = st.lists(st.tuples(IDS, TEXTS), max_size=10)
REPEATS = st.sampled_from(["keep", "last", "first", "fail"])


def places(path: Path) -> list[str]:
    """What records of a file are known again by: each has a number of its own in a column."""
    rows = rows_of(path)
    if rows and any(";" in name or "|" in name for name in rows[0]):
        rows = table(path, ";" if ";" in next(iter(rows[0])) else "|")
    return [str(row.get("n") or row[RECORD]) for row in rows]


def compare(source: Path, suffix: str, on_repeat: Any, **dialect: Any) -> list[list[str]]:
    """The records in each of the three files."""
    files = [source.with_name(f"{name}{suffix}") for name in ("unique", "removed", "rejected")]
    unique, removed, rejected = files
    found, counts = write_copies(
        nd.Source(source, on_repeat=on_repeat, **dialect),
        unique=unique, removed=removed, rejected=rejected, min_similarity=0.7, yes=True,
        on_error=lambda error: None,
    )  # fmt: skip
    told = (counts.kept, counts.removed + counts.repeated, found.failed)
    made = [places(path) for path in files]
    assert told == tuple(map(len, made))
    return made


def numbered(rows: Sequence[tuple[Any, Any]]) -> list[dict[str, Any]]:
    """Good records enough that the source is not refused, and the rows behind them."""
    more = [{"id": id, "text": text, "n": f"n{at}"} for at, (id, text) in enumerate(rows)]
    return [*GOOD, *more]


def is_all_there(made: Sequence[Sequence[str]], expected: Sequence[str]) -> bool:
    """Whether each of the records is in one of the files, once."""
    return Counter(one for part in made for one in part) == Counter(expected)


@given(
    rows=ROWS,
    bad=st.lists(st.sampled_from(["ragged", "9,a,b,c,d,e", '5,"open', "\udcff,x,n"]), max_size=2),
    delimiter=st.sampled_from([",", ";", "\t", "|"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    is_copied=st.booleans(),
    on_repeat=REPEATS,
)
@settings(max_examples=40, deadline=None)
def test_tables(
    rows: list[tuple[str, str]],
    bad: list[str],
    delimiter: str,
    quoting: Any,
    is_copied: bool,
    on_repeat: str,
) -> None:
    """CSV and TSV of any delimiter and quotes, with rows that cannot be taken apart."""
    records = numbered(rows)
    out = io.StringIO()
    table = csv.DictWriter(out, list(GOOD[0]), delimiter=delimiter, quoting=quoting)
    table.writeheader()
    table.writerows(records)
    lines = out.getvalue()
    spoilt = [line.replace(",", delimiter) for line in bad]
    lines += "".join(f"{line}\r\n" for line in spoilt)
    with TemporaryDirectory() as folder:
        source = Path(folder, "in.tsv" if delimiter == "\t" else "in.csv")
        source.write_bytes(lines.encode("utf-8", "surrogateescape"))
        suffix = source.suffix if is_copied else ".jsonl"
        made = compare(source, suffix, on_repeat, delimiter=delimiter)
        told = [f"\\xff{delimiter}x{delimiter}n" if "\udcff" in one else one for one in spoilt]
        assert is_all_there(made, [record["n"] for record in records] + told)


JSON_IDS = IDS | st.sampled_from([1, 2, None, 1.5, 2.0, True, [1], {"a": 1}, 2**70])
JSON_TEXTS = TEXTS | st.sampled_from([None, 7, ["one", "two"], {"a": "b"}])
BAD_JSON = ["none", '{"id": 1', "[]", "{}", "5", '{"n": "d", "n": "d"}']


@given(
    rows=st.lists(st.tuples(JSON_IDS, JSON_TEXTS), max_size=8),  # most are good
    bad=st.lists(st.sampled_from(BAD_JSON), max_size=3),
    is_array=st.booleans(),
    on_repeat=REPEATS,
)
@settings(max_examples=40, deadline=None)
def test_objects(
    rows: list[tuple[Any, Any]], bad: list[str], is_array: bool, on_repeat: str
) -> None:
    """JSON lines with ids and texts of any type, and lines that are no objects."""
    records = numbered(rows)
    with TemporaryDirectory() as folder:
        source = Path(folder, "in.json" if is_array else "in.jsonl")
        bad = [one for one in bad if not is_array or one != '{"id": 1']  # which has no end there
        written = [*map(json.dumps, records), *bad]
        source.write_text(f"[{','.join(written)}]" if is_array else "\n".join(written) + "\n")
        made = compare(source, ".jsonl", on_repeat)
        assert is_all_there(made, [record["n"] for record in records] + bad)


@given(rows=st.lists(st.tuples(IDS | st.none(), TEXTS | st.none()), max_size=10), on_repeat=REPEATS)
@settings(max_examples=20, deadline=None)
def test_tables_of_arrow(rows: list[tuple[Any, Any]], on_repeat: str) -> None:
    """Parquet with missing values."""
    records = numbered(rows)
    with TemporaryDirectory() as folder:
        source = Path(folder, "in.parquet")
        pq.write_table(pa.Table.from_pylist(records), source)
        for suffix in (".parquet", ".jsonl"):
            made = compare(source, suffix, on_repeat)
            assert is_all_there(made, [record["n"] for record in records])


@given(rows=ROWS, on_repeat=REPEATS)
@settings(max_examples=20, deadline=None)
def test_sheets(rows: list[tuple[str, str]], on_repeat: str) -> None:
    """The sheet of an Excel file, with empty cells."""
    records = numbered(rows)
    with TemporaryDirectory() as folder:
        source, book = Path(folder, "in.xlsx"), openpyxl.Workbook()
        for row in (list(GOOD[0]), *(list(record.values()) for record in records)):
            book.active.append(row)
        book.save(source)
        made = compare(source, ".jsonl", on_repeat)
        assert is_all_there(made, [record["n"] for record in records])


def test_what_is_rejected_is_as_it_was(tmp_path: Path) -> None:
    """Columns stay what they are, with the reason and the position behind them."""
    source, rejected = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_bytes(
        b'id;text;n\r\n1;a b;1\r\n;"no ""id""";02\r\n3;c d;3\r\n4\r\n5;caf\xe9;5\r\n6;e;6\r\n'
    )
    write_copies(source, rejected=rejected, on_error=lambda error: None)
    assert rejected.read_bytes().split(b"\r\n")[:2] == [
        b"id;text;n;neardup_reason;neardup_position;neardup_record",
        b';"no ""id""";02;the id is empty;in.csv, line 3;',
    ]
    assert [(row["n"], row[REASON], row[POSITION], row[RECORD]) for row in table(rejected)] == [
        ("02", "the id is empty", "in.csv, line 3", ""),
        ("", "1 field, but the header has 3", "in.csv, line 5", "4"),
        ("", "invalid UTF-8: byte 0xe9 at offset 5 of the record", "in.csv, line 6",
         "5;caf\\xe9;5"),
    ]  # fmt: skip


def table(path: Path, delimiter: str = ";") -> list[dict[str, Any]]:
    """The rows of a table whose columns are separated by a semicolon, or another sign."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


def test_a_file_that_ends_too_early(tmp_path: Path) -> None:
    """The place where it is damaged is rejected: nobody knows what followed."""
    source, rejected = tmp_path / "in.json", tmp_path / "out.jsonl"
    source.write_text('[{"id": 1, "text": "a b"}, {"id": 2, "text": "c d"}, {"id": 3')
    _, counts = write_copies(source, rejected=rejected, on_error=lambda error: None)
    assert (counts.kept, counts.failed) == (2, 1)
    [row] = rows_of(rejected)
    assert row == {
        REASON: "the file ends too early (the array is not closed)",
        POSITION: "in.json, at its end",
        RECORD: None,
    }


def test_texts_of_a_folder(tmp_path: Path) -> None:
    """A file that is no text is rejected under its name."""
    folder = tmp_path / "texts"
    folder.mkdir()
    for name, content in (("a", b"one two"), ("b", b"caf\xe9"), ("c", b"three"), ("d", b"four")):
        (folder / f"{name}.txt").write_bytes(content)
    write_copies(folder, rejected=tmp_path / "out.jsonl", on_error=lambda error: None)
    [row] = rows_of(tmp_path / "out.jsonl")
    assert (row["id"], row["text"]) == ("b.txt", None)
    assert row[REASON].startswith("invalid UTF-8")


def test_a_row_that_cannot_be_read_in_parts_of_other_columns(tmp_path: Path) -> None:
    """It is rejected as it is written, like that of a single file."""
    parts = [tmp_path / "a.csv", tmp_path / "b.csv"]
    parts[0].write_text('id,text\n1,a b c d\n2,"a "b" c"\n3,x y z\n')
    parts[1].write_text("text,id,more\nk l m n,4,5\n")
    unique, rejected = tmp_path / "u.jsonl", tmp_path / "bad.jsonl"
    found = write_copies(parts, unique=unique, rejected=rejected)[1]
    assert found is not None
    assert (found.kept, found.failed) == (3, 1)
    assert [json.loads(line)["id"] for line in unique.read_text().splitlines()] == ["1", "3", "4"]
    assert "a.csv, line 3" in rejected.read_text()
