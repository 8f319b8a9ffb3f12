"""Normalisation and what can be indexed."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup_solr.text import normalize as n


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("Mia's Tearoom 41 Harbour Blvd.", "mia s tearoom 41 harbour blvd"),
        ("  tabs\tand\n\nlines  ", "tabs and lines"),
        ("co-op - 3rd-St.", "co-op - 3rd-st"),
        ("Dell'Oro & Grill_Bar", "dell oro grill bar"),
        ("price: $5 + 3 = <8>", "price 5 3 8"),
        ("CAFÉ", "café"),
        ("Cafe\u0301", "café"),
        ("ＦＵＬＬ\u3000ｗｉｄｔｈ", "full width"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("ΟΔΟΣ", "οδοσ"),
        ("οδος", "οδοσ"),
        ("co\u00adoperate", "cooperate"),
        ("\ufeffid", "id"),
        ("soft\u2010hyphen non\u2011breaking", "soft-hyphen non-breaking"),
        ("em—dash en–dash", "em dash en dash"),
        ("“quoted” «text»", "quoted text"),
        ("東京、カフェ。", "東京 カフェ"),
        ("\ud800lone", "lone"),
        ("", ""),
        ("...", ""),
    ],
)
def test_normalize_table(text: str, normal: str) -> None:
    """Each text has the normal form that the rule gives it."""
    assert n.normalize(text) == normal


@given(st.text(alphabet=st.characters()))
def test_normal_form_is_idempotent(text: str) -> None:
    """A normal form is its own normal form."""
    once = n.normalize(text)
    assert n.normalize(once) == once


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_composed_and_decomposed_texts_agree(text: str) -> None:
    """NFC and NFD spellings of a text have one normal form."""
    composed = unicodedata.normalize("NFC", text)
    decomposed = unicodedata.normalize("NFD", text)
    assert n.normalize(composed) == n.normalize(decomposed)


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_ascii_follows_the_example(text: str) -> None:
    """ASCII texts get just the rule of the restaurant example."""
    spaced = "".join(c if c.isalnum() or c == "-" else " " for c in text.lower())
    assert n.normalize(text) == " ".join(spaced.split())


def test_terms_over_the_limit_are_hashed() -> None:
    """A term of 32,766 bytes is itself; one byte more, and it becomes its MD5."""
    longest = "é" * (n.MAX_TERM_BYTES // 2)
    assert n.indexable(longest) == longest
    hashed = n.indexable(longest + "x")
    assert hashed == "md5:" + n.md5(longest + "x")
    assert len(hashed) == 36


def test_md5_is_that_of_the_utf8_bytes() -> None:
    """MD5 of a known string (RFC 1321, appendix A.5)."""
    assert n.md5("message digest") == "f96b697d7cb7938d525a2f31aaf161d0"
