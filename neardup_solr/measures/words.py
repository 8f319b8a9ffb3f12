"""Word-level Levenshtein distance, similarity, and the limits of what counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

from neardup_solr.errors import SettingsError
from neardup_solr.measures import Pairs
from neardup_solr.minhash.sign import is_compiled, packed_forms

DEFAULT_SIMILARITY = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What still counts as a near-duplicate: at most this distance, at least this similarity.

    `max_distance` counts words, `min_similarity` lies in 0..1; None is no limit, but where both
    are None the similarity has to be 0.5 or more.

    Raises SettingsError where a limit is out of range.
    """

    max_distance: int | None = None
    min_similarity: float | None = None

    def __post_init__(self) -> None:
        if self.max_distance is not None and self.max_distance < 0:
            reason = f"a distance of {self.max_distance} words cannot be"
            raise SettingsError(reason, "give 0 or more")
        if self.min_similarity is not None and not 0.0 <= self.min_similarity <= 1.0:
            reason = f"a similarity of {self.min_similarity} cannot be"
            raise SettingsError(reason, "give one from 0 to 1")

    def least_similarity(self) -> float:
        """The smallest similarity that is within the limits."""
        if self.min_similarity is not None:
            return self.min_similarity
        return DEFAULT_SIMILARITY if self.max_distance is None else 0.0

    def allowed(self, longest: int) -> int:
        """The largest distance in words that is within the limits, for a text of `longest`."""
        # The small term keeps (1 - 0.9) * 10 from falling below 1.
        by_similarity = int((1.0 - self.least_similarity()) * longest + 1e-9)
        return by_similarity if self.max_distance is None else min(by_similarity, self.max_distance)


def word_distance(first: Sequence[str], second: Sequence[str], *, at_most: int) -> int | None:
    """Word-level Levenshtein distance, or None where it exceeds `at_most`.

    Counts words inserted, deleted or replaced. Levenshtein (1966); Wagner, Fischer (1974).
    """
    distance = Levenshtein.distance(first, second, score_cutoff=at_most)
    return None if distance > at_most else distance


def similarity(distance: int, longest: int) -> float:
    """Normalised similarity of two texts: 1 - distance / words of the longer; 1 for two empty."""
    return 1.0 - distance / longest if longest else 1.0


_SURROGATES = range(0xD800, 0xE000)  # code points that no string should hold
MOST_WORDS = 0x110000 - len(_SURROGATES)
FIRST_SLOTS = 1 << 16

Numbers = NDArray[np.uint32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Worded:
    """A text as the numbers of its words: in their order, and as a bag, rising."""

    numbers: Numbers
    bag: Numbers


@dataclass(slots=True)
class Vocabulary:
    """The words of all texts that it has been given, numbered as they first came."""

    _known: dict[str, int] = field(default_factory=dict)
    _hashes: NDArray[np.uint64] = field(default_factory=lambda: np.zeros(FIRST_SLOTS, np.uint64))
    _numbers: Numbers = field(default_factory=lambda: np.zeros(FIRST_SLOTS, np.uint32))
    _count: int = 0

    def worded(self, forms: Sequence[str]) -> list[Worded]:
        """Normal forms as numbers; compiled, words are told apart by 64-bit hashes."""
        flat, ends = self._compiled(forms) if is_compiled() else self._slowly(forms)
        bags = flat.copy()
        bounds = [0, *ends.tolist()]
        if is_compiled():
            from neardup_solr.kernel import vocabulary

            vocabulary.sort_each(bags, ends)
        else:
            for first, last in pairwise(bounds):
                bags[first:last].sort()
        # Copies, or a text that is kept would keep all those that came with it.
        return [
            Worded(numbers=flat[first:last].copy(), bag=bags[first:last].copy())
            for first, last in pairwise(bounds)
        ]

    def _compiled(self, forms: Sequence[str]) -> tuple[Numbers, NDArray[np.int64]]:
        from neardup_solr.kernel import vocabulary

        packed, bounds = packed_forms(forms)
        # A word and the blank behind it take two bytes at least.
        flat = np.empty(len(packed) // 2 + len(forms), dtype=np.uint32)
        ends = np.zeros(len(forms), dtype=np.int64)
        self._hashes, self._numbers, self._count = vocabulary.number(
            packed, bounds, self._hashes, self._numbers, self._count, flat, ends
        )
        return flat[: int(ends[-1]) if len(ends) else 0], ends

    def _slowly(self, forms: Sequence[str]) -> tuple[Numbers, NDArray[np.int64]]:
        known = self._known
        split = [form.split() for form in forms]
        flat = [known.setdefault(word, len(known)) for words in split for word in words]
        ends = np.cumsum([len(words) for words in split], dtype=np.int64)
        return np.array(flat, dtype=np.uint32), ends


def lengths(texts: Sequence[Worded]) -> NDArray[np.int64]:
    """How many words each text has."""
    return np.fromiter((len(text.numbers) for text in texts), np.int64, len(texts))


def may_be_near(
    texts: Sequence[Worded], pairs: Pairs, allowed: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Whether the texts of each pair can be at most so many words apart.

    Texts are at least as far apart as the longer one has words that the other lacks, in whatever
    order. Without compiled code only the lengths are looked at.
    """
    sizes = lengths(texts)
    if not is_compiled() or not len(pairs):
        own = sizes[pairs]
        near: NDArray[np.bool_] = own.max(axis=1) - own.min(axis=1) <= allowed
        return near
    from neardup_solr.kernel import vocabulary

    may_be = np.empty(len(pairs), dtype=np.bool_)
    bags = np.concatenate([text.bag for text in texts])
    vocabulary.may_be_near(bags, np.cumsum(sizes), pairs, allowed, may_be)
    return may_be


def characters(texts: Sequence[Worded]) -> list[str]:
    """Texts as strings of one character a word, equal for equal words.

    Words beyond the 1,112,064 characters that there are share theirs: only among that many
    different words in one call, where two of those could be taken for each other.
    """
    if not texts:
        return []
    flat = np.concatenate([text.numbers for text in texts])
    codes = np.unique(flat, return_inverse=True)[1].astype(np.uint32) % np.uint32(MOST_WORDS)
    codes += (codes >= _SURROGATES.start) * np.uint32(len(_SURROGATES))
    joined = codes.astype("<u4").tobytes().decode("utf-32-le")
    bounds = [0, *np.cumsum(lengths(texts)).tolist()]
    return [joined[first:last] for first, last in pairwise(bounds)]
