"""Many pairs at once, as arrays: who is compared, and what a measure says of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup_solr.records import NO_DISTANCE
from neardup_solr.settings import NORMALIZATION
from neardup_solr.text.normalize import unspaced
from neardup_solr.threads import run_aside, thread_pool

AT_ONCE = 1 << 12  # pairs that a thread compares, at most
PAIRED = 1.5  # power of the weight of pairs of characters
STEPS = 1 << 26  # of the loops of the kernel at once, a fraction of a second

Pairs = NDArray[np.uint32]
Distances = NDArray[np.int64]
Similarities = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Frequencies:
    """Number of documents that have each word, as `split_words` gives these."""

    documents: int
    counts: Mapping[str, int]
    normalization: int = NORMALIZATION

    def weight(self, word: str) -> float:
        """The weight of a word, ln(1 + documents / documents with it) squared.

        A word that no document has weighs as much as one that a single document has. For pairs of
        characters of scripts without blanks, in which a slip makes two rare ones of what may be
        frequent ones, it is the power `PAIRED` of the logarithm, times that of the rarest word to
        make up 2.
        """
        documents = max(self.documents, 1)
        weight = math.log(1 + documents / max(self.counts.get(word, 1), 1))
        if len(word) <= 2 and self.normalization > 1 and unspaced().match(word):
            return math.pow(weight, PAIRED) * math.pow(math.log(1 + documents), 2 - PAIRED)
        return math.pow(weight, 2)


def number_pairs(pairs: Pairs) -> NDArray[np.uint64]:
    """Give each pair of rows as one number: the first in the upper 32 bits."""
    return pairs[:, 0].astype(np.uint64) << np.uint64(32) | pairs[:, 1]


def pairs_of(numbers: NDArray[np.uint64]) -> Pairs:
    """Give the pairs of rows that `number_pairs` numbered."""
    both = [numbers >> np.uint64(32), numbers & np.uint64(0xFFFFFFFF)]
    return np.stack(both, axis=1).astype(np.uint32)


def find_pairs(wanted: Pairs, pairs: Pairs) -> NDArray[np.int64]:
    """Find the place of each wanted pair among `pairs`, which may be in any order; -1 for none."""
    numbers, sought = number_pairs(pairs), number_pairs(wanted)
    if not len(numbers):
        return np.full(len(sought), -1)
    order = np.argsort(numbers, kind="stable")
    places = order[np.searchsorted(numbers[order], sought).clip(max=len(numbers) - 1)]
    return np.where(numbers[places] == sought, places, -1)


class Flat(NamedTuple):
    """Values of many texts, one after the other: t has values[bounds[t]:bounds[t + 1]].

    `values` are hashes of words or shingles (uint64), or the bytes of normal forms in UTF-8.
    """

    values: NDArray[Any]
    bounds: NDArray[np.int64]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of values of each text."""
        return np.diff(self.bounds)

    def lengths_of(self, texts: NDArray[np.uint32]) -> NDArray[np.int64]:
        """Count the values of these texts, which may be few of many, in their shape."""
        found: NDArray[np.int64] = self.bounds[1:][texts] - self.bounds[texts]
        return found


class Measurements(NamedTuple):
    """Measurements of a measure for pairs, of shape (pairs,) each.

    `distances` count words and are NO_DISTANCE beyond the limits; None if the measure has none.
    """

    similarities: Similarities
    distances: Distances | None = None


class Compared(NamedTuple):
    """Pairs that were compared, of shape (pairs,) each. `is_near` tells who is within the limits.

    Distances are NO_DISTANCE if the measure has none. If a pair is beyond the limits, its distance
    and similarity are of no use.
    """

    distances: Distances
    similarities: Similarities
    is_near: NDArray[np.bool_]


def in_parts(work: Callable[[slice], None], steps: NDArray[Any], threads: int) -> None:
    """Do what is to be done with pairs by threads, some thousands at once or fewer.

    `steps` (pairs,) says about how much work each pair is, so that no thread is at it for long.
    """
    pairs = len(steps)
    size = max(1, min(AT_ONCE, -(-pairs // threads)))
    is_enough = np.diff(np.cumsum(steps, dtype=np.float64) // STEPS) > 0
    bounds = {0, *range(size, pairs, size), *(np.flatnonzero(is_enough) + 1).tolist(), pairs}
    parts = [slice(*part) for part in pairwise(sorted(bounds))]
    if threads == 1 or len(parts) < 2:
        for part in parts:
            run_aside(partial(work, part))
        return
    with thread_pool(threads) as pool:
        list(pool.map(work, parts))


def within(found: Measurements, least: float) -> Compared:
    """Make the results of pairs, of which those from this similarity on are within the limits."""
    similarities, distances = found
    is_near = similarities >= least
    if distances is None:
        distances = np.full(len(similarities), NO_DISTANCE, dtype=np.int64)
    else:
        is_near &= distances != NO_DISTANCE
    return Compared(distances, similarities, is_near)


def first_with_each(others: int) -> Pairs:
    """Make the pairs of the first text with each of the others that follow it."""
    numbers = np.arange(1, others + 1, dtype=np.uint32)
    return np.stack([np.zeros_like(numbers), numbers], axis=1)
