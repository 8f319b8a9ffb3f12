"""duplicates with `unique` and `removed`: a file without its near-duplicates."""

import csv
import gzip
import json
import pickle
import re
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

import neardup_solr as nd
from neardup_solr import Cluster, Duplicate, demo
from neardup_solr.errors import ArgumentError, SourceError
from neardup_solr.types import Member
from tests.groups import with_groups
from tests.refusals import refusal
from tests.split import write_copies
from tests.unit.sources.test_bad_input import BAD_RECORDS, GOOD_LINE, HEADER

OF, SIMILARITY, ROW = "neardup_duplicate_of", "neardup_similarity", "neardup_row"
ROWS: list[dict[str, Any]] = [
    {"id": "1", "text": "a b c d e f g h i j", "year": "1999", "note": 'say "hi", twice'},
    {"id": "2", "text": "other words altogether, none of them there", "year": "", "note": "ä\nö"},
    {"id": "3", "text": "a b c d e f g h i x", "year": "2001", "note": ""},
    {"id": "4", "text": "...", "year": "2002", "note": "without words"},
    {"id": "5", "text": "a b c d e f g h i j", "year": "2003", "note": "the last"},
]
STAY = ["1", "2", "4"]
GO = [("3", "1", 0.9), ("5", "1", 1.0)]
LOOSE: dict[str, Any] = {"min_similarity": 0.7}


def write_csv(path: Path, delimiter: str = ",") -> None:
    """The rows as a table."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(ROWS[0]), delimiter=delimiter)
        table.writeheader()
        table.writerows(ROWS)


def write_jsonl(path: Path) -> None:
    """The rows as objects, a line each."""
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))


def write_json(path: Path) -> None:
    """The rows as an array over many lines."""
    path.write_text(json.dumps(ROWS, indent=2))


def write_parquet(path: Path) -> None:
    """The rows as a table of Arrow, the year as a number."""
    rows = [{**row, "year": int(row["year"] or 0)} for row in ROWS]
    pq.write_table(pa.Table.from_pylist(rows), path)


def write_xlsx(path: Path) -> None:
    """The rows as a sheet."""
    book = openpyxl.Workbook()
    for row in (list(ROWS[0]), *(list(row.values()) for row in ROWS)):
        book.active.append(row)
    book.save(path)


SOURCES = {
    "in.csv": write_csv,
    "in.tsv": lambda path: write_csv(path, "\t"),
    "in.jsonl": write_jsonl,
    "in.json": write_json,
    "in.parquet": write_parquet,
    "in.xlsx": write_xlsx,
}
# Those of its own format, and JSON lines.
OUTPUTS = {
    "in.csv": ["out.csv", "out.csv.gz", "o.jsonl.zst"],
    "in.tsv": ["out.tsv", "out.jsonl"],
    "in.jsonl": ["out.jsonl", "out.ndjson"],
    "in.json": ["out.jsonl"],
    "in.parquet": ["out.parquet", "out.jsonl"],
    "in.xlsx": ["out.xlsx", "out.jsonl"],
}
WRITTEN = [(source, output) for source, outputs in OUTPUTS.items() for output in outputs]
OTHERS = ("out.csv", "out.tsv", "out.json", "out.parquet", "out.xlsx", "out.txt", "out")
REFUSED = [
    (source, output) for source in SOURCES for output in OTHERS if output not in OUTPUTS[source]
]


def rows_of(path: Path) -> list[dict[str, Any]]:
    """What a file holds, by readers of others."""
    content = path.read_bytes()
    if path.suffix == ".gz":
        content = gzip.decompress(content)
    if path.suffix == ".zst":
        content = zstandard.ZstdDecompressor().decompressobj().decompress(content)
    name = path.name.removesuffix(".gz").removesuffix(".zst")
    if name.endswith(".parquet"):
        return list(pq.read_table(BytesIO(content)).to_pylist())
    if name.endswith(".xlsx"):
        names, *cells = openpyxl.load_workbook(path).active.iter_rows(values_only=True)
        return [dict(zip(map(str, names), row, strict=True)) for row in cells]
    text = content.decode("utf-8-sig")
    if name.endswith((".jsonl", ".ndjson")):
        return [json.loads(line) for line in text.splitlines()]
    delimiter = "\t" if name.endswith(".tsv") else ","
    return list(csv.DictReader(text.splitlines(keepends=True), delimiter=delimiter))


@pytest.mark.parametrize(("source", "output"), WRITTEN)
def test_a_format_stays_or_becomes_json_lines(source: str, output: str, tmp_path: Path) -> None:
    """The same records with the same columns, in their order, whatever the formats are."""
    SOURCES[source](tmp_path / source)
    unique, removed = tmp_path / output, tmp_path / f"removed-{output}"
    _, counts = write_copies(tmp_path / source, unique=unique, removed=removed, **LOOSE)
    kept, gone = rows_of(unique), rows_of(removed)
    assert [row["id"] for row in kept] == STAY
    assert [(row["id"], row[OF], float(row[SIMILARITY])) for row in gone] == GO
    assert list(kept[0]) == list(ROWS[0])
    assert list(gone[0]) == [*ROWS[0], OF, SIMILARITY, ROW]
    assert kept[0]["note"] == 'say "hi", twice'
    assert kept[1]["note"] == "ä\nö"
    assert str(kept[0]["year"]) == "1999"
    assert (counts.kept, counts.removed, counts.records) == (3, 2, 5)


@pytest.mark.parametrize(("source", "output"), REFUSED)
def test_other_formats_are_refused(source: str, output: str, tmp_path: Path) -> None:
    """One line names the two choices, before anything is compared."""
    SOURCES[source](tmp_path / source)
    own = {"in.csv": ".csv or ", "in.tsv": ".tsv or ", "in.parquet": ".parquet or ",
           "in.xlsx": ".xlsx or "}  # fmt: skip
    choices = f"cannot be written in this format; choose {own.get(source, '')}.jsonl"
    for name in ("unique", "removed", "rejected"):
        files: dict[str, Any] = {name: tmp_path / output}
        with pytest.raises(SourceError, match=f"{re.escape(choices)}$"):
            write_copies(tmp_path / source, **files, on_progress=unwanted)


def test_what_stays_is_copied_byte_for_byte(tmp_path: Path) -> None:
    """Odd spelling, line ends and the mark of a spreadsheet are those of the source."""
    source, unique = tmp_path / "in.csv", tmp_path / "out.csv"
    lines = [
        b'\xef\xbb\xbfid;"text";n\r\n',
        b'"1";a b c d e f g h;"x ""y"""\r\n',
        b'2;"a b c d e f g h";\r\n',
        b"\r\n",
        b'3;"other\r\n\r\nwords; not those";007\r\n',
    ]
    source.write_bytes(b"".join(lines))
    write_copies(source, unique=unique, removed=tmp_path / "gone.csv")
    assert unique.read_bytes() == lines[0] + lines[1] + lines[4]
    assert (tmp_path / "gone.csv").read_bytes() == (
        b'\xef\xbb\xbfid;"text";n;neardup_duplicate_of;neardup_similarity;neardup_row\r\n'
        b'2;"a b c d e f g h";;1;1.0;2\r\n'
    )


