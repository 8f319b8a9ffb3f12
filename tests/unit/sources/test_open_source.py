"""Sources as the verbs open them: the text of a file, sizes, and progress of reading."""

from __future__ import annotations

import codecs
import gzip
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup_solr.errors import SourceError
from neardup_solr.sources import Reading, identity, open_source, size_hint
from tests.reading import write
from tests.refusals import refusal


def test_read_text_refuses_what_is_no_text(tmp_path: Path) -> None:
    """Invalid UTF-8, too much text and cut compression are errors on the whole file."""
    path = tmp_path / "a.txt"
    path.write_bytes(b"caf\xe9 noir")
    with refusal(SourceError, "encoding", "0xe9"):
        open_source(path).text()
    with refusal(SourceError, "record-too-large", 5):
        open_source(path, Reading(max_doc_bytes=5)).text()
    with refusal(SourceError, "file-unreadable"):
        open_source(tmp_path).text()
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"text")[:-9])
    with refusal(SourceError, "file-damaged", "gzip"):
        open_source(tmp_path / "a.gz").text()


def test_read_text_gives_the_whole_file(tmp_path: Path) -> None:
    """One file as one text, whatever its suffix, decompressed and without its mark."""
    assert open_source(write(tmp_path / "a.dat", codecs.BOM_UTF8 + b"a\nb\n")).text() == "a\nb\n"
    assert open_source(write(tmp_path / "a.gz", gzip.compress(b"a\nb"))).text() == "a\nb"


def test_size_hint_is_the_bytes_to_read(tmp_path: Path) -> None:
    """Files and folders have a size; standard input, pipes and what is missing have none."""
    write(tmp_path / "a.txt", "12345")
    (tmp_path / "b").mkdir()
    write(tmp_path / "b" / "c.txt", "123")
    os.mkfifo(tmp_path / "pipe")
    assert size_hint(tmp_path / "a.txt") == 5
    (tmp_path / "pipe").unlink()
    assert size_hint(tmp_path) == 8
    os.mkfifo(tmp_path / "pipe")
    assert [size_hint(name) for name in ("-", tmp_path / "pipe", tmp_path / "no")] == [None] * 3


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz", "a.parquet", "folder"])
def test_progress_ends_at_the_size_hint(tmp_path: Path, name: str) -> None:
    """Progress never falls, and at the end it is all of the source's own bytes."""
    path = tmp_path / name
    lines = "".join(f"{number} some text\n" for number in range(50_000))
    if name == "folder":
        path.mkdir()
        write(path / "a.txt", lines)
        write(path / "b.txt", lines)
    elif name == "a.parquet":
        texts = lines.splitlines()
        pq.write_table(pa.table({"id": range(len(texts)), "text": texts}), path)
    else:
        write(path, gzip.compress(lines.encode()) if name.endswith("gz") else lines)
    seen: list[int] = []
    count = sum(1 for _ in open_source(path, on_progress=seen.append).documents())
    assert count == (2 if name == "folder" else 50_000)
    assert len(seen) > 1
    assert seen == sorted(seen)
    assert seen[-1] == size_hint(path)


def test_the_parts_have_one_size_one_progress_and_one_identity(tmp_path: Path) -> None:
    """A part that has changed, or has come, changes the identity; so does another order."""
    paths = [write(tmp_path / f"{name}.csv", f"id,text\n1,the text of {name}\n") for name in "ab"]
    seen: list[int] = []
    list(open_source(paths, on_progress=seen.append).documents())
    size = sum(path.stat().st_size for path in paths)
    assert (size_hint(paths), seen[-1]) == (size, size)
    assert seen == sorted(seen)
    before = identity(paths, Reading())
    assert before == identity([str(path) for path in paths], Reading())
    others = {identity(paths[::-1], Reading()), identity(paths[:1], Reading())}
    write(paths[1], "id,text\n1,another text\n")
    others.add(identity(paths, Reading()))
    assert len(others | {before}) == 4
    assert identity([paths[0], "-"], Reading()) is None
