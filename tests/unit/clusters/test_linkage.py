"""Single and complete linkage against slow oracles, and what identical documents cost."""

from itertools import combinations
from random import Random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from neardup_solr.clusters.components import components
from neardup_solr.clusters.linkage import LINKAGES, complete, fold_identical, link
from neardup_solr.errors import SettingsError
from neardup_solr.measures.pairs import Pairs
from tests.refusals import refusal
from tests.unit.clusters import oracle

Weighted = dict[tuple[int, int], float]


def weighted(documents: int) -> st.SearchStrategy[tuple[int, Weighted]]:
    """A number of documents and any pairs of them, with few different similarities."""
    pairs = st.sampled_from([*combinations(range(documents), 2)]) if documents > 1 else st.nothing()
    return st.tuples(
        st.just(documents), st.dictionaries(pairs, st.sampled_from([0.5, 0.7, 0.9, 1.0]))
    )


GRAPHS = st.integers(0, 9).flatmap(weighted)


def arrays(graph: Weighted) -> tuple[Pairs, NDArray[np.float64]]:
    """Pairs and their similarities as arrays."""
    pairs = np.array([*graph], dtype=np.uint32).reshape(-1, 2)
    return pairs, np.array([*graph.values()], dtype=np.float64)


def crossing(one: list[int], other: list[int]) -> list[tuple[int, int]]:
    """All pairs of a document of the one and one of the other cluster."""
    return [(min(a, b), max(a, b)) for a in one for b in other]


def textbook(documents: int, graph: Weighted) -> list[int]:
    """Merge the two clusters whose worst pair is best, again and again."""

    def worst(both: tuple[list[int], list[int]]) -> tuple[float, int, int]:
        return max((-graph[pair], *pair) for pair in crossing(*both))

    clusters = [[document] for document in range(documents)]
    while True:
        whole = [
            both for both in combinations(clusters, 2) if all(p in graph for p in crossing(*both))
        ]
        if not whole:
            break
        one, other = min(whole, key=worst)
        clusters = [c for c in clusters if c is not one and c is not other] + [one + other]
    label = {document: min(cluster) for cluster in clusters for document in cluster}
    return [label[document] for document in range(documents)]


@settings(deadline=None)
@given(GRAPHS)
def test_complete_linkage_is_the_textbooks(case: tuple[int, Weighted]) -> None:
    """The kernel and the oracle merge just as a search through all clusters does."""
    documents, graph = case
    expected = textbook(documents, graph)
    assert complete(documents, *arrays(graph)).tolist() == expected
    assert oracle.complete(documents, *arrays(graph)).tolist() == expected


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 20), st.floats(0.2, 1.0))
def test_larger_families(seed: int, size: int, share: float) -> None:
    """Clusters of families are cliques, none could grow, and the oracle agrees."""
    random = np.random.default_rng(seed)
    every = np.array([*combinations(range(120), 2)], dtype=np.uint32)
    near = every[:, 0] // size == every[:, 1] // size
    pairs = every[random.random(len(every)) < np.where(near, share, 0.05)]
    similarities = random.integers(5, 11, len(pairs)) / 10
    labels = complete(120, pairs, similarities)
    assert np.array_equal(labels, oracle.complete(120, pairs, similarities))
    there = {tuple(pair) for pair in pairs.tolist()}
    clusters = [np.flatnonzero(labels == label).tolist() for label in np.unique(labels)]
    assert all(pair in there for cluster in clusters for pair in combinations(cluster, 2))
    assert not any(there >= {*crossing(*both)} for both in combinations(clusters, 2))


