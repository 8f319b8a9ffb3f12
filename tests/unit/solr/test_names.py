"""The names of a collection that someone else made."""

from dataclasses import replace
from typing import Any

import pytest

from neardup_solr.errors import ArgumentError
from neardup_solr.solr import query
from neardup_solr.solr.names import OWN, PLAIN, Names
from neardup_solr.solr.query import Terms
from tests.refusals import refusal

SHOP = Names(id="sku", text=("title", "body"), prefix="nd_")


def test_plain_names_change_nothing() -> None:
    """A collection of our own: documents and requests pass as they are."""
    document = {"id": "1", "content": "a b", "md5_hash": "x", "city": ["Paris"]}
    request = query.by_ids(["1"]) | {"fields": ["id", "content"], "sort": "score desc,id asc"}
    assert PLAIN.is_plain
    assert not SHOP.is_plain
    assert PLAIN.physical(document) == document
    assert PLAIN.logical(document, list(document)) == document
    assert PLAIN.request(request) == request


def test_own_fields_get_the_prefix() -> None:
    """Each field that is written, marks included, and nothing else."""
    assert [SHOP.of(name) for name in OWN] == ["nd_" + name for name in OWN]
    assert {"signature_settings", "content_bands", "neardup_rank"} <= set(OWN)
    assert [SHOP.of(name) for name in ("id", "content", "price", "score")] == [
        "sku", "title", "price", "score"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("document", "text"),
    [
        ({"title": "a", "body": "b"}, "a\nb"),
        ({"body": "b", "title": "a"}, "a\nb"),
        ({"title": ["a", "b"], "body": "c"}, "a\nb\nc"),
        ({"body": ["b"]}, "b"),
        ({"title": 7, "body": ""}, "7\n"),
        ({"title": []}, None),
        ({}, None),
    ],
)
def test_the_text_is_that_of_all_text_fields(document: dict[str, Any], text: str | None) -> None:
    """Values in the order of the fields, one a line; a document with none of them has no text."""
    found = SHOP.logical(document | {"sku": 5}, ["id", "content"])
    assert found == {"id": "5"} | ({} if text is None else {"content": text})


def test_band_keys_may_be_numbers() -> None:
    """They go as numbers, also in updates and queries, and come back as the terms they were."""
    numbers = replace(SHOP, has_numeric_bands=True)
    terms = ["000123456789ab", "29ffffffffffff", "01000000000000", "1f4abcdef012345"]
    sent = numbers.physical({"id": "1", "content_bands": terms, "content_sg": ["00ab"]})
    assert sent["nd_content_bands"] == [0x000123456789AB, 0x29FFFFFFFFFFFF, 1 << 48,
                                        0x1F4ABCDEF012345]  # fmt: skip
    assert sent["nd_content_sg"] == ["00ab"]
    assert numbers.logical(sent, ["content_bands"]) == {"content_bands": terms}
    updated = numbers.physical({"content_bands": {"set": terms[2:3]}})
    assert updated == {"nd_content_bands": {"set": [1 << 48]}}
    assert numbers.physical({"content_bands": {"set": None}}) == {"nd_content_bands": {"set": None}}
    assert numbers.terms("content_bands", terms[2:3]) == [str(1 << 48)]
    assert SHOP.terms("content_bands", terms) == terms


def test_the_note_keeps_what_bands_are() -> None:
    """One that was written before has terms."""
    for names in (SHOP, replace(SHOP, has_numeric_bands=True)):
        assert Names.read(names.to_note()) == names
    assert SHOP.to_note() == '{"id":"sku","text":["title","body"],"prefix":"nd_"}'


def test_documents_go_and_come_back() -> None:
    """What is written under our names is read under them; what is of others keeps its name."""
    document = {"id": "1", "nope": None, "signature": "s", "content_bands": {"set": ["b"]}, "c": 3}
    sent = SHOP.physical(document)
    assert sent == {
        "sku": "1", "nope": None, "nd_signature": "s", "nd_content_bands": {"set": ["b"]}, "c": 3
    }  # fmt: skip
    assert SHOP.logical(sent, ["id", "signature", "c"]) == {"id": "1", "signature": "s", "c": 3}


def test_a_pattern_brings_the_fields_as_they_are() -> None:
    """Fields that were not named one by one keep the collection's names."""
    found = SHOP.logical({"sku": "1", "nd_signature": "s", "a": 1}, ["*", "id"])
    assert found == {"sku": "1", "nd_signature": "s", "a": 1, "id": "1"}


def test_requests_name_the_fields_of_the_collection() -> None:
    """Fields, sort and the parameters that name fields are translated, values are not."""
    same, params = query.same_value("first_word", "id")
    terms = Terms(field="content_bands", values=["content"])
    request = query.any_of(terms, filters=[same], params=params)
    made = SHOP.request(request | {"fields": ["id", "content", "signature", "score"]})
    assert made["fields"] == ["sku", "title", "body", "nd_signature", "score"]
    assert made["sort"] == "score desc,sku asc"
    assert made["query"] == request["query"]
    assert made["params"] == {
        "field_terms": "nd_content_bands", "field_same0": "nd_first_word",
        "same0": "id",
    }  # fmt: skip
    assert SHOP.request(query.by_id("id"))["params"] == {"field_id": "sku", "id": "id"}


@pytest.mark.parametrize("prefix", ["1a", "a-b", "a b", "é", "a.b"])
def test_prefixes_that_cannot_be(prefix: str) -> None:
    """A field's name begins with a letter or an underscore."""
    with refusal(ArgumentError, "name-invalid", "`prefix`"):
        Names(prefix=prefix)


@pytest.mark.parametrize("text", [("a", " "), ("",), ("*_t",), ("a?",), ("a", "a"), ()])
def test_text_fields_that_cannot_be(text: tuple[str, ...]) -> None:
    """No name, a pattern, or the same name twice."""
    with pytest.raises(ArgumentError):
        Names(text=text)


@pytest.mark.parametrize("key", ["a b", "a,b", "", "1st", "-id", "a:b", "id?", "*", "🙂"])
def test_keys_that_cannot_be(key: str) -> None:
    """Documents are sorted by it."""
    with pytest.raises(ArgumentError):
        Names(id=key)


@pytest.mark.parametrize("names", [{"text": ("signature",)}, {"id": "md5_hash"}])
def test_a_field_is_not_read_and_written(names: dict[str, Any]) -> None:
    """If a text field has one of our names, a prefix is needed, and helps."""
    with refusal(ArgumentError, "schema-conflict", "`prefix`"):
        Names(**names)
    assert Names(**names, prefix="nd_").of("signature") == "nd_signature"
