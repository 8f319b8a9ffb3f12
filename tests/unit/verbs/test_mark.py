"""The numbers of clusters."""

from __future__ import annotations

from neardup_solr.verbs.mark import numbers

FOX, WORD = 306574160, 525159821  # of the clusters "9" and "x"


def test_numbers_stay() -> None:
    """Numbers of clusters are stored, so they are pinned; each is its own in any company."""
    assert numbers(["x", "9", "doc1"]) == {"9": FOX, "doc1": 1818716954, "x": WORD}
    many = numbers(map(str, range(20_000)))
    assert len(set(many.values())) == 20_000
    assert all(0 < number < 2**31 for number in many.values())
    assert many["9"] == numbers(["9"])["9"] == FOX


def test_numbers_that_collide() -> None:
    """Of two ids with one hash the first by code point keeps it, the other takes the next seed."""
    alone = numbers(["8525"])["8525"]
    assert numbers(["48462"]) == {"48462": alone}
    both = numbers(["8525", "48462"])
    assert both["48462"] == alone == 418331794
    assert both["8525"] not in (alone, 0)
