"""Signatures and bands of many texts at once, by the kernel."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from neardup_solr import kernel
from neardup_solr.kernel import pieces
from neardup_solr.kernel.machine import Flattened
from neardup_solr.minhash import signature
from neardup_solr.minhash.signature import minhash
from neardup_solr.resources import thread_pool
from neardup_solr.settings import Settings
from neardup_solr.text import normalize
from neardup_solr.text.normalize import KEPT, SPACE, UNASSIGNED, table
from neardup_solr.text.packed import Packed, joined
from neardup_solr.text.shingles import shingles, stemmed

AT_ONCE = 1 << 20  # characters of text in one call: a chunk and what is made of it fit a cache
_SURROGATE = re.compile("[\ud800-\udfff]")
IN_PLACE = ("words", "chars")  # kinds of shingles that are hashed in place
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
    """Signatures and band hashes of texts, by `threads` threads.

    Equal to `signature.minhash` of each text's shingles and to `signature.hash_bands`. Besides the
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
    """As `sign`, for texts that come in parts."""
    chunks = [chunk for part in parts for chunk in _chunks(part)]
    ends = list(accumulate(map(len, chunks), initial=0))
    signed = _empty(ends[-1], settings, settings.bands if keep_keys else 0)

    def one(chunk: Sequence[str], first: int, last: int) -> Packed:
        return _sign_chunk(chunk, settings, _part(signed, slice(first, last)), keep_normal)

    if threads == 1 or len(chunks) == 1:
        forms = list(map(one, chunks, ends, ends[1:]))
    else:
        with thread_pool(threads) as pool:
            forms = list(pool.map(one, chunks, ends, ends[1:]))
    return replace(signed, normal=joined(forms)) if keep_normal else signed


def normal_forms(texts: Sequence[str], *, threads: int = 1) -> Packed:
    """The normal forms of texts, as `normalize.normalize` makes each; by `threads` threads."""
    chunks = list(_chunks(texts))
    if threads == 1 or len(chunks) == 1:
        return joined(list(map(_forms_of, chunks)))
    with thread_pool(threads) as pool:
        return joined(list(pool.map(_forms_of, chunks)))


def _forms_of(texts: Sequence[str]) -> Packed:
    data, begins = in_utf8(texts)
    words = np.empty(len(texts), dtype=np.int64)
    out, bounds = _room(begins), np.empty_like(begins)
    kernel.forms(data, begins, _tables(), out, bounds, words)
    return _completed(Packed(out, bounds), _left(texts, words))


def _left(texts: Sequence[str], words: NDArray[np.int64]) -> dict[int, str]:
    """The normal forms of texts that the kernel has left to Python, by their places."""
    places = np.flatnonzero(words == _NEIGHBOURS).tolist()
    return {at: normalize.normalize(texts[at]) for at in places}


def _completed(forms: Packed, left: Mapping[int, str]) -> Packed:
    """The normal forms, with those that were left to Python."""
    if not left:
        return forms
    return packed([left.get(at, form) for at, form in enumerate(forms)])


