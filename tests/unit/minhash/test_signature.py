"""MinHash signatures: families, encoding, entries, and how well they estimate Jaccard."""

import hashlib
import math
from pathlib import Path
from typing import Any

import mmh3
import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import settings as tried
from hypothesis import strategies as st
from numpy.typing import NDArray

import neardup_solr as nd
from neardup_solr import Document, Settings, signature
from neardup_solr.errors import SettingsError
from tests.entries import entry_of
from tests.refusals import refusal
from tests.unit.minhash import oracle

WORDS = st.lists(st.text(alphabet="abcdé", min_size=1, max_size=6), max_size=30)


def sign(text: str, settings: Settings) -> NDArray[np.uint32]:
    """The signature of a text, as it is stored."""
    return signature.decode(entry_of(text, settings).signature)


def draw_java(count: int, seed: int) -> list[int]:
    """The first values of java.util.Random(seed).nextInt(), as unsigned numbers."""
    state, values = (seed ^ 0x5DEECE66D) % 2**48, []
    for _ in range(count):
        state = (state * 0x5DEECE66D + 0xB) % 2**48
        values.append(state >> 16)
    return values


def slow_affine(shingles: list[str], settings: Settings) -> list[int]:
    """The affine family by its formula, one number at a time."""
    state, coefficients = settings.seed, []
    for _ in range(settings.hashes):
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % 2**64
        z ^= z >> 31
        coefficients.append(((z >> 32) | 1, z % 2**32))
    hashed = [mmh3.hash(s.encode(), settings.seed, signed=False) for s in shingles]
    return [min((a * x + b) % 2**32 for x in hashed) for a, b in coefficients]


@tried(deadline=None)  # the first one loads the kernel
@given(words=WORDS, seed=st.integers(0, 2**32 - 1))
def test_affine_minima_follow_the_formula(words: list[str], seed: int) -> None:
    """The vectorised family equals its formula."""
    settings = Settings(hashes=8, bands=2, rows=3, signatures=4, seed=seed)
    entry = entry_of(" ".join(words), settings)
    shingles = list(entry.shingles)
    found = signature.decode(entry.signature).tolist()
    assert found == (slow_affine(shingles, settings) if shingles else [])


def test_xor_masks_are_those_of_java() -> None:
    """The first masks are what java.util.Random(42).nextInt() gives."""
    assert [_signed(mask) for mask in draw_java(3, 42)] == [
        -1170105035,
        234785527,
        -1360544799,
    ]


def test_xor_family_keeps_the_largest_signed_value() -> None:
    """The example's family takes the maximum of the signed hash XOR mask."""
    settings = Settings(family="xor")
    shingles = ["a b c", "b c d", "c d e"]
    masks = draw_java(settings.hashes, 42)
    hashed = [mmh3.hash(s.encode(), 42, signed=False) for s in shingles]
    signed = [max(_signed(h ^ mask) for h in hashed) for mask in masks]
    assert sign("a b c d e", settings).view(np.int32).tolist() == signed


