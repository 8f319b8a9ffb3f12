"""Two documents in detail: their texts, every measure, what they share, what finds them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from neardup_solr.arguments import MeasureName, Way
from neardup_solr.errors import SettingsError
from neardup_solr.measures import Limits, floor, measure_named
from neardup_solr.measures.aligned import Aligned, Frequencies, alignment, record_similarity
from neardup_solr.measures.words import WORDS, similarity, word_distance
from neardup_solr.minhash import make_entry, signature
from neardup_solr.minhash.signature import Signature
from neardup_solr.records import NOTHING, Document, Entry
from neardup_solr.settings import WORD_CAP, Settings
from neardup_solr.text import normalize
from neardup_solr.text.diff import Change, Words, changes, split
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

    `pieces` are its shingles, `words` the words of its text. If it is in a collection, `signature`
    and `terms` (by field) are those stored with it, and `stale` names the stored fields that do not
    match its text, which the `remedy` computes anew.
    """

    entry: Entry
    words: Words
    pieces: frozenset[str]
    signature: Signature = field(compare=False)  # arrays do not compare as one value
    terms: Mapping[str, frozenset[str]]
    stale: tuple[str, ...] = ()
    remedy: str = "index it again"

    @property
    def id(self) -> str:
        """The document's id."""
        return self.entry.id


def make_subject(
    document: Document, settings: Settings, *, stored: Mapping[str, Any] = NOTHING
) -> Subject:
    """Make a subject of a document, with the fields that a collection has `stored` of it.

    Raises RecordError if it cannot be indexed, SettingsError if its stored signature was made with
    other settings.
    """
    entry = make_entry(document, settings)
    known = signature.decode(stored.get("signature", entry.signature))
    if len(known) not in (0, settings.hashes):
        raise SettingsError(
            f"the stored signature of {document.id!r} has {len(known)} hashes,"
            f" and its settings say {settings.hashes}",
            "index the document again",
        )
    fresh = {name: terms_of(getattr(entry, place)) for name, place in STORED.items()}
    terms = fresh | {name: terms_of(value) for name, value in stored.items()}
    return Subject(
        entry=entry,
        words=split(document.text),
        pieces=frozenset(shingles(normalize.normalize(document.text), settings)),
        signature=known,
        terms=terms,
        stale=tuple(name for name in STORED if terms[name] != fresh[name]),
    )


