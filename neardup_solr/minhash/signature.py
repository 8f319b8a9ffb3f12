"""MinHash signatures of shingle sets, and the entry that a document becomes.

Shingles are hashed with murmur3 (32 bits, seed of the settings, over UTF-8); each of the `hashes`
functions of a family re-orders those 2^32 values, and the signature keeps the extreme of each.
Two sets agree in a position with probability equal to their Jaccard similarity (Broder 1997).
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import mmh3
import numpy as np
import orjson
from numpy.typing import NDArray

from neardup_solr import records
from neardup_solr.errors import RecordError, SettingsError
from neardup_solr.minhash import bands
from neardup_solr.records import Document, Entry
from neardup_solr.settings import Settings
from neardup_solr.text import normalize
from neardup_solr.text.profile import text_profile
from neardup_solr.text.shingles import shingles

_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_SIXES = np.full(256, 64, dtype=np.uint8)
_SIXES[np.frombuffer(_ALPHABET, dtype=np.uint8)] = np.arange(64)

_HASHES_AT_ONCE = 1 << 20  # bounds the memory of a long text's hash table

Signature = NDArray[np.uint32]


def entry(document: Document, settings: Settings) -> Entry:
    """What is indexed for one document under these settings.

    Terms that their fields leave out are not made: `shingles`, `signatures` and `profile_hash` are
    empty then.

    Raises RecordError where the id cannot be one or a text holds a lone surrogate.
    """
    require_usable(document)
    normal = normalize.normalize(document.text)
    pieces = shingles(normal, settings)
    made = minhash(pieces, settings)
    return assembled(
        document,
        settings,
        normal=normal,
        pieces=pieces,
        signature=made,
        keys=bands.keys(made, settings),
    )


def assembled(
    document: Document,
    settings: Settings,
    *,
    normal: str,
    pieces: Sequence[str],
    signature: Signature,
    keys: tuple[str, ...],
) -> Entry:
    """The entry of a document, of its normal form and of what was made of that."""
    chosen = settings.fields
    return Entry(
        id=document.id,
        content=document.text,
        normal=normal,
        md5_hash=normalize.md5(normal),
        num_words=len(normalize.words(normal)),
        first_word=normalize.first_word(normal),
        shingles=tuple(map(normalize.indexable, pieces)) if "content_ng" in chosen else (),
        signatures=signature_terms(signature, settings) if "content_sg" in chosen else (),
        bands=keys,
        signature=encode(signature),
        profile_hash=profile_hash(normal, settings),
        kept=document.kept,
    )


def require_usable(document: Document) -> None:
    """Refuse a document that cannot be indexed, by RecordError."""
    reason = problem(document)
    if reason is not None:
        raise _refused(document, reason)


def profile_hash(normal: str, settings: Settings) -> str:
    """The text profile of a normal form under these settings; "" where they leave it out."""
    if "profile_hash" not in settings.fields:
        return ""
    return text_profile(
        normal,
        min_token_len=settings.profile_min_token_len,
        quant_rate=settings.profile_quant_rate,
    )


def usable(
    documents: Iterable[Document], on_error: Callable[[RecordError], None]
) -> Iterator[Document]:
    """The documents that can be indexed; each of the others goes to `on_error`, with the reason."""
    for document in documents:
        reason = problem(document)
        if reason is None:
            yield document
        else:
            on_error(_refused(document, reason))


def _refused(document: Document, reason: str) -> RecordError:
    return RecordError(document.position, reason, document.id[:40])


def problem(document: Document) -> str | None:
    """Why a document cannot be indexed, or None: its id, its text, or a kept value."""
    reason = records.id_problem(document.id)
    if reason is not None:
        return reason
    try:
        if not document.text.isascii():
            document.text.encode("utf-16-le")  # the quickest way to find one
    except UnicodeEncodeError as error:
        return f"the text holds a lone surrogate at character {error.start}"
    return _problem_of_kept(document.kept) if document.kept else None


def _problem_of_kept(kept: Mapping[str, Any]) -> str | None:
    try:
        orjson.dumps(dict(kept))
    except TypeError as error:
        return f"a kept column cannot be written as JSON: {error}"
    # Solr would take an object for an order: {"add": 1}, {"set": null}.
    objects = [name for name, value in kept.items() if isinstance(value, Mapping)]
    return f"the kept column {objects[0]!r} is an object, not a value" if objects else None


def minhash(pieces: Sequence[str], settings: Settings) -> Signature:
    """The MinHash signature of a set of shingles.

    Shape (hashes,), dtype uint32; shape (0,) for the empty set, which resembles nothing.
    """
    if not pieces:
        return np.empty(0, dtype=np.uint32)
    hashed = np.fromiter(
        (mmh3.hash(piece.encode(), settings.seed, signed=False) for piece in pieces),
        dtype=np.uint32,
        count=len(pieces),
    )
    return _FAMILIES[settings.family](hashed, settings)


def signature_terms(signature: Signature, settings: Settings) -> tuple[str, ...]:
    """The terms of content_sg: position and value, in hexadecimal, of the first `signatures`.

    The number of terms that two documents share, over `signatures`, estimates their Jaccard
    similarity.
    """
    values = signature[: settings.signatures].tolist()
    return tuple(f"{at:02x}{value:08x}" for at, value in enumerate(values))


def encode(signature: Signature) -> str:
    """A signature as one string: base64 (RFC 4648) of its uint32 values, little-endian."""
    return base64.b64encode(signature.astype("<u4").tobytes()).decode("ascii")


def decode(encoded: str) -> Signature:
    """The signature that a string of `encode` stands for; shape (hashes,), dtype uint32.

    Raises SettingsError where the string is not one.
    """
    try:
        packed = base64.b64decode(encoded, validate=True)
        return np.frombuffer(packed, dtype="<u4").astype(np.uint32)
    except ValueError:
        reason = f"{encoded[:40]!r} is not a stored signature"
        raise SettingsError(reason, "index the document again") from None


def decode_all(encoded: Sequence[str], settings: Settings) -> NDArray[np.uint32]:
    """Many signatures at once; shape (signatures, hashes).

    Raises SettingsError where a string is not the signature of so many hashes.
    """
    size = 4 * settings.hashes
    length = -(-size // 3) * 4  # base64 makes four characters of three bytes
    packed = np.empty((len(encoded), size), dtype=np.uint8)
    is_regular = all(len(each) == length and each.isascii() for each in encoded)
    if not is_regular or not _decode_rows("".join(encoded).encode(), length, packed):
        for row, each in enumerate(encoded):
            values = decode(each)
            if len(values) != settings.hashes:
                reason = f"a stored signature has {len(values)} values, not {settings.hashes}"
                raise SettingsError(reason, "index the document again")
            packed[row] = np.frombuffer(values.astype("<u4").tobytes(), dtype=np.uint8)
    return packed.view("<u4")


def _decode_rows(joined: bytes, length: int, packed: NDArray[np.uint8]) -> bool:
    """Decode rows of base64 in compiled code; whether that could be done."""
    try:
        from neardup_solr.kernel import joins as kernel
    except (ImportError, RuntimeError):  # as `signing.is_compiled` tells, which needs this module
        return False
    characters = np.frombuffer(joined, dtype=np.uint8).reshape(-1, length)
    return bool(kernel.decode_rows(characters, _SIXES, packed))


def affine_minima(hashed: NDArray[np.uint32], settings: Settings) -> Signature:
    """Minima of a·x + b mod 2^32 with odd a: the default family.

    Each function is a bijection of the 32-bit integers, so values of distinct shingles never tie;
    a and b come from SplitMix64 started at the seed (Steele, Lea, Flood 2014). The estimate's
    standard deviation is the binomial one, sqrt(J(1-J)/hashes).
    Linear permutations: Bohman, Cooper, Frieze, "Min-wise independent linear permutations" (2000).
    """
    multiplier, offset = coefficients(settings)
    minima = np.full(settings.hashes, 0xFFFFFFFF, dtype=np.uint32)
    for part in _parts(hashed, settings.hashes):
        np.minimum(minima, (part[:, None] * multiplier + offset).min(axis=0), out=minima)
    return minima


def xor_maxima(hashed: NDArray[np.uint32], settings: Settings) -> Signature:
    """Maxima, as signed integers, of x XOR mask: the family of the restaurant example.

    The masks are the first `hashes` values of java.util.Random(seed).nextInt(), as published
    there (seed 42). XOR does not mix: masks that agree in their leading bits choose the same
    shingle, so the estimate is unbiased but, for short texts, up to 2.4 times as far off as the
    affine family's. Kept to reproduce the example.
    """
    masks, _ = coefficients(settings)
    maxima = np.full(settings.hashes, np.iinfo(np.int32).min, dtype=np.int32)
    for part in _parts(hashed, settings.hashes):
        np.maximum(maxima, (part[:, None] ^ masks).view(np.int32).max(axis=0), out=maxima)
    return maxima.view(np.uint32)


_FAMILIES: dict[str, Callable[[NDArray[np.uint32], Settings], Signature]] = {
    "affine": affine_minima,
    "xor": xor_maxima,
}


def coefficients(settings: Settings) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Multipliers (or masks) and offsets of a family's functions; shape (hashes,) each."""
    return _DRAWN[settings.family](settings.hashes, settings.seed)