def test_neighbours_that_move_again_and_again() -> None:
    """A clique that grows by doubling, with twosomes near it, outgrows the table of its keys."""
    clique, leaves = 32, 40
    graph = {
        (a, b): 0.8 - 0.05 * (a ^ b).bit_length() - (7 * a + 13 * b) % 31 / 1000
        for a, b in combinations(range(clique), 2)
    }
    for leaf in range(clique, clique * (leaves + 1)):
        graph[(leaf // 2 + leaf % 2 * clique // 2) % clique, leaf] = 0.9
        graph[leaf - leaf % 2, leaf - leaf % 2 + 1] = 1.0
    documents = clique * (leaves + 1)
    labels = complete(documents, *arrays(graph))
    assert not labels[:clique].any()
    assert np.array_equal(labels[clique:], np.arange(clique, documents) // 2 * 2)
    assert np.array_equal(labels, oracle.complete(documents, *arrays(graph)))


@settings(deadline=None)
@given(GRAPHS, st.randoms(use_true_random=False))
def test_the_order_of_pairs_is_of_no_consequence(
    case: tuple[int, Weighted], random: Random
) -> None:
    """Pairs in another order give the same clusters, by either linkage."""
    documents, graph = case
    shuffled = [*graph.items()]
    random.shuffle(shuffled)
    for name in LINKAGES:
        first = link(name, documents, *arrays(graph))
        assert np.array_equal(first, link(name, documents, *arrays(dict(shuffled))))


def test_a_chain_splits() -> None:
    """Single linkage joins a chain whole; complete linkage cuts it at its weakest links."""
    chain = {(0, 1): 0.9, (1, 2): 0.8, (2, 3): 0.9, (3, 4): 0.7}
    assert link("single", 5, *arrays(chain)).tolist() == [0, 0, 0, 0, 0]
    assert link("complete", 5, *arrays(chain)).tolist() == [0, 0, 2, 2, 4]


def test_the_worst_pair_decides() -> None:
    """2 is near 0, but far from 1, which 0 is in one cluster with: so it joins 3."""
    graph = {(0, 1): 0.95, (0, 2): 0.9, (1, 2): 0.5, (2, 3): 0.8}
    assert complete(4, *arrays(graph)).tolist() == [0, 0, 2, 2]
    del graph[2, 3]
    assert complete(4, *arrays(graph)).tolist() == [0, 0, 0, 3]


def test_a_million_documents_in_a_chain() -> None:
    """A chain of any length is cut into twos, without recursion."""
    documents = 1_000_000
    rows = np.arange(documents, dtype=np.uint32)
    chain = np.stack((rows[:-1], rows[1:]), axis=1)
    assert not components(documents, chain).any()
    labels = complete(documents, chain, np.ones(documents - 1))
    assert np.array_equal(labels, rows // 2 * 2)


def test_a_million_identical_documents() -> None:
    """Folded, they have no pair left, and are one cluster by either linkage."""
    documents = 1_000_000
    stand_ins = np.zeros(documents, dtype=np.int64)
    rows = np.arange(1, documents, dtype=np.uint32)
    star = np.stack((np.zeros_like(rows), rows), axis=1)
    pairs, similarities = fold_identical(star, np.ones(len(star)), stand_ins)
    assert len(pairs) == 0
    for name in LINKAGES:
        assert not link(name, documents, pairs, similarities)[stand_ins].any()


@given(st.integers(2, 9).flatmap(lambda n: st.tuples(weighted(n), st.integers(1, 9))))
def test_folded_pairs(case: tuple[tuple[int, Weighted], int]) -> None:
    """Each pair of stand-ins comes once, with the greatest similarity, and none with itself."""
    (documents, graph), step = case
    stand_ins = np.arange(documents) % step
    expected: Weighted = {}
    for (one, other), similarity in graph.items():
        low, high = sorted((one % step, other % step))
        if low != high:
            expected[low, high] = max(similarity, expected.get((low, high), 0.0))
    pairs, similarities = fold_identical(*arrays(graph), stand_ins)
    found = [(one, other) for one, other in pairs.tolist()]
    assert dict(zip(found, similarities.tolist(), strict=True)) == expected
    assert len(found) == len(expected)
    assert pairs.dtype == np.uint32


def test_unknown_linkage() -> None:
    """A linkage of another name is refused, with those that there are."""
    with refusal(SettingsError, "argument-invalid", "`linkage`", "'average'", "single"):
        link("average", 0, *arrays({}))
