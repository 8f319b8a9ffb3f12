"""The command `neardup explain`."""

from __future__ import annotations

import csv
import shlex
from pathlib import Path

import orjson
import pytest

import neardup_solr as nd
from tests import ROOT
from tests.solr.cli.conftest import Run
from tests.unit.verbs.test_explain import MANY, lucky_draws, missed_by_bad_luck

UNLUCKY = missed_by_bad_luck()
TEXTS = {
    "same-1": "Blue Door Cafe, 12 Harbour Street",
    "same-2": "blue door cafe 12 HARBOUR street",
    "old": "The Blue Door, a café by the old mill of Alton, is open from May to September",
    "new": "The Blue Door, a café & bar by the old mill of Alton, is open from May to October",
    "luck-1": UNLUCKY[0],
    "luck-2": UNLUCKY[1],
    "short": "Blue Doors",
    "evil": "Blue \x1b[31mDoor [bold]Cafe[/bold], 12 Harbour Street",
}
NO_SOLR = {"NEARDUP_SOLR_URL": "http://127.0.0.1:9/solr"}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """The texts as a CSV file, with more than are all compared."""
    path = tmp_path / "texts.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("id", "text"))
        writer.writerows(TEXTS.items())
        writer.writerows((each.id, each.text) for each in MANY)
    return path


def test_file_and_collection_print_the_same(run: Run, source: Path) -> None:
    """A file needs no Solr; what is printed of a found pair is the same for a collection."""
    words = ["explain", "same-1", "same-2", "--measure", "words"]
    without = run(*words, "--source", str(source), **NO_SOLR)
    assert (without.returncode, without.stderr) == (0, "")
    assert without.stdout.startswith(
        "same-1 – same-2: found\n"
        "  duplicates finds them: they share 42 of 42 bands, within the limits.\n"
        "  They are the same word for word, after normalization.\n"
        "\n"
        "Blue Door Cafe, 12 Harbour Street\n"
    )
    run("index", str(source))
    assert run(*words).stdout == without.stdout


def test_changes_are_marked_without_colour(run: Run, source: Path) -> None:
    """In a pipe, removed and added words are marked; on request of colour they are coloured."""
    plain = run("explain", "old", "new", "--source", str(source), COLUMNS="120").stdout
    assert "a café {+bar+} by the old mill" in plain
    assert "May to [-September-] {+October+}" in plain
    assert "\x1b" not in plain
    coloured = run("explain", "old", "new", "--source", str(source), FORCE_COLOR="1",
                   TERM="xterm", COLUMNS="120").stdout  # fmt: skip
    assert "{+" not in coloured
    assert "\x1b[32mOctober\x1b[0m" in coloured
    assert "\x1b[9;31mSeptember\x1b[0m" in coloured


def test_lines_fit_and_nothing_is_interpreted(run: Run, source: Path) -> None:
    """Lines are no wider than asked for, without blanks at their ends; hostile texts are inert."""
    for ids in (("luck-1", "luck-2"), ("same-1", "evil"), ("short", "evil")):
        shown = run("explain", *ids, "--source", str(source), COLUMNS="70").stdout
        lines = [line for line in shown.splitlines() if not line.startswith("  neardup ")]
        assert max(map(len, lines)) <= 70
        assert [line for line in lines if line != line.rstrip()] == []
        assert "\x1b" not in shown
    assert "\\x1b[31m" in shown
    assert "[bold]" in shown


def test_limits_are_those_given(run: Run, source: Path) -> None:
    """Narrower limits leave a candidate out, and the advice is to widen them as far as needed."""
    words = ["explain", "old", "new", "--source", str(source), "--max-distance", "1"]
    beyond = run(*words)
    assert beyond.returncode == 0
    assert beyond.stdout.startswith("old – new: compared, but beyond the limits\n")
    assert beyond.stdout.endswith(
        "To find it, widen the limits: --measure words --max-distance 2.\n"
    )
    found = run("explain", "old", "new", "--source", str(source), "--max-distance", "2")
    assert found.stdout.startswith("old – new: found\n")


def test_json_is_the_whole_record(run: Run, source: Path) -> None:
    """For programs there is one JSON object with everything that is printed, and all changes."""
    words = ["explain", "luck-1", "luck-2", "--measure", "words", "--format", "json"]
    made = orjson.loads(run(*words, "--source", str(source)).stdout)
    assert (made["id"], made["other_id"], made["verdict"]) == ("luck-1", "luck-2", "missed")
    assert made["shared_bands"] == []
    assert made["differing_bands"] == list(range(42))
    assert made["settings"] == "n2 words3 affine128 seed42 bands42x3 sg20"
    names = [each["measure"] for each in made["measures"]]
    assert names[:5] == ["words", "jaccard", "containment", "contained", "estimate"]
    assert names[5:] == ["aligned"]
    rebuilt = " ".join(change["second"] for change in made["changes"] if change["second"])
    assert rebuilt == TEXTS["luck-2"]
    assert made["advice"].startswith("To find it: duplicates --measure words --by all")


def test_two_long_texts_are_cut(run: Run, tmp_path: Path) -> None:
    """Of long texts what is unchanged is counted, and changes beyond some are, too."""
    source = tmp_path / "long.csv"
    one, other = lucky_draws(5_000, 100)
    source.write_text(f"id,text\n1,{one}\n2,{other}\n")
    shown = run("explain", "1", "2", "--source", str(source)).stdout
    assert "more changes; --format json has all of them" in shown
    assert len(shown.splitlines()) < 100


def test_mistakes_are_one_line(run: Run, source: Path) -> None:
    """An unknown id, one id twice, or a wrong option ends in a line that says what to do."""
    run("index", str(source))
    for words, code, reason in (
        (["old", "nobody"], 3, "there is no document with the id 'nobody'"),
        (["old", "nobody", "--source", str(source)], 3, "there is no record with the id 'nobody'"),
        (["old", "old"], 2, "both ids are 'old'; give the ids of two different documents"),
        (["old", "evil", "--min-similarity", "2"], 2, "--min-similarity cannot be 2; for 2 % give"),
    ):
        failed = run("explain", *words)
        assert failed.returncode == code
        assert reason in failed.stderr
        assert len(failed.stderr.splitlines()) == 1
    assert run("explain", "old", "evil", "--format", "xml").returncode == 2
    assert run("explain", "old", "evil", "--bands", "3").returncode == 2


def test_the_page_shows_what_is_printed(run: Run, solr: nd.Collection) -> None:
    """The example of docs/explain.md is what the command prints of the demo corpus."""
    page = (ROOT / "docs" / "explain.md").read_text()
    shown = page.partition("```console\n$ neardup explain ")[2].partition("```")[0]
    command, _, expected = shown.partition("\n")
    run("index", str(ROOT / "neardup_solr" / "demo" / "listings.tsv"))
    words = shlex.split(command)
    assert words[-2] in ("-c", "--collection")
    assert words[-1] == "neardup_demo"
    printed = run("explain", *words[:-2], COLUMNS="80").stdout
    assert printed.replace(solr.place, "-c neardup_demo") == expected
