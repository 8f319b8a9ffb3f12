"""Pairs of `duplicates` that are verified: near-duplicates, with distances and similarities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup_solr.measures.pairs import Pairs

NO_DISTANCES, NO_SIMILARITIES = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float64)
COLUMNS = ("pairs", "distances", "similarities")

Columns = tuple[NDArray[Any], ...]  # of pairs: COLUMNS


@dataclass(slots=True)
class Verified:
    """Pairs that are near-duplicates, and documents that had a problem.

    `vanished` documents were gone when their texts were read; the text of `stale` ones has changed
    since it was signed. `below` counts, about, the pairs that a threshold lower by BORDER would
    add; it is None if not all pairs were compared in this run.
    """

    pairs: Pairs
    distances: NDArray[np.int64] = field(default_factory=lambda: NO_DISTANCES)
    similarities: NDArray[np.float64] = field(default_factory=lambda: NO_SIMILARITIES)
    below: int | None = 0
    vanished: set[int] = field(default_factory=set)
    stale: set[int] = field(default_factory=set)

    @property
    def columns(self) -> Columns:
        """The pairs, their distances and their similarities."""
        return self.pairs, self.distances, self.similarities

    def take(self, parts: Sequence[Columns]) -> None:
        """Have the pairs of all parts."""
        if parts:
            columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
            self.pairs, self.distances, self.similarities = columns

    def keep(self, wanted: NDArray[np.bool_] | NDArray[np.intp]) -> None:
        """Keep these pairs, in this order."""
        self.pairs, self.distances, self.similarities = (column[wanted] for column in self.columns)

    def sort(self) -> None:
        """Sort the pairs."""
        self.keep(np.lexsort((self.pairs[:, 1], self.pairs[:, 0])))