def _signed(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


def test_a_long_text_is_worked_in_parts() -> None:
    """More shingles than fit one part give the same minima as all at once."""
    words, settings = [f"w{at}" for at in range(20_000)], Settings(shingle_size=1)
    whole = sign(" ".join(words), settings)
    halves = [sign(" ".join(part), settings) for part in (words[:10_000], words[10_000:])]
    assert np.array_equal(whole, np.minimum(*halves))


@pytest.mark.parametrize(("family", "widest"), [("affine", 1.1), ("xor", 2.6)])
@pytest.mark.parametrize("similarity", [0.2, 0.5, 0.9])
def test_estimates_are_unbiased(
    tmp_path: Path, family: Any, widest: float, similarity: float
) -> None:
    """Agreeing positions estimate Jaccard without bias, with the documented spread.

    400 pairs of sets of 20 with fixed randomness; the bounds are 4 standard errors wide.
    """
    shared = round(40 * similarity / (1 + similarity))
    true = shared / (40 - shared)
    settings = Settings(family=family, shingle_size=1)
    draw = np.random.default_rng(7)
    texts = []
    for _ in range(400):
        words = [f"w{number}" for number in draw.integers(0, 2**32, 40 - shared)]
        texts += [" ".join(words[:20]), " ".join(words[20 - shared :])]
    rows = [Document(id=str(at), text=text) for at, text in enumerate(texts)]
    nd.signatures(rows, tmp_path / "a.parquet", settings=settings)
    signed = np.array(pq.read_table(tmp_path / "a.parquet")["signature"].to_pylist())
    estimates = (signed[::2] == signed[1::2]).mean(axis=1)
    binomial = math.sqrt(true * (1 - true) / settings.hashes)
    assert abs(np.mean(estimates) - true) < 4 * np.std(estimates) / math.sqrt(400)
    assert np.std(estimates) < widest * binomial * (1 + 4 / math.sqrt(800))


@given(st.lists(st.integers(0, 2**32 - 1), max_size=200))
def test_encoding_is_reversible(values: list[int]) -> None:
    """A stored signature decodes to itself."""
    array = np.array(values, dtype=np.uint32)
    assert np.array_equal(signature.decode(signature.encode(array)), array)


@pytest.mark.parametrize("stored", ["no base64!", "AAA=", "é"])
def test_what_is_not_a_signature_is_refused(stored: str) -> None:
    """A string that no signature encodes to is a clear error."""
    with refusal(SettingsError, "signature-invalid"):
        signature.decode(stored)


def test_entry_holds_every_field() -> None:
    """The entry of a listing, field by field."""
    entry = entry_of("Mia's Cafe 41 Harbour Blvd.")
    assert entry.content == "Mia's Cafe 41 Harbour Blvd."
    assert entry.first_word == "mia"
    assert entry.num_words == 6
    assert entry.shingles == ("mia s cafe", "s cafe 41", "cafe 41 harbour",
                              "41 harbour blvd")  # fmt: skip
    assert entry.md5_hash == hashlib.md5(b"mia s cafe 41 harbour blvd").hexdigest()
    assert len(entry.signatures) == 20
    assert len(entry.bands) == 42
    assert len(signature.decode(entry.signature)) == 128


@pytest.mark.parametrize("fields", [Settings().fields, frozenset({"content", "content_bands"})])
@pytest.mark.parametrize("kind", ["chars", "stems", "stops", "words"])
def test_an_entry_has_what_the_oracle_signs(kind: Any, fields: frozenset[str]) -> None:
    """Signature, bands and terms of one document are those of its shingles, one at a time."""
    shaped = Settings(kind=kind, fields=fields)
    for text in ("", "- ?", "word", "The Cat sat on the MAT, and the cats", "ẞ ïs é \U0001f600"):
        entry = entry_of(text, shaped)
        expected = oracle.signed([text], shaped)
        there = slice(None if expected.words[0] else 0)
        made = expected.signatures[0][there]
        assert entry.signature == signature.encode(made)
        assert entry.bands == signature.format_band_keys(expected.keys)[0][there]
        terms = signature.make_signature_terms(made, shaped) if "content_sg" in fields else ()
        assert entry.signatures == terms
        assert (entry.normal, entry.num_words) == (expected.normal[0], expected.words[0])


def test_an_entry_has_no_terms_that_its_fields_leave_out() -> None:
    """What is not indexed is not made, but for bands and signature."""
    made = entry_of("one two three four", Settings(fields=frozenset({"content"})))
    assert (made.shingles, made.signatures, made.profile_hash) == ((), (), "")
    assert made.bands
    assert made.signature


def test_an_empty_text_resembles_nothing() -> None:
    """A text without words has no terms at all, so it is nobody's near-duplicate."""
    entry = entry_of(" \u200b ")
    assert (entry.num_words, entry.first_word, entry.signature) == (0, "", "")
    assert entry.shingles == entry.signatures == entry.bands == ()


@pytest.mark.parametrize(
    ("id", "text", "reason"),
    [
        ("", "text", "the id is empty"),
        ("\ud800", "text", "lone surrogate"),
        ("é" * 257, "text", "has 514 bytes"),
        ("1", "a\udfffb", "lone surrogate at character 1"),
    ],
)
def test_what_solr_would_change_is_refused(id: str, text: str, reason: str) -> None:
    """Ids and texts that Solr would not keep as they are get a located error."""
    document = Document(id=id, text=text, position="x.csv, line 2")
    (error,) = nd.duplicates([document, Document(id="other", text="other")]).errors
    assert reason in str(error)


@pytest.mark.parametrize("value", [2**70, "\ud800", object()])
def test_kept_values_have_to_be_json(value: object) -> None:
    """A kept value that JSON cannot hold is the document's problem, not the run's."""
    document = Document(id="1", text="a", kept={"n": value})
    (error,) = nd.duplicates([document, Document(id="other", text="other")]).errors
    assert error.code == "value-invalid"


@pytest.mark.parametrize("hashes", [1, 2, 3, 128])
def test_many_signatures_at_once(hashes: int) -> None:
    """All lengths of base64; a damaged one is refused."""
    shape = Settings(hashes=hashes, bands=1, rows=1, signatures=0)
    made = np.random.default_rng(1).integers(0, 2**32, (50, hashes), dtype=np.uint32)
    encoded = [signature.encode(one) for one in made]
    assert np.array_equal(signature.decode_all(encoded, shape), made)
    assert signature.decode_all([], shape).shape == (0, hashes)
    for damaged in ("", "=" * len(encoded[0]), encoded[0][:-4], "ü" + encoded[0][1:],
                    "!" + encoded[0][1:], encoded[0] + "AAAA"):  # fmt: skip
        with refusal(SettingsError, "signature-invalid"):
            signature.decode_all([*encoded, damaged], shape)
