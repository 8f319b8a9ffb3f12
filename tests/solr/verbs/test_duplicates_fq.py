"""Filters and fields that have to be equal, on a real Solr: of pairs, marks and remembered runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import neardup_solr as nd
from neardup_solr.errors import ArgumentError, SettingsError, SolrAnswerError
from tests.refusals import refusal
from tests.solr import api, foreign
from tests.solr.api import MARKS

TENANTS = ("a", "b", 'a" OR *:* "', "${x} {!x}", None)
TEXTS = (
    "the night ferry to Orla leaves the old pier at nine",
    "the night ferry to Orla leaves the old pier at ten",
    "how to bake bread with little yeast and much time",
    "how to bake bread with much yeast and little time",
    "nothing else is like this one",
)


def documents() -> list[nd.Document]:
    """Each text once for each tenant."""
    return [
        nd.Document(
            id=f"{number}-{at}", text=text, kept={} if tenant is None else {"tenant_s": tenant}
        )
        for number, tenant in enumerate(TENANTS)
        for at, text in enumerate(TEXTS)
    ]


@pytest.fixture
def tenants(solr: nd.Collection) -> nd.Collection:
    """A core with the texts of several tenants."""
    nd.index(documents(), solr)
    return solr


def marks(solr: nd.Collection) -> dict[str, tuple[Any, ...]]:
    """The marks of all documents that have any."""
    rows = solr.export(["id", *MARKS])
    return {row["id"]: tuple(row.get(name) for name in MARKS) for row in rows if MARKS[0] in row}


def id_pairs(found: nd.Duplicates) -> set[tuple[str, str]]:
    """The ids of the pairs."""
    return {(pair.id, pair.other_id) for pair in found.pairs}


def test_a_filter_that_solr_cannot_read_is_not_waited_for(tenants: nd.Collection) -> None:
    """Also if Solr says 500 of it, as it does while something is wrong with it."""
    clusters = nd.duplicates(tenants).clusters
    broken, patience = "id:/(/", "1h"
    verbs: tuple[Callable[[], object], ...] = (
        lambda: nd.duplicates(tenants, fq=broken, patience=patience),
        lambda: nd.passages(tenants, fq="{!frange l=a}1", patience=patience),
        lambda: nd.report(tenants, fq=["*:*", broken], patience=patience),
        lambda: nd.report(tenants, query=broken, patience=patience),
        lambda: nd.mark(tenants, clusters, fq=broken, patience=patience),
        lambda: list(nd.gate(documents(), tenants, fq=broken, patience=patience)),
        lambda: nd.annotate(tenants, query=broken, patience=patience),
        lambda: nd.strip(tenants, query=broken, patience=patience),
    )
    for verb in verbs:
        with pytest.raises(SolrAnswerError) as caught:
            verb()
        assert caught.value.status == 500
        assert "query" in caught.value.next_step


@pytest.mark.parametrize("by", ["bands", "words", "all"])
@pytest.mark.parametrize("measure", ["words", "aligned", "estimate"])
def test_pairs_never_cross(tenants: nd.Collection, by: Any, measure: Any) -> None:
    """Values are those of documents, whatever a query would make of them."""
    found = nd.duplicates(tenants, same="tenant_s", by=by, measure=measure)
    assert {one[0] for pair in id_pairs(found) for one in pair} <= set("0123")
    assert all(one[0] == other[0] for one, other in id_pairs(found))
    assert {f"{number}-0" for number in range(4)} <= {one for one, _ in id_pairs(found)}
    assert found.gaps == ("documents without tenant_s: 5, which were not compared",)


def test_reports_and_searches_mean_the_same(tenants: nd.Collection) -> None:
    """`same` is any field there, too: a report has the pairs of `duplicates`."""
    several = nd.Document(id="9-0", text=TEXTS[0], kept={"tenant_s": ["a", "b"], "n_i": 5})
    nd.index([several], tenants, keep=())
    for same in ("tenant_s", ["tenant_s", "first_word"]):
        found, made = nd.duplicates(tenants, same="tenant_s"), nd.report(tenants, same=same)
        assert {(pair.id, pair.other_id) for pair in made.pairs} == id_pairs(found)
    assert [match.id for match in nd.search(tenants, id="0-0", same="tenant_s")] == ["0-1"]
    assert nd.search(tenants, id="4-0", same="tenant_s") == []
    assert nd.search(tenants, id="9-0", same=["tenant_s", "n_i"]) == []
    with refusal(SettingsError, "field-missing", "tenants", "`same`"):
        nd.search(tenants, id="0-0", same="tenants")
    with refusal(ArgumentError, "arguments-conflict", "tenant_s"):
        nd.search(tenants, text="x", same="tenant_s")


def test_a_filter_is_the_users_own_query(tenants: nd.Collection) -> None:
    """Only matching documents are read; several filters all have to match."""
    found = nd.duplicates(tenants, fq="tenant_s:a")
    assert found.documents == 5
    assert id_pairs(found) == {("0-0", "0-1"), ("0-2", "0-3")}
    assert found.complete
    assert found.fq == ("tenant_s:a",)
    assert nd.duplicates(tenants, fq=["tenant_s:(a OR b)", "-tenant_s:b"]).documents == 5
    nobody = nd.duplicates(tenants, fq=["tenant_s:a", "tenant_s:nobody"])
    unmatched = "matches tenant_s:a AND tenant_s:nobody; check the filter"
    assert nobody.documents == 0
    assert nobody.gaps == (f"no document in {tenants.name!r} {unmatched}",)
    with refusal(SolrAnswerError, "solr-refused", "Cannot parse"):
        nd.duplicates(tenants, fq="tenant_s:(")


def test_a_filter_is_for_the_collection_of_two_sides(tenants: nd.Collection) -> None:
    """A file beside a collection is read as a whole."""
    new = [nd.Document(id="new", text=TEXTS[0], kept={"tenant_s": "b"})]
    found = nd.duplicates(new, against=tenants, fq="tenant_s:b")
    assert id_pairs(found) == {("new", "1-0"), ("new", "1-1")}
    same = nd.duplicates(new, against=tenants, same="tenant_s")
    assert id_pairs(same) == id_pairs(found)
    with refusal(ArgumentError, "arguments-conflict", "`fq`"):
        nd.duplicates(new, against=new, fq="tenant_s:b")


def test_marks_of_others_are_not_touched(
    tenants: nd.Collection,
) -> None:
    """A run for one tenant marks, clears and undoes what is the tenant's, and no more."""
    nd.mark(tenants, nd.duplicates(tenants, same="tenant_s"))
    before = marks(tenants)
    assert len(before) == 4 * 4
    of_b = {id: mark for id, mark in before.items() if id.startswith("1-")}
    others = {id: mark for id, mark in before.items() if id not in of_b}
    versions = tenants.versions(list(others))

    api.set_fields(tenants, {"id": "1-1", "tenant_s": {"set": "moved"}})
    tenants.commit()
    found = nd.duplicates(tenants, fq="tenant_s:b")
    made = nd.mark(tenants, found)
    assert (made.marked, made.unchanged, made.cleared) == (0, 2, 1)
    now = marks(tenants)
    assert set(of_b) - set(now) == {"1-0"}
    assert now["1-1"] == before["1-1"]  # no longer that tenant's
    assert {id: now[id] for id in others} == others
    assert tenants.versions(list(others)) == versions

    assert nd.mark(tenants, (), fq="tenant_s:b").cleared == 2
    assert marks(tenants) == {**others, "1-1": before["1-1"]}
    assert nd.mark(tenants, found.clusters, fq="tenant_s:b").marked == 2


