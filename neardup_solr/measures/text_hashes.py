"""Hashes of the shingles, words and runs of words of normal forms, in 64 bits."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, pairwise

import mmh3
import numpy as np

from neardup_solr.kernel import shingle_hashes
from neardup_solr.measures import Flat
from neardup_solr.minhash.sign import IN_PLACE
from neardup_solr.settings import Settings
from neardup_solr.text.packed import pack
from neardup_solr.text.shingles import shingles


def hash_sets(forms: Sequence[str], settings: Settings) -> Flat:
    """Hash the set of shingles of each normal form to rising 64-bit numbers."""
    if settings.kind not in IN_PLACE:
        sets = [
            sorted({mmh3.hash64(shingle, signed=False)[0] for shingle in shingles(form, settings)})
            for form in forms
        ]
        bounds = np.cumsum([0, *map(len, sets)])
        return Flat(np.fromiter(chain(*sets), np.uint64, bounds[-1]), bounds)
    hashed, bounds = hash_runs(forms, settings.shingle_size, by_characters=settings.kind == "chars")
    for first, last in pairwise(bounds.tolist()):
        hashed[first:last].sort()
    shingle_hashes.keep_distinct(hashed, bounds[1:])
    return Flat(hashed[: bounds[-1]], bounds)


def hash_words(forms: Sequence[str]) -> Flat:
    """Hash the words of each normal form, in their order, to 64 bits."""
    return hash_runs(forms, 1)


def hash_runs(forms: Sequence[str], size: int, *, by_characters: bool = False) -> Flat:
    """Hash each run of `size` words, or characters, of normal forms, in their order, to 64 bits.

    A shorter form is a run.
    """
    texts = pack(forms)
    # A word and the blank after it take at least two bytes.
    room = len(texts.data) if by_characters else len(texts.data) // 2 + len(forms)
    hashed = np.empty(room, dtype=np.uint64)
    bounds = np.zeros(len(forms) + 1, dtype=np.int64)
    shingle_hashes.hash_shingles(
        texts.data, texts.bounds, by_characters, np.uint64(size), hashed, bounds[1:]
    )
    return Flat(hashed[: bounds[-1]], bounds)
