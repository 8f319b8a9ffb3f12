"""Entries, which are indexed for documents.

The room also has signatures, of many texts at once, their JSON, and the bands that a demand needs.
"""

from __future__ import annotations

from neardup_solr.records import Document, Entry, make_refusal
from neardup_solr.settings import Settings
from neardup_solr.text import normalize
from neardup_solr.text.shingles import hash_profile, shingles


def make_entry(document: Document, settings: Settings, *, is_signed: bool = True) -> Entry:
    """Compute the entry of one document under these settings.

    Terms of fields that the settings leave out are not made: `shingles`, `signatures` and
    `profile_hash` are empty then. So are `signatures`, `bands` and `signature` without `is_signed`.

    Raises RecordError if the id is impossible or the text holds a lone surrogate.
    """
    if (error := make_refusal(document)) is not None:
        raise error
    chosen = settings.fields
    normal = None if is_signed else normalize.normalize(document.text, settings.normalization)
    keys, terms, encoded = tuple[str, ...](), tuple[str, ...](), ""
    if normal is None:
        from neardup_solr.minhash import sign, signature

        signed = sign.sign([document.text], settings, keep_normal=True)
        (normal,) = signed.normal
        if normal:
            (keys,) = signature.format_band_keys(signed.keys)
            if "content_sg" in chosen:
                terms = signature.make_signature_terms(signed.signatures[0], settings)
            encoded = signature.encode(signed.signatures[0])
    pieces = shingles(normal, settings) if "content_ng" in chosen else ()
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
        profile_hash=make_profile(normal, settings),
        kept=document.kept,
    )


def make_profile(normal: str, settings: Settings) -> str:
    """Hash the profile of a normal form under these settings, "" if they leave it out."""
    if "profile_hash" not in settings.fields:
        return ""
    return hash_profile(
        normal,
        min_token_len=settings.profile_min_token_len,
        quant_rate=settings.profile_quant_rate,
    )
