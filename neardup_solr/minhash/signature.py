"""MinHash signatures of shingle sets, and the entry that a document becomes.

Shingles are hashed with murmur3 (32 bits, seed of the settings, over UTF-8); each of the `hashes`
functions of a family re-orders those 2^32 values, and the signature keeps the extreme of each.
Two sets agree in a position with probability equal to their Jaccard similarity (Broder 1997).
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from neardup_solr import records
from neardup_solr.errors import RecordError, SettingsError
from neardup_solr.kernel import joins
from neardup_solr.minhash import bands, sign
from neardup_solr.records import Document, Entry
from neardup_solr.settings import Settings
from neardup_solr.text import normalize
from neardup_solr.text.profile import text_profile
from neardup_solr.text.shingles import shingles

_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_SIXES = np.full(256, 64, dtype=np.uint8)
_SIXES[np.frombuffer(_ALPHABET, dtype=np.uint8)] = np.arange(64)

Signature = NDArray[np.uint32]


def entry(document: Document, settings: Settings, *, is_signed: bool = True) -> Entry:
    """What is indexed for one document under these settings.

    Terms that their fields leave out are not made: `shingles`, `signatures` and `profile_hash` are
    empty then. So are `signatures`, `bands` and `signature` if it is not to be signed.

    Raises RecordError if the id cannot be one or a text holds a lone surrogate.
    """
    require_usable(document)
    chosen = settings.fields
    signed = sign.sign([document.text], settings, keep_normal=True) if is_signed else None
    normal = normalize.normalize(document.text) if signed is None else signed.normal[0]
    made, keys = np.empty(0, dtype=np.uint32), tuple[str, ...]()
    if signed is not None and normal:
        made, keys = signed.signatures[0], bands.terms(signed.keys)[0]
    pieces = shingles(normal, settings) if "content_ng" in chosen else ()
    return Entry(
        id=document.id,
        content=document.text,
        normal=normal,
        md5_hash=normalize.md5(normal),
        num_words=len(normalize.words(normal)),
        first_word=normalize.first_word(normal),
        shingles=tuple(map(normalize.indexable, pieces)),
        signatures=signature_terms(made, settings) if "content_sg" in chosen else (),
        bands=keys,
        signature=encode(made),
        profile_hash=profile_hash(normal, settings),
        kept=document.kept,
    )


def require_usable(document: Document) -> None:
    """Refuse a document that cannot be indexed, by RecordError."""
    reason = problem(document)
    if reason is not None:
        raise _refused(document, reason)


def profile_hash(normal: str, settings: Settings) -> str:
    """The text profile of a normal form under these settings; "" where they leave it out."""
    if "profile_hash" not in settings.fields:
        return ""
    return text_profile(
        normal,
        min_token_len=settings.profile_min_token_len,
        quant_rate=settings.profile_quant_rate,
    )


def usable(
    documents: Iterable[Document], on_error: Callable[[RecordError], None]
) -> Iterator[Document]:
    """The documents that can be indexed; each of the others goes to `on_error`, with the reason."""
    for document in documents:
        reason = problem(document)
        if reason is None:
            yield document
        else:
            on_error(_refused(document, reason))


def _refused(document: Document, reason: str) -> RecordError:
    return RecordError(document.position, reason, document.id[:40])


def problem(document: Document) -> str | None:
    """Why a document cannot be indexed, or None: its id, its text, or a kept value."""
    reason = records.id_problem(document.id)
    if reason is not None:
        return reason
    try:
        if not document.text.isascii():
            document.text.encode("utf-16-le")  # the quickest way to find one
    except UnicodeEncodeError as error:
        return f"the text holds a lone surrogate at character {error.start}"
    return _problem_of_kept(document.kept) if document.kept else None


def _problem_of_kept(kept: Mapping[str, Any]) -> str | None:
    try:
        orjson.dumps(dict(kept))
    except TypeError as error:
        return f"a kept column cannot be written as JSON: {error}"
    # Solr would take an object for an order: {"add": 1}, {"set": null}.
    objects = [name for name, value in kept.items() if isinstance(value, Mapping)]
    return f"the kept column {objects[0]!r} is an object, not a value" if objects else None


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

    Raises SettingsError where the string is not one.
    """
    try:
        packed = base64.b64decode(encoded, validate=True)
        return np.frombuffer(packed, dtype="<u4").astype(np.uint32)
    except ValueError:
        reason = f"{encoded[:40]!r} is not a stored signature"
        raise SettingsError(reason, "index the document again") from None


def decode_all(encoded: Sequence[str], settings: Settings) -> NDArray[np.uint32]:
    """Many signatures at once; shape (signatures, hashes).

    Raises SettingsError where a string is not the signature of so many hashes.
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
