"""Reports by bands ask for many documents at once; each gets what a search of its own gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

import neardup_solr as nd
from neardup_solr.measures import Limits
from neardup_solr.testing import SIZES
from neardup_solr.verbs import report
from neardup_solr.verbs.criteria import Criteria, searchable
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


def checked(
    *, max_distance: int | None = None, min_similarity: float | None = None, **others: Any
) -> Criteria:
    """The criteria that a report makes of these arguments."""
    limits = Limits(max_distance=max_distance, min_similarity=min_similarity)
    return Criteria(limits=limits, **others)


DOCUMENTS = families(100, 5, copied=0.7, wordless=("", ""))


@pytest.fixture(scope="module")
def indexed(core_pool: Cores) -> Iterator[nd.Collection]:
    """A core with the documents, only to be read."""
    with core_pool.filled(DOCUMENTS) as core:
        yield core


@pytest.mark.parametrize("criteria", CRITERIA, ids=str)
@pytest.mark.parametrize("later_only", [False, True])
def test_together_as_one_by_one(
    indexed: nd.Collection, criteria: dict[str, Any], later_only: bool
) -> None:
    """Pairs, their order, their numbers and what was cut are those of one search a document."""
    solr = indexed
    together = nd.report(solr, later_only=later_only, **criteria)
    settings, settled = searchable(solr, checked(**criteria))
    work = report.make_work(solr, settings, settled, later_only=later_only)
    assert work.is_together
    alone = replace(work, is_together=False)
    one_by_one: list[nd.Pair] = []
    cut = 0
    for document in DOCUMENTS:
        [(pairs, was_cut)] = alone.find_pairs([document.id])
        one_by_one += pairs
        cut += was_cut
    assert [(p.id, p.other_id, p.distance) for p in together.pairs] == [
        (p.id, p.other_id, p.distance) for p in report.once(one_by_one)
    ]
    similarities = [pair.similarity for pair in report.once(one_by_one)]
    assert [pair.similarity for pair in together.pairs] == pytest.approx(similarities, abs=1e-12)
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
