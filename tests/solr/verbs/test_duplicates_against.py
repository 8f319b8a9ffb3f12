"""duplicates of one side against another: files and collections, in any mixture."""

from collections.abc import Iterator
from itertools import product

import pytest

import neardup_solr as nd
from neardup_solr.testing import fresh_core
from tests.refusals import refusal

OLD = {"1": "one two three four five six", "2": "alpha beta gamma delta", "3": "alpha beta gamma"}
NEW = {
    "1": "one two three four five seven",  # the same id, another document
    "b": "alpha beta gamma delta",
    "c": "alpha beta gamma delta",
    "d": "nothing like any of the others",
}
EXPECTED = [("1", "1", 1), ("b", "2", 0), ("b", "3", 1), ("c", "2", 0), ("c", "3", 1)]


def documents(texts: dict[str, str]) -> list[nd.Document]:
    """Documents of these texts by id."""
    return [nd.Document(id=id, text=text) for id, text in texts.items()]


def rows(found: nd.Duplicates) -> list[tuple[str, str, int | None]]:
    """Ids and distance of each pair, in order."""
    return sorted((pair.id, pair.other_id, pair.distance) for pair in found.pairs)


@pytest.fixture
def other(solr_url: str) -> Iterator[nd.Collection]:
    """Another fresh core."""
    with fresh_core(solr_url) as core:
        yield core


@pytest.mark.parametrize("by", ["bands", "words", "all"])
def test_any_mixture_of_files_and_collections(
    solr: nd.Collection, other: nd.Collection, by: nd.types.Way
) -> None:
    """The new one's id comes first, whatever the sides are, and nobody is compared within one."""
    nd.index(documents(NEW), solr)
    nd.index(documents(OLD), other)
    news: list[nd.Collection | list[nd.Document]] = [solr, documents(NEW)]
    olds: list[nd.Collection | list[nd.Document]] = [other, documents(OLD)]
    for new, old in product(news, olds):
        found = nd.duplicates(new, against=old, by=by)
        assert rows(found) == EXPECTED
        assert found.documents == 7
        assert found.complete


def test_collections_of_different_settings_are_refused(
    solr: nd.Collection, other: nd.Collection
) -> None:
    """Signatures made otherwise cannot be compared; both settings are shown."""
    nd.index(documents(NEW), solr, settings=nd.Settings(shingle_size=2))
    nd.index(documents(OLD), other)
    with refusal(nd.SettingsError, "settings-differ", "words2", "words3"):
        nd.duplicates(solr, against=other)
    # A source takes the settings of the collection that it is compared with.
    found = nd.duplicates(documents(OLD), against=solr)
    assert found.settings.shingle_size == 2
