"""Clusters over verified pairs: the guards against false ones, and their assembly.

Documents, pairs and labels are those of `neardup_solr.clusters.linkage`.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from neardup_solr.clusters.linkage import Labels, Similarities, folded
from neardup_solr.measures import Pairs
from neardup_solr.minhash.sign import is_compiled
from neardup_solr.records import Cluster, Member

MOST_MISSING = 256  # documents of a cluster whose missing pairs are worth a comparison
MOST_WALKED = 2_000  # documents of a cluster whose diameter is worth the time


def missing(documents: int, pairs: Pairs, labels: Labels, *, most: int = MOST_MISSING) -> Pairs:
    """The pairs of one cluster that are not among `pairs`, of clusters of at most so many.

    Shape (missing, 2), as `pairs`, at most documents × (most - 1) / 2 of them. With the labels of
    `single` they are what complete linkage lacks where candidates were not compared.
    """
    members, bounds = _groups(labels, most)
    wanted = np.zeros(documents, dtype=np.bool_)
    wanted[members] = True
    inner = _inner(pairs, labels)
    inner = inner[wanted[inner[:, 0]]]
    if not is_compiled():
        return _missing_slowly(inner, members, bounds)
    from neardup_solr.kernel import graph

    sizes = np.diff(bounds)
    room = int((sizes * (sizes - 1) // 2).sum()) - len(inner)
    offsets, neighbours = graph.adjacency(documents, inner)
    found: Pairs = graph.missing(offsets, neighbours, members, bounds, room)
    return found


def diameters(
    documents: int, pairs: Pairs, labels: Labels, *, most: int = MOST_WALKED
) -> NDArray[np.int64]:
    """The diameter of each document's cluster: the longest of its shortest paths over `pairs`.

    Shape (documents,). 1: any two are a pair; 0: the document is alone, or its cluster has more
    than `most` documents. By iFUB (Crescenzi and others 2013), which is exact and mostly needs
    few of the walks, one from each document, that it takes at worst.
    """
    members, bounds = _groups(labels, most)
    inner = _inner(pairs, labels)
    if is_compiled():
        from neardup_solr.kernel import graph

        offsets, neighbours = graph.adjacency(documents, inner)
        found = graph.diameters(offsets, neighbours, members, bounds)
    else:
        near = _neighbours(inner)
        found = np.array([_diameter(near, group) for group in _each(members, bounds)], np.int64)
    longest = np.zeros(documents, dtype=np.int64)
    longest[members] = np.repeat(found, np.diff(bounds))
    return longest


def bridges(documents: int, pairs: Pairs, labels: Labels) -> NDArray[np.int64]:
    """The documents without which their cluster would fall apart, as rising row numbers.

    Articulation points (Hopcroft and Tarjan 1973), of clusters of 3 documents or more; any size
    in linear time.
    """
    inner = _inner(pairs, labels)
    if not is_compiled():
        return _bridges_slowly(documents, inner)
    from neardup_solr.kernel import graph

    offsets, neighbours = graph.adjacency(documents, inner)
    return np.flatnonzero(graph.bridges(offsets, neighbours))


def clusters(
    ids: Sequence[str],
    pairs: Pairs,
    *,
    labels: Labels,
    canonical: Labels,
    similarities: Similarities,
    distances: NDArray[np.int64],
    stand_ins: Labels | None = None,
) -> tuple[Cluster, ...]:
    """The clusters of two documents or more, in the natural order of their first ids.

    `ids` are in natural order. Of each document (arrays of shape (documents,)): `canonical` the
    row number of its cluster's canonical document, `similarities` and `distances` what a
    comparison with that one gives, the canonical one's own included; a distance of -1 is none;
    `stand_ins` the first of those that are identical to it (None: none are): as one they count
    for diameters, and where there are several of them, none is a bridge.
    What documents alone have there is of no consequence.
    """
    members, bounds = _groups(labels, len(labels))
    others, nearest = canonical[members] != members, -similarities[members]
    members = members[np.lexsort((members, distances[members], nearest, others, labels[members]))]
    alone = np.arange(len(labels))
    longest, torn = _guards(ids, pairs, labels, alone if stand_ins is None else stand_ins)
    counts = np.bincount(labels[_inner(pairs, labels)[:, 0]], minlength=len(labels)).tolist()
    columns = (column[members].tolist() for column in (similarities, distances))
    records = [
        Member(id=ids[row], similarity=similarity, distance=None if distance < 0 else distance)
        for row, similarity, distance in zip(members.tolist(), *columns, strict=True)
    ]
    firsts = labels[members[bounds[:-1]]].tolist()
    return tuple(
        Cluster(
            id=ids[first],
            canonical=records[start].id,
            members=tuple(records[start:stop]),
            pairs=counts[first],
            diameter=int(longest[first]),
            bridges=tuple(torn.get(first, ())),
        )
        for first, (start, stop) in zip(firsts, pairwise(bounds.tolist()), strict=True)
    )


def _guards(
    ids: Sequence[str], pairs: Pairs, labels: Labels, stand_ins: Labels
) -> tuple[NDArray[np.int64], dict[int, list[str]]]:
    """The diameter of each document's cluster, and the bridges of each cluster by its label."""
    count = len(labels)
    alone = np.arange(count)
    apart, _ = folded(pairs, np.zeros(len(pairs)), stand_ins)
    own = np.where(stand_ins == alone, labels, alone)
    longest = diameters(count, apart, own)
    # A cluster of nothing but identical documents has folded into one.
    sizes = np.bincount(own, minlength=count)
    longest = np.where(sizes[labels] == 1, 1, longest[labels])
    copies = np.bincount(stand_ins, minlength=count)
    torn = defaultdict(list)
    for row in bridges(count, apart, own).tolist():
        if copies[row] == 1:
            torn[int(labels[row])].append(ids[row])
    return longest, torn


