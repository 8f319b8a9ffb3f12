"""duplicates by containment among more documents than are all compared: excerpts are found."""

import logging
from pathlib import Path
from typing import Any

import pytest

import neardup_solr as nd
from neardup_solr import Document
from neardup_solr.types import MeasureName, Way
from tests.excerpts import EXCERPTS, articles, excerpts
from tests.refusals import refusal

BOTH: tuple[Way, ...] = ("shingles", "all")
FOOT = " ".join(f"foot{number}" for number in range(30))


def documents(texts: dict[str, str]) -> list[Document]:
    """Texts by id as documents."""
    return [Document(id=id, text=text) for id, text in texts.items()]


def find(*sources: dict[str, str], **arguments: Any) -> nd.Duplicates:
    """The near-duplicates by containment of all texts together."""
    texts = {id: text for source in sources for id, text in source.items()}
    return nd.duplicates(documents(texts), measure="containment", **arguments)


def count_found(found: nd.Duplicates) -> int:
    """How many excerpts are in a pair with their article."""
    ids = {frozenset((pair.id, pair.other_id)) for pair in found.pairs}
    return sum(frozenset((f"a{number}", f"e{number}")) in ids for number in range(EXCERPTS))


@pytest.mark.parametrize("changed", [0, 3])
@pytest.mark.parametrize("foot", ["", FOOT])
def test_all_excerpts_are_found_by_default(changed: int, foot: str) -> None:
    """50 words of 250, 3 of them changed, half of them a foot that all articles have: all found."""
    whole = articles(foot=foot)
    found = find(whole, excerpts(whole, changed=changed))
    assert found.by == "shingles"
    assert count_found(found) == EXCERPTS
    assert len(found.pairs) == EXCERPTS
    assert found.candidates < 10 * EXCERPTS


@pytest.mark.parametrize(("kind", "size"), [("words", 1), ("words", 5), ("chars", 5), ("stems", 3)])
def test_all_kinds_of_shingles(kind: Any, size: int) -> None:
    """Whatever shingles are made of, verbatim excerpts are found."""
    whole = articles()
    settings = nd.Settings(kind=kind, shingle_size=size)
    assert count_found(find(whole, excerpts(whole), settings=settings)) == EXCERPTS


@pytest.mark.parametrize("words", [1, 3, 4, 12])
def test_short_excerpts(words: int) -> None:
    """Excerpts of one shingle or a few are found; shorter ones share no shingle with the whole."""
    whole = articles()
    found = find(whole, excerpts(whole, words=words))
    assert count_found(found) == (0 if words < 3 else EXCERPTS)


def test_against_another_side() -> None:
    """Excerpts on one side are found in articles on the other, and nothing within a side."""
    whole = articles()
    parts = excerpts(whole, changed=2)
    twice = parts | {f"copy of {id}": text for id, text in parts.items()}
    found = nd.duplicates(documents(twice), against=documents(whole), measure="containment")
    assert found.by == "shingles"
    assert len(found.pairs) == 2 * EXCERPTS
    assert all(pair.other_id.startswith("a") for pair in found.pairs)


def test_little_memory_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 2 MB, so that shingles lie in a file and are joined in parts, the pairs are the same."""
    whole = articles(foot=FOOT)
    parts = excerpts(whole, changed=1)
    every = find(whole, parts)
    monkeypatch.setenv("NEARDUP_MEMORY", "2M")
    little = find(whole, parts)
    assert little.pairs == every.pairs
    assert count_found(little) == EXCERPTS


def test_remembered_runs_find_what_came(tmp_path: Path) -> None:
    """A second run finds the excerpts that came since, as a full run does."""
    whole = articles()
    parts = excerpts(whole)
    arguments: dict[str, Any] = {
        "remember": tmp_path / "run",
        "checkpoint": tmp_path / "checkpoint",
    }
    assert not find(whole, **arguments).pairs
    again = find(whole, parts, **arguments)
    assert again.pairs == find(whole, parts).pairs
    assert again.since is not None
    assert again.since.came == EXCERPTS


def test_jaccard_by_shingles_equals_all_pairs() -> None:
    """By Jaccard, candidates by shingles give the pairs that comparing all gives."""
    whole = dict(list(articles().items())[:150])
    changed = {f"b{id}": " ".join(text.split()[20:]) for id, text in whole.items()}
    near: dict[str, Any] = {"measure": "jaccard", "min_similarity": 0.8}
    found, every = (nd.duplicates(documents(whole | changed), by=by, **near) for by in BOTH)
    assert found.pairs == every.pairs
    assert len(found.pairs) > 140


@pytest.mark.parametrize("measure", ["words", "aligned", "estimate"])
def test_measures_that_count_no_shingles_are_refused(measure: MeasureName) -> None:
    """Candidates by shingles are for measures of which they can be sure."""
    with refusal(nd.ArgumentError, "arguments-conflict", measure, "containment"):
        nd.duplicates([], by="shingles", measure=measure)


@pytest.mark.parametrize(("by", "lines"), [("bands", 1), (None, 0), ("shingles", 0), ("words", 0)])
def test_bands_say_that_they_miss_excerpts(
    by: Way | None, lines: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Whoever chooses bands for containment is told, in one line, what they miss."""
    with caplog.at_level(logging.WARNING):
        nd.duplicates(documents({"a": "one two three four"}), measure="containment", by=by)
    told = [record.message for record in caplog.records]
    assert told == ["bands miss most excerpts from longer texts; shingles find them"] * lines
