"""duplicates of one file against another."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

import neardup_solr as nd
from neardup_solr.types import Linkage
from tests.command import neardup
from tests.refusals import refusal
from tests.solr.verbs.test_duplicates_against import NEW, OLD, documents, rows
from tests.unit.reports.test_html import embedded


def test_only_the_best_of_each_other() -> None:
    """Of several candidates the most similar one is kept, where it is so from both sides."""
    old = OLD | {"4": "one two three four five seven eight"}
    found = nd.duplicates(
        documents({"1": NEW["1"], "b": NEW["b"]}),
        against=documents(old),
        linkage="mutual_best",
    )
    assert rows(found) == [("1", "4", 1), ("b", "2", 0)]


def test_only_the_best_need_another_side() -> None:
    """One side alone is always compared within itself."""
    with refusal(nd.ArgumentError, "arguments-conflict", "mutual_best", "`against`"):
        nd.duplicates(documents(OLD), linkage="mutual_best")


TEXTS = {"1": "one two three four five SIDE", "2": "alpha beta gamma SIDE"}


def given(side: str) -> list[nd.Document]:
    """Documents of a side: the ids are those of the other one, texts and columns its own."""
    return [
        nd.Document(id=id, text=text.replace("SIDE", side), kept={"owner": f"{side} {id}"})
        for id, text in TEXTS.items()
    ]


def compared(*, canonical: str = "first") -> nd.Duplicates:
    """Both sides, with texts and columns."""
    return nd.duplicates(
        given("north"),
        against=given("south"),
        canonical=canonical,
        min_similarity=0.5,
        keep="owner",
        texts=True,
    )


PAIRS = [
    ("1", "1", "one two three four five north", "one two three four five south",
     "north 1", "south 1"),
    ("2", "2", "alpha beta gamma north", "alpha beta gamma south", "north 2", "south 2"),
]  # fmt: skip
MEMBERS = [
    ("1", "one two three four five north", "north 1"),
    ("1", "one two three four five south", "south 1"),
    ("2", "alpha beta gamma north", "north 2"),
    ("2", "alpha beta gamma south", "south 2"),
]


def test_ids_of_both_sides_have_texts_and_columns_of_their_own() -> None:
    """Tables of pairs and of members, also at a higher threshold and in a sample of pairs."""
    found = compared()
    for result in (found, found.at(0.6)):
        pairs = result.to_arrow().select(
            ["id", "other_id", "text", "other_text", "owner", "other_owner"]
        )
        assert [tuple(row.values()) for row in pairs.to_pylist()] == PAIRS
        members = result.to_pandas("clusters")[["id", "text", "owner"]]
        assert list(members.itertuples(index=False, name=None)) == MEMBERS
        assert [member.side for one in result.clusters for member in one.members] == [0, 1, 0, 1]
    drawn = found.sample(2).table
    assert sorted(zip(drawn["text"], drawn["other_owner"], strict=True)) == sorted(
        (pair[2], pair[5]) for pair in PAIRS
    )
    # By an id alone both sides would do: it is the first one's document.
    assert found.texts["1"].endswith("north")
    assert found.texts[1, "1"].endswith("south")


def test_tables_and_notebooks_tell_the_sides_of_members() -> None:
    """Otherwise a cluster has two documents of one id, both of them canonical."""
    found = compared()
    wanted = [("1", True, 0), ("1", False, 1), ("2", True, 0), ("2", False, 1)]
    names = ["id", "canonical", "side"]
    assert found.to_polars("clusters")[names].rows() == wanted
    frame = found.to_pandas("clusters")
    assert list(frame[names].itertuples(index=False, name=None)) == wanted
    rows = found.to_arrow("clusters").select(names).to_pylist()
    assert [tuple(row.values()) for row in rows] == wanted
    assert "<b><bdi>1</bdi></b> (other side) <bdi>one two" in found._repr_html_()
    assert found._repr_html_().count("(other side)") == 2
    none = nd.duplicates(documents({"1": "a b"}), against=documents({"1": "c d"}))
    assert (none.to_pandas("clusters").dtypes["side"], len(none.clusters)) == ("Int64", 0)


def test_ids_of_one_side_alone_find_their_texts() -> None:
    """A document of the second side is known by its id if the first one has no such id."""
    found = nd.duplicates(documents(NEW), against=documents(OLD), texts=True)
    assert found.texts["b"] == NEW["b"]
    assert found.texts["2"] == OLD["2"]
    own, others = {"1": "1", "b": "b", "c": "b"}, {"2": "b", "3": "b"}
    by_side = {(1, "1"): "1", (1, "2"): "b", (1, "3"): "b"}
    assert found.labels == own | others | by_side


@pytest.mark.parametrize("suffix", [".tsv", ".csv", ".jsonl", ".parquet", ".xlsx"])
def test_files_of_pairs_have_the_texts_of_their_side(tmp_path: Path, suffix: str) -> None:
    """In all formats the two texts and columns of a pair are those of its two documents."""
    path = tmp_path / f"pairs{suffix}"
    compared().write(path)
    rows = [
        record.kept
        for record in nd.read(path, id=":row", text="id",
                              keep=["text", "other_text", "owner", "other_owner"])
    ]  # fmt: skip
    assert [tuple(row.values()) for row in rows] == [pair[2:] for pair in PAIRS]


@pytest.mark.parametrize("texts", [True, None])
def test_the_page_has_both_documents_of_an_id(tmp_path: Path, texts: bool | None) -> None:
    """A row each with its own text and column; the page names the side of the second one."""
    path = tmp_path / "page.html"
    found = nd.duplicates(given("north"), against=given("south"), min_similarity=0.5,
                          keep="owner", texts=texts)  # fmt: skip
    found.write(path)
    page = path.read_text()
    assert embedded(page, "ids") == ["1", "1 (other side)", "2", "2 (other side)"]
    assert embedded(page, "texts") == [member[1] for member in MEMBERS]
    assert embedded(page, "kept") == [[member[2]] for member in MEMBERS]
    clusters = embedded(page, "clusters")
    assert [cluster[9] for cluster in clusters] == [[0, 1], [2, 3]]
    assert [pair[:2] for own in embedded(page, "pairs") for pair in own] == [[0, 1], [2, 3]]


def test_texts_on_a_terminal_and_in_a_notebook(tmp_path: Path) -> None:
    """Texts of the largest clusters are those of their side, too."""
    found = nd.duplicates(given("north"), against=given("south"), min_similarity=0.5, texts=20)
    for side in ("north", "south"):
        rows = "".join(f"{each.id}\t{each.text}\n" for each in given(side))
        (tmp_path / f"{side}.tsv").write_text(f"id\ttext\n{rows}")
    sides = (str(tmp_path / "north.tsv"), "--against", str(tmp_path / "south.tsv"))
    options = ("--min-similarity", "0.5", "--format", "table")
    printed = neardup("duplicates", *sides, *options).stdout
    assert printed.index("five north") < printed.index("five south")
    drawn = found._repr_html_()
    assert drawn.index("five north") < drawn.index("five south")


def test_documents_that_are_gone_have_no_text_of_the_other_side() -> None:
    """An id that both sides have is never looked up on the wrong side."""
    found = compared()
    assert (1, "1") in found.texts
    without = {key: text for key, text in found.texts.items() if key != (1, "1")}
    table = replace(found, texts=without).to_arrow()
    assert table["other_text"].to_pylist()[0] is None


@pytest.mark.parametrize("linkage", ["single", "complete"])
def test_only_what_is_near_the_other_side_is_removed(linkage: Linkage) -> None:
    """Complete linkage compares documents of one side, too, and an id may be on both sides."""
    words = "one two three four five six seven eight nine ten"
    left = [
        {"id": "1", "text": "nothing in common with any other text of these sides"},
        {"id": "2", "text": words},
        {"id": "4", "text": words.replace("ten", "eleven")},
    ]
    right = [{"id": "1", "text": f"{words} more"}, {"id": "3", "text": f"{words} again"}]
    found = nd.duplicates(left, against=right, linkage=linkage)
    assert {id: one.duplicate_of for id, one in found.removed.items()} == {"2": "1", "4": "1"}


def test_repeats_are_told_by_the_rule_of_their_side(caplog: pytest.LogCaptureFixture) -> None:
    """One side may reject what the other keeps or replaces."""
    left = nd.Source([("1", "blue door cafe"), ("1", "blue door")], on_repeat="fail")
    right = [("7", "blue door cafe"), ("7", "blue door cafe again")]
    nd.duplicates(left, against=right)
    nd.duplicates(left, against=nd.Source(right, on_repeat="last"))
    kept, replaced = (line for line in caplog.messages if "repeats an id" in line)
    assert kept.startswith("1 record repeats an id: each of them is compared")
    assert replaced == "1 record repeats an id: only the last record for each id is used"


FIRST = """id,name,street,zip,born
1,Jonas Weber,3 Castle Lane,2210,1975-11-20
2,Otto Holm,81 Station Road,3300,1949-07-07
3,Lena Dahl,4 Church Road,4100,1990-09-15
4,Ines Costa,9 Mill Street,1200,1960-02-03
"""
SECOND = """{}
K7,Jonas Weber,3 Castle Ln,2210,20.11.1975
K8,Lena Dahl,4 Church Road,4100,15.09.1990
K9,Tim Berg,5 Mill Street,1900,01.01.1955
"""
HEADERS = (
    "Kundennr,Kunde,Straße,PLZ,Geburtstag", "编号,姓名,地址,邮编,出生日期",
    "رقم,الاسم,الشارع,الرمز,الميلاد", "nr,full name,address,post code,date of birth",
    "id,nom,rue,code,né le", 'id,"a, b",x=y,"q ""z""",last one',
)  # fmt: skip


