"""--unique and --removed on the command line: what is said, and what is refused."""

import os
import random
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

import neardup_solr as nd
from neardup_solr.errors import DataError
from tests.command import neardup
from tests.refusals import refusal

CONTENT = """id,text
1,one two three
2,one two three
2,four five six
3,one two three
4
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text(CONTENT)
    return tmp_path


def test_the_summary_adds_up() -> None:
    """Every record is told of, and no pairs are printed beside the files."""
    ran = neardup("duplicates", "a.csv", "--unique", "b.csv", "--removed", "c.csv")
    assert ran.returncode == 1  # for the record that could not be used
    assert ran.stdout == ""
    said = (
        "Of 5 records, 2 are in b.csv, 2 in c.csv;"
        " 1 could not be used and is not in any file: --rejected FILE saves them."
    )
    assert said in ran.stderr
    ran = neardup("duplicates", "a.csv", "--removed", "c.csv", "--on-repeat", "last")
    assert "2 are kept, 2 in c.csv (1 with a repeated id); 1 could not" in ran.stderr
    ran = neardup("duplicates", "a.csv", "--unique", "b.csv", "--format", "jsonl")
    assert ran.stdout.count("\n") == 3
    ran = neardup("duplicates", "a.csv", "--removed", "c.csv")
    assert "Of 5 records, 2 are kept, 2 in c.csv" in ran.stderr
    ran = neardup("duplicates", "b.csv", "--unique", "d.csv")
    assert (ran.returncode, ran.stdout) == (0, "")
    assert "Of 2 records, 2 are in d.csv, 0 removed." in ran.stderr


def test_rejected_records_are_in_a_file() -> None:
    """Every record is in one of three files; the exit code is 1, unless so many may fail."""
    words = ["duplicates", "a.csv", "--unique", "b.csv", "--removed", "c.csv"]
    words += ["--rejected", "d.csv"]
    ran = neardup(*words)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert "Of 5 records, 2 are in b.csv, 2 in c.csv, 1 in d.csv." in ran.stderr
    assert Path("d.csv").read_text() == (
        "id,text,neardup_reason,neardup_position,neardup_record\n"
        ',,"1 field, but the header has 2","a.csv, line 6",4\n'
    )
    for most, code in (("0", 1), ("1", 0), ("0.1", 1), ("0.2", 0), ("19.9%", 1), ("20%", 0)):
        ran = neardup(*words, "--max-failed", most)
        assert (ran.returncode, most) == (code, most)


@pytest.mark.parametrize("most", ["few", "-1", "101%", "1.5", "nan"])
def test_what_may_fail_is_a_number_or_a_share(most: str) -> None:
    """Anything else is wrong usage, which is told before anything is read."""
    ran = neardup("duplicates", "a.csv", f"--max-failed={most}")
    assert (ran.returncode, "--max-failed" in ran.stderr) == (2, True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--rejected", "b.csv"], "--rejected needs a file"),
        (["--unique", "b.csv"], "--mark prints a filter query that excludes near-duplicates"),
        (["--removed", "b.csv"], "--mark"),
        (["-", "--unique", "b.csv"], "cannot be read twice, as --unique and --merge require"),
    ],
)
def test_wrong_usage_is_exit_code_2(words: list[str], said: str) -> None:
    """One line, before anything is read or a Solr asked."""
    ran = neardup("duplicates", *words, input=CONTENT)
    assert (ran.returncode, said in ran.stderr) == (2, True)
    assert sorted(path.name for path in Path().iterdir()) == ["a.csv"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--unique", "a.csv"], "neardup: a.csv: is both SOURCE and --unique"),
        (["--unique", "b.csv", "--removed", "b.csv"], "is both --unique and --removed"),
        (["--unique", "b.csv", "-o", "b.csv"], "is both --output and --unique"),
        (["--unique", "b.odd"], "choose .csv or .jsonl"),
        (["--unique", "."], "choose .csv or .jsonl"),
    ],
)
def test_files_that_cannot_be_written(words: list[str], said: str) -> None:
    """One line with the options' names, and the source is as it was."""
    ran = neardup("duplicates", "a.csv", *words)
    assert (ran.returncode, said in ran.stderr) == (2, True)
    assert Path("a.csv").read_text() == CONTENT
    assert sorted(path.name for path in Path().iterdir()) == ["a.csv"]


