"""Requests as Solr gets them."""

import pytest

from neardup_solr import Collection
from neardup_solr.records import id_problem
from neardup_solr.solr import query
from neardup_solr.solr.collection import Selection, open_collection
from neardup_solr.solr.query import CLAUSES, Terms
from tests.hostile import HOSTILE


def test_few_terms_are_clauses_of_constant_weight() -> None:
    """The score of a hit is the number of clauses that it satisfies."""
    request = query.any_of(Terms(field="f", values=["a b", 'c"\\d']), filters=["x:1"], params={})
    assert request["query"] == '{!lucene q.op=OR df=$field_terms}"a b"^=1 "c\\"\\\\d"^=1'
    assert request["params"]["field_terms"] == "f"
    assert request["filter"] == ["x:1"]
    assert request["sort"] == "score desc,id asc"


def test_many_terms_are_summed_parts() -> None:
    """No sub-query has more clauses than a server allows, and none of the terms is lost."""
    values = [f"t{number}" for number in range(2 * CLAUSES + 1)]
    request = query.any_of(Terms(field="f", values=values), filters=["x:1"], params={"p": "1"})
    params = request["params"]
    assert request["query"] == "{!func}sum(query($part0,0),query($part1,0),query($part2,0),0)"
    assert [params[f"part{part}"].count("^=1") for part in range(3)] == [CLAUSES, CLAUSES, 1]
    assert params["any"].split("\x1f") == values
    assert params["p"] == "1"
    assert request["filter"][1:] == ["x:1"]


def test_values_travel_as_parameters() -> None:
    """Ids and filter values never stand inside query syntax: it is the same for all of them."""
    assert len(set(HOSTILE)) == 39
    asked = [query.by_id(id) for id in HOSTILE]
    assert len({request["query"] for request in asked}) == 1
    assert [request["params"]["id"] for request in asked] == HOSTILE
    filters = [query.same_value("first_word", value) for value in HOSTILE]
    assert len({filter for filter, _ in filters}) == 1
    assert all(v in params.values() for v, (_, params) in zip(HOSTILE, filters, strict=True))


def test_hostile_ids_are_ids() -> None:
    """Nothing about them is refused."""
    assert {id: id_problem(id) for id in HOSTILE} == dict.fromkeys(HOSTILE)


def test_requests_word_for_word() -> None:
    """Each kind of request, as Solr gets it but for the collection's own names of fields."""
    terms = Terms(field="f", values=["a", "b"])
    assert query.any_term(terms, filters=["x:1"]) == {
        "query": "{!terms f=$field_terms cache=false v=$any separator=$separator}",
        "filter": ["x:1"],
        "params": {"any": "a\x1fb", "separator": "\x1f", "field_terms": "f"},
    }
    assert query.each_term(terms) == (
        {"query": "*:*", "params": {"term0": "a", "term1": "b", "field_terms": "f"}},
        {
            "a": "{!term f=$field_terms cache=false v=$term0}",
            "b": "{!term f=$field_terms cache=false v=$term1}",
        },
    )
    assert query.by_id("7") == {
        "query": "{!term f=$field_id v=$id}",
        "params": {"id": "7", "field_id": "id"},
    }
    assert query.by_ids(["7", "8"]) == {
        "query": "{!terms f=$field_id v=$any separator=$separator}",
        "params": {"any": "7\x1f8", "separator": "\x1f", "field_id": "id"},
    }
    assert query.same_value("first_word", "w") == (
        "{!field f=$field_same0 v=$same0}",
        {"same0": "w", "field_same0": "first_word"},
    )


@pytest.mark.parametrize(
    ("these", "everyone", "holds"), [(2, 2, True), (2, 3, False), (0, 0, False)]
)
def test_settings_are_counted_by_the_same_request(
    monkeypatch: pytest.MonkeyPatch, these: int, everyone: int, holds: bool
) -> None:
    """Word for word; nothing is found unless all documents have them, and some do."""
    asked = []

    def select(_: Collection, request: query.Request, **more: object) -> Selection:
        """Note what was asked for, of a collection with so many documents."""
        asked.append(request | more)
        return Selection(documents=[], total=0, counts={"these": these, "any": everyone})

    monkeypatch.setattr(Collection, "select", select)
    request = {"query": "q", "params": {"p": "1"}}
    solr = open_collection("http://127.0.0.1:1/solr", "x")
    selection = solr.select_if(request, "s", fields=["id"], limit=7)
    assert (selection is not None) is holds
    assert asked == [
        {
            "query": "q",
            "params": {"p": "1", "settings": "s", "field_settings": "signature_settings"},
            "fields": ["id"],
            "limit": 7,
            "counting": {
                "these": "{!term f=$field_settings v=$settings}",
                "any": "{!lucene df=$field_settings v='[* TO *]'}",
            },
        }
    ]


def test_a_thousand_terms_are_one_query() -> None:
    """An untouched server allows 1,024 clauses; a part more has its own filter and parameters."""
    values = [f"t{number}" for number in range(1_001)]
    one = query.any_of(Terms(field="f", values=values[:1_000]), filters=["x:1"], params={})
    assert one.keys() == {"sort", "filter", "query", "params"}
    assert one["params"] == {"field_terms": "f"}
    two = query.any_of(Terms(field="f", values=values), filters=["x:1"], params={"p": "1"})
    assert two["query"] == "{!func}sum(query($part0,0),query($part1,0),0)"
    assert two["sort"] == "score desc,id asc"
    assert two["filter"] == [
        "{!terms f=$field_terms cache=false v=$any separator=$separator}",
        "x:1",
    ]
    parts = {"part0": one["query"], "part1": '{!lucene q.op=OR df=$field_terms}"t1000"^=1'}
    joined = {"any": "\x1f".join(values), "separator": "\x1f"}
    assert two["params"] == {"p": "1", "field_terms": "f"} | parts | joined


def test_the_separator_is_in_no_value() -> None:
    """It is a control character, else one of private use, else one of those beyond 65,535."""
    controls = "".join(map(chr, range(1, 0x20)))
    private = "".join(map(chr, range(0xE000, 0xF8FF)))
    for held, separator in {
        "a": "\x1f",
        "a\x1f": "\x1e",
        controls[1:]: "\x01",
        controls: "\ue000",
        controls + private[:-1]: "\uf8fe",
        controls + private: "\U00010000",
        controls + private + "\U00010000": "\U00010001",
    }.items():
        params = query.by_ids(["b", held])["params"]
        assert params["separator"] == separator
        assert params["any"] == f"b{separator}{held}"
