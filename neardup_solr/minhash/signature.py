"""MinHash signatures of shingle sets: made, stored, cut into LSH bands, and compared.

Shingles are hashed with murmur3 (32 bits, seed of the settings, over UTF-8); each of the `hashes`
functions of a family re-orders those 2^32 values, and the signature keeps the extreme of each.
Two sets agree in a position with probability equal to their Jaccard similarity (Broder 1997).

affine: minima of a·x + b mod 2^32 with odd a, the default. Each function is a bijection of the
32-bit integers, so values of distinct shingles never tie; a and b come from SplitMix64 started at
the seed (Steele, Lea, Flood 2014). The estimate's standard deviation is the binomial one,
sqrt(J(1-J)/hashes). Linear permutations: Bohman, Cooper, Frieze, "Min-wise independent linear
permutations" (2000).

xor: maxima, as signed integers, of x XOR mask, the family of the restaurant example, kept to
reproduce it. The masks are the first `hashes` values of java.util.Random(seed).nextInt(), as
published there (seed 42). XOR does not mix: masks that agree in their leading bits choose the
same shingle, so the estimate is unbiased, but for short texts its error is up to 2.4 times that of
the affine family.
"""

from __future__ import annotations

import base64
from binascii import a2b_base64
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from numbers import Real

import mmh3
import numpy as np
from numpy.typing import ArrayLike, NDArray

from neardup_solr.arguments import require, shown
from neardup_solr.errors import ArgumentError, SettingsError
from neardup_solr.kernel import joins, shingle_hashes
from neardup_solr.settings import Settings

_ENCODED = "give the text of a field called signature"

Signature = NDArray[np.uint32]
Values = NDArray[np.float64]
FAMILIES = {"affine": shingle_hashes.AFFINE, "xor": shingle_hashes.XOR}  # for the kernel


def minhash(pieces: Sequence[str], settings: Settings) -> Signature:
    """Compute the MinHash signature of a set of shingles.

    Shape (hashes,), dtype uint32; shape (0,) for the empty set, which is similar to nothing.
    """
    if not pieces:
        return np.empty(0, dtype=np.uint32)
    hashed = np.fromiter(
        (mmh3.hash(piece.encode(), settings.seed, signed=False) for piece in pieces),
        dtype=np.uint32,
        count=len(pieces),
    )
    return fold(hashed, settings)


def fold(hashed: NDArray[np.uint32], settings: Settings) -> Signature:
    """Compute the signature of a set of shingles from their hashes, at least one."""
    signature = np.empty(settings.hashes, dtype=np.uint32)
    shingle_hashes.fold(hashed, FAMILIES[settings.family], *draw_coefficients(settings), signature)
    return signature


@lru_cache(maxsize=16)
def draw_coefficients(settings: Settings) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Draw multipliers (or masks) and offsets of a family's functions, of shape (hashes,) each."""
    if settings.family == "xor":
        masks = np.array(_draw_java(settings.hashes, settings.seed), dtype=np.uint32)
        return masks, np.zeros_like(masks)
    drawn = [_splitmix64(settings.seed, index) for index in range(1, settings.hashes + 1)]
    multiplier = np.array([value >> 32 | 1 for value in drawn], dtype=np.uint32)
    offset = np.array([value & 0xFFFFFFFF for value in drawn], dtype=np.uint32)
    return multiplier, offset


def _splitmix64(seed: int, index: int) -> int:
    """Compute the index-th output of SplitMix64 from a seed, 64 bits."""
    mixed = (seed + index * 0x9E3779B97F4A7C15) % 2**64
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB % 2**64
    return mixed ^ mixed >> 31


def _draw_java(count: int, seed: int) -> list[int]:
    """Draw the first values of java.util.Random(seed).nextInt(), as its documentation says."""
    state = (seed ^ 0x5DEECE66D) % 2**48
    drawn = []
    for _ in range(count):
        state = (state * 0x5DEECE66D + 0xB) % 2**48
        drawn.append(state >> 16)
    return drawn


def make_band_keys(signature: NDArray[np.uint32], settings: Settings) -> tuple[str, ...]:
    """Make the band keys of a signature of shape (hashes,): one term per band, none for (0,).

    A term is the band's number (two or more hexadecimal digits) and 48 bits of its rows' hash
    (twelve digits). Leskovec, Rajaraman, Ullman, "Mining of Massive Datasets", section 3.4.
    """
    if len(signature) == 0:
        return ()
    return format_band_keys(hash_bands(signature[None, :], settings.bands, settings.rows))[0]


def format_band_keys(hashed: NDArray[np.uint64]) -> list[tuple[str, ...]]:
    """Format the band keys of each row of band hashes, of shape (documents, bands)."""
    rows = (hashed >> np.uint64(16)).tolist()
    return [tuple(f"{band:02x}{key:012x}" for band, key in enumerate(row)) for row in rows]


def hash_bands(signatures: NDArray[np.uint32], bands: int, rows: int) -> NDArray[np.uint64]:
    """Hash the bands of many signatures to 64 bits.

    Takes shape (documents, hashes) and gives (documents, bands); hashes past bands × rows are
    not used. Each row is folded in by a multiplication and a shift (the 64-bit finaliser of
    murmur3, Appleby 2011).
    """
    used = np.ascontiguousarray(signatures[:, : bands * rows], dtype=np.uint32)
    hashed = np.zeros((len(signatures), bands), dtype=np.uint64)
    joins.hash_rows(used.reshape(-1, bands * rows), 0, rows, hashed)
    return hashed


