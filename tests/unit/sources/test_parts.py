"""Several files as the parts of one table: named one by one, or in a folder of their own."""

from __future__ import annotations

import csv
import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup_solr as nd
from neardup_solr.errors import ArgumentError, SourceError
from tests.reading import noticed, read_all
from tests.refusals import refusal
from tests.split import write_copies

WORDS = "one two three four five six seven eight nine ten"
ROWS: list[dict[str, Any]] = [
    {"id": "1", "text": f"{WORDS} a", "city": "Rome, I"},
    {"id": "2", "text": f"{WORDS} b", "city": 'the "old" one'},
    {"id": "3", "text": "something else altogether, with no word of them", "city": "Pisa"},
]
MORE: list[dict[str, Any]] = [
    {"id": "4", "text": f"{WORDS} c", "city": "Bari"},
    {"id": "5", "text": "nobody has ever said such a thing as this", "city": "Nola"},
]
BOTH = ["1", "2", "3", "4", "5"]


def write_csv(path: Path, rows: list[dict[str, Any]], names: str = "id text city") -> Path:
    """Rows as a table, with columns in this order."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, names.split(), extrasaction="ignore")
        table.writeheader()
        table.writerows(rows)
    return path


def write_tsv(path: Path, rows: list[dict[str, Any]]) -> None:
    """Rows as a table with tabs."""
    lines = [list(rows[0]), *(list(row.values()) for row in rows)]
    path.write_text("".join("\t".join(line) + "\n" for line in lines))


def write_jsonl(path: Path, rows: list[dict[str, Any]]) -> None:
    """Rows as objects, a line each, compressed if the name says so."""
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


def write_parquet(path: Path, rows: list[dict[str, Any]]) -> None:
    """Rows as a table of Arrow."""
    pq.write_table(pa.Table.from_pylist(rows), path)


def write_xlsx(path: Path, rows: list[dict[str, Any]]) -> None:
    """Rows as a sheet."""
    book = openpyxl.Workbook()
    assert book.active is not None
    for row in (list(rows[0]), *(list(row.values()) for row in rows)):
        book.active.append(row)
    book.save(path)


FORMATS: dict[str, Callable[[Path, list[dict[str, Any]]], object]] = {
    ".csv": write_csv,
    ".tsv": write_tsv,
    ".jsonl": write_jsonl,
    ".jsonl.gz": write_jsonl,
    ".snappy.parquet": write_parquet,
    ".xlsx": write_xlsx,
}


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_folder_as_spark_writes_it_is_one_table(tmp_path: Path, suffix: str) -> None:
    """Parts are read by name, in order; notes beside them are left out, and one line says so."""
    folder = tmp_path / "ads"
    folder.mkdir()
    (folder / "_SUCCESS").touch()
    (folder / f".part-00000{suffix}.crc").write_bytes(b"x")
    FORMATS[suffix](folder / f"part-00001{suffix}", MORE)
    FORMATS[suffix](folder / f"part-00000{suffix}", ROWS)
    found, errors, notices = read_all(folder, keep=("city",))
    assert ([one.id for one in found], errors) == (BOTH, [])
    assert found[3].kept == {"city": "Bari"}
    assert found[3].position.startswith(f"ads/part-00001{suffix}, ")
    assert notices == ["ads: its 2 files are read as one table, part by part"]
    assert len(nd.duplicates(folder).pairs) == 3


@pytest.mark.parametrize("kind", [list, tuple])
def test_several_files_are_one_source(tmp_path: Path, kind: Callable[[Any], Any]) -> None:
    """A list or a tuple of paths, folders among them, of several formats; positions name parts."""
    first = write_csv(tmp_path / "a" / "ads.csv", ROWS[:1])
    second = write_csv(tmp_path / "b" / "ads.csv", ROWS[1:])
    (tmp_path / "c").mkdir()
    write_jsonl(tmp_path / "c" / "more.jsonl", MORE)
    found, errors, notices = read_all(kind([str(first), second, tmp_path / "c"]))
    assert ([one.id for one in found], errors) == (BOTH, [])
    assert [found[at].position for at in (0, 1, 3)] == [
        f"{first}, line 2", f"{second}, line 2", "c/more.jsonl, line 1",
    ]  # fmt: skip
    assert notices == ["c: its 1 file is read as one table, part by part"]


def test_a_folder_of_texts_stays_one_text_a_file(tmp_path: Path) -> None:
    """So does one with anything beside tables, and `source_format` decides; a line says so."""
    texts = tmp_path / "texts"
    texts.mkdir()
    (texts / "a.txt").write_text("1 a text")
    found, _, notices = read_all(texts)
    assert [(one.id, one.text) for one in found] == [("a.txt", "1 a text")]
    assert notices == ["texts: each of its files is read as one text"]
    found, _, notices = read_all(texts, source_format="lines")
    assert [(one.id, one.text) for one in found] == [("1", "a text")]
    write_csv(tmp_path / "ads" / "a.csv", ROWS)
    write_csv(tmp_path / "ads" / "b.csv", MORE)
    found, _, notices = read_all(tmp_path / "ads", source_format="folder")
    assert ([one.id for one in found], notices) == (["a.csv", "b.csv"], [])
    (tmp_path / "ads" / "notes.md").write_text("read me")
    found, _, notices = read_all(tmp_path / "ads")
    assert [one.id for one in found] == ["a.csv", "b.csv", "notes.md"]
    assert notices == [
        "ads: each of its files is read as one text, as notes.md is not part of the same table as "
        "a.csv; name the files of a table one by one"
    ]


def test_columns_are_found_by_name_in_each_part(tmp_path: Path) -> None:
    """Another order or further columns are told in a line; a column that lacks is refused first."""
    first = write_csv(tmp_path / "a.csv", ROWS)
    turned = write_csv(tmp_path / "b.csv", MORE, "city text id")
    found, errors, notices = read_all([first, turned])
    assert ([one.id for one in found], errors) == (BOTH, [])
    assert notices == [
        "b.csv has its columns in a different order than a.csv: they are matched by name"
    ]
    fewer = write_csv(tmp_path / "c.csv", MORE, "text id")
    found, errors, notices = read_all([first, fewer])
    assert ([one.id for one in found], errors) == (BOTH, [])
    assert notices == [
        "c.csv has different columns than a.csv: they are matched by name, and a missing column "
        "has no values"
    ]


def test_a_part_without_a_needed_column_is_refused_before_any_record(tmp_path: Path) -> None:
    """The error names the part and the columns that it has."""
    first = write_csv(tmp_path / "a.csv", ROWS)
    fewer = write_csv(tmp_path / "c.csv", MORE, "text id")
    with pytest.raises(SourceError) as caught:
        nd.read([first, fewer], id="id", keep=("city",))
    assert str(caught.value) == (
        f"{fewer}: the column 'city' is missing; available: 'text', 'id'; check its name"
    )


def test_a_part_that_is_damaged_or_empty_costs_only_itself(tmp_path: Path) -> None:
    """What is whole of it, and the parts after it, are read, and written by `unique`."""
    folder = tmp_path / "ads"
    folder.mkdir()
    cut = gzip.compress("".join(json.dumps(row) + "\n" for row in ROWS).encode())
    (folder / "a.jsonl.gz").write_bytes(cut[:-6])
    (folder / "b.jsonl").touch()
    write_jsonl(folder / "c.jsonl", [*MORE, {"id": "6", "text": f"{WORDS} c"}])
    found, errors, notices = read_all(folder)
    assert [one.id for one in found] == [*BOTH, "6"]
    assert [(error.position, error.code, error.ends_source) for error in errors] == [
        ("ads/a.jsonl.gz, at its end", "file-damaged", True)
    ]
    assert notices[1:] == ["ads: 1 part is empty, the first being ads/b.jsonl"]
    unique, removed = tmp_path / "u.jsonl", tmp_path / "r.jsonl"
    made = write_copies(folder, unique=unique, removed=removed)[1]
    assert made is not None
    assert (made.kept, made.removed, made.failed) == (3, 3, 1)
    assert [json.loads(line)["id"] for line in unique.read_text().splitlines()] == ["1", "3", "5"]
    assert [json.loads(line)["id"] for line in removed.read_text().splitlines()] == ["2", "4", "6"]


def test_links_and_pipes_among_parts_are_refused(tmp_path: Path) -> None:
    """Nothing outside of a folder is read by its name, and standard input goes alone."""
    outside = write_csv(tmp_path / "outside.csv", ROWS)
    folder = tmp_path / "ads"
    write_csv(folder / "a.csv", MORE)
    (folder / "b.csv").symlink_to(outside)
    with refusal(SourceError, "file-unreadable", "b.csv"):
        nd.read(folder, id="id")
    with refusal(ArgumentError, "arguments-conflict", "standard input"):
        nd.read(["-", outside], id="id")
    with refusal(SourceError, "file-missing", "none.csv"):
        nd.read([outside, tmp_path / "none.csv"], id="id")


def test_many_parts_are_read_with_few_files_open(tmp_path: Path) -> None:
    """Each part is open only while it is read, whatever its columns are."""
    for number in range(120):
        names = "id text city" if number % 2 else "id city text"
        write_csv(tmp_path / "parts" / f"{number:03}.csv", [ROWS[0] | {"id": str(number)}], names)
    script = (
        "import resource, sys\n"
        "import neardup_solr as nd\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))\n"
        "print(sum(1 for _ in nd.read(sys.argv[1], id='id')))\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "parts")]
    assert subprocess.run(command, capture_output=True, text=True).stdout == "120\n"


def test_the_choice_of_ids_is_told_once(tmp_path: Path) -> None:
    """All parts are read as the first one, so that their notices are no others."""
    for number in range(4):
        rows = [{"text": f"{WORDS} {number} {row}"} for row in range(3)]
        write_csv(tmp_path / "parts" / f"{number}.csv", rows, "text")
    notices: list[str] = []
    with noticed(notices):
        assert nd.duplicates(tmp_path / "parts", text="text").documents == 12
    assert sum("numbered from 1" in notice for notice in notices) == 1