@pytest.mark.parametrize("header", HEADERS)
def test_tables_with_other_headers_are_paired(header: str, tmp_path: Path) -> None:
    """The message names the columns of both, and pairs those of like values: it can be pasted."""
    (tmp_path / "a.csv").write_text(FIRST)
    (tmp_path / "b.csv").write_text(SECOND.format(header))
    words = ["duplicates", str(tmp_path / "a.csv"), "--against", str(tmp_path / "b.csv")]
    ran = neardup(*words)
    assert ran.returncode != 0
    assert "'street'" in ran.stderr
    step = re.search(r"(--field .*)\n", ran.stderr)
    assert step is not None
    again = neardup(*words, *shlex.split(step[1]))
    assert again.returncode == 0
    pairs = [line.split("\t")[:2] for line in again.stdout.splitlines()[1:]]
    assert pairs == [["1", "K7"], ["3", "K8"]]


def test_texts_of_two_names(tmp_path: Path) -> None:
    """One side has a text, the other one a body: both are named at once, with ids of two names."""
    (tmp_path / "a.csv").write_text("id,text\n1,The choir sings at eight in the town hall\n2,No\n")
    (tmp_path / "b.csv").write_text("nr,body\nx,The choir sings at eight in the town hall\ny,Or\n")
    words = ["duplicates", str(tmp_path / "a.csv"), "--against", str(tmp_path / "b.csv")]
    assert "--text-field 'text=body'" in neardup(*words).stderr
    assert "--text-field 'text=body'" in neardup(*words, "--text-field", "text").stderr
    for ids in ([], ["--id-field", "id=nr"]):
        ran = neardup(*words, "--text-field", "text=body", *ids)
        assert ran.stdout.splitlines()[1].startswith("1\tx\t1.0000")


