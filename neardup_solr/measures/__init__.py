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

`aligned`, `fields` and `model` have files of their own, `sets` has the others.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar, cast, get_args

import numpy as np
from numpy.typing import NDArray

from neardup_solr import arguments
from neardup_solr.arguments import MeasureName, PairMeasure, StoredMeasure, Way, require
from neardup_solr.errors import ArgumentError
from neardup_solr.progress import run_aside, thread_pool
from neardup_solr.records import NO_DISTANCE, Entry, Hit, Match, as_text, natural
from neardup_solr.settings import LONG_TEXT, NORMALIZATION, Settings
from neardup_solr.text.characters import unspaced
from neardup_solr.text.numbers import NAME, join_numbers, list_numbers
from neardup_solr.text.symbols import list_symbols

Prepared = Any  # texts as their measure compares them: hashes of words, rows of signatures, …
Pairs = NDArray[np.uint32]
Joined = NDArray[np.uint64]  # two numbers of 32 bits in a number of 64
Distances = NDArray[np.int64]
Similarities = NDArray[np.float64]

# The file of each measure, which is its name in capitals there. Files load when they are needed.
FILES: dict[PairMeasure, str] = {
    "words": "sets", "jaccard": "sets", "containment": "sets", "aligned": "aligned",
    "records": "aligned", "estimate": "sets", "fields": "fields", "model": "model", "auto": "sets",
}  # fmt: skip
AUTO = "auto"
CHOSEN = "are compared by `measure` {}; `measure` words counts edited words instead."
AT_ONCE = 1 << 12  # pairs that a thread compares, at most
STEPS = 1 << 26  # of the loops of the kernel at once, a fraction of a second
PAIRED = 1.5  # power of the weight of pairs of characters
FEWEST, SHORT = 20, 12  # texts that tell which words are rare; half as many of so many words
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
        fits = self.max_distance is None or self.max_distance >= 0
        require(fits, f"`max_distance` cannot be {self.max_distance}", "give 0 words or more")
        if self.min_similarity is not None and not 0.0 <= self.min_similarity <= 1.0:
            least = self.min_similarity
            is_percent = 2 <= least <= 100
            step = f"for {least:g} % give {least / 100:g}" if is_percent else "give 0 to 1"
            raise ArgumentError(f"`min_similarity` cannot be {least:g}", step)


@dataclass(frozen=True, slots=True)
class Frequencies:
    """Number of documents that contain each word."""

    documents: int
    counts: Mapping[str, int]
    normalization: int = NORMALIZATION

    def weight(self, word: str) -> float:
        """The weight of a word, ln(1 + documents / documents with it) squared.

        A word of no document weighs as much as a word of a single document. For pairs of
        characters of scripts without blanks, in which a slip makes two rare pairs of what may be
        frequent ones, it is the power `PAIRED` of the logarithm, times that of the rarest word to
        make up 2. A name, such as a link, that no two documents have weighs as little as a word of
        half of them.
        """
        documents = max(self.documents, 1)
        weight = math.log(1 + documents / max(self.counts.get(word, 1), 1))
        if word.startswith(NAME) and self.counts.get(word, 1) <= 1:
            return math.log(3) ** 2
        if len(word) <= 2 and self.normalization > 1 and unspaced().match(word):
            return math.pow(weight, PAIRED) * math.pow(math.log(1 + documents), 2 - PAIRED)
        return math.pow(weight, 2)


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


def number_pairs(pairs: Pairs) -> NDArray[np.uint64]:
    """Number each pair of rows: the first row in the upper 32 bits."""
    return join_halves(pairs[:, 0], pairs[:, 1])


def pairs_of(numbers: NDArray[np.uint64]) -> Pairs:
    """List the pairs of rows that `number_pairs` numbered."""
    return np.stack(split_halves(numbers), axis=1).astype(np.uint32)


def join_halves(high: NDArray[Any], low: NDArray[Any]) -> Joined:
    """Join two numbers of 32 bits to one."""
    return high.astype(np.uint64) << np.uint64(32) | low.astype(np.uint64)


