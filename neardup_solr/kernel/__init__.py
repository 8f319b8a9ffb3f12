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
from neardup_solr.kernel.normal import characters, normalize, room_for_starts
from neardup_solr.kernel.pieces import spell
from neardup_solr.text.packed import SPARE

__all__ = [
    "AFFINE",
    "CHARACTERS",
    "SPARE",
    "WORDS",
    "XOR",
    "Shape",
    "Tables",
    "forms",
    "sign",
    "spell",
]

WORDS, CHARACTERS = 0, 1
N0, N1, U64 = np.uint64(0), np.uint64(1), np.uint64


class Tables(NamedTuple):
    """Normal form of each character: `lower` for ASCII; `short` up to three bytes of UTF-8.

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
    """Parameters of a signature: shingles of `size` words or characters, family coefficients."""

    kind: int
    size: Any
    seed: Any
    family: int
    multiplier: Any
    offset: Any
    bands: int
    rows: int


@compiled
def forms(texts, begins, tables, out, bounds, words):
    """Normal forms of texts; arguments as for `sign`."""
    starts = room_for_starts(begins)
    at = N0
    bounds[0] = at
    for document in range(len(words)):
        first, last = begins[document], begins[document + 1]
        at, words[document] = normalize(texts, first, last, False, tables, out, at, starts)
        bounds[document + 1] = at


@compiled
def sign(texts, begins, is_normal, tables, shape, out, bounds, words, signatures, keys):
    """Normal forms, signatures and band hashes of texts in UTF-8: texts[begins[d]:begins[d + 1]].

    The normal form of text d is out[bounds[d]:bounds[d + 1]]; `words` counts its words, -1 if its
    characters depend on each other (the caller then normalises it and passes it again, with
    `is_normal`); signatures (texts, hashes) and keys (texts, bands) are filled for
    texts that have words.
    """
    block = np.empty(BLOCK + LANES, dtype=np.uint32)
    starts = room_for_starts(begins)
    at = N0
    bounds[0] = at
    for document in range(len(words)):
        first, last, begin = begins[document], begins[document + 1], at
        at, count = normalize(texts, first, last, is_normal, tables, out, at, starts)
        words[document], bounds[document + 1] = count, at
        if count <= 0:
            continue
        if shape.kind == CHARACTERS:
            if at - begin + U64(SPARE) > U64(len(starts)):  # a normal form may be longer
                starts = np.empty(at - begin + U64(SPARE), dtype=np.uint32)
            pieces, gap = characters(out, begin, at, starts), N0
        else:
            pieces, gap = U64(count), N1
        minhash(out, begin, at, starts, pieces, gap, shape, block, signatures[document])
        band(signatures[document], shape.rows, keys[document])
