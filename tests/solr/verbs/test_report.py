"""Reports by bands ask for many documents at once; each gets what a search of its own gives."""

from __future__ import annotations

import pytest

import neardup_solr as nd
from neardup_solr.records import Pair
from neardup_solr.solr.collection import Collection
from neardup_solr.verbs import report
from neardup_solr.verbs.batch import Finder
from neardup_solr.verbs.search import comparer_for, searchable
from tests.solr.families import families

CRITERIA = [
    nd.Criteria(by="bands"),
    nd.Criteria(by="bands", rows=3),
    nd.Criteria(by="bands", filters=("half_i:1",)),
    nd.Criteria(by="bands", limits=nd.Limits(max_distance=2)),
    nd.Criteria(by="bands", measure="jaccard", limits=nd.Limits(min_similarity=0.3)),
    nd.Criteria(by="bands", measure="containment"),
    nd.Criteria(by="bands", measure="aligned"),
    nd.Criteria(by="bands", measure="estimate", rows=5),
]


@pytest.mark.parametrize("criteria", CRITERIA, ids=lambda c: f"{c.measure} {c.rows} {c.filters}")
@pytest.mark.parametrize("later_only", [False, True])
def test_together_as_one_by_one(solr: Collection, criteria: nd.Criteria, later_only: bool) -> None:
    """Pairs, their order, their numbers and what was cut are those of one search a document."""
    documents = families(150, 5, copied=0.7, wordless=("", ""))
    nd.index(documents, solr)
    together = nd.report(solr, chosen=nd.Chosen(later_only=later_only), criteria=criteria)
    settings, settled = searchable(solr, criteria)
    work = report._Neighbours(
        collection=solr,
        criteria=settled,
        finder=Finder(
            comparer=comparer_for(solr, settings, settled.measure, settled.limits),
            filters=settled.filters,
        ),
        later_only=later_only,
    )
    one_by_one: list[Pair] = []
    cut = 0
    for document in documents:
        found, was_cut = work.alone(document)
        one_by_one += found
        cut += was_cut
    assert [(p.id, p.other_id, p.distance) for p in together.pairs] == [
        (p.id, p.other_id, p.distance) for p in report.once(one_by_one)
    ]
    similarities = [pair.similarity for pair in report.once(one_by_one)]
    assert [pair.similarity for pair in together.pairs] == pytest.approx(similarities, abs=1e-12)
    assert (together.cut, together.documents) == (cut, len(documents))
    assert len(together.pairs) > 30


def test_a_document_with_too_many_candidates(solr: Collection) -> None:
    """Where more share a band than are fetched at a time, a document is searched for alone."""
    fox = "the quick brown fox jumps over the lazy dog in the park"
    nd.index([nd.Document(id=str(n), text=f"{fox} {n}") for n in range(5_050)], solr)
    criteria = nd.Criteria(by="bands", rows=20, limits=nd.Limits(max_distance=1))
    found = nd.report(solr, chosen=nd.Chosen(last="2"), criteria=criteria)
    assert (found.documents, found.cut) == (3, 3)
    assert 20 <= len(found.pairs) <= 60
    # The gate takes the best of them, and says that there are more.
    [decision] = nd.gate(solr, [nd.Document(id="x", text=f"{fox} 7")])
    assert not decision.complete
    assert (decision.action, decision.reason) == ("reject", "the same text as '7'")
    assert len(decision.matches) == 100
