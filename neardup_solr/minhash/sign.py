"""MinHash signatures and bands of many texts at once, by the kernel, or of a set of shingles.

Shingles are hashed with murmur3 (32 bits, seed of the settings, over UTF-8); each of the `hashes`
functions of a family re-orders those 2^32 values, and the signature keeps the extreme of each.
Two sets agree in a position with probability equal to their Jaccard similarity (Broder 1997).

affine: minima of a·x + b mod 2^32 with odd a, the default. Each function is a bijection of the
32-bit integers, so values of distinct shingles never tie; a and b come from SplitMix64 started at
the seed (Steele, Lea, Flood 2014). The estimate's standard deviation is the binomial,
sqrt(J(1-J)/hashes). Linear permutations: Bohman, Cooper, Frieze, "Min-wise independent linear
permutations" (2000).

xor: maxima, as signed integers, of x XOR mask, the family of the restaurant example, kept to
reproduce it. The masks are the first `hashes` values of java.util.Random(seed).nextInt(), as
published with it (seed 42). XOR does not mix: masks that agree in their leading bits choose the
same shingle, so the estimate is unbiased, but for short texts its error is up to 2.5 times that of
the affine family.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from itertools import accumulate
from typing import Any

import mmh3
import numpy as np
from numpy.typing import NDArray

from neardup_solr.kernel import hold, joins
from neardup_solr.kernel import shingle_hashes as kernel
from neardup_solr.progress import thread_pool
from neardup_solr.settings import Settings
from neardup_solr.sizes import SIZES
from neardup_solr.text import normalize
from neardup_solr.text.characters import KEPT, SPACE, UNASSIGNED, table
from neardup_solr.text.packed import SPARE, Packed, join_packed, pack
from neardup_solr.text.shingles import shingles, stem_words

Signature = NDArray[np.uint32]
FAMILIES = {"affine": kernel.AFFINE, "xor": kernel.XOR}
IN_PLACE = ("words", "chars")  # kinds of shingles that are hashed in place
LETTERS = ord("a")  # and bytes above it, of a normal form
_NEIGHBOURS = -1  # words of a text that the kernel leaves to Python


@dataclass(frozen=True, slots=True, kw_only=True)
class Signed:
    """Signatures and other values that are computed from texts.

    `words` (int64, texts) counts words; `signatures` (uint32, texts × hashes) and `keys` (uint64,
    texts × bands) hold nothing of use for texts without words; `normal` are the normal forms. There
    are no keys or normal forms if they are not kept.
    """

    words: NDArray[np.int64]
    signatures: NDArray[np.uint32]
    keys: NDArray[np.uint64]
    normal: Packed


def compile_kernel(on_wait: Callable[[], None] = lambda: None) -> None:
    """Compile the kernel by signing something. `on_wait` is called if that takes time.

    Without machine code from an earlier run it takes some seconds.
    """
    if not kernel.sign.is_stored():
        on_wait()
    sign(["ascii", "wïde"], Settings())


def sign(
    texts: Sequence[str],
    settings: Settings,
    *,
    threads: int = 1,
    keep_normal: bool = False,
    keep_keys: bool = True,
) -> Signed:
    """Compute signatures and band hashes of texts, by `threads` threads.

    Equal to `minhash` of each text's shingles and to `hash_bands`. Besides the
    result, memory is bounded by a megabyte of text a thread, or the longest text. A lone surrogate
    counts as a space.
    """
    return sign_parts(
        [texts], settings, threads=threads, keep_normal=keep_normal, keep_keys=keep_keys
    )


def sign_parts(
    parts: Sequence[Sequence[str]],
    settings: Settings,
    *,
    threads: int = 1,
    keep_normal: bool = False,
    keep_keys: bool = True,
) -> Signed:
    """Sign texts that come in parts, as `sign`."""
    chunks = [chunk for part in parts for chunk in _cut_chunks(part)]
    ends = list(accumulate(map(len, chunks), initial=0))
    signed = _make_empty(ends[-1], settings, settings.bands if keep_keys else 0)

    def sign_one(chunk: Sequence[str], first: int, last: int) -> Packed:
        return _sign_chunk(chunk, settings, _view(signed, slice(first, last)), keep_normal)

    forms = _map_threads(sign_one, threads, chunks, ends[:-1], ends[1:])
    return replace(signed, normal=join_packed(forms)) if keep_normal else signed


def normal_forms(texts: Sequence[str], normalization: int, *, threads: int = 1) -> Packed:
    """Make the normal forms of texts, as `normalize.normalize` does, by `threads` threads."""
    work = partial(_normalize_chunk, normalization=normalization)
    return join_packed(_map_threads(work, threads, list(_cut_chunks(texts))))


def _map_threads(
    work: Callable[..., Packed], threads: int, *columns: Sequence[Any]
) -> list[Packed]:
    if threads == 1 or len(columns[0]) == 1:
        return list(map(work, *columns))
    with thread_pool(threads) as pool:
        return list(pool.map(work, *columns))


def _normalize_chunk(texts: Sequence[str], normalization: int) -> Packed:
    packed = pack(texts)
    words = np.empty(len(texts), dtype=np.int64)
    forms, tables = _make_room(packed, normalization), make_tables(normalization)
    kernel.normalize_texts(packed.data, packed.bounds, tables, forms.data, forms.bounds, words)
    return _complete(forms, _normalize_left(texts, words, normalization))


def _normalize_left(
    texts: Sequence[str], words: NDArray[np.int64], normalization: int
) -> dict[int, str]:
    """Normalise the texts that the kernel has left to Python, by their places."""
    places = np.flatnonzero(words == _NEIGHBOURS).tolist()
    return {at: normalize.normalize(texts[at], normalization) for at in places}


def _complete(forms: Packed, left: Mapping[int, str]) -> Packed:
    """Put the normal forms that were left to Python among the others."""
    return pack([left.get(at, form) for at, form in enumerate(forms)]) if left else forms


def _make_room(texts: Packed, normalization: int) -> Packed:
    """Make room for normal forms: the kernel checks it.

    They are hardly longer than texts, but pairs of three bytes each and a blank take 7 bytes for 3.
    """
    share = 4 if normalization == 1 else 1.4
    room = texts.size + int(texts.size / share) + 2 * SPARE
    return Packed(np.empty(room, dtype=np.uint8), np.empty_like(texts.bounds))


def _make_empty(count: int, settings: Settings, bands: int) -> Signed:
    return Signed(
        words=np.zeros(count, dtype=np.int64),
        signatures=np.empty((count, settings.hashes), dtype=np.uint32),
        keys=np.empty((count, bands), dtype=np.uint64),
        normal=pack([]),
    )


def _view(signed: Signed, chunk: slice) -> Signed:
    """Take the rows of a chunk: views, so that what is written to them is in the whole."""
    return Signed(
        words=signed.words[chunk],
        signatures=signed.signatures[chunk],
        keys=signed.keys[chunk],
        normal=signed.normal,
    )


def _cut_chunks(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    if isinstance(texts, Packed):
        yield from texts.parts(SIZES.signed_text)
        return
    first = size = 0
    for at, text in enumerate(texts):
        size += len(text)
        if size >= SIZES.signed_text:
            yield texts[first : at + 1]
            first, size = at + 1, 0
    if first < len(texts):
        yield texts[first:]


def _sign_chunk(
    texts: Sequence[str], settings: Settings, into: Signed, keep_normal: bool
) -> Packed:
    """Sign texts. Words and characters are hashed in place, the other kinds need strings."""
    keep = keep_normal or settings.kind not in IN_PLACE
    forms = _sign_in_place(texts, settings, into, is_normal=False)
    left = _normalize_left(texts, into.words, settings.normalization)
    for at, form in left.items():
        _sign_in_place([form], settings, _view(into, slice(at, at + 1)), is_normal=True)
    if keep:
        forms = _complete(forms, left)
    if settings.kind not in IN_PLACE:
        _sign_pieces(forms, settings, into)
    return forms if keep_normal else into.normal


def _sign_pieces(forms: Packed, settings: Settings, into: Signed) -> None:
    if settings.kind == "stops":
        for at, form in enumerate(forms):
            if form:
                into.signatures[at] = minhash(shingles(form, settings), settings)
        if into.keys.size:
            into.keys[:] = hash_bands(into.signatures, settings.bands, settings.rows)
        return
    words = into.words.copy()
    stems = [stem_words(form, settings.language) if form else "" for form in forms]
    _sign_in_place(stems, settings, into, is_normal=True)
    into.words[:] = words


def _sign_in_place(
    texts: Sequence[str], settings: Settings, into: Signed, *, is_normal: bool
) -> Packed:
    """Sign texts, but those that are left to Python, and return their normal forms."""
    packed = pack(texts)
    forms = _make_room(packed, settings.normalization)
    kernel.sign(
        packed.data, packed.bounds, is_normal, make_tables(settings.normalization),
        _make_shape(settings), forms.data, forms.bounds, into.words, into.signatures, into.keys,
    )  # fmt: skip
    return forms


def minhash(pieces: Sequence[str], settings: Settings) -> Signature:
    """Compute the MinHash signature of a set of shingles.

    Shape (hashes,), dtype uint32; shape (0,) for the empty set, which is similar to nothing.
    """
    if not pieces:
        return np.empty(0, dtype=np.uint32)
    hashed = np.fromiter(
        (mmh3.hash(piece.encode(), settings.seed, signed=False) for piece in pieces),
        dtype=np.uint32,
        count=len(pieces),
    )
    return fold(hashed, settings)


def fold(hashed: NDArray[np.uint32], settings: Settings) -> Signature:
    """Compute the signature of a set of shingles from their hashes, which are not empty."""
    signature = np.empty(settings.hashes, dtype=np.uint32)
    kernel.fold(hashed, FAMILIES[settings.family], *draw_coefficients(settings), signature)
    return signature


@lru_cache(maxsize=16)
def draw_coefficients(settings: Settings) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Draw multipliers (or masks) and offsets of a family's functions, of shape (hashes,) each."""
    if settings.family == "xor":
        masks = np.array(_draw_java(settings.hashes, settings.seed), dtype=np.uint32)
        return masks, np.zeros_like(masks)
    drawn = [_splitmix64(settings.seed, index) for index in range(1, settings.hashes + 1)]
    multiplier = np.array([value >> 32 | 1 for value in drawn], dtype=np.uint32)
    offset = np.array([value & 0xFFFFFFFF for value in drawn], dtype=np.uint32)
    return multiplier, offset