def split_halves(joined: Joined) -> tuple[Joined, Joined]:
    """Split what `join_halves` joined."""
    return joined >> np.uint64(32), joined & np.uint64(0xFFFFFFFF)


S = TypeVar("S", bound=np.generic)


def take_evenly(values: NDArray[S], most: int) -> NDArray[S]:
    """Take at most so many values, evenly from the first to the last."""
    places = np.linspace(0, len(values) - 1, min(len(values), most))
    return values[places.astype(np.int64)]


def find_pairs(wanted: Pairs, pairs: Pairs) -> NDArray[np.int64]:
    """Find the place of each wanted pair among `pairs`, in any order, or -1."""
    numbers, sought = number_pairs(pairs), number_pairs(wanted)
    if not len(numbers):
        return np.full(len(sought), -1)
    order = np.argsort(numbers, kind="stable")
    places = order[np.searchsorted(numbers[order], sought).clip(max=len(numbers) - 1)]
    return np.where(numbers[places] == sought, places, -1)


def first_with_each(others: int) -> Pairs:
    """Make the pairs of the first text with each of the others that follow it."""
    numbers = np.arange(1, others + 1, dtype=np.uint32)
    return np.stack([np.zeros_like(numbers), numbers], axis=1)


def in_parts(work: Callable[[slice], None], steps: NDArray[Any], threads: int) -> None:
    """Do what is to be done with pairs by threads, some thousands at once or fewer.

    `steps` (pairs,) says about how much work each pair is, so that no thread is at it for long.
    """
    pairs = len(steps)
    size = max(1, min(AT_ONCE, -(-pairs // threads)))
    is_enough = np.diff(np.cumsum(steps, dtype=np.float64) // STEPS) > 0
    bounds = {0, *range(size, pairs, size), *(np.flatnonzero(is_enough) + 1).tolist(), pairs}
    parts = [slice(*part) for part in pairwise(sorted(bounds))]
    if threads == 1 or len(parts) < 2:
        for part in parts:
            run_aside(partial(work, part))
        return
    with thread_pool(threads) as pool:
        list(pool.map(work, parts))


def measure_named(name: str | Measure) -> Measure:
    """Load the measure of a name, or return a measure. Raises ArgumentError for other names."""
    return name if isinstance(name, Measure) else _load_measure(name)


@cache
def _load_measure(name: str) -> Measure:
    arguments.require_choice("measure", name, tuple(FILES))
    file = import_module(f"neardup_solr.measures.{FILES[cast(PairMeasure, name)]}")
    return cast(Measure, getattr(file, name.upper()))


def measure_of(name: str | Measure, limits: Limits) -> Measure:
    """Load a measure, as `measure_named`. Raises ArgumentError if the limits do not fit it."""
    measure = measure_named(name)
    fits = measure.has_distance or limits.max_distance is None
    reason = f"so `max_distance` cannot be {limits.max_distance}"
    step = "set `min_similarity` instead, or `measure` to words"
    require(fits, f"the measure {measure.name} has no distance, {reason}", step)
    return measure


def choose_measure(settings: Settings, words: Sequence[int]) -> tuple[StoredMeasure, str]:
    """Choose what "auto" is for texts of so many words each, and say why if it is not words.

    It is records if half of the texts are short; a few do not tell which words are rare, but by
    words, very short ones are near each other if they share half of their words. Texts
    whose shingles are made of characters are compared by these.
    """
    if settings.kind == "chars":
        return "jaccard", f"Shingles of characters {CHOSEN.format('jaccard')}"
    median = sorted(words)[len(words) // 2] if words else 0
    fewest = FEWEST // 2 if median <= SHORT else FEWEST
    if len(words) < fewest or median > LONG_TEXT:
        return "words", ""
    return "records", f"Short texts (median: {median} words) {CHOSEN.format('records')}"


def read_measure(settings: Settings) -> tuple[StoredMeasure, str]:
    """Read what "auto" is in a collection of these settings, and say so if it is not words."""
    measure = settings.measure or "words"
    return measure, "" if measure == "words" else f"Its texts {CHOSEN.format(measure)}"


def rerank(
    entry: Entry, hits: Iterable[Hit], contents: Mapping[str, str], comparer: Comparer
) -> list[Match]:
    """Order hits within the limits: most similar first, then by more shared terms, then by id.

    `contents` holds by id what is compared: the hits' texts, or for the estimate their encoded
    signatures (matches then have no content); a hit without content was deleted meanwhile and is
    no match. By words, the distance decides which is the most similar. A hit of equal MD5 counts
    as the same text.

    Raises SettingsError if a signature is not of these settings.
    """
    hits = [hit for hit in hits if hit.id in contents]
    if not hits:
        return []
    needs_texts = comparer.measure.needs_texts
    form = entry.normal if needs_texts else entry.signature
    if comparer.measure.joins_numbers:
        (form,) = comparer.measure.normalize([entry.content], comparer.settings.normalization)
    same = entry.md5_hash if needs_texts else None
    texts = [form if hit.md5_hash == same else contents[hit.id] for hit in hits]
    compared = zip(hits, comparer.compare_one(form, texts), strict=True)
    matches = (
        Match(
            id=hit.id,
            distance=distance if comparer.measure.has_distance else None,
            similarity=similarity,
            shared=hit.shared,
            content=contents[hit.id] if needs_texts else "",
        )
        for hit, (distance, similarity, is_near) in compared
        if is_near
    )
    return sorted(matches, key=nearness)


def nearness(match: Match) -> tuple[float, int, tuple[int, int, str]]:
    """Make the sort key of a match: the most similar come first."""
    apart = -match.similarity if match.distance is None else match.distance
    return (apart, -match.shared, natural(match.id))


NUMBERS, SYMBOLS = "numbers", "symbols"
_LISTS: dict[str, Callable[[str], list[str]]] = {NUMBERS: list_numbers, SYMBOLS: list_symbols}


@dataclass(frozen=True, slots=True)
class Equality:
    """Parts of a text that near-duplicates have to have in common.

    `rules` are "numbers", "symbols" or regular expressions. Two texts fit together if `key` is the
    same of both. Without rules all texts do.
    """

    rules: tuple[str, ...] = ()
    _lists: tuple[Callable[[str], Iterable[str]], ...] = field(
        init=False, repr=False, compare=False, default=()
    )

    def __post_init__(self) -> None:
        lists = []
        for rule in self.rules:
            try:
                pattern = re.compile(rule, re.I)
            except re.error as error:
                reason = f"`equal` cannot be {rule!r}: it is not a regular expression ({error})"
                step = r"give numbers, symbols, or a pattern such as '\bnot\b'"
                raise ArgumentError(reason, step) from None
            lists.append(_LISTS.get(rule) or partial(_find_all, pattern))
        object.__setattr__(self, "_lists", tuple(lists))

    def __bool__(self) -> bool:
        return bool(self.rules)

    def key(self, text: str) -> tuple[tuple[str, ...], ...]:
        """List, for each rule, what a text has of it in sorted order, whatever its place."""
        return tuple(tuple(sorted(list_parts(text))) for list_parts in self._lists)

    def describe(self, first: str, second: str) -> str:
        """Describe what differs in two texts by the first rule that tells them apart."""
        for rule, values, others in zip(self.rules, self.key(first), self.key(second), strict=True):
            if values != others:
                return f"{rule} {_show_rest(values, others)} and {_show_rest(others, values)}"
        return ""


ANYTHING = Equality()  # no part has to be equal


def parse_equality(rules: arguments.OneOrMore) -> Equality:
    """Make the equality of a rule, or of several. Raises ArgumentError if a rule is impossible."""
    return Equality(tuple(dict.fromkeys(arguments.listed(rules))))


def _find_all(pattern: re.Pattern[str], text: str) -> Iterable[str]:
    return (match[0].casefold() for match in pattern.finditer(text))


def _show_rest(values: tuple[str, ...], others: tuple[str, ...]) -> str:
    """Show the values that the others lack, or "none"."""
    left = list(values)
    for value in others:
        if value in left:
            left.remove(value)
    return ", ".join(left) or "none"
