"""What a search may ask for."""

from __future__ import annotations

from typing import Any

import pytest

import neardup_solr as nd
from tests.refusals import refusal


@pytest.mark.parametrize(
    ("criteria", "code", "names"),
    [
        ({"by": "words"}, "argument-invalid", ("`by`", "'words'", "shingles, bands, signatures")),
        ({"same": ("city",)}, "arguments-conflict", ("`same`", "city", "first_word", "md5_hash")),
        ({"candidates": 0}, "argument-out-of-range", ("`candidates`", "0")),
    ],
)
def test_criteria_that_cannot_be(
    unasked: nd.Collection, criteria: dict[str, Any], code: str, names: tuple[str, ...]
) -> None:
    """A choice that does not exist names those that do."""
    with refusal(nd.ArgumentError, code, *names):
        nd.search(unasked, text="x", **criteria)


@pytest.mark.parametrize(
    ("measure", "limits", "code", "names"),
    [
        ("cosine", {}, "argument-invalid", ("`measure`", "'cosine'", "auto, words")),
        ("jaccard", {"max_distance": 2}, "arguments-conflict", ("jaccard", "`max_distance`", "2")),
    ],
)
def test_measures_that_cannot_be(
    unasked: nd.Collection, measure: Any, limits: dict[str, Any], code: str, names: tuple[str, ...]
) -> None:
    """A measure that does not exist, or has no such limit, is refused with what to do."""
    with refusal(nd.ArgumentError, code, *names):
        nd.search(unasked, text="x", measure=measure, **limits)
