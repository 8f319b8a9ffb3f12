"""Records that would be left out by the program alone, as nobody has looked at a pair of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup_solr.answers import SAME, UNSURE
from neardup_solr.answers.verdicts import Verdicts
from neardup_solr.clusters.components import Labels
from neardup_solr.distinct import mark_among, sort_distinct
from neardup_solr.measures import floor
from neardup_solr.measures.pairs import number_pairs
from neardup_solr.records import key_of
from neardup_solr.verbs.duplicates.graph import label_clusters, order_pairs
from neardup_solr.verbs.duplicates.result import Duplicates


class Rest(NamedTuple):
    """Records and pairs that answers leave to the program.

    `records`: number of records that would be left out without an answer; `numbers`: pairs for
    which they would be; `unsure`: number of pairs that stay apart as somebody was unsure of them.
    """

    records: int
    numbers: Sequence[int]
    unsure: int


class UnseenRecords:
    """The records that the clean file would lack by the program alone, at a threshold.

    They are counted in the pairs of a result, without comparing any: answers connect documents to
    groups, the program groups to clusters.
    """

    def __init__(self, result: Duplicates, threshold: float) -> None:
        self.graph, self.threshold, self.has_sides = result.grouped.graph, threshold, result.against
        nodes = {key: at for at, key in enumerate(self.graph.keys)}
        ends = [nodes[key_of(id, side)] for pair in result.pairs for side, id in pair.ends]
        self.ends = np.array(ends, np.uint32).reshape(-1, 2)
        similarities = np.array([pair.similarity for pair in result.pairs])
        self.is_near = similarities >= floor(threshold)
        self._known: tuple[Verdicts, Rest] | None = None

    def find(self, verdicts: Verdicts) -> Rest:
        """Find what is left to the program by the answers of people."""
        if self._known is None or self._known[0] is not verdicts:
            self._known = verdicts, self._find(verdicts)
        return self._known[1]

    def _find(self, verdicts: Verdicts) -> Rest:
        firsts: dict[object, int] = {}  # by the name of a group, its first document
        roots = [verdicts.find((side, str(id), "")) for side, id in self.graph.nodes]
        groups = np.array([firsts.setdefault(root, at) for at, root in enumerate(roots)])
        apart, unsure = [], 0
        for answer, *ends in verdicts.held:
            first, second = map(verdicts.find, ends)
            if answer.answer == SAME or first == second:
                continue
            unsure += answer.answer == UNSURE
            if first in firsts and second in firsts:
                apart.append((firsts[first], firsts[second]))
        labels = self._label(groups, np.array(apart, np.int64).reshape(-1, 2))
        first, second = self.ends.T
        is_joined = self.is_near & (labels[first] == labels[second])
        is_joined &= groups[first] != groups[second]
        count = len(sort_distinct(groups)) - len(sort_distinct(labels))
        if self.has_sides:  # those of the first one are left out, each for one of the other
            sides = np.array([side for side, _ in self.graph.nodes])
            is_joined &= ~np.isin(groups, groups[sides == 1])[first]
            count = len(sort_distinct(first[is_joined]))
        return Rest(count, np.flatnonzero(is_joined).tolist(), unsure)

    def _label(self, groups: Labels, apart: NDArray[np.int64]) -> Labels:
        """Label the clusters as the clean file has them, in which some groups stay apart."""
        different = order_pairs(*apart.T)
        others = np.flatnonzero(groups != np.arange(len(groups)))
        graph = replace(self.graph, same=order_pairs(groups[others], others), different=different)
        numbers = number_pairs(order_pairs(*groups[graph.pairs].T))
        graph = graph.keep(~mark_among(numbers, number_pairs(different)))
        return label_clusters(graph, self.threshold)
