"""Hash families: the functions that re-order the hashes of shingles, and their extremes.

affine: minima of a·x + b mod 2^32 with odd a, the default. Each function is a bijection of the
32-bit integers, so values of distinct shingles never tie; a and b come from SplitMix64 started at
the seed (Steele, Lea, Flood 2014). The estimate's standard deviation is the binomial one,
sqrt(J(1-J)/hashes). Linear permutations: Bohman, Cooper, Frieze, "Min-wise independent linear
permutations" (2000).

xor: maxima, as signed integers, of x XOR mask, the family of the restaurant example, kept to
reproduce it. The masks are the first `hashes` values of java.util.Random(seed).nextInt(), as
published there (seed 42). XOR does not mix: masks that agree in their leading bits choose the
same shingle, so the estimate is unbiased, but for short texts its error is up to 2.4 times that of
the affine family.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import mmh3
import numpy as np
from numpy.typing import NDArray

from neardup_solr.kernel import hashes as kernel
from neardup_solr.settings import Settings

Signature = NDArray[np.uint32]
KERNEL: dict[str, int] = {"affine": kernel.AFFINE, "xor": kernel.XOR}  # how the kernel calls them


def minhash(pieces: Sequence[str], settings: Settings) -> Signature:
    """The MinHash signature of a set of shingles.

    Shape (hashes,), dtype uint32; shape (0,) for the empty set, which is similar to nothing.
    """
    if not pieces:
        return np.empty(0, dtype=np.uint32)
    hashed = np.fromiter(
        (mmh3.hash(piece.encode(), settings.seed, signed=False) for piece in pieces),
        dtype=np.uint32,
        count=len(pieces),
    )
    return fold(hashed, settings)


def fold(hashed: NDArray[np.uint32], settings: Settings) -> Signature:
    """The signature of a set of shingles, from their hashes, at least one."""
    signature = np.empty(settings.hashes, dtype=np.uint32)
    kernel.fold(hashed, KERNEL[settings.family], *coefficients(settings), signature)
    return signature


def coefficients(settings: Settings) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Multipliers (or masks) and offsets of a family's functions; shape (hashes,) each."""
    return _DRAWN[settings.family](settings.hashes, settings.seed)


@lru_cache(maxsize=16)
def _affine_coefficients(hashes: int, seed: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    drawn = [_splitmix64(seed, index) for index in range(1, hashes + 1)]
    multiplier = np.array([value >> 32 | 1 for value in drawn], dtype=np.uint32)
    offset = np.array([value & 0xFFFFFFFF for value in drawn], dtype=np.uint32)
    return multiplier, offset


def _splitmix64(seed: int, index: int) -> int:
    """The index-th output of SplitMix64 from a seed; 64 bits."""
    mixed = (seed + index * 0x9E3779B97F4A7C15) % 2**64
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB % 2**64
    return mixed ^ mixed >> 31


@lru_cache(maxsize=16)
def _xor_masks(hashes: int, seed: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    masks = np.array(_java_random(hashes, seed), dtype=np.uint32)
    return masks, np.zeros(hashes, dtype=np.uint32)


def _java_random(count: int, seed: int) -> list[int]:
    """The first values of java.util.Random(seed).nextInt(), as its documentation defines it."""
    state = (seed ^ 0x5DEECE66D) % 2**48
    drawn = []
    for _ in range(count):
        state = (state * 0x5DEECE66D + 0xB) % 2**48
        drawn.append(state >> 16)
    return drawn


_DRAWN = {"affine": _affine_coefficients, "xor": _xor_masks}
