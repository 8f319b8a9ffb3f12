"""How many documents `annotate` sends at once, at a rate and without one."""

from __future__ import annotations

import re
from typing import Any

import pysolr
import pytest
import requests

import neardup_solr as nd

IDS = [f"doc{number:02}" for number in range(50)]


@pytest.mark.parametrize(
    ("arguments", "documents", "sizes"),
    [
        ({"rate": 20}, 50, [1, 1, 1, 17, 20, 10]),  # the first three are tried one by one
        ({"rate": 1.9}, 6, [1] * 6),
        ({"batch": 40}, 50, [1, 1, 1, 37, 10]),
        ({}, 50, [1, 1, 1, 47]),
    ],
)
def test_no_more_is_sent_at_once_than_in_a_second(
    solr: nd.Collection, arguments: dict[str, Any], documents: int, sizes: list[int]
) -> None:
    """A low rate is a steady one; without a rate, batches are whole."""
    solr.add([{"id": id, "content": f"a text {id}"} for id in IDS[:documents]])
    solr.commit()
    sent: list[int] = []

    def count(response: requests.Response, *_: object, **__: object) -> None:
        body = response.request.body
        if "/update" in str(response.request.url) and isinstance(body, bytes):
            sent.append(len(re.findall(rb"doc\d\d", body)))

    session = requests.Session()
    session.hooks["response"].append(count)
    counted = nd.connect(pysolr.Solr(solr.url, session=session))
    assert nd.annotate(counted, **arguments).annotated == documents
    assert sorted(filter(None, sent)) == sorted(sizes)
