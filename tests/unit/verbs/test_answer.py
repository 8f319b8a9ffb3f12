"""What people say of pairs: one by one, from a table that a spreadsheet has saved, and listed."""

from __future__ import annotations

import csv
import hashlib
from pathlib import Path
from typing import Any

import pytest

import neardup_solr as nd
from tests.command import neardup

TABLE = """id,text
1,the quick brown fox jumps over the lazy dog in the park
2,the quick brown fox jumps over the lazy dog in the garden
3,the quick brown fox jumps over the lazy cat in the garden
4,a text that has nothing to do with any of the others
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a table."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text(TABLE)
    return tmp_path


def md5(text: str) -> str:
    """The hash of a text of plain words, which is its own normal form."""
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def read_answers(path: str) -> tuple[nd.types.Answer, ...]:
    """The answers in a file, the newest first."""
    return nd.Answers(path).latest


def fill(path: Path, answers: dict[tuple[str, str], str], **changed: str) -> None:
    """Fill the column answer of a written CSV, as a spreadsheet saves it."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["answer"] = answers.get((row["id"], row["other_id"]), row.get("answer", ""))
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=";")
        writer.writeheader()
        writer.writerows(rows)


def test_an_answer_is_noted_and_obeyed(folder: Path) -> None:
    """Who said it, when, and about which texts, is in the file, and the next run obeys it."""
    noted = nd.answer("a.csv", 2, "1", "different", answers="answers.jsonl", who="Ann")
    assert read_answers("answers.jsonl")[0].hash == noted.hash == md5(TABLE.split("\n")[2][2:])
    assert (noted.who, noted.pair[:2], noted.answer) == ("Ann", ("1", "2"), "different")
    found = nd.duplicates("a.csv", answers="answers.jsonl")
    assert [(pair.id, pair.other_id) for pair in found.pairs if pair.cluster] == [("2", "3")]
    (folder / "a.csv").write_text(TABLE.replace("1,the", "1,one"))
    assert len(nd.duplicates("a.csv", answers="answers.jsonl").pairs) == 3
    nd.answer(None, "1", "2", "unsure", answers="answers.jsonl")
    assert nd.Answers("answers.jsonl").columns()["answer"] == ["unsure"]


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (("1", "1", "same"), ("both ids", "'1'")),
        (("1", "9", "same"), ("a.csv", "'9'")),
        (("1", "2", "maybe"), ("'maybe'", "'unsure'", "same, different, unsure")),
        (("1", "2"), ("OTHER_ID", "same|different|unsure", "--import")),
        (("1", "2", "same", "--import", "b.csv"), ("OTHER_ID", "--import")),
        (("--import", "b.csv"), ("b.csv", "other_id", "answer")),
        (("--import", "no.csv"), ("no.csv",)),
        ((), ("answers.jsonl", "neardup answer")),
    ],
)
def test_what_cannot_be_noted_is_one_line(
    folder: Path, words: tuple[str, ...], names: tuple[str, ...]
) -> None:
    """Nothing is written then."""
    (folder / "b.csv").write_text(TABLE)
    ran = neardup("answer", *words, "--answers", "answers.jsonl", "--source", "a.csv")
    assert ran.returncode in (2, 3)
    assert [name for name in names if name not in ran.stderr] == []
    assert not (folder / "answers.jsonl").exists()


def test_no_other_file_gets_answers(folder: Path) -> None:
    """A wrong name after --answers does not spoil the file of that name."""
    ran = neardup("answer", "1", "2", "same", "--answers", "a.csv")
    assert (ran.returncode, "a.csv: line 1 is not JSON" in ran.stderr) == (3, True)
    ran = neardup("answer", "--import", "b.jsonl", "--answers", "b.jsonl")
    assert "is both" in ran.stderr
    assert (folder / "a.csv").read_text() == TABLE


