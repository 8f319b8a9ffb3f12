"""Candidate pairs and components one pair at a time: what the kernel has to equal."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

import numpy as np
from numpy.typing import NDArray

from neardup_solr.candidates import Candidates, Joining
from neardup_solr.measures.pairs import Pairs


def components(documents: int, pairs: Pairs) -> NDArray[np.int64]:
    """The connected component of each document: the smallest row number in it."""
    parent = list(range(documents))
    for one, other in pairs.tolist():
        low, high = sorted((_root(parent, one), _root(parent, other)))
        parent[high] = low
    return np.array([_root(parent, document) for document in range(documents)], dtype=np.int64)


def _root(parent: list[int], document: int) -> int:
    while parent[document] != document:
        parent[document] = parent[parent[document]]
        document = parent[document]
    return document


def candidates(
    keys: NDArray[np.uint64], alike: NDArray[np.uint64], joining: Joining, *, is_first: bool
) -> Candidates:
    """The pairs of rows that agree in some column of `keys`; see `key_candidates`."""
    pairs: set[tuple[int, int]] = set()
    hot_keys = 0
    same = alike.tolist()
    for band, column in enumerate(keys.T.tolist()):
        runs: dict[int, list[int]] = defaultdict(list)
        for row, key in enumerate(column):
            runs[key].append(row)
        for run in runs.values():
            hot_keys += len(run) > joining.cap
            run.sort(key=lambda row: (same[row], row))
            found = map(sorted, _of_run(run, joining))
            every = (is_first and band == 0) or len(run) <= joining.cap
            pairs.update((a, b) for a, b in found if every or same[a] != same[b])
    listed = np.array(sorted(pairs), dtype=np.uint32).reshape(-1, 2)
    return Candidates(pairs=listed, hot_keys=hot_keys)


def _of_run(run: Sequence[int], joining: Joining) -> Iterator[tuple[int, int]]:
    side = joining.sides.tolist() or None
    if len(run) > joining.cap:
        yield from pairwise(run) if side is None else _across(run, side)
        return
    for at, one in enumerate(run):
        for other in run[at + 1 :]:
            if side is None or side[one] != side[other]:
                yield one, other


def _across(run: Sequence[int], side: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Each document with the next and the last of the other side."""
    for way in (run, run[::-1]):
        for at, one in enumerate(way):
            met = (other for other in reversed(way[:at]) if side[other] != side[one])
            yield from ((one, other) for other in islice(met, 1))
