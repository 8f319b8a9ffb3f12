"""Connected components, some of whose documents are to be kept apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup_solr.kernel import graph
from neardup_solr.measures.pairs import Pairs

Labels = NDArray[np.int64]


def components(documents: int, pairs: Pairs) -> Labels:
    """Find the connected component of each document: the smallest row number in it.

    Shape (documents,); a document without a pair is alone in it.
    """
    labels = np.arange(documents)
    graph.components(pairs, labels)
    return labels


class Partition:
    """Groups of things that only grow, some of which are never to be united.

    Union-find; each group knows those that it is kept apart from, and the smaller set of them
    moves, so that each moves log2(things) times at most.
    """

    def __init__(self) -> None:
        self._parents: dict[Any, Any] = {}
        self._apart: dict[Any, set[Any]] = {}

    def find(self, thing: Any) -> Any:
        """Find the thing that names the group of a thing."""
        while (parent := self._parents.get(thing, thing)) != thing:
            self._parents[thing] = self._parents.get(parent, parent)
            thing = parent
        return thing

    def unite(self, first: Any, second: Any) -> bool:
        """Unite two groups, and return False if they have to stay apart."""
        first, second = self.find(first), self.find(second)
        if first == second:
            return True
        if second in self._apart.get(first, ()):
            return False
        if len(self._apart.get(first, ())) > len(self._apart.get(second, ())):
            first, second = second, first
        self._parents[first] = second
        for third in self._apart.pop(first, ()):
            self._apart[third].discard(first)
            self._apart[third].add(second)
            self._apart.setdefault(second, set()).add(third)
        return True

    def separate(self, first: Any, second: Any) -> bool:
        """Keep two groups apart from now on, and return False if they are the same."""
        first, second = self.find(first), self.find(second)
        if first == second:
            return False
        self._apart.setdefault(first, set()).add(second)
        self._apart.setdefault(second, set()).add(first)
        return True

    def are_apart(self, first: Any, second: Any) -> bool:
        """Tell whether two groups are kept apart."""
        return self.find(second) in self._apart.get(self.find(first), ())


def components_apart(documents: int, pairs: Pairs, apart: Pairs) -> Labels:
    """Find components as `components` does, but leave out each pair that would join two `apart`.

    The pairs count in their order. Only where two that are to be apart were connected, they are
    taken singly.
    """
    labels = components(documents, pairs)
    torn = labels[apart[labels[apart[:, 0]] == labels[apart[:, 1]], 0]]
    if not len(torn):
        return labels
    is_torn = np.isin(labels[pairs[:, 0]], torn)
    partition = Partition()
    for first, second in apart.tolist():
        partition.separate(first, second)
    kept = [pair for pair in pairs[is_torn].tolist() if partition.unite(*pair)]
    return components(
        documents, np.concatenate([pairs[~is_torn], np.array(kept, np.uint32).reshape(-1, 2)])
    )
