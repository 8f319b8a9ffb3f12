"""Pairs of a collection are reviewed, by texts and by fields, and the answers are obeyed there."""

import os
import signal
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

import neardup_solr as nd
from tests.unit.verbs.test_review import ask

ROWS = [
    {"id": "1", "name": "Lantern Court", "zip": "10115", "text": "fish and chips by the harbour"},
    {"id": "2", "name": "Lantern Court Hotel", "zip": "10115", "text": "fish and chips by the sea"},
    {"id": "3", "name": "The Mill", "zip": "20095", "text": "bread and butter all day"},
]


@pytest.mark.parametrize("more", [{}, {"fields": ["name", "zip:exact"]}])
def test_a_collection_is_reviewed(
    solr: nd.Collection, tmp_path: Path, more: dict[str, Any]
) -> None:
    path, asked = tmp_path / "answers.jsonl", list[Any]()
    nd.index(ROWS, solr, keep=["name", "zip"])

    def answer(address: str) -> None:
        found = ask(address, "next").json()
        asked.append(found["question"])
        ask(address, "answer", number=found["number"], answer="different")
        os.kill(os.getpid(), signal.SIGINT)

    reviewed = nd.review(
        solr,
        answers=path,
        keep=["name"],
        on_ready=lambda address: Thread(target=answer, args=(address,)).start(),
        **more,
    )
    assert (reviewed.kept, reviewed.tally.different) == (1, 1)
    assert "Hotel" in str(asked[0]["rows"])
    found = nd.duplicates(solr, answers=path, **more)
    assert found.answered is not None
    assert len(found.answered.obeyed) == 1
    assert not found.pairs
