"""Exact overlap of sets of shingles: Jaccard similarity and containment of pairs of texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import mmh3
import numpy as np
from numpy.typing import NDArray

from neardup_solr.measures import Pairs
from neardup_solr.minhash.sign import IN_PLACE, is_compiled, packed_forms
from neardup_solr.settings import Settings
from neardup_solr.text.shingles import shingles

Hashes = NDArray[np.uint64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlaps:
    """How many shingles two texts have in `common`, and each of them; int64, shape (pairs,)."""

    common: NDArray[np.int64]
    first: NDArray[np.int64]
    second: NDArray[np.int64]

    def jaccard(self) -> NDArray[np.float64]:
        """Common shingles / all shingles of both; 1 for two empty texts. Broder (1997)."""
        return _shares(self.common, self.first + self.second - self.common)

    def containment(self) -> NDArray[np.float64]:
        """Common shingles / those of the text that has fewer; 1 where that is an excerpt.

        A text without a word is contained in nothing but its like. Broder (1997).
        """
        fewer = np.minimum(self.first, self.second)
        larger = np.maximum(self.first, self.second)
        return np.where((fewer == 0) & (larger > 0), 0.0, _shares(self.common, fewer))


def overlaps(forms: Sequence[str], pairs: Pairs, settings: Settings) -> Overlaps:
    """The overlap of each pair of normal forms, as sets of shingles of the settings' kind."""
    return overlaps_of_sets(hashed_sets(forms, settings), pairs)


def hashed_sets(forms: Sequence[str], settings: Settings) -> list[Hashes]:
    """The set of shingles of each normal form, as rising 64-bit hashes."""
    if is_compiled() and settings.kind in IN_PLACE:
        return _sets_compiled(forms, settings)
    sets = (
        {mmh3.hash64(shingle, signed=False)[0] for shingle in shingles(form, settings)}
        for form in forms
    )
    return [np.array(sorted(one), dtype=np.uint64) for one in sets]


def overlaps_of_sets(sets: Sequence[Hashes], pairs: Pairs) -> Overlaps:
    """The overlap of each pair of sets of `hashed_sets`."""
    sizes = np.fromiter(map(len, sets), np.int64, len(sets))
    common = np.zeros(len(pairs), dtype=np.int64)
    if is_compiled() and len(pairs):
        from neardup_solr.kernel import pieces

        pieces.common(np.concatenate(sets), np.cumsum(sizes), pairs, common)
    else:
        for at, (one, other) in enumerate(pairs.tolist()):
            common[at] = len(np.intersect1d(sets[one], sets[other], assume_unique=True))
    return Overlaps(common=common, first=sizes[pairs[:, 0]], second=sizes[pairs[:, 1]])


def _shares(part: NDArray[np.int64], whole: NDArray[np.int64]) -> NDArray[np.float64]:
    shares: NDArray[np.float64] = np.where(whole == 0, 1.0, part / np.maximum(whole, 1))
    return shares


def _sets_compiled(forms: Sequence[str], settings: Settings) -> list[Hashes]:
    from neardup_solr.kernel import pieces

    packed, bounds = packed_forms(forms)
    by_characters = settings.kind == "chars"
    # A word and the blank behind it take two bytes at least.
    room = len(packed) if by_characters else len(packed) // 2 + len(forms)
    hashed, ends = np.empty(room, dtype=np.uint64), np.zeros(len(forms), dtype=np.int64)
    size = np.uint64(settings.shingle_size)
    pieces.shingle_sets(packed, bounds, by_characters, size, hashed, ends)
    # Copies, or a set that is kept would keep all those that came with it.
    return [hashed[first:last].copy() for first, last in pairwise([0, *ends.tolist()])]
