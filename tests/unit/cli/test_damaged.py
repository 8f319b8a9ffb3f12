"""Files that are cut off or damaged: an unknown number of records is missing, and it is said."""

from __future__ import annotations

import bz2
import gzip
import lzma
import random
from collections.abc import Callable
from pathlib import Path

import pytest

import neardup_solr as nd
from tests.command import neardup
from tests.refusals import refusal

zstandard = pytest.importorskip("zstandard")
COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": lambda content: bz2.compress(content, 1),  # blocks of 100 kB
    "xz": lzma.compress,
    "zst": zstandard.compress,
}
SHARES = (0.7, 0.999)
MISSING = "an unknown number of records is missing"
ANY = ["--max-failed", "50%", "--yes"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for the files."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def table(rows: int = 9_000) -> bytes:
    """Rows of words that compress badly, more than one block of any format has."""
    draw = random.Random(5)
    words = ("".join(draw.choices("abcdefghij", k=5)) for _ in range(5 * rows))
    lines = (f"{row},{' '.join(next(words) for _ in range(5))}" for row in range(rows))
    return "\n".join(["id,text", *lines, ""]).encode()


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("kind", COMPRESS)
def test_a_cut_file_is_never_complete(kind: str, share: float) -> None:
    """Whatever `--max-failed` allows; what was read before is written."""
    content, name = COMPRESS[kind](table()), f"a.csv.{kind}"
    Path(name).write_bytes(content[: int(len(content) * share)])
    ran = neardup("duplicates", name, *ANY, "--by", "bands", "--unique", "b.csv")
    assert ran.returncode == 1
    assert MISSING in next(line for line in ran.stderr.splitlines() if "Incomplete" in line)
    rows = len(Path("b.csv").read_text().splitlines()) - 1
    assert f"Of {rows:,} records, {rows:,} are in b.csv, 0 removed." in ran.stderr
    assert 1_000 < rows < 9_000
    assert neardup("signatures", name, "-o", "c.parquet").returncode == 1


def test_damage_behind_many_other_errors_is_shown() -> None:
    """Its line is printed, though others are only counted; the file has two kinds of gaps."""
    lines = "".join(f"{row},a b c\n" if row % 3 else "no id\n" for row in range(90))
    content = gzip.compress(f"id,text\n{lines}".encode())
    Path("a.csv.gz").write_bytes(content[:-4])
    ran = neardup("duplicates", "a.csv.gz", *ANY)
    assert ran.returncode == 1
    assert ran.stderr.count(MISSING) == 2
    found = nd.duplicates("a.csv.gz", on_error=lambda _: None)
    assert (found.damaged, found.failed) == (1, 31)
    assert [MISSING in gap for gap in found.gaps] == [True, False]


@pytest.mark.parametrize("kind", ["bz2", "xz"])
def test_a_file_without_a_whole_block_is_refused_for_its_damage(kind: str) -> None:
    """The next step is about the file, not about its columns."""
    Path(f"a.csv.{kind}").write_bytes(COMPRESS[kind](table(20))[:60])
    with refusal(nd.SourceError, "file-damaged", "a.csv"):
        nd.duplicates(f"a.csv.{kind}")
    assert neardup("duplicates", f"a.csv.{kind}").returncode == 3


def test_a_damaged_text_of_a_folder_is_one_document() -> None:
    """The number of records that are missing is known; a table beside it is another matter."""
    Path("texts").mkdir()
    Path("texts/a.txt").write_text("one two three")
    Path("texts/b.txt.gz").write_bytes(gzip.compress(b"four five six")[:-4])
    ran = neardup("duplicates", "texts", "--max-failed", "50%")
    assert (ran.returncode, MISSING in ran.stderr) == (0, False)
    Path("end.json").write_text('[{"id": 1, "text": "one two"}, {"id": 2, "text": "three"}')
    ran = neardup("duplicates", "end.json", *ANY)
    assert (ran.returncode, MISSING in ran.stderr) == (1, True)
