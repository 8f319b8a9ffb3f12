"""Candidate pairs of a whole collection: all documents that share an LSH band, each pair once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice, pairwise

import numpy as np
from numpy.typing import NDArray

from neardup_solr.errors import SettingsError
from neardup_solr.measures import Pairs
from neardup_solr.minhash import bands
from neardup_solr.minhash.sign import is_compiled
from neardup_solr.settings import Settings

CAP = 1024  # documents of one band key that are all paired with each other
MOST_PAIRS = 1 << 28
MEMORY = 1 << 30  # bytes for the keys, their orders and marks
_ROOM = 1 << 20  # pairs in one block
_AT_ONCE = 1 << 16  # signatures whose keys are derived in one go
_COST = 10  # bytes of a document in one band: its key, its mark, its place in a run if any

Sides = NDArray[np.uint8]
Runs = tuple[NDArray[np.uint32], NDArray[np.uint32]]  # members of runs of equal keys, and ends
ONE_SIDE: Sides = np.empty(0, dtype=np.uint8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """Pairs of row numbers that share a band.

    `pairs` (uint32, pairs × 2) has each pair once, the smaller number first. `hot_keys` counts
    the band keys of more documents than the cap: those are chained, each with the next, so that
    they still come together in one component, but not all of their pairs are there.
    """

    pairs: Pairs
    hot_keys: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Joining:
    """How bands are joined.

    A band key of more than `cap` documents is chained instead of paired; keys, orders and marks
    take at most `memory` bytes at a time (the pairs come on top, at most `most` of them), by so
    many `threads`. With `sides` (uint8, documents: 0 or 1) only documents of different sides are
    paired.
    """

    cap: int = CAP
    memory: int = MEMORY
    most: int = MOST_PAIRS
    threads: int = 1
    sides: Sides = field(default_factory=lambda: ONE_SIDE)


DEFAULT = Joining()


def band_candidates(
    signatures: NDArray[np.uint32],
    settings: Settings,
    *,
    joining: Joining = DEFAULT,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> Candidates:
    """The pairs of documents that share a band; `signatures` has shape (documents, hashes).

    As many bands at a time as fit the memory: their keys, one sort a band, then a walk over the
    runs of equal keys. A pair is given by the first band that it shares. `on_progress` gets the
    bands done and all. "Mining of Massive Datasets", section 3.4.3.

    Raises SettingsError where there are more pairs than `joining.most`.
    """
    documents = len(signatures)
    at_once = max(1, min(settings.bands, joining.memory // (_COST * max(documents, 1))))
    alike = _alike(signatures, settings, joining.threads)
    found, hot_keys = [], 0
    for first in range(0, settings.bands, at_once):
        last = min(first + at_once, settings.bands)
        keys = _keys(signatures, first, last, settings, joining.threads)
        joined = key_candidates(keys, alike, joining=joining, is_first=first == 0)
        found.append(joined.pairs)
        hot_keys += joined.hot_keys
        on_progress(last, settings.bands)
        if sum(map(len, found)) > joining.most:
            raise _too_many(joining)
    pairs = found[0] if len(found) == 1 else _distinct(np.concatenate(found))
    return Candidates(pairs=pairs, hot_keys=hot_keys)


def key_candidates(
    keys: NDArray[np.uint64],
    alike: NDArray[np.uint64],
    *,
    joining: Joining = DEFAULT,
    is_first: bool = True,
) -> Candidates:
    """The pairs of rows that agree in some column of `keys` (documents × bands).

    `alike` (documents) is equal for rows that agree in all bands, also in those of other calls, of
    which the first one chains them.
    """
    if not is_compiled():
        return _candidates_slowly(keys, alike, joining, is_first=is_first)
    join = _Join(keys, alike, joining, is_first)
    with ThreadPoolExecutor(joining.threads) as pool:
        runs, hot_of_band = zip(*pool.map(join.sort, range(keys.shape[1])), strict=True)
        blocks = []
        for block in pool.map(join.pairs, range(keys.shape[1]), runs):
            blocks.append(block)
            if sum(map(len, blocks)) > joining.most:
                pool.shutdown(wait=False, cancel_futures=True)
                raise _too_many(joining)
    hot_keys = sum(hot_of_band)
    pairs = np.concatenate(blocks)
    if hot_keys:  # neighbours in one chain may be neighbours in another
        pairs = _distinct(pairs)
    return Candidates(pairs=pairs, hot_keys=hot_keys)


def _too_many(joining: Joining) -> SettingsError:
    return SettingsError(
        f"more than {joining.most:,} pairs share a band",
        f"lower --cap (now {joining.cap:,}), give more --memory, or index with more --band-rows"
        " (neardup tune)",
    )


class _Join:
    """The sorted bands of some documents, and the pairs of each."""

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

    def sort(self, band: int) -> tuple[Runs, int]:
        """The runs of equal keys of a band, and how many of them are hot."""
        from neardup_solr.kernel import joins

        column = np.ascontiguousarray(self._keys[:, band])
        order = np.argsort(column).astype(np.uint32)
        members, ends = np.empty_like(order), np.empty_like(order)
        filled, found, hot_keys = joins.runs(
            order, column, self._alike, self._joining.cap, self._hot[:, band], members, ends
        )
        return (members[:filled].copy(), ends[:found].copy()), hot_keys

    def pairs(self, band: int, runs: Runs) -> Pairs:
        """The pairs that share this band and none before it, once every band is sorted."""
        return np.concatenate(list(self._blocks(band, *runs)))

    def _blocks(
        self, band: int, members: NDArray[np.uint32], ends: NDArray[np.uint32]
    ) -> Iterator[Pairs]:
        from neardup_solr.kernel import joins

        cap, sides = self._joining.cap, self._joining.sides
        room = max(_ROOM, 2 * len(members), cap * cap)
        block = np.empty((room, 2), dtype=np.uint32)
        first = 0
        yield block[:0]
        while first < len(ends):
            first, filled = joins.band_pairs(
                first, members, ends, self._keys, self._hot, self._alike, sides, band,
                self._is_first and band == 0, block,
            )  # fmt: skip
            yield block[:filled].copy()


def _keys(
    signatures: NDArray[np.uint32], first: int, last: int, settings: Settings, threads: int
) -> NDArray[np.uint64]:
    """The hashes of bands first..last - 1; as `bands.hash_bands`, but some documents at a time."""
    keys = np.empty((len(signatures), last - first), dtype=np.uint64)

    def fill(documents: slice) -> None:
        if is_compiled():
            from neardup_solr.kernel import joins

            joins.hash_rows(signatures[documents], first, settings.rows, keys[documents])
        else:
            columns = slice(first * settings.rows, last * settings.rows)
            part = signatures[documents, columns]
            keys[documents] = bands.hash_bands(part, last - first, settings.rows)

    _by_parts(fill, len(signatures), threads)
    return keys


def _alike(signatures: NDArray[np.uint32], settings: Settings, threads: int) -> NDArray[np.uint64]:
    """One hash over all bands of each document."""
    used = settings.bands * settings.rows
    hashed = np.empty(len(signatures), dtype=np.uint64)

    def fill(documents: slice) -> None:
        if is_compiled():
            from neardup_solr.kernel import joins

            joins.hash_whole(signatures[documents], used, hashed[documents])
        else:
            hashed[documents] = bands.hash_bands(signatures[documents], 1, used)[:, 0]

    _by_parts(fill, len(signatures), threads)
    return hashed


def _by_parts(fill: Callable[[slice], None], documents: int, threads: int) -> None:
    parts = [slice(at, at + _AT_ONCE) for at in range(0, documents, _AT_ONCE)]
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(fill, parts))


def _distinct(pairs: Pairs) -> Pairs:
    joined = pairs[:, 0].astype(np.uint64) << np.uint64(32) | pairs[:, 1]
    joined.sort()
    joined = joined[np.append(True, joined[1:] != joined[:-1])] if len(joined) else joined
    halves = joined >> np.uint64(32), joined & np.uint64(0xFFFFFFFF)
    return np.stack(halves, axis=1).astype(np.uint32)


def components(documents: int, pairs: Pairs) -> NDArray[np.int64]:
    """The connected component of each document: the smallest row number in it.

    Shape (documents,); a document without a pair is its own.
    """
    if is_compiled():
        from neardup_solr.kernel import joins

        found: NDArray[np.int64] = joins.components(documents, pairs)
        return found
    parent = list(range(documents))
    for one, other in pairs.tolist():
        low, high = sorted((_root(parent, one), _root(parent, other)))
        parent[high] = low
    return np.array([_root(parent, document) for document in range(documents)], dtype=np.int64)


def _root(parent: list[int], document: int) -> int:
    while parent[document] != document:
        parent[document] = parent[parent[document]]
        document = parent[document]
    return document


def _candidates_slowly(
    keys: NDArray[np.uint64], alike: NDArray[np.uint64], joining: Joining, *, is_first: bool
) -> Candidates:
    pairs: set[tuple[int, int]] = set()
    hot_keys = 0
    same = alike.tolist()
    for band, column in enumerate(keys.T.tolist()):
        runs: dict[int, list[int]] = defaultdict(list)
        for row, key in enumerate(column):
            runs[key].append(row)
        for run in runs.values():
            hot_keys += len(run) > joining.cap
            run.sort(key=lambda row: (same[row], row))
            found = map(sorted, _of_run(run, joining))
            every = (is_first and band == 0) or len(run) <= joining.cap
            pairs.update((a, b) for a, b in found if every or same[a] != same[b])
    listed = np.array(sorted(pairs), dtype=np.uint32).reshape(-1, 2)
    return Candidates(pairs=listed, hot_keys=hot_keys)


def _of_run(run: Sequence[int], joining: Joining) -> Iterator[tuple[int, int]]:
    side = joining.sides.tolist() or None
    if len(run) > joining.cap:
        yield from pairwise(run) if side is None else _across(run, side)
        return
    for at, one in enumerate(run):
        for other in run[at + 1 :]:
            if side is None or side[one] != side[other]:
                yield one, other


def _across(run: Sequence[int], side: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Each document with the next and the last of the other side."""
    for way in (run, run[::-1]):
        for at, one in enumerate(way):
            met = (other for other in reversed(way[:at]) if side[other] != side[one])
            yield from ((one, other) for other in islice(met, 1))