def test_columns_of_two_names_in_python() -> None:
    """Fields, groups and kept columns are named by the first source in the result."""
    first = [
        {"id": 1, "name": "Ann Bell", "town": "Rome"},
        {"id": 2, "name": "Tim", "town": "Oslo"},
    ]
    second = [
        {"no": 7, "who": "Ann  Bell", "place": "rome"},
        {"no": 8, "who": "Tim", "place": "Bern"},
    ]
    found = nd.duplicates(first, against=second, id="id=no", fields=["name=who"], keep="town=place")
    assert {(pair.id, pair.other_id) for pair in found.pairs} == {(1, 7), (2, 8)}
    assert found.kept[1, 7] == {"town": "rome"}
    assert found.weights is not None
    assert {each.field for each in found.weights.table()} == {"name"}
    same = nd.duplicates(first, against=second, id="id=no", text="name=who", same="town=place")
    assert same.pairs == ()
    with pytest.raises(nd.ArgumentError, match="paired twice"):
        nd.duplicates(first, against=second, text=["name=who", "name=place"])


def test_columns_of_one_source_are_told(tmp_path: Path) -> None:
    """Two sources that have most columns in common are compared by these, and the rest is named."""
    (tmp_path / "a.csv").write_text(FIRST)
    (tmp_path / "b.csv").write_text(FIRST.replace("born", "geboren"))
    ran = neardup("duplicates", str(tmp_path / "a.csv"), "--against", str(tmp_path / "b.csv"))
    assert ran.returncode == 0
    assert "born=geboren" in ran.stderr