def _parts(hashed: NDArray[np.uint32], hashes: int) -> list[NDArray[np.uint32]]:
    size = max(1, _HASHES_AT_ONCE // hashes)
    return [hashed[at : at + size] for at in range(0, len(hashed), size)]


@lru_cache(maxsize=16)
def _affine_coefficients(hashes: int, seed: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    drawn = [_splitmix64(seed, index) for index in range(1, hashes + 1)]
    multiplier = np.array([value >> 32 | 1 for value in drawn], dtype=np.uint32)
    offset = np.array([value & 0xFFFFFFFF for value in drawn], dtype=np.uint32)
    return multiplier, offset


def _splitmix64(seed: int, index: int) -> int:
    """The index-th output of SplitMix64 from a seed; 64 bits."""
    mixed = (seed + index * 0x9E3779B97F4A7C15) % 2**64
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB % 2**64
    return mixed ^ mixed >> 31


@lru_cache(maxsize=16)
def _xor_masks(hashes: int, seed: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    masks = np.array(_java_random(hashes, seed), dtype=np.uint32)
    return masks, np.zeros(hashes, dtype=np.uint32)


def _java_random(count: int, seed: int) -> list[int]:
    """The first values of java.util.Random(seed).nextInt(), as its documentation defines it."""
    state = (seed ^ 0x5DEECE66D) % 2**48
    drawn = []
    for _ in range(count):
        state = (state * 0x5DEECE66D + 0xB) % 2**48
        drawn.append(state >> 16)
    return drawn


_DRAWN = {"affine": _affine_coefficients, "xor": _xor_masks}
