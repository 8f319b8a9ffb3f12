"""Which documents of a collection may be near-duplicates: by bands, by rare words, or all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from neardup_solr.pure.grouping.blocking import WORD_CAP, all_candidates, word_candidates
from neardup_solr.pure.grouping.candidates import (
    CAP,
    ONE_SIDE,
    Candidates,
    Joining,
    band_candidates,
)
from neardup_solr.verbs.duplicating.comparing import Verifying
from neardup_solr.verbs.duplicating.gathering import Gathered, Working, threads

JOINING = "joining"
_PAIR = 16  # bytes; a share of the memory is for the pairs, while they are put in order


@dataclass(frozen=True, slots=True, kw_only=True)
class _Search:
    """What is looked through, and how; `sides` is empty where all are compared with all."""

    gathered: Gathered
    verifying: Verifying
    working: Working
    memory: int
    sides: NDArray[np.uint8]


def candidates(
    gathered: Gathered, verifying: Verifying, working: Working, memory: int
) -> Candidates:
    """The pairs of documents that may be near-duplicates; none of a document that came again."""
    is_across = len(gathered.sides) == 2 and not verifying.within
    search = _Search(
        gathered=gathered,
        verifying=verifying,
        working=working,
        memory=memory,
        sides=gathered.side_of() if is_across else ONE_SIDE,
    )
    found = _WAYS[verifying.way](search)
    dead = np.zeros(len(gathered), dtype=np.bool_)
    for side, first in zip(gathered.sides, gathered.bounds, strict=False):
        dead[np.array(side.dead, dtype=np.int64) + first] = True
    if dead.any():
        found = replace(found, pairs=found.pairs[~dead[found.pairs].any(axis=1)])
    return found


def _by_bands(search: _Search) -> Candidates:
    joining = Joining(
        cap=search.verifying.cap or CAP,
        memory=search.memory,
        most=search.memory // _PAIR,
        threads=threads(),
        sides=search.sides,
    )
    return band_candidates(
        search.gathered.signatures,
        search.gathered.settings,
        joining=joining,
        on_progress=lambda done, total: search.working.on_progress(JOINING, done, total),
    )


def _by_words(search: _Search) -> Candidates:
    across = search.sides if len(search.sides) else None
    cap = search.verifying.cap or WORD_CAP
    return word_candidates(search.gathered.forms(), sides=across, cap=cap)


def _all(search: _Search) -> Candidates:
    return all_candidates(len(search.gathered), search.sides if len(search.sides) else None)


_WAYS: dict[str, Callable[[_Search], Candidates]] = {
    "bands": _by_bands,
    "words": _by_words,
    "all": _all,
}
