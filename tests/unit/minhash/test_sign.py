"""Batches of texts: the kernel against the slow oracle."""

import unicodedata
from dataclasses import replace

import numpy as np
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup_solr import Settings
from neardup_solr.argument_types import Family, Kind
from neardup_solr.minhash import sign
from neardup_solr.minhash.sign import Signed
from neardup_solr.minhash.solr_json import spell_shingles
from neardup_solr.settings import KINDS
from neardup_solr.testing import SIZES
from neardup_solr.text import normalize, shingles
from neardup_solr.text.packed import pack
from tests.faults.tiers import sized
from tests.unit.minhash import oracle

SMALL = Settings(hashes=10, bands=3, rows=3, signatures=2)
# Letters of many scripts, and what makes trouble: marks, jamo, ligatures, invisible characters.
TROUBLE = st.sampled_from(
    [
        *"aB -.,_\t\n0éßİıſKﬁΩΣςДй中한ก้ं़नि½㎏ǆﷺ😀𝐀𐐀",
        *"\u0301\u0323\u0345\u200d\u00ad\ufeff\u2010\u2028\u0378\U0001d15e\U000e0001\U0010ffff",
        *("\ud800", "\udc00", "\ud83d", "e\u0301", "\u1100\u1161"),
    ]
)
TEXT = st.one_of(
    st.text(alphabet=st.characters()),
    st.lists(TROUBLE, max_size=30).map("".join),
    st.lists(st.sampled_from(["a", "b", "the", "Ünïcode", "-"]), max_size=30).map(" ".join),
)


def assert_equal(found: Signed, expected: Signed) -> None:
    """All of it, but for what texts without words leave undefined."""
    assert list(found.normal) == list(expected.normal)
    assert found.words.tolist() == expected.words.tolist()
    filled = expected.words > 0
    assert np.array_equal(found.signatures[filled], expected.signatures[filled])
    assert np.array_equal(found.keys[filled], expected.keys[filled])


@settings(max_examples=sized(usual=100, full=400), deadline=None)
@given(
    texts=st.lists(TEXT, max_size=5),
    kind=st.sampled_from(KINDS),
    size=st.integers(1, 4),
    family=st.sampled_from(["affine", "xor"]),
)
def test_batches_equal_the_slow_oracle(
    texts: list[str], kind: Kind, size: int, family: Family
) -> None:
    """Many texts at once give what one at a time gives, for arbitrary Unicode."""
    chosen = replace(SMALL, kind=kind, shingle_size=size, family=family)
    assert_equal(sign.sign(texts, chosen, keep_normal=True), oracle.signed(texts, chosen))


