"""MinHashes that Solr itself computes: switched on, kept, searched by, and left out."""

from __future__ import annotations

import random
import subprocess
import sys
import uuid
from collections.abc import Iterator
from typing import Any

import pysolr
import pytest
import requests

import neardup_solr as nd
from neardup_solr.solr import admin, collection, query
from neardup_solr.solr.hits import ranked

WORDS = [f"word{number}" for number in range(400)]
LONG = " ".join(random.Random(7).choices(WORDS, k=200))
TEXTS = {
    "a": LONG,
    "b": LONG.replace("word1 ", "other ") + " and more",
    "c": " ".join(random.Random(8).choices(WORDS, k=200)),
    "short": "Two words",
    "twin": "two WORDS!",
    "none": "...",
}


@pytest.fixture
def named(solr_url: str) -> Iterator[collection.Collection]:
    """A core that is not there; taken away where the test creates it."""
    core = collection.open_collection(solr_url, f"test_{uuid.uuid4().hex[:12]}")
    yield core
    if admin.exists(core):
        admin.drop(core)


@pytest.fixture
def filled(named: collection.Collection) -> collection.Collection:
    """A collection with native MinHashes, of six documents."""
    assert nd.init(named, native=True).is_created
    nd.index([nd.Document(id=id, text=text) for id, text in TEXTS.items()], named)
    return named


def found(solr: collection.Collection, text: str) -> dict[str, int]:
    """The documents that share native bands with a text, and how many."""
    terms = query.Terms(field=collection.NATIVE, values=[text])
    hits = ranked(solr, query.min_hash(terms, filters=[], params={}))
    return {hit.id: hit.shared for hit in hits}


def test_a_text_shares_all_42_bands_with_itself(filled: collection.Collection) -> None:
    """No band is left over to be dead: 126 MinHashes are 42 bands of 3."""
    shared = found(filled, LONG)
    assert shared["a"] == 42
    assert 20 < shared["b"] < 42
    assert "c" not in shared


def test_short_and_empty_texts(filled: collection.Collection) -> None:
    """Texts of fewer words than a shingle are found by their words; none finds nothing."""
    assert found(filled, "TWO words") == {"short": 42, "twin": 42}
    assert found(filled, "...") == {}
    assert nd.search(filled, id="none", by="native") == []


@pytest.mark.parametrize("measure", ["words", "jaccard", "estimate"])
def test_search_and_report_by_native(filled: collection.Collection, measure: str) -> None:
    """Candidates come from Solr's own MinHashes, and are compared as any others."""
    by: dict[str, Any] = {"by": "native", "measure": measure}
    assert [match.id for match in nd.search(filled, id="a", **by)] == ["b"]
    pairs = nd.report(filled, **by).pairs
    assert [(pair.id, pair.other_id) for pair in pairs] == [("a", "b"), ("short", "twin")]


def test_filters_hold(filled: collection.Collection) -> None:
    """A filter query, and a field that has to be equal."""
    assert nd.search(filled, id="a", by="native", fq="-id:b") == []
    found = nd.search(filled, id="a", by="native", same="first_word")
    assert [match.id for match in found] == ["b"]


def test_a_text_that_looks_like_syntax(filled: collection.Collection) -> None:
    """The text travels as a parameter and is nothing but text."""
    hostile = "${q} {!func}1 } \"' AND *:* $text two words"
    pysolr.Solr(filled.url).add([{"id": "h", "content": hostile}], commit=True)
    assert found(filled, hostile) == {"h": 42}


def test_they_survive_the_atomic_update_of_another_program(filled: collection.Collection) -> None:
    """Not stored, but made anew from the text."""
    pysolr.Solr(filled.url).add([{"id": "b", "city": "Rome"}], fieldUpdates={"city": "set"},
                                commit=True)  # fmt: skip
    assert found(filled, TEXTS["b"])["b"] == 42


def test_a_client_that_does_not_use_this_package(filled: collection.Collection) -> None:
    """It sends plain documents, and asks in Solr's own syntax, as the documentation shows."""
    plain = pysolr.Solr(filled.url)
    plain.add([{"id": "p", "content": LONG + " the end"}], commit=True)
    # sim and tp in the query, text as a parameter.
    asked = "{!min_hash field=content_native sim=0.5 tp=0.9 v=$text}"
    hits = plain.search(asked, text=LONG, fl="id,score", rows=10)
    assert {hit["id"] for hit in hits} == {"a", "b", "p"}


def test_a_collection_that_only_another_program_fills(named: collection.Collection) -> None:
    """No document of it has settings: the texts, and what Solr makes of them, are enough."""
    nd.init(named, native=True)
    documents = [{"id": id, "content": text} for id, text in TEXTS.items()]
    pysolr.Solr(named.url).add(documents, commit=True)
    assert [match.id for match in nd.search(named, id="a", by="native")] == ["b"]
    assert [match.id for match in nd.search(named, text=LONG, by="native")] == ["a", "b"]
    pairs = nd.report(named, by="native").pairs
    assert [(pair.id, pair.other_id) for pair in pairs] == [("a", "b"), ("short", "twin")]
    with pytest.raises(nd.SettingsError, match=r"none of the .* neardup annotate"):
        nd.search(named, id="a")
    with pytest.raises(nd.SettingsError, match="without signature; choose another `measure`"):
        nd.search(named, id="a", by="native", measure="estimate")


def test_other_collections_pay_nothing(solr: collection.Collection) -> None:
    """No document gets the field, and the search says what is there instead."""
    nd.index([nd.Document(id="a", text=LONG)], solr)
    params = {"q": "content_native:*", "rows": "0"}
    answer = requests.get(f"{solr.url}/select", params=params, timeout=30).json()
    assert answer["response"]["numFound"] == 0
    with pytest.raises(nd.SettingsError, match=r"without content_native; .* `by`: shingles or"):
        nd.search(solr, id="a", by="native")


def test_a_collection_that_is_there_already(solr: collection.Collection) -> None:
    """It is not changed, and not taken for one that has them."""
    with pytest.raises(nd.SettingsError, match=r"exists, without native MinHashes; create"):
        nd.init(solr, native=True)


def test_the_command(named: collection.Collection) -> None:
    """`neardup init -c NAME --native`, then `search --by native`."""
    address = ["--solr", named.base]
    run("init", "-c", named.name, "--native", *address)
    nd.index([nd.Document(id=id, text=text) for id, text in TEXTS.items()], named)
    shown = run("search", "--collection", named.name, "--by", "native", "--id", "a", *address)
    assert shown.splitlines()[-1].split("\t")[0] == "b"


def run(*words: str) -> str:
    """What the command prints."""
    ran = subprocess.run(
        [sys.executable, "-m", "neardup_solr", *words], capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout
