"""Answers about documents of a real Solr: noted by stored texts, obeyed, marked, remembered."""

from __future__ import annotations

from pathlib import Path

import pytest

import neardup_solr as nd
from tests.command import neardup

TEXTS = {
    "1": "the quick brown fox jumps over the lazy dog in the park",
    "2": "the quick brown fox jumps over the lazy dog in the garden",
    "3": "the quick brown fox jumps over the lazy cat in the garden",
    "4": "a text that has nothing to do with any of the others",
    "5": "the quick brown fox jumps over the lazy dog in the park",
}


def clusters(solr: nd.Collection) -> dict[str, int]:
    """The mark of each document that has one."""
    rows = solr.stored(list(TEXTS), ["neardup_cluster"])
    return {row["id"]: row["neardup_cluster"] for row in rows if "neardup_cluster" in row}


def test_answers_are_obeyed_in_a_collection(solr: nd.Collection, tmp_path: Path) -> None:
    """Marks and remembered runs agree with them, until a text changes, which is told."""
    path, remembered = tmp_path / "answers.jsonl", tmp_path / "remembered"
    nd.index([{"id": id, "text": text} for id, text in TEXTS.items()], solr)
    with pytest.raises(nd.errors.DocumentNotFound):
        nd.answer(solr, "1", "9", "same", answers=path)
    assert not path.exists()
    nd.answer(solr, "1", "5", "different", answers=path)
    ran = neardup("answer", "4", "1", "same", "--answers", str(path), *place(solr))
    assert "4 – 1 recorded as same" in ran.stderr
    hashes = {row["id"]: row["md5_hash"] for row in solr.stored(list(TEXTS), ["md5_hash"])}
    second, first = nd.Answers(path).latest
    assert (first.hash, first.other_hash) == (hashes["1"], hashes["5"])
    assert (second.hash, second.other_hash) == (hashes["4"], hashes["1"])
    # The same texts in a file have the same hashes.
    rows = [{"id": id, "text": text} for id, text in TEXTS.items()]
    assert nd.duplicates(rows, answers=path).clusters == nd.duplicates(solr, answers=path).clusters
    for _ in range(2):
        found = nd.duplicates(solr, answers=path, remember=remembered)
        assert str(found.answered) == "2 answers applied"
        assert found.labels["1"] == found.labels["4"] != found.labels.get("5")
    ran = neardup("duplicates", "--mark", "--yes", "--answers", str(path), *place(solr))
    assert ran.returncode == 0, ran.stderr
    marked = clusters(solr)
    assert marked["1"] == marked["4"] != marked.get("5")
    nd.index([{"id": "5", "text": f"{TEXTS['5']} today"}], solr)
    found = nd.duplicates(solr, answers=path, remember=remembered)
    assert found.answered is not None
    assert [one.pair[:2] for one in found.answered.changed] == [("1", "5")]
    assert found.labels["1"] == found.labels["5"]
    assert found.clusters == nd.duplicates(solr, answers=path).clusters


def place(solr: nd.Collection) -> tuple[str, ...]:
    """The options that name a collection."""
    return ("--solr", solr.base, "-c", solr.name)
