"""MinHashes that Solr itself computes, as docs/interoperability.md shows."""

from __future__ import annotations

import json
import random
import re
import uuid
from collections.abc import Iterator

import pysolr
import pytest
import requests

import neardup_solr as nd
from tests import ROOT
from tests.solr import api
from tests.solr.foreign import collection

PAGE = (ROOT / "docs" / "interoperability.md").read_text(encoding="utf-8")
[ASKED] = re.findall(r"^q=(.*?)&text=", PAGE, flags=re.MULTILINE)
[SCHEMA] = re.findall(r"```json\n(.*?)```", PAGE, flags=re.DOTALL)
WORDS = [f"word{number}" for number in range(400)]
LONG = " ".join(random.Random(7).choices(WORDS, k=200))
TEXTS = {
    "a": LONG,
    "b": LONG.replace("word1 ", "other ") + " and more",
    "c": " ".join(random.Random(8).choices(WORDS, k=200)),
    "short": "Two words",
    "twin": "two WORDS!",
    "none": "\u200b",
}


@pytest.fixture
def native(solr_url: str) -> Iterator[nd.Collection]:
    """A core with that property, as the page creates one, and `init --native` once did."""
    solr = nd.connect(solr_url, f"test_{uuid.uuid4().hex[:12]}")
    [query] = re.findall(r"admin/cores\?([^']*)'", PAGE)
    params = dict(part.split("=", 1) for part in query.split("&")) | {"name": solr.name}
    requests.get(f"{solr_url}/admin/cores", params=params, timeout=60).raise_for_status()
    nd.index([nd.Document(id=id, text=text) for id, text in TEXTS.items()], solr)
    yield solr
    api.drop(solr)


def found(solr: nd.Collection, text: str) -> dict[str, int]:
    """The documents that share native bands with a text, and how many."""
    hits = pysolr.Solr(solr.url).search(ASKED, defType="lucene", text=text, fl="*,score")
    return {hit.get("id", hit.get("sku")): round(hit["score"]) for hit in hits}


def test_a_text_shares_all_42_bands_with_itself(native: nd.Collection) -> None:
    """No band is left over to be dead: 126 MinHashes are 42 bands of 3."""
    shared = found(native, LONG)
    assert shared["a"] == 42
    assert 20 < shared["b"] < 42
    assert "c" not in shared
    assert found(native, "TWO words") == {"short": 42, "twin": 42}
    assert found(native, "\u200b") == {}


def test_a_collection_made_so_is_used_as_any_other(native: nd.Collection) -> None:
    """It opens, is searched by all ways that there are, and is indexed and reported."""
    assert [match.id for match in nd.search(native, id="a", by="bands")] == ["b"]
    nd.index([nd.Document(id="d", text=LONG)], native)
    assert {match.id for match in nd.search(native, id="a")} == {"b", "d"}
    assert not nd.init(native).is_created
    assert {("a", "b"), ("a", "d")} < {
        (one.id, one.other_id) for one in nd.duplicates(native).pairs
    }
    assert found(native, LONG).keys() == {"a", "b", "d"}


def test_they_survive_the_atomic_update_of_another_program(native: nd.Collection) -> None:
    """Not stored, but made anew from the text."""
    update = {"fieldUpdates": {"city": "set"}, "commit": True}
    pysolr.Solr(native.url).add([{"id": "b", "city": "Rome"}], **update)
    assert found(native, TEXTS["b"])["b"] == 42


def test_other_collections_pay_nothing(solr: nd.Collection) -> None:
    """No document gets the field."""
    nd.index([nd.Document(id="a", text=LONG)], solr)
    params = {"q": "content_native:*", "rows": "0"}
    answer = requests.get(f"{solr.url}/select", params=params, timeout=30).json()
    assert answer["response"]["numFound"] == 0


@pytest.mark.usefixtures("home")
def test_a_collection_with_a_schema_of_its_own() -> None:
    """The JSON as printed, and an update of all."""
    text = "the old shop by the harbour sells fish and bread"
    with collection() as theirs:
        plain = pysolr.Solr(theirs.url, always_commit=True)
        plain.add([{"sku": "1", "body": [text]}, {"sku": "2", "body": [f"{text} and wine"]}])
        nd.init(theirs, text=["body"], prefix="nd_")
        solr = nd.connect(theirs.url)
        # As printed, but that this text field holds several values.
        several = SCHEMA.replace('"indexed": true', '"multiValued": true, "indexed": true')
        requests.post(f"{solr.url}/schema", data=several, timeout=60).raise_for_status()
        assert nd.annotate(solr, which="all").annotated == 2
        assert found(solr, text).keys() == {"1", "2"}


def test_the_schema_to_add_is_the_one_of_our_configset(solr: nd.Collection) -> None:
    """The JSON of the page describes the type and the field that the configset has."""
    added = json.loads(SCHEMA)
    there = requests.get(f"{solr.url}/schema/fieldtypes/native", timeout=30).json()["fieldType"]
    analyzer = there["analyzer"]
    assert analyzer["tokenizer"] == added["add-field-type"]["analyzer"]["tokenizer"]
    assert analyzer["filters"] == added["add-field-type"]["analyzer"]["filters"]
    field = requests.get(f"{solr.url}/schema/fields/content_native", timeout=30).json()["field"]
    assert added["add-field"].items() <= field.items()
