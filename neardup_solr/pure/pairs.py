"""Pairs of ids, each once, in natural order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from neardup_solr.pure.model import Pair


def natural(id: str) -> tuple[int, int, str]:
    """Sort key of an id: whole numbers by value and before all other ids, those by code point."""
    if id.isascii() and id.isdigit():
        return (0, int(id) if len(id) < 4000 else 10**4000, id)
    return (1, 0, id)


def ordered(id: str, other_id: str) -> tuple[str, str]:
    """Two ids, the earlier in natural order first."""
    return (id, other_id) if natural(id) <= natural(other_id) else (other_id, id)


def once(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """Pairs without those that were given before; memory grows with the distinct pairs."""
    seen: set[tuple[str, str]] = set()
    for pair in pairs:
        key = (pair.id, pair.other_id)
        if key not in seen:
            seen.add(key)
            yield pair
