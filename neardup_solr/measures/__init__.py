"""Measures of the similarity of two texts: their table, and what all of them share.

| measure | similarity | for |
|---|---|---|
| words | 1 - word-level Levenshtein distance / words of the longer text | edited copies |
| jaccard | common shingles / all shingles of both | texts of any order |
| containment | common shingles / shingles of the shorter text | excerpts in longer texts |
| aligned | idf-weighted soft alignment of the words | short records, abbreviations, slips |
| records | that, halved if numbers differ | short records with numbers |
| estimate | Jaccard similarity as the signatures estimate it | if no text should be read |
| fields | probability of a match by fields | records of `duplicates` |

`words`, `aligned` and `fields` have files of their own, `sets` has the others; many pairs are
`arrays`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast, get_args

from neardup_solr.arguments import MeasureName, PairMeasure, StoredMeasure, Way, require_choice
from neardup_solr.errors import ArgumentError
from neardup_solr.records import NO_DISTANCE, Entry, Hit, Match, as_text, natural
from neardup_solr.settings import LONG_TEXT, Settings

if TYPE_CHECKING:
    from neardup_solr.measures.arrays import Compared, Frequencies, Measurements, Pairs

Prepared = Any  # texts as their measure compares them: hashes of words, rows of signatures, …
Prepare = Callable[[Sequence[str]], Prepared]

# The file of each measure, in which its name in capitals is it. Only files that are asked for load.
FILES: dict[PairMeasure, str] = {
    "words": "words", "jaccard": "sets", "containment": "sets", "aligned": "aligned",
    "records": "aligned", "estimate": "sets", "fields": "fields", "model": "model", "auto": "words",
}  # fmt: skip
AUTO = "auto"
CHOSEN = "are compared by `measure` {}; `measure` words counts edited words instead."
FEWEST = 20  # texts that tell which words are rare
NAMES: tuple[MeasureName, ...] = get_args(MeasureName)[1:]  # of texts, without "auto"
DEFAULT_SIMILARITY = 0.5
_ROUNDING = 1e-9


def floor(bound: float) -> float:
    """Find the smallest similarity that reaches a bound: a little less, as shares are rounded."""
    return bound - _ROUNDING


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of a near-duplicate: at most this distance, at least this similarity.

    `max_distance` counts words, `min_similarity` lies in 0..1; None is no limit, but if both are
    None the similarity has to be the default of the measure or more.

    Raises ArgumentError if a limit is out of range.
    """

    max_distance: int | None = None
    min_similarity: float | None = None

    def __post_init__(self) -> None:
        if self.max_distance is not None and self.max_distance < 0:
            reason = f"`max_distance` cannot be {self.max_distance}"
            raise ArgumentError(reason, "give 0 words or more")
        if self.min_similarity is not None and not 0.0 <= self.min_similarity <= 1.0:
            given = self.min_similarity
            per_cent = 2 <= given <= 100
            step = f"for {given:g} % give {given / 100:g}" if per_cent else "give one from 0 to 1"
            raise ArgumentError(f"`min_similarity` cannot be {given:g}", step)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A measure of similarity: what it needs, asks for by default, and how it compares texts.

    `default` is the similarity that it asks for if no limits are given, `compared_field` names the
    field of a document that it compares: normal forms of the content, or encoded signatures.

    `prepare` gives the function that prepares texts, each once; `compare` compares many pairs of
    prepared texts, `compare_one` one normal form with some texts; None if `compare` is as quick.
    `way` is the way to find candidates among many documents; `counts_shingles` tells whether they
    can be found by "shingles": texts that are near share that part of the shingles of one of them.
    `fields` are compared beside the texts, as `add_values` joins them.
    """

    name: str
    prepare: Callable[[Comparer], Prepare]
    compare: Callable[[Prepared, Pairs, Comparer], Measurements]
    compare_one: Callable[[str, Sequence[str], Comparer], list[tuple[int, float]]] | None = None
    default: float = DEFAULT_SIMILARITY
    compared_field: str = "content"
    has_distance: bool = False
    needs_frequencies: bool = False
    counts_shingles: bool = False
    way: Way = "bands"
    fields: tuple[str, ...] = ()

    @property
    def needs_texts(self) -> bool:
        """True if the measure compares texts."""
        return self.compared_field == "content"

    @property
    def stored_fields(self) -> tuple[str, ...]:
        """The fields of a document that are compared."""
        return (self.compared_field, *self.fields)

    def least(self, limits: Limits) -> float:
        """Compute the smallest similarity that is within the limits."""
        if limits.min_similarity is not None:
            return limits.min_similarity
        return self.default if limits.max_distance is None else 0.0

    def add_values(self, forms: Iterable[str], rows: Iterable[Mapping[str, object]]) -> list[str]:
        """Join each normal form with the values of the `fields` of its document, if there are any.

        As JSON, which is equal for values that mean the same.
        """
        if not self.fields:
            return list(forms)
        return [
            json.dumps([form, *(as_text(row.get(name)) for name in self.fields)])
            for form, row in zip(forms, rows, strict=True)
        ]

    def largest_distance(self, longest: int, limits: Limits) -> int:
        """Find the largest distance in words that is within the limits, for a text of `longest`."""
        by_similarity = int((1.0 - floor(self.least(limits))) * longest)
        most = limits.max_distance
        return by_similarity if most is None else min(by_similarity, most)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparer:
    """Compares documents by a measure, within limits.

    `settings` shape the shingles and signatures, `frequencies` weigh the words of aligned (None:
    those of the texts that are compared); the work is done by `threads` threads.
    """

    measure: Measure
    limits: Limits = field(default_factory=Limits)
    settings: Settings = field(default_factory=Settings)
    frequencies: Frequencies | None = None
    threads: int = 1

    @property
    def least(self) -> float:
        """The smallest similarity that is within the limits."""
        return self.measure.least(self.limits)

    def may_be_near(self, words: int, other_words: int | None) -> bool:
        """Return True for texts whose numbers of words, if known, can be within the limits.

        The distance by words is at least the difference of these numbers.
        """
        if not self.measure.has_distance or other_words is None:
            return True
        longest = max(words, other_words)
        return abs(words - other_words) <= self.measure.largest_distance(longest, self.limits)

    def prepare(self) -> Prepare:
        """Make the function that prepares texts for comparing, for one thread at a time."""
        return self.measure.prepare(self)

    def compare(self, prepared: Prepared, pairs: Pairs) -> Compared:
        """Compare pairs of prepared texts. `pairs` (pairs, 2) has their numbers."""
        from neardup_solr.measures.arrays import within

        return within(self.measure.compare(prepared, pairs, self), floor(self.least))

    def compare_texts(self, texts: Sequence[str], pairs: Pairs) -> Compared:
        """Compare pairs of texts, which are normal forms, or of encoded signatures.

        Raises SettingsError if a signature is not one of these settings.
        """
        return self.compare(self.prepare()(texts), pairs)

    def make_forms(self, rows: Sequence[Mapping[str, Any]]) -> list[str]:
        """Make what documents are compared by, from stored fields; "" if there is no content."""
        measure = self.measure
        contents = [str(row.get(measure.compared_field) or "") for row in rows]
        if not measure.needs_texts:
            return contents
        from neardup_solr.minhash import sign

        forms = sign.normal_forms(contents, self.settings.normalization)
        joined = measure.add_values(forms, rows)
        return [form and own for form, own in zip(forms, joined, strict=True)]

    def compare_one(self, form: str, texts: Sequence[str]) -> list[tuple[int, float, bool]]:
        """Compare one normal form with each of some texts, or one encoded signature with others.

        The distance, the similarity and whether it is near, for each, as `compare_texts` gives
        them.
        """
        measure, least = self.measure, floor(self.least)
        if measure.compare_one is not None:
            return [
                (distance, similarity, similarity >= least and distance != NO_DISTANCE)
                for distance, similarity in measure.compare_one(form, texts, self)
            ]
        from neardup_solr.measures.arrays import first_with_each
        from neardup_solr.minhash import sign

        others = texts
        if measure.needs_texts:
            others = sign.normal_forms(texts, self.settings.normalization)
        found = self.compare_texts([form, *others], first_with_each(len(others)))
        return list(zip(*(column.tolist() for column in found), strict=True))


def measure_named(name: str | Measure) -> Measure:
    """Load the measure of a name, or return a measure. Raises ArgumentError if there is none."""
    return name if isinstance(name, Measure) else _load_measure(name)


@cache
def _load_measure(name: str) -> Measure:
    require_choice("measure", name, tuple(FILES))
    file = import_module(f"neardup_solr.measures.{FILES[cast(PairMeasure, name)]}")
    return cast(Measure, getattr(file, name.upper()))


def measure_of(name: str | Measure, limits: Limits) -> Measure:
    """Load a measure, as `measure_named`. Raises ArgumentError if the limits do not fit it."""
    found = measure_named(name)
    if limits.max_distance is not None and not found.has_distance:
        given = f"`max_distance` cannot be {limits.max_distance}"
        reason = f"the measure {found.name} has no distance, so {given}"
        raise ArgumentError(reason, "give `min_similarity` instead, or the `measure` words")
    return found


def choose_measure(settings: Settings, words: Sequence[int]) -> tuple[StoredMeasure, str]:
    """Choose what "auto" is for texts of so many words each, and say why if it is not words.

    It is records if half of the texts are short; a few do not tell which words are rare. Texts
    whose shingles are made of characters are compared by these.
    """
    if settings.kind == "chars":
        return "jaccard", f"Shingles of characters {CHOSEN.format('jaccard')}"
    median = sorted(words)[len(words) // 2] if words else 0
    if len(words) < FEWEST or median > LONG_TEXT:
        return "words", ""
    return "records", f"Short texts ({median} words by the median) {CHOSEN.format('records')}"


def read_measure(settings: Settings) -> tuple[StoredMeasure, str]:
    """Read what "auto" is in a collection of these settings, and say so if it is not words."""
    measure = settings.measure or "words"
    return measure, "" if measure == "words" else f"Its texts {CHOSEN.format(measure)}"


def rerank(
    entry: Entry,
    hits: Iterable[Hit],
    known: Mapping[str, str],
    comparer: Comparer,
) -> list[Match]:
    """Order hits within the limits: most similar first, then by more shared terms, then by id.

    `known` holds by id what is compared: the hits' texts, or for the estimate their encoded
    signatures (matches then have no content); a hit without one was deleted meanwhile and is no
    match. By words, the distance decides which is the most similar. A hit of equal MD5 counts as
    the same text.

    Raises SettingsError if a signature is not one of these settings.
    """
    there = [hit for hit in hits if hit.id in known]
    if not there:
        return []
    needs_texts = comparer.measure.needs_texts
    own = entry.normal if needs_texts else entry.signature
    same = entry.md5_hash if needs_texts else None
    others = [own if hit.md5_hash == same else known[hit.id] for hit in there]
    found = comparer.compare_one(own, others)
    matches = (
        Match(
            id=hit.id,
            distance=distance if comparer.measure.has_distance else None,
            similarity=similarity,
            shared=hit.shared,
            content=known[hit.id] if needs_texts else "",
        )
        for hit, (distance, similarity, is_near) in zip(there, found, strict=True)
        if is_near
    )
    return sorted(matches, key=nearness)


def nearness(match: Match) -> tuple[float, int, tuple[int, int, str]]:
    """Make the sort key of a match: the most similar come first."""
    apart = -match.similarity if match.distance is None else match.distance
    return (apart, -match.shared, natural(match.id))