def count_shared_bands(
    signatures: NDArray[np.uint32], pairs: NDArray[np.uint32], settings: Settings
) -> NDArray[np.int64]:
    """Count the LSH bands in which each pair of rows (pairs, 2) of signatures agrees."""
    used = settings.bands * settings.rows
    equal = signatures[pairs[:, 0], :used] == signatures[pairs[:, 1], :used]
    by_band = equal.reshape(len(pairs), settings.bands, settings.rows).all(axis=2)
    found: NDArray[np.int64] = by_band.sum(axis=1)
    return found


def make_signature_terms(signature: Signature, settings: Settings) -> tuple[str, ...]:
    """Make the terms of content_sg: position and value, in hexadecimal, of the first `signatures`.

    The number of terms that two documents share, over `signatures`, estimates their Jaccard
    similarity.
    """
    values = signature[: settings.signatures].tolist()
    return tuple(f"{at:02x}{value:08x}" for at, value in enumerate(values))


def encode(signature: Signature) -> str:
    """Encode a signature as one string: base64 (RFC 4648) of its uint32 values, little-endian."""
    return base64.b64encode(signature.astype("<u4").tobytes()).decode("ascii")


def decode(encoded: str) -> Signature:
    """Decode a string of `encode` to its signature, of shape (hashes,) and dtype uint32.

    Raises SettingsError if the string is not one, ArgumentError if it is no string.
    """
    require(isinstance(encoded, str), f"`encoded` cannot be {shown(encoded)}", _ENCODED)
    return np.frombuffer(_decode_bytes(encoded), dtype="<u4").astype(np.uint32)


def decode_all(encoded: Sequence[str], settings: Settings) -> NDArray[np.uint32]:
    """Decode many signatures at once, to shape (signatures, hashes).

    Raises SettingsError if a string is not the signature of that many hashes.
    """
    packed = list(map(_decode_bytes, encoded))
    for count in {len(one) // 4 for one in packed} - {settings.hashes}:
        reason = f"a stored signature has {count} values, not {settings.hashes}"
        raise SettingsError(reason, "index the document again")
    joined = np.frombuffer(bytearray().join(packed), dtype="<u4")
    return joined.reshape(len(encoded), settings.hashes)


def _decode_bytes(encoded: str) -> bytes:
    try:
        packed = a2b_base64(encoded, strict_mode=True)
    except ValueError:
        packed = b"?"
    if len(packed) % 4:
        reason = f"{encoded[:40]!r} is not a stored signature"
        raise SettingsError(reason, "index the document again")
    return packed


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
    deviations = _compute_deviations(level)
    hashes = signatures.shape[-1]
    shape = _broadcast(signatures.shape[:-1], others.shape[:-1])
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
    size, other_size = _read_sizes("sizes", sizes), _read_sizes("other_sizes", other_sizes)
    if not (np.all(size >= 0) and np.all(other_size >= 0)):
        raise ArgumentError(
            "`sizes` and `other_sizes` cannot be below 0", "give the number of shingles of each set"
        )
    similar = estimate_jaccard(signatures, others, level=level)
    _broadcast(similar.value.shape, size.shape, other_size.shape)
    whole = np.where(size > 0, size, 1)
    most = np.minimum(size, other_size) / whole

    def carry(share: Values) -> Values:
        return np.asarray(np.minimum(share / (1 + share) * (size + other_size) / whole, most))

    return Estimate(value=carry(similar.value), low=carry(similar.low), high=carry(similar.high))


def wilson(share: Values, count: float, deviations: float) -> Estimate:
    """Compute the interval of Wilson (1927) for a share of `count` independent draws."""
    spread = deviations**2 / count
    middle = (share + spread / 2) / (1 + spread)
    half = np.sqrt(spread * (share * (1 - share) + spread / 4)) / (1 + spread)
    # Rounding must not leave the share itself outside, at 0 and at 1.
    return Estimate(
        value=share,
        low=np.asarray(np.clip(middle - half, 0, share)),
        high=np.asarray(np.clip(middle + half, share, 1)),
    )


def _broadcast(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Find the shape that arrays have pair by pair."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        told = " and ".join(map(str, shapes))
        raise ArgumentError(
            f"the shapes {told} do not go together", "give as many of each, or one of one"
        ) from None


def _read_sizes(name: str, given: ArrayLike) -> Values:
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ArgumentError(
            f"`{name}` has to be numbers, not {shown(given)}",
            "give the number of shingles of each set",
        ) from None


def _compute_deviations(level: float) -> float:
    """Compute the standard deviations each way that hold a normal variable at a level."""
    from statistics import NormalDist  # loads fractions and decimals

    if not (isinstance(level, Real) and 0 < level < 1):
        raise ArgumentError(
            f"`level` cannot be {shown(level)}", "give a number between 0 and 1, such as 0.95"
        )
    return NormalDist().inv_cdf((1 + level) / 2)
