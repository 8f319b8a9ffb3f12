"""Entries, which are indexed for documents: as records, or as the JSON of many at once.

The room also has signatures, of many texts at once, and the bands that a demand needs.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from neardup_solr.kernel import shingle_hashes
from neardup_solr.minhash import sign, signature
from neardup_solr.minhash.sign import IN_PLACE, Signed
from neardup_solr.records import Document, Entry, make_refusal
from neardup_solr.settings import Settings
from neardup_solr.text import normalize
from neardup_solr.text.packed import SPARE, pack
from neardup_solr.text.profile import hash_profile
from neardup_solr.text.shingles import shingles

_HEX = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)
# What needs the normal form of a text, and not only its signature.
_OF_NORMAL_FORM = frozenset({"md5_hash", "first_word", "content_ng", "profile_hash"})
_BAND_DIGITS, _SIGNATURE_DIGITS = 12, 8


def make_entry(document: Document, settings: Settings, *, is_signed: bool = True) -> Entry:
    """Compute the entry of a document under these settings.

    Terms of fields that the settings leave out are not made: `shingles`, `signatures` and
    `profile_hash` are empty then. So are `signatures`, `bands` and `signature` without `is_signed`.

    Raises RecordError if the id is impossible or the text holds a lone surrogate.
    """
    if (error := make_refusal(document)) is not None:
        raise error
    keys, terms, encoded = tuple[str, ...](), tuple[str, ...](), ""
    if not is_signed:
        normal = normalize.normalize(document.text, settings.normalization)
    else:
        signed = sign.sign([document.text], settings, keep_normal=True)
        (normal,) = signed.normal
        if normal:
            (keys,) = signature.format_band_keys(signed.keys)
            if "content_sg" in settings.fields:
                terms = signature.make_signature_terms(signed.signatures[0], settings)
            encoded = signature.encode(signed.signatures[0])
    pieces = shingles(normal, settings) if "content_ng" in settings.fields else ()
    return Entry(
        id=document.id,
        content=document.text,
        normal=normal,
        md5_hash=normalize.md5(normal),
        num_words=len(normal.split()),
        first_word=normalize.first_word(normal),
        shingles=tuple(map(normalize.indexable, pieces)),
        signatures=terms,
        bands=keys,
        signature=encoded,
        profile_hash=_make_profile(normal, settings) if "profile_hash" in settings.fields else "",
        kept=document.kept,
    )


def _make_profile(normal: str, settings: Settings) -> str:
    return hash_profile(
        normal,
        min_token_len=settings.profile_min_token_len,
        quant_rate=settings.profile_quant_rate,
    )


def encode_documents(documents: Sequence[Document], settings: Settings) -> list[tuple[bytes, int]]:
    """Encode the JSON of each document for Solr, and its number of words.

    The JSON is that of `make_entry` for the same document: kept columns, the fields that the
    settings name, `id` and `signature_settings`. In the documents `find_problem` finds nothing.
    """
    fields = settings.fields
    keep_normal = bool(fields & _OF_NORMAL_FORM)
    signed = sign.sign([document.text for document in documents], settings, keep_normal=keep_normal)
    columns = _write_columns(signed, settings)
    forms, words = list(signed.normal), signed.words.tolist()
    stamp = {"signature_settings": settings.fingerprint}
    encoded = []
    for at, document in enumerate(documents):
        normal = forms[at] if keep_normal else ""
        head = orjson.dumps(_make_plain(document, normal, words[at], settings) | stamp)[:-1]
        terms = [column[at] for column in columns] if words[at] else []
        if "signature" in fields:
            row = signed.signatures[at] if words[at] else b""
            terms.append(b',"signature":"' + base64.b64encode(row) + b'"')
        encoded.append((b"".join((head, *terms, b"}")), words[at]))
    return encoded


def _make_plain(document: Document, normal: str, words: int, settings: Settings) -> dict[str, Any]:
    """Make the fields that are not lists of terms and differ between documents."""
    fields: dict[str, Any] = {**document.kept, "id": document.id}
    chosen = settings.fields
    if "content" in chosen:
        fields["content"] = document.text
    if "md5_hash" in chosen:
        fields["md5_hash"] = normalize.md5(normal)
    if "num_words" in chosen:
        fields["num_words"] = words
    if "first_word" in chosen:
        fields["first_word"] = normalize.first_word(normal)
    if "profile_hash" in chosen:
        fields["profile_hash"] = _make_profile(normal, settings)
    return fields


def _write_columns(signed: Signed, settings: Settings) -> list[list[bytes]]:
    """Write, for each chosen field of terms, the JSON of every document's."""
    columns = []
    if "content_bands" in settings.fields:
        keys = signed.keys >> np.uint64(16)
        columns.append(_write_terms(b',"content_bands":[', keys, _BAND_DIGITS))
    if "content_sg" in settings.fields and settings.signatures:
        values = signed.signatures[:, : settings.signatures].astype(np.uint64)
        columns.append(_write_terms(b',"content_sg":[', values, _SIGNATURE_DIGITS))
    if "content_ng" in settings.fields:
        arrays = spell_shingles(signed.normal, settings)
        columns.append([b',"content_ng":[' + pieces + b"]" for pieces in arrays])
    return columns