def terms_of(value: str | Iterable[str]) -> frozenset[str]:
    """Return the terms of a field: one, several, or none if it is empty."""
    return frozenset([value] if isinstance(value, str) else value) - {""}


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Two documents by one measure: `similarity` in 0..1, `distance` in words if it has one.

    The true value of an estimate lies between `low` and `high` with 95 % confidence. `measure` is
    "words" (edits), "jaccard" (exact, of shingles), "containment" and "contained" (the share of the
    first one's shingles that the second has, and the reverse), "estimate" (Jaccard by signatures),
    or "aligned" (soft alignment of the words of short texts, if frequencies of words are known).
    """

    measure: str
    similarity: float
    distance: int | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One way in which a pair can become a candidate: the documents share `shared` of `of` terms.

    `name` is "duplicates" (by `Facts.by`) or a value of `by` for searches; `is_there`
    tells whether the collection has what that needs. `chance` is the probability that a pair of
    this Jaccard similarity shares a term, None if it does not depend on chance; `finds` tells
    whether the pair is found: a candidate, and within the limits.
    """

    name: str
    is_there: bool
    shared: int
    of: int
    chance: float | None
    finds: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Facts about a pair, with given settings and limits.

    `shared_bands` are numbers of bands, from 0; `alignment` says which words correspond, if that
    was measured.
    `measure` is the one that the limits bound, and `by` is how `duplicates` finds candidates: "all"
    if it compares every pair. For aligned, `shared_words` are the words of both, and common ones in
    a row, by which it pairs records: each with the number of documents that have it.
    """

    first: Subject
    second: Subject
    settings: Settings
    limits: Limits
    measures: tuple[Measured, ...]
    shared_bands: tuple[int, ...]
    alignment: tuple[Aligned, ...] = ()
    measure: MeasureName = "words"
    shared_words: Mapping[str, int] = field(default_factory=dict)
    by: Way = "bands"

    @property
    def is_exact(self) -> bool:
        """True if both have the same words in the same order."""
        return self.first.entry.md5_hash == self.second.entry.md5_hash

    @property
    def has_words(self) -> bool:
        """True if both have words. A text without words is similar to nothing."""
        return bool(self.first.entry.num_words and self.second.entry.num_words)

    @property
    def longest(self) -> int:
        """The number of words of the longer text."""
        return max(self.first.entry.num_words, self.second.entry.num_words)

    @property
    def allowed(self) -> int:
        """The distance in words that the limits allow for the longer text."""
        return WORDS.largest_distance(self.longest, self.limits)

    @property
    def shared_shingles(self) -> int:
        """The number of shingles that both have."""
        return len(self.first.pieces & self.second.pieces)

    @property
    def ways(self) -> tuple[Route, ...]:
        """The ways in which the two can become candidates, the preferred one first."""
        return tuple(_find_route(name, self) for name in WAYS)

    @property
    def distance(self) -> int:
        """Words inserted, deleted or replaced."""
        return self.measured("words").distance or 0

    @property
    def jaccard(self) -> float:
        """The Jaccard similarity of the two sets of shingles, exactly."""
        return self.measured("jaccard").similarity

    @property
    def least(self) -> float:
        """The smallest similarity that is within the limits."""
        return measure_named(self.measure).least(self.limits)

    @property
    def similarity(self) -> float:
        """The similarity by the measure that the limits bound."""
        if self.measure == "containment":
            return max(self.measured(name).similarity for name in ("containment", "contained"))
        return self.measured(self.measure).similarity

    @property
    def is_near(self) -> bool:
        """True if the pair is within the limits."""
        is_within = (
            self.distance <= self.allowed
            if self.measure == "words"
            else self.similarity >= floor(self.least)
        )
        return self.has_words and is_within

    @property
    def rare_words(self) -> tuple[str, ...]:
        """The shared words that few enough documents have to make the two candidates."""
        return tuple(word for word, count in self.shared_words.items() if count <= WORD_CAP)

    @property
    def differing_bands(self) -> tuple[int, ...]:
        """The numbers of the bands that the two do not share."""
        shared = set(self.shared_bands)
        return tuple(band for band in range(self.settings.bands) if band not in shared)

    @property
    def chance(self) -> float:
        """The probability that a pair of this Jaccard similarity shares a band."""
        return _chance_to_share(self.jaccard, self.settings.bands, self.settings.rows)

    @property
    def fresh_bands(self) -> tuple[int, ...]:
        """The bands that the two texts would share, if a stored signature is stale."""
        both = (self.first, self.second)
        if not any("signature" in each.stale for each in both):
            return ()
        one, other = (signature.decode(each.entry.signature) for each in both)
        return find_shared_bands(one, other, self.settings)

    @property
    def changes(self) -> list[Change]:
        """Changes from the words of the first text to those of the second."""
        return changes(self.first.words.forms, self.second.words.forms)

    def measured(self, name: str) -> Measured:
        """The pair by the measure of that name."""
        return next(each for each in self.measures if each.measure == name)


def gather_facts(
    first: Subject,
    second: Subject,
    settings: Settings,
    *,
    limits: Limits,
    frequencies: Frequencies | None = None,
    measure: MeasureName = "words",
    shared_words: Mapping[str, int] = NOTHING,
    by: Way = "bands",
) -> Facts:
    """Gather the facts about two documents: all measures, shared bands and terms, ways.

    Bands and the estimate are those of the subjects' signatures, stored or not; words are aligned
    by the `frequencies` of words in the collection, if those are given.
    """
    measures, rows = _measure_pair(first, second), list[Aligned]()
    if frequencies is not None:
        one, other = (" ".join(each.words.forms) for each in (first, second))
        rows = alignment(one, other, frequencies)
        measures.append(Measured(measure="aligned", similarity=record_similarity(rows)))
    return Facts(
        first=first,
        second=second,
        settings=settings,
        limits=limits,
        measures=tuple(measures),
        shared_bands=find_shared_bands(first.signature, second.signature, settings),
        alignment=tuple(rows),
        measure=measure,
        shared_words=shared_words,
        by=by,
    )


def find_shared_bands(first: Signature, second: Signature, settings: Settings) -> tuple[int, ...]:
    """Find the numbers of the bands, from 0, in which two signatures agree."""
    if not (len(first) and len(second)):
        return ()
    keys = signature.hash_bands(np.stack([first, second]), settings.bands, settings.rows)
    return tuple(np.flatnonzero(keys[0] == keys[1]).tolist())


def _measure_pair(first: Subject, second: Subject) -> list[Measured]:
    longest = max(first.entry.num_words, second.entry.num_words)
    distance = word_distance(first.words.forms, second.words.forms, at_most=longest) or 0
    one, other, shared = first.pieces, second.pieces, len(first.pieces & second.pieces)
    estimate = signature.estimate_jaccard(first.signature, second.signature)
    value, low, high = (float(each) for each in (estimate.value, estimate.low, estimate.high))
    shares = {"jaccard": len(one | other), "containment": len(one), "contained": len(other)}
    return [
        Measured(measure="words", similarity=similarity(distance, longest), distance=distance),
        *(Measured(measure=name, similarity=shared / (of or 1)) for name, of in shares.items()),
        Measured(measure="estimate", similarity=value, low=low, high=high),
    ]


# The ways to find candidates and the field that each needs, the preferred one first.
WAYS = {
    "duplicates": "signature",
    "bands": "content_bands",
    "shingles": "content_ng",
    "signatures": "content_sg",
    "profile": "profile_hash",
    "md5": "md5_hash",
}


def _find_route(name: str, found: Facts) -> Route:
    settings, one, other = found.settings, found.first.pieces, found.second.pieces
    if name == "duplicates":
        by, shared, of = {
            "all": ("all", int(found.has_words), 1),
            "words": ("words", len(found.rare_words), len(found.shared_words)),
            # misses none within the limits
            "shingles": ("shingles", found.shared_shingles, min(len(one), len(other))),
            "bands": ("bands", len(found.shared_bands), settings.bands),
        }[found.by]
    else:
        most = {"bands": settings.bands, "signatures": settings.signatures,
                "shingles": len(one | other)}  # fmt: skip
        by, shared, of = name, _count_shared_terms(found, WAYS[name]), most.get(name, 1)
    rows = {"bands": settings.rows, "signatures": 1}.get(by)
    is_there = WAYS[name] in settings.fields and (name != "signatures" or of > 0)
    return Route(
        name=name,
        is_there=is_there,
        shared=shared,
        of=of,
        chance=None if rows is None else _chance_to_share(found.jaccard, of, rows),
        finds=is_there and shared > 0 and found.is_near,
    )


def _count_shared_terms(found: Facts, field: str) -> int:
    """Count the terms that a search shares: it compares the terms of a text with stored ones."""
    if not found.has_words:
        return 0
    one, other = found.first, found.second
    return max(
        len(terms_of(getattr(asking.entry, STORED[field])) & stored.terms[field])
        for asking, stored in ((one, other), (other, one))
    )


def _chance_to_share(similarity: float, bands: int, rows: int) -> float:
    """Compute P(s) as earlier versions did: the last digits of `plans.curve` are others."""
    return float(1.0 - (1.0 - similarity**rows) ** bands)
