"""The order of one document's hits, by any of the measures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from neardup_solr.measures import Comparer
from neardup_solr.records import Entry, Hit, Match, natural


def rerank(
    entry: Entry,
    hits: Iterable[Hit],
    known: Mapping[str, str],
    comparer: Comparer,
    *,
    many: bool = False,
) -> list[Match]:
    """Hits within the limits, most similar first, then by more shared terms, then by id.

    `known` holds by id what is compared: the hits' texts, or for the estimate their encoded
    signatures (matches then have no content); a hit without one was deleted meanwhile and is no
    match. By words, the distance decides which is the most similar. A hit of equal MD5 counts as
    the same text. `many` is that of `Comparer.compare_one`.

    Raises SettingsError if a signature is not one of these settings.
    """
    there = [hit for hit in hits if hit.id in known]
    if not there:
        return []
    needs_texts = comparer.measure.needs_texts
    own = entry.normal if needs_texts else entry.signature
    same = entry.md5_hash if needs_texts else None
    others = [own if hit.md5_hash == same else known[hit.id] for hit in there]
    found = comparer.compare_one(own, others, many=many)
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
    """The sort key of matches, the most similar first."""
    apart = -match.similarity if match.distance is None else match.distance
    return (apart, -match.shared, natural(match.id))
