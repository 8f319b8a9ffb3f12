"""Documents as Solr gets them: the JSON of many at once, straight from the signatures' arrays."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from neardup_solr.kernel import shingle_hashes
from neardup_solr.minhash import make_profile, sign
from neardup_solr.minhash.sign import IN_PLACE, Signed
from neardup_solr.records import Document
from neardup_solr.settings import Settings
from neardup_solr.text import normalize
from neardup_solr.text.packed import SPARE, pack
from neardup_solr.text.shingles import shingles

_HEX = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)
# What needs the normal form of a text, and not only its signature.
_OF_NORMAL_FORM = frozenset({"md5_hash", "first_word", "content_ng", "profile_hash"})
_BAND_DIGITS, _SIGNATURE_DIGITS = 12, 8


def encode_documents(documents: Sequence[Document], settings: Settings) -> list[tuple[bytes, int]]:
    """Encode the JSON of each document for Solr, and its number of words.

    The JSON is that of `make_entry` for the same document: kept columns, the fields that the
    settings name, `id` and `signature_settings`. In the documents `find_problem` finds nothing.
    """
    texts = [document.text for document in documents]
    keep_normal = bool(settings.fields & _OF_NORMAL_FORM)
    signed = sign.sign(texts, settings, keep_normal=keep_normal)
    columns = _write_columns(signed, settings)
    words = signed.words.tolist()
    fixed = {"signature_settings": settings.fingerprint}
    made = []
    forms = list(signed.normal)
    for at, document in enumerate(documents):
        normal = forms[at] if keep_normal else ""
        plain = _make_plain(document, normal, words[at], settings) | fixed
        terms = [column[at] for column in columns] if words[at] else []
        if "signature" in settings.fields:
            row = signed.signatures[at] if words[at] else b""
            terms.append(b',"signature":"' + base64.b64encode(row) + b'"')
        head = orjson.dumps(plain)[:-1]
        made.append((b"".join((head, *terms, b"}")), words[at]))
    return made


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
        fields["profile_hash"] = make_profile(normal, settings)
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
    """Write JSON arrays of "position and value" in hexadecimal, one for each row of `values`."""
    rows, positions = values.shape
    prefixes = [f'"{position:02x}'.encode() for position in range(positions)]
    width = max(map(len, prefixes))
    cells = np.empty((rows, positions, width + digits + 2), dtype=np.uint8)
    # A shorter prefix has blanks before it, which JSON allows there.
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
    """Write the shingles of each normal form as the inside of a JSON array: b'"one","two"'.

    Terms that Lucene would refuse are hashed by `normalize.indexable`.
    """
    if settings.kind not in IN_PLACE or not forms:
        return [_spell_form(form, settings) for form in forms]
    texts = pack(forms)
    # Each character begins at most one shingle, of that many words or characters.
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
