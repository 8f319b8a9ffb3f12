"""Missing pairs, diameters, bridges and whole clusters against slow oracles."""

import re
from collections.abc import Sequence
from itertools import combinations, product
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

from neardup_solr import Cluster
from neardup_solr.clusters import arrange_clusters, bridges, diameters
from neardup_solr.clusters.components import components
from neardup_solr.clusters.linkage import complete, link, missing_pairs
from neardup_solr.measures.pairs import Pairs
from neardup_solr.types import Member
from tests import ROOT
from tests.unit.clusters import oracle

PAIRS = [*combinations(range(9), 2)]
GRAPHS = st.one_of(
    st.sets(st.sampled_from(PAIRS), max_size=12), st.sets(st.sampled_from(PAIRS), min_size=16)
).map(lambda pairs: as_pairs(*pairs))


def as_pairs(*pairs: tuple[int, int]) -> Pairs:
    """Pairs as an array."""
    return np.array(pairs, dtype=np.uint32).reshape(-1, 2)


def make_clusters(ids: Sequence[str], pairs: Pairs, **columns: Any) -> tuple[Cluster, ...]:
    """The clusters of pairs, by ids in natural order."""
    return arrange_clusters(pairs, **columns).make(ids)


def shortest(documents: int, pairs: Pairs) -> NDArray[np.float64]:
    """The shortest path between any two, infinite where there is none (Floyd 1962)."""
    paths = np.full((documents, documents), np.inf)
    np.fill_diagonal(paths, 0)
    for one, other in pairs.tolist():
        paths[one, other] = paths[other, one] = 1
    for middle, one, other in product(range(documents), repeat=3):
        paths[one, other] = min(paths[one, other], paths[one, middle] + paths[middle, other])
    return paths


@settings(deadline=None)
@given(GRAPHS)
def test_diameters(pairs: Pairs) -> None:
    """The longest finite path from any document of the cluster."""
    paths, labels = shortest(9, pairs), components(9, pairs)
    farthest = np.where(np.isfinite(paths), paths, 0).max(axis=1)
    expected = [int(farthest[labels == label].max()) for label in labels.tolist()]
    assert diameters(9, pairs, labels).tolist() == expected
    assert oracle.diameters(9, pairs, labels).tolist() == expected


@settings(deadline=None)
@given(GRAPHS)
def test_bridges(pairs: Pairs) -> None:
    """Those whose removal leaves more components than there were."""
    labels = components(9, pairs)
    whole = len(set(labels.tolist()))
    expected = []
    for row in range(9):
        rest = components(9, pairs[(pairs != row).all(axis=1)])
        if len(set(rest.tolist())) - 1 > whole:
            expected.append(row)
    assert bridges(9, pairs, labels).tolist() == expected
    assert oracle.bridges(9, pairs, labels).tolist() == expected


@settings(deadline=None)
@given(GRAPHS, st.integers(1, 9))
def test_missing_pairs(pairs: Pairs, most: int) -> None:
    """The pairs of each small component that are not there, and no others."""
    labels = components(9, pairs)
    small = np.bincount(labels, minlength=9)[labels] <= most
    there = {tuple(pair) for pair in pairs.tolist()}
    expected = {(a, b) for a, b in PAIRS if labels[a] == labels[b] and small[a]} - there
    for found in (
        missing_pairs(9, pairs, labels, most=most),
        oracle.missing(9, pairs, labels, most=most),
    ):
        assert found.dtype == np.uint32
        assert sorted(map(tuple, found.tolist())) == sorted(expected)


@settings(deadline=None)
@given(GRAPHS)
def test_complete_clusters_are_round(pairs: Pairs) -> None:
    """Complete linkage leaves nothing to walk, to bridge or to compare."""
    labels = complete(9, pairs, np.ones(len(pairs)))
    sizes = np.bincount(labels, minlength=9)[labels]
    assert diameters(9, pairs, labels).tolist() == (sizes > 1).astype(int).tolist()
    assert len(bridges(9, pairs, labels)) == len(missing_pairs(9, pairs, labels)) == 0


def test_filled_up_components_stay_whole() -> None:
    """Where all missing pairs turn out to be verified, complete linkage splits nothing."""
    chain = as_pairs((0, 1), (1, 2), (2, 3), (4, 5))
    more = missing_pairs(6, chain, components(6, chain))
    both = np.concatenate((chain, more))
    assert more.tolist() == [[0, 2], [0, 3], [1, 3]]
    assert complete(6, both, np.ones(len(both))).tolist() == [0, 0, 0, 0, 4, 4]


def test_barbell() -> None:
    """Two cliques on a path: the path and its ends hold the cluster together."""
    left, right = [*combinations(range(4), 2)], [*combinations(range(5, 9), 2)]
    pairs = as_pairs(*left, (3, 4), (4, 5), *right)
    labels = components(9, pairs)
    assert bridges(9, pairs, labels).tolist() == [3, 4, 5]
    assert set(diameters(9, pairs, labels).tolist()) == {4}


def test_star() -> None:
    """Only the middle of a star is a bridge, and the diameter is 2."""
    pairs = as_pairs(*((2, leaf) if leaf > 2 else (leaf, 2) for leaf in (0, 1, 3, 4, 5)))
    labels = components(7, pairs)
    assert bridges(7, pairs, labels).tolist() == [2]
    assert diameters(7, pairs, labels).tolist() == [2] * 6 + [0]


def test_a_long_chain_does_not_recurse() -> None:
    """A chain far beyond any stack: all but its ends are bridges; too long for a diameter."""
    rows = np.arange(1_000_000, dtype=np.uint32)
    chain = np.stack((rows[:-1], rows[1:]), axis=1)
    labels = np.zeros(len(rows), dtype=np.int64)
    assert np.array_equal(bridges(len(rows), chain, labels), rows[1:-1])
    assert not diameters(len(rows), chain, labels).any()
    assert diameters(1000, chain[:999], labels[:1000])[0] == 999


