"""Band keys of documents that arrive batch after batch, and which of them share one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint64]
Shared = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
_BAND_BITS, _SPARE_BITS = np.uint64(48), np.uint64(16)


def term_keys(keys: Keys) -> Keys:
    """Band hashes (documents × bands) as the numbers that their terms in content_bands spell.

    The band stands in the upper 16 bits, 48 bits of its hash in the others; see `bands.keys`.
    """
    bands = np.arange(keys.shape[1], dtype=np.uint64)
    numbers: Keys = keys >> _SPARE_BITS | bands << _BAND_BITS
    return numbers


def within(keys: Keys) -> Shared:
    """The pairs of rows of one batch that share a band: the earlier, the later, how many bands."""
    equal = np.zeros((len(keys), len(keys)), dtype=np.int64)
    for band in keys.T:
        equal += band[:, None] == band
    earlier, later = np.nonzero(np.triu(equal, 1))
    return earlier, later, equal[earlier, later]


class BandIndex:
    """Which documents have which band key. Documents are numbered in the order in which they came.

    Sorted runs whose sizes at least double from the newest to the oldest: what is added is merged
    with the newest ones, so that n keys are in about log2(n) runs and are moved that often
    (O'Neil et al., "The Log-Structured Merge-Tree", 1996). 16 bytes a key.
    """

    def __init__(self) -> None:
        self._runs: list[tuple[Keys, NDArray[np.int64]]] = []

    def add(self, keys: Keys, numbers: NDArray[np.int64]) -> None:
        """Add documents: `keys` (documents × bands) by `term_keys`, `numbers` (documents)."""
        flat, owners = keys.ravel(), np.repeat(numbers, keys.shape[1])
        while self._runs and len(self._runs[-1][0]) < 2 * len(flat):
            older, their = self._runs.pop()
            flat, owners = np.concatenate([older, flat]), np.concatenate([their, owners])
        order = np.argsort(flat, kind="stable")
        self._runs.append((flat[order], owners[order]))

    def sharing(self, keys: Keys) -> Shared:
        """Documents that share a band with rows of `keys`: rows, numbers, and how many bands."""
        flat, rows = keys.ravel(), np.repeat(np.arange(len(keys)), keys.shape[1])
        parts = [_met(run, flat, rows) for run in self._runs]
        if not parts:
            nothing = np.empty(0, dtype=np.int64)
            return nothing, nothing, nothing
        met = np.concatenate(parts)
        found, shared = np.unique(met, axis=0, return_counts=True)
        return found[:, 0], found[:, 1], shared


def _met(
    run: tuple[Keys, NDArray[np.int64]], flat: Keys, rows: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Pairs of a row and a number, one for each key that they share."""
    known, owners = run
    first = np.searchsorted(known, flat, side="left")
    counts = np.searchsorted(known, flat, side="right") - first
    begins = np.repeat(first - (np.cumsum(counts) - counts), counts)
    places = begins + np.arange(counts.sum())
    return np.stack([np.repeat(rows, counts), owners[places]], axis=1)