def _splitmix64(seed: int, index: int) -> int:
    """Compute the index-th output of SplitMix64 from a seed, 64 bits."""
    mixed = (seed + index * 0x9E3779B97F4A7C15) % 2**64
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB % 2**64
    return mixed ^ mixed >> 31


def _draw_java(count: int, seed: int) -> list[int]:
    """Draw the first values of java.util.Random(seed).nextInt(), as its documentation says."""
    state = (seed ^ 0x5DEECE66D) % 2**48
    drawn = []
    for _ in range(count):
        state = (state * 0x5DEECE66D + 0xB) % 2**48
        drawn.append(state >> 16)
    return drawn


def hash_bands(signatures: NDArray[np.uint32], bands: int, rows: int) -> NDArray[np.uint64]:
    """Hash the bands of many signatures to 64 bits.

    Takes shape (documents, hashes) and gives (documents, bands); hashes past bands × rows are
    not used. Each row is folded in by a multiplication and a shift (the 64-bit finaliser of
    murmur3, Appleby 2011).
    """
    used = np.ascontiguousarray(signatures[:, : bands * rows], dtype=np.uint32)
    hashed = np.empty((bands, len(signatures)), dtype=np.uint64)
    joins.hash_columns(used.reshape(-1, bands * rows), 0, rows, 0, hashed)
    return np.ascontiguousarray(hashed.T)


