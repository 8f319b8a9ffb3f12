"""passages of a collection, and duplicates of one by passages."""

from __future__ import annotations

import json
from pathlib import Path

import neardup_solr as nd
from tests.solr.cli.conftest import Run
from tests.unit.verbs.test_passages import make_text, make_words, misread

WHOLE = " ".join(make_words(150, 1))


def write_articles(path: Path) -> Path:
    """A text, its scan, an excerpt, and another text."""
    texts = {"whole": WHOLE, "scan": misread(WHOLE, 0.08, 3),
             "part": " ".join(make_words(150, 1)[40:90]), "other": make_text(100, 9)}  # fmt: skip
    rows = (json.dumps({"id": id, "text": text}) for id, text in texts.items())
    path.write_text("".join(f"{row}\n" for row in rows), "utf-8")
    return path


def test_passages_of_a_collection(run: Run, solr: nd.Collection, tmp_path: Path) -> None:
    """Those of the file that it was made from, and of the collection against a file."""
    source = write_articles(tmp_path / "articles.jsonl")
    run("index", str(source))
    by_file = {frozenset((each.id, each.other_id)): each.words for each in nd.passages(source)}
    of_collection = nd.passages(solr)
    assert {frozenset((each.id, each.other_id)): each.words for each in of_collection} == by_file
    assert len(by_file) == 3
    listed = run("passages", "--against", str(source), "--fq", "id:part", "--format", "jsonl")
    assert listed.returncode == 0, listed.stderr
    rows = [json.loads(line) for line in listed.stdout.splitlines()]
    assert {(row["id"], row["other_id"], row["relation"]) for row in rows} == {
        ("part", "part", "copy"), ("part", "whole", "part of"), ("part", "scan", "part of")
    }  # fmt: skip
    refused = run("passages", "--strike", str(tmp_path / "clean.jsonl"))
    assert (refused.returncode, refused.stdout) == (2, "")


def test_duplicates_of_a_collection_by_passages(run: Run, tmp_path: Path) -> None:
    """Scan, excerpt and text are a cluster, of which the longest is kept."""
    run("index", str(write_articles(tmp_path / "articles.jsonl")), "--fields", "all")
    found = run("duplicates", "--measure", "passages", "--canonical", "longest", "--mark", "--yes")
    assert found.returncode == 0, found.stderr
    left = run("search", "--text", WHOLE, "--by", "shingles", "--measure", "passages",
               "--format", "jsonl")  # fmt: skip
    hits = {row["id"]: row["similarity"] for row in map(json.loads, left.stdout.splitlines())}
    assert {*hits} == {"whole", "scan", "part"}
    assert hits["part"] == hits["whole"] == 1.0
