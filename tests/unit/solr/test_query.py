"""Requests as Solr gets them."""

from neardup_solr.records import id_problem
from neardup_solr.solr import query
from neardup_solr.solr.query import CLAUSES, SEPARATOR, Terms
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
    assert params["any"].split(SEPARATOR) == values
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
