"""Objects among the columns to keep."""

from __future__ import annotations

import requests

import neardup_solr as nd


def test_a_kept_object_is_no_order(solr: nd.Collection) -> None:
    """Solr would take an object for an order to add or to set: it gets the JSON of it."""
    errors: list[nd.RecordError] = []
    for kept in (["y"], {"add": "x"}):
        document = nd.Document(id="1", text="a", kept={"tags": kept})
        nd.index([document], solr, on_error=errors.append)
    assert errors == []
    answer = requests.get(f"{solr.url}/select", {"q": "id:1", "fl": "tags"}, timeout=30).json()
    assert answer["response"]["docs"] == [{"tags": ['{"add":"x"}']}]
