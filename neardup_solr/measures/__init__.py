"""Measures of the similarity of two texts: their table, and what all of them share.

| measure | similarity | for |
|---|---|---|
| words | 1 - word-level Levenshtein distance / words of the longer text | edited copies |
| jaccard | common shingles / all shingles of both | texts of any order |
| containment | common shingles / shingles of the shorter text | excerpts in longer texts |
| passages | letters of the shorter text in passages of both, less edits | excerpts, scanned texts |
| aligned | idf-weighted soft alignment of the words | short records, abbreviations, slips |
| records | that, halved if numbers differ | short records with numbers |
| estimate | Jaccard similarity as the signatures estimate it | if no text should be read |
| fields | probability of a match by fields | records of `duplicates` |

`aligned`, `fields` and `model` have files of their own, `sets` has the others.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple, cast, get_args

import numpy as np
from numpy.typing import NDArray

from neardup_solr import checks
from neardup_solr.argument_types import MeasureName, PairMeasure, Way
from neardup_solr.errors import ArgumentError
from neardup_solr.measures.frequencies import Frequencies
from neardup_solr.measures.pairs import Pairs, first_with_each
from neardup_solr.records import NO_DISTANCE, as_text
from neardup_solr.settings import Settings
from neardup_solr.text.numbers import join_numbers

Prepared = Any  # texts as their measure compares them: hashes of words, rows of signatures, …
Distances = NDArray[np.int64]
Similarities = NDArray[np.float64]
# The file of each measure, which is its name in capitals there. Files load when they are needed.
FILES: dict[PairMeasure, str] = {
    "words": "edited_words", "jaccard": "sets", "containment": "sets", "passages": "passage_share",
    "aligned": "aligned",
    "records": "aligned", "estimate": "sets", "fields": "fields", "model": "model",
    "auto": "edited_words",
}  # fmt: skip
AUTO = "auto"
NAMES: tuple[MeasureName, ...] = get_args(MeasureName)[1:]  # of texts, without "auto"
BY_PROBABILITY = ("fields", "model")  # measures whose similarity is a probability
DEFAULT_SIMILARITY = 0.5
_ROUNDING = 1e-9


def floor(bound: float) -> float:
    """Find the smallest similarity that reaches a bound: a little less, as shares are rounded."""
    return bound - _ROUNDING


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of a near-duplicate: at most this distance, at least this similarity.

    `max_distance` counts words, `min_similarity` lies in 0..1; None is no limit, but if both are
    None the similarity has to be the default threshold of the measure or more.

    Raises ArgumentError if a limit is out of range.
    """

    max_distance: int | None = None
    min_similarity: float | None = None

    def __post_init__(self) -> None:
        if self.max_distance is not None and self.max_distance < 0:
            reason, step = f"`max_distance` cannot be {self.max_distance}", "give 0 words or more"
            raise ArgumentError(reason, step, code="argument-out-of-range")
        if self.min_similarity is not None and not 0.0 <= self.min_similarity <= 1.0:
            least = self.min_similarity
            is_percent = 2 <= least <= 100
            step = f"for {least:g} % give {least / 100:g}" if is_percent else "give 0 to 1"
            reason = f"`min_similarity` cannot be {least:g}"
            raise ArgumentError(reason, step, code="argument-out-of-range")