def test_a_cluster_has_a_diameter_up_to_a_size() -> None:
    """A cluster of more documents than asked for has none; smaller ones keep theirs."""
    pairs = as_pairs((0, 1), (1, 2), (3, 4))
    assert diameters(5, pairs, components(5, pairs), most=2).tolist() == [0, 0, 0, 1, 1]


def test_clusters_by_hand() -> None:
    """Members come canonical first, then nearest first; documents alone are left out."""
    pairs = as_pairs((1, 2), (1, 3), (0, 5))
    assert make_clusters(
        ["2", "10", "a", "b", "c", "d"],
        pairs,
        labels=components(6, pairs),
        canonical=np.array([5, 2, 2, 2, 4, 5]),
        similarities=np.array([0.5, 0.8, 1.0, 0.9, 0.0, 1.0]),
        distances=np.array([-1, 3, 0, 2, 9, -1]),
    ) == (
        Cluster(
            id="2",
            canonical="d",
            members=(
                Member(id="d", similarity=1.0, distance=None),
                Member(id="2", similarity=0.5, distance=None),
            ),
            pairs=1,
            diameter=1,
            bridges=(),
        ),
        Cluster(
            id="10",
            canonical="a",
            members=(
                Member(id="a", similarity=1.0, distance=0),
                Member(id="b", similarity=0.9, distance=2),
                Member(id="10", similarity=0.8, distance=3),
            ),
            pairs=2,
            diameter=2,
            bridges=("10",),
        ),
    )


@settings(deadline=None)
@given(GRAPHS, st.booleans())
def test_clusters_partition_the_documents(pairs: Pairs, is_complete: bool) -> None:
    """Each document of a pair within a cluster is in one, and its pairs are counted there."""
    labels = complete(9, pairs, np.ones(len(pairs))) if is_complete else components(9, pairs)
    ids = [f"id{row}" for row in range(9)]
    found = make_clusters(
        ids,
        pairs,
        labels=labels,
        canonical=labels,
        similarities=np.ones(9),
        distances=np.zeros(9, dtype=np.int64),
    )
    inner = [(a, b) for a, b in pairs.tolist() if labels[a] == labels[b]]
    members = [member.id for cluster in found for member in cluster.members]
    assert sorted(members) == sorted({ids[row] for pair in inner for row in pair})
    assert sum(cluster.pairs for cluster in found) == len(inner)
    assert [cluster.id for cluster in found] == sorted(cluster.id for cluster in found)
    assert all(cluster.id == cluster.canonical == cluster.members[0].id for cluster in found)


def test_nothing_to_cluster() -> None:
    """No documents, or none that resemble each other, make no cluster."""
    for documents in (0, 3):
        labels = np.arange(documents)
        none = np.zeros(documents, dtype=np.int64)
        empty = as_pairs()
        assert (
            len(missing_pairs(documents, empty, labels))
            == len(bridges(documents, empty, labels))
            == 0
        )
        assert not diameters(documents, empty, labels).any()
        assert not make_clusters(
            ["1", "2", "3"][:documents],
            empty,
            labels=labels,
            canonical=labels,
            similarities=np.ones(documents),
            distances=none,
        )


def test_the_example_of_the_page() -> None:
    """The notices of docs/clusters.md are clustered as the page says."""
    page = (ROOT / "docs" / "clusters.md").read_text()
    notices = dict(re.findall(r'"id": (\d), "text": "(.+)"', page))
    ids, texts = [*notices], [text.lower().split() for text in notices.values()]
    close = {
        (one, other): similarity
        for one, other in combinations(range(len(ids)), 2)
        if (similarity := Levenshtein.normalized_similarity(texts[one], texts[other])) >= 0.8
    }
    pairs, similarities = as_pairs(*close), np.array([*close.values()])
    assert " | ".join(["| pair", *(f"{ids[a]} {ids[b]}" for a, b in close)]) in page
    assert " | ".join(["| similarity", *(f"{value:.2f}" for value in similarities)]) in page
    for name in ("single", "complete"):
        labels = link(name, len(ids), pairs, similarities)
        found = make_clusters(
            ids,
            pairs,
            labels=labels,
            canonical=labels,
            similarities=np.ones(len(ids)),
            distances=np.zeros(len(ids), dtype=np.int64),
        )
        for cluster in found:
            members = ", ".join(sorted(member.id for member in cluster.members))
            bridges = ", ".join(cluster.bridges)
            said = f"{name} [{members}] diameter {cluster.diameter} bridges ({bridges})\n"
            assert said in page
    assert [cluster.id for cluster in found] == ["1", "3"]


def test_identical_documents_count_as_one() -> None:
    """A chain of identical documents has diameter 1 and no bridge; two of a kind are none."""
    ids = [str(row) for row in range(7)]
    pairs = np.array([[0, 1], [1, 2], [3, 4], [4, 5], [4, 6]], dtype=np.uint32)
    labels = np.array([0, 0, 0, 3, 3, 3, 3])
    same = {
        "labels": labels,
        "canonical": labels,
        "similarities": np.ones(7),
        "distances": np.zeros(7, dtype=np.int64),
    }
    alike = np.array([0, 0, 0, 3, 4, 4, 6])  # 5 is identical to 4, which joins 3 and 6
    first, second = make_clusters(ids, pairs, stand_ins=alike, **same)
    assert (first.diameter, first.bridges) == (1, ())
    assert (second.diameter, second.bridges) == (2, ())
    assert make_clusters(ids, pairs, **same)[1].bridges == ("4",)