def test_pairs_come_back_from_a_spreadsheet(folder: Path) -> None:
    """The written pairs are filled in a spreadsheet, read back, and not noted twice."""
    neardup("answer", "1", "4", "same", "--answers", "answers.jsonl", "--source", "a.csv")
    ran = neardup("duplicates", "a.csv", "--answers", "answers.jsonl", "-o", "pairs.csv")
    assert "1 answer applied." in ran.stderr
    fill(folder / "pairs.csv", {("1", "2"): "no", ("2", "3"): "SAME"})
    asked = ("answer", "--import", "pairs.csv", "--answers", "answers.jsonl", "--source", "a.csv")
    ran = neardup(*asked)
    assert (
        "2 answers recorded in answers.jsonl, 1 already known; 1 row without an answer."
        in ran.stderr
    )
    assert "0 answers recorded in answers.jsonl, 3 already known" in neardup(*asked).stderr
    assert all(one.hash and one.other_hash for one in read_answers("answers.jsonl"))
    found = nd.duplicates("a.csv", answers="answers.jsonl")
    assert sorted(sorted(m.id for m in one.members) for one in found.clusters) == [
        ["1", "4"], ["2", "3"]
    ]  # fmt: skip


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".xlsx", ".parquet"])
def test_the_texts_of_a_table_are_those_that_were_judged(folder: Path, suffix: str) -> None:
    """Without the source, the hashes are those of the texts beside the pairs, in any format."""
    import pandas as pd

    path = folder / f"pairs{suffix}"
    (folder / "answers.jsonl").touch()
    nd.duplicates("a.csv", answers="answers.jsonl", texts=True).write(path)
    if suffix == ".csv":
        fill(path, {("1", "2"): "different"})
    elif suffix in (".xlsx", ".parquet"):
        frame = pd.read_excel(path) if suffix == ".xlsx" else pd.read_parquet(path)
        frame["answer"] = ["different"] + [None] * (len(frame) - 1)
        frame.to_excel(path, index=False) if suffix == ".xlsx" else frame.to_parquet(path)
    else:
        empty, filled = {".tsv": ("\t\t", "\tdifferent\t"), ".jsonl": ('""', '"no"')}[suffix]
        path.write_text(path.read_text().replace(empty, filled, 1))
    done = nd.Answers("answers.jsonl").add(path)
    assert (done.added, done.known) == (1, 0)
    (noted,) = read_answers("answers.jsonl")
    assert noted.pair[:2] == ("1", "2")
    texts = {line[0]: line[2:] for line in TABLE.splitlines()[1:]}
    assert (noted.hash, noted.other_hash) == (md5(texts["1"]), md5(texts["2"]))


HOSTILE = ["=1+1", "@x", "+5", "-3", "a\nb", "t\tb", "  a ", "007", "1e5", 'q"u', "s;c", "a,b",
           "'a", "\\b", "\u202ex", "2024-01-02", "12345678901234567890", "true", "nan", "\x0b",
           "_x000B_"]  # fmt: skip


@pytest.mark.parametrize("texts", [False, True])
@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_hostile_ids_come_back_from_a_spreadsheet(folder: Path, suffix: str, texts: bool) -> None:
    """Formulas, numbers, dates and line breaks as ids: each pair is that which was asked about."""
    import pandas as pd

    rows = [{"id": id, "text": f"{TABLE} {n}"} for n, id in enumerate(HOSTILE)]
    path = folder / f"pairs{suffix}"
    nd.answer(None, "x", "y", "same", answers="answers.jsonl")
    how: dict[str, Any] = {"answers": "answers.jsonl", "measure": "words"}
    found = nd.duplicates(rows, **how, texts=texts)
    found.write(path)
    if suffix == ".csv":  # as saved with semicolons and a byte order mark
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    else:
        frame = pd.read_excel(path, dtype=str, keep_default_na=False)
    frame["answer"] = " Same"
    frame = frame.rename(columns={"answer": "Answer"})
    if suffix == ".csv":
        frame.to_csv(path, index=False, sep=";", encoding="utf-8-sig")
    else:
        frame.to_excel(path, index=False)
    done = nd.Answers("answers.jsonl").add(path, None if texts else rows)
    assert done.added == len(found.pairs) == len(HOSTILE) * (len(HOSTILE) - 1) // 2
    again = nd.duplicates(rows, **how).answered
    assert again is not None
    assert len(again.obeyed) == done.added


def test_a_sample_comes_back(folder: Path) -> None:
    """A sheet that was filled as a DataFrame is imported, and also evaluates the result."""
    found = nd.duplicates([{"id": at, "text": line[2:]} for at, line in
                           enumerate(TABLE.splitlines())][1:])  # fmt: skip
    sheet = found.sample().to_pandas()
    sheet["answer"] = ["different", "", "same"]
    done = nd.Answers("answers.jsonl").add(sheet, who="")
    assert (done.added, done.empty) == (2, 1)
    again = nd.duplicates("a.csv", answers="answers.jsonl")
    assert again.answered is not None
    assert len(again.answered.obeyed) == 2
    nd.answer(None, 1, 2, "same", answers="answers.jsonl")
    assert nd.evaluate("answers.jsonl", nd.duplicates("a.csv")).precision == 1.0


