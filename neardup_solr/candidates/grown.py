"""Candidates of a collection that has grown: only what came is joined, with all that is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from neardup_solr.candidates.by_band import (
    DEFAULT,
    ROOM,
    Candidates,
    Found,
    Hot,
    Joining,
    band_keys,
    bands_at_once,
    whole_hashes,
)
from neardup_solr.kernel import joins
from neardup_solr.measures.arrays import Pairs
from neardup_solr.settings import Settings
from neardup_solr.threads import thread_pool

_AT_ONCE = 1 << 16  # pairs of chains that are looked at in one go


def grown_candidates(
    known: Pairs,
    hot: Hot,
    is_new: NDArray[np.bool_],
    signatures: NDArray[np.uint32],
    settings: Settings,
    *,
    joining: Joining = DEFAULT,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> Candidates | None:
    """What `band_candidates` finds, from what it found before the new documents came.

    `known` are the pairs that share a key that is not hot, among documents that are not new; `hot`
    are the keys that were. Only keys of new documents are looked up. None if other keys are hot
    now: then all documents have to be joined. One side only.

    Raises SettingsError if there are more pairs than `joining.most`.
    """
    chains = _Chains(signatures, hot, settings, joining)
    if chains.has_cooled:
        return None
    at_once = bands_at_once(len(signatures), settings, joining)
    found = Found(joining)
    for first in range(0, settings.bands, at_once):
        last = min(first + at_once, settings.bands)
        keys = band_keys(signatures, first, last, settings, joining)
        growth = _Growth(keys, is_new, [_of_band(hot, b) for b in range(first, last)], joining.cap)
        with thread_pool(joining.threads) as pool:
            for pairs in pool.map(growth.pairs, range(last - first)):
                if pairs is None:
                    pool.shutdown(cancel_futures=True)
                    return None
                found.add(pairs)
        on_progress(last, settings.bands)
    if at_once < settings.bands:
        found.keep_distinct()
    found.add(np.ascontiguousarray(known))
    chained = chains.only()
    found.add(chained)
    return Candidates(pairs=found.pairs, hot_keys=len(hot), hot=hot, chained=chained)


def chained_only(
    hot: Hot,
    signatures: NDArray[np.uint32],
    settings: Settings,
    *,
    joining: Joining = DEFAULT,
) -> Pairs:
    """The candidates that share no other key than those that are hot, and so were chained."""
    return _Chains(signatures, hot, settings, joining).only()


def _of_band(hot: Hot, band: int) -> NDArray[np.uint64]:
    """The hot keys of a band."""
    keys: NDArray[np.uint64] = hot[hot[:, 0] == band, 1]
    return keys


class _Growth:
    """The keys of some bands (documents × bands), of documents of which some are new."""

    def __init__(
        self,
        keys: NDArray[np.uint64],
        is_new: NDArray[np.bool_],
        hot: list[NDArray[np.uint64]],
        cap: int,
    ) -> None:
        self._keys, self._is_new, self._cap = keys, is_new, cap
        self._new = np.flatnonzero(is_new).astype(np.uint32)
        own = keys[self._new]
        self._hot = np.stack([np.isin(own[:, at], each) for at, each in enumerate(hot)], axis=1)

    def pairs(self, band: int) -> Pairs | None:
        """The pairs of new documents that share this key and none before; None if it is hot now."""
        own = self._keys[self._new, band]
        owners = np.argsort(own).astype(np.uint32)
        ordered, is_hot = own[owners], self._hot[owners, band]
        slots = np.zeros(1 << (2 * len(own)).bit_length(), dtype=np.uint32)
        if joins.find_by_key(ordered, is_hot, slots) > self._cap:
            return None
        counts = np.zeros(len(own), dtype=np.uint32)
        room = np.empty((max(ROOM, self._cap), 2), dtype=np.uint32)
        blocks, first = [room[:0]], 0
        while first < len(self._keys):
            first, filled, has_become_hot = joins.pairs_of_new(
                first, self._keys, band, self._is_new, self._new, self._hot, ordered, owners,
                slots, counts, self._cap, room,
            )  # fmt: skip
            if has_become_hot:
                return None
            blocks.append(room[:filled].copy())
        return np.concatenate(blocks)


class _Chains:
    """The documents of hot keys, chained as `band_candidates` does it."""

    def __init__(
        self, signatures: NDArray[np.uint32], hot: Hot, settings: Settings, joining: Joining
    ) -> None:
        self._signatures, self._hot = signatures, hot
        self._settings, self._joining = settings, joining
        self.has_cooled = False  # whether a key is no longer of more documents than the cap
        found = Found(joining)
        for links in self._links() if len(hot) else ():
            found.add(links)
        found.keep_distinct()
        self._pairs = found.pairs

    def _links(self) -> Iterator[Pairs]:
        """The pairs of neighbours in the chain of each key."""
        alike = whole_hashes(self._signatures, self._settings, self._joining)
        for band in np.unique(self._hot[:, 0]).tolist():
            keys = band_keys(self._signatures, band, band + 1, self._settings, self._joining)[:, 0]
            for key in _of_band(self._hot, band):
                members = np.flatnonzero(keys == key)
                self.has_cooled |= len(members) <= self._joining.cap
                members = members[np.argsort(alike[members], kind="stable")]
                pairs = np.stack([members[:-1], members[1:]], axis=1)
                if band:  # those of equal signatures are chained in the first band
                    pairs = pairs[alike[pairs[:, 0]] != alike[pairs[:, 1]]]
                yield np.sort(pairs, axis=1).astype(np.uint32)

    def only(self) -> Pairs:
        """The pairs that share no other keys than hot ones."""
        parts = [self._pairs[at : at + _AT_ONCE] for at in range(0, len(self._pairs), _AT_ONCE)]
        return np.concatenate([self._pairs[:0], *(part[~self._share(part)] for part in parts)])

    def _share(self, pairs: Pairs) -> NDArray[np.bool_]:
        """Which pairs share a key that is not hot."""
        bands = self._settings.bands
        first, second = (
            band_keys(self._signatures[rows], 0, bands, self._settings, self._joining)
            for rows in pairs.T
        )
        share = np.zeros(len(pairs), dtype=np.bool_)
        for band in range(bands):
            own = first[:, band]
            share |= (own == second[:, band]) & ~np.isin(own, _of_band(self._hot, band))
        return share
