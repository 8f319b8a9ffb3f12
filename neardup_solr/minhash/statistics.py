"""What signatures tell: how similar two sets are, how certain that is, what a plan would cost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from neardup_solr.arguments import require, shown
from neardup_solr.errors import ArgumentError, SettingsError
from neardup_solr.minhash.plans import Plan, curve

# Bytes on the disk of Solr 9.10 for each document; docs/tuning.md says how they were measured.
BAND_BYTES = 25.2  # for each band: the term, its posting and the stored copy
SIGNATURE_BYTES = 5.4  # for each hash: four bytes in base64

_EXACT = 2_048  # hashes up to which an exact table of chances costs less than a second
_ROWS_AT_ONCE = 256  # of all pairs: counts of 256 × documents are held at a time

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """Estimated shares, each with the interval that holds the true one at a level of confidence.

    `value`, `low` and `high` (float64, 0..1) have the shape of the pairs: () for one pair.
    """

    value: Values
    low: Values
    high: Values


def estimate_jaccard(
    signatures: NDArray[np.uint32], others: NDArray[np.uint32], *, level: float = 0.95
) -> Estimate:
    """Estimate the Jaccard similarity of the sets behind signatures, pair by pair.

    Takes shapes (..., hashes) that broadcast – (hashes,) and (documents, hashes) compare one with
    many – and gives shape (...). The value is the share of equal positions (Broder 1997),
    unbiased; the interval is Wilson's score interval for that many independent positions; those
    of the affine family are as good as independent (E. B. Wilson, "Probable inference, the law of
    succession, and statistical inference", 1927). An empty signature resembles nothing: 0..0.

    Raises ArgumentError if these are no arrays, their shapes do not fit, or the level is not
    within 0..1; SettingsError if signatures differ in length.
    """
    for name, given in (("signatures", signatures), ("others", others)):
        is_array = isinstance(given, np.ndarray) and given.ndim > 0
        require(is_array, f"`{name}` cannot be {shown(given)}", "give what `decode` gives")
    deviations = _deviations(level)
    hashes = signatures.shape[-1]
    shape = _paired(signatures.shape[:-1], others.shape[:-1])
    if 0 in (hashes, others.shape[-1]):
        nothing = np.zeros(shape)
        return Estimate(value=nothing, low=nothing, high=nothing)
    if hashes != others.shape[-1]:
        raise SettingsError(
            f"signatures of {hashes} and of {others.shape[-1]} hashes cannot be compared",
            "make both with the same settings",
        )
    return wilson(np.asarray((signatures == others).mean(axis=-1)), hashes, deviations)


def estimate_containment(
    signatures: NDArray[np.uint32],
    others: NDArray[np.uint32],
    *,
    sizes: ArrayLike,
    other_sizes: ArrayLike,
    level: float = 0.95,
) -> Estimate:
    """Estimate the share of each set that the other contains, |A∩B| / |A|, pair by pair.

    Shapes are those of `estimate_jaccard`; `sizes` and `other_sizes` count distinct shingles.
    J = |A∩B| / (|A| + |B| - |A∩B|) gives |A∩B| = J / (1 + J) · (|A| + |B|), exactly. But J is an
    estimate, and its error grows by (|A| + |B|) / |A|: for a small set in a large one it says
    little. Values are cut at what the sizes allow. An empty set is in nothing: 0.

    Raises what `estimate_jaccard` does, and ArgumentError if a size is negative or no number.
    """
    size, other_size = _sizes("sizes", sizes), _sizes("other_sizes", other_sizes)
    if not (np.all(size >= 0) and np.all(other_size >= 0)):
        raise ArgumentError(
            "`sizes` and `other_sizes` cannot be below 0", "give the number of shingles of each set"
        )
    similar = estimate_jaccard(signatures, others, level=level)
    _paired(similar.value.shape, size.shape, other_size.shape)
    whole = np.where(size > 0, size, 1)
    most = np.minimum(size, other_size) / whole

    def carried(share: Values) -> Values:
        return np.asarray(np.minimum(share / (1 + share) * (size + other_size) / whole, most))

    return Estimate(
        value=carried(similar.value), low=carried(similar.low), high=carried(similar.high)
    )


def agreements(signatures: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Count the pairs of documents that agree in 0, 1, ..., `hashes` positions.

    Takes shape (documents, hashes), gives shape (hashes + 1,); its sum is n(n - 1)/2. Time is
    n² · hashes / 2 comparisons (5,000 documents of 128: about a second), memory some bytes for
    256 · n pairs.
    """
    documents, hashes = signatures.shape
    columns = np.ascontiguousarray(signatures.T)
    totals = np.zeros(hashes + 1, dtype=np.int64)
    for first in range(0, documents, _ROWS_AT_ONCE):
        block = _agreeing(columns[:, first : first + _ROWS_AT_ONCE], columns[:, first:])
        # A pair counts once, and no document with itself: columns to the right of the diagonal.
        own = np.triu_indices(len(block), k=1)
        totals += np.bincount(block[own], minlength=hashes + 1)
        totals += np.bincount(block[:, len(block) :].ravel(), minlength=hashes + 1)
    return totals


def chances(hashes: int, bands: int, rows: int) -> Values:
    """The chance to share a band for pairs whose signatures agree in 0, 1, ... hashes positions.

    Shape (hashes + 1,). P of the estimated similarity would be biased: P is curved, and most
    pairs of a collection have estimates near 0, where an error upwards adds far more than one
    downwards takes (at s = 0.01, 128 hashes and 3 rows: four times too much). This is instead the
    share of all ways to choose the bands' positions by which one falls on equal ones only; its
    mean is P(s) exactly, and no unbiased estimate varies less (Rao-Blackwell theorem, Lehmann
    and Casella, "Theory of Point Estimation", section 1.7). Above 2,048 hashes bands are taken
    as independent of each other, which is within 1 % of it.
    """
    if hashes > _EXACT:
        equal = np.arange(hashes + 1.0)[:, None]
        full = (np.maximum(equal - np.arange(rows), 0) / (hashes - np.arange(rows))).prod(axis=1)
        return curve(full, bands, 1)
    # Coefficients of ((1 + x)^r - x^r)^b (1 + x)^rest, read off its value at x = 256^width: how
    # many ways to be equal in k places leave no band full.
    width = hashes // 8 + 1
    x = 1 << 8 * width
    none_full = ((1 + x) ** rows - x**rows) ** bands * (1 + x) ** (hashes - bands * rows)
    packed = none_full.to_bytes(width * (hashes + 1), "little")
    table = np.empty(hashes + 1)
    for k in range(hashes + 1):
        every = math.comb(hashes, k)
        none = int.from_bytes(packed[k * width : (k + 1) * width], "little")
        table[k] = (every - none) / every
    return table


def candidates(agreements: Sequence[int], documents: int, chosen: Plan) -> float:
    """Expected candidates of one of `documents`, from the agreements of sampled pairs."""
    counts = np.asarray(agreements, dtype=np.float64)
    table = chances(len(counts) - 1, chosen.bands, chosen.rows)
    return float((documents - 1) * (counts @ table) / counts.sum())


def index_bytes(bands: int, hashes: int) -> float:
    """Bytes of index for each document: its band keys and its signature, approximately."""
    return BAND_BYTES * bands + SIGNATURE_BYTES * hashes


def histogram(agreements: Sequence[int], bins: int = 20) -> NDArray[np.int64]:
    """Pairs by estimated similarity, in at most `bins` bins of equal width over 0..1."""
    hashes = len(agreements) - 1
    bins = min(bins, hashes)
    places = np.minimum(np.arange(hashes + 1) * bins // hashes, bins - 1)
    totals = np.zeros(bins, dtype=np.int64)
    np.add.at(totals, places, np.asarray(agreements, dtype=np.int64))
    return totals


def _agreeing(columns: NDArray[np.uint32], others: NDArray[np.uint32]) -> NDArray[np.uint16]:
    """Equal positions of each with each: (hashes, n) and (hashes, m) to (n, m)."""
    # Settings allow 65,536 hashes, one more than a uint16 counts.
    counts = np.zeros((columns.shape[1], others.shape[1]), _smallest(len(columns)))
    equal = np.empty(counts.shape, dtype=np.bool_)
    for column, other in zip(columns, others, strict=True):
        np.equal(column[:, None], other, out=equal)
        np.add(counts, equal, out=counts)
    return counts


def _smallest(most: int) -> type[np.unsignedinteger]:
    return np.uint8 if most < 2**8 else np.uint16 if most < 2**16 else np.uint32


def _paired(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that arrays have pair by pair."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        told = " and ".join(map(str, shapes))
        raise ArgumentError(
            f"the shapes {told} do not go together", "give as many of each, or one of one"
        ) from None


def _sizes(name: str, given: ArrayLike) -> Values:
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ArgumentError(
            f"`{name}` has to be numbers, not {shown(given)}",
            "give the number of shingles of each set",
        ) from None


def _deviations(level: float) -> float:
    """Compute the standard deviations each way that hold a normal variable at a level."""
    if not (isinstance(level, Real) and 0 < level < 1):
        raise ArgumentError(
            f"`level` cannot be {shown(level)}", "give a number between 0 and 1, such as 0.95"
        )
    return NormalDist().inv_cdf((1 + level) / 2)


def wilson(share: Values, count: float, deviations: float) -> Estimate:
    """The interval of Wilson (1927) for a share of `count` independent draws."""
    spread = deviations**2 / count
    middle = (share + spread / 2) / (1 + spread)
    half = np.sqrt(spread * (share * (1 - share) + spread / 4)) / (1 + spread)
    # Rounding must not leave the share itself outside, at 0 and at 1.
    return Estimate(
        value=share,
        low=np.asarray(np.clip(middle - half, 0, share)),
        high=np.asarray(np.clip(middle + half, share, 1)),
    )
