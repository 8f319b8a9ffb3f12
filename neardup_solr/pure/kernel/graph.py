"""Missing pairs, diameters and bridges of a graph of documents, in compiled code.

Everything is a loop over arrays, without recursion: a chain of a million documents is only a long
one. `neardup_solr.pure.grouping.clusters` documents what is computed and has equal results without
numba.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_NONE = -1


@njit(nogil=True, cache=True)
def adjacency(documents, pairs):
    """Neighbours of document d: neighbours[offsets[d]:offsets[d + 1]]."""
    offsets = np.zeros(documents + 1, dtype=np.int64)
    for pair in range(len(pairs)):
        offsets[pairs[pair, 0] + 1] += 1
        offsets[pairs[pair, 1] + 1] += 1
    for document in range(documents):
        offsets[document + 1] += offsets[document]
    places, neighbours = offsets[:-1].copy(), np.empty(2 * len(pairs), dtype=np.uint32)
    for pair in range(len(pairs)):
        one, other = pairs[pair, 0], pairs[pair, 1]
        neighbours[places[one]], neighbours[places[other]] = other, one
        places[one] += 1
        places[other] += 1
    return offsets, neighbours


@njit(nogil=True, cache=True)
def missing(offsets, neighbours, members, bounds, room):
    """All pairs of documents of one group that are not neighbours; `room` is their number.

    Group g is members[bounds[g]:bounds[g + 1]], rising.
    """
    found = np.empty((room, 2), dtype=np.uint32)
    met = np.full(len(offsets) - 1, _NONE)
    filled = 0
    for group in range(len(bounds) - 1):
        for at in range(bounds[group], bounds[group + 1]):
            one = members[at]
            for place in range(offsets[one], offsets[one + 1]):
                met[neighbours[place]] = one
            for later in range(at + 1, bounds[group + 1]):
                if met[members[later]] != one:
                    found[filled, 0], found[filled, 1] = one, members[later]
                    filled += 1
    return found


@njit(nogil=True, cache=True)
def diameters(offsets, neighbours, members, bounds):
    """The longest of the shortest paths of each group, a connected one.

    Breadth first from the document of most neighbours, then from the others, the farthest of it
    first: any two of those that remain are within twice their distance of it, which ends the
    search early (iFUB; Crescenzi and others 2013).
    """
    longest = np.zeros(len(bounds) - 1, dtype=np.int64)
    stamps = np.full(len(offsets) - 1, _NONE)
    levels = np.zeros(len(offsets) - 1, dtype=np.int64)
    queue = np.empty(len(members), dtype=np.int64)
    order = np.empty(len(members), dtype=np.int64)
    distances = np.empty(len(members), dtype=np.int64)
    for group in range(len(bounds) - 1):
        first, size = members[bounds[group]], bounds[group + 1] - bounds[group]
        for at in range(bounds[group], bounds[group + 1]):
            if (
                offsets[members[at] + 1] - offsets[members[at]]
                > offsets[first + 1] - offsets[first]
            ):
                first = members[at]
        longest[group] = _breadth_first(first, size, offsets, neighbours, stamps, levels, order)
        for at in range(size):
            distances[at] = levels[order[at]]
        for at in range(size - 1, 0, -1):
            if longest[group] >= 2 * distances[at]:
                break
            deep = _breadth_first(order[at], size, offsets, neighbours, stamps, levels, queue)
            longest[group] = max(longest[group], deep)
    return longest


@njit(nogil=True, cache=True)
def _breadth_first(first, size, offsets, neighbours, stamps, levels, queue):
    """How far the farthest of `size` documents is; `queue` and `levels` then tell of each."""
    queue[0], stamps[first], levels[first] = first, first, 0
    filled, at = 1, 0
    while filled < size and at < filled:
        one = queue[at]
        at += 1
        for place in range(offsets[one], offsets[one + 1]):
            other = neighbours[place]
            if stamps[other] != first:
                stamps[other], levels[other], queue[filled] = first, levels[one] + 1, other
                filled += 1
    return levels[queue[filled - 1]]


@njit(nogil=True, cache=True)
def bridges(offsets, neighbours):
    """Whether the graph falls apart further without the document: articulation points.

    Depth first, with the walk kept in `parent` (Hopcroft and Tarjan 1973): `low` is the least
    depth that what hangs on a document reaches past it.
    """
    documents = len(offsets) - 1
    depth, low = np.full(documents, _NONE), np.zeros(documents, dtype=np.int64)
    parent, place = np.full(documents, _NONE), offsets[:-1].copy()
    found = np.zeros(documents, dtype=np.bool_)
    for root in range(documents):
        if depth[root] != _NONE:
            continue
        depth[root], branches, one = 0, 0, root
        while one != _NONE:
            if place[one] < offsets[one + 1]:
                other = neighbours[place[one]]
                place[one] += 1
                if depth[other] == _NONE:
                    parent[other], depth[other] = one, depth[one] + 1
                    low[other], one = depth[other], other
                else:
                    low[one] = min(low[one], depth[other])
                continue
            above = parent[one]
            if above == root:
                branches += 1
            elif above != _NONE:
                found[above] |= low[one] >= depth[above]
            if above != _NONE:
                low[above] = min(low[above], low[one])
            one = above
        found[root] = branches > 1
    return found
