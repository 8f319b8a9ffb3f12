"""The types of `nd.types`, and the page that has all types which users hold."""

from __future__ import annotations

import pytest

import neardup_solr as nd
from website import ROOT, library


def test_whatever_users_hold_is_on_a_page() -> None:
    """The reference has classes and choices, and docs/library.md what stands for other types."""
    held = library.held_types()
    assert len(held) > 30
    text = library.types_page() + (ROOT / "docs" / "library.md").read_text("utf-8")
    for name in held:
        assert name.startswith("_") or f"| `{name}` |" in text or f"## {name}\n" in text, name


@pytest.mark.parametrize(
    ("name", "place"),
    [("SolrAnswerError", "nd.errors.SolrAnswerError"), ("IndexSummary", "nd.types.IndexSummary")],
)
def test_a_name_that_has_moved_says_where_it_is(name: str, place: str) -> None:
    """In the error of Python for a name that a module does not have."""
    with pytest.raises(AttributeError, match=f"no attribute '{name}'; it is now {place}$"):
        getattr(nd, name)


def test_there_are_not_too_many_public_names() -> None:
    """The names of both modules can be read in one go."""
    assert len(nd.__all__) <= 48
    assert len(nd.types.__all__) <= 31
