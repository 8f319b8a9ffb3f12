"""Bands and rows from what has to be caught and what has to be passed over, and their cost.

Two documents of similarity s share a band of b bands of r rows with probability
P(s) = 1 - (1 - s^r)^b (Leskovec, Rajaraman, Ullman, "Mining of Massive Datasets", section 3.4.2).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from neardup_solr.checks import require_positive
from neardup_solr.errors import ArgumentError, SettingsError
from neardup_solr.settings import Settings

MOST_HASHES = 65_536
_HALVINGS = 60  # of 0..1, to the precision of a float
# Bytes on the disk of Solr 9.10 for each document.
BAND_BYTES = 25.2  # for each band: the term, its posting and the stored copy
SIGNATURE_BYTES = 5.4  # for each hash: four bytes in base64

_EXACT = 2_048  # hashes up to which an exact table of chances costs less than a second
_ROWS_AT_ONCE = 256  # of all pairs: counts of 256 × documents are held at a time

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """Demand on bands: similarities to catch and to pass over, and the allowed errors.

    Of the pairs of similarity `catch`, at most a share `miss` may share no band; of those of
    similarity `avoid`, at most a share `load` may share a band. All lie in 0..1.

    Raises ArgumentError if a value is out of range, or catch is not above avoid.
    """

    catch: float = 0.5
    miss: float = 0.01
    avoid: float = 0.03
    load: float = 0.001

    def __post_init__(self) -> None:
        for name, is_meant in (
            ("catch", 0 < self.catch <= 1),
            ("avoid", 0 <= self.avoid < 1),
            ("miss", 0 < self.miss < 1),
            ("load", 0 < self.load < 1),
        ):
            if not is_meant:
                reason = f"`{name}` cannot be {getattr(self, name):g}"
                step = "give a share between 0 and 1, such as 0.01 for 1 %"
                raise ArgumentError(reason, step, code="argument-out-of-range")
        if self.catch <= self.avoid:
            reason = f"`catch` ({self.catch:g}) must be greater than `avoid` ({self.avoid:g})"
            step = f"set `catch` above {self.avoid:g}, or `avoid` below {self.catch:g}"
            raise ArgumentError(reason, step, code="arguments-conflict")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Bands of rows, and their curve.

    At the similarity `threshold` half of the pairs share a band; `caught` and `load` are the shares
    that do at the similarities to catch and to pass over.
    """

    bands: int
    rows: int
    threshold: float
    caught: float
    load: float

    @property
    def hashes(self) -> int:
        """Number of hashes of a signature that the bands use."""
        return self.bands * self.rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A plan, and what it is expected to cost in a collection.

    `candidates` are other documents that share a band with a document, on average;
    `index_bytes` those of bands and signature for each document. With labelled pairs, `recall` is
    the share of them that share a band, `precision` their share of all pairs that do.
    """

    plan: Plan
    candidates: float
    index_bytes: float
    recall: float | None = None
    precision: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Tuning:
    """Bands and rows that meet the limits given to `tune`, with their estimated cost.

    `sampled`: documents compared with each other; `agreements`: pairs by number of equal hashes;
    `choice`: recommended bands and rows; `others`: alternatives with other rows; `current`: bands
    and rows of the collection; `known`: known pairs by number of equal hashes; `absent`: known
    pairs with a missing document; `failed`: records that could not be used.
    """

    demand: Demand
    settings: Settings
    documents: int
    sampled: int
    agreements: tuple[int, ...]
    choice: Choice
    others: tuple[Choice, ...] = ()
    current: Choice | None = None
    known: tuple[int, ...] = ()
    absent: int = 0
    failed: int = 0

    def __repr__(self) -> str:
        plan = self.choice.plan
        how = f"{plan.bands} bands of {plan.rows} rows, threshold {plan.threshold:.2f}"
        return f"<Tuning: {how}; {self.sampled:,} of {self.documents:,} documents sampled>"


def curve(similarities: ArrayLike, bands: int, rows: int) -> Values:
    """Compute P(s) for many similarities, exact to the last digits even if it is about 0."""
    with np.errstate(divide="ignore"):  # at s = 1
        missed = np.log1p(-(np.asarray(similarities, dtype=np.float64) ** rows)) * bands
    return np.asarray(-np.expm1(missed))


def similarity_at(chance: float, bands: int, rows: int) -> float:
    """Find the similarity of pairs that share a band with this chance.

    The root of P(s) = chance, by bisection. The threshold is that of 1/2.
    """
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if curve(middle, bands, rows) < chance else (low, middle)
    return (low + high) / 2


def plan(bands: int, rows: int, demand: Demand) -> Plan:
    """Describe `bands` bands of `rows` rows, and how they meet a demand.

    Raises ArgumentError if either is below 1.
    """
    require_positive(bands=bands, rows=rows)
    return Plan(
        bands=bands,
        rows=rows,
        threshold=similarity_at(0.5, bands, rows),
        caught=float(curve(demand.catch, bands, rows)),
        load=float(curve(demand.avoid, bands, rows)),
    )


def solve(demand: Demand, hashes: int) -> Plan:
    """Find the cheapest bands and rows that meet a demand: fewest bands, then fewest rows.

    Raises SettingsError if none within `hashes` do: it says which part of the demand fails, by how
    much, and what would be enough.
    """
    best = None
    for best in catching(demand, hashes):
        if best.load <= demand.load:
            return best
    raise _explain_unmet(demand, hashes, best)


def catching(demand: Demand, hashes: int) -> Iterator[Plan]:
    """Yield for 1, 2, ... rows the fewest bands that miss no more than allowed, within `hashes`.

    More rows take more bands, and let less pass.
    """
    for rows in range(1, hashes + 1):
        bands = _fewest_bands(demand, rows)
        if bands is None or bands * rows > hashes:
            return
        yield plan(bands, rows, demand)


def percent(share: float) -> str:
    """Format a share of 0..1 in per cent, to three digits."""
    return f"{100 * share:.3g} %"


def _fewest_bands(demand: Demand, rows: int) -> int | None:
    """Solve (1 - catch^rows)^bands <= miss, or None if no number of hashes is enough."""
    row_wise = demand.catch**rows
    if row_wise == 1:
        return 1
    # If it underflows, no number of bands is enough.
    bands = math.log(demand.miss) / math.log1p(-row_wise) if row_wise else math.inf
    return max(1, math.ceil(bands)) if bands <= MOST_HASHES else None


def _explain_unmet(demand: Demand, hashes: int, best: Plan | None) -> SettingsError:
    enough = next((p for p in catching(demand, MOST_HASHES) if p.load <= demand.load), None)
    more = f"use {enough.hashes:,} hashes ({enough.bands} × {enough.rows}), or " if enough else ""
    if best is None:
        missed = (1 - demand.catch) ** hashes
        caught = math.ceil(1000 * (1 - demand.miss ** (1 / hashes))) / 1000
        return SettingsError(
            f"{hashes} hashes miss at least {percent(missed)} of the pairs at similarity"
            f" {demand.catch:g}, {missed / demand.miss:.3g} times the {percent(demand.miss)}"
            " allowed",
            f"{more}set `catch` to {caught:g}",
            code="plan-impossible",
        )
    passed = similarity_at(demand.load, best.bands, best.rows)
    avoid = math.floor(passed * 1000) / 1000
    # The command has no option for `load`, so its advice is the last.
    advice = f"set `avoid` to {avoid:g}" if avoid else f"set `load` to {1.1 * best.load:.2g}"
    return SettingsError(
        f"with {hashes} hashes, bands that catch enough pairs pass {percent(best.load)} of pairs at"
        f" similarity {demand.avoid:g} ({best.bands} × {best.rows}),"
        f" {best.load / demand.load:.3g} times the {percent(demand.load)} allowed",
        f"{more}{advice}",
        code="plan-impossible",
    )


def count_agreements(signatures: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Count the pairs of documents that agree in 0, 1, ..., `hashes` positions.

    Takes shape (documents, hashes), gives shape (hashes + 1,); its sum is n(n - 1)/2. Time is
    n² · hashes / 2 comparisons (5,000 documents of 128: about a second), memory some bytes for
    256 · n pairs.
    """
    documents, hashes = signatures.shape
    columns = np.ascontiguousarray(signatures.T)
    totals = np.zeros(hashes + 1, dtype=np.int64)
    for first in range(0, documents, _ROWS_AT_ONCE):
        block = _count_agreeing(columns[:, first : first + _ROWS_AT_ONCE], columns[:, first:])
        # A pair counts once, and no document with itself: columns to the right of the diagonal.
        above = np.triu_indices(len(block), k=1)
        totals += np.bincount(block[above], minlength=hashes + 1)
        totals += np.bincount(block[:, len(block) :].ravel(), minlength=hashes + 1)
    return totals