def test_nothing_is_fetched_where_nothing_is_named(tmp_path: Path) -> None:
    """Without a file or a collection, an embedded Solr that was never used is not fetched."""
    home = {"NEARDUP_HOME": str(tmp_path / "home"), "NEARDUP_SOLR_URL": ""}
    command = [sys.executable, "-m", "neardup_solr", "duplicates"]
    said = subprocess.run(command, capture_output=True, text=True, env=os.environ | home)
    assert said.returncode == 2
    assert "name a file, or a collection with -c" in said.stderr
    (tmp_path / "a.csv").write_text(CONTENT)
    command += [str(tmp_path / "a.csv"), "--against", "parts_old"]
    said = subprocess.run(command, capture_output=True, text=True, env=os.environ | home)
    missing = "neardup: parts_old: there is no such file or folder; check the path\n"
    assert (said.returncode, said.stderr) == (3, missing)
    assert not (tmp_path / "home").exists()


def test_several_files_are_one_source(folder: Path) -> None:
    """They are named one after the other, and what is wrong with one says which."""
    (folder / "b.csv").write_text("text,id\nfour five six seven,5\n")
    ran = neardup("duplicates", "a.csv", "b.csv", "--unique", "c.jsonl", "--format", "jsonl")
    assert ran.returncode == 1
    assert '"id":"2@row3","other_id":"5"' in ran.stdout
    assert "a.csv, line 6: 1 field, but the header has 2" in ran.stderr
    assert "Of 6 records, 2 are in c.jsonl, 3 removed" in ran.stderr


ALERTS = [f"Disk usage on web-{n} is {70 + n} percent of the volume" for n in range(20)]


def test_templates_are_removed_only_after_a_question(folder: Path) -> None:
    """Without --yes nothing is written where nobody can be asked; a report is only warned of."""
    rows = "".join(f"{n},{text}\n" for n, text in enumerate(ALERTS))
    (folder / "alerts.csv").write_text(f"id,text\n{rows}")
    before = sorted(folder.iterdir())
    command = ["duplicates", "alerts.csv", "--measure", "words"]
    for option in ("--unique", "--removed"):
        ran = neardup(*command, option, "out.csv", "-o", "page.html")
        assert ran.returncode == 3
        phrase = "20 documents (100 % of all) share “disk usage on … is … percent of the volume”"
        assert phrase in ran.stderr
        assert "differ in web-0, web-1, web-2 and in 70, 71, 72; use --equal numbers" in ran.stderr
        assert "nothing was written; add --yes to remove 19 of 20 documents" in ran.stderr
        assert sorted(folder.iterdir()) == before
    ran = neardup(*command, "--unique", "out.csv", "--yes")
    assert (ran.returncode, ran.stderr.count("a template, not copies")) == (0, 1)
    assert "1 is in out.csv, 19 removed" in ran.stderr
    ran = neardup(*command)
    assert (ran.returncode, ran.stderr.count("a template, not copies")) == (0, 1)


FERRIES = """id,text
1,The night ferry to Orla leaves the old pier at nine and takes bicycles
2,The night ferry to Orla leaves the old pier at nine and takes no bicycles
3,The night ferry to Orla leaves the north pier at ten and takes no bicycles
4,The day ferry to Orla leaves the north pier at ten and takes no cars
5,The day ferry to Senn leaves the north pier at noon and takes no cars
"""


