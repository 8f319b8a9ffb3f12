"""What a command writes is never one of the files that it reads."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from neardup_solr.cli.main import parser
from neardup_solr.errors import SourceError


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["duplicates", "a.csv", "-o", "a.csv"], "is both `source` and `output`"),
        (["duplicates", "a.csv", "-o", "./sub/../a.csv"], "is both `source` and `output`"),
        (
            ["duplicates", "b.csv", "--against", "a.csv", "-o", "a.csv"],
            "both `against` and `output`",
        ),
        (["signatures", "a.parquet", "-o", "a.parquet"], "both the source and the output"),
    ],
)
def test_a_source_is_not_written_over(
    words: list[str], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line says so before any work, and the file is as it was."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    for name in ("a.csv", "b.csv", "a.parquet"):
        (tmp_path / name).write_text("id,text\n1,one two three\n")
    ran = CliRunner().invoke(parser(), words)
    assert isinstance(ran.exception, SourceError)
    assert f"{reason}; name two files" in str(ran.exception)
    assert (tmp_path / words[-1]).read_text() == "id,text\n1,one two three\n"
    assert len(list(tmp_path.iterdir())) == 4


def test_texts_and_columns_go_to_each_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that are printed have them too; a table has blanks for the breaks between columns."""
    monkeypatch.chdir(tmp_path)
    rows = "1,The ferry,a b c d e f g,Rome\n2,The ferry,a b c d e f h,Oslo\n"
    (tmp_path / "a.csv").write_text(f"id,title,body,city\n{rows}")
    words = ["duplicates", "a.csv", "--text-field", "title,body", "--keep", "city", "--texts"]
    ran = CliRunner().invoke(parser(), [*words, "-o", "p.csv", "-o", "r.html"])
    assert (ran.exit_code, ran.stdout) == (0, "")
    assert "Wrote p.csv and r.html." in ran.stderr
    header, *_ = (tmp_path / "p.csv").read_text().splitlines()
    assert header.endswith(",cluster,text,city,other_text,other_city")
    assert "a b c d e f g" in (tmp_path / "r.html").read_text()
    ran = CliRunner().invoke(parser(), [*words, "--format", "tsv"])
    assert ran.stdout.endswith("\tThe ferry a b c d e f g\tRome\tThe ferry a b c d e f h\tOslo\n")
    ran = CliRunner().invoke(parser(), [*words, "--format", "table"])
    assert "The ferry a b c d e f g" in ran.stdout
    assert "\\n" not in ran.stdout


def test_pairs_that_are_printed_of_an_evaluation(tmp_path: Path) -> None:
    """The first ones, in a pipe as well; all of them go to a file."""
    known, found, wrong = (tmp_path / name for name in ("known.tsv", "found.tsv", "wrong.tsv"))
    known.write_text("a\tb\n")
    found.write_text("".join(f"a{at}\tb{at}\n" for at in range(500)))
    words = ["evaluate", str(known), str(found), "-o", str(wrong)]
    for given in (words, words[:-2]):
        said = CliRunner().invoke(parser(), given).stdout
        assert "false (500): a0 – b0, " in said
        assert said.endswith(", and 490 more\n")
    assert len(wrong.read_text().splitlines()) == 1 + 1 + 500
