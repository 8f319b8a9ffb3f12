"""The exit codes: scripts tell by them what to do next."""

import subprocess
import sys
from pathlib import Path

import pytest

GOOD = "id,text\n1,the quick brown fox jumps over it\n2,the quick brown fox jumps over it\n"
FORM = "Dear {} your parcel waits at the post office so please bring this letter and a passport"
NAMES = ("Ann", "Bob", "Cem", "Dora", "Eli", "Finn", "Gus", "Hana", "Ivo", "Jan")
FORMS = "".join(f"{number},{FORM.format(name)}\n" for number, name in enumerate(NAMES))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of each kind, in the working directory."""
    monkeypatch.chdir(tmp_path)
    Path("good.csv").write_text(GOOD)
    Path("partial.csv").write_text(GOOD + ",a text without an id of its own\n")
    Path("forms.csv").write_text("id,text\n" + FORMS)
    Path("empty.csv").touch()


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("good.csv --unique out.csv", 0),
        ("partial.csv --unique out.csv", 1),
        ("partial.csv --unique out.csv --max-failed 1", 0),
        ("good.csv --min-similarity 2", 2),
        ("good.csv --no-such-option", 2),
        ("good.csv --measure nothing", 2),
        ("forms.csv --measure words --unique out.csv", 3),
        ("forms.csv --measure words --unique out.csv --yes", 0),
        ("missing.csv", 3),
        ("empty.csv", 3),
        ("good.csv --text-field body", 3),
        ("good.csv --unique no-folder/out.csv", 3),
        ("-c books --solr http://127.0.0.1:9/solr", 4),
    ],
)
def test_each_end_has_its_code(words: str, code: int) -> None:
    """Done, incomplete, wrong usage, refused because of the data, and a server that is away."""
    command = [sys.executable, "-m", "neardup_solr", "duplicates", *words.split()]
    ran = subprocess.run(command, input="", capture_output=True, text=True, timeout=120)
    assert ran.returncode == code, ran.stderr
    assert Path("out.csv").exists() == (code in (0, 1) and "--unique" in words)


def test_the_reader_of_a_pipe_that_is_gone() -> None:
    """Not all records were printed."""
    source = "".join(f"{at},{GOOD.split(',', 2)[2].splitlines()[0]}\n" for at in range(9_000))
    Path("many.csv").write_text("id,text\n" + source)
    command = f"{sys.executable} -m neardup_solr duplicates many.csv --format tsv"
    ran = subprocess.run(
        f"{{ {command}; echo $? >&2; }} | head -1", shell=True, capture_output=True, text=True
    )
    assert ran.stderr.splitlines()[-1] == "1"