@settings(max_examples=sized(usual=50, full=200), deadline=None)
@given(TEXT.filter(lambda text: not any(0xD800 <= ord(c) < 0xE000 for c in text)))
def test_composed_and_decomposed_texts_have_one_signature(text: str) -> None:
    """NFC and NFD of a text give the same signature and bands."""
    both = [unicodedata.normalize(form, text) for form in ("NFC", "NFD")]
    found = sign.sign(both, SMALL)
    if found.words[0]:
        assert np.array_equal(found.signatures[0], found.signatures[1])
        assert np.array_equal(found.keys[0], found.keys[1])


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_chunks_and_threads_change_nothing(monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    """Texts cut into many chunks for many threads come out in their places."""
    texts = [f"text number {n} of {n % 7} kinds – {'é' * (n % 3)}" for n in range(200)]
    whole = sign.sign(texts, SMALL, keep_normal=True)
    monkeypatch.setattr(SIZES, "signed_text", 100)
    assert_equal(sign.sign(texts, SMALL, threads=threads, keep_normal=True), whole)


def test_a_long_text_spans_many_blocks() -> None:
    """A text of many thousand shingles, ASCII and not, equals the oracle."""
    texts = [" ".join(f"{word}{n}" for n in range(5000)) for word in ("w", "ж", "中")]
    assert_equal(sign.sign(texts, SMALL, keep_normal=True), oracle.signed(texts, SMALL))


def test_sequences_that_need_room_are_looked_after() -> None:
    """A text whose characters become much longer than they are is still whole."""
    texts = ["\ufdfa" * 500, "a", "\ufdfa \u0301" * 300, "b"]
    assert_equal(sign.sign(texts, SMALL, keep_normal=True), oracle.signed(texts, SMALL))


def test_nothing_to_sign() -> None:
    """No texts, and texts without words, are no error."""
    assert len(sign.sign([], SMALL).words) == 0
    assert sign.sign(["", " \x00 ", "\u200b"], SMALL).words.tolist() == [0, 0, 0]
    first = replace(SMALL, normalization=1)
    assert sign.sign(["", " . ", "\u200b"], first).words.tolist() == [0, 0, 0]


@pytest.mark.parametrize("normalization", [1, 2])
def test_every_code_point_alone_and_between_letters(normalization: int) -> None:
    """Each code point of Unicode has the normal form that the slow path gives it.

    Where little is assigned, `scripts/test --all` tries the rest.
    """
    usual = [*range(0x20000), *range(0x2F800, 0x2FA20), *range(0xE0000, 0xE0200)]
    codes = sized(usual=usual, full=range(0x110000))
    texts = [f"a{chr(code)}b 京{chr(code)}都 c{chr(code)}+ {chr(code)}" for code in codes]
    texts += [chr(code) for code in codes]
    chosen = replace(SMALL, normalization=normalization)
    found = sign.sign(texts, chosen, keep_normal=True)
    assert list(found.normal) == [normalize.normalize(text, normalization) for text in texts]


PIECES = [*"+#+#aB19-& ,京都กำมีéßア", "++", "\u00ad", "\u0301", "\u3099", "\u0e38", "\u0e49",
          "\u1025", "\u102e", "ｶ", "＋", "㍿", "㌖", "\u0640", "\u064e", "\ufe0f", "😀",
          "\U00020000"]  # fmt: skip


@given(
    st.lists(st.lists(st.sampled_from(PIECES), max_size=20).map("".join), max_size=20),
    st.sampled_from([1, 2]),
)
def test_runs_signs_and_marks_beside_each_other(texts: list[str], normalization: int) -> None:
    """Whatever stands beside a character, the kernel and the slow path agree."""
    for chosen in (SMALL, replace(SMALL, kind="chars")):
        chosen = replace(chosen, normalization=normalization)
        assert_equal(sign.sign(texts, chosen, keep_normal=True), oracle.signed(texts, chosen))


def test_long_runs_have_room() -> None:
    """Pairs take 7 bytes for 3, whatever is beside them and however long they are."""
    texts = ["京" * 100_000, "x", "𠀀" * 50_000, "ำ" * 50_000, "㌖" * 10_000, "ab京" * 10_000]
    forms = [normalize.normalize(text) for text in texts]
    for chosen in (texts, texts[::-1], *([text] for text in texts)):
        assert sorted(sign.normal_forms(chosen, 2)) == sorted(
            forms[texts.index(text)] for text in chosen
        )


@pytest.mark.parametrize("word", ["word ", "слово "])
def test_a_document_of_100_megabytes(word: str) -> None:
    """One huge text has the signature of its few shingles, however often they come."""
    text = word * (100 * 2**20 // len(word.encode()))
    found = sign.sign([text, word * 3], SMALL)
    assert found.words.tolist() == [100 * 2**20 // len(word.encode()), 3]
    assert np.array_equal(found.signatures[0], found.signatures[1])


def test_a_line_of_a_million_words() -> None:
    """A million different words equal the oracle."""
    text = " ".join(f"w{n}" for n in range(1_000_000))
    found = sign.sign([text], SMALL)
    assert found.words.tolist() == [1_000_000]
    expected = oracle.minhash(shingles.shingles(text, SMALL), SMALL)
    assert np.array_equal(found.signatures[0], expected)


def test_identical_texts_have_identical_signatures() -> None:
    """A thousand times the same text is a thousand times the same row."""
    found = sign.sign(["the very same text"] * 1000, SMALL, threads=2)
    assert len(np.unique(found.signatures, axis=0)) == 1
    assert len(np.unique(found.keys, axis=0)) == 1


def test_lone_surrogates_are_blanks() -> None:
    """Halves of characters part words, even two that would make a character."""
    texts = ["a\ud800b", "a b", "\ud835\udc00x", "\U0001d400x"]
    assert list(sign.sign(texts, SMALL, keep_normal=True).normal) == ["a b", "a b", "x", "ax"]


@pytest.mark.parametrize(
    ("hashes", "bands", "rows"), [(1, 1, 1), (7, 2, 3), (126, 42, 3), (5, 1, 5)]
)
def test_shapes_that_are_no_multiple_of_anything(hashes: int, bands: int, rows: int) -> None:
    """Hashes that are not bands times rows, and odd numbers of them, equal the oracle."""
    chosen = Settings(hashes=hashes, bands=bands, rows=rows, signatures=1)
    texts = ["a b c d e", "one", "ü b c " * 200, "x " + " ".join(map(str, range(600)))]
    assert_equal(sign.sign(texts, chosen, keep_normal=True), oracle.signed(texts, chosen))


def test_normal_forms_are_those_of_one_text() -> None:
    """Many at once are made as one is."""
    texts = ["", "A-b  c!", "ＦＵＬＬ width", "e\u0301", "ﬁ \u00ad x", "\U0001f600 ẞ"]
    expected = [normalize.normalize(text) for text in texts]
    assert list(sign.normal_forms(texts, 2)) == expected


GROWING = ["ﷺ" * 60, "½" * 50, "㍿" * 1000, "e\u0301 " + "!... " * 3000, "İ" * 100]


GROWING += ["京都" * 500, "ำ" * 300, "é京" * 300]


@given(st.lists(st.sampled_from([*GROWING, "plain text of a listing", "", "ﷺ"]), max_size=40))
def test_texts_whose_normal_form_is_longer(texts: list[str]) -> None:
    """There is little room for it beside others, and the places of its characters."""
    forms = [normalize.normalize(text) for text in texts]
    assert list(sign.normal_forms(texts, 2)) == forms
    kinds: tuple[Kind, ...] = ("words", "chars")
    for kind in kinds:
        chosen = replace(SMALL, kind=kind)
        assert_equal(sign.sign(texts, chosen, keep_normal=True), oracle.signed(texts, chosen))


@given(st.lists(st.text(max_size=40), max_size=30), st.integers(1, 200))
def test_packed_texts_are_cut_into_parts(texts: list[str], size: int) -> None:
    packed = pack(texts)
    parts = list(packed.parts(size))
    assert [text for part in parts for text in part] == list(packed)
    assert all(part.size <= size or len(part) == 1 for part in parts)
    assert list(packed[1:3]) == list(packed)[1:3]
    assert packed[::2] == list(packed)[::2]


@settings(max_examples=sized(usual=75, full=300), deadline=None)
@given(
    texts=st.lists(TEXT, max_size=4),
    kind=st.sampled_from(KINDS),
    size=st.integers(1, 4),
)
def test_shingles_are_spelled_as_json(texts: list[str], kind: Kind, size: int) -> None:
    """The JSON of each form's shingles is that of the slow oracle, in its order."""
    chosen = Settings(kind=kind, shingle_size=size)
    forms = [normalize.normalize(text) for text in texts]
    found = [orjson.loads(f"[{json[:-1]}]") for json in spell_shingles(forms, chosen)]
    assert found == [shingles.shingles(form, chosen) for form in forms]


def test_long_texts_and_long_terms_are_spelled() -> None:
    """Thousands of shingles, repeated ones, and terms that Lucene would refuse."""
    forms = [" ".join(f"w{n % 700}" for n in range(3000)), "a b", "x" * 40_000 + " y", "", "z"]
    found = [orjson.loads(f"[{json[:-1]}]") for json in spell_shingles(forms, Settings())]
    expected = [shingles.shingles(form, Settings()) for form in forms]
    assert found == [[normalize.indexable(piece) for piece in pieces] for pieces in expected]


def test_nothing_to_spell() -> None:
    """No forms give no JSON."""
    assert list(spell_shingles([], Settings())) == []
