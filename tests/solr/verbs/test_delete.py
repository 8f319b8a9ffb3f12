"""delete on collections of someone else's: other keys, and nested documents."""

from __future__ import annotations

import logging

import pytest

import neardup_solr as nd
from neardup_solr.errors import DataError
from tests.refusals import refusal
from tests.solr import api
from tests.solr.foreign import collection

pytestmark = pytest.mark.usefixtures("home")
KIDS = [{"sku": "kid1", "title": "a kid"}, {"sku": "kid2", "title": "a kid"}]


def test_a_key_of_another_name() -> None:
    """It is read from the schema, also before init has stored it."""
    with collection() as solr:
        api.add(solr, *({"sku": sku, "title": "word"} for sku in ("1", "-1", "a,b", "*")))
        assert nd.delete(solr, ids=["-1", "a,b", "*", "nope"]) == 3
        assert solr.count(["sku:1"]) == solr.count() == 1


def test_nested_documents(caplog: pytest.LogCaptureFixture) -> None:
    """Solr deletes them with their parents, which is told, and not by their own ids."""
    with collection() as solr:
        api.add(solr, {"sku": "parent", "title": "word", "kids": KIDS}, {"sku": "1", "title": "x"})
        with refusal(DataError, "id-invalid", "`query`"):
            nd.delete(solr, ids=["1", "kid1"])
        assert solr.count() == 4
        assert nd.delete(solr, query="sku:kid1") == 1
        with caplog.at_level(logging.WARNING):
            assert nd.delete(solr, ids=["1", "parent"]) == 2
        assert "1 document is nested" in caplog.text
        assert solr.count() == 0
