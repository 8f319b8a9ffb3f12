"""Which documents are one cluster: single and complete linkage over verified pairs.

Documents are row numbers in the natural order of their ids, 0 to documents - 1; `pairs` (uint32,
pairs × 2) has each verified pair once, the smaller number first; `similarities` (float64) has
theirs. `labels` (int64, documents) name each document's cluster by the smallest row number in it,
so a document alone by its own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neardup_solr.candidates.by_band import components
from neardup_solr.errors import SettingsError
from neardup_solr.kernel import graph
from neardup_solr.measures import Pairs

LINKAGES = ("single", "complete")

Labels = NDArray[np.int64]
Similarities = NDArray[np.float64]


def linked(linkage: str, documents: int, pairs: Pairs, similarities: Similarities) -> Labels:
    """The labels by a linkage of that name: "single" or "complete".

    Raises SettingsError where there is no such linkage.
    """
    if linkage not in LINKAGES:
        reason = f"--linkage {linkage} is not known"
        raise SettingsError(reason, f"choose {' or '.join(LINKAGES)}")
    if linkage == "single":
        return single(documents, pairs)
    return complete(documents, pairs, similarities)


def single(documents: int, pairs: Pairs) -> Labels:
    """Single linkage: whatever a path of pairs connects is one cluster.

    The connected components. A chain of near-duplicates can connect documents that have nothing
    in common: `diameters` and `bridges` show where.
    """
    return components(documents, pairs)


def complete(documents: int, pairs: Pairs, similarities: Similarities) -> Labels:
    """Complete linkage: any two documents of a cluster are a verified pair.

    Clusters merge in the order of the least similarity between their documents, the greatest
    first (Sørensen 1948); a pair that was not verified keeps them apart. Equal similarities count
    in the order of their row numbers, so that the order of `pairs` is of no consequence. Pairs
    that were never compared split what belongs together: compare the `missing` ones first, and
    let one document stand for those that are identical (`folded`). Time grows as pairs × log
    pairs, memory as the pairs.
    """
    group = components(documents, pairs)[pairs[:, 0]]
    order = np.lexsort((pairs[:, 1], pairs[:, 0], -similarities, group))
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    labels = np.empty(documents, dtype=np.int64)
    graph.complete(pairs[order], np.append(starts, len(pairs)), labels)
    return labels


def folded(
    pairs: Pairs, similarities: Similarities, stand_ins: Labels
) -> tuple[Pairs, Similarities]:
    """The pairs of those documents that stand for identical ones, with their similarities.

    `stand_ins` (documents,) has the smallest row number of the documents that are identical to
    each. The labels of all come from those of the folded pairs: `labels[stand_ins]`. So a million
    identical documents cost no pair. Of pairs that become one the greatest similarity counts.
    """
    ends = np.sort(stand_ins[pairs], axis=1)
    order = np.lexsort((-similarities, ends[:, 1], ends[:, 0]))
    ends = ends[order]
    is_first = np.ones(len(ends), dtype=np.bool_)
    is_first[1:] = (ends[1:] != ends[:-1]).any(axis=1)
    kept = is_first & (ends[:, 0] != ends[:, 1])
    return ends[kept].astype(np.uint32), similarities[order][kept]
