"""Candidate pairs of a whole collection: all documents that share an LSH band, each pair once."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from neardup_solr.candidates import (
    DEFAULT,
    ROOM,
    SPREAD,
    Candidates,
    FoundPairs,
    Joining,
    too_many,
)
from neardup_solr.kernel import joins
from neardup_solr.measures.arrays import Pairs
from neardup_solr.settings import Settings
from neardup_solr.threads import thread_pool

_PART = 1 << 12  # keys of a band among which equal ones are found at once
_AT_ONCE = 1 << 16  # signatures whose keys are derived in one go
_COST = 10  # bytes of a document in one band: its key, its mark, its place in a run if any

Runs = tuple[NDArray[np.uint32], NDArray[np.uint32]]  # members of runs of equal keys, and ends


def band_candidates(
    signatures: NDArray[np.uint32],
    settings: Settings,
    *,
    joining: Joining = DEFAULT,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> Candidates:
    """The pairs of documents that share a band. `signatures` has shape (documents, hashes).

    As many bands at a time as fit the memory: their keys, in each band the runs of equal ones, then
    a walk over these. A pair is given by the first band that it shares. `on_progress` gets the
    bands done and all. "Mining of Massive Datasets", section 3.4.3.

    Raises SettingsError if there are more pairs than `joining.most`.
    """
    at_once = max(1, min(settings.bands, joining.memory // (_COST * max(len(signatures), 1))))
    alike = whole_hashes(signatures, settings, joining)
    found, hot_keys = FoundPairs(joining), 0
    for first in range(0, settings.bands, at_once):
        last = min(first + at_once, settings.bands)
        keys = band_keys(signatures, first, last, settings, joining)
        if len(joining.groups):  # equal keys of two groups become different ones
            keys ^= (joining.groups * SPREAD)[:, None]
        hot_keys += _join(keys, alike, found, joining, is_first=first == 0)
        on_progress(last, settings.bands)
    # Pairs may share bands of two rounds, and neighbours in one chain be neighbours in another.
    if at_once < settings.bands or hot_keys:
        found.keep_distinct()
    return Candidates(pairs=found.pairs, hot_keys=hot_keys)


def key_candidates(
    keys: NDArray[np.uint64],
    alike: NDArray[np.uint64],
    *,
    joining: Joining = DEFAULT,
    is_first: bool = True,
) -> Candidates:
    """The pairs of rows that agree in some column of `keys` (documents × bands).

    `alike` (documents) is equal for rows that agree in all bands, also in those of other calls;
    the first call chains them.
    """
    found = FoundPairs(joining)
    hot_keys = _join(keys, alike, found, joining, is_first=is_first)
    if hot_keys:
        found.keep_distinct()
    return Candidates(pairs=found.pairs, hot_keys=hot_keys)


def _join(
    keys: NDArray[np.uint64],
    alike: NDArray[np.uint64],
    found: FoundPairs,
    joining: Joining,
    *,
    is_first: bool,
) -> int:
    """Add the pairs of rows that agree in some column, and return how many keys are hot.

    Pairs of hot keys may be there twice.
    """
    join = _Join(keys, alike, joining, is_first)
    with thread_pool(joining.threads) as pool:
        runs, hot = zip(*pool.map(join.runs, range(keys.shape[1])), strict=True)
        for block in pool.map(join.pairs, range(keys.shape[1]), runs):
            found.add(block)
    return sum(hot)


class _Join:
    """Some bands of documents: who has equal keys in each, and the pairs of these."""

    def __init__(
        self,
        keys: NDArray[np.uint64],
        alike: NDArray[np.uint64],
        joining: Joining,
        is_first: bool,
    ) -> None:
        self._keys, self._alike, self._joining = keys, alike, joining
        self._is_first = is_first
        self._hot = np.zeros(keys.shape, dtype=np.bool_)

    def runs(self, band: int) -> tuple[Runs, int]:
        """The runs of equal keys of a band, and how many of the keys are hot."""
        column = np.ascontiguousarray(self._keys[:, band])
        count = len(column)
        bits = max(1, (count // _PART).bit_length())
        parts = np.zeros((1 << bits) + 1, dtype=np.int64)
        keys, rows = np.empty_like(column), np.empty(count, dtype=np.uint32)
        largest = joins.partition(column, 64 - bits, parts, keys, rows)
        slots = np.empty(1 << (2 * largest).bit_length(), dtype=np.uint32)
        lasts, nexts = np.empty((2, max(largest, 1)), dtype=np.uint32)
        members, ends = np.empty_like(rows), np.empty(count // 2, dtype=np.uint32)
        filled, found = joins.runs(
            keys, rows, parts, slots, lasts, nexts, self._joining.cap, self._hot[:, band], members,
            ends,
        )  # fmt: skip
        members, ends = members[:filled].copy(), ends[:found].copy()
        hot_runs = _hot_runs(ends, self._joining.cap)
        for first, last in hot_runs:
            # So that equal signatures are neighbours, and the same ones in every band.
            run = members[first:last]
            run[:] = run[np.lexsort((run, self._alike[run]))]
        return (members, ends), len(hot_runs)

    def pairs(self, band: int, runs: Runs) -> Pairs:
        """The pairs that share this band and none before it, once all runs are known."""
        blocks, count = [], 0
        for block in self._blocks(band, *runs):
            blocks.append(block)
            count += len(block)
            if count > self._joining.most:  # all of them are different
                raise too_many(self._joining)
        return np.concatenate(blocks)

    def _blocks(
        self, band: int, members: NDArray[np.uint32], ends: NDArray[np.uint32]
    ) -> Iterator[Pairs]:
        sides = self._joining.sides
        largest = min(self._joining.cap, int(np.diff(ends, prepend=0).max(initial=0)))
        room = max(ROOM, 2 * len(members), largest * largest // 2)
        block = np.empty((room, 2), dtype=np.uint32)
        first = 0
        yield block[:0]
        while first < len(ends):
            first, filled = joins.band_pairs(
                first, members, ends, self._keys, self._hot, self._alike, sides, band,
                self._is_first and band == 0, block,
            )  # fmt: skip
            yield block[:filled].copy()


def _hot_runs(ends: NDArray[np.uint32], cap: int) -> list[tuple[int, int]]:
    """The runs of more than `cap` members, from and to."""
    begins = np.concatenate([[0], ends[:-1]]).astype(np.int64)
    hot = np.flatnonzero(ends - begins > cap)
    return list(zip(begins[hot].tolist(), ends[hot].tolist(), strict=True))


def band_keys(
    signatures: NDArray[np.uint32], first: int, last: int, settings: Settings, joining: Joining
) -> NDArray[np.uint64]:
    """Hash bands first..last - 1 as `hash_bands` does, some documents at a time."""
    keys = np.empty((len(signatures), last - first), dtype=np.uint64)

    def fill(documents: slice) -> None:
        joins.hash_rows(signatures[documents], first, settings.rows, keys[documents])

    _by_parts(fill, len(signatures), joining)
    return keys


def whole_hashes(
    signatures: NDArray[np.uint32], settings: Settings, joining: Joining
) -> NDArray[np.uint64]:
    """One hash over all bands of each document."""
    used = settings.bands * settings.rows
    hashed = np.empty(len(signatures), dtype=np.uint64)

    def fill(documents: slice) -> None:
        joins.hash_whole(signatures[documents], used, hashed[documents])

    _by_parts(fill, len(signatures), joining)
    return hashed


def _by_parts(fill: Callable[[slice], None], documents: int, joining: Joining) -> None:
    parts = [slice(at, at + _AT_ONCE) for at in range(0, documents, _AT_ONCE)]
    with thread_pool(joining.threads) as pool:
        list(pool.map(fill, parts))
