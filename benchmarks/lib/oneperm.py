"""One-permutation hashing with densification: a prototype, to see whether it earns its place.

The hash of a shingle chooses one of k bins by its high bits, and each bin keeps the least of what
falls into it (Li, Owen, Zhang 2012). Empty bins borrow from others: by rotation from the next
one that is not empty (Shrivastava, Li, ICML 2014), or each from one chosen at random, again and
again until that one is not empty ("optimal densification", Shrivastava, ICML 2017).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

ROTATION, OPTIMAL = 0, 1
EMPTY = np.uint64(0xFFFFFFFFFFFFFFFF)


@njit(nogil=True, cache=True)
def mix(value: Any) -> Any:
    """The 64-bit finaliser of murmur3 (Appleby 2011)."""
    value = (value ^ (value >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    value = (value ^ (value >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return value ^ (value >> np.uint64(33))


@njit(nogil=True, cache=True)
def sketch(hashes: Any, bins: int, how: int, into: Any) -> None:
    """Fold uint32 hashes (at least one) into `into` (uint64, bins); bins is a power of two."""
    shift, width = np.uint64(32), bins
    while width > 1:
        shift, width = shift - np.uint64(1), width >> 1
    into[:] = EMPTY
    for hashed in hashes:
        value = np.uint64(hashed)
        at = value >> shift
        into[at] = min(into[at], value)
    _densify(bins, how, into)


@njit(nogil=True, cache=True)
def _densify(bins: Any, how: int, into: Any) -> None:
    filled = into != EMPTY
    for at in range(bins):
        if filled[at]:
            continue
        other, tried = np.int64(at), np.uint64(0)
        while not filled[other]:
            tried += np.uint64(1)
            if how == ROTATION:
                other = (other + 1) % bins
            else:
                other = np.int64(mix(np.uint64(at) << np.uint64(32) | tried) % np.uint64(bins))
        # The number of tries keeps equal values from different distances apart.
        into[at] = into[other] + (tried << np.uint64(32))


@njit(nogil=True, cache=True)
def sketch_many(hashes: Any, bounds: Any, bins: int, how: int) -> Any:
    """The sketches of sets that lie one after the other in one array."""
    made = np.empty((len(bounds) - 1, bins), dtype=np.uint64)
    for at in range(len(made)):
        sketch(hashes[bounds[at] : bounds[at + 1]], bins, how, made[at])
    return made


def rehash(ids: NDArray[np.int64], seed: int) -> NDArray[np.uint32]:
    """Other 32-bit hashes of shingle numbers for each seed."""
    salt = np.uint64(seed * 0x9E3779B97F4A7C15 % 2**64)
    mixed: NDArray[np.uint64] = mix(mix(ids.astype(np.uint64) + salt))
    return (mixed >> np.uint64(32)).astype(np.uint32)
