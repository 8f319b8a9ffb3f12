"""Pairs of records that are expected to be wrong."""

from __future__ import annotations

from neardup_solr.answers import SAME
from neardup_solr.guard import Unlikely
from neardup_solr.measures import BY_PROBABILITY
from neardup_solr.verbs.duplicates.graph import Graph


def find_unlikely(graph: Graph) -> Unlikely | None:
    """Count the pairs that are expected to be wrong, by the probabilities of their records."""
    if graph.measure not in BY_PROBABILITY or not len(graph.pairs):
        return None
    wrong = 1.0 - graph.similarities
    if graph.answers is not None:
        wrong[[answer == SAME for answer in graph.answers]] = 0.0
    return Unlikely(count=float(wrong.sum()), pairs=len(wrong))