def test_an_object_keeps_its_spelling(tmp_path: Path) -> None:
    """Numbers, blanks and escapes of JSON stay as they are; keys come behind the others."""
    source, unique, removed = (tmp_path / f"{name}.jsonl" for name in ("in", "out", "gone"))
    first = '{"id": 1, "text": "a b c d e", "n": 12345678901234567890123, "e": "\\u00e4"}'
    source.write_text(f'{first}\n\n{{ "id" : "2", "text" : "a b c d e" }} \n')
    write_copies(source, unique=unique, removed=removed)
    assert unique.read_text() == f"{first}\n"
    assert removed.read_text() == (
        '{ "id" : "2", "text" : "a b c d e","neardup_duplicate_of":"1","neardup_similarity":1.0,'
        '"neardup_row":2}\n'
    )


def test_lines_and_folders(tmp_path: Path) -> None:
    """Lines stay lines; the texts of a folder become rows."""
    source, unique, removed = (tmp_path / name for name in ("in.txt", "out.txt", "gone.jsonl"))
    source.write_text("1 a b c d\n\n2\ta b c d\n3 other words\n")
    write_copies(source, unique=unique, removed=removed)
    assert unique.read_text() == "1 a b c d\n3 other words\n"
    assert rows_of(removed) == [{"id": "2", "text": "a b c d", OF: "1", SIMILARITY: 1.0, ROW: 2}]
    with pytest.raises(SourceError, match=r"choose .jsonl$"):  # lines have no other columns
        write_copies(source, removed=tmp_path / "gone.txt")
    folder = tmp_path / "texts"
    folder.mkdir()
    for name in ("a", "b"):
        (folder / f"{name}.txt").write_text("the same words")
    write_copies(folder, unique=tmp_path / "out.jsonl")
    assert rows_of(tmp_path / "out.jsonl") == [{"id": "a.txt", "text": "the same words"}]


def test_the_numbers_add_up(tmp_path: Path) -> None:
    """A record is kept, removed, repeated or failed, and each is told of."""
    source, unique, removed = (tmp_path / f"{name}.jsonl" for name in ("in", "out", "gone"))
    records: list[object] = [
        {"id": "1", "text": "a b c d"},
        {"id": "2", "text": "one two three"},
        {"id": "2", "text": "a b c d"},
        {"id": "3"},
        {"id": "1", "text": "four five six"},
        "none",
        {"id": "4", "text": "four five six"},
        {"id": "5", "text": ""},
        {"id": "5", "text": ""},
        {"id": "6", "text": "a lone surrogate"},
    ]
    source.write_text("".join(json.dumps(one) + "\n" for one in records))
    found, counts = write_copies(
        nd.Source(source, on_repeat="last"), unique=unique, removed=removed
    )
    told = counts
    assert told is not None
    assert (told.kept, told.removed, told.repeated, told.failed) == (5, 1, 2, 2)
    assert told.records == len(records)
    assert told.failed == found.failed
    assert [(row["id"], row["text"]) for row in rows_of(unique)] == [
        ("2", "a b c d"), ("1", "four five six"), ("5", ""), ("5", ""), ("6", "a lone surrogate"),
    ]  # fmt: skip
    assert [(row["id"], row[OF], row[SIMILARITY]) for row in rows_of(removed)] == [
        ("1", "1", None), ("2", "2", None), ("4", "1", 1.0),
    ]  # fmt: skip


