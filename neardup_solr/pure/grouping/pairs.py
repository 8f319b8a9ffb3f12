"""Pairs of near-duplicates, each once, in natural order."""

from __future__ import annotations

from collections.abc import Iterable

from neardup_solr.pure.ids import natural
from neardup_solr.pure.model import Pair


def once(pairs: Iterable[Pair]) -> tuple[Pair, ...]:
    """Pairs in the natural order of their ids, without repeats."""
    distinct = {(pair.id, pair.other_id): pair for pair in pairs}
    in_order = sorted(distinct, key=lambda ids: (natural(ids[0]), natural(ids[1])))
    return tuple(distinct[ids] for ids in in_order)
