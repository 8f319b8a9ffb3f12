"""duplicates of one file against another."""

from __future__ import annotations

import pytest

import neardup_solr as nd
from tests.solr.verbs.test_duplicates_against import EXPECTED, NEW, OLD, documents, rows


def test_within_both_sides_where_asked() -> None:
    """With `within`, the pairs of each side come to those between them."""
    found = nd.duplicates(documents(NEW), against=documents(OLD), within=True)
    assert rows(found) == sorted([*EXPECTED, ("b", "c", 0), ("2", "3", 1)])
    assert [cluster.id for cluster in found.clusters] == ["1", "b"]


def test_only_the_best_of_each_other() -> None:
    """Of several candidates the most similar one is kept, where it is so from both sides."""
    old = OLD | {"4": "one two three four five seven eight"}
    found = nd.duplicates(
        documents({"1": NEW["1"], "b": NEW["b"]}),
        against=documents(old),
        mutual_best=True,
    )
    assert rows(found) == [("1", "4", 1), ("b", "2", 0)]
    with pytest.raises(nd.ArgumentError, match=r"`mutual_best` is for .*; leave `within` out"):
        nd.duplicates(documents(OLD), against=documents(NEW), mutual_best=True, within=True)


@pytest.mark.parametrize("way", ["within", "mutual_best"])
def test_some_ways_need_another_side(way: str) -> None:
    """One side alone is always compared within itself."""
    with pytest.raises(nd.ArgumentError, match=r"only one side to compare; name .* `against`"):
        nd.duplicates(documents(OLD), within=way == "within", mutual_best=way == "mutual_best")
