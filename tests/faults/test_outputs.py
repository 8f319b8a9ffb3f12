"""A disk that is full when the outputs of `duplicates` are written, after all is compared."""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import neardup_solr as nd
from neardup_solr.testing import SIZES
from tests.command import NEARDUP, neardup, sign_once

OUTPUTS = {
    "tsv": ["-o", "out.tsv"],
    "csv": ["-o", "out.csv"],
    "jsonl": ["-o", "out.jsonl"],
    "parquet": ["-o", "out.parquet"],
    "html": ["-o", "out.html"],
    "unique": ["--unique", "out.jsonl"],
    "removed": ["--removed", "out.jsonl"],
    "merge": ["--merge", "out.jsonl"],
    "removed beside others": [
        "-o",
        "x.tsv",
        "--unique",
        "small.jsonl.gz",
        "--removed",
        "out.ndjson",
    ],
    "after --unique": ["--unique", "small.jsonl.gz", "-o", "out.html"],
}
ROOM = 24_000  # bytes: less than any of the files called out, more than the others


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Documents of which every two of three are near-duplicates, with long ids."""
    sign_once()
    path = tmp_path_factory.mktemp("source") / "documents.jsonl"
    with path.open("w") as file:
        for n in range(600):
            words = " ".join(f"w{n // 3 * 100 + k}" for k in range(30))
            text = words + (f" end{n}" if n % 3 else "")
            file.write(json.dumps({"id": f"{n}-" + os.urandom(20).hex(), "text": text}) + "\n")
    return path


def run(
    words: list[str], folder: Path, *, is_full: bool, room: int = ROOM
) -> subprocess.CompletedProcess[str]:
    """Run `neardup duplicates` in a folder, there on a disk where files have no more room if so."""
    return subprocess.run(
        [*NEARDUP, "duplicates", *words, "--by", "bands", "--measure", "words", "--yes"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(Path(nd.__file__).parents[1]), "NEARDUP_PROGRESS": "0"},
        preexec_fn=(lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)))
        if is_full
        else None,
        capture_output=True,
        text=True,
        timeout=120,
    )


def words_in(words: list[str], folder: Path) -> list[str]:
    """The same options with files of a folder."""
    return [word if word.startswith("-") else str(folder / word) for word in words]


@pytest.fixture
def tells_each_pair(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Pairs are compared one by one, and the command tells all the time how far it is."""
    monkeypatch.setattr(SIZES, "compared_block", 1)
    monkeypatch.setenv("NEARDUP_PROGRESS", "0.0001")
    before = sys.getswitchinterval()
    sys.setswitchinterval(0.0001)
    yield
    sys.setswitchinterval(before)


def compared(said: str) -> set[str]:
    """How many of all pairs had been compared, each time that it was told before the end."""
    told = re.findall(r"comparing, ([\d,]+) of ([\d,]+) pairs", said)
    return {done for done, total in told if done != total}


@pytest.mark.usefixtures("tells_each_pair")
def test_a_run_that_compares_tells_so(source: Path) -> None:
    """Nothing was compared before, and so the tests below see what is compared again."""
    fresh = neardup("duplicates", str(source), "--by", "bands", "--measure", "words")
    assert len(compared(fresh.stderr)) > 1


def test_a_checkpoint_that_cannot_be_written(source: Path, tmp_path: Path) -> None:
    """The error is about the file that was typed."""
    failed = run([str(source), "-o", "out.tsv"], tmp_path, is_full=True, room=100)
    assert failed.stderr.splitlines()[-1].startswith("neardup: out.tsv: cannot be written (")
    assert not [*tmp_path.iterdir()]


@pytest.mark.usefixtures("tells_each_pair")
@pytest.mark.parametrize("name", OUTPUTS)
def test_what_was_compared_outlives_a_full_disk(name: str, source: Path, tmp_path: Path) -> None:
    """It ends with an error, an old file stays; the same again writes all and compares nothing."""
    words = OUTPUTS[name]
    out = tmp_path / next(word for word in words if word.startswith("out."))
    out.write_text("the old one")
    first = words[words.index("-o") + 1] if "-o" in words else out.name
    kept = tmp_path / f"{first}.unfinished"
    failed = run([str(source), *words], tmp_path, is_full=True)
    assert failed.returncode == 4
    told, error = failed.stderr.splitlines()[-2:]
    assert told == f"Finished comparisons are in {kept.name}; run this again to continue."
    cannot = rf"neardup: {out.name}: cannot be written"
    refused = rf"{cannot} \(.*File too large\); free some space, or choose a different place"
    assert re.fullmatch(refused, error)
    assert out.read_text() == "the old one"
    assert 0 < kept.stat().st_size < ROOM
    left = {each.name for each in tmp_path.iterdir()}
    assert left - {"small.jsonl.gz"} == {out.name, kept.name}
    done = neardup("duplicates", str(source), *words_in(words, tmp_path), "--by", "bands",
                   "--measure", "words", "--yes")  # fmt: skip
    assert compared(done.stderr) == set()
    assert "600 near-duplicate pairs" in done.stderr
    assert out.stat().st_size > ROOM
    assert not kept.exists()
