"""Word-level Levenshtein distance, similarity, and the re-ranking of hits by them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein

from neardup_solr.pure import normalize
from neardup_solr.pure.errors import SettingsError
from neardup_solr.pure.ids import natural
from neardup_solr.pure.model import Entry, Hit, Match

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


def may_be_near(entry: Entry, hit: Hit, limits: Limits) -> bool:
    """Whether a hit can be within the limits at all, to judge by the numbers of words alone.

    Texts are at least as many words apart as their lengths differ.
    """
    if hit.num_words is None or hit.md5_hash == entry.md5_hash:
        return True
    apart = abs(entry.num_words - hit.num_words)
    return apart <= limits.allowed(max(entry.num_words, hit.num_words))


def rerank(
    entry: Entry, hits: Iterable[Hit], texts: Mapping[str, str], *, limits: Limits
) -> list[Match]:
    """Hits within the limits, nearest first: by distance, then more shared terms, then id.

    `texts` holds the hits' texts by id; a hit that is not there (deleted meanwhile) is no match.
    A hit of equal MD5 has distance 0 without a comparison.
    """
    own_words = normalize.words(normalize.normalize(entry.content))
    matches = (
        _match(entry, own_words, hit, texts[hit.id], limits) for hit in hits if hit.id in texts
    )
    return sorted(
        (match for match in matches if match is not None),
        key=lambda match: (match.distance, -match.shared, natural(match.id)),
    )


def _match(
    entry: Entry, own_words: list[str], hit: Hit, content: str, limits: Limits
) -> Match | None:
    if hit.md5_hash == entry.md5_hash:
        distance: int | None = 0
        longest = len(own_words)
    else:
        hit_words = normalize.words(normalize.normalize(content))
        longest = max(len(own_words), len(hit_words))
        distance = word_distance(own_words, hit_words, at_most=limits.allowed(longest))
    if distance is None:
        return None
    return Match(
        id=hit.id,
        distance=distance,
        similarity=similarity(distance, longest),
        shared=hit.shared,
        content=content,
    )
