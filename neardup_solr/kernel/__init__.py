"""The compiled kernel: from UTF-8 bytes to MinHash signatures and LSH bands, without a string.

A shingle of a normalised text is a contiguous slice of its UTF-8 bytes, which murmur3 hashes in
place. Everything releases the GIL. Indices are unsigned: numba checks signed ones for wrapping
at each access. Compiled on first use, and kept (`machine`, `store`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from neardup_solr.kernel.hashes import AFFINE, BLOCK, LANES, XOR, band, minhash
from neardup_solr.kernel.machine import compiled
from neardup_solr.kernel.normal import SPARE, characters, normalize_ascii, normalize_wide
from neardup_solr.kernel.pieces import spell

__all__ = [
    "AFFINE",
    "CHARACTERS",
    "SPARE",
    "WORDS",
    "XOR",
    "Shape",
    "Tables",
    "Texts",
    "sign",
    "spell",
]

WORDS, CHARACTERS = 0, 1
N0, N1, U64 = np.uint64(0), np.uint64(1), np.uint64


class Tables(NamedTuple):
    """What characters become: `lower` for ASCII; `short` if it is up to three bytes of UTF-8.

    `short` (uint32, 65,536) has those bytes, the first one lowest, and their number in the
    highest; 0 sends to `becomes` and `classes`, which are those of `unicode.Table`. Sequence n is
    sequences[bounds[n - 1]:bounds[n]], UTF-8.
    """

    lower: Any
    short: Any
    becomes: Any
    classes: Any
    sequences: Any
    bounds: Any


class Shape(NamedTuple):
    """What shapes a signature: shingles of `size` words or characters, a family's coefficients."""

    kind: int
    size: Any
    seed: Any
    family: int
    multiplier: Any
    offset: Any
    bands: int
    rows: int


class Texts(NamedTuple):
    """Texts to sign: text d is ascii[begins[d]:ends[d]], or wide[...] if `is_wide`.

    `ascii` has bytes (uint8), `wide` UTF-16 code units (uint16), as Python encodes fastest.
    """

    ascii: Any
    wide: Any
    is_wide: Any
    begins: Any
    ends: Any


@compiled
def sign(texts, is_normal, tables, shape, out, bounds, words, signatures, keys):
    """Normal forms, signatures and band hashes of texts.

    The normal form of text d is out[bounds[d]:bounds[d + 1]]; `words` counts its words, -1 if its
    characters depend on each other (the caller then normalises it and passes it again, with
    `is_normal`); signatures (texts, hashes) and keys (texts, bands) are filled for
    texts that have words.
    """
    block = np.empty(BLOCK + LANES, dtype=np.uint32)
    longest = N0
    for document in range(len(words)):
        longest = max(longest, texts.ends[document] - texts.begins[document])
    starts = np.empty(longest + U64(SPARE), dtype=np.uint32)
    at = N0
    bounds[0] = at
    for document in range(len(words)):
        first, last, begin = texts.begins[document], texts.ends[document], at
        if texts.is_wide[document]:
            at, count = normalize_wide(texts.wide, first, last, is_normal, tables, out, at, starts)
        else:
            at, count = normalize_ascii(texts.ascii, first, last, tables.lower, out, at, starts)
        words[document], bounds[document + 1] = count, at
        if count <= 0:
            continue
        if shape.kind == CHARACTERS:
            pieces, gap = characters(out, begin, at, starts), N0
        else:
            pieces, gap = U64(count), N1
        minhash(out, begin, at, starts, pieces, gap, shape, block, signatures[document])
        band(signatures[document], shape.rows, keys[document])
