"""What a search may ask for."""

from __future__ import annotations

from typing import Any

import pytest

import neardup_solr as nd


@pytest.mark.parametrize(
    ("criteria", "reason"),
    [
        ({"by": "words"}, "`by` cannot be 'words'; choose one of shingles, bands, signatures, p"),
        (
            {"same": ("city",)},
            "`same` names fields that a text does not have: city; name first_word or"
            " md5_hash, or use `fq`",
        ),
        ({"candidates": 0}, "`candidates` cannot be 0; give 1 or more"),
    ],
)
def test_criteria_that_cannot_be(
    unasked: nd.Collection, criteria: dict[str, Any], reason: str
) -> None:
    """A choice that does not exist names those that do."""
    with pytest.raises(nd.ArgumentError, match=reason):
        nd.search(unasked, text="x", **criteria)


@pytest.mark.parametrize(
    ("measure", "limits", "reason"),
    [
        ("cosine", {}, "`measure` cannot be 'cosine'; choose one of auto, words"),
        (
            "jaccard",
            {"max_distance": 2},
            "the measure jaccard has no distance, so `max_distance` cannot be 2; set `min_sim",
        ),
    ],
)
def test_measures_that_cannot_be(
    unasked: nd.Collection, measure: Any, limits: dict[str, Any], reason: str
) -> None:
    """A measure that does not exist, or has no such limit, is refused with what to do."""
    with pytest.raises(nd.ArgumentError, match=reason):
        nd.search(unasked, text="x", measure=measure, **limits)
