"""Entries, which are indexed for documents: as records, or as the JSON of many at once.

The room also has signatures, of many texts at once, and the bands that a demand needs.
"""

from __future__ import annotations

from neardup_solr.minhash import sign, signature
from neardup_solr.minhash.solr_json import encode_documents as encode_documents
from neardup_solr.minhash.solr_json import make_profile
from neardup_solr.records import Document, Entry, make_refusal
from neardup_solr.settings import Settings
from neardup_solr.text import normalize
from neardup_solr.text.shingles import shingles


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
        profile_hash=make_profile(normal, settings) if "profile_hash" in settings.fields else "",
        kept=document.kept,
    )
