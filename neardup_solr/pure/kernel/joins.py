"""Which documents share a band, and which belong together, in compiled code."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def mark_hot(order, column, cap, hot):
    """Mark the documents of each run of more than `cap` equal keys; gives the number of runs.

    `order` sorts `column` (uint64, documents); `hot` (bool, documents) is filled.
    """
    runs, start, count = 0, 0, len(order)
    while start < count:
        stop = start + 1
        while stop < count and column[order[stop]] == column[order[start]]:
            stop += 1
        if stop - start > cap:
            runs += 1
            for at in range(start, stop):
                hot[order[at]] = True
        start = stop
    return runs


@njit(nogil=True, cache=True)
def band_pairs(start, order, keys, hot, band, pairs):
    """Fill `pairs` with documents that share this band and no earlier one; from run `start` on.

    Runs that `hot` marks are chained instead: each document with the next. An earlier band that
    two documents share does not count where it is hot for them, as it may not have paired them.
    Gives where the next call goes on (the number of documents once all is done) and how many
    pairs were filled; `pairs` (uint32, room × 2) has room for the largest run.
    """
    filled, count = 0, len(order)
    while start < count:
        key, stop = keys[order[start], band], start + 1
        while stop < count and keys[order[stop], band] == key:
            stop += 1
        size = stop - start
        is_hot = hot[order[start], band]
        if filled + (size if is_hot else size * (size - 1) // 2) > len(pairs):
            return start, filled
        for at in range(start, stop - 1):
            last = at + 2 if is_hot else stop
            for other in range(at + 1, last):
                first = min(order[at], order[other])
                second = max(order[at], order[other])
                if not _met(keys, hot, band, first, second):
                    pairs[filled, 0], pairs[filled, 1] = first, second
                    filled += 1
        start = stop
    return start, filled


@njit(nogil=True, cache=True)
def _met(keys, hot, band, first, second):
    """Whether an earlier band has paired the two."""
    for earlier in range(band):
        if keys[first, earlier] == keys[second, earlier] and not hot[first, earlier]:
            return True
    return False


@njit(nogil=True, cache=True)
def components(documents, pairs):
    """The component of each document: the number of its first document.

    Union by the smaller number with path halving (Tarjan, van Leeuwen 1984).
    """
    parent = np.arange(documents)
    for pair in range(len(pairs)):
        one, other = _root(parent, pairs[pair, 0]), _root(parent, pairs[pair, 1])
        if one != other:
            parent[max(one, other)] = min(one, other)
    for document in range(documents):
        parent[document] = _root(parent, document)
    return parent


@njit(nogil=True, cache=True)
def _root(parent, document):
    while parent[document] != document:
        parent[document] = parent[parent[document]]
        document = parent[document]
    return document
