"""Hits of a search, compared and ordered: the most similar first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from neardup_solr.measures import Comparer
from neardup_solr.records import Entry, Hit, Match, natural


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
