"""Memory is bounded whatever a source holds: over-long lines, bombs and large documents."""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

import neardup_solr as nd
from neardup_solr.errors import ArgumentError, RecordError, SourceError
from neardup_solr.testing import SIZES
from tests.command import neardup, sign_once
from tests.faults import tiers
from tests.faults.conftest import RecordRow

MOST_MEBIBYTES = 300  # over a run that reads a small file
LARGEST = 10 << 20  # by default
MEGABYTE = 10**6
HUGE = tiers.sized(usual=4 * 10**8, full=10**9)

# A command in a process of its own, which tells the most memory that it had at once.
CHILD = """
import os, runpy, sys
os._exit = sys.exit  # by which it would leave at once
try:
    runpy.run_module("neardup_solr", run_name="__main__")
finally:
    status = open("/proc/self/status").read()
    print("peak", status.partition("VmHWM:")[2].split()[0], file=sys.stderr)
"""
WORDS = b" ".join(b"word%d" % (number * 7_919 % 100_003) for number in range(120_000))[:MEGABYTE]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is told by /proc")


def run(script: str, *words: str | Path) -> tuple[int, str, int]:
    """The exit code of a child, what it said, and its peak in MiB."""
    command = [sys.executable, "-c", script, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    found = re.search(r"peak (\d+)", done.stderr)
    assert found, done.stderr
    return done.returncode, done.stdout + done.stderr, int(found[1]) // 1024


def signatures(path: Path) -> tuple[int, str, int]:
    return run(CHILD, "signatures", path, "-o", path.with_name("out.parquet"))


def _with_middle(head: bytes, tail: bytes, suffix: str) -> Callable[[Path, int], Path]:
    """Writes a file with a record of that many bytes between its head and its tail."""

    def write(folder: Path, size: int) -> Path:
        path = folder / f"a{suffix}"
        with path.open("wb") as file:
            file.write(head)
            for first in range(0, size, len(WORDS)):
                file.write(WORDS[: size - first])
            file.write(tail)
        return path

    return write


def _parquet(folder: Path, size: int) -> Path:
    text = (WORDS * (size // len(WORDS) + 1))[:size].decode()
    table = pa.table({"id": ["1", "2", "3"], "text": ["a b c", text, "d e f"]})
    # pyarrow holds a dictionary and what it stands for; statistics take longer than all else.
    options = {"use_dictionary": False, "write_statistics": False}
    pq.write_table(table, folder / "a.parquet", **options)
    return folder / "a.parquet"


def _folder(folder: Path, size: int) -> Path:
    texts = folder / "texts"
    texts.mkdir()
    (texts / "1.txt").write_text("a b c")
    (texts / "3.txt").write_text("d e f")
    _with_middle(b"", b"", ".txt")(texts, size).rename(texts / "2.txt")
    return texts


COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {"gz": gzip.compress, "zst": zstandard.compress}
# Each writes three records, of which the second is large.
FORMATS: dict[str, Callable[[Path, int], Path]] = {
    "lines": _with_middle(b"1 a b c\n2 ", b"\n3 d e f\n", ".txt"),
    "csv": _with_middle(b"id,text\n1,a b c\n2,", b"\n3,d e f\n", ".csv"),
    "csv quoted": _with_middle(b'id,text\n1,a b c\n2,"', b'"\n3,d e f\n', ".csv"),
    "tsv": _with_middle(b"id\ttext\n1\ta b c\n2\t", b"\n3\td e f\n", ".tsv"),
    "jsonl": _with_middle(
        b'{"id":1,"text":"a b c"}\n{"id":2,"text":"', b'"}\n{"id":3,"text":"d e f"}\n', ".jsonl"
    ),
    "json": _with_middle(
        b'[{"id":1,"text":"a b c"},{"id":3,"text":"d e f"},{"id":2,"text":"', b'"}]', ".json"
    ),
    "parquet": _parquet,
    "folder": _folder,
}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> int:
    """The peak of a run that reads a small file; the kernel is compiled before."""
    sign_once()
    code, said, peak = signatures(FORMATS["lines"](tmp_path_factory.mktemp("small"), 10))
    assert code == 0, said
    return peak


@pytest.mark.parametrize("name", tiers.sized(usual=["csv quoted", "parquet"], full=list(FORMATS)))
def test_a_document_of_100_megabytes_is_refused_within_the_memory(
    tmp_path: Path, base: int, row: RecordRow, name: str
) -> None:
    """The record is counted, those beside it are signed, and the peak stays below 300 MiB."""
    path = FORMATS[name](tmp_path, 100 * MEGABYTE)
    code, said, peak = signatures(path)
    assert code == 1
    assert "Read 3 records = 2 written + 1 failed" in said
    assert "too_large: more than 10,485,760 bytes" in said
    assert "Traceback" not in said
    over = peak - base
    row("R12", f"100 MB document as {name}: {over} MiB over base")
    assert over <= MOST_MEBIBYTES


@pytest.mark.parametrize("name", tiers.sized(usual=["jsonl"], full=["lines", "csv", "jsonl"]))
def test_a_line_of_up_to_a_gigabyte_is_passed_over(
    tmp_path: Path, base: int, row: RecordRow, name: str
) -> None:
    """It is one error, the lines after it are read, and the peak stays below 300 MiB."""
    path = FORMATS[name](tmp_path, 0)
    lines = path.read_bytes().splitlines(keepends=True)
    with path.open("wb") as file:
        file.writelines(lines[:-1])
        file.truncate(HUGE)  # a hole: NULs that take no room
        file.seek(HUGE)
        file.write(b"\n" + lines[-1])
    code, said, peak = signatures(path)
    assert code == 1
    assert "1 failed" in said
    assert "too_large" in said
    over = peak - base
    row("R12", f"{HUGE / 10**9:g} GB line of {name}: {over} MiB over base")
    assert over <= MOST_MEBIBYTES


@pytest.mark.parametrize("suffix", COMPRESSORS)
def test_a_bomb_of_200_megabytes_is_passed_over(
    tmp_path: Path, base: int, row: RecordRow, suffix: str
) -> None:
    """Where it decompresses to one line, it costs that line, and not the memory."""
    compress = COMPRESSORS[suffix]
    parts = [compress(b"1 a b c\n2 "), *[compress(bytes(20 * MEGABYTE))] * 10]
    path = tmp_path / f"a.txt.{suffix}"
    path.write_bytes(b"".join([*parts, compress(b"\n3 d e f\n")]))
    assert path.stat().st_size < MEGABYTE
    code, said, peak = signatures(path)
    assert code == 1
    assert "Read 3 records = 2 written + 1 failed" in said
    over = peak - base
    row("R12", f"200 MB bomb in {suffix}: {over} MiB over base")
    assert over <= MOST_MEBIBYTES


@pytest.mark.parametrize(
    "name", tiers.sized(usual=["folder"], full=["lines", "jsonl", "parquet", "folder"])
)
def test_a_document_of_the_largest_size_is_signed_within_the_memory(
    tmp_path: Path, base: int, row: RecordRow, name: str
) -> None:
    """One byte more is refused."""
    path = FORMATS[name](tmp_path, LARGEST)
    code, said, peak = signatures(path)
    assert code == 0, said
    assert "Read 3 records = 3 written + 0 failed" in said
    over = peak - base
    row("R12", f"largest document as {name}: {over} MiB over base signed")
    assert over <= MOST_MEBIBYTES
    errors: list[RecordError] = []
    found = nd.read(FORMATS[name](_fresh(tmp_path / "b"), LARGEST + 1), on_error=errors.append)
    assert len(list(found)) == 2
    assert [error.reason for error in errors] == ["too_large: more than 10,485,760 bytes"]


def _fresh(folder: Path) -> Path:
    folder.mkdir()
    return folder


@pytest.mark.usefixtures("address")
def test_a_source_that_is_too_large_is_indexed_within_the_memory(
    tmp_path: Path, row: RecordRow
) -> None:
    """The largest documents, one of 100 MB and a line of 200 MB: the good ones are in Solr."""
    small = FORMATS["lines"](tmp_path, 10)
    code, said, base = run(CHILD, "index", small, "-c", "bounds")
    assert code == 0, said
    path = tmp_path / "large.txt"
    with path.open("wb") as file:
        for number, size in enumerate((LARGEST, LARGEST, 100 * MEGABYTE), 1):
            file.write(b"%d " % number)
            file.writelines(WORDS[: size - first] for first in range(0, size, len(WORDS)))
            file.write(b"\n")
        file.truncate(file.tell() + 200 * MEGABYTE)
        file.seek(0, 2)
        file.write(b"\n5 a b c\n")
    code, said, peak = run(CHILD, "index", path, "-c", "bounds")
    assert code == 1
    assert re.search(r"Read 5 records = 3 indexed .*2 failed", said), said
    row("R12", f"index of two of the largest documents and larger ones: {peak - base} MiB")
    assert peak - base <= MOST_MEBIBYTES


@pytest.mark.parametrize("bound", [0, -1])
def test_a_bound_has_to_be_positive(bound: int) -> None:
    """A document of no bytes would be the largest one."""
    with pytest.raises(ArgumentError, match="`max_doc_bytes` cannot be"):
        nd.read(nd.Source("a.csv", max_doc_bytes=bound))


BLOCK = bytes(2**24)
GROWN = tiers.sized(usual=2 * len(BLOCK), full=SIZES.any_growth)  # what may grow


@pytest.fixture
def growth(monkeypatch: pytest.MonkeyPatch) -> None:
    """How much a source may grow is as usual, but from a smaller size on."""
    monkeypatch.setattr(SIZES, "any_growth", GROWN)
    monkeypatch.setattr(SIZES, "any_growth", GROWN)
    monkeypatch.delenv("NEARDUP_MAX_GROWTH", raising=False)


@pytest.mark.usefixtures("growth")
@pytest.mark.parametrize("suffix", COMPRESSORS)
def test_what_grows_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    """A source that grows over 1,000 times is an error with what to do; that can be lifted."""
    path = tmp_path / f"a.txt.{suffix}"
    compress = COMPRESSORS[suffix]
    good, blocks = compress(b"1 a b c\n2 "), compress(BLOCK) * (GROWN // len(BLOCK))
    path.write_bytes(good + blocks + compress(b"\n3 d e f\n"))
    refused = r"expands to more than 1,000 times its .* NEARDUP_MAX_GROWTH=0$"
    with pytest.raises(SourceError, match=refused):
        list(nd.read(path, on_error=lambda _: None))
    for limit in ("0", "1e5"):
        monkeypatch.setenv("NEARDUP_MAX_GROWTH", limit)
        assert len(list(nd.read(path, on_error=lambda _: None))) == 2
    monkeypatch.setenv("NEARDUP_MAX_GROWTH", "many")
    with pytest.raises(ArgumentError, match=r"\$NEARDUP_MAX_GROWTH .*many"):
        list(nd.read(path))


@pytest.mark.usefixtures("growth")
@pytest.mark.parametrize("suffix", COMPRESSORS)
def test_what_compresses_well_is_read(tmp_path: Path, suffix: str) -> None:
    """A small source may grow as it likes, and a large one of near-duplicates is no bomb."""
    path = tmp_path / f"a.txt.{suffix}"
    content = COMPRESSORS[suffix](BLOCK + b"\n" + b"1 a b c\n" * 2)
    path.write_bytes(content)
    assert len(BLOCK) > 1_000 * len(content)
    assert len(list(nd.read(path, id="id", on_error=lambda _: None))) == 2
    pages = b"".join(
        b"%d %s\n"
        % (page, b" ".join(b"word%d" % (at * 7_919 % (500 + page)) for at in range(9_000)))
        for page in range(64)
    )
    copies = GROWN // len(pages) + 2
    path.write_bytes(COMPRESSORS[suffix](pages) * copies)
    assert sum(1 for _ in nd.read(path, id="id")) == 64 * copies


def test_a_document_that_is_too_large_may_be_allowed(
    tmp_path: Path,
) -> None:
    """By the argument of the functions, and by the option of the commands."""
    path = FORMATS["jsonl"](tmp_path, LARGEST + 1)
    for allowed in (LARGEST + 1, "11M"):
        assert len(list(nd.read(nd.Source(path, max_doc_bytes=allowed)))) == 3
    words = ["signatures", str(path), "-o", str(tmp_path / "out.parquet")]
    ran = neardup(*words, "--max-doc-bytes", "11M")
    assert (ran.returncode, "too_large" in ran.stderr) == (0, False)
    FORMATS["jsonl"](tmp_path, MEGABYTE)
    for words in (
        ["signatures", str(path), "-o", str(tmp_path / "2.parquet")],
        ["duplicates", str(path)],
    ):
        ran = neardup(*words, "--max-doc-bytes", "1M")
        assert (ran.returncode, "too_large" in ran.stderr) == (0, False)
        ran = neardup(*words, "--max-doc-bytes", "900K")
        assert (ran.returncode, "921,600 bytes" in ran.stderr) == (1, True)
        for wrong in ("much", "0", "-1"):
            ran = neardup(*words, "--max-doc-bytes", wrong)
            assert (ran.returncode, "--max-doc-bytes" in ran.stderr) == (2, True)
