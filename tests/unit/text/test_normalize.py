"""Normalisation and what can be indexed."""

import hashlib
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup_solr import Settings
from tests.entries import entry_of

UTF8 = st.characters(exclude_categories=["Cs"])
LONGEST_TERM = 32_766  # bytes, in Lucene


def normalize(text: str, normalization: int = 2) -> str:
    """The normal form of a text, from which all of its fields are made."""
    return str(entry_of(text, Settings(normalization=normalization)).normal)


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
        ("ΟΔΟΣ", "οδοσ"),  # Greek
        ("οδος", "οδοσ"),
        ("co\u00adoperate", "cooperate"),
        ("\ufeffid", "id"),
        ("soft\u2010hyphen non\u2011breaking", "soft-hyphen non-breaking"),
        ("em—dash en–dash", "em dash en dash"),
        ("“quoted” «text»", "quoted text"),
        ("東京、カフェ。", "東京 カフェ"),
        ("", ""),
        ("...", ""),
    ],
)
def test_normalize_table(text: str, normal: str) -> None:
    """Each text has the normal form that normalization 1 gives it."""
    assert normalize(text, 1) == normal


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("Mia's Tearoom 41 Harbour Blvd.", "mia s tearoom 41 harbour blvd"),
        ("北京大学", "北京 京大 大学"),  # Chinese
        ("iPhone手机壳x2", "iphone 手机 机壳 x2"),
        ("京 2024年", "京 2024 年"),
        # Japanese
        ("人々、カード。㌔ ﾀﾜｰ", "人々 カー ード キロ タワ ワー"),
        ("\u304b\u3099い", "がい"),
        ("𠀀𠀁𠀂", "𠀀𠀁 𠀁𠀂"),
        ("葛\U000e0100城", "葛城"),
        ("กำ\u200bข", "กํ ํา าข"),  # Thai
        ("ขวด ๑๒", "ขว วด ๑๒"),
        ("ລາວ", "ລາ າວ"),  # Lao
        ("ខ្មែ", "ខ្ ្ម មែ"),  # Khmer
        ("မီး", "မီ ီး"),  # Burmese
        ("ꆈꌠꁱ", "ꆈꌠ ꌠꁱ"),  # Yi
        ("한국어 텍스트", "한국어 텍스트"),  # Korean
        ("C++, C#/F# g++ C++17 C++开发 C＃ Na⁺", "c++ c# f# g++ c++17 c++ 开发 c# na+"),
        ("c#-script A+", "c#-script a+"),
        ("salt+pepper apt#5 #5 5+ - + x+++y 京#", "salt pepper apt 5 5 5 - x++ y 京"),
        ("مُحَمَّــد", "محمد"),  # Arabic
        ("שָׁלוֹם", "שלום"),  # Hebrew
        ("ܫܠܵܡܵܐ", "ܫܠܡܐ"),  # Syriac
        ("हिन्दी", "हिन्दी"),  # Hindi
        ("أحمد é", "أحمد é"),
        ("❤\ufe0f\u200d🔥", "❤🔥"),
        (" ★★ \t…", "★★ ..."),
        ('"\\"', "”∖”"),
        ("???", "???"),
        ("a ???", "a"),
        (" \x00\u200b\u2800\ufe0f", ""),
    ],
)
def test_normalization_2_table(text: str, normal: str) -> None:
    """Scripts without blanks, signs, optional marks and symbols have their own rules."""
    assert normalize(text, 2) == normalize(text) == normal


@given(st.text(alphabet=UTF8), st.sampled_from([1, 2]))
def test_normal_form_is_idempotent(text: str, normalization: int) -> None:
    """A normal form is its own normal form."""
    once = normalize(text, normalization)
    assert normalize(once, normalization) == once


@given(st.text(alphabet=UTF8), st.sampled_from([1, 2]))
def test_composed_and_decomposed_texts_agree(text: str, normalization: int) -> None:
    """NFC and NFD spellings of a text have one normal form."""
    composed = unicodedata.normalize("NFC", text)
    decomposed = unicodedata.normalize("NFD", text)
    assert normalize(composed, normalization) == normalize(decomposed, normalization)


def test_no_symbols_need_escaping() -> None:
    """A normal form is written into JSON as it is, and a control parts terms."""
    controls = "".join(map(chr, range(0x20)))
    assert not {*normalize('"' + "".join(map(chr, range(128))))} & {'"', "\\", *controls}
    assert not {*normalize("!\"#$%&'()*+,./:;<=>?@[\\]^_`{|}~" + controls)} & {
        '"',
        "\\",
        *controls,
    }


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_ascii_follows_the_example(text: str) -> None:
    """By normalization 1, ASCII texts get just the rule of the restaurant example."""
    spaced = "".join(c if c.isalnum() or c == "-" else " " for c in text.lower())
    assert normalize(text, 1) == " ".join(spaced.split())


def test_terms_over_the_limit_are_hashed() -> None:
    """A term of 32,766 bytes is itself; one byte more, and it becomes its MD5."""
    longest = "é" * (LONGEST_TERM // 2)
    entry = entry_of(longest)
    assert (entry.first_word, entry.shingles) == (longest, (longest,))
    beyond = entry_of(f"{longest}x")
    hashed = "md5:" + hashlib.md5(f"{longest}x".encode(), usedforsecurity=False).hexdigest()
    assert (beyond.first_word, beyond.shingles) == (hashed, (hashed,))
    assert len(hashed) == 36


def test_md5_is_that_of_the_utf8_bytes() -> None:
    """MD5 of a known string (RFC 1321, appendix A.5)."""
    assert entry_of("message digest").md5_hash == "f96b697d7cb7938d525a2f31aaf161d0"
