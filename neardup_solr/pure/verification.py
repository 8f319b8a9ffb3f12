"""How similar candidate pairs really are: by their signatures, or by their words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from neardup_solr.pure.candidates import Pairs
from neardup_solr.pure.similarity import Limits

_AT_ONCE = 1 << 18  # pairs; bounds the memory
_SURROGATES = range(0xD800, 0xE000)  # code points that no string should hold
MOST_WORDS = 0x110000 - len(_SURROGATES)


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


def word_distances(
    forms: Sequence[str], pairs: Pairs, *, limits: Limits, threads: int = 1
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Word-level Levenshtein distance and similarity of each pair of normal forms.

    The distance is -1 where a pair exceeds the limits. Each word becomes one character, so that
    rapidfuzz compares words at the speed of characters (Hyyrö 2003), by so many threads.
    """
    distances = np.empty(len(pairs), dtype=np.int64)
    similarities = np.empty(len(pairs), dtype=np.float64)
    for at in range(0, len(pairs), _AT_ONCE):
        block = pairs[at : at + _AT_ONCE]
        rows, places = np.unique(block, return_inverse=True)
        texts = _as_characters([forms[row] for row in rows.tolist()])
        places = places.reshape(block.shape)
        firsts = [texts[place] for place in places[:, 0].tolist()]
        seconds = [texts[place] for place in places[:, 1].tolist()]
        lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
        longest = lengths[places].max(axis=1)
        allowed = np.array([limits.allowed(length) for length in longest.tolist()])
        found = process.cpdist(
            firsts,
            seconds,
            scorer=Levenshtein.distance,
            score_cutoff=int(allowed.max(initial=0)),
            dtype=np.int64,
            workers=threads,
        )
        beyond = found > allowed
        distances[at : at + len(block)] = np.where(beyond, -1, found)
        similarities[at : at + len(block)] = 1.0 - found / np.maximum(longest, 1)
    return distances, similarities


def _as_characters(forms: Sequence[str]) -> list[str]:
    """Each form as a string of one character a word, equal for equal words.

    Words beyond the 1,112,064 characters that there are share theirs: only in a block of pairs of
    that many different words, where two of those could be taken for each other.
    """
    known: dict[str, str] = {}

    def character(word: str) -> str:
        number = len(known) % MOST_WORDS
        code = number if number < _SURROGATES.start else number + len(_SURROGATES)
        return known.setdefault(word, chr(code))

    return ["".join(known.get(word) or character(word) for word in form.split()) for form in forms]
