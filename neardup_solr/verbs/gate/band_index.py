"""Index of documents by keys of their bands or seeds, to which a gate adds what it admits."""

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

    def __len__(self) -> int:
        return sum(len(keys) for keys, _ in self._runs)

    def drop(self, mask: int) -> None:
        """Drop the keys that have any of these bits."""
        kept = [keys & np.uint64(mask) == 0 for keys, _ in self._runs]
        self._runs = [(keys[some], owners[some])
                      for (keys, owners), some in zip(self._runs, kept, strict=True)]  # fmt: skip

    def count_frequent(self, cap: int) -> int:
        """Count the keys that more than so many documents have."""
        keys = np.concatenate([np.empty(0, np.uint64), *(keys for keys, _ in self._runs)])
        return int(np.count_nonzero(np.unique(keys, return_counts=True)[1] > cap))

    def sharing(
        self, keys: Keys, rows: NDArray[np.int64] | None = None, cap: int = _NUMBERS
    ) -> Shared:
        """Find documents that share a key with rows of `keys`: rows, numbers, how many keys.

        The lines of `keys` are of these `rows`, by default each of its own. Of the documents that
        have a key, if they are more than `cap`, only the first of each run of the index is found.
        """
        lines = np.arange(len(keys)) if rows is None else rows
        flat, rows = keys.ravel(), np.repeat(lines, keys.shape[1])
        spans = [_find_span(run[0], flat) for run in self._runs]
        if not spans:
            nothing = np.empty(0, dtype=np.int64)
            return nothing, nothing, nothing
        are_many = sum(counts for _, counts in spans) > cap
        parts = [
            _list_pairs(owners, first, np.where(are_many, np.minimum(counts, 1), counts), rows)
            for (_, owners), (first, counts) in zip(self._runs, spans, strict=True)
        ]
        pairs, shared = np.unique(np.concatenate(parts), return_counts=True)
        return pairs >> _NUMBER_BITS, pairs & _NUMBERS, shared


def _find_span(keys: Keys, flat: Keys) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find where each key begins in a run, and how often it is there."""
    first = np.searchsorted(keys, flat, side="left")
    return first, np.searchsorted(keys, flat, side="right") - first


def _list_pairs(
    owners: NDArray[np.int64], first: NDArray[np.int64], counts: NDArray[np.int64],
    rows: NDArray[np.int64],
) -> NDArray[np.int64]:  # fmt: skip
    """List pairs of a row, in the upper bits, and a number, again for each key that they share."""
    begins = np.repeat(first - (np.cumsum(counts) - counts), counts)
    places = begins + np.arange(counts.sum())
    pairs: NDArray[np.int64] = np.repeat(rows, counts) << _NUMBER_BITS | owners[places]
    return pairs
