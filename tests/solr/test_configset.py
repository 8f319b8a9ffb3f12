"""The configset on a real Solr: what is accepted, what survives, what queries and exports give."""

from __future__ import annotations

from typing import Any

import pytest
import requests

from tests.solr import takes_json_updates

TIMEOUT = 30

# One document with every field of the schema and a kept column of every kind.
FULL: dict[str, Any] = {
    "id": "full",
    "content": "x" * 100_000,
    "md5_hash": "9e107d9d372bb6826bd81d3542a419d6",
    "num_words": 3,
    "first_word": "mia",
    "content_ng": ["c c c", "a b c", "b c d"],
    "content_sg": ["1:77", "0:12"],
    "content_bands": ["1:ff", "0:ee"],
    "signature": "Z" * 700,
    "signature_settings": "v1 words 3 mix 128",
    "city": ["New York"],
    "tags": ["b", "a"],
    "floors": ["5"],
    "note": [""],
    "essay": ["long " * 10_000],
    "seats_i": 2**40,
    "visits_l": -7,
    "weight_f": 0.25,
    "price_d": 12.5,
    "open_b": True,
    "opened_dt": "2020-01-31T00:00:00Z",
}


def update(core_url: str, *documents: dict[str, Any]) -> dict[str, Any]:
    """Send documents as JSON and commit; the response header."""
    answer = requests.post(
        f"{core_url}/update", params={"commit": "true"}, json=documents, timeout=TIMEOUT
    )
    assert answer.status_code == 200, answer.text
    header: dict[str, Any] = answer.json()["responseHeader"]
    return header


def select(core_url: str, query: str = "*:*", *, fl: str = "id", **more: str) -> Any:
    """The documents that a search finds."""
    data = {"q": query, "fl": fl, **more}
    answer = requests.post(f"{core_url}/select", data=data, timeout=TIMEOUT)
    assert answer.status_code == 200, answer.text
    return answer.json()["response"]["docs"]


def filtered(core_url: str, fq: str) -> list[str]:
    """The ids that a filter query keeps, in order."""
    return [hit["id"] for hit in select(core_url, fq=fq, sort="id asc")]


def stored(core_url: str, id: str) -> dict[str, Any]:
    """All of a document but its version."""
    (document,) = select(core_url, "{!term f=id v=$id}", fl="*", id=id)
    del document["_version_"]
    assert isinstance(document, dict)
    return document


@pytest.fixture
def filled(core_url: str) -> str:
    """A core that holds FULL."""
    assert update(core_url, FULL)["errors"] == []
    return core_url


def test_every_field_comes_back_as_it_was_sent(filled: str) -> None:
    """A document with every field, and 100 kB of content, is returned unchanged by fl=*."""
    assert stored(filled, "full") == FULL


@takes_json_updates
def test_atomic_update_by_someone_else_loses_nothing(filled: str) -> None:
    """Setting one kept column leaves every other field as it was."""
    update(filled, {"id": "full", "city": {"set": "Paris"}})
    assert stored(filled, "full") == {**FULL, "city": ["Paris"]}


@takes_json_updates
@pytest.mark.parametrize(
    "fq",
    [
        'content_ng:"a b c"',
        'content_sg:"0:12"',
        'content_bands:"0:ee"',
        "md5_hash:9e107d9d372bb6826bd81d3542a419d6",
        "signature_settings:v1*",
    ],
)
def test_atomic_update_keeps_fields_searchable(filled: str, fq: str) -> None:
    """The terms of each indexed field are found again after someone else's atomic update."""
    update(filled, {"id": "full", "city": {"set": "Paris"}})
    assert filtered(filled, fq) == ["full"]


def test_bad_document_leaves_its_batch_alone(core_url: str) -> None:
    """One bad document of three is reported by its id; the two others are indexed."""
    header = update(core_url, {"id": "1"}, {"id": "2", "num_words": "many"}, {"id": "3"})
    assert [(error["type"], error["id"]) for error in header["errors"]] == [("ADD", "2")]
    assert filtered(core_url, "*:*") == ["1", "3"]


def test_all_bad_documents_of_a_batch_are_reported(core_url: str) -> None:
    """The chain has no limit of errors: 200 bad documents are 200 errors."""
    header = update(core_url, *({"id": str(n), "num_words": "many"} for n in range(200)))
    assert len(header["errors"]) == 200


