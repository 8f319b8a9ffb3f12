"""Orders for atomic updates: the JSON of a document's fields, each wrapped, no more."""

from __future__ import annotations

import orjson
import pytest
from hypothesis import given
from hypothesis import settings as tried
from hypothesis import strategies as st

from neardup_solr.minhash import make_entry
from neardup_solr.records import Document
from neardup_solr.settings import DEFAULT_FIELDS, Settings
from neardup_solr.solr.names import OWN, Names
from neardup_solr.solr.update import orders, removal

ALL = Settings(fields=frozenset({*DEFAULT_FIELDS, "profile_hash"}))
FEW = Settings(fields=frozenset({"content", "md5_hash", "content_bands"}))
TERMS = {"content_ng": "shingles", "content_sg": "signatures", "content_bands": "bands"}
ODD = ["a,", '","md5_hash":{', "}", "\\", '"', "\x1f", "é"]


def expected(document: Document, settings: Settings, names: Names) -> dict[str, object]:
    """The order, field by field, from the slow path."""
    made = make_entry(document, settings)
    order: dict[str, object] = {names.of("id"): document.id, "_version_": 7}
    values: dict[str, object] = {"signature_settings": settings.fingerprint}
    for name in settings.fields - {"content"}:
        value = getattr(made, TERMS.get(name, name))
        if name in TERMS and not made.num_words:
            value = None
        values[name] = list(value) if isinstance(value, tuple) else value
    return order | {names.of(name): {"set": value} for name, value in values.items()}


@pytest.mark.parametrize("settings", [Settings(), ALL, FEW], ids=["default", "all", "few"])
@pytest.mark.parametrize("names", [Names(), Names(id="key", text=("t",), prefix="nd_")])
@tried(deadline=None)  # the first one compiles the kernel
@given(
    id=st.one_of(st.sampled_from(ODD), st.text(st.characters(codec="utf-8"), min_size=1)),
    text=st.text(st.characters(codec="utf-8")),
)
def test_an_order_sets_what_indexing_writes(
    settings: Settings, names: Names, id: str, text: str
) -> None:
    """Each computed field but the text is set, or taken away where the text has no words."""
    document = Document(id=id, text=text)
    (order,) = orders([document], {id: 7}, settings, names)
    wanted = expected(document, settings, names)
    assert orjson.loads(order.json) == wanted
    given = {name: {"set": orjson.loads(value)} for name, value in order.values.items()}
    assert {names.of("id"): id, "_version_": 7, **given} == wanted
    assert (order.id, order.version) == (id, 7)


def test_removal_takes_fields_away_and_sets_nothing() -> None:
    """All of our fields become null, under the collection's names, and the key is its own."""
    removed = removal("1", 7, OWN, Names(id="key", text=("t",), prefix="nd_"))
    assert removed.values == {f"nd_{name}": b"null" for name in OWN}
    order = orjson.loads(removed.json)
    assert order.pop("key") == "1"
    assert order.pop("_version_") == 7
    assert order == {f"nd_{name}": {"set": None} for name in OWN}
