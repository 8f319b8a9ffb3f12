"""Report files: formats, round trips, atomic writing, hostile ids."""

import csv
import os
import stat
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from neardup_solr import Pair, Report, evaluate
from neardup_solr.errors import SourceError
from tests.command import neardup
from tests.refusals import refusal


def pair_rows(pairs: Sequence[Pair]) -> Report:
    """A report of these pairs."""
    return Report(pairs=tuple(pairs), documents=len(pairs), cut=0)


def read_pairs(path: Path) -> list[tuple[str, str]]:
    """The pairs of a file, by their ids as texts in one order, as `evaluate` takes them."""
    others = [("some", "other pair")]
    return sorted(
        (str(one), str(other)) for one, other in evaluate(others, path, ordered=True).false
    )


PAIRS = [
    Pair(id="3", other_id="536", distance=1, similarity=0.875),
    Pair(id="a\tb\n\\", other_id="=1+1", distance=2, similarity=2 / 3),
]


def test_tsv_is_four_columns_a_line(tmp_path: Path) -> None:
    """Tabs and line breaks inside ids cannot break a row."""
    path = tmp_path / "pairs.tsv"
    pair_rows(PAIRS).write(path)
    assert path.read_text().splitlines() == [
        "id\tother_id\tdistance\tsimilarity",
        "3\t536\t1\t0.8750",
        "a\\tb\\n\\\\\t\\=1+1\t2\t0.6667",
    ]


def test_csv_has_no_formulas(tmp_path: Path) -> None:
    """A cell that a spreadsheet would run gets a leading apostrophe."""
    path = tmp_path / "pairs.csv"
    pair_rows(PAIRS).write(path)
    rows = list(csv.reader(path.read_text().splitlines(keepends=True)))
    assert rows[2] == ["a\tb\n\\", "'=1+1", "2", "0.6667"]


def test_jsonl_has_numbers(tmp_path: Path) -> None:
    """JSON lines keep numbers as numbers and ids as they are."""
    path = tmp_path / "pairs.jsonl"
    pair_rows(PAIRS).write(path)
    rows = [orjson.loads(line) for line in path.read_text().splitlines()]
    assert rows[1] == {
        "id": "a\tb\n\\", "other_id": "=1+1", "distance": 2, "similarity": 0.6667,
    }  # fmt: skip


IDS = st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1)


@pytest.mark.parametrize("suffix", [".tsv", ".csv", ".jsonl"])
@given(ids=st.lists(st.tuples(IDS, IDS).filter(lambda ids: ids[0] != ids[1]), max_size=5))
@example(ids=[("0", "\x19\x19\0"), ("0", "\x19" * 5)])
def test_pairs_survive_every_format(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, ids: list[tuple[str, str]]
) -> None:
    """What is written is read back, whatever the ids hold."""
    path = tmp_path_factory.mktemp("report") / f"pairs{suffix}"
    rows = [Pair(id=a, other_id=b, distance=0, similarity=1.0) for a, b in ids]
    pair_rows(rows).write(path)
    assert read_pairs(path) == sorted({*ids})


@pytest.mark.parametrize("suffix", [".tsv", ".csv", ".jsonl"])
def test_pairs_without_a_distance_survive_every_format(tmp_path: Path, suffix: str) -> None:
    """Where the measure has no distance there is an empty cell, in JSON null."""
    path = tmp_path / f"pairs{suffix}"
    pair_rows([Pair(id="3", other_id="536", distance=None, similarity=0.875)]).write(path)
    assert path.read_text().splitlines()[-1] == {
        ".tsv": "3\t536\t\t0.8750",
        ".csv": "3,536,,0.8750",
        ".jsonl": '{"id":"3","other_id":"536","distance":null,"similarity":0.875}',
    }[suffix]  # fmt: skip
    assert read_pairs(path) == [("3", "536")]


