"""What a search may ask for."""

from __future__ import annotations

import pytest

import neardup_solr as nd


@pytest.mark.parametrize(
    ("criteria", "reason"),
    [
        ({"by": "words"}, "--by words"),
        ({"same": ("city",)}, "--same city"),
        ({"rows": 0}, "0 rows"),
    ],
)
def test_criteria_that_cannot_be(criteria: dict[str, object], reason: str) -> None:
    """A choice that does not exist names those that do."""
    with pytest.raises(nd.SettingsError, match=reason):
        nd.Criteria(**criteria)  # type: ignore[arg-type]  # a table of mixed values


@pytest.mark.parametrize(
    ("measure", "limits", "reason"),
    [
        ("cosine", nd.Limits(), "--measure cosine is not known; choose one of words, jaccard"),
        ("jaccard", nd.Limits(max_distance=2), "the measure jaccard has no distance"),
    ],
)
def test_measures_that_cannot_be(measure: str, limits: nd.Limits, reason: str) -> None:
    """A measure that does not exist, or has no such limit, is refused with what to do."""
    with pytest.raises(nd.SettingsError, match=reason):
        nd.Criteria(measure=measure, limits=limits)
