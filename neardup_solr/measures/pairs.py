"""Pairs of rows: as numbers, in parts for threads, and where some are among others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from neardup_solr.progress import FEW_STEPS, run_aside, thread_pool
from neardup_solr.sizes import SIZES

Pairs = NDArray[np.uint32]
NO_PAIRS: Pairs = np.empty((0, 2), dtype=np.uint32)
Joined = NDArray[np.uint64]  # two numbers of 32 bits in a number of 64
STEPS = 1 << 26  # of the loops of the kernel at once, a fraction of a second
S = TypeVar("S", bound=np.generic)


def number_pairs(pairs: Pairs) -> NDArray[np.uint64]:
    """Number each pair of rows: the first row in the upper 32 bits."""
    return join_halves(pairs[:, 0], pairs[:, 1])


def pairs_of(numbers: NDArray[np.uint64]) -> Pairs:
    """List the pairs of rows that `number_pairs` numbered."""
    return np.stack(split_halves(numbers), axis=1).astype(np.uint32)


def join_halves(high: NDArray[Any], low: NDArray[Any]) -> Joined:
    """Join two numbers of 32 bits to one."""
    return high.astype(np.uint64) << np.uint64(32) | low.astype(np.uint64)


def split_halves(joined: Joined) -> tuple[Joined, Joined]:
    """Split what `join_halves` joined."""
    return joined >> np.uint64(32), joined & np.uint64(0xFFFFFFFF)


def take_evenly(values: NDArray[S], most: int) -> NDArray[S]:
    """Take at most so many values, evenly from the first to the last."""
    places = np.linspace(0, len(values) - 1, min(len(values), most))
    return values[places.astype(np.int64)]


def find_pairs(wanted: Pairs, pairs: Pairs) -> NDArray[np.int64]:
    """Find the place of each wanted pair among `pairs`, in any order, or -1."""
    numbers, sought = number_pairs(pairs), number_pairs(wanted)
    if not len(numbers):
        return np.full(len(sought), -1)
    order = np.argsort(numbers, kind="stable")
    places = order[np.searchsorted(numbers[order], sought).clip(max=len(numbers) - 1)]
    return np.where(numbers[places] == sought, places, -1)


def first_with_each(others: int) -> Pairs:
    """Make the pairs of the first text with each of the others that follow it."""
    numbers = np.arange(1, others + 1, dtype=np.uint32)
    return np.stack([np.zeros_like(numbers), numbers], axis=1)


def split_bounds(bounds: NDArray[np.int64], size: int) -> Iterator[slice]:
    """Split texts into parts of at most so many values, or of one text, by their `bounds`."""
    first = 0
    while first < len(bounds) - 1:
        last = int(np.searchsorted(bounds, bounds[first] + size, side="right")) - 1
        last = max(first + 1, last)
        yield slice(first, last)
        first = last


def in_parts(work: Callable[[slice], None], steps: NDArray[Any], threads: int) -> None:
    """Do what is to be done with pairs by threads, some thousands at once or fewer.

    `steps` (pairs,) says about how much work each pair is, so that no thread is at it for long.
    """
    pairs = len(steps)
    size = max(1, min(SIZES.compared_by_thread, -(-pairs // threads)))
    is_enough = np.diff(np.cumsum(steps, dtype=np.float64) // STEPS) > 0
    bounds = {0, *range(size, pairs, size), *(np.flatnonzero(is_enough) + 1).tolist(), pairs}
    parts = [slice(*part) for part in pairwise(sorted(bounds))]
    total = float(steps.sum())
    if threads == 1 or len(parts) < 2 or total < FEW_STEPS:
        for part in parts:
            run_aside(partial(work, part), steps=total)
        return
    with thread_pool(threads) as pool:
        list(pool.map(work, parts))


def mutual_best(pairs: Pairs, similarities: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Mark pairs that are the most similar of both records, ties included: shape (pairs,).

    An option for two sides that list each thing once; within a file, which may list a thing
    more than twice, it loses pairs.
    """
    top = np.zeros(int(pairs.max(initial=0)) + 1)
    for rows in pairs.T:
        np.maximum.at(top, rows, similarities)
    best: NDArray[np.bool_] = similarities[:, np.newaxis] == top[pairs]
    return best[:, 0] & best[:, 1]
