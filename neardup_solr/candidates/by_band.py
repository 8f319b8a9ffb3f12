"""Candidate pairs that share a band of their signatures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from neardup_solr.candidates import DEFAULT, SPREAD, Candidates, Joining, too_many
from neardup_solr.candidates.pair_array import PairArray
from neardup_solr.kernel import joins
from neardup_solr.mapped_pages import release_pages
from neardup_solr.measures.pairs import Pairs
from neardup_solr.progress import thread_pool
from neardup_solr.settings import Settings
from neardup_solr.sizes import SIZES

_PART = 1 << 12  # keys of a band among which equal keys are found together
_AT_ONCE = 1 << 16  # signatures whose keys are derived at once
_COST = 10  # bytes of a document in a band: its key, its mark, its place in a run if any
# Members of runs of equal keys, the ends of these, and the sizes of those that are hot.
Runs = tuple[NDArray[np.uint32], NDArray[np.uint32], list[int]]


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

    Raises SettingsError beyond `joining.most` pairs.
    """
    room = min(joining.memory, SIZES.band_keys)
    at_once = max(1, min(settings.bands, room // (_COST * max(len(signatures), 1))))
    alike = hash_signatures(signatures, settings.bands * settings.rows, joining)

    def hash_rounds() -> Iterator[NDArray[np.uint64]]:
        for first in range(0, settings.bands, at_once):
            last = min(first + at_once, settings.bands)
            keys = _hash_bands(signatures, first, last, settings, joining)
            if len(joining.groups):  # equal keys of two groups become different
                keys ^= (joining.groups * SPREAD)[:, None]
            yield keys
            on_progress(last, settings.bands)

    return _join_rounds(hash_rounds(), alike, joining)


def hash_signatures(
    signatures: NDArray[np.uint32], used: int, joining: Joining
) -> NDArray[np.uint64]:  # fmt: skip
    """Hash the first `used` values of each signature: shape (documents,)."""
    hashes = np.empty(len(signatures), dtype=np.uint64)

    def fill(part: slice) -> None:
        joins.hash_whole(signatures[part], used, hashes[part])
        release_pages(signatures[part])

    _by_parts(fill, len(signatures), joining)
    return hashes


def key_candidates(
    keys: NDArray[np.uint64], alike: NDArray[np.uint64], *, joining: Joining = DEFAULT
) -> Candidates:
    """The pairs of rows that agree in some column of `keys` (documents × bands).

    `alike` (documents) is equal for rows that agree in all bands.
    """
    return _join_rounds([keys], alike, joining)


def _join_rounds(
    rounds: Iterable[NDArray[np.uint64]], alike: NDArray[np.uint64], joining: Joining
) -> Candidates:
    """Find the pairs of rows that agree in some column of any round."""
    pairs, hot, number = PairArray(joining), list[int](), 0
    for number, keys in enumerate(rounds):
        hot += _join(keys, alike, pairs, joining, is_first=number == 0)
    # Pairs may share bands of two rounds, and neighbours in a chain be neighbours in another.
    if number or hot:
        pairs.keep_distinct()
    return Candidates(pairs=pairs.pairs, hot_keys=len(hot), enough=max(hot, default=0))


def _join(
    keys: NDArray[np.uint64],
    alike: NDArray[np.uint64],
    pairs: PairArray,
    joining: Joining,
    *,
    is_first: bool,
) -> list[int]:
    """Add the pairs of rows that agree in some column, and return the sizes of hot keys.

    Rows that agree in all bands are chained by the first call. Pairs of hot keys may come
    twice.
    """
    bands, hot = range(keys.shape[1]), np.zeros(keys.shape, dtype=np.bool_)

    def find_runs(band: int) -> Runs:
        return _find_runs(np.ascontiguousarray(keys[:, band]), alike, joining.cap, hot, band)

    def pair(band: int, runs: Runs) -> Pairs:
        """Pair those that share this band and none before it, once all runs are collected."""
        members, ends, _ = runs
        largest = min(joining.cap, int(np.diff(ends, prepend=0).max(initial=0)))
        room = max(SIZES.candidate_block, 2 * len(members), largest * largest // 2)
        block = np.empty((room, 2), dtype=np.uint32)
        blocks, count, first = [block[:0]], 0, 0
        while first < len(ends):
            first, filled = joins.band_pairs(
                first, members, ends, keys, hot, alike, joining.sides, band,
                is_first and band == 0, block,
            )  # fmt: skip
            blocks.append(block[:filled].copy())
            count += filled
            if count > joining.most:  # all of them are different
                raise too_many(joining)
        return np.concatenate(blocks)

    with thread_pool(joining.threads) as pool:
        runs = list(pool.map(find_runs, bands))
        for block in pool.map(pair, bands, runs):
            pairs.add(block)
    return [size for _, _, hot_runs in runs for size in hot_runs]


def _find_runs(
    column: NDArray[np.uint64],
    alike: NDArray[np.uint64],
    cap: int,
    hot: NDArray[np.bool_],
    band: int,
) -> Runs:
    """Find the runs of equal keys of a band, and mark the documents of hot ones in `hot`."""
    count = len(column)
    bits = max(1, (count // _PART).bit_length())
    parts = np.zeros((1 << bits) + 1, dtype=np.int64)
    keys, rows = np.empty_like(column), np.empty(count, dtype=np.uint32)
    largest = joins.partition(column, 64 - bits, parts, keys, rows)
    slots = np.empty(1 << (2 * largest).bit_length(), dtype=np.uint32)
    lasts, nexts = np.empty((2, max(largest, 1)), dtype=np.uint32)
    members, ends = np.empty_like(rows), np.empty(count // 2, dtype=np.uint32)
    filled, count = joins.runs(
        keys, rows, parts, slots, lasts, nexts, cap, hot, band, members, ends
    )
    members, ends = members[:filled].copy(), ends[:count].copy()
    sizes = np.diff(ends, prepend=0)
    for run in np.flatnonzero(sizes > cap).tolist():
        # So that equal signatures are neighbours, and the same in every band.
        part = members[ends[run - 1] if run else 0 : ends[run]]
        part[:] = part[np.lexsort((part, alike[part]))]
    return members, ends, sizes[sizes > cap].tolist()


def _hash_bands(
    signatures: NDArray[np.uint32], first: int, last: int, settings: Settings, joining: Joining
) -> NDArray[np.uint64]:
    """Hash bands first..last - 1 as `hash_bands` does, some documents at a time."""
    keys = np.empty((len(signatures), last - first), dtype=np.uint64)

    def fill(documents: slice) -> None:
        joins.hash_rows(signatures[documents], first, settings.rows, keys[documents])
        release_pages(signatures[documents])

    _by_parts(fill, len(signatures), joining)
    return keys


def _by_parts(fill: Callable[[slice], None], documents: int, joining: Joining) -> None:
    parts = [slice(at, at + _AT_ONCE) for at in range(0, documents, _AT_ONCE)]
    with thread_pool(joining.threads) as pool:
        list(pool.map(fill, parts))