def _write_terms(head: bytes, values: NDArray[np.uint64], digits: int) -> list[bytes]:
    """Write a JSON array of "position and value", in hexadecimal, for each row of `values`."""
    rows, positions = values.shape
    prefixes = [f'"{position:02x}'.encode() for position in range(positions)]
    width = max(map(len, prefixes))
    cells = np.empty((rows, positions, width + digits + 2), dtype=np.uint8)
    # A shorter prefix has blanks before it, which JSON allows.
    padded = b"".join(prefix.rjust(width) for prefix in prefixes)
    cells[:, :, :width] = np.frombuffer(padded, dtype=np.uint8).reshape(positions, width)
    octets = values.astype(">u8").view(np.uint8).reshape(rows, positions, 8)[:, :, -digits // 2 :]
    cells[:, :, width:-2:2] = _HEX[octets >> 4]
    cells[:, :, width + 1 : -2 : 2] = _HEX[octets & 15]
    cells[:, :, -2:] = np.frombuffer(b'",', dtype=np.uint8)
    flat = cells.reshape(rows, positions * cells.shape[2])
    flat[:, -1] = ord("]")
    return [head + row.tobytes() for row in flat]


def spell_shingles(forms: Sequence[str], settings: Settings) -> list[bytes]:
    """Write the shingles of each normal form as the inside of a JSON array: b'"red","blue"'.

    Terms that Lucene would refuse are hashed by `normalize.indexable`.
    """
    if settings.kind not in IN_PLACE or not forms:
        return [_spell_form(form, settings) for form in forms]
    texts = pack(forms)
    # Each character begins at most a shingle, of that many words or characters.
    size = settings.shingle_size
    out = np.empty((size + 3) * len(texts.data) + SPARE, dtype=np.uint8)
    ends = np.empty(len(forms), dtype=np.uint64)
    longest = np.uint64(normalize.MAX_TERM_BYTES)
    shingle_hashes.spell(
        texts.data, texts.bounds, settings.kind == "chars", np.uint64(size), longest, out, ends
    )
    json, stops = out[: int(ends[-1])].tobytes(), ends.tolist()
    begins = [0, *stops[:-1]]
    # Without the comma after the last; a form that is too long or empty has none.
    return [
        json[begin : stop - 1] if stop > begin else _spell_form(forms[at], settings)
        for at, (begin, stop) in enumerate(zip(begins, stops, strict=True))
    ]


def _spell_form(form: str, settings: Settings) -> bytes:
    pieces = map(normalize.indexable, shingles(form, settings))
    return ",".join(f'"{piece}"' for piece in pieces).encode()
