"""Index of documents by seeds of their passages, to which a gate adds what it admits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from neardup_solr.candidates.by_seed import list_seeds
from neardup_solr.measures import Flat
from neardup_solr.measures.folded import fold_texts
from neardup_solr.sizes import SIZES
from neardup_solr.verbs.gate.band_index import BandIndex, Keys

WINDOW = 16  # runs of letters of which a seed is kept: any 31 letters in a row have one


@dataclass(slots=True)
class SeedIndex:
    """Index of the seeds of admitted documents, at most `SIZES.gate_seeds` of 16 bytes each.

    If they are more, those are dropped whose hash has another of its lowest bits set, and never
    looked for again, so that long passages are still found (Flajolet, "On adaptive sampling",
    1990).
    """

    index: BandIndex = field(default_factory=BandIndex)
    mask: int = 0

    def add(self, texts: Sequence[str], numbers: NDArray[np.int64]) -> None:
        """Add documents with these texts and numbers."""
        seeds, rows = self.sample(*collect_sparse(texts))
        if len(seeds):
            self.index.add(seeds[:, None], numbers[rows])
        while len(self.index) > SIZES.gate_seeds:
            self.mask = 2 * self.mask + 1
            self.index.drop(self.mask)

    def sample(self, seeds: Keys, rows: NDArray[np.int64]) -> tuple[Keys, NDArray[np.int64]]:
        """Choose the seeds that are not dropped, with the row of each."""
        kept = seeds & np.uint64(self.mask) == 0
        return seeds[kept], rows[kept]


def collect_sparse(texts: Sequence[str]) -> tuple[Keys, NDArray[np.int64]]:
    """Collect few seeds of texts, with the row of each."""
    folded = fold_texts(texts)
    seeds, _, sizes = list_seeds(Flat(folded.letters, folded.bounds), WINDOW)
    return seeds, np.repeat(np.arange(len(texts)), sizes)
