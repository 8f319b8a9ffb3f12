"""The layout of a source is known from whole records, however large the first one is."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

import neardup_solr as nd
from tests.command import NEARDUP, neardup

LARGE = " ".join(f"w{n}" for n in range(50_000))  # more than is read at once
TEXTS = [LARGE, "the ferry leaves the old pier at nine", "the market opens at seven today"]
TEXTS += TEXTS[1:]
IDS = [f"k{n}" for n in range(len(TEXTS))]
ROWS = [{"text": text, "n": 1, "id": id} for id, text in zip(IDS, TEXTS, strict=True)]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
FILES: dict[str, bytes] = {
    "a.jsonl": LINES,
    "a.jsonl.gz": gzip.compress(LINES),
    "a.jsonl.bz2": bz2.compress(LINES),
    "a.jsonl.xz": lzma.compress(LINES),
    "a.jsonl.zst": zstandard.compress(LINES),
    "utf16.jsonl": LINES.decode().encode("utf-16"),
    "array.json": json.dumps(ROWS).encode(),
    "indented.json": json.dumps(ROWS, indent=1).encode(),
    "answer.json": json.dumps({"response": {"numFound": len(ROWS), "docs": ROWS}}).encode(),
    "far.json": json.dumps({"facets": LARGE, "response": {"docs": ROWS}}, indent=1).encode(),
}
PAIRS = [("k1", "k3"), ("k2", "k4")]


def pairs_of(source: Any, **arguments: Any) -> list[tuple[str, str]]:
    """The ids of the pairs of a source."""
    return [(pair.id, pair.other_id) for pair in nd.duplicates(source, **arguments).pairs]


def pipe(text: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the command with more on standard input than a pipe holds."""
    return subprocess.run([*NEARDUP, *words], input=text, capture_output=True, text=True)


@pytest.mark.parametrize("name", FILES)
def test_ids_behind_a_large_text_are_ids(name: str, tmp_path: Path) -> None:
    """Records are numbered only if whole ones lack an id."""
    (path := tmp_path / name).write_bytes(FILES[name])
    assert pairs_of(path) == PAIRS


def test_ids_of_several_files_and_of_a_folder(tmp_path: Path) -> None:
    """The first of several files has the large record."""
    lines = LINES.splitlines(keepends=True)
    (tmp_path / "a.jsonl").write_bytes(lines[0])
    (tmp_path / "b.jsonl").write_bytes(b"".join(lines[1:]))
    for source in (tmp_path, [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]):
        assert pairs_of(source) == PAIRS


def test_removed_records_keep_their_ids(tmp_path: Path) -> None:
    """What is written names the records as the source does."""
    (path := tmp_path / "a.jsonl").write_bytes(LINES)
    for option in ("--unique", "--removed"):
        neardup("duplicates", str(path), option, str(tmp_path / f"x{option}.jsonl"), "--yes")
    for option, ids in (("--unique", IDS[:3]), ("--removed", IDS[3:])):
        rows = (tmp_path / f"x{option}.jsonl").read_text().splitlines()
        assert [json.loads(row)["id"] for row in rows] == ids


@pytest.mark.parametrize("name", ["a.jsonl", "array.json"])
def test_a_first_record_over_the_limit_tells_nothing(name: str, tmp_path: Path) -> None:
    """It is refused; the next one is looked at."""
    (path := tmp_path / name).write_bytes(FILES[name])
    errors: list[nd.RecordError] = []
    source = nd.Source(path, max_doc_bytes=1_000)
    assert pairs_of(source, on_error=errors.append) == PAIRS
    assert len(errors) == 1


@pytest.mark.parametrize(
    ("first", "ids"),
    [
        ({"entries": [{"a": 1}], "html": LARGE, "text": "first", "id": "k"}, ["k", "k1"]),
        ({"html": LARGE, "data": [{"a": 1}], "text": "first", "id": "k"}, ["k", "k1"]),
        ({"error": {"msg": "none"}, "html": LARGE, "text": "first", "id": "k"}, ["k", "k1"]),
    ],
)
def test_a_list_in_a_large_record_is_no_list_of_records(
    first: dict[str, Any], ids: list[str], tmp_path: Path
) -> None:
    """An object on a line of its own is a record if others follow, or if it has the columns."""
    (path := tmp_path / "a.json").write_text(json.dumps(first))
    assert [document.id for document in nd.read(path)] == ids[:1]
    with path.open("a") as file:
        file.write("\n" + json.dumps({"id": ids[1], "text": "second"}))
    assert [document.id for document in nd.read(path)] == ids


def test_first_words_are_ids_if_those_of_several_lines_are(tmp_path: Path) -> None:
    """A single large line does not tell: other lines begin with words."""
    path = tmp_path / "a.txt"
    path.write_text("".join(f"{word} {LARGE}\n" for word in ("B2B", "Ferries", "Markets")))
    assert pairs_of(path) == [("1", "2"), ("1", "3"), ("2", "3")]
    path.write_text("".join(f"{id} {LARGE}\n" for id in ("a1", "a2")))
    assert pairs_of(path) == [("a1", "a2")]


def test_lines_end_as_on_old_macs_though_the_header_is_large(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"id,text,{LARGE}\r1,a b,\r2,c d,\r", newline="")
    assert [document.text for document in nd.read(path)] == ["a b", "c d"]


def test_a_table_of_large_rows_is_told_from_lines() -> None:
    """Of standard input, a row that is cut off, or goes on in the next line, does not count."""
    for text in (LARGE, "two\nlines", "a\n\nb\nc\nd\ne\nf"):
        rows = f'key,body\n1,"{text}"\n2,"{text}"\n'
        result = pipe(rows, "duplicates", "-")
        assert result.returncode
        assert "'key', 'body'" in result.stderr


def test_a_header_of_standard_input_is_read_whole() -> None:
    rows = f"id,{LARGE},text\n1,x,the old ferry leaves at nine\n2,x,the old ferry leaves at nine\n"
    result = pipe(rows, "duplicates", "-")
    assert "\n1\t2\t" in result.stdout


JAPANESE = "港の渡し船は朝九時に古い桟橋を出ます。楽団が乗り、犬も二匹いました。"
ENCODED = [
    ("cp932", JAPANESE),
    ("euc_jp", JAPANESE),
    ("gb18030", "渡轮早上九点离开旧码头,船上有一支乐队和两只狗。请带上毛巾。"),
    ("cp949", "연락선은 아침 아홉 시에 낡은 부두를 떠나며 악단이 있습니다."),
]


@pytest.mark.parametrize(("encoding", "text"), ENCODED)
@pytest.mark.parametrize("before", range(3))
def test_half_a_character_hides_no_encoding(
    encoding: str, text: str, before: int, tmp_path: Path
) -> None:
    """The bytes by which it is guessed may end within a character."""
    make: Callable[[int], bytes] = lambda at: f"{at:0{before + 1}} {text * 200}\n".encode(encoding)  # noqa: E731
    (path := tmp_path / "a.txt").write_bytes(b"".join(map(make, range(5))))
    with pytest.raises(nd.SourceError) as caught:
        nd.duplicates(nd.Source(path, id="id"))
    assert caught.value.next_step.endswith(f"set `encoding` to {encoding}")
    assert len(list(nd.read(nd.Source(path, id="id", encoding=encoding)))) == 5
