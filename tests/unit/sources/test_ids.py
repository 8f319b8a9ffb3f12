"""Ids of a source: a column, the first words of lines, or the numbers of the records."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup_solr as nd
from neardup_solr.errors import RecordError, SourceError
from tests import reading
from tests.refusals import refusal
from tests.split import write_copies

TEXTS = ["one two three", "four five", "one two three four"]
ROWS = [{"title": text, "n": at} for at, text in enumerate(TEXTS)]
NUMBERED = [(str(at), text) for at, text in enumerate(TEXTS, 1)]
NO_IDS = (
    "has no column named like ids: its records are numbered from 1; if another has the ids, name it"
    " with `id`"
)


def write_csv(path: Path) -> None:
    path.write_text("title,n\n" + "".join(f'"{row["title"]}",{row["n"]}\n\n' for row in ROWS))


def write_jsonl(path: Path) -> None:
    path.write_text("\n\n".join(map(json.dumps, ROWS)))


def write_json(path: Path) -> None:
    path.write_text(json.dumps(ROWS, indent=1))


def write_parquet(path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(ROWS), path)


def write_xlsx(path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["title", "n"], *(list(row.values()) for row in ROWS)):
        book.active.append(row)
    book.save(path)


FILES: dict[str, Callable[[Path], None]] = {
    "a.csv": write_csv,
    "a.jsonl": write_jsonl,
    "a.json": write_json,
    "a.parquet": write_parquet,
    "a.xlsx": write_xlsx,
}
IN_MEMORY: dict[str, Callable[[], Any]] = {
    "pandas": lambda: pd.DataFrame(ROWS, index=[7, 8, 9]),
    "polars": lambda: pl.DataFrame(ROWS),
    "lazy": lambda: pl.DataFrame(ROWS).lazy(),
    "arrow": lambda: pa.Table.from_pylist(ROWS),
    "mapping": lambda: {"title": TEXTS, "n": range(3)},
    "dicts": lambda: ROWS,
    "generator": lambda: iter(ROWS),
}


Signed = list[tuple[str, tuple[int, ...]]]  # ids, and what is made of their texts


def signed(source: Any, text: str = "title") -> tuple[Signed, list[str]]:
    """Ids and signatures of a source, as `nd.signatures` reads it, and the lines that are told."""
    told: list[str] = []
    with TemporaryDirectory() as folder, reading.noticed(told):
        path = Path(folder, "signed.parquet")
        nd.signatures(source, path, text=text, on_error=lambda _: None)
        rows = pq.read_table(path, columns=["id", "signature"]).to_pylist()
    return [(row["id"], tuple(row["signature"] or ())) for row in rows], told


def signed_as(*records: tuple[str, str]) -> Signed:
    """What is made of records that have their ids."""
    return signed(records, "text")[0]


def read(source: Any, *, text: str = "title", **columns: Any) -> list[tuple[str, str]]:
    """Ids and texts of a source, as `nd.read` reads it, which guesses nothing."""
    return [(one.id, one.text) for one in nd.read(source, text=text, **columns)]


@pytest.mark.parametrize("keep", [(), ("n",)])
@pytest.mark.parametrize("name", FILES)
def test_records_of_files_are_numbered(name: str, keep: tuple[str, ...], tmp_path: Path) -> None:
    """If no column looks like an id, the records are numbered from 1, and one line says so."""
    FILES[name](tmp_path / name)
    line = f"{name} {NO_IDS}"
    assert signed(tmp_path / name) == (signed_as(*NUMBERED), [line])
    told: list[str] = []
    with reading.noticed(told):
        assert read(tmp_path / name, keep=keep, id=":row") == NUMBERED
    assert told == []
    with pytest.raises(SourceError, match=r"'nr'.*set .*:row|no id.*:row"):
        read(tmp_path / name, id="nr")


@pytest.mark.parametrize("name", IN_MEMORY)
def test_records_in_memory_are_numbered(name: str) -> None:
    """So are those of DataFrames, tables, mappings and dicts, from 1 on."""
    source = IN_MEMORY[name]()
    line = f"{type(source).__name__} {NO_IDS}"
    assert signed(source) == (signed_as(*NUMBERED), [line])
    assert read(IN_MEMORY[name](), id=":row") == NUMBERED


def test_pairs_and_documents_may_be_numbered() -> None:
    """Their own ids do not count, if that is asked for."""
    documents = [nd.Document(id="x", text=text) for text in TEXTS]
    assert read([("x", text) for text in TEXTS], id=":row", text="text") == NUMBERED
    assert read(documents, id=":row", text="text") == NUMBERED


@pytest.mark.parametrize("name", ["ad_id", "adId", "_id", "ID_NR", "uuid", "key", "id left"])
def test_what_looks_like_an_id_is_not_passed_over(name: str, tmp_path: Path) -> None:
    """It is to be named: a guess could be wrong."""
    (tmp_path / "a.csv").write_text(f"{name},title\n1,one\n")
    with refusal(SourceError, "column-missing", f"'{name}'", ":row"):
        signed(tmp_path / "a.csv")
    with refusal(SourceError, "column-missing", f"'{name}'"):
        signed(pd.DataFrame([{name: 1, "title": "one"}]))
    with pytest.raises(SourceError, match="no id"):
        signed([{name: 1, "title": "one"}])


@pytest.mark.parametrize("name", ["said", "idea", "width", "keyboard", "number", "Titel"])
def test_other_names_do_not_look_like_ids(name: str) -> None:
    """Letters of other words are no id."""
    assert signed([{name: 1, "title": "one"}])[0] == signed_as(("1", "one"))


def test_an_id_in_some_records_counts() -> None:
    """Records without it are refused, and nothing is numbered."""
    rows = [{"title": "one"}, {"title": "two", "id": 2}, {"title": "three", "id": 3}]
    found, told = signed(rows)
    assert found == signed_as(("2", "two"), ("3", "three"))
    assert not [line for line in told if "number" in line]


def test_records_that_cannot_be_used_are_counted(tmp_path: Path) -> None:
    """So a number is that of the record in its file, and two files are numbered on."""
    (tmp_path / "a.csv").write_text("title,n\none,1\ntwo\n\nthree,3\nfour,4\n")
    (tmp_path / "b.csv").write_text("n,title\n5,five\n")
    found, told = signed([tmp_path / "a.csv", tmp_path / "b.csv"])
    assert found == signed_as(("1", "one"), ("3", "three"), ("4", "four"), ("5", "five"))
    assert told[0] == f"a.csv {NO_IDS}"
    bad = [{"title": 5}, *({"title": "text"} for _ in range(3))]
    errors: list[RecordError] = []
    assert len(read(bad, id=":row", on_error=errors.append)) == 3
    assert [error.id for error in errors] == ["1"]


LINES = {
    "t980 words of an article\nt981 words of another\n": True,
    "1 name\n2 other name\n10 third\n": True,
    "a\tone two\nb\tthree\n": True,
    "ad-7\n8x text\n": True,
    "The cat sat\nA dog\n": False,
    "1 name\n1 other name\n": False,
    "a\tone\na\ttwo\n": False,
    "a\tone two\nb three\n": False,
    "one\n": False,
}


@pytest.mark.parametrize("content", LINES)
def test_lines_that_begin_with_ids(content: str, tmp_path: Path) -> None:
    """First words that differ are ids if a tab follows each, or each has a digit; it is told."""
    has_ids = LINES[content]
    path = tmp_path / "a.txt"
    path.write_text(content)
    lines = content.splitlines()
    found, told = signed(path, "text")
    if has_ids:
        assert [id for id, _ in found] == [line.split()[0] for line in lines]
        assert told == ["a.txt: the first word of each line is its id"]
    else:
        assert found == signed_as(*((str(at), line) for at, line in enumerate(lines, 1)))
        assert told == [
            "a.txt: the first words of its lines do not look like ids,"
            " so the lines are numbered from 1"
        ]
        with refusal(SourceError, "header-invalid", "set `id`"):
            read(path, text="text")
    assert read(path, id="id", text="text") == [
        (line.partition(" ")[0], line.partition(" ")[2])
        if "\t" not in line
        else tuple(line.split(None, 1))
        for line in lines
    ]
    assert read(path, id=":row", text="text") == [(str(n), t) for n, t in enumerate(lines, 1)]


def test_numbers_for_a_collection_are_only_given_if_asked_for() -> None:
    """Those of another file would replace each other: the line says so."""
    refused = r"set `id` to :row.* \(in a collection, records with the same number"
    with pytest.raises(SourceError, match=refused):
        read(pd.DataFrame(ROWS))


def test_most_ids_are_blank(tmp_path: Path) -> None:
    """A column that only looks like one of ids: the line says how to do without."""
    (tmp_path / "a.csv").write_text("id,title\n" + ",one two\n" * 9 + "1,three\n")
    with refusal(SourceError, "records-unusable", "the id is empty", "`id` to :row"):
        signed(tmp_path / "a.csv")


def near(found: nd.Duplicates) -> list[tuple[str, str]]:
    """The ids of pairs."""
    return [(str(pair.id), str(pair.other_id)) for pair in found.pairs]


def unnamed(path: Path) -> Iterator[Any]:
    """A source in each form."""
    for name, write in FILES.items():
        write(path / name)
        yield path / name
    yield from (give() for give in IN_MEMORY.values())


def test_duplicates_without_ids(tmp_path: Path) -> None:
    """Whatever it is, near-duplicates are found and told by number."""
    for source in unnamed(tmp_path):
        found = nd.duplicates(source, text="title", min_similarity=0.7)
        assert near(found) == [("1", "3")]
        assert list(map(str, found.removed)) == ["3"]


def test_other_verbs_without_ids(tmp_path: Path) -> None:
    """tune, explain and signatures number records as duplicates does."""
    write_csv(tmp_path / "a.csv")
    assert nd.explain(tmp_path / "a.csv", 1, 3, text="title").facts.first.id == "1"
    done = nd.signatures(tmp_path / "a.csv", tmp_path / "s.parquet", text="title")
    assert done.written == 3
    assert pq.read_table(tmp_path / "s.parquet")["id"].to_pylist() == ["1", "2", "3"]


def test_records_of_one_id_are_explained_by_their_numbers() -> None:
    """As duplicates names them."""
    rows = [("7", "one two three"), ("", "no id"), ("7", "one two three four")]
    [pair] = nd.duplicates(rows, min_similarity=0.7, on_error=lambda error: None).pairs
    found = nd.explain(rows, pair.id, pair.other_id).facts
    assert (found.first.id, found.second.id) == ("7@row1", "7@row3")


def test_a_file_without_ids_is_written_without_its_near_duplicates(tmp_path: Path) -> None:
    """Lines stay lines; what is removed names the number of what is kept."""
    source, unique, removed = (tmp_path / name for name in ("in.txt", "out.txt", "gone.jsonl"))
    source.write_text("The cat sat there\n\nA dog\nThe cat sat here\n")
    write_copies(source, unique=unique, removed=removed, min_similarity=0.7)
    assert unique.read_text() == "The cat sat there\nA dog\n"
    assert removed.read_text() == (
        '{"text":"The cat sat here","neardup_duplicate_of":"1","neardup_similarity":0.75,'
        '"neardup_row":3}\n'
    )


def test_a_table_by_columns_is_told(tmp_path: Path) -> None:
    """The default of to_json in pandas makes one object of all records: the step says what does."""
    (tmp_path / "a.json").write_text('{"id":{"0":1,"1":2},"text":{"0":"one","1":"two"}}')
    with pytest.raises(SourceError) as caught:
        nd.duplicates(tmp_path / "a.json")
    assert "records" in (caught.value.next_step or "")
    rows = [{"id": {"no": 1}, "text": "one"}, {"id": {"no": 2}, "text": "two"}]
    with pytest.raises(SourceError) as caught:
        nd.duplicates(rows, measure="words")
    assert "`id`" in (caught.value.next_step or "")
