"""Patterns that are compiled when they are first used."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import neardup_solr as nd
from neardup_solr.regex import _Regex, regex

PACKAGE = Path(nd.__file__).parent


def test_every_pattern_of_the_package_can_be_compiled() -> None:
    """None has to wait for its first use to show an error."""
    patterns = []
    for path in PACKAGE.rglob("*.py"):
        if path.stem not in ("__init__", "__main__"):
            parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
            module = import_module(".".join(parts))
            patterns += [each for each in vars(module).values() if type(each) is _Regex]
    assert len(patterns) > 100
    for each in patterns:
        assert each.pattern


def test_it_is_called_as_a_pattern() -> None:
    """By all methods and attributes, with text and bytes."""
    pattern = regex("(?P<letter>[a-z])(?P<digit>[0-9])")
    assert pattern.sub(r"\2", "a1 b") == "1 b"
    assert pattern.groupindex == {"letter": 1, "digit": 2}
    assert [match["letter"] for match in pattern.finditer("a1 b2")] == ["a", "b"]
    assert regex(b"a").split(b"1a2") == [b"1", b"2"]
