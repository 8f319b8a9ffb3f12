"""Pairs by every measure: against one pair at a time, within limits, in parts."""

from __future__ import annotations

from itertools import combinations
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neardup_solr as nd
from neardup_solr import signature
from neardup_solr.testing import SIZES
from neardup_solr.types import MeasureName
from tests.command import neardup
from tests.entries import entries_of
from tests.refusals import refusal
from tests.unit.measures.test_words import slow_distance

NAMES = [name for name in get_args(MeasureName) if name != "auto"]
TEXTS = st.lists(
    st.lists(st.sampled_from(["a", "b", "word", "ü"]), max_size=8).map(" ".join), min_size=2,
    max_size=6,
)  # fmt: skip
LIMITS = st.fixed_dictionaries(
    {}, optional={"max_distance": st.integers(0, 5), "min_similarity": st.floats(0, 1)}
)


def compare(texts: list[str], **arguments: Any) -> dict[tuple[int, int], nd.Duplicate]:
    """Compare all texts, and give the pairs by the numbers of their texts."""
    pairs = nd.duplicates(list(enumerate(texts)), by="all", **arguments).pairs
    return {(int(pair.id), int(pair.other_id)): pair for pair in pairs}


@settings(deadline=None)
@given(TEXTS, LIMITS)
def test_word_distances_are_those_of_single_pairs(texts: list[str], limits: dict[str, Any]) -> None:
    """Distance and similarity equal those of a slow oracle, for all pairs within the limits."""
    most, least = limits.get("max_distance"), limits.get("min_similarity")
    if least is None:
        least = 0.5 if most is None else 0.0
    expected: dict[tuple[int, int], Any] = {}
    words = {at: text.split() for at, text in enumerate(texts) if text}
    for one, other in combinations(words, 2):
        distance = slow_distance(words[one], words[other])
        similarity = 1 - distance / max(len(words[one]), len(words[other]))
        is_within = (most is None or distance <= most) and similarity >= least - 1e-9
        if is_within or distance == 0:
            expected[one, other] = (distance, pytest.approx(similarity))
    found = compare(texts, measure="words", **limits)
    assert {ids: (pair.distance, pair.similarity) for ids, pair in found.items()} == expected


def test_pairs_beyond_one_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks change nothing."""
    texts = [f"text {n % 5} of some" for n in range(12)]
    whole = compare(texts, measure="words", min_similarity=0.0)
    monkeypatch.setattr(SIZES, "compared_by_thread", 7)
    assert compare(texts, measure="words", min_similarity=0.0) == whole
    assert len(whole) == 66


def test_estimates_are_the_share_of_equal_values() -> None:
    """The estimate of two texts is that of their signatures."""
    texts = ["one two three four five", "one two three four six", "nothing of that sort at all"]
    entries = entries_of([nd.Document(id=text, text=text) for text in texts])
    signed = [signature.decode(entry.signature) for entry in entries]
    found = compare(texts, measure="estimate", min_similarity=0.0)
    for one, other in combinations(range(3), 2):
        assert found[one, other].similarity == float(np.mean(signed[one] == signed[other]))
    assert 0.2 < found[0, 1].similarity < 0.9
    assert found[0, 2].similarity < 0.1


def test_no_pairs() -> None:
    """Nothing to verify is no error."""
    for measure in NAMES:
        assert compare([], measure=measure) == compare(["a text"], measure=measure) == {}


@pytest.mark.parametrize(
    ("measure", "similarity", "least"),
    [
        ("words", 4 / 6, 0.5),
        ("jaccard", 2 / 4, 0.5),
        ("containment", 2 / 2, 0.8),
        ("aligned", None, 0.75),
    ],
)
def test_measures_by_hand(measure: Any, similarity: float | None, least: float) -> None:
    """Each measure by its name, with the similarity that it asks for where no limit is given."""
    texts = ["one two three four five six", "one two three four", "others altogether here"]
    found = nd.duplicates(list(enumerate(texts)), measure=measure, by="all")
    assert found.min_similarity == least
    if similarity is not None:
        [pair] = found.pairs
        assert (str(pair.id), str(pair.other_id)) == ("0", "1")
        assert pair.similarity == pytest.approx(similarity)
        assert pair.distance == (2 if measure == "words" else None)


@pytest.mark.parametrize("measure", ["jaccard", "containment", "aligned"])
def test_limits_hold_for_every_measure(measure: Any) -> None:
    """What is below the smallest similarity does not count; there is no distance to limit."""
    texts = ["one two three four five six", "one two three four five seven"]
    for least, expected in ((0.0, 1), (1.0, 0)):
        assert len(compare(texts, measure=measure, min_similarity=least)) == expected
    with refusal(nd.ArgumentError, "arguments-conflict", measure, "`max_distance`"):
        compare(texts, measure=measure, max_distance=2)


def test_an_estimate_reads_no_texts() -> None:
    """Only the other measures do."""
    for measure in NAMES:
        steps: list[nd.types.Progress] = []
        compare(["one two", "one two"], measure=measure, on_progress=steps.append)
        assert ("texts" in {step.stage for step in steps}) == (measure != "estimate")


def test_a_measure_that_is_not_known_is_refused() -> None:
    """The error names those that there are."""
    with refusal(nd.ArgumentError, "argument-invalid", "`measure`", "'cosine'", *NAMES):
        compare([], measure="cosine")


def test_the_help_tells_every_default() -> None:
    """The options that bound a similarity say what each measure asks for without them."""
    least = {name: nd.duplicates([], measure=name).min_similarity for name in NAMES}
    others = ", ".join(f"{name} {bound:g}" for name, bound in least.items() if bound != 0.5)
    usual = f"{least['words']:g}; {others}"
    helps = {name: neardup(name, "--help-all").stdout for name in ("duplicates", "gate")}
    flat = {name: " ".join(text.split()) for name, text in helps.items()}
    assert f"[default: {usual};" in flat["duplicates"]
    assert f": {usual}]" in flat["gate"]
