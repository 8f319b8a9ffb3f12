"""Linkage: which of the pairs connect documents to clusters."""

from __future__ import annotations

from typing import get_args

import numpy as np
from numpy.typing import NDArray

from neardup_solr.argument_types import Linkage
from neardup_solr.checks import require_choice
from neardup_solr.clusters.components import Labels, components, components_apart
from neardup_solr.distinct import mark_among
from neardup_solr.kernel import graph
from neardup_solr.measures import Similarities
from neardup_solr.measures.pairs import NO_PAIRS, Pairs, number_pairs, pairs_of
from neardup_solr.measures.wedges import list_neighbours

LINKAGES: tuple[Linkage, ...] = get_args(Linkage)
MOST_MISSING = 256  # documents of a cluster whose missing pairs are worth a comparison


def link(
    linkage: str,
    documents: int,
    pairs: Pairs,
    similarities: Similarities,
    apart: Pairs = NO_PAIRS,
) -> Labels:
    """Label documents by a linkage. Pairs that are mutually best are linked as by "single".

    Pairs of documents that are to be kept `apart` never share a cluster, by no chain.

    Single linkage takes whatever a path of pairs connects for a cluster: the connected
    components. So a chain of near-duplicates can connect documents that have nothing in common:
    `diameters` and `bridges` show where.

    Raises ArgumentError for another linkage.
    """
    require_choice("linkage", linkage, LINKAGES)
    if linkage != "complete":
        order = np.lexsort((pairs[:, 1], pairs[:, 0], -similarities)) if len(apart) else slice(None)
        return components_apart(documents, pairs[order], apart)
    if len(apart):
        is_allowed = ~mark_among(number_pairs(pairs), number_pairs(np.sort(apart, axis=1)))
        pairs, similarities = pairs[is_allowed], similarities[is_allowed]
    return complete(documents, pairs, similarities)


def complete(documents: int, pairs: Pairs, similarities: Similarities) -> Labels:
    """Label documents by complete linkage: any two of a cluster are a verified pair.

    Clusters merge in the order of the least similarity between their documents, the greatest
    first (Sørensen 1948); a pair that was not verified keeps them apart. Equal similarities count
    in the order of their row numbers, so that the order of `pairs` does not matter. Pairs that
    were never compared split what belongs together: compare the `missing_pairs` first, and let a
    document stand for those that are identical (`fold_identical`). Time grows as pairs × log pairs,
    memory as the pairs.
    """
    group = components(documents, pairs)[pairs[:, 0]]
    order = np.lexsort((pairs[:, 1], pairs[:, 0], -similarities, group))
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    labels = np.empty(documents, dtype=np.int64)
    graph.complete(pairs[order], np.append(starts, len(pairs)), labels)
    return labels


def fold_identical(
    pairs: Pairs, similarities: Similarities, stand_ins: Labels
) -> tuple[Pairs, Similarities]:
    """The pairs between the documents that stand for identical ones, with their similarities.

    `stand_ins` (documents,) has the smallest row number of the documents that are identical to
    each. The labels of all come from those of the folded pairs: `labels[stand_ins]`. So a million
    identical documents make no pair. If pairs become equal, the greatest similarity counts.
    """
    numbers = number_pairs(np.sort(stand_ins[pairs], axis=1))
    order = np.argsort(numbers, kind="stable")  # which takes little time if they are in order
    numbers = numbers[order]
    starts = np.flatnonzero(np.diff(numbers, prepend=numbers[:1] + np.uint64(1)))
    if not len(starts):
        return pairs[:0], similarities[:0]
    ends, greatest = pairs_of(numbers[starts]), np.maximum.reduceat(similarities[order], starts)
    are_apart = ends[:, 0] != ends[:, 1]
    return ends[are_apart], greatest[are_apart]


def missing_pairs(
    documents: int, pairs: Pairs, labels: Labels, *, most: int = MOST_MISSING
) -> Pairs:
    """The pairs that are missing within clusters of at most `most` documents.

    Shape (missing, 2), as `pairs`, at most documents × (most - 1) / 2 of them. With the labels of
    `components` they are what complete linkage lacks if candidates were not compared.
    """
    members, bounds = list_groups(labels, most)
    wanted = np.zeros(documents, dtype=np.bool_)
    wanted[members] = True
    inner = select_inner(pairs, labels)
    inner = inner[wanted[inner[:, 0]]]
    sizes = np.diff(bounds)
    room = int((sizes * (sizes - 1) // 2).sum()) - len(inner)
    missing = np.empty((room, 2), dtype=np.uint32)
    graph.missing(*list_neighbours(documents, inner), members, bounds, missing)
    return missing


def select_inner(pairs: Pairs, labels: Labels) -> Pairs:
    """The pairs within clusters. Complete linkage leaves others between them."""
    inner: Pairs = pairs[labels[pairs[:, 0]] == labels[pairs[:, 1]]]
    return inner


def list_groups(labels: Labels, most: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The clusters of 2 to `most` documents: g is members[bounds[g]:bounds[g + 1]], rising."""
    sizes = np.bincount(labels, minlength=len(labels))[labels]
    members = np.flatnonzero((sizes > 1) & (sizes <= most))
    members = members[np.argsort(labels[members], kind="stable")]
    starts = np.flatnonzero(np.diff(labels[members], prepend=-1))
    return members, np.append(starts, len(members))