@pytest.mark.parametrize(
    ("rows", "names"),
    [
        ("1,2,perhaps", ("'perhaps'", "1 – 2")),
        ("1,2,same\n2,1,different", ("2 – 1", "same", "different")),
        ("1,,same", ("'same'", "both ids")),
        ("1,1,same", ("'1'", "--ordered")),
    ],
)
def test_a_table_with_a_fault_is_not_imported(
    folder: Path, rows: str, names: tuple[str, ...]
) -> None:
    """One line says what is wrong, and no answer of the table is noted."""
    (folder / "pairs.csv").write_text(f"id,other_id,answer\n3,4,same\n{rows}\n")
    ran = neardup("answer", "--import", "pairs.csv", "--answers", "answers.jsonl")
    assert ran.returncode == 3
    assert [name for name in names if name not in ran.stderr] == []
    assert not (folder / "answers.jsonl").exists()


def test_documents_that_are_gone_are_told(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    """An imported answer about them is noted, without their texts."""
    (folder / "pairs.csv").write_text("id,other_id,answer\n3,8,same\n")
    done = nd.Answers("answers.jsonl").add("pairs.csv", "a.csv")
    assert done.added == 1
    assert "1 answered document is missing or unusable in the source, first 8" in caplog.text
    (noted,) = read_answers("answers.jsonl")
    assert (noted.hash == "", noted.other_hash) == (False, "")


def test_contradictions_are_listed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A newer answer wins, and the older one is told at once, listed and written."""
    monkeypatch.setenv("LOGNAME", "Ann")
    asked = ("--answers", "answers.jsonl")
    neardup("answer", "1", "2", "same", *asked)
    neardup("answer", "2", "3", "same", *asked)
    ran = neardup("answer", "3", "1", "different", *asked)
    assert "3 – 1 recorded as different in answers.jsonl." in ran.stderr
    assert "Without --source, the texts are not recorded: the answer applies" in ran.stderr
    said = "1 answer is set aside, contradicted by newer answers: 1 – 2 same."
    assert said in ran.stderr
    ran = neardup("answer", *asked)
    rows = [line.split("\t") for line in ran.stdout.splitlines()]
    assert [(row[0], row[1], row[2], row[3], row[5]) for row in rows[1:]] == [
        ("3", "1", "different", "Ann", ""),
        ("2", "3", "same", "Ann", ""),
        ("1", "2", "same", "Ann", "set aside"),
    ]
    assert "Answers about 3 pairs; 1 is set aside." in ran.stderr
    table = neardup("answer", *asked, "--format", "table").stdout.splitlines()
    assert table[0].split() == ["id", "other_id", "answer", "who", "when", "state"]
    assert table[3].endswith("set aside")
    neardup("answer", *asked, "-o", "list.csv")
    again = neardup("answer", "--import", "list.csv", "--answers", "answers.jsonl")
    assert "0 answers recorded in answers.jsonl, 3 already known" in again.stderr


def test_two_sides_are_ordered(folder: Path) -> None:
    """With --ordered, a, b is not b, a, and both may be answered."""
    (folder / "pairs.csv").write_text("id,other_id,answer\n1,2,same\n2,1,different\n1,1,no\n")
    ran = neardup("answer", "--import", "pairs.csv", "--answers", "b.jsonl", "--ordered")
    assert "3 answers recorded" in ran.stderr
    found = nd.duplicates("a.csv", against="a.csv", answers="b.jsonl")
    pairs = {(pair.id, pair.other_id) for pair in found.pairs}
    assert (("1", "2") in pairs, ("2", "1") in pairs, ("1", "1") in pairs) == (True, False, False)


def test_a_number_of_a_record_names_it(folder: Path) -> None:
    """An id that comes again is told apart by its record, as duplicates does."""
    (folder / "a.csv").write_text(TABLE + "1,another text with the same id as the first\n")
    noted = nd.answer("a.csv", "1@row5", "1@row1", "different", answers="answers.jsonl")
    assert noted.hash == md5("another text with the same id as the first")
    found = nd.duplicates("a.csv", answers="answers.jsonl")
    assert found.answered is not None
    assert len(found.answered.obeyed) == 1


def test_a_folder_that_cannot_be_written_is_one_line(folder: Path) -> None:
    """The message names the file and what to check."""
    (folder / "answers.jsonl").mkdir()
    ran = neardup("answer", "1", "2", "same", "--answers", "answers.jsonl")
    assert (ran.returncode, "answers.jsonl: cannot be read" in ran.stderr) == (3, True)


ADDRESS = "http://ann:secret@host:8983/solr/answers"


@pytest.mark.parametrize("value", [ADDRESS, "zk://host/solr", 5, None, b"a.jsonl", ["a.jsonl"]])
def test_answers_stand_in_a_file(value: Any) -> None:
    """What is no path is refused by the name of the argument, without its password."""
    number: Any = 0
    for call in (
        lambda: nd.Answers(value),
        lambda: nd.Answers("answers.jsonl").write(value),
        lambda: nd.answer("a.csv", "1", "2", "same", answers=value),
        lambda: nd.duplicates([], model=value or number),
        lambda: nd.duplicates([], remember=value or number),
    ):
        with pytest.raises(nd.ArgumentError, match="`") as refused:
            call()
        assert "secret" not in str(refused.value)
    with pytest.raises(nd.ArgumentError, match="no argument `file`"):
        nd.Answers(file="answers.jsonl")  # type: ignore[call-arg]


@pytest.mark.parametrize("flag", ["--answers", "--model", "--remember", "-o", "--unique"])
def test_a_command_refuses_an_address_for_a_file(flag: str) -> None:
    """The address is printed as it was typed, without its password."""
    ran = neardup("duplicates", "a.csv", flag, ADDRESS)
    assert ran.returncode == 2
    assert "http://…@host:8983" in ran.stderr


PEOPLE = """Nr,name,street,zip,born
7,Marta Linsen,12 Mill Road,1017,1961-03-04
8,Linsen Marta,12 Mill Rd.,1017,
9,Jonas Weber,3 Castle Lane,2210,1975-11-20
10,Otto Holm,81 Station Road,3300,1949-07-07
11,Lena Dahl,4 Church Road,4100,1990-09-15
"""
LISTINGS = TABLE.replace("id,text", "ref,text")
BOOKS = TABLE.replace("id,text", "ref,description")
NUMBERLESS = "text\n" + "".join(line[2:] + "\n" for line in TABLE.splitlines()[1:])


@pytest.mark.parametrize(
    ("name", "content", "ids"),
    [
        ("people.csv", PEOPLE, ("7", "8")),
        ("people.tsv", PEOPLE.replace(",", "\t"), ("7", "8")),
        ("listings.csv", LISTINGS, ("1", "2")),
        ("books.csv", BOOKS, ("1", "2")),
        ("lines.csv", NUMBERLESS, ("1", "2")),
        ("a.csv", TABLE, ("1", "2")),
    ],
)
@pytest.mark.parametrize("door", ["command", "python", "import", "frame"])
def test_the_columns_are_those_that_duplicates_chooses(
    name: str, content: str, ids: tuple[str, str], door: str
) -> None:
    """Of a table, and of an id of another name; a change of a text then sets the answer aside."""
    Path(name).write_text(content)
    if door == "command":
        ran = neardup("answer", *ids, "different", "--answers", "said", "--source", name)
        assert ran.returncode == 0
    elif door == "import":
        Path("pairs.csv").write_text(f"id,other_id,answer\n{','.join(ids)},no\n")
        ran = neardup("answer", "--import", "pairs.csv", "--answers", "said", "--source", name)
        assert ran.returncode == 0
    elif door == "frame":
        pandas = pytest.importorskip("pandas")
        frame = pandas.read_csv(name, sep="\t" if name == "people.tsv" else ",", dtype=str)
        nd.answer(frame, *ids, "different", answers="said")
    else:
        nd.answer(name, *ids, "different", answers="said")
    (answer,) = read_answers("said")
    assert answer.hash
    assert answer.other_hash
    found = nd.duplicates(name, answers="said")
    assert found.answered is not None
    assert [each.pair for each in found.answered.obeyed] == [answer.pair]
    Path(name).write_text(content.replace("Marta Linsen", "Marta Lin").replace("brown fox", "fox"))
    changed = nd.duplicates(name, answers="said").answered
    assert changed is not None
    assert [each.pair for each in changed.changed] == [answer.pair]
