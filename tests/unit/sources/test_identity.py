"""What tells whether a source is still what it was."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from neardup_solr.errors import SourceError
from neardup_solr.records import Document
from neardup_solr.sources import Reading, identity
from neardup_solr.sources.fingerprint import END_BYTES
from tests.refusals import refusal

LARGE = b"1 the first line\n" + b"x" * 3 * END_BYTES + b"\n2 the last line\n"


def write(path: Path, content: bytes, time: int = 10**18) -> str:
    """A file of that content and time of change, and its identity."""
    path.write_bytes(content)
    os.utime(path, ns=(time, time))
    told = identity(path, Reading())
    assert told is not None
    return told


@pytest.mark.parametrize(
    ("content", "time"),
    [
        (LARGE.replace(b"first", b"other"), 10**18),
        (LARGE.replace(b"last", b"next"), 10**18),
        (LARGE + b"3 one more\n", 10**18),
        (LARGE.replace(b"xx", b"xy"), 10**18 + 1),  # in its midst: the time of change tells it
    ],
    ids=["first bytes", "last bytes", "size", "time"],
)
def test_the_identity_of_a_file_changes_with_it(tmp_path: Path, content: bytes, time: int) -> None:
    """Its first and last bytes, its size and its time of change count, each by itself."""
    path = tmp_path / "a.txt"
    before = write(path, LARGE)
    assert write(path, LARGE) == before
    assert write(path, content, time) != before


@pytest.mark.parametrize("content", [b"", b"1 a\n"], ids=["empty", "small"])
def test_the_identity_of_a_small_file_is_one_short_line(tmp_path: Path, content: bytes) -> None:
    """It fits into a checkpoint, and stays where the file is moved or named by a str."""
    before = write(tmp_path / "a.txt", content)
    assert len(before) < 200
    assert before.isprintable()
    moved = (tmp_path / "a.txt").rename(tmp_path / "b.txt")
    assert identity(str(moved), Reading()) == before


def _rewritten(root: Path) -> None:
    (root / "in" / "b.txt").write_bytes(b"longer")


def _touched(root: Path) -> None:
    os.utime(root / "a.txt", ns=(5, 5))


def _renamed(root: Path) -> None:
    (root / "a.txt").rename(root / "c.txt")


def _removed(root: Path) -> None:
    (root / "a.txt").unlink()


def _added(root: Path) -> None:
    (root / "in" / "none.txt").symlink_to("nowhere")


@pytest.mark.parametrize("change", [_rewritten, _touched, _renamed, _removed, _added])
def test_the_identity_of_a_folder_changes_with_its_files(
    tmp_path: Path, change: Callable[[Path], None]
) -> None:
    """Names, sizes and times of change of its files count; the folder itself may be moved."""
    root = tmp_path / "texts"
    (root / "in").mkdir(parents=True)
    for name in ("a.txt", "in/b.txt"):
        write(root / name, b"text")
    before = identity(root, Reading())
    root = root.rename(tmp_path / "moved")
    assert identity(root, Reading()) == before
    change(root)
    assert before is not None
    assert identity(root, Reading()) not in (None, before)


def rows(count: int, changed: int | None = None) -> list[dict[str, Any]]:
    found = [{"id": str(number), "text": f"text {number}", "n": None} for number in range(count)]
    if changed is not None:
        found[changed]["text"] = "another text"
    return found


KINDS: dict[str, Callable[[list[dict[str, Any]]], Any]] = {
    "dicts": lambda given: given,
    "pairs": lambda given: tuple((each["id"], each["text"]) for each in given),
    "documents": lambda given: [Document(id=each["id"], text=each["text"]) for each in given],
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "arrow": pa.Table.from_pylist,
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_identity_of_what_is_in_memory_changes_with_its_ends(kind: str) -> None:
    """The number of records and the first and last of them count; a copy has the same one."""
    make = KINDS[kind]
    before = identity(make(rows(1_000)), Reading())
    assert before is not None
    assert len(before) < 200
    assert identity(make(rows(1_000)), Reading()) == before
    others = (rows(1_001), rows(999), rows(1_000, changed=0), rows(1_000, changed=999))
    found = [identity(make(other), Reading()) for other in others]
    assert len({before, *found}) == 5


def test_another_way_of_reading_is_another_identity(tmp_path: Path) -> None:
    """Each argument counts, since the records are others; a default that is spelled out is none."""
    path = tmp_path / "a.csv"
    write(path, b"id,text,title\n1,a,b\n")
    readings = [
        Reading(),
        Reading(id="title"),
        Reading(text=("title",)),
        Reading(keep=("title",)),
        Reading(source_format="tsv"),
        Reading(delimiter=";"),
        Reading(encoding="cp1252"),
        Reading(lossy=True),
        Reading(max_doc_bytes=1),
    ]
    assert len({identity(path, reading) for reading in readings}) == len(readings)
    assert identity(path, Reading(id="id", lossy=False)) == identity(path, Reading())


def test_what_cannot_be_read_again_has_no_identity(tmp_path: Path) -> None:
    """Standard input, a pipe, a generator, and what is only known by reading it as a whole."""
    os.mkfifo(tmp_path / "pipe.txt")
    reader = pa.Table.from_pylist(rows(2)).to_reader()
    lazy = pl.LazyFrame(rows(2))
    mapping = {"id": ["1"], "text": ["a"]}
    generator = (row for row in rows(2))
    for source in ("-", tmp_path / "pipe.txt", generator, reader, lazy, mapping):
        assert identity(source, Reading()) is None
    assert next(generator)["id"] == "0"  # nothing was taken of it


def test_a_source_that_is_not_there_is_told_as_by_reading_it(tmp_path: Path) -> None:
    """The same error as that of `read`, with what to do."""
    with refusal(SourceError, "file-missing", "no.txt"):
        identity(tmp_path / "no.txt", Reading())
    with refusal(SourceError, "file-unreadable"):
        identity("a\0b.txt", Reading())
