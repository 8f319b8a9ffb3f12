"""Index of documents by the keys of their bands, to which a gate adds what it admits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint64]
Shared = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
_BAND_BITS, _SPARE_BITS = np.uint64(48), np.uint64(16)
_NUMBER_BITS = 40  # of a document that was admitted
_NUMBERS = (1 << _NUMBER_BITS) - 1


def term_keys(keys: Keys) -> Keys:
    """Turn band hashes (documents × bands) into the numbers that terms in content_bands spell.

    The band stands in the upper 16 bits, 48 bits of its hash in the others; see `make_band_keys`.
    """
    bands = np.arange(keys.shape[1], dtype=np.uint64)
    numbers: Keys = keys >> _SPARE_BITS | bands << _BAND_BITS
    return numbers


class BandIndex:
    """Index of documents by band key. They are numbered in the order in which they came.

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
        """Find documents that share a band with rows of `keys`: rows, numbers, how many bands."""
        flat, rows = keys.ravel(), np.repeat(np.arange(len(keys)), keys.shape[1])
        parts = [_sharing_keys(run, flat, rows) for run in self._runs]
        if not parts:
            nothing = np.empty(0, dtype=np.int64)
            return nothing, nothing, nothing
        pairs, shared = np.unique(np.concatenate(parts), return_counts=True)
        return pairs >> _NUMBER_BITS, pairs & _NUMBERS, shared


def _sharing_keys(
    run: tuple[Keys, NDArray[np.int64]], flat: Keys, rows: NDArray[np.int64]
) -> NDArray[np.int64]:
    """List pairs of a row, in the upper bits, and a number, again for each key that they share."""
    keys, owners = run
    first = np.searchsorted(keys, flat, side="left")
    counts = np.searchsorted(keys, flat, side="right") - first
    begins = np.repeat(first - (np.cumsum(counts) - counts), counts)
    places = begins + np.arange(counts.sum())
    pairs: NDArray[np.int64] = np.repeat(rows, counts) << _NUMBER_BITS | owners[places]
    return pairs