def test_score_is_the_number_of_shared_terms(core_url: str) -> None:
    """An OR of constant-score clauses counts shared terms, however rare or repeated they are."""
    update(
        core_url,
        {"id": "1", "content_ng": ["a b c"]},
        {"id": "2", "content_ng": ["a b c", "b c d", "b c d"]},
        {"id": "3", "content_ng": ["a b", "b c d e"]},
    )
    query = 'content_ng:"a b c"^=1 content_ng:"b c d"^=1'
    scores = {hit["id"]: hit["score"] for hit in select(core_url, query, fl="id,score")}
    assert scores == {"1": 1.0, "2": 2.0}


def test_export_gives_signatures_in_order_of_id(core_url: str) -> None:
    """/export streams id, signature, first word and word count, sorted by id."""
    rows = [
        {"id": n, "signature": n * 700, "first_word": "w" + n, "num_words": int(n)}
        for n in ("2", "1", "3")
    ]
    update(core_url, *rows)
    params = {"q": "*:*", "sort": "id asc", "fl": "id,signature,first_word,num_words"}
    answer = requests.get(f"{core_url}/export", params=params, timeout=TIMEOUT)
    assert answer.json()["response"]["docs"] == sorted(rows, key=lambda row: str(row["id"]))


def test_get_sees_what_is_not_committed(core_url: str) -> None:
    """/get answers before a commit, with a response header to check."""
    requests.post(f"{core_url}/update", json=[{"id": "1"}], timeout=TIMEOUT).raise_for_status()
    answer = requests.get(f"{core_url}/get", params={"id": "1", "fl": "id"}, timeout=TIMEOUT).json()
    assert answer["doc"] == {"id": "1"}
    assert answer["responseHeader"]["status"] == 0
    assert select(core_url) == []


@pytest.mark.parametrize(
    ("fq", "found"),
    [
        ("city:Paris", ["1"]),
        ('city:"New York"', ["2"]),
        ("city:York", []),
        ("city:paris", []),
        ("city:New*", ["2"]),
        ("city:[M TO Z]", ["1", "2"]),
        ("{!term f=city}New York", ["2"]),
        ("tags:a AND tags:b", ["1"]),
        ('note:""', ["1"]),
        ("floors:5", ["1"]),
        ("price_d:[9 TO 100]", ["1"]),
        ("open_b:true", ["2"]),
        ("num_words:[2 TO *]", ["2"]),
        ("first_word:mia", ["1"]),
    ],
)
def test_filters(core_url: str, fq: str, found: list[str]) -> None:
    """Kept columns match whole values exactly; typed names and counts take ranges."""
    update(
        core_url,
        {"id": "1", "city": "Paris", "tags": ["a", "b"], "note": "", "floors": 5}
        | {"price_d": 12.5, "open_b": False, "num_words": 1, "first_word": "mia"},
        {"id": "2", "city": "New York", "tags": ["a"], "note": "n", "floors": 55}
        | {"price_d": 120, "open_b": True, "num_words": 2, "first_word": "mias"},
    )
    assert filtered(core_url, fq) == found


@pytest.mark.parametrize("character", ["x", "é", "中", "\N{GRINNING FACE}"])
def test_longest_filterable_kept_value(core_url: str, character: str) -> None:
    """A kept value is a filter up to 10,922 UTF-16 units, whatever its bytes; longer ones are kept.

    A filter for a longer value finds nothing (rather than everything), and no value is refused.
    """
    units = len(character.encode("utf-16-le")) // 2
    fits, longer = character * (10_922 // units), character * 40_000
    header = update(core_url, {"id": "fits", "essay": fits}, {"id": "longer", "essay": longer})
    assert header["errors"] == []
    assert filtered(core_url, f'essay:"{fits}"') == ["fits"]
    assert filtered(core_url, f'essay:"{longer}"') == []
    assert stored(core_url, "longer")["essay"] == [longer]


def test_long_query_as_json_body(core_url: str) -> None:
    """A query of 3 MB in 1,000 clauses is answered when it is sent as a JSON body."""
    shingle = "w" * 3_000
    update(core_url, {"id": "1", "content_ng": [f"{shingle} 7"]})
    query = " ".join(f'content_ng:"{shingle} {n}"^=1' for n in range(1_000))
    answer = requests.post(f"{core_url}/select", json={"query": query}, timeout=TIMEOUT)
    assert [hit["id"] for hit in answer.json()["response"]["docs"]] == ["1"]


def test_update_answers_xml_with_json(filled: str) -> None:
    """A delete in XML, as some clients send it, works and is answered in JSON."""
    headers = {"Content-Type": "text/xml; charset=utf-8"}
    body = "<delete><id>full</id></delete>"
    answer = requests.post(
        f"{filled}/update/?commit=true", data=body, headers=headers, timeout=TIMEOUT
    )
    assert answer.json()["responseHeader"]["status"] == 0
    assert select(filled) == []
