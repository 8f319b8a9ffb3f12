"""Orders for atomic updates: the computed fields of a document, each wrapped, no more."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import settings as tried
from hypothesis import strategies as st

from neardup_solr import Document, Settings
from neardup_solr.minhash import make_entry
from neardup_solr.settings import DEFAULT_FIELDS
from neardup_solr.solr.javabin import _ENCODE, _list
from neardup_solr.solr.names import Names
from neardup_solr.solr.update import Order, orders

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
    assert order.document(names.of("id")) == wanted
    assert (order.id, order.version) == (id, 7)


def test_an_order_removes_fields_and_sets_nothing() -> None:
    """Fields without a value become null; a whole document is without them."""
    order = Order("1", 7, {"nd_a": None, "nd_b": 2})
    assert order.document("key") == {
        "key": "1", "_version_": 7, "nd_a": {"set": None}, "nd_b": {"set": 2}
    }  # fmt: skip
    whole = replace(order, others={"key": "1", "title": "x"})
    assert whole.document("key") == {
        "key": "1", "title": "x", "nd_b": 2, "_version_": 7
    }  # fmt: skip


def test_lists_are_spelt_alike_whatever_their_terms() -> None:
    """Terms of one length are spelt at once, others one by one."""
    for terms in (["ab", "cd"], ["ab", "cde"], ["é", "ab"], ["é", "ü"], ["x" * 40, "y" * 40], [""],
                  ["NaN", 1.5], [1.5, "NaN"], []):  # fmt: skip
        slow = b"".join(_ENCODE[type(term)](term) for term in terms)
        assert _list(terms) == bytes((0x80 | len(terms),)) + slow
