"""Signatures and bands by numpy, one text at a time: what the kernel has to equal."""

from collections.abc import Sequence

import mmh3
import numpy as np
from numpy.typing import NDArray

from neardup_solr import Settings
from neardup_solr.minhash.sign import Signature, Signed, draw_coefficients
from neardup_solr.text import normalize, shingles
from neardup_solr.text.packed import pack

AT_ONCE = 1 << 20  # bounds the memory of a long text's hash table


def signed(texts: Sequence[str], chosen: Settings) -> Signed:
    """One text at a time, one shingle at a time."""
    forms = [normalize.normalize(text, chosen.normalization) for text in texts]
    signatures = np.zeros((len(texts), chosen.hashes), dtype=np.uint32)
    for row, form in zip(signatures, forms, strict=True):
        if form:
            row[:] = minhash(shingles.shingles(form, chosen), chosen)
    return Signed(
        words=np.array([len(form.split()) for form in forms], dtype=np.int64),
        signatures=signatures,
        keys=hash_bands(signatures, chosen.bands, chosen.rows),
        normal=pack(forms),
    )


def minhash(pieces: Sequence[str], settings: Settings) -> Signature:
    """The signature of a set of shingles, of which there is one at least."""
    hashed = [mmh3.hash(piece.encode(), settings.seed, signed=False) for piece in pieces]
    return fold(np.array(hashed, dtype=np.uint32), settings)


def fold(hashed: NDArray[np.uint32], settings: Settings) -> Signature:
    """The signature of a set of shingles by their hashes."""
    work = {"affine": affine_minima, "xor": xor_maxima}[settings.family]
    return work(hashed, settings)


def affine_minima(hashed: NDArray[np.uint32], settings: Settings) -> Signature:
    """Minima of a·x + b, all at once."""
    multiplier, offset = draw_coefficients(settings)
    minima = np.full(settings.hashes, 0xFFFFFFFF, dtype=np.uint32)
    for part in _parts(hashed, settings):
        np.minimum(minima, (part[:, None] * multiplier + offset).min(axis=0), out=minima)
    return minima


def xor_maxima(hashed: NDArray[np.uint32], settings: Settings) -> Signature:
    """Maxima, as signed integers, of x XOR mask, all at once."""
    masks, _ = draw_coefficients(settings)
    maxima = np.full(settings.hashes, np.iinfo(np.int32).min, dtype=np.int32)
    for part in _parts(hashed, settings):
        np.maximum(maxima, (part[:, None] ^ masks).view(np.int32).max(axis=0), out=maxima)
    return maxima.view(np.uint32)


def _parts(hashed: NDArray[np.uint32], settings: Settings) -> list[NDArray[np.uint32]]:
    size = max(1, AT_ONCE // settings.hashes)
    return [hashed[at : at + size] for at in range(0, len(hashed), size)]


def hash_bands(signatures: NDArray[np.uint32], bands: int, rows: int) -> NDArray[np.uint64]:
    """64-bit hashes of the bands of many signatures, a row at a time."""
    table = signatures[:, : bands * rows].reshape(len(signatures), bands, rows)
    hashed = np.zeros((len(signatures), bands), dtype=np.uint64)
    for row in range(rows):
        hashed ^= table[:, :, row]
        hashed = (hashed ^ hashed >> np.uint64(33)) * np.uint64(0xFF51AFD7ED558CCD)
        hashed = (hashed ^ hashed >> np.uint64(33)) * np.uint64(0xC4CEB9FE1A85EC53)
        hashed ^= hashed >> np.uint64(33)
    return hashed
