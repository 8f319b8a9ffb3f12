"""The identity of a source in the checkpoint of a job: it tells if it is still what it was."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import neardup_solr as nd
from neardup_solr import Document
from neardup_solr.errors import SourceError
from tests.refusals import refusal

ENDS = 2**16  # bytes that are read of a file, at each of its ends
LARGE = b"1 the first line\n3 " + b"x" * 3 * ENDS + b"\n2 the last line\n"
MIDST = LARGE[: len(LARGE) // 2] + b"y" + LARGE[len(LARGE) // 2 + 1 :]
COLUMNS = ("id", "text", "keep")
Identify = Callable[..., str | None]


def interrupt(progress: nd.types.Progress) -> None:
    """Interrupt a run once something is indexed."""
    if progress.done:
        raise KeyboardInterrupt


@pytest.fixture
def identity(solr: nd.Collection) -> Identify:
    """The identity of a source that is read with these options, None for one that has none."""

    def find(source: Any, **options: Any) -> str | None:
        nd.delete(solr, query="*:*")
        columns = {name: options.pop(name) for name in COLUMNS if name in options}
        with TemporaryDirectory() as job:
            with pytest.raises(KeyboardInterrupt):
                nd.index(nd.Source(source, **options), solr, **columns, job=job, batch=1,
                         checkpoint_every=1, on_progress=interrupt)  # fmt: skip
            kept = json.loads(Path(job, "checkpoint.json").read_bytes())
        found: str | None = kept["work"]["identity"]
        return found

    return find


def write(path: Path, content: bytes, time: int = 10**18) -> Path:
    """Write a file of that content and time of change."""
    path.write_bytes(content)
    os.utime(path, ns=(time, time))
    return path


@pytest.mark.parametrize(
    ("content", "time"),
    [
        (LARGE.replace(b"first", b"other"), 10**18),
        (LARGE.replace(b"last", b"next"), 10**18),
        (LARGE + b"4 one more\n", 10**18),
        (MIDST, 10**18 + 1),  # the time of change alone tells it
    ],
    ids=["first bytes", "last bytes", "size", "time"],
)
def test_the_identity_of_a_file_changes_with_it(
    identity: Identify, tmp_path: Path, content: bytes, time: int
) -> None:
    """Its first and last bytes, its size and its time of change count, each by itself."""
    path = tmp_path / "a.txt"
    before = identity(write(path, LARGE))
    assert identity(write(path, LARGE)) == before
    assert identity(write(path, content, time)) != before


def test_the_identity_of_a_small_file_is_one_short_line(identity: Identify, tmp_path: Path) -> None:
    """It fits into a checkpoint, and stays where the file is moved or named by a str."""
    before = identity(write(tmp_path / "a.txt", b"1 a\n"))
    assert before is not None
    assert len(before) < 200
    assert before.isprintable()
    moved = (tmp_path / "a.txt").rename(tmp_path / "b.txt")
    assert identity(str(moved)) == before


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
    identity: Identify, tmp_path: Path, change: Callable[[Path], None]
) -> None:
    """Names, sizes and times of change of its files count; the folder itself may be moved."""
    root = tmp_path / "texts"
    (root / "in").mkdir(parents=True)
    for name in ("a.txt", "in/b.txt"):
        write(root / name, b"text")
    before = identity(root)
    root = root.rename(tmp_path / "moved")
    assert identity(root) == before
    change(root)
    assert before is not None
    assert identity(root) not in (None, before)


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
def test_the_identity_of_what_is_in_memory_changes_with_its_ends(
    identity: Identify, kind: str
) -> None:
    """The number of records and the first and last of them count; a copy has the same one."""
    make = KINDS[kind]
    before = identity(make(rows(1_000)))
    assert before is not None
    assert len(before) < 200
    assert identity(make(rows(1_000))) == before
    others = (rows(1_001), rows(999), rows(1_000, changed=0), rows(1_000, changed=999))
    found = [identity(make(other)) for other in others]
    assert len({before, *found}) == 5


def test_another_way_of_reading_is_another_identity(identity: Identify, tmp_path: Path) -> None:
    """Each argument counts, since the records are others; a default that is spelled out is none."""
    path = write(tmp_path / "a.csv", b"id,text,title\n1,a,b\n")
    readings: list[dict[str, Any]] = [
        {},
        {"id": "title"},
        {"text": "title"},
        {"keep": "title"},
        {"source_format": "csv"},
        {"delimiter": ","},
        {"encoding": "cp1252"},
        {"encoding": "latin-1"},
        {"lossy": True},
        {"max_doc_bytes": 1},
    ]
    assert len({identity(path, **reading) for reading in readings}) == len(readings)
    assert identity(path, id="id", lossy=False) == identity(path)


def test_what_cannot_be_read_again_has_no_identity(
    identity: Identify, solr: nd.Collection, tmp_path: Path
) -> None:
    """A pipe, a generator, and what is only known by reading it as a whole."""
    reader = pa.Table.from_pylist(rows(2)).to_reader()
    lazy = pl.LazyFrame(rows(2))
    mapping = {"id": ["1"], "text": ["a"]}
    for source in ((row for row in rows(2)), reader, lazy, mapping):
        assert identity(source) is None
    os.mkfifo(tmp_path / "pipe.txt")
    writer = Thread(target=(tmp_path / "pipe.txt").write_bytes, args=[b"1 one\n2 two\n"])
    writer.start()
    assert identity(tmp_path / "pipe.txt") is None
    writer.join(60)
    # Nothing is taken of a source to know it.
    assert nd.index((row for row in rows(2)), solr).indexed == 2


def test_a_source_that_is_not_there_is_told_as_by_reading_it(
    solr: nd.Collection, tmp_path: Path
) -> None:
    """The same error as that of `read`, with what to do."""
    with refusal(SourceError, "file-missing", "no.txt"):
        nd.index(tmp_path / "no.txt", solr, job=tmp_path / "job")
    with refusal(SourceError, "file-unreadable"):
        nd.index("a\0b.txt", solr, job=tmp_path / "job")
