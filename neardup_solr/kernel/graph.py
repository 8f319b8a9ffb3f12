"""A graph of documents, in compiled code: its components, its guards, complete linkage over it.

Everything is a loop over arrays, without recursion: a chain of a million documents is no
problem. `clusters` documents what is computed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from neardup_solr.kernel import compiled, inner

_NONE = -1
_SPREAD = 0x1E3779B97F4A7C15  # odd; spreads keys over a table (Knuth, volume 3, section 6.4)


@compiled("uint32[,] int64[]")
def components(pairs, parent):
    """Make `parent` (int64, documents), each itself at first, the first document of its component.

    Union by the smaller number with path halving (Tarjan, van Leeuwen 1984).
    """
    for pair in range(len(pairs)):
        first, second = _find_root(parent, pairs[pair, 0]), _find_root(parent, pairs[pair, 1])
        if first != second:
            parent[max(first, second)] = min(first, second)
    for document in range(len(parent)):
        parent[document] = _find_root(parent, document)


@inner
def _find_root(parent, document):
    while parent[document] != document:
        parent[document] = parent[parent[document]]
        document = parent[document]
    return document


@compiled("uint32[,] int64[] uint32[]")
def adjacency(pairs, offsets, neighbours):
    """Fill in the neighbours of document d: neighbours[offsets[d]:offsets[d + 1]].

    `offsets` (int64, documents + 1) are zeros at first; `neighbours` is uint32, two a pair.
    """
    documents = len(offsets) - 1
    for pair in range(len(pairs)):
        offsets[pairs[pair, 0] + 1] += 1
        offsets[pairs[pair, 1] + 1] += 1
    for document in range(documents):
        offsets[document + 1] += offsets[document]
    places = offsets[:-1].copy()
    for pair in range(len(pairs)):
        first, second = pairs[pair, 0], pairs[pair, 1]
        neighbours[places[first]], neighbours[places[second]] = second, first
        places[first] += 1
        places[second] += 1


@compiled("int64[] uint32[] int64[] int64[] uint32[,]")
def missing(offsets, neighbours, members, bounds, pairs):
    """Fill `pairs` (uint32, pairs) with all pairs of a group that are not neighbours.

    Group g is members[bounds[g]:bounds[g + 1]], rising.
    """
    met = np.full(len(offsets) - 1, _NONE)
    filled = 0
    for group in range(len(bounds) - 1):
        for at in range(bounds[group], bounds[group + 1]):
            document = members[at]
            for place in range(offsets[document], offsets[document + 1]):
                met[neighbours[place]] = document
            for later in range(at + 1, bounds[group + 1]):
                if met[members[later]] != document:
                    pairs[filled, 0], pairs[filled, 1] = document, members[later]
                    filled += 1


@compiled("uint32[,] bool uint32[] int64[] uint32[]")
def count_common(pairs, are_near, nodes, offsets, neighbours):
    """Count the nodes that are neighbours of both ends of a pair, if those are so, too, or are not.

    `nodes` (uint32) has the node of each document, or a number beyond all nodes; the neighbours
    of each node ascend.
    """
    count, last = 0, len(offsets) - 1
    for pair in range(len(pairs)):
        node, end_node = np.int64(nodes[pairs[pair, 0]]), np.int64(nodes[pairs[pair, 1]])
        if node >= last or end_node >= last:
            continue
        if offsets[node + 1] - offsets[node] > offsets[end_node + 1] - offsets[end_node]:
            node, end_node = end_node, node
        at, end = offsets[end_node], offsets[end_node + 1]
        place = bisect(neighbours, at, end, node)
        if (place < end and neighbours[place] == node) != are_near:
            continue
        for third in range(offsets[node], offsets[node + 1]):
            at = bisect(neighbours, at, end, neighbours[third])
            if at < end and neighbours[at] == neighbours[third]:
                count += 1
    return count


@inner
def bisect(values, low, high, least):
    """Find the first place from `low` on, before `high`, whose value is not below the least."""
    while low < high:
        middle = (low + high) // 2
        if values[middle] < least:
            low = middle + 1
        else:
            high = middle
    return low


@compiled("int64[] uint32[] int64[] int64[] int64[]")
def diameters(offsets, neighbours, members, bounds, longest):
    """Fill `longest` (int64) with the longest shortest path of each group, which is connected.

    Breadth first from the document of most neighbours, then from the others, the farthest of it
    first: any two of those that remain are within twice their distance of it, which ends the
    search early (iFUB; Crescenzi and others 2013).
    """
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


@inner
def _breadth_first(first, size, offsets, neighbours, stamps, levels, queue):
    """Return the steps to the farthest of `size` documents, and fill `queue` and `levels`."""
    queue[0], stamps[first], levels[first] = first, first, 0
    filled, at = 1, 0
    while filled < size and at < filled:
        document = queue[at]
        at += 1
        for place in range(offsets[document], offsets[document + 1]):
            neighbour = neighbours[place]
            if stamps[neighbour] != first:
                stamps[neighbour], levels[neighbour], queue[filled] = (
                    first,
                    levels[document] + 1,
                    neighbour,
                )
                filled += 1
    return levels[queue[filled - 1]]


@compiled("int64[] uint32[] bool[]")
def bridges(offsets, neighbours, marks):
    """Fill `marks` (bool) with whether the graph falls apart further without the document.

    Articulation points, depth first, with the walk kept in `parent` (Hopcroft and Tarjan 1973):
    `low` is the least depth that what hangs on a document reaches past it.
    """
    documents = len(offsets) - 1
    depth, low = np.full(documents, _NONE), np.zeros(documents, dtype=np.int64)
    parent, place = np.full(documents, _NONE), offsets[:-1].copy()
    for root in range(documents):
        if depth[root] != _NONE:
            continue
        depth[root], branches, document = 0, 0, root
        while document != _NONE:
            if place[document] < offsets[document + 1]:
                neighbour = neighbours[place[document]]
                place[document] += 1
                if depth[neighbour] == _NONE:
                    parent[neighbour], depth[neighbour] = document, depth[document] + 1
                    low[neighbour], document = depth[neighbour], neighbour
                else:
                    low[document] = min(low[document], depth[neighbour])
                continue
            above = parent[document]
            if above == root:
                branches += 1
            elif above != _NONE:
                marks[above] |= low[document] >= depth[above]
            if above != _NONE:
                low[above] = min(low[above], low[document])
            document = above
        marks[root] = branches > 1


class Linking(NamedTuple):
    """Clusters while they grow, by the number of their root: each a tree of documents.

    Each has a list of the clusters that it shares seen pairs with, which are numbered from
    heads[root] on by `following`; targets[entry] is a document of such a cluster. `lengths` has
    how long a list may be.
    """

    parent: Any
    sizes: Any
    lengths: Any
    heads: Any
    targets: Any
    following: Any


@compiled("uint32[,] int64[] int64[]")
def complete(pairs, bounds, labels):
    """Fill `labels` (int64) with the first document of the cluster of each, by complete linkage.

    Component c has the pairs bounds[c]:bounds[c + 1], in the order in which to link.
    """
    documents, largest = len(labels), 0
    for component in range(len(bounds) - 1):
        largest = max(largest, bounds[component + 1] - bounds[component])
    table = np.zeros(_compute_capacity(largest), dtype=np.int64)
    tally = np.zeros(len(table), dtype=np.uint32)
    linking = Linking(
        np.arange(documents),
        np.ones(documents, dtype=np.int64),
        np.zeros(documents, dtype=np.int64),
        np.full(documents, _NONE),
        np.empty(2 * largest, dtype=np.uint32),
        np.empty(2 * largest, dtype=np.int64),
    )
    for component in range(len(bounds) - 1):
        part = pairs[bounds[component] : bounds[component + 1]]
        room = _compute_capacity(len(part))
        table[:room] = 0
        _link(part, linking, table[:room], tally[:room])
    _label(linking.parent, labels)


@inner
def _link(pairs, linking, table, tally):
    """Merge two clusters as soon as all pairs between them were seen.

    `tally` counts the pairs that were seen between two clusters, at the slot of their key in
    `table`. The shorter list of neighbours moves into the longer, so that an entry moves
    log2(pairs) times at most; an entry of a cluster that is part of another by now means that.
    """
    used = 0
    for at in range(len(pairs)):
        if 2 * used > len(table):
            used = _sweep(table, tally)
        first = _find_root(linking.parent, pairs[at, 0])
        second = _find_root(linking.parent, pairs[at, 1])
        slot = _find_slot(table, _make_key(first, second))
        if table[slot] == 0:
            table[slot], tally[slot] = _make_key(first, second), 0
            used += 1
            _list(first, second, 2 * at, linking)
            _list(second, first, 2 * at + 1, linking)
        tally[slot] += 1
        if tally[slot] == linking.sizes[first] * linking.sizes[second]:
            used += _merge(first, second, linking, table, tally)


@inner
def _list(cluster, neighbour, entry, linking):
    """Note in the list of a cluster that the other is its neighbour."""
    linking.targets[entry] = neighbour
    linking.following[entry], linking.heads[cluster] = linking.heads[cluster], entry
    linking.lengths[cluster] += 1


@inner
def _merge(first, second, linking, table, tally):
    """Merge two clusters, and return how many keys the table has more."""
    shorter = linking.lengths[first] < linking.lengths[second]
    small, large = (first, second) if shorter else (second, first)
    linking.parent[small] = large
    linking.sizes[large] += linking.sizes[small]
    linking.lengths[large] += linking.lengths[small]
    tally[_find_slot(table, _make_key(small, large))] = 0
    added, entry = 0, linking.heads[small]
    while entry != _NONE:
        after = linking.following[entry]
        neighbour = _find_root(linking.parent, linking.targets[entry])
        if neighbour != large:
            added += _move(small, large, neighbour, entry, linking, table, tally)
        entry = after
    return added


@inner
def _move(small, large, neighbour, entry, linking, table, tally):
    """Move a neighbour of a cluster to the other, and return whether it is new to that."""
    old = _find_slot(table, _make_key(small, neighbour))
    seen, tally[old] = tally[old], 0
    if seen == 0:
        return False  # an earlier entry has moved it
    new = _find_slot(table, _make_key(large, neighbour))
    is_new = table[new] == 0
    if is_new:
        table[new], tally[new] = _make_key(large, neighbour), 0
        linking.following[entry], linking.heads[large] = linking.heads[large], entry
    tally[new] += seen
    return is_new


@inner
def _compute_capacity(pairs):
    """Compute room for half as many keys again as are possible, twice over: a power of 2."""
    capacity = 4
    while capacity < 3 * pairs:
        capacity *= 2
    return capacity


@inner
def _make_key(first, second):
    """Write two different clusters as a number that is never 0."""
    return np.int64(min(first, second)) << 32 | np.int64(max(first, second))


@inner
def _find_slot(table, key):
    """Find where the key is, or would be put."""
    last = len(table) - 1
    slot = (key * np.int64(_SPREAD) >> 32) & last
    while table[slot] != 0 and table[slot] != key:
        slot = (slot + 1) & last
    return slot


@inner
def _sweep(table, tally):
    """Forget the pairs of clusters that are no more, and count the keys that remain."""
    keys, counts, live = np.empty_like(table), np.empty_like(tally), 0
    for slot in range(len(table)):
        if table[slot] != 0 and tally[slot] > 0:
            keys[live], counts[live] = table[slot], tally[slot]
            live += 1
    table[:] = 0
    for at in range(live):
        slot = _find_slot(table, keys[at])
        table[slot], tally[slot] = keys[at], counts[at]
    return live


@inner
def _label(parent, labels):
    """Name each tree by its first document."""
    first = np.full(len(parent), _NONE)
    for document in range(len(parent)):
        root = _find_root(parent, document)
        if first[root] == _NONE:
            first[root] = document
        labels[document] = first[root]
