"""Columns and formats of files that are named where only a collection is read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import neardup_solr as nd
from neardup_solr.errors import ArgumentError
from tests.command import neardup
from tests.refusals import refusal

DOCUMENTS = [{"ref": str(n), "body": f"the night ferry to Orla number {n}"} for n in range(4)]
VERBS: dict[str, Callable[..., Any]] = {
    "duplicates": nd.duplicates,
    "tune": nd.tune,
    "explain": lambda solr, **columns: nd.explain(solr, "1", "2", **columns),
    "review": lambda solr, **columns: nd.review(solr, answers="answers.jsonl", **columns),
    "answer": lambda solr, **columns: nd.answer(
        solr, "1", "2", "same", answers="answers.jsonl", **columns
    ),
}


@pytest.fixture
def filled(solr: nd.Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> nd.Collection:
    """A collection with documents, and an empty working folder."""
    monkeypatch.chdir(tmp_path)
    nd.index(DOCUMENTS, solr, id="ref", text="body")
    return solr


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("column", [{"id": "ref"}, {"text": "body"}, {"text": ["a", "b"]}])
def test_columns_are_refused(verb: str, column: dict[str, Any], filled: nd.Collection) -> None:
    """They would be ignored; nothing is written."""
    (name,) = column
    with refusal(ArgumentError, "arguments-conflict", f"`{name}`"):
        VERBS[verb](filled, **column)
    assert not Path("answers.jsonl").exists()


def test_columns_of_the_other_side_count(filled: nd.Collection) -> None:
    """A source beside a collection has columns, on either side."""
    columns: dict[str, Any] = {"id": "ref", "text": "body"}
    assert len(nd.duplicates(filled, against=DOCUMENTS, **columns).pairs) >= 4
    assert len(nd.duplicates(DOCUMENTS, against=filled, **columns).pairs) >= 4
    with refusal(ArgumentError, "arguments-conflict", "`id`"):
        nd.duplicates(filled, against=filled, id="ref")


@pytest.mark.parametrize(
    "options",
    [["--id-field", "ref"], ["--text-field", "body"], ["--delimiter", ";"],
     ["--encoding", "cp1252"], ["--skip-rows", "1"]],
)  # fmt: skip
def test_options_for_files_are_refused(options: list[str], filled: nd.Collection) -> None:
    """By the command in a line that names them; with a file they are in their place."""
    ran = neardup("duplicates", "--solr", filled.url, *options)
    assert ran.returncode == 2
    assert options[0] in ran.stderr
    Path("a.csv").write_text("ref;body\n1;the night ferry\n")
    files = ["--against", "a.csv", "--id-field", "ref", "--text-field", "body", "--delimiter", ";"]
    assert neardup("duplicates", "--solr", filled.url, *files).returncode == 0