def hash_texts(texts: Sequence[str]) -> NDArray[np.uint64]:
    """Hash each text to 64 bits, never 0."""
    packed = pack(texts)
    return hash_packed(packed.data, packed.bounds)


def hash_packed(data: NDArray[np.uint8], bounds: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Hash what is between each two bounds of `data` to 64 bits, never 0."""
    hashes = np.empty(max(len(bounds) - 1, 0), dtype=np.uint64)
    kernel.hash_texts(data, bounds, hashes)
    return np.maximum(hashes, np.uint64(1))


@cache
def make_tables(normalization: int) -> kernel.Tables:
    characters = table(normalization)
    sequences = [sequence.encode() for sequence in characters.sequences]
    short = _encode_short(characters.becomes[:0x10000], sequences)
    tables = kernel.Tables(
        lower=short[:128].astype(np.uint8),
        short=short,
        becomes=characters.becomes,
        classes=characters.classes,
        sequences=np.frombuffer(b"".join(sequences), dtype=np.uint8),
        bounds=np.cumsum([0, *map(len, sequences)]).astype(np.uint64),
    )
    return hold(tables)


def _encode_short(becomes: NDArray[np.int16], sequences: list[bytes]) -> NDArray[np.uint32]:
    """Encode the normal form of each code point as up to three bytes and their number."""
    code = np.arange(len(becomes), dtype=np.uint32)
    low, middle = code & 63 | 128, code >> 6 & 63 | 128
    two = code >> 6 | 192 | low << 8 | 2 << 24
    three = code >> 12 | 224 | middle << 8 | low << 16 | 3 << 24
    itself = np.where(code < 128, code | 1 << 24, np.where(code < 0x800, two, three))
    mapped = np.append(np.uint32(0), _pack_short(sequences))[np.maximum(becomes, 0)]
    short = np.where((becomes == KEPT) | (becomes == UNASSIGNED), itself, mapped)
    return np.where(becomes == SPACE, ord(" ") | 1 << 24, short).astype(np.uint32)


def _pack_short(sequences: list[bytes]) -> NDArray[np.uint32]:
    """Pack the bytes and the length of each sequence that is short enough, 0 for the others."""
    lengths = np.fromiter(map(len, sequences), dtype=np.uint32)
    first = np.array(sequences, dtype="S3").view(np.uint8).reshape(-1, 3).astype(np.uint32)
    last = first[np.arange(len(first)), np.minimum(lengths, 3) - 1]
    fits = (lengths <= 3) & ((lengths == 1) | (first != ord(" ")).all(axis=1))
    # The kernel keeps its first byte for the next: it has to be a letter if the last byte is.
    fits &= (first[:, 0] < LETTERS) == (last < LETTERS)
    packed = first[:, 0] | first[:, 1] << 8 | first[:, 2] << 16 | lengths << 24
    return np.where(fits, packed, 0).astype(np.uint32)


@cache
def _make_shape(settings: Settings) -> kernel.Shape:
    multiplier, offset = draw_coefficients(settings)
    shape = kernel.Shape(
        kind=kernel.CHARACTERS if settings.kind == "chars" else kernel.WORDS,
        size=np.uint64(settings.shingle_size),
        seed=np.uint32(settings.seed),
        family=FAMILIES[settings.family],
        multiplier=multiplier,
        offset=offset,
        bands=settings.bands,
        rows=settings.rows,
    )
    return hold(shape)
