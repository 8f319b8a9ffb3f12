"""Ids that look like something else: each is just one document, whatever is asked or done with it.

Every document has a near-duplicate with a harmless id, and nothing else is near to it. What is
asked by an id gives its twin alone; what is done to an id changes no other document.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import neardup_solr as nd
from neardup_solr.cli.main import parser
from neardup_solr.records import id_problem
from neardup_solr.solr import query
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.query import Terms
from neardup_solr.testing import fresh_core
from tests.faults.conftest import RecordRow
from tests.faults.tiers import sized
from tests.finders import fetch_ranked
from tests.hostile import HOSTILE, MORE

ALL = [*HOSTILE, *MORE]
MADE = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
LISTS = st.lists(
    MADE.filter(lambda id: id_problem(id) is None), min_size=8, max_size=8, unique=True
)
WAYS = 10  # in which `check` asks about each id, or does something to it, beside its marks


@pytest.fixture(scope="module")
def core(solr_url: str) -> Iterator[Collection]:
    """A core for all tests of this module, empty between them."""
    with fresh_core(solr_url) as made:
        yield made


def text_of(number: int) -> str:
    """A text that shares no word with those of other numbers."""
    return " ".join(f"w{number}x{at}" for at in range(40))


def versions(solr: Collection) -> dict[str, int]:
    """The version of every document."""
    found = {row["id"]: row["_version_"] for row in solr.stored(list(solr.ids()), ["_version_"])}
    assert len(found) == solr.count()
    return found


def check(solr: Collection, ids: list[str]) -> int:
    """Ask about each of these ids and change its document in all `WAYS`; how often."""
    twins = {id: f"twin of number {number}" for number, id in enumerate(ids)}
    assert not twins.keys() & set(twins.values())
    nd.delete(solr, query="*:*")  # what a check that failed has left
    texts = {id: text_of(number) for number, id in enumerate(ids)}
    documents = [nd.Document(id=id, text=text) for id, text in texts.items()]
    twin_documents = [nd.Document(id=twins[id], text=f"{texts[id]} end") for id in ids]
    assert nd.index([*documents, *twin_documents], solr).indexed == 2 * len(ids)
    before = versions(solr)
    assert before.keys() == {*ids, *twins.values()}

    asked(solr, ids, twins, texts)
    found = nd.duplicates(solr, by="bands")
    expected = {frozenset(pair) for pair in twins.items()}
    assert {frozenset((pair.id, pair.other_id)) for pair in found.pairs} == expected
    decided = list(nd.gate([nd.Document(id=id, text=texts[id]) for id in ids], solr, tag=0.5))
    assert [[match.id for match in one.matches] for one in decided] == [[twins[id]] for id in ids]
    assert versions(solr) == before

    some = sized(usual=ids[::12], full=ids[::3])
    for id in some:
        before = versions(solr)
        cluster = next(one for one in found.clusters if id in {m.id for m in one.members})
        nd.mark(solr, [cluster])
        changed = {each for each, version in versions(solr).items() if version != before[each]}
        assert {id, twins[id]} <= changed
        # The marks of the cluster before are taken away, nothing else.
        assert changed <= {id, twins[id], *marked_before(some, twins, id)}
    nd.mark(solr, ())
    for id in ids:
        before = versions(solr)
        if id not in some:
            solr.delete_ids([id])
            solr.commit()
        else:
            words = ["delete", f"--solr={solr.url}", "--", id]
            ran = CliRunner().invoke(parser(), words)
            assert (ran.exit_code, ran.stderr.splitlines()[-1]) == (0, "1 document deleted.")
        del before[id]
        assert versions(solr) == before
    return WAYS * len(ids) + len(some)


def marked_before(ids: list[str], twins: dict[str, str], id: str) -> set[str]:
    """The documents of the cluster that was marked before the one of this id."""
    at = ids.index(id)
    return set() if at == 0 else {ids[at - 1], twins[ids[at - 1]]}


def asked(solr: Collection, ids: list[str], twins: dict[str, str], texts: dict[str, str]) -> None:
    """What is asked by one id or value, or by many: the right documents and no other."""
    assert solr.texts(ids) == texts
    assert solr.count(ids=ids) == len(ids)
    for id in ids:
        assert solr.document(id, ["id", "content"]) == {"id": id, "content": texts[id]}
        (match,) = nd.search(solr, id=id)
        assert (match.id, match.content) == (twins[id], f"{texts[id]} end")
        (match,) = nd.search(solr, id=id, by="bands", measure="estimate")
        assert match.id == twins[id]
        assert nd.explain(solr, id, twins[id]).verdict == "found"
        (pair,) = nd.report(solr, from_id=id, to_id=id).pairs
        assert {pair.id, pair.other_id} == {id, twins[id]}


def check_values(solr: Collection, values: list[str]) -> int:
    """Each of these values of a field is found by an exact filter; how often that was asked."""
    nd.delete(solr, query="*:*")
    assert not solr.add(
        [
            {"id": str(n), "first_word": value, "content_ng": ["t", value]}
            for n, value in enumerate(values)
        ]
    )
    solr.commit()
    for number, value in enumerate(values):
        filter, params = query.same_value("first_word", value)
        terms = Terms(field="content_ng", values=["t"])
        same = query.any_of(terms, filters=[filter], params=params)
        alone = query.any_of(Terms(field="content_ng", values=[value]), filters=[], params={})
        for request in (same, alone):
            assert [hit.id for hit in fetch_ranked(solr, request)] == [str(number)]
    any_term = query.any_term(Terms(field="content_ng", values=values), filters=[])
    found = solr.select(any_term, fields=["id"], limit=len(values) + 1)
    assert found.total == len(values)
    return 2 * len(values)


def test_ids_of_the_list_are_exact(core: Collection, row: RecordRow) -> None:
    """All 76 ids, or half of them, in every way; and all as values of fields."""
    assert len(set(ALL)) == 76
    assert {id: id_problem(id) for id in ALL} == dict.fromkeys(ALL)
    asked = sized(usual=ALL[::2], full=ALL)
    done = check(core, asked)
    values = check_values(core, ALL)
    row(
        "S1",
        f"{len(asked)} of {len(asked)} hostile ids exact, {done + values:,} times asked or done",
    )


def test_ids_that_hypothesis_makes_are_exact(core: Collection, row: RecordRow) -> None:
    """Any characters at all, in lists, in every way."""
    seen: set[str] = set()
    done = 0

    @settings(
        max_examples=sized(usual=2, full=8),
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(ids=LISTS)
    def exact(ids: list[str]) -> None:
        nonlocal done
        seen.update(ids)
        done += check(core, ids) + check_values(core, ids)

    exact()
    row("S1", f"{len(seen):,} ids of hypothesis exact, {done:,} times asked or done")
