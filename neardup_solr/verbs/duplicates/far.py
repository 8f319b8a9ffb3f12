"""Documents that are removed for one that they are not near to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neardup_solr.guard import SHARE, Far
from neardup_solr.measures import floor
from neardup_solr.verbs.duplicates.graph import Grouped

Nodes = NDArray[np.int64]


def list_far(grouped: Grouped, least: float, most: int | None = None) -> Nodes:
    """List the documents of clusters that are not near to the canonical one, in their order.

    They are less similar than `least`, or more than `most` words apart. Those that are the same by
    an answer do not count.
    """
    rows, members = grouped.rows, grouped.rows.members
    is_near = rows.similarities[members] >= floor(least)
    if most is not None:
        is_near &= rows.distances[members] <= most
    far = members[~is_near]
    return far[~np.isin(far, grouped.graph.same)]


def describe_far(
    grouped: Grouped, far: Nodes, share: float = SHARE, of_all: float = 1.0
) -> Far | None:
    """Describe documents that are far, which are the part `of_all` of those. None without any."""
    if not len(far):
        return None
    graph, rows = grouped.graph, grouped.rows
    assert graph.canonical is not None
    similarities = np.nan_to_num(rows.similarities[far], nan=0.0)
    worst = int(np.argmin(similarities))
    node = int(far[worst])
    return Far(
        count=round(len(far) / of_all),
        removed=rows.others,
        share=share,
        id=graph.nodes[node][1],
        kept=graph.nodes[int(graph.canonical[0][node])][1],
        similarity=float(similarities[worst]),
    )