def test_an_old_report_stays_whole(tmp_path: Path) -> None:
    """A report that fails midway leaves the old file, and nothing beside it."""
    path = tmp_path / "pairs.tsv"
    path.write_text("old")

    class Broken(Sequence[Pair]):
        """Pairs of which the second is interrupted."""

        def __len__(self) -> int:
            return 2

        def __getitem__(self, at: Any) -> Any:
            if at:
                raise KeyboardInterrupt
            return PAIRS[0]

    with pytest.raises(KeyboardInterrupt):
        replace(pair_rows([]), pairs=cast(Any, Broken())).write(path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["pairs.tsv"]


def test_a_report_has_usual_permissions(tmp_path: Path) -> None:
    """A report is as readable as any file that the user makes."""
    path, usual = tmp_path / "pairs.tsv", tmp_path / "usual"
    usual.touch()
    pair_rows(PAIRS).write(path)
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(usual.stat().st_mode)


@pytest.mark.parametrize(
    ("name", "reason"),
    [("pairs.doc", ".tsv"), ("pairs", ".tsv"), ("nowhere/pairs.tsv", "folder"),
     ("folder.tsv", "is a folder"), ("x" * 300 + ".tsv", "name too long")],
)  # fmt: skip
def test_unusable_output_is_refused_at_once(tmp_path: Path, name: str, reason: str) -> None:
    """A report file that cannot be is refused before any work: of pairs, nothing is taken."""
    (tmp_path / "folder.tsv").mkdir()
    with pytest.raises(SourceError) as refused:
        pair_rows(PAIRS).write(tmp_path / name)
    assert name in refused.value.source
    ran = neardup("duplicates", str(tmp_path / "missing.csv"), "-o", str(tmp_path / name))
    assert ran.returncode == (2 if reason == ".tsv" else 3)
    assert name in ran.stderr
    assert reason in ran.stderr
    assert "missing.csv" not in ran.stderr


def test_usable_output_stays_as_it_is(tmp_path: Path) -> None:
    """To look whether a report can be written changes nothing; a suffix may be in capitals."""
    path, missing = tmp_path / "PAIRS.TSV", str(tmp_path / "missing.csv")
    assert "missing.csv" in neardup("duplicates", missing, "-o", str(path)).stderr
    assert os.listdir(tmp_path) == []
    pair_rows(PAIRS).write(path)
    before = path.read_bytes()
    assert "missing.csv" in neardup("duplicates", missing, "-o", str(path)).stderr
    assert path.read_bytes() == before
    assert read_pairs(path) == [(pair.id, pair.other_id) for pair in PAIRS]
    assert os.listdir(tmp_path) == ["PAIRS.TSV"]


def test_unknown_format_is_refused() -> None:
    """A format that does not exist names those that do."""
    ran = neardup("duplicates", "missing.csv", "--format", "xml")
    assert ran.returncode == 2
    for name in ("xml", "table", "tsv", "csv", "jsonl"):
        assert name in ran.stderr


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("id\tother_id\n1\t2\n", [("1", "2")]),
        ("id_fodors\tid_zagats\n1\t2\n", [("1", "2")]),
        ("1\t2\r\n3\t4", [("1", "2"), ("3", "4")]),
        ("\ufeff1\t2\n\n", [("1", "2")]),
        ("id\tother_id\tdistance\tsimilarity\n", []),
        ("distance\tid\tother_id\n7\t1\t2\n", [("1", "2")]),
        ("other_id\tid\n2\t1\n", [("1", "2")]),
        ("id_1\tid_2\nid_3\tid_4\n", [("id_1", "id_2"), ("id_3", "id_4")]),
        ("id_1\tid_2\n", [("id_1", "id_2")]),
        ("id_1\tid_2\n7\t8\n", [("7", "8")]),
        ("a\tb\nc\t4\n", [("a", "b"), ("c", "4")]),
    ],
)
def test_known_pairs_with_and_without_header(
    tmp_path: Path, text: str, pairs: list[tuple[str, str]]
) -> None:
    """A header is recognised by its names, and says where the ids are; blank lines do not count."""
    path = tmp_path / "known.tsv"
    path.write_text(text, encoding="utf-8", newline="")
    assert read_pairs(path) == sorted(pairs)


@pytest.mark.parametrize(
    ("name", "data", "code", "named"),
    [
        ("a.tsv", b"1\n", "line-invalid", "line 1"),
        ("a.tsv", b"", "file-empty", ""),
        ("a.csv", b"\n\n", "file-empty", ""),
        ("a.tsv", b"id\tother_id\n1\n", "line-invalid", "line 2"),
        ("a.tsv", b"1\t2\n\nx\tx\n", "line-invalid", "line 3"),
        ("a.csv", b"left,right\n1,2\n3,4\n", "header-invalid", "line 1"),
        ("a.csv", b"id,text\n1,one\n", "header-invalid", "line 1"),
        ("a.csv", b"1," + b"2" * 100_000, "line-invalid", "line 1"),
        # How much a cell may hold is one setting for the whole process, of 128 KiB or more.
        ("a.csv", b"1," + b"2" * 200_000, "line-invalid", "line 1"),
        ("a.jsonl", b'{"id": "1"}\n', "line-invalid", "line 1"),
        ("a.jsonl", b'{"id": null, "other_id": "a"}\n', "line-invalid", "line 1"),
        ("a.jsonl", b'{"id": true, "other_id": "a"}\n', "line-invalid", "line 1"),
        ("a.jsonl", b'{"id": 1.5, "other_id": "a"}\n', "line-invalid", "line 1"),
        ("a.jsonl", b"nonsense\n", "line-invalid", "line 1"),
        ("a.jsonl", b'{"id": 1, "other_id": 2}\n\n[1, 2]\n', "line-invalid", "line 3"),
        ("a.jsonl", b"5\n", "line-invalid", "line 1"),
        ("a.jsonl", b"null\n", "line-invalid", "line 1"),
        (
            "a.tsv",
            "Café\tThé\n".encode("cp1252"),
            "encoding",
            "cp1252",
        ),
        (
            "a.tsv",
            b"\xff\xfe\x00",
            "encoding",
            "JSONL",
        ),
        ("missing.tsv", None, "file-missing", ""),
    ],
)
def test_unreadable_pairs(
    tmp_path: Path, name: str, data: bytes | None, code: str, named: str
) -> None:
    """A file that holds no pairs says where and why."""
    path = tmp_path / name
    if data is not None:
        path.write_bytes(data)
    with refusal(SourceError, code, name, named):
        read_pairs(path)


def test_a_report_without_pairs_is_no_known_pairs(tmp_path: Path) -> None:
    """A report may hold no pairs; to compare with none would find any report complete."""
    for suffix in ("tsv", "csv", "jsonl"):
        path = tmp_path / f"none.{suffix}"
        pair_rows([]).write(path)
        assert evaluate([("1", "2")], path).recall == 0
        with refusal(SourceError, "no-pairs"):
            evaluate(path, path)