class Flat(NamedTuple):
    """Values of many texts in a row: t has values[bounds[t]:bounds[t + 1]].

    `values` are hashes of words or shingles (uint64), or the bytes of normal forms in UTF-8.
    """

    values: NDArray[Any]
    bounds: NDArray[np.int64]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of values of each text."""
        return np.diff(self.bounds)

    def lengths_of(self, texts: NDArray[np.uint32]) -> NDArray[np.int64]:
        """Count the values of these texts, which may be few of many, in their shape."""
        lengths: NDArray[np.int64] = self.bounds[1:][texts] - self.bounds[texts]
        return lengths


class Measurements(NamedTuple):
    """Measurements of a measure for pairs, of shape (pairs,) each.

    `distances` count words and are NO_DISTANCE beyond the limits; None if the measure has none.
    """

    similarities: Similarities
    distances: Distances | None = None


class Compared(NamedTuple):
    """Pairs that were compared, of shape (pairs,) each. `is_near` tells who is within the limits.

    Distances are NO_DISTANCE if the measure has none. If a pair is beyond the limits, its distance
    and similarity are of no use.
    """

    distances: Distances
    similarities: Similarities
    is_near: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A measure of similarity: what it needs, asks for by default, and how it compares texts.

    `default` is the similarity that it requires without limits, `compared_field` names the
    field of a document that it compares: normal forms of the content, or encoded signatures.

    `prepare` prepares texts, each once, `compare` compares many pairs of prepared texts. `way` is
    the way to find candidates among many documents; `counts_shingles` tells whether they can be
    found by "shingles": texts that are near share that part of the shingles of either. If it
    `joins_numbers`, texts are compared as `join_numbers` writes them. `fields` are
    compared beside the texts, as `add_values` joins them.
    """

    name: str
    prepare: Callable[[Sequence[str], Comparer], Prepared]
    compare: Callable[[Prepared, Pairs, Comparer], Measurements]
    default: float = DEFAULT_SIMILARITY
    compared_field: str = "content"
    has_distance: bool = False
    needs_frequencies: bool = False
    joins_numbers: bool = False
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

    def normalize(
        self, texts: Sequence[str], normalization: int, threads: int = 1
    ) -> Sequence[str]:
        """Make the normal forms of texts as they are compared."""
        from neardup_solr.minhash import sign

        if self.joins_numbers:
            texts = list(map(join_numbers, texts))
        return sign.normal_forms(texts, normalization, threads=threads)

    def add_values(self, forms: Iterable[str], rows: Iterable[Mapping[str, object]]) -> list[str]:
        """Join each normal form with the values of the `fields` of its document.

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
        """Return True for texts whose numbers of words can be within the limits, or are not stored.

        The distance by words is at least the difference of these numbers.
        """
        if not self.measure.has_distance or other_words is None:
            return True
        longest = max(words, other_words)
        return abs(words - other_words) <= self.measure.largest_distance(longest, self.limits)

    def prepare(self, texts: Sequence[str]) -> Prepared:
        """Prepare texts for comparing: normal forms, or encoded signatures.

        Raises SettingsError if a signature is not of these settings.
        """
        return self.measure.prepare(texts, self)

    def compare(self, prepared: Prepared, pairs: Pairs) -> Compared:
        """Compare pairs of prepared texts. `pairs` (pairs, 2) has their numbers."""
        similarities, distances = self.measure.compare(prepared, pairs, self)
        is_near = similarities >= floor(self.least)
        if distances is None:
            distances = np.full(len(pairs), NO_DISTANCE, dtype=np.int64)
        else:
            is_near &= distances != NO_DISTANCE
        return Compared(distances, similarities, is_near)

    def compare_texts(self, texts: Sequence[str], pairs: Pairs) -> Compared:
        """Prepare texts and compare pairs of them, as `prepare` and `compare`."""
        return self.compare(self.prepare(texts), pairs)

    def make_forms(self, rows: Sequence[Mapping[str, Any]]) -> list[str]:
        """Make the texts that are compared, from stored fields of documents, "" without content."""
        measure = self.measure
        contents = [str(row.get(measure.compared_field) or "") for row in rows]
        if not measure.needs_texts:
            return contents
        forms = measure.normalize(contents, self.settings.normalization)
        joined = measure.add_values(forms, rows)
        return [form and text for form, text in zip(forms, joined, strict=True)]

    def compare_one(self, form: str, texts: Sequence[str]) -> list[tuple[int, float, bool]]:
        """Compare a normal form with each of some texts, or an encoded signature with others.

        The distance, the similarity and whether it is near, for each, as `compare_texts` gives
        them.
        """
        if self.measure.needs_texts:
            texts = self.measure.normalize(texts, self.settings.normalization)
        columns = self.compare_texts([form, *texts], first_with_each(len(texts)))
        return list(zip(*(column.tolist() for column in columns), strict=True))


def measure_named(name: str | Measure) -> Measure:
    """Load the measure of a name, or return a measure. Raises ArgumentError for other names."""
    return name if isinstance(name, Measure) else _load_measure(name)


@cache
def _load_measure(name: str) -> Measure:
    checks.require_choice("measure", name, tuple(FILES))
    file = import_module(f"neardup_solr.measures.{FILES[cast(PairMeasure, name)]}")
    return cast(Measure, getattr(file, name.upper()))


def measure_of(name: str | Measure, limits: Limits) -> Measure:
    """Load a measure, as `measure_named`. Raises ArgumentError if the limits do not fit it."""
    measure = measure_named(name)
    if limits.max_distance is not None and not measure.has_distance:
        reason = (
            f"the measure {measure.name} has no distance,"
            f" so `max_distance` cannot be {limits.max_distance}"
        )
        step = "set `min_similarity` instead, or `measure` to words"
        raise ArgumentError(reason, step, code="arguments-conflict")
    return measure
