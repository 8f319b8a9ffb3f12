"""Which answers are whole: each sign that one is not, with the words that tell of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
import requests

from neardup_solr.errors import SettingsError, SolrAnswerError
from neardup_solr.solr import responses
from tests.refusals import refusal

URL = "http://h/solr/x/select"
PAGE: dict[str, Any] = {"response": {"numFound": 2, "docs": [{"id": "1"}, {"id": "2"}]}}


def told(decoded: dict[str, Any], **header: object) -> requests.Response:
    """A response with that JSON, and more in its header."""
    made = requests.Response()
    made.status_code, made.url = 200, URL
    body = {"responseHeader": {"status": 0, **header}, **decoded}
    vars(made)["_content"] = json.dumps(body).encode()
    return made


def test_a_whole_answer() -> None:
    """It is given back as it is, also with shards and counts that are right."""
    shards = {"shards.info": {"s": {"numFound": 2, "shardAddress": "http://h/solr/x"}}}
    more = {"response": PAGE["response"] | {"numFoundExact": True}}
    response = told(PAGE | shards | more, partialResults=False)
    responses.check(response, URL, embedded=False)
    needed = {"response.docs": list, "response.numFound": int}
    assert responses.answer(response, needed)["response"]["docs"] == PAGE["response"]["docs"]


@pytest.mark.parametrize(
    ("decoded", "header", "reason"),
    [
        ({}, {"partialResults": True}, "only part of the results; remove timeAllowed"),
        ({}, {"partialResults": "omitted"}, "only part of the results"),
        ({}, {"segmentTerminatedEarly": True}, "only part of the results"),
        ({}, {"maxHitsTerminatedEarly": True}, "only part of the results"),
        ({}, {"status": 1}, "no responseHeader with status 0"),
        ({}, {"status": False}, "no responseHeader with status 0"),
        ({}, {"status": 0.0}, "no responseHeader with status 0"),
        ({"shards.info": [1]}, {}, "its report on the shards is in an unknown format"),
        ({"shards.info": {"s": 1}}, {}, "its report on the shards is in an unknown format"),
        (
            {"shards.info": {"s": {"error": "gone"}}},
            {},
            "one of its shards failed: gone; check that all",
        ),
        ({"response": 7}, {}, "its response is in an unknown format"),
        ({"response": {"numFoundExact": False}}, {}, "did not count the results exactly"),
    ],
)
def test_a_part_is_refused(decoded: dict[str, Any], header: dict[str, Any], reason: str) -> None:
    """Although its HTTP status, and mostly its own, is that of a success."""
    with pytest.raises(SolrAnswerError, match=reason) as caught:
        responses.check(told(decoded, **header), URL, embedded=False)
    assert caught.value.status == 200


@pytest.mark.parametrize(
    ("asked", "found", "given", "reason"),
    [
        ({"limit": 2}, 2, 2, None),
        ({"limit": 2}, 5, 2, None),
        ({"limit": 0}, 5, 0, None),
        ({"limit": 2, "offset": 3}, 5, 2, None),
        ({"limit": 2, "offset": 4}, 5, 1, None),
        ({"limit": 2, "offset": 7}, 5, 0, None),
        ({"limit": 2}, 2, 1, "1 documents instead of 2"),
        ({"limit": 2}, 1, 2, "2 documents instead of 1"),
        ({"limit": 2}, 5, 3, "3 documents instead of 2"),
        ({"limit": 2, "offset": 4}, 5, 2, "2 documents instead of 1"),
        ({"limit": 2}, -1, 1, "1 documents instead of 0"),
    ],
)
def test_a_page_has_what_it_counts(
    asked: dict[str, int], found: int, given: int, reason: str | None
) -> None:
    """As many documents as there are, up to the limit."""
    decoded = {"response": {"numFound": found, "docs": [{"id": str(n)} for n in range(given)]}}
    if reason is None:
        responses.require_page(decoded, asked, URL)
    else:
        with pytest.raises(SolrAnswerError, match=reason):
            responses.require_page(decoded, asked, URL)


def test_rows_have_their_parts() -> None:
    """Objects with what is needed, of its type; documents with their key, each once."""
    responses.require_rows([{"a": "x", "b": 1}], {"a": str, "b": int}, URL)
    for row, reason in (
        ("text", "a row is not an object"),
        ({"b": 1}, "a row has no a"),
        ({"a": None}, "a row has no a"),
        ({"a": 7}, "a row has no a"),
    ):
        with pytest.raises(SolrAnswerError, match=reason):
            responses.require_rows([{"a": "x"}, row], {"a": str}, URL)
    responses.require_once([{"id": 1}, {"id": 2}], "id", URL)
    with pytest.raises(SolrAnswerError, match="a document twice"):
        responses.require_once([{"id": 1}, {"id": 2}, {"id": "1"}], "id", URL)
    with refusal(SolrAnswerError, "not-solr", "id"):
        responses.require_once([{"sku": 1}], "id", URL)


def test_parts_are_of_their_types() -> None:
    """A truth value is no number, and no part is looked for in what is no object."""
    responses.require_parts({"a": {"b": 1}}, {"a.b": int, "a": dict}, URL)
    wrong: list[dict[str, Any]] = [{"a": {"b": True}}, {"a": {}}, {"a": [1]}, {}]
    for decoded in wrong:
        with refusal(SolrAnswerError, "not-solr", "a.b"):
            responses.require_parts(decoded, {"a.b": int}, URL)


def test_how_large_an_answer_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gigabyte, or what the variable says."""
    monkeypatch.delenv("NEARDUP_MAX_ANSWER", raising=False)
    assert responses.largest() == 1 << 30
    for named, size in {"": 1 << 30, "10": 10, "4G": 4 << 30}.items():
        monkeypatch.setenv("NEARDUP_MAX_ANSWER", named)
        assert responses.largest() == size
    monkeypatch.setenv("NEARDUP_MAX_ANSWER", "much")
    refused = r"^\$NEARDUP_MAX_ANSWER .*much"
    with pytest.raises(SettingsError, match=refused):
        responses.largest()