def test_what_is_kept_for_a_repeated_id_is_in_the_file(tmp_path: Path) -> None:
    """If the last record of an id is removed for another document, that one is named."""
    source, removed = tmp_path / "in.jsonl", tmp_path / "gone.jsonl"
    texts = [("2", "one two three"), ("1", "a b c d"), ("2", "a b c d")]
    source.write_text("".join(json.dumps({"id": id, "text": text}) + "\n" for id, text in texts))
    write_copies(nd.Source(source, on_repeat="last"), removed=removed)
    assert [(row["id"], row[OF]) for row in rows_of(removed)] == [("2", "1"), ("2", "1")]


def test_the_number_of_a_removed_record_tells_it_from_others_of_its_id(tmp_path: Path) -> None:
    """It is the one that comes to an id: records that cannot be used count, blank lines do not."""
    source, removed = tmp_path / "in.csv", tmp_path / "gone.csv"
    texts = ["7,a b c d", "8,one two three", "", ",no id", "7,one two three", "7,a b c d"]
    source.write_text("\n".join(["id,text", *texts, ""]))
    found, _ = write_copies(source, removed=removed, on_error=lambda error: None)
    assert sorted(map(str, found.removed)) == ["7@row4", "7@row5"]
    assert removed.read_text().splitlines() == [
        f"id,text,{OF},{SIMILARITY},{ROW}",
        "7,one two three,8,1.0,4",
        "7,a b c d,7@row1,1.0,5",
    ]


def test_a_table_among_other_files_is_no_folder_of_texts(tmp_path: Path) -> None:
    """Which it would become in silence; who means it says so."""
    folder = tmp_path / "ads"
    folder.mkdir()
    for name in ("a.csv", "b.csv"):
        (folder / name).write_text("id,text\n1,one two three\n")
    (folder / "notes.md").write_text("read me")
    reason = "ads: notes.md is not part of the same table as a.csv.*; remove it, list the files"
    with pytest.raises(SourceError, match=reason):
        write_copies(folder, unique=tmp_path / "out.jsonl", on_progress=unwanted)
    write_copies(nd.Source(folder, source_format="folder"), unique=tmp_path / "out.jsonl")
    assert [row["id"] for row in rows_of(tmp_path / "out.jsonl")] == ["a.csv", "notes.md"]