def test_names_in_common_are_enough(caplog: pytest.LogCaptureFixture) -> None:
    """However many columns of few words have other names: these are told, never a name with one."""
    people = (("Red", "Ida", 1990), ("Long", "Per", 1995), ("Last", "Eva", 2001))
    things = (("River", 92), ("Harbour", 101), ("Winter", 87), ("Letter", 120))
    films = [
        (f"The {tone} {thing}", f"{name} Holm", year, minutes)
        for tone, name, year in people
        for thing, minutes in things
    ]
    first = [
        {"id": at, "title": title, "director": who, "startYear": year, "runtimeMinutes": minutes}
        for at, (title, who, year, minutes) in enumerate(films)
    ]
    second = [
        {"id": at, "title": title.lower(), "director": who, "actors": f"{who}, Ole Dahl",
         "release_date": f"{year}-03-01", "runtime": f"{minutes} min"}
        for at, (title, who, year, minutes) in enumerate(films[6:], 100)
    ]  # fmt: skip
    result = nd.duplicates(first, against=second)
    assert {(pair.id, pair.other_id) for pair in result.pairs} == {
        (at + 6, at + 100) for at in range(6)
    }
    assert "startYear=release_date" in caplog.text
    assert "director=" not in caplog.text


def test_numbers_of_rows_are_not_in_common() -> None:
    """Rows that are merely numbered in both files are not compared by their numbers, but by years.

    The message pairs the other columns.
    """
    first = [{"no": at, "title": f"{at} blue lamps {at * 7 % 30}"} for at in range(1, 31)]
    alike = [{"no": at, "headline": f"{at} blue lamps {at * 7 % 30}"} for at in range(30, 0, -1)]
    others = [{"no": at, "person": f"Anna{at} Holm{at % 7}"} for at in range(1, 26)]
    with pytest.raises(nd.ArgumentError, match="'title=headline'"):
        nd.duplicates(first, against=alike)
    for side in (first, others):
        for row in side:
            row["no"] = str(row["no"])
    with pytest.raises(nd.ArgumentError, match="'title=person'"):
        nd.duplicates(first, against=others)
    years = [
        [{"year": str(1979 + at), name: row[name]} for at, row in enumerate(side)]
        for side, name in ((first, "title"), (others, "person"))
    ]
    assert len(nd.duplicates(years[0], against=years[1]).pairs) == 25