def compute_chances(hashes: int, bands: int, rows: int) -> Values:
    """Compute the chance to share a band of pairs whose signatures agree in 0, 1, ... positions.

    Shape (hashes + 1,). P of the estimated similarity would be biased: P is curved, and most pairs
    of a collection have estimates near 0, where an error upwards adds far more than an error
    downwards takes (at s = 0.01, 128 hashes and 3 rows: four times too much). This is instead the
    share of all ways to choose the bands' positions by which a band falls on equal positions only;
    its mean is P(s) exactly, and no unbiased estimate varies less (Rao-Blackwell theorem, Lehmann
    and Casella, "Theory of Point Estimation", section 1.7). Above 2,048 hashes bands are taken as
    independent of each other, which is within 1 % of it.
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


def expect_candidates(agreements: Sequence[int], documents: int, chosen: Plan) -> float:
    """Estimate the candidates of each of `documents`, from the agreements of sampled pairs."""
    counts = np.asarray(agreements, dtype=np.float64)
    table = compute_chances(len(counts) - 1, chosen.bands, chosen.rows)
    return float((documents - 1) * (counts @ table) / counts.sum())


def estimate_bytes(bands: int, hashes: int) -> float:
    """Estimate the bytes of index of each document: of its band keys and its signature."""
    return BAND_BYTES * bands + SIGNATURE_BYTES * hashes


def make_histogram(agreements: Sequence[int], bins: int = 20) -> NDArray[np.int64]:
    """Count pairs by estimated similarity, in at most `bins` bins of equal width over 0..1."""
    hashes = len(agreements) - 1
    bins = min(bins, hashes)
    places = np.minimum(np.arange(hashes + 1) * bins // hashes, bins - 1)
    totals = np.zeros(bins, dtype=np.int64)
    np.add.at(totals, places, np.asarray(agreements, dtype=np.int64))
    return totals


def _count_agreeing(columns: NDArray[np.uint32], others: NDArray[np.uint32]) -> NDArray[np.uint16]:
    """Count equal positions of each with each: (hashes, n) and (hashes, m) to (n, m)."""
    # Settings allow 65,536 hashes, 1 more than a uint16 counts.
    counts = np.zeros((columns.shape[1], others.shape[1]), np.min_scalar_type(len(columns)))
    equal = np.empty(counts.shape, dtype=np.bool_)
    for column, other in zip(columns, others, strict=True):
        np.equal(column[:, None], other, out=equal)
        np.add(counts, equal, out=counts)
    return counts
