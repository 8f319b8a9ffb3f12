"""Which clusters and pairs a page lists, where there are more than a browser can hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from neardup_solr.pure.model import Cluster, Duplicate

MOST_PAIRS = 10_000
MOST_OF_CLUSTER = 500  # pairs of one cluster


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The clusters and pairs that are listed, and a sentence on those that are not."""

    clusters: Sequence[Cluster]
    pairs: Sequence[Duplicate]
    note: str | None


def listing(
    clusters: Sequence[Cluster], pairs: Sequence[Duplicate], *, most: int = MOST_PAIRS
) -> Listing:
    """The largest clusters, in the order given, with up to 10,000 pairs in all, 500 of each.

    Pairs of a cluster are listed in the order given; those of no cluster are not.
    """
    room, wanted = most, set()
    for cluster in sorted(clusters, key=lambda cluster: -len(cluster.members)):
        if room <= 0:
            break
        wanted.add(cluster.id)
        room -= min(cluster.pairs, MOST_OF_CLUSTER)
    listed_clusters = [cluster for cluster in clusters if cluster.id in wanted]
    counts: Counter[str] = Counter()
    listed_pairs = []
    for pair in pairs:
        if pair.cluster in wanted and counts[pair.cluster] < MOST_OF_CLUSTER:
            counts[pair.cluster] += 1
            listed_pairs.append(pair)
    in_clusters = sum(cluster.pairs for cluster in clusters)
    if len(listed_pairs) >= in_clusters:
        return Listing(clusters=listed_clusters, pairs=listed_pairs, note=None)
    note = (
        f"This page lists {len(listed_pairs):,} of {in_clusters:,} pairs, in the"
        f" {len(listed_clusters):,} largest of {len(clusters):,} clusters; the figures count all."
        " Write .tsv or .parquet to have every pair."
    )
    return Listing(clusters=listed_clusters, pairs=listed_pairs, note=note)
