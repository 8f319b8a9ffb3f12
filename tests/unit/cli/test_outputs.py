"""What a command writes is never one of the files that it reads."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from neardup_solr.cli.main import parser
from neardup_solr.errors import SourceError


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["duplicates", "a.csv", "-o", "a.csv"], "is both SOURCE and -o"),
        (["duplicates", "a.csv", "-o", "./sub/../a.csv"], "is both SOURCE and -o"),
        (["duplicates", "b.csv", "--against", "a.csv", "-o", "a.csv"], "both --against and -o"),
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
