"""The measure that is chosen by the texts, if none is named."""

from __future__ import annotations

import random
from typing import Any

import pytest

import neardup_solr as nd

WORDS = [
    f"{one}{other}" for one in "bcdfghklmnprst" for other in ("ala", "ero", "imo", "uno", "ati")
]


def texts(count: int, words: int, seed: int = 1) -> list[str]:
    """Texts of so many words, drawn at random."""
    draw = random.Random(seed)
    return [" ".join(draw.choices(WORDS, k=words)) for _ in range(count)]


def choose(made: list[str], **given: Any) -> nd.Duplicates:
    """What `duplicates` finds, of rows of these texts."""
    return nd.duplicates([{"id": at, "text": text} for at, text in enumerate(made)], **given)


def test_short_texts_long_ones_and_few() -> None:
    """Short texts are records, long ones and two of any kind are compared by words."""
    assert choose(texts(40, 8)).measure == "records"
    assert choose(texts(40, 60)).measure == "records"
    assert choose(texts(40, 61)).measure == "words"
    assert choose(texts(10, 8)).measure == "records"
    assert choose(texts(10, 13)).measure == choose(texts(9, 8)).measure == "words"
    assert choose(texts(2, 8)).measure == "words"
    assert choose([]).measure == "words"
    assert choose(["12 44", "7 81 9", "1 2 3"] * 20).measure == "records"


def test_the_first_texts_do_not_choose() -> None:
    """Texts from all parts are looked at: short ones before more long ones change nothing."""
    made = texts(300, 5) + texts(400, 90)
    assert choose(made).measure == "words"
    assert choose(made[::-1]).measure == "words"
    assert choose(texts(3_000, 90) + texts(2_000, 5)).measure == "words"


@pytest.mark.parametrize(
    ("given", "measure"),
    [
        ({"max_distance": 3}, "words"),
        ({"by": "shingles"}, "jaccard"),
        ({"settings": {"kind": "chars", "shingle_size": 4}}, "jaccard"),
        ({"measure": "aligned"}, "aligned"),
        ({"measure": "words"}, "words"),
        ({"min_similarity": 0.9}, "records"),
        ({"against": [{"id": "x", "text": "bala cero"}]}, "records"),
    ],
)
def test_what_else_is_asked_for(given: dict[str, Any], measure: str) -> None:
    """A limit in words needs words, candidates by shingles and characters need sets of them."""
    found = choose(texts(30, 8), **given)
    assert found.measure == measure
    if "min_similarity" in given:
        assert found.min_similarity == 0.9


def test_explain_agrees() -> None:
    """A pair of a source is explained by the measure that `duplicates` chooses."""
    made = texts(100, 9)
    rows = [{"id": at, "text": text} for at, text in enumerate([*made, made[0] + " bala"])]
    pair = next(one for one in nd.duplicates(rows).pairs if one.other_id == 100)
    facts = nd.explain(rows, 0, 100).facts
    assert facts.measure == "records"
    assert facts.similarity == pytest.approx(pair.similarity)
    long = [{"id": at, "text": text} for at, text in enumerate(texts(100, 90))]
    assert nd.explain(long, 0, 1).facts.measure == "words"
