"""Measures of texts as sets of shingles. Broder, "On the resemblance and containment …" (1997).

jaccard: common shingles / all shingles of both. containment: common shingles / those of the text
that has fewer, 1 if it is an excerpt of the other. estimate: the Jaccard similarity as the share of
equal values of two signatures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from neardup_solr import measures
from neardup_solr.argument_types import Way
from neardup_solr.kernel import joins, shingle_hashes
from neardup_solr.mapped_pages import release_pages
from neardup_solr.measures import Flat, Measure, Measurements, Similarities
from neardup_solr.measures.pairs import Pairs, in_parts
from neardup_solr.measures.text_hashes import hash_sets
from neardup_solr.minhash import signature
from neardup_solr.settings import Settings

WIDE = 1 << 26  # bytes of signatures between the rows of a part
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

    _compare_signatures(estimate_part, signatures, pairs, threads)
    return shares


def count_shared_bands(
    signatures: NDArray[np.uint32], pairs: Pairs, settings: Settings, *, threads: int = 1
) -> Counts:
    """Count the LSH bands in which each pair of rows of signatures agrees, by so many threads."""
    counts = np.empty(len(pairs), dtype=np.int64)

    def count_part(part: slice) -> None:
        joins.equal_bands(signatures, pairs[part], settings.bands, settings.rows, counts[part])

    _compare_signatures(count_part, signatures, pairs, threads)
    return counts


def _compare_signatures(
    work: Callable[[slice], None], signatures: NDArray[np.uint32], pairs: Pairs, threads: int
) -> None:
    """Do work on parts of the pairs of signatures.

    Of a mapped file, pages leave memory after each part whose rows lie far apart, as each brings
    its neighbours.
    """

    def work_on_part(part: slice) -> None:
        work(part)
        first, last = int(pairs[part].min(initial=0)), int(pairs[part].max(initial=0))
        if (last - first) * signatures.strides[0] > WIDE:
            release_pages(signatures)

    in_parts(work_on_part, np.full(len(pairs), signatures.shape[1]), threads)
    release_pages(signatures)


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
