"""nd.search with passages: which passage of which document is reused."""

from __future__ import annotations

import json
import random

import pytest

import neardup_solr as nd
from neardup_solr.errors import ArgumentError, SettingsError
from tests.command import neardup
from tests.refusals import refusal

DRAW = random.Random(5)
WORDS = ["".join(DRAW.choices("abcdefghijklmnopqrst", k=6)) for _ in range(1_500)]
TEXTS = {
    "whole": " ".join(WORDS[:600]),
    "other": " ".join(WORDS[600:1_000]),
    "reuse": " ".join([*WORDS[1_000:1_300], *WORDS[200:260], *WORDS[1_300:]]),
    "short": " ".join(WORDS[300:315]),
}


@pytest.fixture
def collection(solr: nd.Collection) -> nd.Collection:
    documents = [nd.Document(id=id, text=text) for id, text in TEXTS.items()]
    nd.index(documents, solr, settings={"fields": "all"})
    return solr


def test_a_reused_passage_is_found_in_a_text_that_is_unlike(collection: nd.Collection) -> None:
    """By id and by text; what shares a passage comes first, its places are those of both texts."""
    assert nd.search(collection, id="reuse") == []
    (match,) = nd.search(collection, id="reuse", passages=True)
    (passage,) = match.passages
    assert (match.id, passage.id, passage.other_id) == ("whole", "reuse", "whole")
    assert (passage.words, passage.relation) == (60, "shares")
    assert TEXTS["reuse"][passage.start : passage.end] == " ".join(WORDS[200:260])
    assert TEXTS["whole"][passage.other_start : passage.other_end] == passage.other_text
    typed = f"{TEXTS['other']} {' '.join(WORDS[210:240])}"
    matches = nd.search(collection, text=typed, passages=True)
    assert [(each.id, each.passages[0].words) for each in matches] == [
        ("other", 400), ("reuse", 30), ("whole", 30),
    ]  # fmt: skip
    assert matches[0].passages[0].relation == "part of" or matches[0].similarity > 0.9
    assert all(not each.passages for each in nd.search(collection, text=typed))


def test_a_match_may_share_no_passage(collection: nd.Collection) -> None:
    """A near-duplicate of fewer than 20 words stays, without passages."""
    (match,) = nd.search(collection, text=TEXTS["short"], passages=True, measure="words")
    assert (match.id, match.passages, match.similarity) == ("short", (), 1.0)


def test_passages_may_be_shorter(collection: nd.Collection) -> None:
    """`min_words` says how many words a passage has at least."""
    typed = " ".join(["nothing", *WORDS[1_010:1_020], "else"])
    assert nd.search(collection, text=typed, passages=True) == []
    (match,) = nd.search(collection, text=typed, passages=True, min_words=8)
    assert (match.id, match.passages[0].words) == ("reuse", 10)
    with refusal(ArgumentError, "arguments-conflict", "`min_words`", "`passages`"):
        nd.search(collection, text=typed, min_words=8)
    with refusal(ArgumentError, "argument-out-of-range", "`min_words`", 4):
        nd.search(collection, text=typed, passages=True, min_words=4)


def test_the_command_prints_passages(collection: nd.Collection) -> None:
    """As a table, or a row for each passage with the columns of `neardup passages`."""
    place = ["-c", collection.name, "--solr", collection.base]
    command = ["search", "--id", "reuse", "--passages", *place]
    (row,) = neardup(*command, "--format", "jsonl").stdout.splitlines()
    passage = json.loads(row)
    assert (passage["other_id"], passage["words"]) == ("whole", 60)
    assert TEXTS["whole"][passage["other_start"] : passage["other_end"]] == passage["text"]
    assert "shares" in neardup(*command, "--format", "table").stdout


def test_passages_need_shingles_or_a_way(solr: nd.Collection) -> None:
    """A collection of bands alone is searched by them, if `by` says so."""
    nd.index([nd.Document(id=id, text=text) for id, text in TEXTS.items()], solr)
    with pytest.raises(SettingsError):
        nd.search(solr, id="reuse", passages=True)
    assert nd.search(solr, id="whole", by="bands", passages=True) == []
