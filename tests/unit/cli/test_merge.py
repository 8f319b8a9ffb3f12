"""--merge and --merge-rule on the command line: what is said, and what is refused."""

import json
from pathlib import Path

import pytest

from tests.command import neardup

CONTENT = """id,text,city,phone
1,the old mill by the river,Bonn,
2,the old mill by the river,Köln,30
3,a new bridge over the lake of tides,Ulm,
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text(CONTENT)
    return tmp_path


def test_the_summary(folder: Path) -> None:
    """It says where the records and their values are, and counts the conflicts by column."""
    ran = neardup("duplicates", "a.csv", "--merge", "b.csv")
    assert (ran.returncode, ran.stdout) == (0, "")
    assert "2 records merged into 1, in b.csv with all others; b.values.csv" in ran.stderr
    assert "1 empty value filled; 1 conflict left to the kept record (city 1)" in ran.stderr
    assert "--merge-rule decides" in ran.stderr
    assert (folder / "b.csv").read_text() == CONTENT.replace("Bonn,", "Bonn,30").replace(
        "2,the old mill by the river,Köln,30\n", ""
    )
    words = ["--merge-rule", "city:joined", "--merge-rule", "*:frequent"]
    ran = neardup("duplicates", "a.csv", "--merge", "b.csv", *words, "--removed", "c.csv")
    assert "1 empty value filled; 1 conflict decided by rules.\n" in ran.stderr
    assert "Of 3 records, 2 are kept, 1 in c.csv" in ran.stderr
    assert "1,the old mill by the river,Bonn; Köln,30\n" in (folder / "b.csv").read_text()
    ran = neardup("duplicates", "a.csv", "--merge", "b.csv", "-o", "p.jsonl", "--unique", "u.csv")
    assert {path.name for path in folder.iterdir()} > {"b.csv", "b.values.csv", "p.jsonl", "u.csv"}
    ran = neardup("duplicates", "u.csv", "--merge", "d.csv")
    assert "0 records merged into 0" in ran.stderr
    assert (folder / "d.csv").read_bytes() == (folder / "u.csv").read_bytes()


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["a.csv", "--merge-rule", "city:kept"], 2, "--merge-rule needs --merge"),
        (["a.csv", "--merge", "b.csv", "--merge-rule", "city"], 2, "give COLUMN:RULE"),
        (["a.csv", "--merge", "b.csv", "--merge-rule", "city:best"], 2, "'city:best'"),
        (["a.csv", "--merge", "b.csv", "--merge-rule", "town:kept"], 2, "available: 'id', 'text'"),
        (["a.csv", "--merge", "b.csv", "--merge-rule", "id:kept"], 2, "'id' has the ids"),
        (["a.csv", "--merge", "b.csv", "--merge-rule", "city:first:x"], 2, "'x'"),
        (["a.csv", "--merge", "b.csv", *["--merge-rule", "city:kept"] * 2], 2, "two rules"),
        (["a.csv", "--merge", "a.csv"], 2, "is both SOURCE and --merge"),
        (["a.csv", "--merge", "b.csv", "--unique", "b.csv"], 2, "is both --unique and --merge"),
        (["a.csv", "--merge", "b.csv", "--unique", "b.values.csv"], 2, "the values of --merge"),
        (["a.csv", "--merge", "b.csv", "-o", "b.values.csv"], 2, "the values of --merge"),
        (["a.csv", "--merge", "b.xlsx"], 3, "choose .csv or .jsonl"),
        (["a.csv", "--merge", "nowhere/b.csv"], 3, "its folder does not exist"),
        (["a.csv", "--against", "a.csv", "--merge", "b.csv"], 2, "--merge needs one source"),
        (["--merge", "b.csv"], 2, "--merge needs a file"),
        (["-", "--merge", "b.csv"], 2, "cannot be read twice"),
        (["lines.txt", "--merge", "b.txt"], 3, "choose .jsonl"),
    ],
)
def test_what_is_refused(words: list[str], code: int, said: str, folder: Path) -> None:
    """One line, before anything is compared, and nothing is written."""
    (folder / "lines.txt").write_text("1 the old mill\n2 the old mill\n")
    ran = neardup("duplicates", *words, input=CONTENT)
    assert said in ran.stderr
    assert ran.returncode == code
    assert {path.name for path in folder.iterdir()} == {"a.csv", "lines.txt"}


def test_what_is_different_is_not_merged(folder: Path) -> None:
    """An answer about two records of a cluster, which is not obeyed, is one line."""
    rows = "".join(f"{id},the old mill by the river,,\n" for id in (4, 5))
    (folder / "a.csv").write_text(CONTENT + rows)
    answers = [("1", "4", "different"), ("1", "2", "same"), ("2", "4", "same")]
    (folder / "answers.jsonl").write_text(
        "".join(
            json.dumps({"id": id, "other_id": other, "answer": answer,
                        "when": f"2024-01-0{day}T00:00:00+00:00"}) + "\n"
            for day, (id, other, answer) in enumerate(answers, 1)
        )
    )  # fmt: skip
    words = ["--answers", "answers.jsonl", "--merge", "b.csv", "--unique", "u.csv", "--yes"]
    ran = neardup("duplicates", "a.csv", *words)
    assert (ran.returncode, "answers call 1 and 4 different" in ran.stderr) == (3, True)
    assert "run this again to continue" in ran.stderr
    names = {path.name for path in folder.iterdir()}
    assert names == {"a.csv", "answers.jsonl", "u.csv.unfinished"}


def test_what_may_be_no_copies_is_asked_about(folder: Path) -> None:
    """Without a terminal nothing is written, unless --yes says so."""
    alerts = [f"Disk usage on web-{n} is {70 + n} percent of the volume" for n in range(20)]
    rows = "".join(f"{n},{text}\n" for n, text in enumerate(alerts))
    (folder / "a.csv").write_text(f"id,text\n{rows}")
    words = ("duplicates", "a.csv", "--measure", "words", "--merge", "b.csv")
    ran = neardup(*words)
    assert (ran.returncode, "nothing was written; add --yes" in ran.stderr) == (3, True)
    assert [path.name for path in folder.iterdir()] == ["a.csv"]
    assert neardup(*words, "--yes").returncode == 0
    assert (folder / "b.csv").read_text().count("\n") == 2
