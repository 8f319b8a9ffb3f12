"""Guards and complete linkage over lists and dicts: what the kernel has to equal."""

from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from neardup_solr import clusters
from neardup_solr.clusters.components import Labels
from neardup_solr.clusters.linkage import list_groups, select_inner
from neardup_solr.measures import Similarities
from neardup_solr.measures.pairs import Pairs


def missing(documents: int, pairs: Pairs, labels: Labels, *, most: int) -> Pairs:
    """As `clusters.missing`."""
    there = {tuple(pair) for pair in pairs.tolist()}
    found = [
        pair for group in _each(*list_groups(labels, most)) for pair in combinations(group, 2)
        if pair not in there
    ]  # fmt: skip
    return np.array(found, dtype=np.uint32).reshape(-1, 2)


def diameters(documents: int, pairs: Pairs, labels: Labels) -> NDArray[np.int64]:
    """As `clusters.diameters`."""
    near = _neighbours(select_inner(pairs, labels))
    longest = np.zeros(documents, dtype=np.int64)
    for group in _each(*list_groups(labels, clusters.MOST_WALKED)):
        longest[group] = _diameter(near, group)
    return longest


def bridges(documents: int, pairs: Pairs, labels: Labels) -> NDArray[np.int64]:
    """As `clusters.bridges`."""
    near = _neighbours(select_inner(pairs, labels))
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


def complete(documents: int, pairs: Pairs, similarities: Similarities) -> Labels:
    """As `clusters.complete`."""
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0], -similarities))]
    clusters = {document: [document] for document in range(documents)}
    labels = list(range(documents))
    seen: defaultdict[int, Counter[int]] = defaultdict(Counter)  # pairs with other clusters
    for one, other in pairs.tolist():
        keep, lose = sorted((labels[one], labels[other]))
        seen[keep][lose] += 1
        seen[lose][keep] += 1
        if seen[keep][lose] < len(clusters[keep]) * len(clusters[lose]):
            continue
        for row in clusters[lose]:
            labels[row] = keep
        clusters[keep] += clusters.pop(lose)
        del seen[keep][lose]
        for neighbour, count in seen.pop(lose).items():
            if neighbour != keep:
                seen[keep][neighbour] += count
                seen[neighbour][keep] += seen[neighbour].pop(lose)
    return np.array(labels, dtype=np.int64)


def _each(members: NDArray[np.int64], bounds: NDArray[np.int64]) -> Iterator[list[int]]:
    for start, stop in pairwise(bounds.tolist()):
        yield members[start:stop].tolist()


def _neighbours(pairs: Pairs) -> defaultdict[int, list[int]]:
    near: defaultdict[int, list[int]] = defaultdict(list)
    for one, other in pairs.tolist():
        near[one].append(other)
        near[other].append(one)
    return near


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
