"""The JSON of documents for Solr, many at once, by compiled code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from neardup_solr.kernel import document_json, hold, shingle_hashes
from neardup_solr.minhash import sign
from neardup_solr.minhash.sign import IN_PLACE
from neardup_solr.records import Document
from neardup_solr.settings import Settings
from neardup_solr.text import normalize
from neardup_solr.text.json_list import JsonList
from neardup_solr.text.packed import SPARE, Packed, join_packed, pack, pack_bytes
from neardup_solr.text.profile import hash_profile
from neardup_solr.text.shingles import shingles

# What needs the normal form of a text, and not only its signature.
_OF_NORMAL_FORM = frozenset({"md5_hash", "first_word", "content_ng", "profile_hash"})
_NAMES = 256  # bytes that the names of all fields take, about
_ESCAPED = 6  # bytes that one becomes at most
_TERM = 24  # bytes of a band or a term, at most


@dataclass(frozen=True, slots=True)
class EncodedDocuments:
    """Documents as JSON, and the number of words of each (int64)."""

    jsons: JsonList
    words: NDArray[np.int64]


def encode_documents(documents: Sequence[Document], settings: Settings) -> JsonList:
    """Encode documents, as `encode_columns`."""
    ids, texts = ([getattr(each, name) for each in documents] for name in ("id", "text"))
    return encode_columns([ids], [texts], [each.kept for each in documents], settings).jsons


def encode_columns(
    ids: Sequence[Sequence[str]],
    texts: Sequence[Sequence[str]],
    kept: Sequence[Mapping[str, Any]],
    settings: Settings,
) -> EncodedDocuments:
    """Encode the JSON of documents for Solr.

    It is that of `make_entry` for the same document: kept columns, the fields that the settings
    name, `id` and `signature_settings`. In the documents `find_problem` finds nothing. Ids and
    texts come in parts; `kept` is empty, or has those of each.
    """
    fields = settings.fields
    signed = sign.sign_parts(texts, settings, keep_normal=bool(fields & _OF_NORMAL_FORM))
    count = len(signed.words)
    nothing = Packed(np.zeros(SPARE, np.uint8), np.zeros(count + 1, np.uint64))
    columns = [
        _encode_kept(kept, frozenset({"id", "signature_settings", *fields})) or nothing,
        _join(ids),
        _join(texts) if "content" in fields else nothing,
        signed.normal or nothing,
        _encode_profiles(signed.normal, settings) if "profile_hash" in fields else nothing,
        spell_shingles(signed.normal, settings) if "content_ng" in fields else nothing,
    ]
    layout = _make_layout(settings, settings.fingerprint)
    _, many_ids, many_texts, *_ = columns
    room = (
        sum(column.size for column in columns)
        + _ESCAPED * (many_ids.size + many_texts.size)
        + count * (_NAMES + len(layout.stamp) + 6 * settings.hashes)
        + count * _TERM * (settings.bands + layout.terms)
    )
    out, ends = np.empty(room + SPARE, np.uint8), np.empty(count, np.uint64)
    arrays = [array for column in columns for array in (column.data, column.bounds)]
    document_json.write_documents(
        *arrays, signed.words, signed.signatures, signed.keys, layout, out, ends
    )
    return EncodedDocuments(JsonList(out.data, ends.tolist()), signed.words)


def _join(parts: Sequence[Sequence[str]]) -> Packed:
    return join_packed([pack(part) for part in parts])


@cache
def _make_layout(settings: Settings, fingerprint: str) -> document_json.FieldLayout:
    """Lay out the fields of settings, which are equal if only the measure differs."""
    fields = settings.fields
    stamp = b',"signature_settings":' + orjson.dumps(fingerprint)
    layout = document_json.FieldLayout(
        has_text="content" in fields,
        has_md5="md5_hash" in fields,
        has_words="num_words" in fields,
        has_first="first_word" in fields,
        has_bands="content_bands" in fields,
        has_shingles="content_ng" in fields,
        has_signature="signature" in fields,
        terms=settings.signatures if "content_sg" in fields else 0,
        longest=np.uint64(normalize.MAX_TERM_BYTES),
        stamp=np.frombuffer(stamp, np.uint8).copy(),
    )
    return hold(layout)


def _encode_kept(kept: Sequence[Mapping[str, Any]], written: frozenset[str]) -> Packed | None:
    """Encode kept columns as members of an object, but those in whose place others are written."""
    if not any(kept):
        return None
    rest = [{name: row[name] for name in row if name not in written} for row in kept]
    return pack_bytes([orjson.dumps(row)[1:-1] + b"," if row else b"" for row in rest])


def _encode_profiles(forms: Sequence[str], settings: Settings) -> Packed:
    """Encode the text profiles as members of an object."""
    return pack([f',"profile_hash":"{make_profile(form, settings)}"' for form in forms])


def make_profile(normal: str, settings: Settings) -> str:
    """Hash the text profile of a normal form, as the settings say."""
    return hash_profile(
        normal,
        min_token_len=settings.profile_min_token_len,
        quant_rate=settings.profile_quant_rate,
    )


def spell_shingles(forms: Sequence[str], settings: Settings) -> Packed:
    """Write the shingles of each normal form as elements of a list: '"red","blue",'.

    Terms that Lucene would refuse are hashed by `normalize.indexable`.
    """
    if settings.kind not in IN_PLACE or not forms:
        return pack([_spell_form(form, settings) for form in forms])
    texts = pack(forms)
    # Each character begins at most a shingle, of that many words or characters.
    size = settings.shingle_size
    out = np.empty((size + 3) * len(texts.data) + SPARE, dtype=np.uint8)
    bounds = np.zeros(len(forms) + 1, dtype=np.uint64)
    longest = np.uint64(normalize.MAX_TERM_BYTES)
    by_characters = settings.kind == "chars"
    shingle_hashes.spell(
        texts.data, texts.bounds, by_characters, np.uint64(size), longest, out, bounds[1:]
    )
    spelled = Packed(out, bounds)
    # A form that is too long or empty has none.
    left = np.flatnonzero((np.diff(bounds) == 0) & (np.diff(texts.bounds) > 0)).tolist()
    if not left:
        return spelled
    pieces = list(spelled)
    for at in left:
        pieces[at] = _spell_form(forms[at], settings)
    return pack(pieces)


def _spell_form(form: str, settings: Settings) -> str:
    return "".join(f'"{normalize.indexable(piece)}",' for piece in shingles(form, settings))