@pytest.mark.parametrize(
    ("linkage", "texts", "outside"),
    [("complete", FERRIES, "2"), ("single", FERRIES, ""),
     ("complete", FERRIES[: FERRIES.index("3,")], ""),
     ("complete", FERRIES.replace("Senn", "Orla").replace("noon", "ten"), "1")],
)  # fmt: skip
def test_what_is_removed_for_another_cluster_is_counted(
    linkage: str, texts: str, outside: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With complete linkage, as the pairs of such records have no cluster."""
    monkeypatch.chdir(tmp_path)
    Path("ferries.csv").write_text(texts)
    options = ["--measure", "words", "--min-similarity", "0.8", "--linkage", linkage, "--yes"]
    files = ["--unique", "a.csv", "--removed", "b.csv"]
    ran = neardup("duplicates", "ferries.csv", *options, *files)
    assert ran.returncode == 0
    said = [line.split()[0] for line in ran.stderr.splitlines() if "outside of" in line]
    assert said == [outside] * bool(outside)


def test_where_no_option_helps_the_option_for_a_page_is_named(folder: Path) -> None:
    """As it is typed, with a file name; in Python it is what the result writes."""
    syllables = ("ba", "ko", "mi", "tu", "ren", "sal", "vo", "lin", "dor")
    words = map("".join, random.Random(1).choices([*product(syllables, repeat=2)], k=300))
    notice, towns = " ".join(words), "Orla Brenn Castel Dorn Elva Fjord Garda Holm Isla Jura Kolm"
    ferries = [f"The ferry to {town} leaves {notice}" for town in towns.split()]
    rows = "".join(f"{n},{text}\n" for n, text in enumerate(ferries))
    (folder / "ferries.csv").write_text(f"id,text\n{rows}")
    options = ["--measure", "estimate", "--linkage", "complete", "--min-similarity", "0.95"]
    command = ["duplicates", "ferries.csv", *options]
    ran = neardup(*command, "--unique", "u.csv")
    assert ran.returncode == 3
    option = ["--output", "report.html"]
    assert " ".join(option) in ran.stderr
    assert neardup(*command, *option).returncode == 0
    assert Path("report.html").is_file()
    found = nd.duplicates(
        "ferries.csv", measure="estimate", linkage="complete", min_similarity=0.95
    )
    assert "`write` report.html" in found.doubt
    found.write("report.html")


MEMBERS = """id,name,street,phone,born
1,Marta Linsen,12 Mill Road,,
2,Marta Linsen,12 Mill Road,555 0182,1961-03-04
3,Jonas Weber,3 Castle Lane,555 0417,1975-11-20
4,Jonas Weber,3 Castle Lane Building Two Rear,,1975-11-20
5,Otto Holm,81 Station Road,555 0911,1949-07-07
6,Lena Dahl,4 Church Road,555 0623,1990-09-15
"""
COLUMNS = ["--field", "name,street,phone:exact,born:date"]


@pytest.mark.parametrize(
    ("rule", "stay", "is_said"),
    [([], ["1", "3"], True), (["--canonical", "fullest"], ["2", "3"], False),
     (["--canonical", "longest"], ["2", "4"], False)],
)  # fmt: skip
def test_removed_records_that_are_fuller_are_counted(
    rule: list[str], stay: list[str], is_said: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a table, unless a rule is named; of the fullest rule there are none."""
    monkeypatch.chdir(tmp_path)
    Path("members.csv").write_text(MEMBERS)
    ran = neardup("duplicates", "members.csv", *COLUMNS, *rule, "--unique", "u.csv", "--yes")
    assert ran.returncode == 0
    kept = [line.split(",")[0] for line in Path("u.csv").read_text().splitlines()[1:]]
    assert kept == [*stay, "5", "6"]
    assert ("1 of the removed has more filled fields" in ran.stderr) == is_said
    assert ("--merge FILE has the values of all" in ran.stderr) == is_said
    both = ("--unique", "u.csv", "--merge", "m.csv")
    ran = neardup("duplicates", "members.csv", *COLUMNS, *rule, *both, "--yes")
    assert "more filled fields" not in ran.stderr  # of which nothing is gone
    found = nd.duplicates(
        "members.csv", fields="name,street,phone:exact,born:date", canonical="fullest"
    )
    assert found.fuller == 0


def test_texts_have_no_fields_to_fill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is said of them, and the rule is refused."""
    monkeypatch.chdir(tmp_path)
    Path("ferries.csv").write_text(FERRIES)
    ran = neardup("duplicates", "ferries.csv", "--unique", "u.csv", "--yes")
    assert "filled" not in ran.stderr
    with refusal(DataError, "values-unfit", "`canonical`"):
        nd.duplicates("ferries.csv", canonical="fullest")
