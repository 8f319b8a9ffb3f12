"""Measures of texts as sets of shingles. Broder, "On the resemblance and containment …" (1997).

jaccard: common shingles / all shingles of both. containment: common shingles / those of the text
that has fewer, 1 if it is an excerpt of the other. estimate: the Jaccard similarity as the share of
equal values of two signatures. words: the edited words of two texts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, pairwise

import mmh3
import numpy as np
from numpy.typing import NDArray

from neardup_solr import measures
from neardup_solr.argument_types import Way
from neardup_solr.kernel import edits, joins, shingle_hashes
from neardup_solr.measures import Flat, Measure, Measurements, Similarities
from neardup_solr.measures.pairs import Pairs, in_parts
from neardup_solr.minhash import signature
from neardup_solr.minhash.sign import IN_PLACE
from neardup_solr.records import NO_DISTANCE
from neardup_solr.settings import Settings
from neardup_solr.text.packed import pack
from neardup_solr.text.shingles import shingles

Counts = NDArray[np.int64]
# Similarities from numbers of shingles: those that two texts have in common, and those of each.
Share = Callable[[Counts, Counts, Counts], Similarities]


def _share_of_all(common: Counts, first: Counts, second: Counts) -> Similarities:
    """Compute Jaccard similarities, 1 for two empty texts."""
    return _divide(common, first + second - common)


def _share_of_shorter(common: Counts, first: Counts, second: Counts) -> Similarities:
    """Compute containments. A text without words is contained only in another such text."""
    fewer = np.minimum(first, second)
    return np.where((fewer == 0) & (first != second), 0.0, _divide(common, fewer))


def _divide(part: Counts, whole: Counts) -> Similarities:
    """Divide each part by its whole, 1 if both are 0."""
    shares: Similarities = np.where(whole == 0, 1.0, part / np.maximum(whole, 1))
    return shares


def _measure_of_sets(
    name: str, share: Share, default: float = measures.DEFAULT_SIMILARITY, way: Way = "bands"
) -> Measure:
    """Make a measure that is computed from the overlap of two sets of shingles."""

    def compare(sets: Flat, pairs: Pairs, comparer: measures.Comparer) -> Measurements:
        sizes = sets.lengths_of(pairs)
        common = _count_common(sets, pairs, sizes, comparer.threads)
        return Measurements(share(common, sizes[:, 0], sizes[:, 1]))

    return Measure(
        name=name,
        default=default,
        prepare=lambda forms, comparer: hash_sets(forms, comparer.settings),
        compare=compare,
        counts_shingles=True,
        way=way,
    )


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


def _count_common(sets: Flat, pairs: Pairs, sizes: Counts, threads: int) -> Counts:
    """Count the shingles that both sets of each pair have, of `sizes` (pairs, 2) in each."""
    common = np.zeros(len(pairs), dtype=np.int64)

    def count_part(part: slice) -> None:
        shingle_hashes.count_common(*sets, pairs[part], common[part])

    in_parts(count_part, sizes.sum(axis=1), threads)
    return common


def estimate_pairs(
    signatures: NDArray[np.uint32], pairs: Pairs, *, threads: int = 1
) -> Similarities:
    """Estimate the Jaccard similarity of each pair, by so many threads.

    `signatures` has shape (documents, hashes), `pairs` (pairs, 2) row numbers.
    """
    shares = np.empty(len(pairs), dtype=np.float64)

    def estimate_part(part: slice) -> None:
        joins.equal_values(signatures, pairs[part], shares[part])

    in_parts(estimate_part, np.full(len(pairs), signatures.shape[1]), threads)
    return shares


JACCARD = _measure_of_sets("jaccard", _share_of_all)
# Two texts on a subject share some shingles; an excerpt shares nearly all of its shingles.
CONTAINMENT = _measure_of_sets("containment", _share_of_shorter, default=0.8, way="shingles")
ESTIMATE = Measure(
    name="estimate",
    compared_field="signature",
    prepare=lambda encoded, comparer: signature.decode_all(encoded, comparer.settings),
    compare=lambda signatures, pairs, comparer: Measurements(
        estimate_pairs(signatures, pairs, threads=comparer.threads)
    ),
)


def similarity(distance: int, longest: int) -> float:
    """Normalise a distance: 1 - distance / words of the longer text, 1 for two empty texts."""
    return 1.0 - distance / longest if longest else 1.0


def find_shared_words(
    first: Sequence[str], second: Sequence[str], settings: Settings
) -> list[list[int]]:
    """Find the words of shingles that both texts have: the place in either, -1 in the other.

    Of shingles of characters and stems none are found.
    """
    size, pairs = settings.shingle_size, dict[tuple[int, int], None]()
    if settings.kind in ("words", "stops"):
        places = {tuple(second[at : at + size]): at for at in range(len(second) - size + 1)}
        for at in range(len(first) - size + 1):
            if (other := places.get(tuple(first[at : at + size]))) is not None:
                pairs |= {(at + step, -1): None for step in range(size)}
                pairs |= {(-1, other + step): None for step in range(size)}
    return list(map(list, pairs))


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


def _compare(texts: Flat, pairs: Pairs, comparer: measures.Comparer) -> Measurements:
    pairs = np.ascontiguousarray(pairs)
    lengths = texts.lengths_of(pairs)
    longest: measures.Distances = lengths.max(axis=1, initial=0)
    of_length = np.zeros(longest.max(initial=0) + 1, dtype=np.int64)
    of_length[longest] = 1
    for length in np.flatnonzero(of_length).tolist():
        of_length[length] = comparer.measure.largest_distance(length, comparer.limits)
    allowed: measures.Distances = of_length[longest]
    distances = np.empty(len(pairs), dtype=np.int64)

    def compare_part(part: slice) -> None:
        edits.compute_distances(*texts, pairs[part], allowed[part], distances[part])

    in_parts(compare_part, lengths.prod(axis=1) / edits.BLOCK, comparer.threads)
    similarities = 1.0 - distances / np.maximum(longest, 1)
    return Measurements(similarities, np.where(distances > allowed, NO_DISTANCE, distances))


WORDS = Measure(
    name="words", has_distance=True, prepare=lambda forms, _: hash_words(forms), compare=_compare
)
AUTO = WORDS  # until the texts are read