def _inner(pairs: Pairs, labels: Labels) -> Pairs:
    """The pairs of one cluster; complete linkage leaves others between clusters."""
    inner: Pairs = pairs[labels[pairs[:, 0]] == labels[pairs[:, 1]]]
    return inner


def _groups(labels: Labels, most: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The clusters of 2 to `most` documents: g is members[bounds[g]:bounds[g + 1]], rising."""
    sizes = np.bincount(labels, minlength=len(labels))[labels]
    members = np.flatnonzero((sizes > 1) & (sizes <= most))
    members = members[np.argsort(labels[members], kind="stable")]
    starts = np.flatnonzero(np.diff(labels[members], prepend=-1))
    return members, np.append(starts, len(members))


def _each(members: NDArray[np.int64], bounds: NDArray[np.int64]) -> Iterator[list[int]]:
    for start, stop in pairwise(bounds.tolist()):
        yield members[start:stop].tolist()


def _neighbours(pairs: Pairs) -> defaultdict[int, list[int]]:
    near: defaultdict[int, list[int]] = defaultdict(list)
    for one, other in pairs.tolist():
        near[one].append(other)
        near[other].append(one)
    return near


def _missing_slowly(pairs: Pairs, members: NDArray[np.int64], bounds: NDArray[np.int64]) -> Pairs:
    there = {tuple(pair) for pair in pairs.tolist()}
    found = [
        pair for group in _each(members, bounds) for pair in combinations(group, 2)
        if pair not in there
    ]  # fmt: skip
    return np.array(found, dtype=np.uint32).reshape(-1, 2)


def _diameter(near: Mapping[int, list[int]], group: list[int]) -> int:
    levels = _levels(near, max(group, key=lambda document: len(near[document])))
    longest = max(levels.values())
    for document, level in reversed(levels.items()):
        if longest >= 2 * level:
            break
        longest = max(longest, *_levels(near, document).values())
    return longest


def _levels(near: Mapping[int, list[int]], first: int) -> dict[int, int]:
    """How far each document is from the first, the nearest first."""
    levels = {first: 0}
    queue = deque([first])
    while queue:
        one = queue.popleft()
        for other in near[one]:
            if other not in levels:
                levels[other] = levels[one] + 1
                queue.append(other)
    return levels


def _bridges_slowly(documents: int, pairs: Pairs) -> NDArray[np.int64]:
    near = _neighbours(pairs)
    depth: dict[int, int] = {}
    low: dict[int, int] = {}
    found = set()
    for root in range(documents):
        if root in depth or root not in near:
            continue
        depth[root] = low[root] = branches = 0
        walk = [(root, iter(near[root]))]
        while walk:
            one, rest = walk[-1]
            other = next(rest, None)
            if other is not None and other not in depth:
                depth[other] = low[other] = len(walk)
                walk.append((other, iter(near[other])))
            elif other is not None:
                low[one] = min(low[one], depth[other])
            else:
                walk.pop()
                above = walk[-1][0] if walk else root
                low[above] = min(low[above], low[one])
                branches += above == root != one
                if above != root and low[one] >= depth[above]:
                    found.add(above)
        if branches > 1:
            found.add(root)
    return np.array(sorted(found), dtype=np.int64)