@pytest.mark.parametrize("linkage", ["single", "complete"])
@pytest.mark.parametrize("canonical", ["first", "longest"])
@pytest.mark.parametrize("measure", ["words", "jaccard"])
def test_no_pair_is_left(
    linkage: Any, canonical: str, measure: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What stays has no near-duplicates; of single linkage one document of each cluster."""
    how: dict[str, Any] = {"measure": measure, "min_similarity": 0.4, "linkage": linkage}
    source, unique = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    documents = [{"id": one.id, "text": one.text} for one in nd.read(demo.listings())]
    source.write_text("".join(json.dumps(one) + "\n" for one in documents))
    found, _ = write_copies(source, unique=unique, canonical=canonical, **how, yes=True)
    assert len(found.clusters) > 10
    assert nd.duplicates(unique, **how).pairs == ()
    spilled = tmp_path / "spilled.jsonl"
    monkeypatch.setenv("NEARDUP_MEMORY", "1M")
    write_copies(source, unique=spilled, canonical=canonical, yes=True, **how)
    assert spilled.read_bytes() == unique.read_bytes()
    ids = {row["id"] for row in rows_of(unique)}
    assert ids == {one["id"] for one in documents} - set(found.removed)
    kept = [ids & {member.id for member in one.members} for one in found.clusters]
    if linkage == "single":
        assert kept == [{one.canonical} for one in found.clusters]
    near = {(pair.id, pair.other_id) for pair in found.pairs}
    for id, one in found.removed.items():
        assert one.duplicate_of in ids
        if linkage == "complete":
            assert {(id, one.duplicate_of), (one.duplicate_of, id)} & near


def member(id: str, similarity: float = 1.0) -> Member:
    """A member of a cluster."""
    return Member(id=id, similarity=similarity, distance=None)


def near(id: str, other_id: str, similarity: float, cluster: str = "") -> Duplicate:
    """A pair, torn apart if it names no cluster."""
    return Duplicate(
        id=id, other_id=other_id, similarity=similarity, distance=None, measure="words",
        cluster=cluster,
    )  # fmt: skip


def test_torn_pairs_are_not_left() -> None:
    """Of two canonical documents that are near the later one goes, and what it stood for stays."""
    clusters = [
        Cluster(id="1", canonical="2", members=(member("2"), member("1", 0.9)), pairs=1,
                diameter=1, bridges=()),
        Cluster(id="3", canonical="3", members=(member("3"), member("4", 0.8)), pairs=1,
                diameter=1, bridges=()),
    ]  # fmt: skip
    pairs = [
        near("1", "2", 0.9, "1"), near("3", "4", 0.8, "3"),
        near("2", "3", 0.7), near("4", "5", 0.6), near("2", "6", 0.5),
    ]  # fmt: skip
    result = nd.duplicates([{"id": "1", "text": "a"}], linkage="complete")
    found = with_groups(result, pairs, clusters).removed
    told = {id: (one.duplicate_of, one.similarity) for id, one in found.items()}
    assert told["1"] == ("2", 0.9)
    assert told["3"] == ("2", 0.7)
    assert told["6"] == ("2", 0.5)
    assert set(told) in ({"1", "3", "6", "5"}, {"1", "3", "6", "4"})


def test_against_leaves_what_is_new(tmp_path: Path) -> None:
    """With another source, what it has already is removed, for the most similar one."""
    new, old, unique, removed = (
        tmp_path / f"{name}.jsonl" for name in ("new", "old", "out", "gone")
    )
    new.write_text(
        '{"id": "1", "text": "a b c d e f g h i j"}\n{"id": "2", "text": "none of those"}\n'
        '{"id": "3", "text": "none of those"}\n'
    )
    old.write_text(
        '{"id": "1", "text": "a b c d e f g h i x"}\n{"id": "2", "text": "a b c d e f g h i j"}\n'
    )
    found, _ = write_copies(new, against=old, unique=unique, removed=removed, **LOOSE)
    assert [row["id"] for row in rows_of(unique)] == ["2", "3"]
    assert [(row["id"], row[OF], row[SIMILARITY]) for row in rows_of(removed)] == [("1", "2", 1.0)]
    assert list(found.removed) == ["1"]


def test_a_dataframe_is_filtered_by_the_result() -> None:
    """What is removed is known by id, so a DataFrame filters itself."""
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(ROWS)
    found = nd.duplicates(frame, **LOOSE)
    assert list(frame[~frame["id"].isin(found.removed)]["id"]) == STAY
    numbered = frame.rename(columns={"id": "Nr"})
    filtered = re.escape('df[~df["Nr"].isin(found.removed)]')
    with pytest.raises(ArgumentError, match=filtered):
        write_copies(numbered, id="Nr", unique="out.csv")


class TestRefused:
    """What cannot be written is refused before anything is read."""

    @pytest.fixture
    def source(self, tmp_path: Path) -> Path:
        write_jsonl(tmp_path / "in.jsonl")
        return tmp_path / "in.jsonl"

    @pytest.mark.parametrize(
        ("name", "reason"),
        [
            ("in.jsonl", "is both"),
            ("none/out.jsonl", "folder does not exist"),
        ],
    )
    def test_files(self, source: Path, name: str, reason: str) -> None:
        """A file that is the source, of no known format, or in no folder."""
        before = source.read_bytes()
        for which in ("unique", "removed"):
            output: dict[str, Any] = {which: source.parent / name}
            with pytest.raises(SourceError, match=reason):
                write_copies(source, **output, on_progress=unwanted)
        assert source.read_bytes() == before

    def test_one_file_for_two(self, source: Path) -> None:
        """Both outputs are one file, or one is the other side."""
        out = source.parent / "out.jsonl"
        with pytest.raises(SourceError, match="is both"):
            write_copies(source, unique=out, removed=out)
        write_jsonl(out)
        with pytest.raises(SourceError, match="is both"):
            write_copies(source, against=out, unique=out)

    def test_within_the_folder_that_is_read(self, source: Path) -> None:
        """It would be a text of the folder the next time."""
        with refusal(SourceError, "paths-conflict"):
            write_copies(source.parent, unique=source.parent / "out.jsonl")

    @pytest.mark.parametrize("given", [[("1", "a b")], "-"])
    def test_what_is_read_once(self, given: Any, tmp_path: Path) -> None:
        """Standard input and iterables cannot be read twice."""
        with pytest.raises(ArgumentError):
            write_copies(given, unique=tmp_path / "out.jsonl")


def unwanted(_: object) -> None:
    """Nothing may be read."""
    raise AssertionError("this was read")


def test_a_source_that_changes_meanwhile(tmp_path: Path) -> None:
    """Nothing is written if the file is no longer what was compared."""
    source, unique = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    write_jsonl(source)
    unique.write_text("as before")

    def change(told: nd.types.Progress) -> None:
        if told.stage == "reading":
            source.write_text(source.read_text().replace("1999", "1998"))

    with refusal(SourceError, "source-changed"):
        write_copies(source, unique=unique, on_progress=change)
    assert unique.read_text() == "as before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl", "out.jsonl"]


def test_columns_of_one_name_are_not_converted(tmp_path: Path) -> None:
    """One of them would be lost; as they are they can be copied."""
    source = tmp_path / "in.csv"
    source.write_text("id,text,n,n\n1,a b,5,6\n2,a b,7,8\n")
    with pytest.raises(SourceError, match="'n' twice"):
        write_copies(source, unique=tmp_path / "out.jsonl")
    write_copies(source, unique=tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "id,text,n,n\n1,a b,5,6\n"


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "jsonl"])
def test_columns_of_the_source_are_never_overwritten(suffix: str, tmp_path: Path) -> None:
    """What was removed is a source again, but for files that would lose one of its columns."""
    source, first, second = (tmp_path / f"{name}.{suffix}" for name in ("in", "one", "two"))
    SOURCES[f"in.{suffix}"](source)
    write_copies(source, removed=first, **LOOSE)
    with pytest.raises(SourceError, match=r"'neardup_duplicate_of', .* rename or remove that"):
        write_copies(first, removed=second, on_progress=unwanted, **LOOSE)
    write_copies(first, unique=second, rejected=tmp_path / f"bad.{suffix}", **LOOSE)
    (row,) = rows_of(second)
    assert (row["id"], row[OF], float(row[SIMILARITY])) == ("3", "1", 0.9)


def test_a_key_of_a_later_object_is_not_overwritten(tmp_path: Path) -> None:
    """Keys of JSON are known only when an object is written."""
    source, removed = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    rows = [{"id": "1", "text": "a b"}, {"id": "2", "text": "a b", SIMILARITY: 5}]
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with refusal(SourceError, "column-repeated", "'neardup_similarity'"):
        write_copies(source, removed=removed)
    assert not removed.exists()


def test_parquet_keeps_its_types(tmp_path: Path) -> None:
    """The schema, its metadata and nested values are those of the source."""
    source, unique, removed = (tmp_path / f"{name}.parquet" for name in ("in", "out", "gone"))
    schema = pa.schema(
        [("id", pa.int32()), ("text", pa.dictionary(pa.int32(), pa.string())),
         ("at", pa.timestamp("ns")), ("parts", pa.list_(pa.struct([("n", pa.int8())])))],
        metadata={"made": "here"},
    )  # fmt: skip
    rows = [
        {"id": at, "text": "a b c" if at % 3 else f"d{at} e{at}", "at": at, "parts": [{"n": 1}]}
        for at in range(1_000)
    ]
    pq.write_table(pa.Table.from_pylist(rows, schema), source)
    with pytest.raises(SourceError, match="already compressed"):
        write_copies(source, unique=tmp_path / "out.parquet.gz")
    write_copies(source, unique=unique, removed=removed)
    kept, gone = pq.read_table(unique), pq.read_table(removed)
    assert kept.schema.equals(pq.read_table(source).schema, check_metadata=True)
    assert kept.num_rows + gone.num_rows == 1_000
    assert kept.num_rows == 1 + 334
    assert gone.column_names == [*schema.names, OF, SIMILARITY, ROW]


VALUES = ["a b c d", "a b c d", "e f g h", None]
ARROW: dict[str, Callable[[], pa.Array]] = {
    "string_view": lambda: pa.array(VALUES, pa.string_view()),
    "binary_view": lambda: pa.array([b"\xff", b"a", b"b", None], pa.binary_view()),
    "large_string": lambda: pa.array(VALUES, pa.large_string()),
    "dictionary": lambda: pa.array(VALUES).dictionary_encode(),
    "struct": lambda: pa.array([{"a": "x"}] * 4, pa.struct([("a", pa.string_view())])),
    "list_view": lambda: pa.array([["a"], [], None, ["b"]], pa.list_view(pa.string_view())),
    "map": lambda: pa.array([[("k", 1)]] * 4, pa.map_(pa.string(), pa.int8())),
    "decimal": lambda: pa.array([Decimal("1.50")] * 4, pa.decimal256(50, 2)),
    "half": lambda: pa.array(np.arange(4, dtype=np.float16)),
    "no_zone": lambda: pa.array([1] * 4, pa.timestamp("us", tz="Nowhere/Else")),
    "zone": lambda: pa.array([1] * 4, pa.timestamp("ms", tz="Europe/Berlin")),
    "fine": lambda: pa.array([1] * 4, pa.timestamp("ns")),
    "far": lambda: pa.array([2**60] * 4, pa.duration("s")),
    "date": lambda: pa.array([date(2026, 1, 1)] * 4),
    "null": lambda: pa.nulls(4),
    "uuid": lambda: pa.array([bytes(16)] * 4, pa.uuid()),
    "tensor": lambda: pa.FixedShapeTensorArray.from_numpy_ndarray(np.arange(8).reshape(4, 2)),
}


@pytest.mark.parametrize("kind", ARROW)
def test_every_type_of_parquet_is_copied(kind: str, tmp_path: Path) -> None:
    """Also those that pyarrow cannot take rows of, and times that Python does not have."""
    source, unique, removed = (
        tmp_path / name for name in ("in.parquet", "out.parquet", "gone.jsonl")
    )
    table = pa.table({"id": [1.0, 2.0, 3.0, None], "text": VALUES, "more": ARROW[kind]()})
    pq.write_table(table, source)
    assert write_copies(source, unique=unique, removed=removed, by="all", yes=True)[1].kept == 2
    written = pq.read_table(source)
    assert pq.read_table(unique).equals(pa.concat_tables([written[:1], written[2:3]]))
    (row,) = rows_of(removed)
    assert (row["id"], row[OF], "more" in row) == (2, "1", True)
    few = list(nd.read(source, keep="more", on_error=lambda _: None))
    assert len(few) == (2 if kind == "binary_view" else 3)


def test_a_sheet_is_copied_with_its_types(tmp_path: Path) -> None:
    """Title, header, numbers, dates, texts like formulas, errors, and how cells are shown."""
    book = openpyxl.Workbook()
    sheet, others = book.active, book.create_sheet("Others")
    sheet.title = "Ads"
    others.append(["not copied"])
    day, header = datetime(2026, 1, 2), ["id", "text", None, "price", "day", "flag", "code", "err"]
    sheet.append(header)
    for n, text in enumerate(["a b c d", "=a b c d", "e f g h", None], 1):
        sheet.append([n if text else None, text, None, 9.5, day, True, f"00{n}", "#N/A"])
        sheet.cell(n + 1, 2).data_type = "s"
        sheet.cell(n + 1, 4).number_format = '0.00 "€"'
        sheet.cell(n + 1, 5).number_format = "DD.MM.YYYY"
    book.save(source := tmp_path / "in.xlsx")
    unique, removed, rejected = (tmp_path / f"{name}.xlsx" for name in ("out", "gone", "bad"))
    write_copies(source, unique=unique, removed=removed, rejected=rejected, by="all", yes=True)
    copies = [openpyxl.load_workbook(path) for path in (unique, removed, rejected)]
    assert [copy.sheetnames for copy in copies] == [["Ads"]] * 3
    first, *rows = copies[0].active.iter_rows()
    assert [cell.value for cell in first] == header
    assert [row[0].value for row in rows] == [1, 3]
    assert [cell.value for cell in rows[0][1:]] == ["a b c d", None, 9.5, day, True, "001", "#N/A"]
    assert [rows[0][at].number_format for at in (3, 4)] == ['0.00 "€"', "DD.MM.YYYY"]
    assert [rows[0][at].data_type for at in range(8) if at != 2] == list("nsndbse")
    gone, bad = ([cell.value for cell in copy.active[2]] for copy in copies[1:])
    assert (gone[1], copies[1].active.cell(2, 2).data_type) == ("=a b c d", "s")
    assert gone[8:] == ["1", 1.0, 2]
    assert (bad[6], bad[8]) == ("004", "no id: 'id' is missing or null")
    assert nd.duplicates(unique, by="all").documents == 2


def test_what_parquet_cannot_hold_is_refused_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The line names the column and its type."""

    def write_table(table: pa.Table, _: object) -> None:
        if table.schema.names == ["end"]:
            raise pa.ArrowNotImplementedError("such columns")

    days = pa.array([1, 2], pa.duration("s"))
    pq.write_table(
        pa.table({"id": ["1", "2"], "text": ["a", "b"], "end": days}), tmp_path / "in.parquet"
    )
    monkeypatch.setattr(pq, "write_table", write_table)
    with pytest.raises(SourceError) as refused:
        write_copies(tmp_path / "in.parquet", unique=tmp_path / "out.parquet")
    for name in ("out.parquet", "'end'", "duration", ".jsonl"):
        assert name in str(refused.value)


HOSTILE = {
    "in.csv": b'id,text\n1,a\n\n2,"b\n3,c\n4,"d\ne"\n5,f,g\n6,\xff\n"7",h\r\n8,"i\n\nj"\n9,k',
    "in.tsv": b'id\ttext\n1\ta "b\n2\t"c"\n\r\n3\t"d\ne"\n4\n5\t\xff\n6\t"f',
    "in.jsonl": b'{"id":"1","text":"a"}\n\n \nnone\n{"id":"2"}\n{"id":"3","text":"\xff"}\r\n'
    b'{"id":"4","text":"b"}\n{"id":"5","text":"c"}\r\n{"id":"6","text":"d"}',
    "in.json": b'[{"id":"1","text":"a,]}{["},\n3,{"id":"2","text":"\\"[b"}\n,{"id":{}},'
    b'{"id":"3","text":"c"},\n\n{"id":"4","text":"d"},',
    "in.txt": b"1 a\n\xc2\xa0\n\t\n2\n\x0c\n3\xc2\xa0b\n4 \xff c\n5 d\n\xff\n6 e\n",
}
GOOD_ROWS = "good,text\n" * 10


def require_alignment(path: Path) -> int:
    """The records as they are written are those of the documents; how many there are."""
    source = nd.Source(path, id="id", max_doc_bytes=1_000)
    ids = [str(document.id) for document in nd.read(source, on_error=lambda _: None)]
    unique, removed = (path.with_name(f"{name}.jsonl") for name in ("out", "gone"))
    alike: dict[str, Any] = {"measure": "words", "by": "all", "max_distance": 0, "yes": True}
    write_copies(source, unique=unique, removed=removed, **alike)
    kept, gone = ([str(row["id"]) for row in rows_of(each)] for each in (unique, removed))
    assert sorted(kept + gone) == sorted(ids)
    in_order = iter(ids)
    assert all(id in in_order for id in kept)
    return len(ids)


@pytest.mark.parametrize("name", HOSTILE)
def test_records_as_written_are_those_of_the_documents(name: str, tmp_path: Path) -> None:
    """Of bad input the same records are made in the same order, none skipped, none twice."""
    path = tmp_path / name
    path.write_bytes(HOSTILE[name])
    assert require_alignment(path) >= 4


@pytest.mark.parametrize("name", BAD_RECORDS)
def test_a_bad_record_moves_none(name: str, tmp_path: Path) -> None:
    """Each bad record costs its own place only."""
    suffix, bad, _ = BAD_RECORDS[name]
    path, good = tmp_path / f"in.{suffix}", GOOD_LINE[suffix]
    path.write_bytes(HEADER[suffix] + good * 2 + bad + good * 2)
    assert require_alignment(path) >= 4


@given(st.text('1a",\n\r\t ', max_size=60), st.sampled_from(["in.csv", "in.tsv"]))
def test_odd_tables_are_aligned(body: str, name: str) -> None:
    """Whatever quotes and line breaks there are, rows are told apart in the same way."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        rows = f"id,text\n{GOOD_ROWS}{body}"
        path.write_text(rows if name == "in.csv" else rows.replace(",", "\t"), newline="")
        try:
            require_alignment(path)
        except SourceError:
            assert body  # most of it is no table


def test_a_damaged_file_gives_what_is_whole(tmp_path: Path) -> None:
    """Of a file that ends too early all that can be read is in one of the files."""
    source, unique = tmp_path / "in.csv.gz", tmp_path / "out.csv"
    texts = "".join(f"{at},words {at * at} {at} of their own {-at}\n" for at in range(50_000))
    content = gzip.compress(f"id,text\n{texts}".encode())
    source.write_bytes(content[: len(content) // 2])
    found, counts = write_copies(
        source, unique=unique, removed=tmp_path / "gone.csv", by="bands", yes=True
    )
    told = counts
    assert told is not None
    assert told.failed == 1
    assert told.kept + told.removed == found.documents > 1_000
    assert len(rows_of(unique)) == told.kept


def test_of_a_damaged_table_all_that_is_whole_is_copied(tmp_path: Path) -> None:
    """Rows are copied up to the very one at which reading stopped."""
    source, unique = tmp_path / "in.parquet", tmp_path / "out.parquet"
    rows = [
        {"id": str(at), "text": f"words {at * at} {at} of their own {-at}"} for at in range(9_000)
    ]
    pq.write_table(pa.Table.from_pylist(rows), source, compression="zstd", row_group_size=3_000)
    content = bytearray(source.read_bytes())
    at = pq.ParquetFile(source).metadata.row_group(2).column(1).data_page_offset
    content[at + 40 : at + 4_000] = bytes(3_960)
    source.write_bytes(content)
    found, counts = write_copies(
        source, unique=unique, removed=tmp_path / "gone.parquet", by="bands", yes=True
    )
    told = counts
    assert told is not None
    assert (told.failed, told.kept + told.removed) == (1, found.documents)
    assert found.documents >= 5_000
    assert len(rows_of(unique)) == told.kept


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1", "utf-8-sig", "mac-roman"])
def test_another_encoding_comes_out_as_it_came(
    encoding: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """JSON lines are UTF-8, of which a line tells."""
    source, unique = tmp_path / "in.csv", tmp_path / "out.csv"
    text = "sep=;\r\nid;text\r\n1;größer als\r\n2;größer als\r\n"
    if encoding == "mac-roman":
        text = text.replace("\r\n", "\r")
    source.write_bytes(text.encode(encoding))
    named = None if encoding.startswith("utf") else encoding
    write_copies(nd.Source(source, encoding=named), unique=unique)
    assert unique.read_bytes().decode(encoding) == text.partition("2")[0]
    assert unique.read_bytes()[:3] == source.read_bytes()[:3]
    assert not caplog.messages
    write_copies(nd.Source(source, encoding=named), unique=tmp_path / "out.jsonl")
    assert rows_of(tmp_path / "out.jsonl") == [{"id": "1", "text": "größer als"}]
    assert len(caplog.messages) == (encoding != "utf-8-sig")


def test_cells_behind_the_header_do_no_harm(tmp_path: Path) -> None:
    """Columns without a name count in JSON lines only if they hold something."""
    source, removed = tmp_path / "in.csv", tmp_path / "gone.csv"
    source.write_bytes(b"id,text,,\r\n1,a b c d,,\r\n2,a b c d\r\n3,other,,x\r\n")
    write_copies(source, unique=tmp_path / "out.jsonl", removed=removed)
    kept = [{"id": "1", "text": "a b c d"}, {"id": "3", "text": "other", "column 4": "x"}]
    assert rows_of(tmp_path / "out.jsonl") == kept
    assert removed.read_bytes().splitlines()[1] == b"2,a b c d,,,1,1.0,2"


def test_parts_that_are_alike_are_copied_as_they_are_written(tmp_path: Path) -> None:
    """One header, and each record byte for byte, whatever part it stands in."""
    (tmp_path / "a.csv").write_bytes(b'id,text,note\n1,a b c d e f g h i j,"x, ""y"""\n')
    (tmp_path / "b.csv").write_bytes(
        b"id,text,note\r\n2,other words,0.50\r\n3,a b c d e f g h i x,\r\n"
    )
    unique, removed = tmp_path / "u.csv", tmp_path / "r.csv"
    write_copies([tmp_path / "a.csv", tmp_path / "b.csv"], unique=unique, removed=removed, **LOOSE)
    assert unique.read_bytes() == (
        b'id,text,note\n1,a b c d e f g h i j,"x, ""y"""\n2,other words,0.50\r\n'
    )
    assert removed.read_bytes().endswith(b"3,a b c d e f g h i x,,1,0.9,3\r\n")


def test_parts_with_other_columns_become_json_lines(tmp_path: Path) -> None:
    """A record has the columns of its own part; nothing is lost."""
    (tmp_path / "a.csv").write_text("id,text,year\n1,a b c d e f g h i j,1999\n")
    (tmp_path / "b.csv").write_text("note,text,id\nsmall,a b c d e f g h i x,2\n,other words,3\n")
    parts = [tmp_path / "a.csv", tmp_path / "b.csv"]
    with pytest.raises(SourceError, match=r"choose .jsonl$"):
        write_copies(parts, unique=tmp_path / "u.csv", on_progress=unwanted)
    unique, removed = tmp_path / "u.jsonl", tmp_path / "r.jsonl"
    write_copies(parts, unique=unique, removed=removed, **LOOSE)
    assert [row["id"] for row in rows_of(unique)] == ["1", "3"]
    assert rows_of(removed) == [
        {
            "note": "small",
            "text": "a b c d e f g h i x",
            "id": "2",
            OF: "1",
            SIMILARITY: 0.9,
            ROW: 2,
        }
    ]


def test_a_part_that_changes_or_would_be_overwritten_is_noticed(tmp_path: Path) -> None:
    """Each of the parts is a source that no output may take the place of."""
    parts = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for at, part in enumerate(parts):
        part.write_text(f"id,text\n{at},a b c d\n")
    with refusal(SourceError, "paths-conflict", "b.csv", "`source`", "`unique`"):
        write_copies(parts, unique=parts[1])
    (tmp_path / "all").mkdir()
    for part in parts:
        part.rename(tmp_path / "all" / part.name)
    with refusal(SourceError, "paths-conflict"):
        write_copies(tmp_path / "all", unique=tmp_path / "all" / "u.csv")

    def write_to_one(told: nd.types.Progress) -> None:
        if told.stage == "comparing":
            (tmp_path / "all" / "b.csv").write_text("id,text\n7,changed meanwhile\n")

    with refusal(SourceError, "source-changed"):
        write_copies(tmp_path / "all", unique=tmp_path / "u.csv", on_progress=write_to_one)


def test_templates_are_an_error_without_yes(tmp_path: Path) -> None:
    """The error has the facts, survives pickling, and nothing is written."""
    source, unique = tmp_path / "in.csv", tmp_path / "out.csv"
    rows = [f"{n},pump {n} of station {n}b is at {n} bar again today" for n in range(10)]
    source.write_text("id,text\n" + "\n".join(rows) + "\n")
    how: dict[str, Any] = {"measure": "words"}
    with refusal(nd.errors.TemplateError, "templates", "“pump … of station …") as refused:
        write_copies(source, unique=unique, **how)
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]
    (one,) = pickle.loads(pickle.dumps(refused.value)).templates
    assert (one.documents, one.is_regular, one.values[0]) == (10, True, ("0", "1", "2"))
    with pytest.raises(nd.errors.TemplateError):
        write_copies(source, removed=unique, **how)
    found, counts = write_copies(source, unique=unique, yes=True, **how)
    assert (counts.removed, found.templates) == (9, (one,))
    assert found.templates == refused.value.templates
    assert found.at(0.6).templates == (one,)
    assert found.at(1.0).templates == ()
    assert found.at(1.0).doubt == ""


