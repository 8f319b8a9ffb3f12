"""Shingles to signatures to bands in compiled code: murmur3 over slices, families, band hashes."""

from __future__ import annotations

import numpy as np

from neardup_solr.kernel.machine import compiled, inner

U32, U64 = np.uint32, np.uint64
N0, N1, N2, N3, N4, N8 = U64(0), U64(1), U64(2), U64(3), U64(4), U64(8)
EACH, HIGHEST = U64(0x0101010101010101), U64(0x8080808080808080)  # bits of eight bytes
BLOCK = U64(256)  # shingle hashes that are folded into a signature at once
LANES = U64(16)  # a block is padded to a multiple of it, and so fills vector registers
AFFINE, XOR = 0, 1


@inner
def minhash(out, begin, end, starts, pieces, gap, shape, block, signature):
    """Fold the hash of each shingle into a signature; a short text is its own only shingle."""
    signature[:] = U32(0xFFFFFFFF) if shape.family == AFFINE else U32(0x80000000)
    starts[pieces] = U32(end - begin + gap)
    size = min(shape.size, pieces)
    filled, piece = N0, N0
    while piece + size <= pieces:
        first = begin + U64(starts[piece])
        block[filled] = murmur3(out, first, begin + U64(starts[piece + size]) - gap, shape.seed)
        filled += N1
        piece += N1
        if filled == BLOCK or piece + size > pieces:
            while filled % LANES:  # a repeated value changes no extreme
                block[filled] = block[filled - N1]
                filled += N1
            if shape.family == AFFINE:
                _fold_affine(block, filled, shape.multiplier, shape.offset, signature)
            else:
                _fold_xor(block, filled, shape.multiplier, signature)
            filled = N0


@compiled
def fold(hashed, family, multiplier, offset, signature):
    """Make the signature of a set of shingles of their hashes (uint32)."""
    signature[:] = U32(0xFFFFFFFF) if family == AFFINE else U32(0x80000000)
    for at in range(0, len(hashed), np.int64(BLOCK)):
        part = hashed[at : at + np.int64(BLOCK)]
        if family == AFFINE:
            _fold_affine(part, U64(len(part)), multiplier, offset, signature)
        else:
            _fold_xor(part, U64(len(part)), multiplier, signature)


@inner
def murmur3(text, start, end, seed):
    """murmur3, 32 bits, of text[start:end] (Appleby 2011); reads up to 3 bytes past the end."""
    hashed, at, size = seed, start, end - start
    last = start + ((size >> N2) << N2)
    while at < last:
        hashed ^= _scrambled(_load(text, at))
        hashed = (hashed << U32(13)) | (hashed >> U32(19))
        hashed = U32(hashed * U32(5) + U32(0xE6546B64))
        at += N4
    tail = U32(size & N3)
    hashed ^= _scrambled(_load(text, at) & ((U32(1) << (tail << U32(3))) - U32(1)))
    hashed ^= U32(size)
    hashed = U32((hashed ^ (hashed >> U32(16))) * U32(0x85EBCA6B))
    hashed = U32((hashed ^ (hashed >> U32(13))) * U32(0xC2B2AE35))
    return hashed ^ (hashed >> U32(16))


@inner
def _load(text, at):
    low = U32(text[at]) | (U32(text[at + N1]) << U32(8))
    return low | (U32(text[at + N2]) << U32(16)) | (U32(text[at + N3]) << U32(24))


@inner
def _scrambled(word):
    word = U32(word * U32(0xCC9E2D51))
    return U32(((word << U32(15)) | (word >> U32(17))) * U32(0x1B873593))


@inner
def _fold_affine(block, filled, multiplier, offset, signature):
    """Minima of a·x + b, four functions at a time: one load of x serves them all."""
    hashes, at = U64(len(signature)), N0
    while at + N4 <= hashes:
        a, b, c, d = multiplier[at], multiplier[at + N1], multiplier[at + N2], multiplier[at + N3]
        e, f, g, h = offset[at], offset[at + N1], offset[at + N2], offset[at + N3]
        i, j, k, m = signature[at], signature[at + N1], signature[at + N2], signature[at + N3]
        for number in range(filled):
            x = block[number]
            i = min(i, U32(x * a + e))
            j = min(j, U32(x * b + f))
            k = min(k, U32(x * c + g))
            m = min(m, U32(x * d + h))
        signature[at], signature[at + N1], signature[at + N2], signature[at + N3] = i, j, k, m
        at += N4
    while at < hashes:
        for number in range(filled):
            value = U32(block[number] * multiplier[at] + offset[at])
            signature[at] = min(signature[at], value)
        at += N1


@inner
def _fold_xor(block, filled, masks, signature):
    """Maxima of x XOR mask as signed integers: unsigned ones with the sign bit turned."""
    turn = U32(0x80000000)
    for at in range(len(signature)):
        mask, most = masks[at] ^ turn, signature[at] ^ turn
        for number in range(filled):
            most = max(most, block[number] ^ mask)
        signature[at] = most ^ turn


@inner
def band(signature, rows, keys):
    """The hash of each band, as `signature.hash_bands` defines it."""
    at = 0
    for number in range(len(keys)):
        hashed = N0
        for _ in range(rows):
            hashed ^= U64(signature[at])
            hashed = (hashed ^ (hashed >> U64(33))) * U64(0xFF51AFD7ED558CCD)
            hashed = (hashed ^ (hashed >> U64(33))) * U64(0xC4CEB9FE1A85EC53)
            hashed ^= hashed >> U64(33)
            at += 1
        keys[number] = hashed


@inner
def hash64(data, first, last):
    """A 64-bit hash of data[first:last], eight bytes at a time; reads up to 8 past the end.

    For telling pieces apart, within a run or from one to the next (then, if it is changed, with
    the FORMAT of what is remembered). Two seeds of murmur3 are no 64 bits, as
    what collides under one of them is likely to collide under the other. Each step can be undone,
    so pieces of one length up to eight bytes have hashes of their own; the constants are those of
    the finaliser of murmur3 (Appleby 2011).
    """
    hashed, at = (last - first) * U64(0x9E3779B97F4A7C15), first
    while at + N8 <= last:
        hashed = _stirred(hashed ^ load_eight(data, at))
        at += N8
    tail = (last - at) << U64(3)
    rest = load_eight(data, at) & ((N1 << tail) - N1)
    hashed = _stirred(hashed ^ rest) * U64(0xC4CEB9FE1A85EC53)
    return hashed ^ (hashed >> U64(33))


@inner
def load_eight(data, at):
    """Eight bytes as one number, the first one lowest."""
    return U64(_load(data, at)) | U64(_load(data, at + N4)) << U64(32)


@inner
def _stirred(hashed):
    hashed = (hashed ^ (hashed >> U64(33))) * U64(0xFF51AFD7ED558CCD)
    return hashed ^ (hashed >> U64(33))
