"""Results with given pairs and clusters, as no comparison makes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import neardup_solr as nd


def with_groups(
    result: nd.Duplicates, pairs: Sequence[nd.Duplicate], clusters: Sequence[nd.Cluster]
) -> nd.Duplicates:
    """A result with other pairs and clusters."""
    before = result.grouped
    grouped: Any = SimpleNamespace(
        pairs=(*pairs,), clusters=(*clusters,), graph=before.graph, rows=before.rows,
        make_largest=lambda most: sorted(clusters, key=lambda each: -len(each.members))[:most],
    )  # fmt: skip
    return replace(result, grouped=grouped)
