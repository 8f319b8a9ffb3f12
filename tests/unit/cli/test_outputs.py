"""What a command writes is never one of the files that it reads."""

from pathlib import Path

import pytest

import neardup_solr as nd
from neardup_solr.errors import SourceError
from tests.command import neardup

ROWS = "id,text\n1,one two three\n2,one two three\n"
ANSWER = '{"id": "1", "other_id": "2", "answer": "same"}\n'


@pytest.mark.parametrize(
    "words",
    [
        "duplicates a.csv -o a.csv",
        "duplicates a.csv -o p.csv -o ./sub/../a.csv",
        "duplicates b.csv --against a.csv -o a.csv",
        "duplicates b.csv --against a.csv --unique a.csv",
        "duplicates a.csv --removed a.csv",
        "duplicates a.csv --remember a.csv",
        "duplicates a.csv --answers x.jsonl -o x.jsonl",
        "duplicates a.csv --answers x.jsonl --rejected x.jsonl",
        "duplicates sub -o sub/c.csv",
        "duplicates sub -o sub/new.csv",
        "duplicates a.csv --against sub --unique sub/new.csv",
        "duplicates a.csv -o link.csv",
        "gate a.csv -o a.csv",
        "gate x.jsonl --held x.jsonl",
        "gate a.csv --answers x.jsonl --held x.jsonl",
        "gate a.csv --answers x.jsonl -o x.jsonl",
        "report --answers x.jsonl -o x.jsonl",
        "evaluate a.csv b.csv -o b.csv",
        "signatures a.parquet -o a.parquet",
        "signatures sub -o sub/new.parquet",
        "tune a.csv --answers x.jsonl -o a.csv",
        "tune a.csv --against b.csv --answers x.jsonl -o b.csv",
        "tune a.csv --answers x.jsonl -o x.jsonl",
        "answer --answers x.jsonl -o x.jsonl",
        "answer 1 2 same --answers a.csv --source a.csv",
        "review a.csv --answers a.csv",
        "review b.csv --against a.csv --answers a.csv",
        "index sub --job sub/job",
    ],
)
def test_a_source_is_not_written_over(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line says so before any work, and all files are as they were."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    for name in ("a.csv", "b.csv", "sub/c.csv", "a.parquet"):
        (tmp_path / name).write_text(ROWS)
    (tmp_path / "x.jsonl").write_text(ANSWER)
    (tmp_path / "link.csv").symlink_to("a.csv")
    before = {path: path.is_file() and path.read_text() for path in tmp_path.rglob("*")}
    ran = neardup(*words.split())
    assert (ran.returncode, ran.stdout, len(ran.stderr.splitlines())) == (2, "", 1), ran.stderr
    assert {path: path.is_file() and path.read_text() for path in tmp_path.rglob("*")} == before


def test_a_result_is_not_written_over_its_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor into a folder that it was read from."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    for name in ("a.csv", "b.csv", "sub/c.csv"):
        (tmp_path / name).write_text(ROWS)
    found = nd.duplicates("a.csv", against="b.csv")
    for name in ("a.csv", "b.csv"):
        with pytest.raises(SourceError):
            found.write(name)
    with pytest.raises(SourceError):
        nd.duplicates("sub").write("sub/pairs.csv")
    with pytest.raises(SourceError):
        nd.signatures("sub", "sub/s.parquet")
    found.write("pairs.csv")
    names = sorted(path.name for path in tmp_path.rglob("*.*"))
    assert names == ["a.csv", "b.csv", "c.csv", "pairs.csv"]
    assert {(tmp_path / name).read_text() for name in ("a.csv", "b.csv", "sub/c.csv")} == {ROWS}


def test_a_file_of_others_is_no_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stays, and nothing is said to be in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text(ROWS)
    kept = tmp_path / "p.csv.unfinished"
    kept.write_text("notes of mine")
    ran = neardup("duplicates", "a.csv", "-o", "p.csv")
    assert (ran.returncode, len(ran.stderr.splitlines())) == (3, 1), ran.stderr
    assert kept.read_text() == "notes of mine"
    assert not (tmp_path / "p.csv").exists()


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    """Of the file that was typed, not of the one for finished comparisons beside it."""
    (tmp_path / "a.csv").write_text(ROWS)
    output = tmp_path / "none" / "p.csv"
    ran = neardup("duplicates", str(tmp_path / "a.csv"), "-o", str(output))
    assert (ran.returncode, len(ran.stderr.splitlines())) == (3, 1), ran.stderr
    assert ran.stderr.startswith(f"neardup: {output}: ")
    assert "create" in ran.stderr


def test_texts_and_columns_go_to_each_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that are printed have them too; a table has blanks for the breaks between columns."""
    monkeypatch.chdir(tmp_path)
    rows = "1,The ferry,a b c d e f g,Rome\n2,The ferry,a b c d e f h,Oslo\n"
    (tmp_path / "a.csv").write_text(f"id,title,body,city\n{rows}")
    words = ["duplicates", "a.csv", "--text-field", "title,body", "--keep", "city", "--texts"]
    ran = neardup(*words, "-o", "p.csv", "-o", "r.html")
    assert (ran.returncode, ran.stdout) == (0, "")
    assert "Wrote p.csv and r.html." in ran.stderr
    header, *_ = (tmp_path / "p.csv").read_text().splitlines()
    assert header.endswith(",cluster,relation,text,city,other_text,other_city")
    assert "a b c d e f g" in (tmp_path / "r.html").read_text()
    ran = neardup(*words, "--format", "tsv")
    assert ran.stdout.endswith("\tThe ferry a b c d e f g\tRome\tThe ferry a b c d e f h\tOslo\n")
    ran = neardup(*words, "--format", "table")
    assert "The ferry a b c d e f g" in ran.stdout
    assert "\\n" not in ran.stdout


def test_pairs_that_are_printed_of_an_evaluation(tmp_path: Path) -> None:
    """The first ones, in a pipe as well; all of them go to a file."""
    known, found, wrong = (tmp_path / name for name in ("known.tsv", "found.tsv", "wrong.tsv"))
    known.write_text("a\tb\n")
    found.write_text("".join(f"a{at}\tb{at}\n" for at in range(500)))
    words = ["evaluate", str(known), str(found), "-o", str(wrong)]
    for given in (words, words[:-2]):
        said = neardup(*given).stdout
        assert "false (500): a0 – b0, " in said
        assert said.endswith(", and 490 more\n")
    assert len(wrong.read_text().splitlines()) == 1 + 1 + 500
