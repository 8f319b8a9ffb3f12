"""Texts as sets of shingles, and how many two of them share: for Jaccard and containment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

import mmh3
import numpy as np
from numpy.typing import NDArray

from neardup_solr.arguments import Way
from neardup_solr.measures import DEFAULT_SIMILARITY, NO_DISTANCE, Comparer, Measure
from neardup_solr.measures.arrays import Flat, Pairs, Results, Similarities, in_parts
from neardup_solr.minhash.sign import IN_PLACE, in_utf8
from neardup_solr.settings import Settings
from neardup_solr.text.normalize import normalize
from neardup_solr.text.shingles import shingles

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlaps:
    """Numbers of shingles that two texts have in `common`, and that each has; shape (pairs,)."""

    common: Counts
    first: Counts
    second: Counts


def shares(part: Counts, whole: Counts) -> Similarities:
    """Divide each part by its whole; 1 if both are 0."""
    found: Similarities = np.where(whole == 0, 1.0, part / np.maximum(whole, 1))
    return found


def measure_of_sets(
    name: str,
    share: Callable[[Overlaps], Similarities],
    default: float = DEFAULT_SIMILARITY,
    way: Way = "bands",
) -> Measure:
    """A measure that is computed from the overlap of two sets of shingles."""

    def compare(sets: Flat, pairs: Pairs, comparer: Comparer) -> Results:
        return Results(share(overlaps(sets, pairs, threads=comparer.threads)))

    def compare_one(form: str, texts: Sequence[str], comparer: Comparer) -> list[tuple[int, float]]:
        forms = (form, *map(normalize, texts))
        own, *sets = [set(shingles(each, comparer.settings)) for each in forms]
        sizes = np.fromiter(map(len, sets), np.int64, len(sets))
        common = np.fromiter((len(own & each) for each in sets), np.int64, len(sets))
        shared = Overlaps(common=common, first=np.full_like(sizes, len(own)), second=sizes)
        return [(NO_DISTANCE, similarity) for similarity in share(shared).tolist()]

    return Measure(
        name=name,
        default=default,
        prepare=lambda comparer: partial(hashed_sets, settings=comparer.settings),
        compare=compare,
        compare_one=compare_one,
        counts_shingles=True,
        way=way,
    )


def hashed_sets(forms: Sequence[str], settings: Settings) -> Flat:
    """The set of shingles of each normal form, as rising 64-bit hashes."""
    bounds = np.zeros(len(forms) + 1, dtype=np.int64)
    if settings.kind not in IN_PLACE:
        sets = [
            sorted({mmh3.hash64(shingle, signed=False)[0] for shingle in shingles(form, settings)})
            for form in forms
        ]
        np.cumsum(list(map(len, sets)), out=bounds[1:])
        return Flat(np.fromiter(chain(*sets), np.uint64, bounds[-1]), bounds)
    from neardup_solr.kernel import pieces

    packed, begins = in_utf8(forms)
    by_characters = settings.kind == "chars"
    # A word and the blank after it take at least two bytes.
    room = len(packed) if by_characters else len(packed) // 2 + len(forms)
    hashed = np.empty(room, dtype=np.uint64)
    size = np.uint64(settings.shingle_size)
    pieces.shingle_sets(packed, begins, by_characters, size, hashed, bounds[1:])
    return Flat(hashed[: bounds[-1]], bounds)


def overlaps(sets: Flat, pairs: Pairs, *, threads: int = 1) -> Overlaps:
    """The overlap of each pair of sets of `hashed_sets`."""
    from neardup_solr.kernel import pieces

    common = np.zeros(len(pairs), dtype=np.int64)

    def count_some(some: slice) -> None:
        pieces.common(*sets, pairs[some], common[some])

    sizes = sets.lengths_of(pairs)
    in_parts(count_some, sizes.sum(axis=1), threads)
    return Overlaps(common=common, first=sizes[:, 0], second=sizes[:, 1])
