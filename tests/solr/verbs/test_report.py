"""Reports by bands ask for many documents at once; each gets what a search of its own gives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import neardup_solr as nd
from neardup_solr.testing import SIZES
from tests.conftest import Cores
from tests.solr.families import families

CRITERIA: list[dict[str, Any]] = [
    {"by": "bands"},
    {"by": "bands", "candidates": 3},
    {"by": "bands", "fq": ("half_i:1",)},
    {"by": "bands", "max_distance": 2},
    {"by": "bands", "measure": "jaccard", "min_similarity": 0.3},
    {"by": "bands", "measure": "containment"},
    {"by": "bands", "measure": "aligned"},
    {"by": "bands", "measure": "estimate", "candidates": 5},
]


DOCUMENTS = families(100, 5, copied=0.7, wordless=("", ""))


@pytest.fixture(scope="module")
def indexed(core_pool: Cores) -> Iterator[nd.Collection]:
    """A core with the documents, only to be read."""
    with core_pool.filled(DOCUMENTS) as core:
        yield core


def assert_alike(one: tuple[int | None, float], other: tuple[int | None, float]) -> None:
    """Equal distances, and similarities that differ by no more than the order of a sum."""
    assert one[0] == other[0]
    assert one[1] == pytest.approx(other[1], abs=1e-12)


@pytest.mark.parametrize("criteria", CRITERIA, ids=str)
@pytest.mark.parametrize("later_only", [False, True])
def test_together_as_one_by_one(
    indexed: nd.Collection, criteria: dict[str, Any], later_only: bool
) -> None:
    """Pairs, their order, their numbers and what was cut are those of one search a document."""
    solr = indexed
    together = nd.report(solr, later_only=later_only, **criteria)
    alone: dict[tuple[str, str], tuple[int | None, float]] = {}
    cut = 0
    for document in DOCUMENTS:
        id = document.id
        own = nd.report(solr, from_id=id, to_id=id, later_only=later_only, **criteria)
        pairs = {(pair.id, pair.other_id): (pair.distance, pair.similarity) for pair in own.pairs}
        if not later_only:
            matches = nd.search(solr, id=id, **criteria)
            assert {*pairs} == {tuple(sorted((id, one.id), key=int)) for one in matches}
            for one in matches:
                lower, higher = sorted((id, one.id), key=int)
                assert_alike(pairs[lower, higher], (one.distance, one.similarity))
        alone |= pairs
        cut += own.cut
    found = {(pair.id, pair.other_id): (pair.distance, pair.similarity) for pair in together.pairs}
    assert [*found] == sorted(alone, key=lambda ids: (int(ids[0]), int(ids[1])))
    assert len(together.pairs) == len(found)
    for ids, (distance, similarity) in alone.items():
        assert_alike(found[ids], (distance, similarity))
    assert (together.cut, together.documents) == (cut, len(DOCUMENTS))
    assert len(together.pairs) > 30


def test_a_document_with_too_many_candidates(
    solr: nd.Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where more share a band than are fetched at a time, a document is searched for alone."""
    monkeypatch.setattr(SIZES, "hot_term", 100)
    monkeypatch.setattr(SIZES, "fetched_documents", 500)
    monkeypatch.setattr(SIZES, "nearest_documents", 200)
    fox = "the quick brown fox jumps over the lazy dog in the park"
    nd.index([nd.Document(id=str(n), text=f"{fox} {n}") for n in range(505)], solr)
    found = nd.report(solr, to_id="2", by="bands", candidates=20, max_distance=1)
    assert (found.documents, found.cut) == (3, 3)
    assert 20 <= len(found.pairs) <= 60
    # The gate takes the best of them, and says that there are more.
    [decision] = nd.gate([nd.Document(id="x", text=f"{fox} 7")], solr)
    assert not decision.complete
    assert (decision.action, decision.reason) == ("reject", "the same text as '7'")
    assert len(decision.matches) == 100
