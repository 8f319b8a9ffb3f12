"""The checker of histories: it sees what is lost, repeated, dead too often or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from tests.faults.history import History, checkpointed, judged, letters
from tests.faults.invented import Invented, invent
from tests.faults.killer import moments

FILE = Invented(Path("a file"), good=["1", "2", "3"], bad=["4"])


@pytest.mark.parametrize(
    ("found", "dead", "wrong"),
    [
        (["1", "2", "3"], ["4"], ""),
        (["1", "2"], ["4"], "lost"),
        (["1", "2", "3", "5"], ["4"], "strange"),
        (["1", "2", "3", "4"], ["4"], "strange"),
        (["1", "2", "3", "2"], ["4"], "repeated"),
        (["1", "2", "3"], [], "dead_missing"),
        (["1", "2", "3"], ["4", "4"], "dead_more"),
        (["1", "2"], ["4", "3"], "dead_more"),
    ],
)
def test_what_is_wrong_is_named(found: list[str], dead: list[str], wrong: str) -> None:
    """Each document is found once or dead once, and nothing else is there."""
    verdict = judged(FILE, found, dead)
    assert verdict.is_right() == (not wrong)
    names = ("lost", "strange", "repeated", "dead_missing", "dead_more")
    assert [name for name in names if getattr(verdict, name)] == ([wrong] if wrong else [])


def test_what_is_sent_is_counted() -> None:
    """Documents by id, however they are batched; a search and a commit are no documents."""
    history = History()
    history("/solr/x/update?a=b", b'[{"id":"1"},{"id":"2"}]')
    history("/solr/x/update", b'[{"id":"2"},{"id":"3"}]')
    history("/solr/x/update", b'{"commit":{}}')
    history("/solr/x/select", b'[{"id":"9"}]')
    assert (sorted(history.sent), history.resent(), history.commits) == (["1", "2", "3"], 1, 1)
    assert history.wait_for(3, 0)
    assert not history.wait_for(4, 0)


def test_invented_documents(tmp_path: Path) -> None:
    """So many records with ids of their own; each fifth is bad, and the same seed says the same."""
    made = invent(tmp_path / "a.jsonl", 20, every_bad=5)
    records = [json.loads(line) for line in made.path.read_text().splitlines()]
    assert [one["id"] for one in records if isinstance(one["text"], str)] == made.good
    assert [one["id"] for one in records if isinstance(one["text"], int)] == made.bad
    assert (len(made.good), len(made.bad)) == (16, 4)
    again = invent(tmp_path / "b.jsonl", 20, every_bad=5)
    assert again.path.read_bytes() == made.path.read_bytes()


def test_moments_are_spread() -> None:
    """One in each part, in order, and none at the end."""
    found = moments(1_000, 4, Random(1))
    assert [at // 200 for at in found] == [0, 1, 2, 3]


def test_a_job_that_has_not_begun(tmp_path: Path) -> None:
    """Nothing is checkpointed, and nobody is dead."""
    assert (checkpointed(tmp_path), letters(tmp_path)) == (0, [])
