"""Word-level Levenshtein distance, similarity, and the limits of what counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein

from neardup_solr.pure.errors import SettingsError

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
