"""Signatures as they are stored, cut into LSH bands for Solr, and compared."""

from __future__ import annotations

import base64
from binascii import a2b_base64
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from neardup_solr.checks import describe, require
from neardup_solr.errors import ArgumentError, SettingsError
from neardup_solr.minhash.sign import Signature, hash_bands
from neardup_solr.settings import Settings

_ENCODED = "give the text of a signature field"

Values = NDArray[np.float64]


def make_band_keys(signature: NDArray[np.uint32], settings: Settings) -> tuple[str, ...]:
    """Make the band keys of a signature of shape (hashes,): a term per band, none for (0,).

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


def make_signature_terms(signature: Signature, settings: Settings) -> tuple[str, ...]:
    """Make the terms of content_sg: position and value, in hexadecimal, of the first `signatures`.

    The number of terms that two documents share, over `signatures`, estimates their Jaccard
    similarity.
    """
    values = signature[: settings.signatures].tolist()
    return tuple(f"{at:02x}{value:08x}" for at, value in enumerate(values))


def encode(signature: Signature) -> str:
    """Encode a signature as base64 (RFC 4648) of its uint32 values, little-endian."""
    return base64.b64encode(signature.astype("<u4").tobytes()).decode("ascii")


def decode(encoded: str) -> Signature:
    """Decode a string of `encode` to its signature, of shape (hashes,) and dtype uint32.

    Raises SettingsError if the string is not of `encode`, ArgumentError if it is no string.
    """
    reason = f"`encoded` cannot be {describe(encoded)}"
    require(isinstance(encoded, str), reason, _ENCODED, code="argument-type")
    return np.frombuffer(_decode_bytes(encoded), dtype="<u4").astype(np.uint32)


def decode_all(encoded: Sequence[str], settings: Settings) -> NDArray[np.uint32]:
    """Decode many signatures at once, to shape (signatures, hashes).

    Raises SettingsError if a string is not the signature of that many hashes.
    """
    packed = list(map(_decode_bytes, encoded))
    for count in {len(values) // 4 for values in packed} - {settings.hashes}:
        reason = f"a stored signature has {count} values, not {settings.hashes}"
        raise SettingsError(reason, "index the document again", code="signature-invalid")
    joined = np.frombuffer(bytearray().join(packed), dtype="<u4")
    return joined.reshape(len(encoded), settings.hashes)


def _decode_bytes(encoded: str) -> bytes:
    try:
        packed = a2b_base64(encoded, strict_mode=True)
    except ValueError:
        packed = b"?"
    if len(packed) % 4:
        reason = f"{encoded[:40]!r} is not a stored signature"
        raise SettingsError(reason, "index the document again", code="signature-invalid")
    return packed


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """Estimated similarities, each with its confidence interval.

    `value`, `low` and `high` (float64, 0..1) have the shape of the pairs: () for a pair.
    """

    value: Values
    low: Values
    high: Values


def estimate_jaccard(
    signatures: NDArray[np.uint32], others: NDArray[np.uint32], *, level: float = 0.95
) -> Estimate:
    """Estimate the Jaccard similarity of the sets behind signatures, pair by pair.

    Takes shapes (..., hashes) that broadcast – (hashes,) and (documents, hashes) compare a set with
    many – and gives shape (...). The value is the share of equal positions (Broder 1997),
    unbiased; the interval is Wilson's score interval for that many independent positions; those
    of the affine family are as good as independent (E. B. Wilson, "Probable inference, the law of
    succession, and statistical inference", 1927). An empty signature resembles nothing: 0..0.

    Raises ArgumentError if these are no arrays, their shapes do not fit, or the level is not
    within 0..1; SettingsError if signatures differ in length.
    """
    for name, array in (("signatures", signatures), ("others", others)):
        is_array = isinstance(array, np.ndarray) and array.ndim > 0
        reason = f"`{name}` cannot be {describe(array)}"
        require(is_array, reason, "give the result of `decode`", code="argument-type")
    deviations = _compute_deviations(level)
    hashes = signatures.shape[-1]
    shape = _broadcast(signatures.shape[:-1], others.shape[:-1])
    if 0 in (hashes, others.shape[-1]):
        nothing = np.zeros(shape)
        return Estimate(value=nothing, low=nothing, high=nothing)
    if hashes != others.shape[-1]:
        reason = f"signatures of {hashes} and of {others.shape[-1]} hashes cannot be compared"
        raise SettingsError(reason, "make both with the same settings", code="settings-differ")
    return wilson(np.asarray((signatures == others).mean(axis=-1)), hashes, deviations)


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
        listed = " and ".join(map(str, shapes))
        reason = f"the shapes {listed} do not match"
        step = "use the same number on both sides, or one"
        raise ArgumentError(reason, step, code="argument-invalid") from None


def _compute_deviations(level: float) -> float:
    """Compute the standard deviations each way that hold a normal variable at a level."""
    from statistics import NormalDist  # loads fractions and decimals

    if not (isinstance(level, Real) and 0 < level < 1):
        reason = f"`level` cannot be {describe(level)}"
        step = "give a number between 0 and 1, such as 0.95"
        raise ArgumentError(reason, step, code="argument-out-of-range")
    return NormalDist().inv_cdf((1 + level) / 2)
