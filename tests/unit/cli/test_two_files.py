"""Two files: which one is to blame, and what is said if they are no table."""

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest

import neardup_solr as nd
from tests.command import neardup
from tests.refusals import refusal

NAMES = ("Ann Baker", "Bob Carter", "Cem Demir", "Dora Egger", "Eli Fisher", "Finn Grant")
CITIES = ("Rome", "Oslo", "Bern", "Kyiv", "Riga", "Cork")
WORDS = [
    "green",
    "bicycle",
    "with",
    "seven",
    "gears",
    "hardly",
    "used",
    "bought",
    "last",
    "spring",
    "in",
    "the",
    "old",
    "town",
]
PEOPLE = [
    (f"{name} {city}", city, f"19{at:02}-03-0{1 + number}")
    for number, name in enumerate(NAMES)
    for at, city in enumerate(CITIES, 40 + number)
]


def _table(path: str, header: str, rows: Sequence[tuple[str, ...]]) -> None:
    lines = [header, *(f"{at},{','.join(row)}" for at, row in enumerate(rows, 1))]
    Path(path).write_text("\n".join(lines) + "\n")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of texts and of people, and files that are none, in the working directory."""
    monkeypatch.chdir(tmp_path)
    texts = [(" ".join([*WORDS[at:], *WORDS[:at], str(at)]),) for at in range(len(WORDS))]
    _table("texts.csv", "id,text", texts)
    _table("notes.csv", "nr,description", texts[::2])
    _table("people.csv", "nr,name,city,born", PEOPLE)
    _table("leute.csv", "Nummer,Vorname,Ort,geboren", PEOPLE[::3])
    Path("empty.csv").touch()
    Path("blank.csv").write_text("\n \n\n")
    Path("header.csv").write_text("Nummer,Vorname\n")
    Path("page.csv").write_bytes(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<<>>\nendobj\n")


@pytest.mark.parametrize("verb", ["duplicates", "review"])
@pytest.mark.parametrize("other", ["none.csv", "empty.csv", "blank.csv", "header.csv", "page.csv"])
@pytest.mark.parametrize("first", ["texts.csv", "people.csv"])
def test_the_side_that_cannot_be_compared_is_blamed(first: str, other: str, verb: str) -> None:
    """Whether the first has a text or columns that are chosen, and on either side."""
    answers = ["--answers", "kept.jsonl"] if verb == "review" else []
    for words in ([first, "--against", other], [other, "--against", first]):
        ran = neardup(verb, *words, *answers)
        assert (ran.returncode, ran.stdout) == (3, "")
        assert ran.stderr.splitlines()[-1].startswith(f"neardup: {other}: ")
    if other == "header.csv":
        assert " rows" in ran.stderr
    with pytest.raises(nd.SourceError) as refused:
        nd.duplicates(first, against=other)
    assert refused.value.source == other


def test_no_rows_are_no_error_if_the_columns_fit() -> None:
    """A table that fills each day may be empty once."""
    Path("none.csv").write_text("nr,name,city,born\n")
    assert neardup("duplicates", "people.csv", "--against", "none.csv").returncode == 0


@pytest.mark.parametrize(
    ("first", "second"), [("texts.csv", "notes.csv"), ("people.csv", "leute.csv")]
)
def test_two_files_with_other_columns_are_two_sides(first: str, second: str) -> None:
    """The line says how they are compared with each other, and that runs."""
    ran = neardup("duplicates", first, second)
    assert ran.returncode == 3
    (step,) = re.findall("--against, and pair the columns with (.+)", ran.stderr)
    again = neardup("duplicates", first, "--against", second, *shlex.split(step))
    assert again.returncode == 0, again.stderr
    assert len(again.stdout.splitlines()) > 3
    with pytest.raises(nd.SourceError, match=f"{second}.*`against`"):
        nd.duplicates([first, second])


def test_several_files_with_other_columns_are_no_table() -> None:
    """More than two cannot be two sides: nothing is said of them."""
    ran = neardup("duplicates", "texts.csv", "notes.csv", "leute.csv")
    assert ran.returncode == 3
    assert "--against" not in ran.stderr
    assert "notes.csv: " in ran.stderr


@pytest.mark.parametrize("more", ["--by shingles", "--max-distance 2"])
def test_the_advice_to_remember_leads_to_what_is_remembered(more: str) -> None:
    """The text is compared by a measure whose results still hold in the next run."""
    words = ["duplicates", "people.csv", "--remember", "known", *more.split()]
    ran = neardup(*words)
    assert ran.returncode == 3
    options = re.findall(r"--text-field '[^']+'|--measure \w+", ran.stderr)
    for _ in range(2):
        ran = neardup(*words, *shlex.split(" ".join(options)))
        assert ran.returncode == 0, ran.stderr
    assert "nothing changed" in ran.stderr


def test_a_measure_that_remembers_nothing_names_one_that_does() -> None:
    """In the line that says so."""
    ran = neardup("duplicates", "texts.csv", "--remember", "known", "--measure", "records")
    assert not Path("known").exists()
    *_, last = ran.stderr.splitlines()
    (measure,) = re.findall("With (--measure .+), comparisons", last)
    for _ in range(2):
        ran = neardup("duplicates", "texts.csv", "--remember", "known", *measure.split())
    assert "nothing changed" in ran.stderr


def test_nothing_in_memory_is_compared_with_all() -> None:
    """An empty list has no columns: those of the other side are chosen; an empty table has some."""
    rows = [{"nr": at, "title": f"{name} {city}"} for at, (name, city, _) in enumerate(PEOPLE)]
    assert nd.duplicates(rows, against=[]).pairs == nd.duplicates([], against=rows).pairs == ()
    with refusal(nd.SourceError, "file-empty", "DataFrame"):
        nd.duplicates(rows, against=pd.DataFrame({"a": [], "b": []}))


def test_texts_without_columns_are_answered_by_a_step_that_runs() -> None:
    """Texts by their ids."""
    texts = [" ".join([*WORDS, str(at)]) for at in range(3)]
    by_id = dict(zip("abc", texts, strict=True))
    with pytest.raises(nd.SourceError, match=r"items\(\)"):
        nd.duplicates(by_id)
    assert len(nd.duplicates(texts)) == len(nd.duplicates(by_id.items())) > 0


def test_a_text_is_no_name_of_a_column() -> None:
    """The first record of a file of a column without a header is not lost."""
    texts = [" ".join([*WORDS[at:], *WORDS[:at]]) for at in range(9)]
    Path("bare.csv").write_text("\n".join(texts) + "\n")
    ran = neardup("duplicates", "bare.csv")
    assert (ran.returncode, ran.stdout) == (3, "")
    assert "header" in ran.stderr
    for name in ("description", "What do you like about it?"):
        Path("bare.csv").write_text("\n".join([name, *texts]) + "\n")
        assert " among 9 documents" in neardup("duplicates", "bare.csv").stderr


def test_standard_input_may_be_the_second_file() -> None:
    """It is a source, and no name of a collection; but it is read once."""
    stdin = Path("texts.csv").read_text()
    ran = neardup("duplicates", "texts.csv", "--against", "-", input=stdin)
    assert ran.returncode == 0
    assert f"{len(WORDS)} are exact copies" in ran.stderr
    assert neardup("duplicates", "-", "--against", "-", input=stdin).returncode == 2


def test_the_first_of_two_files_with_other_columns_is_told_as_well() -> None:
    """If neither is read as it is, the step that is printed compares them."""
    table = Path("notes.csv").read_text()
    Path("notas.csv").write_text(table.replace("nr,description", "Nummer,text"))
    with refusal(nd.SourceError, "column-missing", "notes.csv", "`against`") as caught:
        nd.duplicates(["notas.csv", "notes.csv"])
    typed = re.search(r"`text` '(\S+)'", str(caught.value))
    assert typed is not None
    assert len(nd.duplicates("notas.csv", against="notes.csv", text=typed[1]).pairs) >= 7


@pytest.mark.parametrize("name", ["-x.csv", "--texts.csv", "-- texts.csv"])
def test_a_file_may_begin_like_an_option(name: str) -> None:
    Path(name).write_bytes(Path("texts.csv").read_bytes())
    ran = neardup("duplicates", name)
    assert ran.returncode == 2
    (typed,) = shlex.split(ran.stderr.strip().rpartition("name it ")[2])
    assert neardup("duplicates", typed).returncode == 0
