"""One of the two documents that `explain` compares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from neardup_solr.errors import SettingsError
from neardup_solr.minhash import make_entry, sign, signature
from neardup_solr.records import NOTHING, Document, Entry
from neardup_solr.settings import Settings
from neardup_solr.text.diff import Words, split
from neardup_solr.text.shingles import shingles

# The stored fields of a document, besides its text, and their names in an entry.
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

    `pieces` are its shingles, `words` the words of its text, `fresh` its terms by field. If it is
    in a collection, `signature` and `terms` are those stored with it; what does not match its text,
    the `remedy` computes anew.
    """

    entry: Entry
    words: Words
    pieces: frozenset[str]
    signature: sign.Signature = field(compare=False)  # arrays do not compare as one value
    fresh: Mapping[str, frozenset[str]]
    terms: Mapping[str, frozenset[str]]
    remedy: str = "index it again"

    @property
    def id(self) -> str:
        """The document's id."""
        return self.entry.id

    @property
    def stale(self) -> tuple[str, ...]:
        """The stored fields that do not match the text."""
        return tuple(name for name in STORED if self.terms[name] != self.fresh[name])


def make_subject(
    document: Document, settings: Settings, *, stored: Mapping[str, Any] = NOTHING
) -> Subject:
    """Make a subject of a document, with the fields that a collection has `stored` of it.

    Raises RecordError if it cannot be indexed, SettingsError if its stored signature was made with
    other settings.
    """
    entry = make_entry(document, settings)
    hashes = signature.decode(stored.get("signature", entry.signature))
    if len(hashes) not in (0, settings.hashes):
        stale = f"the stored signature of {document.id!r} has {len(hashes)} hashes"
        reason = f"{stale}, but the settings specify {settings.hashes}"
        raise SettingsError(reason, "index the document again", code="signature-invalid")
    fresh = {name: _terms_of(getattr(entry, place)) for name, place in STORED.items()}
    return Subject(
        entry=entry,
        words=split(document.text),
        pieces=frozenset(shingles(entry.normal, settings)),
        signature=hashes,
        fresh=fresh,
        terms=fresh | {name: _terms_of(value) for name, value in stored.items()},
    )


def _terms_of(value: str | Iterable[str]) -> frozenset[str]:
    """Return the terms of a field: one, several, or none if it is empty."""
    return frozenset([value] if isinstance(value, str) else value) - {""}
