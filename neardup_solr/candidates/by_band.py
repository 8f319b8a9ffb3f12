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
Hashes = NDArray[np.uint64]
START = np.uint64(0xCBF29CE484222325)  # the hash of no values


def band_candidates(
    signatures: NDArray[np.uint32],
    settings: Settings,
    *,
    alike: Hashes | None = None,
    joining: Joining = DEFAULT,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> Candidates:
    """The pairs of documents that share a band. `signatures` has shape (documents, hashes).

    `alike` has the hashes of the bands of each by `hash_signatures`, if these are known.

    Some bands at a time: their keys, in each band the runs of equal ones, then a walk over these. A
    pair is given by the first band of these that it shares. Keys that stay in a cache of the
    system are joined fastest; if there are many pairs, as many bands as fit the memory, so that
    few pairs are given twice. `on_progress` gets the bands done and all. "Mining of Massive
    Datasets", section 3.4.3.

    Raises SettingsError beyond `joining.most` pairs.
    """
    if alike is None:
        alike = hash_signatures(signatures, joining, last=settings.bands * settings.rows)
    most, few = (
        max(1, min(settings.bands, room // (_COST * max(len(signatures), 1))))
        for room in (min(joining.memory, SIZES.band_keys), min(joining.memory, SIZES.few_band_keys))
    )
    pairs = PairArray(joining)

    def hash_rounds() -> Iterator[NDArray[np.uint64]]:
        last = 0
        while last < settings.bands:
            are_many = len(pairs.pairs) * settings.bands > few * len(signatures)
            first, last = last, min(last + (most if are_many else few), settings.bands)
            keys = _hash_bands(signatures, first, last, settings, joining)
            if len(joining.groups):  # equal keys of two groups become different
                keys ^= joining.groups * SPREAD
            yield keys
            on_progress(last, settings.bands)

    return _join_rounds(hash_rounds(), alike, pairs, joining)


def hash_signatures(
    signatures: NDArray[np.uint32], joining: Joining, *, last: int, first: int = 0,
    before: Hashes | None = None,
) -> Hashes:  # fmt: skip
    """Hash the values first..last - 1 of each signature: shape (documents,).

    `before` has the hashes of the values before these.
    """
    hashes = np.full(len(signatures), START) if before is None else before.copy()

    def fill(part: slice) -> None:
        joins.hash_values(signatures[part], first, last, hashes[part])
        release_pages(signatures[part])

    if first < last:
        _by_parts(fill, len(signatures), joining)
    return hashes


def key_candidates(
    keys: NDArray[np.uint64], alike: NDArray[np.uint64], *, joining: Joining = DEFAULT
) -> Candidates:
    """The pairs of documents that agree in some row of `keys` (bands × documents).

    `alike` (documents) is equal for those that agree in all bands.
    """
    return _join_rounds([keys], alike, PairArray(joining), joining)


def _join_rounds(
    rounds: Iterable[NDArray[np.uint64]], alike: NDArray[np.uint64], pairs: PairArray,
    joining: Joining,
) -> Candidates:  # fmt: skip
    """Add the pairs of documents that agree in some band of any round."""
    hot, number = list[int](), 0
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
    """Add the pairs of documents that agree in some band, and return the sizes of hot keys.

    Documents that agree in all bands are chained by the first call. Pairs of hot keys may come
    twice.
    """
    bands, hot = range(len(keys)), np.zeros(keys.shape, dtype=np.bool_)

    def find_runs(band: int) -> Runs:
        return _find_runs(keys[band], alike, joining.cap, hot[band])

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
    filled, count = joins.runs(keys, rows, parts, slots, lasts, nexts, cap, hot, members, ends)
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
    keys = np.empty((last - first, len(signatures)), dtype=np.uint64)

    def fill(documents: slice) -> None:
        joins.hash_columns(signatures[documents], first, settings.rows, documents.start, keys)
        release_pages(signatures[documents])

    _by_parts(fill, len(signatures), joining)
    return keys


def _by_parts(fill: Callable[[slice], None], documents: int, joining: Joining) -> None:
    parts = [slice(at, at + _AT_ONCE) for at in range(0, documents, _AT_ONCE)]
    with thread_pool(joining.threads) as pool:
        list(pool.map(fill, parts))
