"""`nd.duplicates` says what documents are to each other, in the words of `nd.passages`."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import openpyxl
import pyarrow.parquet as pq
import pytest

import neardup_solr as nd
from neardup_solr.records import Relation
from tests.command import neardup

Words = list[str]
Make = Callable[[random.Random], tuple[Words, Words]]
MEASURES: tuple[nd.types.MeasureName, ...] = (
    "words", "jaccard", "containment", "passages", "estimate",
)  # fmt: skip
PAIRS = 200


def make_words(count: int, draw: random.Random) -> Words:
    letters = "abcdefghijklmnopqrstuvwxyz"
    return ["".join(draw.choices(letters, k=draw.randint(3, 9))) for _ in range(count)]


def edit(words: Words, share: float, draw: random.Random) -> Words:
    """Replace, drop and add so large a share of the words."""
    edited = []
    for word, other in zip(words, make_words(len(words), draw), strict=True):
        chance = draw.random() / share
        edited += [word] if chance > 2 / 3 else []
        edited += [other] if chance < 1 / 3 or 2 / 3 < chance < 1 else []
    return edited


def cut(words: Words, least: float, most: float, draw: random.Random) -> Words:
    count = int(len(words) * draw.uniform(least, most))
    first = draw.randint(0, len(words) - count)
    return words[first : first + count]


def make_copy(draw: random.Random) -> tuple[Words, Words]:
    words = make_words(draw.randint(80, 300), draw)
    return words, [word.upper() for word in words]


def make_edition(draw: random.Random) -> tuple[Words, Words]:
    words = make_words(draw.randint(80, 300), draw)
    return words, edit(words, draw.uniform(0.05, 0.15), draw)


def make_excerpt(draw: random.Random) -> tuple[Words, Words]:
    words = make_words(draw.randint(120, 300), draw)
    return cut(words, 0.52, 0.75, draw), words


def make_whole(draw: random.Random) -> tuple[Words, Words]:
    """A text and an excerpt of it, in which a word or two of a hundred are others."""
    words = make_words(draw.randint(120, 300), draw)
    return words, edit(cut(words, 0.55, 0.7, draw), 0.02, draw)


def write_texts(pairs: Sequence[tuple[Words, Words]]) -> list[tuple[str, str]]:
    return [
        (f"{at:03}{side}", " ".join(words))
        for at, pair in enumerate(pairs)
        for side, words in zip("ab", pair, strict=True)
    ]


@pytest.mark.parametrize(
    ("make", "relation"),
    [
        (make_copy, "copy"), (make_edition, "edited"), (make_excerpt, "part of"),
        (make_whole, "contains"),
    ],
)  # fmt: skip
def test_measures_agree_with_passages(make: Make, relation: Relation) -> None:
    """Of 200 pairs of each kind, 98 % or more are what their passages make of them."""
    draw = random.Random(7)
    texts = write_texts([make(draw) for _ in range(PAIRS)])
    expected = {(each.id, each.other_id): each.relation for each in nd.passages(texts)}
    assert [*expected.values()].count(relation) >= 0.98 * PAIRS
    for measure in MEASURES:
        related = {
            (each.id, each.other_id): each.relation
            for each in nd.duplicates(texts, measure=measure, min_similarity=0.5)
        }
        same = sum(expected[pair] == word for pair, word in related.items())
        assert len(related) >= 0.7 * PAIRS, measure
        assert same >= 0.98 * len(related), measure


TEXTS = [
    ("1", "a b c d e f g h i j"), ("2", "a b c d e f g h i j"), ("3", "a b c d e f g h i z"),
    ("4", "a b c d e f"),
]  # fmt: skip
RELATED = {
    ("1", "2"): "copy", ("1", "3"): "edited", ("2", "3"): "edited", ("1", "4"): "contains",
    ("2", "4"): "contains", ("3", "4"): "contains",
}  # fmt: skip


def relate(found: nd.Duplicates) -> dict[tuple[str, str], str | None]:
    return {(each.id, each.other_id): each.relation for each in found}


def test_each_output_has_the_relation(tmp_path: Path) -> None:
    """Files of all formats, tables in memory, and pairs, also at a higher threshold."""
    found = nd.duplicates(TEXTS, measure="words")
    assert relate(found) == RELATED
    assert set(relate(found.at(0.95)).values()) == {"copy"}
    words = list(RELATED.values())
    names = ["id", "other_id", "similarity", "distance", "measure", "cluster", "relation"]
    assert found.to_arrow().column_names == names
    in_order = [RELATED[each.id, each.other_id] for each in found]
    assert sorted(in_order) == sorted(words)
    assert found.to_pandas()["relation"].tolist() == in_order
    assert found.to_polars()["relation"].to_list() == in_order
    for suffix, gap in (("tsv", "\t"), ("csv", ",")):
        found.write(path := tmp_path / f"pairs.{suffix}")
        lines = [line.split(gap) for line in path.read_text().splitlines()]
        assert [line[6] for line in lines] == ["relation", *in_order]
        assert len(nd.evaluate(found, path).missed) == 0
    found.write(path := tmp_path / "pairs.parquet")
    assert pq.read_table(path)["relation"].to_pylist() == in_order
    found.write(path := tmp_path / "pairs.xlsx")
    sheet = openpyxl.load_workbook(path).active
    assert [row[6] for row in sheet.values] == ["relation", *in_order]
    found.write(path := tmp_path / "pairs.jsonl")
    assert path.read_text().count('"relation":"contains"') == 3


def test_an_empty_table_has_the_column() -> None:
    """Whether there is a relation follows from the measure, not from the pairs."""
    table = nd.duplicates(TEXTS[2:], measure="words", min_similarity=0.9).to_arrow()
    assert (table.num_rows, str(table.schema.field("relation").type)) == (0, "string")


@pytest.mark.parametrize("measure", ["records", "aligned"])
def test_records_have_no_relation(measure: nd.types.MeasureName) -> None:
    """A record is no part of another, and its tables stay as they are."""
    found = nd.duplicates(TEXTS, measure=measure)
    assert set(relate(found).values()) == {None}
    assert "relation" not in found.to_arrow().column_names
    people = [{"id": n, "name": "Ann Lee", "born": "1970-01-01"} for n in (1, 2)]
    assert "relation" not in nd.duplicates(people, fields=["name", "born"]).to_arrow().column_names


def test_both_sides_are_related() -> None:
    """The first document is of the first side, whatever the ids are."""
    found = nd.duplicates(TEXTS[3:], against=TEXTS[:1], measure="words")
    assert relate(found) == {("4", "1"): "part of"}


def test_a_column_of_that_name_is_kept_beside() -> None:
    """A column of the source gets another name."""
    rows = [{"id": id, "text": text, "relation": "own"} for id, text in TEXTS]
    table = nd.duplicates(rows, measure="words", keep=["relation"]).to_arrow()
    assert set(table["kept_relation"].to_pylist()) == {"own"}
    assert set(table["relation"].to_pylist()) == set(RELATED.values())


@pytest.mark.parametrize("has_relation", [True, False])
def test_pairs_of_now_and_before_are_read(tmp_path: Path, *, has_relation: bool) -> None:
    """Answers are imported, and pairs evaluated, of files with the column and without."""
    name, word = ("\trelation", "\tcopy") if has_relation else ("", "")
    pairs = tmp_path / "pairs.tsv"
    head = f"id\tother_id\tsimilarity\tdistance\tmeasure\tcluster{name}\tanswer\n"
    pairs.write_text(f"{head}1\t2\t1.0000\t0\twords\t1{word}\tsame\n")
    answers = tmp_path / "answers.jsonl"
    imported = neardup("answer", "--import", str(pairs), "--answers", str(answers))
    assert imported.returncode == 0, imported.stderr
    assert len(answers.read_text().splitlines()) == 1
    pairs.write_text(pairs.read_text().replace("\tanswer", "").replace("\tsame", ""))
    report = nd.evaluate(nd.duplicates(TEXTS, measure="words", min_similarity=0.95), pairs)
    assert (report.recall, report.precision) == (1.0, 1.0)
