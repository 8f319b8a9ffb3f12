"""Facts about a pair: its similarities, what the two share, and the ways to find them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup_solr import measures
from neardup_solr.argument_types import PairMeasure, Way
from neardup_solr.candidates.passages import list_passages
from neardup_solr.measures import Limits, floor, measure_named
from neardup_solr.measures.aligned import ALIGNED, NUMBERS
from neardup_solr.measures.alignment import Aligned, alignment, compare_records
from neardup_solr.measures.edited_words import WORDS, similarity
from neardup_solr.measures.equality import ANYTHING, Equality
from neardup_solr.measures.frequencies import Frequencies
from neardup_solr.measures.pairs import first_with_each
from neardup_solr.minhash import sign, signature
from neardup_solr.records import Passage
from neardup_solr.reports.pair import PairTable, Record, Row
from neardup_solr.settings import WORD_CAP, Settings
from neardup_solr.text.diff import LONG, MOST_COMPARED, Change, changes, changes_in_parts
from neardup_solr.verbs.criteria import WAYS

if TYPE_CHECKING:
    from neardup_solr.measures.columns import FieldKind
    from neardup_solr.measures.weights import Evidence

from neardup_solr.verbs.explain.subject import Subject

# The ways to search for candidates, the preferred one first.
SEARCHES = {"bands": WAYS["bands"], **WAYS}
FOUND, MISSED, BEYOND, APART = "found", "missed", "beyond the limits", "apart"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Two documents by one measure: `similarity` in 0..1, `distance` in words if it has one.

    The true value of an estimate lies between `low` and `high` with 95 % confidence. `measure` is
    "words" (edits), "jaccard" (exact, of shingles), "containment" and "contained" (the share of the
    first one's shingles that the second has, and the reverse), "estimate" (Jaccard by signatures),
    "aligned" (soft alignment of the words of short texts, if frequencies of words are known),
    "records" (the same, halved if numbers differ), or
    "fields" (the probability that the two are the same, if fields are compared).
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


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Facts about a pair, with given settings and limits.

    `measure` is the one that the limits bound, and `by` is how `duplicates` finds candidates: "all"
    if it compares every pair. For aligned, `shared_words` are the words of both, and common ones in
    a row, by which it pairs records: each with the number of documents that have it; `frequencies`
    are those of all words, None if the texts are too long for an alignment. Bands and the estimate
    are those of the subjects' signatures, stored or not. If fields are compared, `evidence` is what
    each adds to the odds, as learnt from so many `candidates`, and `probability` that of a match.
    What `equality` asks for has to be equal in both texts; they are `unequal` in these fields of
    `same`, and `answer` says that they are the same or different. `records` have the values of the
    fields, whose kinds are `kinds`; without these, `texts` are the columns of the text. `documents`
    are all that there are, 0 if unknown; they are in a collection if the pair `is_stored`.
    """

    first: Subject
    second: Subject
    settings: Settings
    limits: Limits
    frequencies: Frequencies | None = None
    measure: PairMeasure = "words"
    shared_words: Mapping[str, int] = field(default_factory=dict)
    by: Way = "bands"
    evidence: tuple[Evidence, ...] = ()
    candidates: int = 0
    probability: float = 0.0
    equality: Equality = ANYTHING
    unequal: tuple[str, ...] = ()
    answer: str = ""
    kinds: Mapping[str, FieldKind] = field(default_factory=dict)
    texts: Sequence[str] = ()
    records: Sequence[Record] = ()
    documents: int = 0
    is_stored: bool = False

    @property
    def both(self) -> tuple[Subject, Subject]:
        """The two documents."""
        return self.first, self.second

    @property
    def is_exact(self) -> bool:
        """True if both have the same words in the same order."""
        return self.first.entry.md5_hash == self.second.entry.md5_hash

    @property
    def has_words(self) -> bool:
        """True if both have words. A text without words is similar to nothing."""
        return all(each.entry.num_words for each in self.both)

    @property
    def longest(self) -> int:
        """The number of words of the longer text."""
        return max(each.entry.num_words for each in self.both)

    @property
    def allowed(self) -> int:
        """The distance in words that the limits allow for the longer text."""
        return WORDS.largest_distance(self.longest, self.limits)

    @property
    def shared_shingles(self) -> int:
        """The number of shingles that both have."""
        return len(self.first.pieces & self.second.pieces)

    @cached_property
    def alignment(self) -> tuple[Aligned, ...] | None:
        """The words that correspond, None if that was not measured."""
        if self.frequencies is None:
            return None
        first, second = self.aligned
        return tuple(alignment(first, second, self.frequencies))

    @cached_property
    def aligned(self) -> Sequence[str]:
        """The normal forms of both, as they are aligned."""
        named = measures.measure_named(self.measure)
        measure = named if named.needs_frequencies else ALIGNED
        contents = [each.entry.content for each in self.both]
        return measure.normalize(contents, self.settings.normalization)

    @cached_property
    def measures(self) -> tuple[Measured, ...]:
        """The pair by every measure."""
        (first, second), shared = (each.pieces for each in self.both), self.shared_shingles
        forms = [each.entry.normal for each in self.both]
        edited = measures.Comparer(measure=WORDS, limits=Limits(max_distance=self.longest))
        pair = first_with_each(1)
        distance = int(edited.compare_texts(forms, pair).distances[0])
        estimate = signature.estimate_jaccard(self.first.signature, self.second.signature)
        value, low, high = (float(each) for each in (estimate.value, estimate.low, estimate.high))
        similarities = {
            "words": similarity(distance, self.longest),
            "jaccard": shared / (len(first | second) or 1),
            "containment": shared / (len(first) or 1),
            "contained": shared / (len(second) or 1),
            "estimate": value,
        }
        if self.frequencies is not None:
            similarities["aligned"], by_numbers = (
                compare_records(self.aligned, pair, self.frequencies, numbers=numbers).item()
                for numbers in (0.0, NUMBERS)
            )
            if self.measure == "records" or by_numbers < similarities["aligned"]:
                similarities["records"] = by_numbers
        if self.evidence:
            similarities[self.measure] = self.probability
        more: dict[str, dict[str, Any]] = {
            "words": {"distance": distance}, "estimate": {"low": low, "high": high},
        }  # fmt: skip
        return tuple(
            Measured(measure=name, similarity=similarity, **more.get(name, {}))
            for name, similarity in similarities.items()
        )

    @cached_property
    def shared_bands(self) -> tuple[int, ...]:
        """The numbers of the bands that the two share, from 0."""
        return find_shared_bands(self.first.signature, self.second.signature, self.settings)

    @property
    def differing_bands(self) -> tuple[int, ...]:
        """The numbers of the bands that the two do not share."""
        return tuple(sorted({*range(self.settings.bands)}.difference(self.shared_bands)))

    @property
    def fresh_bands(self) -> tuple[int, ...]:
        """The bands that the two texts would share, if a stored signature is stale."""
        if not any("signature" in each.stale for each in self.both):
            return ()
        first, second = (signature.decode(each.entry.signature) for each in self.both)
        return find_shared_bands(first, second, self.settings)

    @cached_property
    def ways(self) -> tuple[Route, ...]:
        """The ways in which the two can become candidates, the preferred one first."""
        settings, first, second = self.settings, self.first.pieces, self.second.pieces
        most = {"bands": settings.bands, "signatures": settings.signatures,
                "shingles": len(first | second)}  # fmt: skip
        terms = {  # that are shared, by `duplicates`
            "all": (int(self.has_words), 1),
            "words": (len(self.rare_words), len(self.shared_words)),
            # misses none within the limits
            "shingles": (self.shared_shingles, min(len(first), len(second))),
            "bands": (len(self.shared_bands), settings.bands),
        }
        return (
            self._make_route("duplicates", self.by, "signature", *terms[self.by]),
            *(
                self._make_route(way, way, field, self._count_shared_terms(field), most.get(way, 1))
                for way, (field, _) in SEARCHES.items()
            ),
        )

    def _make_route(self, name: str, by: str, place: str, shared: int, of: int) -> Route:
        rows = {"bands": self.settings.rows, "signatures": 1}.get(by)
        is_there = place in self.settings.fields and (name != "signatures" or of > 0)
        return Route(
            name=name,
            is_there=is_there,
            shared=shared,
            of=of,
            chance=None if rows is None else _chance_to_share(self.jaccard, of, rows),
            finds=is_there and shared > 0 and self.is_near,
        )

    def _count_shared_terms(self, place: str) -> int:
        """Count the terms that a search shares: those of a text with the stored ones."""
        sides = zip(self.both, self.both[::-1], strict=True)
        counts = [len(text.fresh[place] & stored.terms[place]) for text, stored in sides]
        return max(counts) if self.has_words else 0

    @property
    def distance(self) -> int:
        """Words inserted, deleted or replaced."""
        return self.measured("words").distance or 0

    @property
    def jaccard(self) -> float:
        """The Jaccard similarity of the two sets of shingles, exactly."""
        return self.measured("jaccard").similarity

    @property
    def containment(self) -> float:
        """The share of the shingles of one text that are in the other, the larger of both."""
        return max(self.measured(name).similarity for name in ("containment", "contained"))

    @property
    def least(self) -> float:
        """The smallest similarity that is within the limits."""
        return measure_named(self.measure).least(self.limits)

    @property
    def similarity(self) -> float:
        """The similarity by the measure that the limits bound."""
        if self.measure == "containment":
            return self.containment
        return self.measured(self.measure).similarity

    @cached_property
    def difference(self) -> str:
        """The part that has to be equal and is not, "" if all is."""
        return self.equality.describe(*(each.entry.content for each in self.both))

    @property
    def is_near(self) -> bool:
        """True if the pair is within the limits, and equal in what has to be."""
        return self.is_within and not self.difference

    @property
    def is_within(self) -> bool:
        """True if the pair is within the limits."""
        if self.measure == "words":
            return self.has_words and self.distance <= self.allowed
        return self.has_words and self.similarity >= floor(self.least)

    @property
    def rare_words(self) -> tuple[str, ...]:
        """The shared words that few enough documents have to make the two candidates."""
        return tuple(word for word, count in self.shared_words.items() if count <= WORD_CAP)

    @property
    def chance(self) -> float:
        """The probability that a pair of this Jaccard similarity shares a band."""
        return _chance_to_share(self.jaccard, self.settings.bands, self.settings.rows)

    @property
    def changes(self) -> list[Change]:
        """Changes from the words of the first text to those of the second.

        Those of very long texts are not always the fewest.
        """
        compute = changes_in_parts if self.longest > MOST_COMPARED else changes
        return compute(self.first.words.forms, self.second.words.forms)

    @cached_property
    def table(self) -> PairTable:
        """The maker of the table of the pair."""
        needs_frequencies = measure_named(self.measure).needs_frequencies
        frequencies = self.frequencies if needs_frequencies else None
        return PairTable(
            measure=self.measure, least=self.least, kinds=self.kinds, texts=self.texts,
            frequencies=frequencies, settings=self.settings,
        )  # fmt: skip

    @cached_property
    def passages(self) -> list[Passage]:
        """The passages of 20 words or more that both texts have, with their texts."""
        contents = [each.entry.content for each in self.both]
        return list_passages([each.id for each in self.both], contents, has_texts=True)

    @property
    def has_passages(self) -> bool:
        """True if passages say more than all changes: of long texts, or of parts of any texts."""
        if self.is_record or not self.passages:
            return False
        is_edition = self.passages[0].relation in ("copy", "edited")
        return not is_edition or min(each.entry.num_words for each in self.both) > LONG

    @cached_property
    def is_record(self) -> bool:
        """True if the pair is shown field by field."""
        return all(self.values)

    @cached_property
    def values(self) -> Sequence[Record]:
        """The values of both by field, empty if a text is no record."""
        return self.records or [self.table.split(each.entry.content) or {} for each in self.both]

    @cached_property
    def rows(self) -> list[Row]:
        """The table of the pair, field by field, or both texts without any fields."""
        if self.is_record:
            return [*self.table.list_rows(self.values, self.evidence, self.similarity)]
        return [self.table.compare("", self.first.words, self.second.words)]

    def measured(self, name: str) -> Measured:
        """Return the pair by the measure of that name."""
        return next(each for each in self.measures if each.measure == name)


def find_shared_bands(
    first: sign.Signature, second: sign.Signature, settings: Settings
) -> tuple[int, ...]:
    """Find the numbers of the bands, from 0, in which two signatures agree."""
    if not (len(first) and len(second)):
        return ()
    keys = sign.hash_bands(np.stack([first, second]), settings.bands, settings.rows)
    return tuple(np.flatnonzero(keys[0] == keys[1]).tolist())


def _chance_to_share(similarity: float, bands: int, rows: int) -> float:
    """Compute P(s) as earlier versions did: the last digits of `plans.curve` are others."""
    return float(1.0 - (1.0 - similarity**rows) ** bands)