def test_torn_clusters_are_counted(tenants: nd.Collection) -> None:
    """Marks of one tenant part the clusters of a run over all; those of each tenant do not."""
    nd.mark(tenants, nd.duplicates(tenants))
    of_b = nd.duplicates(tenants, fq="tenant_s:b")
    assert nd.mark(tenants, of_b, dry_run=True).torn == 3
    assert nd.mark(tenants, of_b).torn == 3
    assert nd.mark(tenants, of_b).torn == 0
    assert nd.mark(tenants, nd.duplicates(tenants)).torn == 0


def test_no_two_tenants_share_a_number(tenants: nd.Collection) -> None:
    """A number that another tenant's cluster has is not taken, as a collapse would join both."""
    found = nd.duplicates(tenants, fq="tenant_s:b")
    nd.mark(tenants, found)
    number = marks(tenants)["1-0"][0]
    api.set_fields(tenants, {"id": "0-0", MARKS[0]: {"set": number}})
    tenants.commit()
    nd.mark(tenants, found)
    assert marks(tenants)["1-0"][0] != number
    assert len({marks(tenants)[id][0] for id in ("1-0", "1-1")}) == 1
    assert nd.mark(tenants, found).marked == 0


def test_a_remembered_run_has_its_filters(tenants: nd.Collection, tmp_path: Path) -> None:
    """Another filter is another work; a document that changes its tenant is found again."""
    how: dict[str, Any] = {"remember": tmp_path / "known", "by": "bands"}
    nd.duplicates(tenants, fq="tenant_s:a", **how)
    again = nd.duplicates(tenants, fq="tenant_s:a", **how)
    assert again.since is not None
    assert (again.since.came, again.since.changed, again.since.gone) == (0, 0, 0)
    assert again.since.reused == again.candidates > 0
    other = nd.duplicates(tenants, fq="tenant_s:b", **how)
    assert other.since is not None
    assert "filters" in other.since.reason
    assert id_pairs(other) == {("1-0", "1-1"), ("1-2", "1-3")}
    everything = nd.duplicates(tenants, same="tenant_s", **how)
    assert id_pairs(everything) == id_pairs(nd.duplicates(tenants, same="tenant_s", by="bands"))
    api.set_fields(tenants, {"id": "0-0", "tenant_s": {"set": "b"}})
    tenants.commit()
    moved = nd.duplicates(tenants, same="tenant_s", **how)
    assert {("0-0", "1-0"), ("0-0", "1-1")} <= id_pairs(moved)
    assert ("0-0", "0-1") not in id_pairs(moved)
    assert moved.since is not None
    assert moved.since.reused > 0


