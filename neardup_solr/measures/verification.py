"""How similar candidate pairs really are, by a measure.

| measure | similarity | for |
|---|---|---|
| words | 1 - word-level Levenshtein distance / words of the longer text | edited copies |
| jaccard | common shingles / all shingles of both | texts of any order |
| containment | common shingles / shingles of the shorter text | excerpts in longer texts |
| aligned | idf-weighted soft alignment of the words | short records, abbreviations, slips |
| estimate | Jaccard similarity as the signatures estimate it | where no text is to be read |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from neardup_solr.errors import SettingsError
from neardup_solr.measures import Pairs
from neardup_solr.measures.aligned import ALIGNED_SIMILARITY, Frequencies, aligned, frequencies
from neardup_solr.measures.overlap import hashed_sets, overlaps_of_sets
from neardup_solr.measures.words import (
    DEFAULT_SIMILARITY,
    Limits,
    Vocabulary,
    characters,
    lengths,
    may_be_near,
)
from neardup_solr.minhash.sign import is_compiled
from neardup_solr.settings import Settings

_AT_ONCE = 1 << 18  # pairs; bounds the memory
NO_DISTANCE = -1
_ROUNDING = 1e-9

Distances = NDArray[np.int64]
Similarities = NDArray[np.float64]
Kept = NDArray[np.bool_]
Prepared = Any  # a text as its measure compares it: numbers of words, hashes of shingles, or itself


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """What a measure asks for by default, gives and needs.

    `least` is the similarity that it asks for where no limits are given.
    """

    least: float = DEFAULT_SIMILARITY
    has_distance: bool = False
    has_texts: bool = True
    has_frequencies: bool = False


MEASURES = {
    "words": Measure(has_distance=True),
    "jaccard": Measure(),
    "containment": Measure(least=0.8),
    "aligned": Measure(least=ALIGNED_SIMILARITY, has_frequencies=True),
    "estimate": Measure(has_texts=False),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparing:
    """How texts are compared: the measure by name, its limits, and what it needs to know.

    `settings` shape the shingles of jaccard and containment, `frequencies` weigh the words of
    aligned; the work is done by so many `threads`.

    Raises SettingsError where there is no such measure, or its limits cannot be.
    """

    measure: str = "words"
    limits: Limits = field(default_factory=Limits)
    settings: Settings = field(default_factory=Settings)
    frequencies: Frequencies | None = None
    threads: int = 1

    def __post_init__(self) -> None:
        check_measure(self.measure, self.limits)

    @property
    def least(self) -> float:
        """The smallest similarity that is within the limits."""
        given = self.limits.min_similarity, self.limits.max_distance
        return MEASURES[self.measure].least if given == (None, None) else (given[0] or 0.0)


def check_measure(name: str, limits: Limits) -> None:
    """Refuse a measure that is not known, or limits that it cannot have, with SettingsError."""
    if name not in MEASURES:
        choices = ", ".join(MEASURES)
        raise SettingsError(f"--measure {name} is not known", f"choose one of {choices}")
    if limits.max_distance is not None and not MEASURES[name].has_distance:
        reason = f"the measure {name} has no distance"
        raise SettingsError(reason, "give --min-similarity instead, or --measure words")


def compared(
    forms: Sequence[str], pairs: Pairs, comparing: Comparing
) -> tuple[Distances, Similarities, Kept]:
    """Distances in words (-1 where the measure has none), similarities, and which pairs count.

    `forms` are normal forms, `pairs` (pairs, 2) their numbers; all three have shape (pairs,).
    Where a pair is not within the limits, its distance and similarity are of no use.

    Raises SettingsError for the estimate, which compares no texts.
    """
    verifier = Verifier(comparing)
    return verifier.compared(verifier.prepared(forms), pairs)


class Verifier:
    """Compares texts by a measure, each of them prepared once.

    Raises SettingsError for the estimate, which compares no texts.
    """

    def __init__(self, comparing: Comparing) -> None:
        if comparing.measure not in _PREPARE:
            reason = f"{comparing.measure} compares no texts"
            raise SettingsError(reason, "choose another measure")
        self._comparing, self._vocabulary = comparing, Vocabulary()

    def prepared(self, forms: Sequence[str]) -> list[Prepared]:
        """Normal forms as the measure compares them; by one thread at a time."""
        return _PREPARE[self._comparing.measure](forms, self._comparing, self._vocabulary)

    def compared(
        self, texts: Sequence[Prepared], pairs: Pairs
    ) -> tuple[Distances, Similarities, Kept]:
        """As the function `compared`, of prepared texts."""
        comparing = self._comparing
        distances, similarities = _COMPARE[comparing.measure](texts, pairs, comparing)
        kept = similarities >= comparing.least - _ROUNDING
        if MEASURES[comparing.measure].has_distance:
            kept &= distances != NO_DISTANCE
        return distances, similarities, kept


def _as_words(forms: Sequence[str], comparing: Comparing, vocabulary: Vocabulary) -> list[Prepared]:
    return list(vocabulary.worded(forms))


def _as_sets(forms: Sequence[str], comparing: Comparing, vocabulary: Vocabulary) -> list[Prepared]:
    return list(hashed_sets(forms, comparing.settings))


def _as_they_are(
    forms: Sequence[str], comparing: Comparing, vocabulary: Vocabulary
) -> list[Prepared]:
    return list(forms)


_PREPARE: dict[str, Callable[[Sequence[str], Comparing, Vocabulary], list[Prepared]]] = {
    "words": _as_words,
    "jaccard": _as_sets,
    "containment": _as_sets,
    "aligned": _as_they_are,
}


def _by_words(
    texts: Sequence[Prepared], pairs: Pairs, comparing: Comparing
) -> tuple[Distances, Similarities]:
    """Word-level Levenshtein distance, -1 beyond the limits, and similarity.

    Each word becomes one character, so that rapidfuzz compares words at the speed of characters
    (Hyyrö 2003); pairs that have too few words in common are not compared.
    """
    distances = np.full(len(pairs), NO_DISTANCE, dtype=np.int64)
    similarities = np.zeros(len(pairs), dtype=np.float64)
    longest = lengths(texts)[pairs].max(axis=1) if len(pairs) else distances
    allowed = _allowed(longest, comparing.limits)
    near = np.flatnonzero(may_be_near(texts, pairs, allowed))
    for at in range(0, len(near), _AT_ONCE):
        some = near[at : at + _AT_ONCE]
        found = _distances(texts, pairs[some], int(allowed[some].max()), comparing.threads)
        distances[some] = np.where(found > allowed[some], NO_DISTANCE, found)
        similarities[some] = 1.0 - found / np.maximum(longest[some], 1)
    return distances, similarities


def _allowed(longest: NDArray[np.int64], limits: Limits) -> NDArray[np.int64]:
    counts, places = np.unique(longest, return_inverse=True)
    allowed = np.array([limits.allowed(count) for count in counts.tolist()], dtype=np.int64)
    return allowed[places]


def _distances(
    texts: Sequence[Prepared], pairs: Pairs, most: int, threads: int
) -> NDArray[np.int64]:
    """The distances of pairs; of those beyond `most` some larger number."""
    rows, places = np.unique(pairs, return_inverse=True)
    spelled = characters([texts[row] for row in rows.tolist()])
    numbers = places.reshape(-1, 2)
    distances: NDArray[np.int64] = process.cpdist(
        [spelled[row] for row in numbers[:, 0].tolist()],
        [spelled[row] for row in numbers[:, 1].tolist()],
        scorer=Levenshtein.distance,
        score_cutoff=most,
        dtype=np.int64,
        workers=threads,
    )
    return distances


def _by_jaccard(
    texts: Sequence[Prepared], pairs: Pairs, comparing: Comparing
) -> tuple[Distances, Similarities]:
    return _no_distances(pairs), overlaps_of_sets(texts, pairs).jaccard()


def _by_containment(
    texts: Sequence[Prepared], pairs: Pairs, comparing: Comparing
) -> tuple[Distances, Similarities]:
    return _no_distances(pairs), overlaps_of_sets(texts, pairs).containment()


def _by_alignment(
    texts: Sequence[Prepared], pairs: Pairs, comparing: Comparing
) -> tuple[Distances, Similarities]:
    known = comparing.frequencies or frequencies(texts)
    found = aligned(texts, pairs, known, least=comparing.least, threads=comparing.threads)
    return _no_distances(pairs), found


def _no_distances(pairs: Pairs) -> Distances:
    return np.full(len(pairs), NO_DISTANCE, dtype=np.int64)


_COMPARE: dict[
    str, Callable[[Sequence[Prepared], Pairs, Comparing], tuple[Distances, Similarities]]
] = {
    "words": _by_words,
    "jaccard": _by_jaccard,
    "containment": _by_containment,
    "aligned": _by_alignment,
}


def estimated(signatures: NDArray[np.uint32], pairs: Pairs) -> NDArray[np.float64]:
    """The estimated Jaccard similarity of each pair: the share of equal values.

    `signatures` has shape (documents, hashes), `pairs` (pairs, 2) row numbers. Broder (1997).
    """
    found = np.empty(len(pairs), dtype=np.float64)
    if is_compiled():
        from neardup_solr.kernel import joins

        joins.equal_values(signatures, pairs, found)
        return found
    for at in range(0, len(pairs), _AT_ONCE):
        block = pairs[at : at + _AT_ONCE]
        equal = signatures[block[:, 0]] == signatures[block[:, 1]]
        found[at : at + _AT_ONCE] = equal.mean(axis=1)
    return found


def shared_bands(
    signatures: NDArray[np.uint32], pairs: Pairs, settings: Settings
) -> NDArray[np.int64]:
    """In how many LSH bands each pair agrees; `signatures` and `pairs` as for `estimated`."""
    found = np.empty(len(pairs), dtype=np.int64)
    used = settings.bands * settings.rows
    for at in range(0, len(pairs), _AT_ONCE):
        block = pairs[at : at + _AT_ONCE]
        equal = signatures[block[:, 0], :used] == signatures[block[:, 1], :used]
        by_band = equal.reshape(len(block), settings.bands, settings.rows).all(axis=2)
        found[at : at + _AT_ONCE] = by_band.sum(axis=1)
    return found
