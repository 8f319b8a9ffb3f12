"""LSH bands: keys that similar documents share and dissimilar ones hardly ever do."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neardup_solr.kernel import joins
from neardup_solr.settings import Settings


def keys(signature: NDArray[np.uint32], settings: Settings) -> tuple[str, ...]:
    """The band keys of a signature of shape (hashes,): one term per band, none for (0,).

    A term is the band's number (two or more hexadecimal digits) and 48 bits of its rows' hash
    (twelve digits). Leskovec, Rajaraman, Ullman, "Mining of Massive Datasets", section 3.4.
    """
    if len(signature) == 0:
        return ()
    return terms(hash_bands(signature[None, :], settings.bands, settings.rows))[0]


def terms(hashed: NDArray[np.uint64]) -> list[tuple[str, ...]]:
    """The band keys of each row of band hashes, of shape (documents, bands)."""
    rows = (hashed >> np.uint64(16)).tolist()
    return [tuple(f"{band:02x}{key:012x}" for band, key in enumerate(row)) for row in rows]


def hash_bands(signatures: NDArray[np.uint32], bands: int, rows: int) -> NDArray[np.uint64]:
    """64-bit hashes of the bands of many signatures.

    Takes shape (documents, hashes) and gives (documents, bands); hashes past bands × rows are
    not used. Each row is folded in by a multiplication and a shift (the 64-bit finaliser of
    murmur3, Appleby 2011).
    """
    used = np.ascontiguousarray(signatures[:, : bands * rows], dtype=np.uint32)
    hashed = np.zeros((len(signatures), bands), dtype=np.uint64)
    joins.hash_rows(used.reshape(-1, bands * rows), 0, rows, hashed)
    return hashed


def probability(similarity: float, bands: int, rows: int) -> float:
    """P(s) = 1 - (1 - s^rows)^bands: the chance that two documents share a band.

    `similarity` is their Jaccard similarity in 0..1. "Mining of Massive Datasets", section 3.4.2.
    """
    return float(1.0 - (1.0 - similarity**rows) ** bands)