def test_an_interrupted_run_goes_on_with_its_own_filters(
    tenants: nd.Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another tenant's documents make the same rows, and other pairs."""

    path = tmp_path / "work"
    api.set_fields(tenants, {"id": "1-1", "content": {"set": "something else altogether by now"}})
    tenants.commit()
    how: dict[str, Any] = {"checkpoint": path, "by": "all"}

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("neardup_solr.verbs.duplicates.pairing.group_verified", interrupt)
        with pytest.raises(KeyboardInterrupt):
            nd.duplicates(tenants, fq="tenant_s:a", **how)
    assert path.exists()
    found = nd.duplicates(tenants, fq="tenant_s:b", **how)
    assert id_pairs(found) == {("1-2", "1-3")}


STORED = (
    '<field name="shelf" type="string" indexed="true" stored="true" docValues="false"/>'
    '<field name="unseen" type="string" indexed="true" stored="false" docValues="false"/>'
)


DF = '<lst name="appends"><str name="df">title</str></lst>'


@pytest.fixture
def books(home: object) -> Iterator[nd.Collection]:
    """A collection of someone else with our fields under a prefix, annotated."""
    with foreign.collection(more=STORED, select=DF) as solr:
        solr.add([
            {"sku": f"{number}-{at}", "title": "the ferry by night" if at < 2 else "night",
             "body": [text], "shelf": shelf, "city_s": shelf}
            for number, shelf in enumerate(("north", "south"))
            for at, text in enumerate(TEXTS)
        ])  # fmt: skip
        solr.commit()
        nd.init(solr, text="body", prefix="nd_")
        nd.annotate(solr)
        yield solr


def test_fields_of_a_foreign_collection(books: nd.Collection) -> None:
    """Stored or in docValues, both are read; what is neither is refused, as what is not there."""
    for name in ("shelf", "city_s"):
        found = nd.duplicates(books, same=name)
        assert len(found.pairs) == 4
        assert all(one[0] == other[0] for one, other in id_pairs(found))
    assert len(nd.duplicates(books).pairs) > 4
    for name, reason in (
        ("shelves", "has no field 'shelves'; name a different field in `same`"),
        ("unseen", "the field 'unseen' is not stored and has no docValues"),
    ):
        with pytest.raises(SettingsError, match=reason):
            nd.duplicates(books, same=["city_s", name])
        with pytest.raises(SettingsError, match=reason.replace("same", "keep")):
            nd.duplicates(books, keep=["city_s", name])


def test_a_filter_is_read_as_for_a_search(tenants: nd.Collection, books: nd.Collection) -> None:
    """By the operator and field that /select has, of which /export knows nothing."""
    for where, query, expected in (
        (tenants, "tenant_s:a tenant_s:b", 10),  # OR
        (books, "shelf:north title:ferry", 2),  # AND
        (books, "shelf:north ferry", 2),
    ):
        found = nd.duplicates(where, fq=query)
        assert found.documents == expected
        assert len(found.pairs) > 0


def test_the_queries_for_a_prefix_hide_and_collapse(books: nd.Collection) -> None:
    """What is told after marking works as it stands, with the names of that collection."""
    made = nd.mark(books, nd.duplicates(books, same="city_s"))
    assert made.fq == "-nd_neardup_canonical:0"
    for query in (made.fq, made.collapse):
        assert sorted(books.ids([query])) == ["0-0", "0-2", "0-4", "1-0", "1-2", "1-4"]
