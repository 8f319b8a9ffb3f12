"""Candidate pairs of a whole collection: all documents that share an LSH band, each pair once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from neardup_solr.candidates import CAP
from neardup_solr.errors import SettingsError
from neardup_solr.kernel import graph, joins
from neardup_solr.measures.arrays import Pairs
from neardup_solr.resources import run_aside, thread_pool
from neardup_solr.settings import Settings

MOST_PAIRS = 1 << 28
MEMORY = 1 << 30  # bytes for the keys and their marks
ROOM = 1 << 20  # pairs in one block
_PART = 1 << 12  # keys of a band among which equal ones are found at once
_AT_ONCE = 1 << 16  # signatures whose keys are derived in one go
_COST = 10  # bytes of a document in one band: its key, its mark, its place in a run if any

Sides = NDArray[np.uint8]
Groups = NDArray[np.uint32]
Runs = tuple[NDArray[np.uint32], NDArray[np.uint32]]  # members of runs of equal keys, and ends
ONE_SIDE: Sides = np.empty(0, dtype=np.uint8)
ONE_GROUP: Groups = np.empty(0, dtype=np.uint32)
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # a number of a group over all bits of a key


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """Pairs of row numbers that share a band.

    `pairs` (uint32, pairs × 2) has each pair once, the smaller number first. `hot_keys` counts
    the band keys of more documents than the cap: those are chained, each with the next, so that
    they still come together in one component, but not all of their pairs are there. `beyond` are
    pairs of documents in a `sample` (row numbers) that share only words that are too common to
    make candidates.
    """

    pairs: Pairs
    hot_keys: int
    beyond: Pairs = field(default_factory=lambda: np.empty((0, 2), dtype=np.uint32))
    sample: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))


@dataclass(frozen=True, slots=True, kw_only=True)
class Joining:
    """How bands are joined.

    A band key of more than `cap` documents is chained instead of paired; keys and marks take at
    most `memory` bytes at a time (the pairs come on top, at most `most` of them). The
    work is done by `threads` threads. With `sides` (uint8, documents: 0 or 1) only documents of
    different sides are paired, with `groups` (uint32, documents) only those of the same one, of
    which each counts for the cap by itself. `key` says what it is that pairs share.
    """

    cap: int = CAP
    memory: int = MEMORY
    most: int = MOST_PAIRS
    threads: int = 1
    sides: Sides = field(default_factory=lambda: ONE_SIDE)
    groups: Groups = field(default_factory=lambda: ONE_GROUP)
    key: Literal["band", "word"] = "band"


DEFAULT = Joining()


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
    # as many bands as fit the memory
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


class FoundPairs:
    """Pairs, each as one number, in an array that grows in place."""

    def __init__(self, joining: Joining) -> None:
        self._joining = joining
        self._room = np.empty(0, dtype=np.uint64)
        self._filled = 0

    @property
    def pairs(self) -> Pairs:
        """All pairs."""
        return self._room[: self._filled].view(np.uint32).reshape(-1, 2)

    def add(self, pairs: Pairs) -> None:
        """Add pairs. Raises SettingsError if there are too many."""
        if self._filled + len(pairs) > self._joining.most:
            self.keep_distinct()
        first, last = self._filled, self._filled + len(pairs)
        if last > self._joining.most:
            raise _too_many(self._joining)
        if last > len(self._room):  # in place, if the system can
            self._room.resize(max(last, 3 * len(self._room) // 2), refcheck=False)
        self._room[first:last] = pairs.view(np.uint64)[:, 0]
        self._filled = last

    def keep_distinct(self) -> None:
        """Sort the pairs, and keep each once."""
        numbers = self._room[: self._filled]
        run_aside(numbers.sort)
        kept, before = 0, None
        for at in range(0, len(numbers), ROOM):
            part = numbers[at : at + ROOM]
            is_new = np.ones(len(part), dtype=np.bool_)
            np.not_equal(part[1:], part[:-1], out=is_new[1:])
            is_new[0] = part[0] != before
            before, new = part[-1], part[is_new]
            numbers[kept : kept + len(new)] = new
            kept += len(new)
        del numbers
        self._filled = kept
        self._room.resize(kept, refcheck=False)  # what is left over goes back to the system


def _too_many(joining: Joining) -> SettingsError:
    more_rows = ", or index with more `rows` (neardup tune)" if joining.key == "band" else ""
    return SettingsError(
        f"more than {joining.most:,} pairs share a {joining.key}",
        f"lower `cap` (now {joining.cap:,}), or give more `memory`{more_rows}",
    )


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
                raise _too_many(self._joining)
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
    """The hashes of bands first..last - 1; as `bands.hash_bands`, but some documents at a time."""
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


def components(documents: int, pairs: Pairs) -> NDArray[np.int64]:
    """The connected component of each document: the smallest row number in it.

    Shape (documents,); a document without a pair is its own.
    """
    found = np.arange(documents)
    graph.components(pairs, found)
    return found
