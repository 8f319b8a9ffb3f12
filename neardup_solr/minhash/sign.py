"""Signatures and bands of many texts at once: compiled where numba is, else by numpy, equal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from neardup_solr.minhash import bands, signature
from neardup_solr.settings import Settings
from neardup_solr.text import normalize
from neardup_solr.text.normalize import KEPT, SPACE, UNASSIGNED, table
from neardup_solr.text.shingles import shingles, stemmed

if TYPE_CHECKING:
    from neardup_solr.kernel import Shape, Tables, Texts
from neardup_solr.records import Document, Entry

AT_ONCE = 1 << 20  # characters of text in one call: a chunk and what is made of it fit a cache
_SURROGATE = re.compile("[\ud800-\udfff]")
IN_PLACE = ("words", "chars")  # kinds of shingles that are hashed where they lie
_CHEAPEST = Settings(hashes=1, bands=1, rows=1, signatures=0)  # where signatures are not needed
_NEIGHBOURS = -1  # words of a text that the kernel leaves to Python


@dataclass(frozen=True, slots=True, kw_only=True)
class Signed:
    """What is computed from texts.

    `words` (int64, texts) counts words; `signatures` (uint32, texts × hashes) and `keys` (uint64,
    texts × bands) hold nothing of use where there are none; `normal` are the normal forms, where
    they were asked for.
    """

    words: NDArray[np.int64]
    signatures: NDArray[np.uint32]
    keys: NDArray[np.uint64]
    normal: list[str]


@cache
def is_compiled() -> bool:
    """Whether the compiled kernel is there (the extra `fast`); without it numpy does the work."""
    try:
        from neardup_solr import kernel
    except (ImportError, RuntimeError):  # RuntimeError: numba finds no place for its cache
        return False
    return bool(kernel)


def has_signed() -> bool:
    """Whether the kernel has signed in this process, and would again without a delay."""
    return _tables.cache_info().currsize > 0


def compile_kernel() -> None:
    """Compile what is not yet in the cache on the disk: some seconds the first time."""
    sign(["ascii", "wïde"], Settings())


def sign(
    texts: Sequence[str], settings: Settings, *, threads: int = 1, keep_normal: bool = False
) -> Signed:
    """Signatures and band hashes of texts, by so many threads.

    Equal to `signature.minhash` of each text's shingles and to `bands.hash_bands`, and the same
    whether compiled or not. Memory beside the result is bounded by a megabyte of text a thread,
    or the longest text. A lone surrogate counts as a space.
    """
    work = _sign_compiled if is_compiled() else _sign_by_numpy
    signed = _empty(len(texts), settings)
    chunks = list(_chunks(texts))
    forms: list[list[str]]

    def one(chunk: slice) -> list[str]:
        return work(texts[chunk], settings, _part(signed, chunk), keep_normal)

    if threads == 1 or len(chunks) == 1:
        forms = [one(chunk) for chunk in chunks]
    else:
        with ThreadPoolExecutor(threads) as pool:
            forms = list(pool.map(one, chunks))
    signed.normal.extend(form for part in forms for form in part)
    return signed


def normal_forms(texts: Sequence[str]) -> list[str]:
    """The normal forms of texts, as `normalize.normalize` makes each."""
    if is_compiled():
        return sign(texts, _CHEAPEST, keep_normal=True).normal
    return list(map(normalize.normalize, texts))


def _empty(count: int, settings: Settings) -> Signed:
    return Signed(
        words=np.zeros(count, dtype=np.int64),
        signatures=np.empty((count, settings.hashes), dtype=np.uint32),
        keys=np.empty((count, settings.bands), dtype=np.uint64),
        normal=[],
    )


def _part(signed: Signed, chunk: slice) -> Signed:
    """The rows of a chunk: views, so that what is written there is in the whole."""
    return Signed(
        words=signed.words[chunk],
        signatures=signed.signatures[chunk],
        keys=signed.keys[chunk],
        normal=[],
    )


def _chunks(texts: Sequence[str]) -> Iterator[slice]:
    first = size = 0
    for at, text in enumerate(texts):
        size += len(text)
        if size >= AT_ONCE:
            yield slice(first, at + 1)
            first, size = at + 1, 0
    if first < len(texts):
        yield slice(first, len(texts))


def _sign_by_numpy(
    texts: Sequence[str], settings: Settings, into: Signed, keep_normal: bool
) -> list[str]:
    forms = [normalize.normalize(text) for text in texts]
    _sign_forms(forms, settings, into)
    return forms if keep_normal else []


def _sign_forms(forms: Sequence[str], settings: Settings, into: Signed) -> None:
    for at, form in enumerate(forms):
        into.words[at] = len(normalize.words(form))
        if form:
            into.signatures[at] = signature.minhash(shingles(form, settings), settings)
    into.keys[:] = bands.hash_bands(into.signatures, settings.bands, settings.rows)


def _sign_compiled(
    texts: Sequence[str], settings: Settings, into: Signed, keep_normal: bool
) -> list[str]:
    """Words and characters are hashed where they lie; the other kinds need strings."""
    keep = keep_normal or settings.kind not in IN_PLACE
    forms = _run(texts, settings, into, is_normal=False, keep_normal=keep)
    for at in np.flatnonzero(into.words == _NEIGHBOURS).tolist():
        form = normalize.normalize(texts[at])
        own = _part(into, slice(at, at + 1))
        _run([form], settings, own, is_normal=True, keep_normal=False)
        if keep:
            forms[at] = form
    if settings.kind not in IN_PLACE:
        _sign_pieces(forms, settings, into)
    return forms if keep_normal else []


def _sign_pieces(forms: list[str], settings: Settings, into: Signed) -> None:
    if settings.kind == "stops":
        _sign_forms(forms, settings, into)
        return
    words = into.words.copy()
    stems = [stemmed(form, settings.language) if form else "" for form in forms]
    _run(stems, settings, into, is_normal=True, keep_normal=False)
    into.words[:] = words


def _run(
    texts: Sequence[str], settings: Settings, into: Signed, *, is_normal: bool, keep_normal: bool
) -> list[str]:
    from neardup_solr import kernel

    packed = _packed(texts)
    # A character of one UTF-16 unit becomes three bytes, rare sequences more: the kernel watches.
    out = np.empty(len(packed.ascii) + 3 * len(packed.wide) + 2 * kernel.SPARE, dtype=np.uint8)
    bounds = np.empty(len(texts) + 1, dtype=np.uint64)
    kernel.sign(
        packed, is_normal, _tables(), _shape(settings), out, bounds,
        into.words, into.signatures, into.keys,
    )  # fmt: skip
    if not keep_normal:
        return []
    forms, ends = out.tobytes(), bounds.tolist()
    return [forms[ends[at] : ends[at + 1]].decode() for at in range(len(texts))]


def packed_forms(forms: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.uint64]]:
    """Normal forms in UTF-8 as the kernel reads them; form d is packed[bounds[d]:bounds[d + 1]]."""
    from neardup_solr.kernel import SPARE

    encoded = [form.encode() for form in forms]
    bounds = np.zeros(len(forms) + 1, dtype=np.uint64)
    np.cumsum(np.fromiter(map(len, encoded), np.uint64, len(forms)), out=bounds[1:])
    return np.frombuffer(b"".join((*encoded, bytes(SPARE))), dtype=np.uint8), bounds


def _packed(texts: Sequence[str]) -> Texts:
    """Texts as the kernel reads them; Python copies ASCII and UTF-16 out of a string fastest."""
    from neardup_solr.kernel import SPARE, Texts

    narrow = [text.isascii() for text in texts]
    encoded = [
        text.encode("ascii") if is_narrow else _utf16(text)
        for text, is_narrow in zip(texts, narrow, strict=True)
    ]
    is_wide = ~np.array(narrow, dtype=np.bool_)
    sizes = np.fromiter(map(len, encoded), np.uint64, len(encoded)) >> is_wide.astype(np.uint64)
    ends = np.where(is_wide, np.cumsum(sizes * is_wide), np.cumsum(sizes * ~is_wide))
    wide = compress(encoded, is_wide.tolist())
    return Texts(
        ascii=np.frombuffer(b"".join((*compress(encoded, narrow), bytes(SPARE))), dtype=np.uint8),
        wide=np.frombuffer(b"".join((*wide, bytes(SPARE))), dtype="<u2"),
        is_wide=is_wide,
        begins=ends - sizes,
        ends=ends,
    )


def _utf16(text: str) -> bytes:
    try:
        return text.encode("utf-16-le")
    except UnicodeEncodeError:
        # Two halves of a character that stand apart in a string would become one.
        return _SURROGATE.sub(" ", text).encode("utf-16-le")


@cache
def _tables() -> Tables:
    from neardup_solr.kernel import Tables

    known = table()
    sequences = [sequence.encode() for sequence in known.sequences]
    short = _short(known.becomes[:0x10000], sequences)
    return Tables(
        lower=short[:128].astype(np.uint8),
        short=short,
        becomes=known.becomes,
        classes=known.classes,
        sequences=np.frombuffer(b"".join(sequences), dtype=np.uint8),
        bounds=np.cumsum([0, *map(len, sequences)]).astype(np.uint64),
    )


def _short(becomes: NDArray[np.int16], sequences: list[bytes]) -> NDArray[np.uint32]:
    """What each code point becomes as up to three bytes and their number, as the kernel has it."""
    code = np.arange(len(becomes), dtype=np.uint32)
    low, middle = code & 63 | 128, code >> 6 & 63 | 128
    two = code >> 6 | 192 | low << 8 | 2 << 24
    three = code >> 12 | 224 | middle << 8 | low << 16 | 3 << 24
    itself = np.where(code < 128, code | 1 << 24, np.where(code < 0x800, two, three))
    known = [0, *(_as_short(sequence) for sequence in sequences)]
    mapped = np.array(known, dtype=np.uint32)[np.maximum(becomes, 0)]
    short = np.where((becomes == KEPT) | (becomes == UNASSIGNED), itself, mapped)
    short = np.where(becomes == SPACE, ord(" ") | 1 << 24, short).astype(np.uint32)
    short[0xD800:0xDC00] = 0  # first halves of pairs
    return short


def _as_short(sequence: bytes) -> int:
    fits = len(sequence) <= 3 and (b" " not in sequence or len(sequence) == 1)
    return int.from_bytes(sequence, "little") | len(sequence) << 24 if fits else 0


@cache
def _shape(settings: Settings) -> Shape:
    from neardup_solr import kernel

    multiplier, offset = signature.coefficients(settings)
    return kernel.Shape(
        kind=kernel.CHARACTERS if settings.kind == "chars" else kernel.WORDS,
        size=np.uint64(settings.shingle_size),
        seed=np.uint32(settings.seed),
        family={"affine": kernel.AFFINE, "xor": kernel.XOR}[settings.family],
        multiplier=multiplier,
        offset=offset,
        bands=settings.bands,
        rows=settings.rows,
    )


def entry(document: Document, settings: Settings) -> Entry:
    """As `signature.entry`, by the kernel where that has signed before: in half the time.

    Nobody should wait for the kernel to be loaded, or even compiled, for one document.
    """
    if not has_signed():
        return signature.entry(document, settings)
    signature.require_usable(document)
    signed = sign([document.text], settings, keep_normal=True)
    normal = signed.normal[0]
    there = slice(None if normal else 0)
    return signature.assembled(
        document,
        settings,
        normal=normal,
        pieces=shingles(normal, settings) if "content_ng" in settings.fields else (),
        signature=signed.signatures[0][there],
        keys=bands.terms(signed.keys)[0][there],
    )
