"""search, report and evaluate by other measures than words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.solr.cli.conftest import Run

NOBODY = "http://127.0.0.1:9/solr"


def test_search_by_a_measure_without_distance(run: Run, listings: Path) -> None:
    """The distance is an empty cell, or null; the columns are the same by any measure."""
    run("index", str(listings))
    found = run("search", "--id", "1", "--measure", "aligned")
    assert found.returncode == 0
    assert found.stdout.splitlines() == [
        "id\tdistance\tsimilarity\tshared\ttext",
        "2\t\t0.9661\t3\t'Blue Door Cafe' 12 Harbour St.",
    ]
    by_estimate = run("search", "--id", "1", "--measure", "estimate", "--format", "jsonl")
    [row] = map(json.loads, by_estimate.stdout.splitlines())
    assert row["distance"] is None
    assert (row["id"], row["text"]) == ("2", "'Blue Door Cafe' 12 Harbour St.")


def test_report_and_evaluate_by_a_measure(run: Run, listings: Path, tmp_path: Path) -> None:
    """A report without distances is written, read back, and equal to one made on the spot."""
    run("index", str(listings))
    known, output = tmp_path / "known.tsv", tmp_path / "pairs.csv"
    known.write_text("1\t2\n")
    criteria = ["--measure", "containment", "--min-similarity", "0.7"]
    assert run("report", *criteria, "-o", str(output)).returncode == 0
    assert output.read_text().splitlines() == [
        "id,other_id,distance,similarity", "1,2,,0.7500",
    ]  # fmt: skip
    for how in ([str(output)], criteria):
        assert "1 of 1 known pairs found" in run("evaluate", str(known), *how).stdout


@pytest.mark.parametrize("command", [["search", "--text", "x"], ["report"], ["duplicates"]])
def test_a_measure_that_is_not_known_is_wrong_usage(run: Run, command: list[str]) -> None:
    """The parser lists the measures, before a Solr is asked."""
    failed = run(*command, "--measure", "cosine", "--solr", NOBODY, COLUMNS="200")
    assert failed.returncode == 2
    known = "auto, words, jaccard, containment, passages, aligned, records, estimate"
    known += ", fields, model" if command == ["duplicates"] else ""
    assert f"'--measure': 'cosine'; choose one of {known}\n" in failed.stderr


@pytest.mark.parametrize("command", [["search", "--text", "x"], ["report"], ["duplicates"]])
def test_a_measure_that_cannot_be_is_told_before_a_solr_is_asked(
    run: Run, command: list[str]
) -> None:
    """One line says what to choose instead."""
    failed = run(*command, "--measure", "jaccard", "--max-distance", "2", "--solr", NOBODY)
    assert failed.returncode == 2
    assert failed.stderr == (
        "neardup: the measure jaccard has no distance, so --max-distance cannot be 2;"
        " set --min-similarity instead, or --measure to words\n"
    )


@pytest.mark.parametrize("measure", ["words", "jaccard"])
def test_index_says_by_what_its_texts_are_compared(run: Run, listings: Path, measure: str) -> None:
    """Unless it is words, of which it would say twice what they do."""
    said = run("index", str(listings), "--measure", measure).stderr
    other = measure != "words"
    note = f"compared by --measure {measure}; --measure words counts edited words."
    assert (note in said) == other
    assert ("--measure words" in said) == other
