"""A collection with other names, on a real Solr: what is written is found under logical names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import neardup_solr as nd
from neardup_solr.errors import SchemaError, SettingsError
from tests.refusals import refusal
from tests.solr import api
from tests.solr.foreign import collection

TEXTS = {
    "1": "the old shop by the harbour sells fish and bread",
    "2": "the old shop by the harbour sells fish and wine",
    "3": "nothing of that kind is to be found anywhere here",
}
STRINGS = 'type="string" indexed="true" stored="true" docValues="false" multiValued="{}"'


def own_fields(prefix: str) -> str:
    """The definitions of our fields under a prefix, in the types of the shop."""
    many = ("content_ng", "content_sg", "content_bands")
    columns = ("signature", "signature_settings", "first_word")
    kinds = {name: STRINGS.format("true") for name in many}
    kinds |= dict.fromkeys(columns, 'type="string" indexed="true" stored="false"')
    kinds |= dict.fromkeys(("num_words", *api.MARKS), 'type="plong" indexed="false" stored="false"')
    return "".join(
        f'<field name="{prefix}{name}" {kinds.get(name, STRINGS.format("false"))}/>'
        for name in api.FIELDS
    )


@pytest.fixture(scope="module")
def shop(home: Path) -> Iterator[nd.Collection]:
    """A collection with other names that holds TEXTS."""
    note = api.note(id="sku", text=["body"], prefix="nd_")
    with collection(more=own_fields("nd_") + api.element(note)) as named:
        documents = [nd.Document(id=id, text=text) for id, text in TEXTS.items()]
        assert nd.index(documents, named, settings=nd.Settings()).indexed == len(TEXTS)
        yield named


def test_documents_lie_under_the_names_of_the_collection(shop: nd.Collection) -> None:
    """The key and the text are the collection's, all else has the prefix."""
    (found,) = api.select(shop, "sku:1", fl="*,nd_signature")
    assert found["sku"] == "1"
    assert found["body"] == [TEXTS["1"]]
    assert found["nd_num_words"] == 10
    assert not {"content", "signature", "md5_hash"} & found.keys()


def test_several_columns_are_not_joined_in_a_field_of_theirs(shop: nd.Collection) -> None:
    """Their program has one of them in it; the refusal says what to name."""
    records = [{"id": "4", "title": "a shop", "body": "by the harbour"}]
    with pytest.raises(SettingsError) as refused:
        nd.index(records, shop, text=("title", "body"))
    assert refused.value.reason == (
        f"the text of {shop.name!r} is in a single field: title and body would be joined in 'body'"
    )
    assert refused.value.next_step.startswith(
        "name one with `text` and the others with `keep`, or post"
    )
    assert shop.count() == len(TEXTS)


@pytest.mark.parametrize("by", ["shingles", "bands", "signatures", "md5"])
def test_searches_work_by_every_way(shop: nd.Collection, by: str) -> None:
    """Whatever parser and operator the collection's /select has by default."""
    criteria: dict[str, Any] = {"by": by, "same": ("first_word",), "max_distance": 2}
    found = nd.search(shop, id="1", **criteria)
    assert [match.id for match in found] == ([] if by == "md5" else ["2"])
    found = nd.search(shop, text=TEXTS["2"], **criteria)
    assert [match.content for match in found][:1] == [TEXTS["2"]]


def test_reports_and_duplicates_work(shop: nd.Collection) -> None:
    """The pairs are those of a collection of our own."""
    assert [(pair.id, pair.other_id) for pair in nd.report(shop).pairs] == [("1", "2")]
    assert [(pair.id, pair.other_id) for pair in nd.duplicates(shop).pairs] == [("1", "2")]


def test_many_terms_are_found(shop: nd.Collection) -> None:
    """Beyond 1,024 clauses the names travel as well."""
    long = " ".join(f"w{number}" for number in range(3_000))
    found = nd.search(shop, text=f"{long} {TEXTS['3']}", by="shingles", min_similarity=0.0)
    assert found[0].id == "3"


def test_a_missing_field_is_named_as_the_collection_would(shop: nd.Collection) -> None:
    """A text field may be dynamic; our own have to be there."""
    try:
        api.keep_names(shop, id="sku", text=["x_txt", "title"], prefix="nd_")
        nd.connect(shop.url).require_fields(["id", "content", "signature"])
        api.keep_names(shop, id="sku", text=["nope"], prefix="other_")
        with refusal(SchemaError, "fields-missing", "nope, other_signature"):
            nd.connect(shop.url).require_fields(["id", "content", "signature"])
    finally:
        api.keep_names(shop, id="sku", text=["body"], prefix="nd_")
