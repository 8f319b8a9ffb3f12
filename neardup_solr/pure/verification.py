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

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from neardup_solr.pure import wording
from neardup_solr.pure.alignment import ALIGNED_SIMILARITY, Frequencies, aligned, frequencies
from neardup_solr.pure.candidates import Pairs
from neardup_solr.pure.config import Settings
from neardup_solr.pure.errors import SettingsError
from neardup_solr.pure.overlap import overlaps
from neardup_solr.pure.similarity import DEFAULT_SIMILARITY, Limits
from neardup_solr.pure.wording import Worded

_AT_ONCE = 1 << 18  # pairs; bounds the memory
NO_DISTANCE = -1
_ROUNDING = 1e-9

Distances = NDArray[np.int64]
Similarities = NDArray[np.float64]
Kept = NDArray[np.bool_]


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
    if comparing.measure not in _BY_TEXT:
        raise SettingsError(f"{comparing.measure} compares no texts", "choose another measure")
    distances, similarities = _BY_TEXT[comparing.measure](forms, pairs, comparing)
    kept = similarities >= comparing.least - _ROUNDING
    if MEASURES[comparing.measure].has_distance:
        kept &= distances != NO_DISTANCE
    return distances, similarities, kept


def _by_words(
    forms: Sequence[str], pairs: Pairs, comparing: Comparing
) -> tuple[Distances, Similarities]:
    return word_distances(forms, pairs, limits=comparing.limits, threads=comparing.threads)


def _by_jaccard(
    forms: Sequence[str], pairs: Pairs, comparing: Comparing
) -> tuple[Distances, Similarities]:
    return _no_distances(pairs), overlaps(forms, pairs, comparing.settings).jaccard()


def _by_containment(
    forms: Sequence[str], pairs: Pairs, comparing: Comparing
) -> tuple[Distances, Similarities]:
    return _no_distances(pairs), overlaps(forms, pairs, comparing.settings).containment()


def _by_alignment(
    forms: Sequence[str], pairs: Pairs, comparing: Comparing
) -> tuple[Distances, Similarities]:
    known = comparing.frequencies or frequencies(forms)
    found = aligned(forms, pairs, known, least=comparing.least, threads=comparing.threads)
    return _no_distances(pairs), found


def _no_distances(pairs: Pairs) -> Distances:
    return np.full(len(pairs), NO_DISTANCE, dtype=np.int64)


_BY_TEXT = {
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


def word_distances(
    forms: Sequence[str], pairs: Pairs, *, limits: Limits, threads: int = 1
) -> tuple[Distances, Similarities]:
    """Word-level Levenshtein distance and similarity of each pair of normal forms.

    The distance is -1 where a pair exceeds the limits. Each word becomes one character, so that
    rapidfuzz compares words at the speed of characters (Hyyrö 2003), by so many threads; pairs
    that have too few words in common, in whatever order, are not compared.
    """
    distances = np.full(len(pairs), NO_DISTANCE, dtype=np.int64)
    similarities = np.zeros(len(pairs), dtype=np.float64)
    for at in range(0, len(pairs), _AT_ONCE):
        rows, places = np.unique(pairs[at : at + _AT_ONCE], return_inverse=True)
        worded = wording.worded([forms[row] for row in rows.tolist()])
        block = places.reshape(-1, 2).astype(np.uint32)
        longest = worded.lengths[block].max(axis=1)
        allowed = _allowed(longest, limits)
        near = np.flatnonzero(worded.may_be_near(block, allowed))
        found = _distances(worded, block[near], allowed[near], threads)
        distances[at + near] = np.where(found > allowed[near], NO_DISTANCE, found)
        similarities[at + near] = 1.0 - found / np.maximum(longest[near], 1)
    return distances, similarities


def _allowed(longest: NDArray[np.int64], limits: Limits) -> NDArray[np.int64]:
    lengths, places = np.unique(longest, return_inverse=True)
    allowed = np.array([limits.allowed(length) for length in lengths.tolist()], dtype=np.int64)
    return allowed[places]


def _distances(
    worded: Worded, pairs: Pairs, allowed: NDArray[np.int64], threads: int
) -> NDArray[np.int64]:
    """The distances of pairs; of those beyond what is allowed some larger number."""
    distances: NDArray[np.int64] = process.cpdist(
        [worded.texts[row] for row in pairs[:, 0].tolist()],
        [worded.texts[row] for row in pairs[:, 1].tolist()],
        scorer=Levenshtein.distance,
        score_cutoff=int(allowed.max(initial=0)),
        dtype=np.int64,
        workers=threads,
    )
    return distances
