"""Which documents of a collection may be near-duplicates: by bands, by rare words, or all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from neardup_solr.pure.blocking import all_candidates, word_candidates
from neardup_solr.pure.candidates import CAP, ONE_SIDE, Candidates, Joining, band_candidates
from neardup_solr.verbs.duplicating.comparing import Verifying, all_forms
from neardup_solr.verbs.duplicating.gathering import Gathered, Working, threads

JOINING = "joining"
_PAIR = 16  # bytes; a share of the memory is for the pairs, while they are put in order


def candidates(
    gathered: Gathered, verifying: Verifying, working: Working, memory: int
) -> Candidates:
    """The pairs of documents that may be near-duplicates; none of a document that came again."""
    is_across = len(gathered.sides) == 2 and not verifying.within
    sides = gathered.side_of() if is_across else ONE_SIDE
    found = _WAYS[verifying.way](gathered, verifying, working, sides, memory)
    dead = np.zeros(len(gathered), dtype=np.bool_)
    for side, first in zip(gathered.sides, gathered.bounds, strict=False):
        dead[np.array(side.dead, dtype=np.int64) + first] = True
    if dead.any():
        found = replace(found, pairs=found.pairs[~dead[found.pairs].any(axis=1)])
    return found


def _by_bands(
    gathered: Gathered,
    verifying: Verifying,
    working: Working,
    sides: NDArray[np.uint8],
    memory: int,
) -> Candidates:
    joining = Joining(
        cap=verifying.cap or CAP,
        memory=memory,
        most=memory // _PAIR,
        threads=threads(),
        sides=sides,
    )
    return band_candidates(
        gathered.signatures,
        gathered.settings,
        joining=joining,
        on_progress=lambda done, total: working.on_progress(JOINING, done, total),
    )


def _by_words(
    gathered: Gathered,
    verifying: Verifying,
    working: Working,
    sides: NDArray[np.uint8],
    memory: int,
) -> Candidates:
    forms = all_forms(gathered)
    across = sides if len(sides) else None
    if verifying.cap is None:
        return word_candidates(forms, sides=across)
    return word_candidates(forms, sides=across, cap=verifying.cap)


def _all(
    gathered: Gathered,
    verifying: Verifying,
    working: Working,
    sides: NDArray[np.uint8],
    memory: int,
) -> Candidates:
    return all_candidates(len(gathered), sides if len(sides) else None)


_WAYS: dict[str, Callable[[Gathered, Verifying, Working, NDArray[np.uint8], int], Candidates]] = {
    "bands": _by_bands,
    "words": _by_words,
    "all": _all,
}