def test_a_result_of_templates_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    """Where nothing is removed, one line tells of it."""
    rows = [(str(n), f"pump {n} of station {n}b is at {n} bar again today") for n in range(10)]
    found = nd.duplicates(rows, measure="words")
    assert [line.getMessage() for line in caplog.records] == [f"{found.doubt}."]
    assert "`equal` numbers" in found.doubt


def test_templates_are_compared_without_what_they_share(tmp_path: Path) -> None:
    """Only what is left is compared; the texts of the result stay whole."""
    rows = [(str(n), f"pump {n}x{n} of station {n}b is at {n}c bar again") for n in range(10)]
    rows.append(("copy", "Pump 3x3 of station 3b is at 3c bar once more again"))
    found = nd.duplicates(rows, measure="words", without_common=True, texts=True)
    assert [(pair.id, pair.other_id) for pair in found.pairs] == [("3", "copy")]
    assert found.texts == {"3": rows[3][1], "copy": rows[10][1]}
    assert found.templates == ()
    for by in ("bands", "words"):
        ways = nd.duplicates(rows, measure="jaccard", without_common=0.5, by=by, min_similarity=0.2)
        assert [(pair.id, pair.other_id) for pair in ways.pairs] == [("3", "copy")]
    with refusal(ArgumentError, "arguments-conflict", "`without_common`", "`fields`"):
        nd.duplicates(rows, without_common=True, fields="text")
