"""MinHash signatures of shingle sets, and how they are stored.

Shingles are hashed with murmur3 (32 bits, seed of the settings, over UTF-8); each of the `hashes`
functions of a family re-orders those 2^32 values, and the signature keeps the extreme of each.
Two sets agree in a position with probability equal to their Jaccard similarity (Broder 1997).
"""

from __future__ import annotations

import base64
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from neardup_solr.arguments import require, shown
from neardup_solr.errors import SettingsError
from neardup_solr.kernel import joins
from neardup_solr.settings import Settings

_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_SIXES = np.full(256, 64, dtype=np.uint8)
_SIXES[np.frombuffer(_ALPHABET, dtype=np.uint8)] = np.arange(64)

_ENCODED = "give the text of a field called signature"

Signature = NDArray[np.uint32]


def signature_terms(signature: Signature, settings: Settings) -> tuple[str, ...]:
    """The terms of content_sg: position and value, in hexadecimal, of the first `signatures`.

    The number of terms that two documents share, over `signatures`, estimates their Jaccard
    similarity.
    """
    values = signature[: settings.signatures].tolist()
    return tuple(f"{at:02x}{value:08x}" for at, value in enumerate(values))


def encode(signature: Signature) -> str:
    """A signature as one string: base64 (RFC 4648) of its uint32 values, little-endian."""
    return base64.b64encode(signature.astype("<u4").tobytes()).decode("ascii")


def decode(encoded: str) -> Signature:
    """The signature that a string of `encode` stands for; shape (hashes,), dtype uint32.

    Raises SettingsError if the string is not one, ArgumentError if it is no string.
    """
    require(isinstance(encoded, str), f"`encoded` cannot be {shown(encoded)}", _ENCODED)
    try:
        packed = base64.b64decode(encoded, validate=True)
        return np.frombuffer(packed, dtype="<u4").astype(np.uint32)
    except ValueError:
        reason = f"{encoded[:40]!r} is not a stored signature"
        raise SettingsError(reason, "index the document again") from None


def decode_all(encoded: Sequence[str], settings: Settings) -> NDArray[np.uint32]:
    """Many signatures at once; shape (signatures, hashes).

    Raises SettingsError if a string is not the signature of that many hashes.
    """
    size = 4 * settings.hashes
    length = -(-size // 3) * 4  # base64 makes four characters of three bytes
    packed = np.empty((len(encoded), size), dtype=np.uint8)
    is_regular = all(len(each) == length and each.isascii() for each in encoded)
    if not is_regular or not _are_decoded("".join(encoded), length, packed):
        for row, each in enumerate(encoded):
            values = decode(each)
            if len(values) != settings.hashes:
                reason = f"a stored signature has {len(values)} values, not {settings.hashes}"
                raise SettingsError(reason, "index the document again")
            packed[row] = np.frombuffer(values.astype("<u4").tobytes(), dtype=np.uint8)
    return packed.view("<u4")


def _are_decoded(joined: str, length: int, packed: NDArray[np.uint8]) -> bool:
    """Decode rows of base64 into `packed`; whether all of them could be."""
    characters = np.frombuffer(joined.encode(), dtype=np.uint8).reshape(-1, length)
    return bool(joins.decode_rows(characters, _SIXES, packed))
