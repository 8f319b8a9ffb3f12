"""A document that is looked at closely: its text, what is made of it, and what is stored of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from neardup_solr.pure.config import Settings
from neardup_solr.pure.errors import SettingsError
from neardup_solr.pure.model import NOTHING, Document, Entry
from neardup_solr.pure.signatures import signature
from neardup_solr.pure.signatures.signature import Signature
from neardup_solr.pure.text import normalize
from neardup_solr.pure.text.diff import Words, split
from neardup_solr.pure.text.shingles import shingles

# What of a document is looked at in a collection, beside its text, and its place in an entry.
STORED = {
    "signature": "signature",
    "content_bands": "bands",
    "content_sg": "signatures",
    "content_ng": "shingles",
    "md5_hash": "md5_hash",
    "profile_hash": "profile_hash",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One of two documents: its entry as indexing would make it now, and its signature.

    `pieces` are its shingles; `words` those of its text. `signature` and `terms` (by field) are
    those that are stored with it, where it is in a collection; `stale` names the stored fields
    that are not those of its text.
    """

    entry: Entry
    words: Words
    pieces: frozenset[str]
    signature: Signature
    terms: Mapping[str, frozenset[str]]
    stale: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The document's id."""
        return self.entry.id


def subject(
    document: Document, settings: Settings, *, stored: Mapping[str, Any] = NOTHING
) -> Subject:
    """A document as indexing would make it, beside what a collection has `stored` of it.

    Raises RecordError where it cannot be indexed, SettingsError where its stored signature is
    none of these settings.
    """
    entry = signature.entry(document, settings)
    kept = signature.decode(stored.get("signature", entry.signature))
    if len(kept) not in (0, settings.hashes):
        raise SettingsError(
            f"the stored signature of {document.id!r} has {len(kept)} hashes,"
            f" and its settings say {settings.hashes}",
            "index the document again",
        )
    fresh = {name: terms_of(getattr(entry, place)) for name, place in STORED.items()}
    terms = fresh | {name: terms_of(value) for name, value in stored.items()}
    return Subject(
        entry=entry,
        words=split(document.text),
        pieces=frozenset(shingles(normalize.normalize(document.text), settings)),
        signature=kept,
        terms=terms,
        stale=tuple(name for name in STORED if terms[name] != fresh[name]),
    )


def terms_of(value: str | Iterable[str]) -> frozenset[str]:
    """A field's terms: one, several, or none where it is empty."""
    return frozenset([value] if isinstance(value, str) else value) - {""}