def _room(begins: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """Room for normal forms, which are hardly longer than their texts: the kernel checks it."""
    size = int(begins[-1] - begins[0])
    return np.empty(size + size // 4 + 2 * kernel.SPARE, dtype=np.uint8)


def _empty(count: int, settings: Settings, bands: int) -> Signed:
    return Signed(
        words=np.zeros(count, dtype=np.int64),
        signatures=np.empty((count, settings.hashes), dtype=np.uint32),
        keys=np.empty((count, bands), dtype=np.uint64),
        normal=packed([]),
    )


def _part(signed: Signed, chunk: slice) -> Signed:
    """The rows of a chunk: views, so that what is written there is in the whole."""
    return Signed(
        words=signed.words[chunk],
        signatures=signed.signatures[chunk],
        keys=signed.keys[chunk],
        normal=signed.normal,
    )


def _chunks(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    if isinstance(texts, Packed):
        yield from texts.parts(AT_ONCE)
        return
    first = size = 0
    for at, text in enumerate(texts):
        size += len(text)
        if size >= AT_ONCE:
            yield texts[first : at + 1]
            first, size = at + 1, 0
    if first < len(texts):
        yield texts[first:]


def _sign_chunk(
    texts: Sequence[str], settings: Settings, into: Signed, keep_normal: bool
) -> Packed:
    """Words and characters are hashed in place. The other kinds need strings."""
    keep = keep_normal or settings.kind not in IN_PLACE
    forms = _run(texts, settings, into, is_normal=False)
    left = _left(texts, into.words)
    for at, form in left.items():
        _run([form], settings, _part(into, slice(at, at + 1)), is_normal=True)
    if keep:
        forms = _completed(forms, left)
    if settings.kind not in IN_PLACE:
        _sign_pieces(forms, settings, into)
    return forms if keep_normal else into.normal


def _sign_pieces(forms: Packed, settings: Settings, into: Signed) -> None:
    if settings.kind == "stops":
        for at, form in enumerate(forms):
            if form:
                into.signatures[at] = minhash(shingles(form, settings), settings)
        if into.keys.size:
            into.keys[:] = signature.hash_bands(into.signatures, settings.bands, settings.rows)
        return
    words = into.words.copy()
    stems = [stemmed(form, settings.language) if form else "" for form in forms]
    _run(stems, settings, into, is_normal=True)
    into.words[:] = words


def _run(texts: Sequence[str], settings: Settings, into: Signed, *, is_normal: bool) -> Packed:
    """The normal forms of texts that are signed, but of those that are left to Python."""
    data, begins = in_utf8(texts)
    out, bounds = _room(begins), np.empty(len(texts) + 1, dtype=np.uint64)
    kernel.sign(
        data, begins, is_normal, _tables(), _shape(settings), out, bounds,
        into.words, into.signatures, into.keys,
    )  # fmt: skip
    return Packed(out, bounds)


def packed(texts: Sequence[str]) -> Packed:
    """Texts in one piece. See `in_utf8`."""
    return Packed(*in_utf8(texts))


def hash_texts(texts: Sequence[str]) -> NDArray[np.uint64]:
    """Hash each text to 64 bits, never 0."""
    data, bounds = in_utf8(texts)
    hashes = np.empty(len(texts), dtype=np.uint64)
    pieces.hash_texts(data, bounds, hashes)
    return np.maximum(hashes, np.uint64(1))


def in_utf8(texts: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.uint64]]:
    """Texts as the kernel reads them: text d is the first array's [bounds[d]:bounds[d + 1]].

    A lone surrogate becomes a space.
    """
    if isinstance(texts, Packed):
        return texts.data, texts.bounds
    encoded = list(map(_encoded, texts))
    bounds = np.zeros(len(texts) + 1, dtype=np.uint64)
    np.cumsum(np.fromiter(map(len, encoded), np.uint64, len(texts)), out=bounds[1:])
    return np.frombuffer(b"".join((*encoded, bytes(kernel.SPARE))), dtype=np.uint8), bounds


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub(" ", text).encode()


@cache
def _tables() -> Flattened:
    known = table()
    sequences = [sequence.encode() for sequence in known.sequences]
    becomes = np.array(known.becomes, dtype=np.int16)
    short = _short(becomes[:0x10000], sequences)
    tables = kernel.Tables(
        lower=short[:128].astype(np.uint8),
        short=short,
        becomes=becomes,
        classes=np.frombuffer(known.classes, dtype=np.uint8).copy(),
        sequences=np.frombuffer(b"".join(sequences), dtype=np.uint8),
        bounds=np.cumsum([0, *map(len, sequences)]).astype(np.uint64),
    )
    return Flattened(tables)


def _short(becomes: NDArray[np.int16], sequences: list[bytes]) -> NDArray[np.uint32]:
    """Encode the normal form of each code point as up to three bytes and their number."""
    code = np.arange(len(becomes), dtype=np.uint32)
    low, middle = code & 63 | 128, code >> 6 & 63 | 128
    two = code >> 6 | 192 | low << 8 | 2 << 24
    three = code >> 12 | 224 | middle << 8 | low << 16 | 3 << 24
    itself = np.where(code < 128, code | 1 << 24, np.where(code < 0x800, two, three))
    known = [0, *(_as_short(sequence) for sequence in sequences)]
    mapped = np.array(known, dtype=np.uint32)[np.maximum(becomes, 0)]
    short = np.where((becomes == KEPT) | (becomes == UNASSIGNED), itself, mapped)
    return np.where(becomes == SPACE, ord(" ") | 1 << 24, short).astype(np.uint32)


def _as_short(sequence: bytes) -> int:
    fits = len(sequence) <= 3 and (b" " not in sequence or len(sequence) == 1)
    return int.from_bytes(sequence, "little") | len(sequence) << 24 if fits else 0


@cache
def _shape(settings: Settings) -> Flattened:
    multiplier, offset = signature.draw_coefficients(settings)
    shape = kernel.Shape(
        kind=kernel.CHARACTERS if settings.kind == "chars" else kernel.WORDS,
        size=np.uint64(settings.shingle_size),
        seed=np.uint32(settings.seed),
        family=signature.KERNEL[settings.family],
        multiplier=multiplier,
        offset=offset,
        bands=settings.bands,
        rows=settings.rows,
    )
    return Flattened(shape)
