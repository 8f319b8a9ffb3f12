"""The documents that are removed because another one is kept."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from neardup_solr.clusters.components import Partition
from neardup_solr.records import AnyId, Cluster, Duplicate, Removed, key_of


def remove_within(
    pairs: Sequence[Duplicate],
    clusters: Sequence[Cluster],
    apart: Collection[tuple[AnyId, AnyId]] = (),
) -> dict[str, Removed]:
    """The documents that the canonical document of their cluster makes superfluous, by id.

    Complete linkage tears pairs apart, and a canonical document may be near that of another
    cluster. The later of two such is removed, and what is near to no kept document is kept, so that
    no pair is left. Of two documents `apart`, neither is removed for the other, nor both for a
    third.
    """
    partition = Partition()
    for pair in apart:
        partition.separate(*pair)
    for cluster in clusters if apart else ():
        for member in cluster.members:
            partition.unite(cluster.canonical, member.id)
    removed: dict[str, Removed] = {}
    torn = _neighbours(pair for pair in pairs if pair.cluster == "")
    kept: set[str] = set()

    def decide(id: str, near: Mapping[str, float]) -> None:
        ranked = [(-near[other], str(other), other) for other in near if other in kept]
        for similarity, _, other in sorted(ranked, key=lambda rank: rank[:2]):
            if not apart or partition.unite(id, other):
                removed[id] = Removed(id=id, duplicate_of=other, similarity=-similarity)
                return
        kept.add(id)

    for cluster in clusters:
        decide(cluster.canonical, torn.get(cluster.canonical, {}))
    left = dict.fromkeys(torn)
    for cluster in clusters:
        for member in cluster.members:
            if member.id == cluster.canonical:
                continue
            if cluster.canonical in kept:
                removed[member.id] = Removed(
                    id=member.id, duplicate_of=cluster.canonical, similarity=member.similarity
                )
            else:
                left[member.id] = None
    rest = [id for id in left if id not in removed and id not in kept]
    if rest:
        wanted = set(rest)
        near = _neighbours(p for p in pairs if p.id in wanted or p.other_id in wanted)
        for id in rest:
            decide(id, near.get(id, {}))
    return removed


def remove_across(
    pairs: Iterable[Duplicate], apart: Collection[tuple[AnyId, AnyId]] = ()
) -> dict[str, Removed]:
    """The documents of the first side that have a near-duplicate in the other, by id.

    Pairs within a side, which complete linkage needs, are left alone. Of two documents `apart`, by
    their keys, not both are removed for a third.
    """
    removed: dict[str, Removed] = {}
    partition = Partition()
    for different in apart:
        partition.separate(*different)
    if apart:  # those of clusters first: no two within a cluster are apart
        pairs = sorted(pairs, key=lambda pair: (pair.cluster == "", -pair.similarity))
    for pair in pairs:
        ends = (key_of(id, side) for side, id in pair.ends)
        if pair.sides != (0, 1) or (apart and not partition.unite(*ends)):
            continue
        earlier = removed.get(pair.id)
        if earlier is None or (earlier.similarity or 0.0) < pair.similarity:
            removed[pair.id] = Removed(
                id=pair.id, duplicate_of=pair.other_id, similarity=pair.similarity
            )
    return removed


def count_outside(
    removed: Iterable[Removed], clusters: Iterable[Cluster], *, has_sides: bool
) -> int:  # fmt: skip
    """Count the removed documents whose kept one is not of their cluster: of torn pairs."""
    cluster_of = {
        key_of(member.id, member.side): number
        for number, cluster in enumerate(clusters)
        for member in cluster.members
    }
    ends = ((key_of(one.id, 0), key_of(one.duplicate_of, int(has_sides))) for one in removed)
    return sum(cluster_of.get(first, -1) != cluster_of.get(second, -2) for first, second in ends)


def _neighbours(pairs: Iterable[Duplicate]) -> dict[str, dict[str, float]]:
    near: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for pair in pairs:
        near[pair.id][pair.other_id] = pair.similarity
        near[pair.other_id][pair.id] = pair.similarity
    return near
