"""MD5 (RFC 1321) of slices of bytes, in compiled code."""

from __future__ import annotations

import math

import numpy as np

from neardup_solr.kernel import inner
from neardup_solr.kernel.normal import load

U8, U32, U64 = np.uint8, np.uint32, np.uint64
N0, N1, N4, N8 = U64(0), U64(1), U64(4), U64(8)
BLOCK, LENGTH = U64(64), U64(56)  # bytes of a block; where the last one has the length
SINES = np.array([int(abs(math.sin(step + 1)) * 2**32) for step in range(64)], U32)
SHIFTS = np.array([7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21], U32)
# The word of a block that each step adds.
WORDS = np.array(
    [(factor * step + first) % 16 for first, factor in ((0, 1), (1, 5), (5, 3), (0, 7))
     for step in range(16)], U64
)  # fmt: skip
START = np.array([0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476], U32)
PAD = U8(0x80)


@inner
def md5(data, first, last, state, tail):
    """Fill `state` (uint32, 4) with the MD5 of data[first:last].

    `tail` is room for 128 bytes, and for some that are read past them.
    """
    for part in range(4):
        state[part] = START[part]
    size, at = last - first, first
    while at + BLOCK <= last:
        _add_block(data, at, state)
        at += BLOCK
    rest = last - at
    for offset in range(rest):
        tail[U64(offset)] = data[at + U64(offset)]
    tail[rest] = PAD
    end = BLOCK if rest < LENGTH else BLOCK + BLOCK
    for offset in range(rest + N1, end - N8):
        tail[U64(offset)] = U8(0)
    for offset in range(8):
        tail[end - N8 + U64(offset)] = U8((size << U64(3)) >> U64(8 * offset))
    _add_block(tail, N0, state)
    if end > BLOCK:
        _add_block(tail, BLOCK, state)


@inner
def _add_block(data, at, state):
    a, b, c, d = state[0], state[1], state[2], state[3]
    for step in range(64):
        if step < 16:
            mixed = d ^ (b & (c ^ d))
        elif step < 32:
            mixed = c ^ (d & (b ^ c))
        elif step < 48:
            mixed = b ^ c ^ d
        else:
            mixed = c ^ (b | ~d)
        word = load(data, at + WORDS[step] * N4)
        shift = SHIFTS[(step >> 4) * 4 + (step & 3)]
        mixed = U32(U32(a + mixed) + U32(SINES[step] + word))
        a, d, c = d, c, b
        b = U32(b + U32((mixed << shift) | (mixed >> (U32(32) - shift))))
    state[0] = U32(state[0] + a)
    state[1] = U32(state[1] + b)
    state[2] = U32(state[2] + c)
    state[3] = U32(state[3] + d)
