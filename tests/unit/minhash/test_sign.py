"""Batches of texts: the compiled kernel and the numpy path against the slow oracle."""

import unicodedata
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup_solr.minhash import bands, sign, signature
from neardup_solr.minhash.sign import Signed
from neardup_solr.records import Document
from neardup_solr.settings import KINDS, Settings
from neardup_solr.text import normalize, shingles

SMALL = Settings(hashes=10, bands=3, rows=3, signatures=2)
PATHS = [sign._sign_compiled, sign._sign_by_numpy]
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


def oracle(texts: Sequence[str], chosen: Settings) -> Signed:
    """One text at a time, one shingle at a time."""
    forms = [normalize.normalize(text) for text in texts]
    signatures = np.zeros((len(texts), chosen.hashes), dtype=np.uint32)
    for row, form in zip(signatures, forms, strict=True):
        if form:
            row[:] = signature.minhash(shingles.shingles(form, chosen), chosen)
    return Signed(
        words=np.array([len(form.split()) for form in forms], dtype=np.int64),
        signatures=signatures,
        keys=bands.hash_bands(signatures, chosen.bands, chosen.rows),
        normal=forms,
    )


def assert_equal(found: Signed, expected: Signed) -> None:
    """All of it, but for what texts without words leave undefined."""
    assert found.normal == expected.normal
    assert found.words.tolist() == expected.words.tolist()
    filled = expected.words > 0
    assert np.array_equal(found.signatures[filled], expected.signatures[filled])
    assert np.array_equal(found.keys[filled], expected.keys[filled])


def signed_by(path: object, texts: Sequence[str], chosen: Settings) -> Signed:
    """A batch by one of the two paths."""
    into = sign._empty(len(texts), chosen)
    into.normal.extend(path(texts, chosen, into, True))  # type: ignore[operator]  # a path
    return into


def test_the_tests_have_the_compiled_kernel() -> None:
    """Without numba half of these tests would prove nothing."""
    assert sign.is_compiled()


@pytest.mark.parametrize("path", PATHS, ids=["compiled", "numpy"])
@settings(max_examples=400, deadline=None)
@given(
    texts=st.lists(TEXT, max_size=5),
    kind=st.sampled_from(KINDS),
    size=st.integers(1, 4),
    family=st.sampled_from(["affine", "xor"]),
)
def test_batches_equal_the_slow_oracle(
    path: object, texts: list[str], kind: str, size: int, family: str
) -> None:
    """Both paths give what one text at a time gives, for arbitrary Unicode."""
    chosen = replace(SMALL, kind=kind, shingle_size=size, family=family)
    assert_equal(signed_by(path, texts, chosen), oracle(texts, chosen))


@settings(max_examples=200, deadline=None)
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
    monkeypatch.setattr(sign, "AT_ONCE", 100)
    assert_equal(sign.sign(texts, SMALL, threads=threads, keep_normal=True), whole)


def test_a_long_text_spans_many_blocks() -> None:
    """A text of many thousand shingles, ASCII and not, equals the oracle."""
    texts = [" ".join(f"{word}{n}" for n in range(5000)) for word in ("w", "ж", "中")]
    assert_equal(sign.sign(texts, SMALL, keep_normal=True), oracle(texts, SMALL))


def test_sequences_that_need_room_are_looked_after() -> None:
    """A text whose characters become much longer than they are is still whole."""
    texts = ["\ufdfa" * 500, "a", "\ufdfa \u0301" * 300, "b"]
    assert_equal(sign.sign(texts, SMALL, keep_normal=True), oracle(texts, SMALL))


def test_nothing_to_sign() -> None:
    """No texts, and texts without words, are no error."""
    assert len(sign.sign([], SMALL).words) == 0
    assert sign.sign(["", " . ", "\u200b"], SMALL).words.tolist() == [0, 0, 0]


def test_every_code_point_alone_and_between_letters() -> None:
    """Each code point of Unicode has the normal form that the slow path gives it."""
    texts = [f"a{chr(code)}b {chr(code)}" for code in range(0x110000)]
    found = sign.sign(texts, SMALL, keep_normal=True)
    assert found.normal == [normalize.normalize(text) for text in texts]


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
    expected = signature.minhash(shingles.shingles(text, SMALL), SMALL)
    assert np.array_equal(found.signatures[0], expected)


def test_identical_texts_have_identical_signatures() -> None:
    """A thousand times the same text is a thousand times the same row."""
    found = sign.sign(["the very same text"] * 1000, SMALL, threads=2)
    assert len(np.unique(found.signatures, axis=0)) == 1
    assert len(np.unique(found.keys, axis=0)) == 1


def test_lone_surrogates_are_blanks() -> None:
    """Halves of characters part words, even two that would make a character."""
    texts = ["a\ud800b", "a b", "\ud835\udc00x", "\U0001d400x"]
    assert sign.sign(texts, SMALL, keep_normal=True).normal == ["a b", "a b", "x", "ax"]


@pytest.mark.parametrize(
    ("hashes", "bands", "rows"), [(1, 1, 1), (7, 2, 3), (126, 42, 3), (5, 1, 5)]
)
def test_shapes_that_are_no_multiple_of_anything(hashes: int, bands: int, rows: int) -> None:
    """Hashes that are not bands times rows, and odd numbers of them, equal the oracle."""
    chosen = Settings(hashes=hashes, bands=bands, rows=rows, signatures=1)
    texts = ["a b c d e", "one", "ü b c " * 200, "x " + " ".join(map(str, range(600)))]
    assert_equal(sign.sign(texts, chosen, keep_normal=True), oracle(texts, chosen))


@pytest.mark.parametrize("fields", [Settings().fields, frozenset({"content", "content_bands"})])
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_the_kernel_makes_the_same_entries(kind: str, fields: frozenset[str]) -> None:
    """Once the kernel has signed it makes the entries of single documents, too."""
    sign.compile_kernel()
    shaped = Settings(kind=kind, fields=fields)
    for text in ("", "- ?", "word", "The Cat sat on the MAT, and the cats", "ẞ ïs é \U0001f600"):
        document = Document(id="1", text=text, kept={"color": "red"})
        assert sign.entry(document, shaped) == signature.entry(document, shaped)


def test_an_entry_has_no_terms_that_its_fields_leave_out() -> None:
    """What is not indexed is not made; bands and signature always are."""
    made = sign.entry(
        Document(id="1", text="one two three four"), Settings(fields=frozenset({"content"}))
    )
    assert (made.shingles, made.signatures, made.profile_hash) == ((), (), "")
    assert made.bands
    assert made.signature


def test_normal_forms_are_those_of_one_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many at once are made as one is, whether compiled or not."""
    texts = ["", "A-b  c!", "ＦＵＬＬ width", "e\u0301", "ﬁ \u00ad x", "\U0001f600 ẞ"]
    expected = [normalize.normalize(text) for text in texts]
    assert sign.normal_forms(texts) == expected
    monkeypatch.setattr(sign, "is_compiled", lambda: False)
    assert sign.normal_forms(texts) == expected
