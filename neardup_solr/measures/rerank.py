"""The order of one document's hits, by any of the measures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from neardup_solr.measures.measure import Comparer
from neardup_solr.records import Entry, Hit, Match, natural
from neardup_solr.text.normalize import normalize


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
    signatures (matches then have no content); a hit that is not there (deleted meanwhile) is no
    match. By words, the distance says which is the most similar. A hit of equal MD5 is taken for
    the same text. `many` is that of `Comparer.compare_one`.

    Raises SettingsError if a signature is not one of these settings.
    """
    there = [hit for hit in hits if hit.id in known]
    if not there:
        return []
    contents = [known[hit.id] for hit in there]
    own, others = entry.signature, contents
    if comparer.measure.needs_texts:
        own = entry.normal
        others = [
            own if hit.md5_hash == entry.md5_hash else normalize(content)
            for hit, content in zip(there, contents, strict=True)
        ]
    else:
        contents = [""] * len(there)
    found = comparer.compare_one(own, others, many=many)
    columns = zip(there, contents, *(column.tolist() for column in found), strict=True)
    matches = (
        Match(
            id=hit.id,
            distance=distance if comparer.measure.has_distance else None,
            similarity=similarity,
            shared=hit.shared,
            content=content,
        )
        for hit, content, distance, similarity, is_near in columns
        if is_near
    )
    return sorted(matches, key=nearness)


def nearness(match: Match) -> tuple[float, int, tuple[int, int, str]]:
    """What orders matches, the most similar first."""
    apart = -match.similarity if match.distance is None else match.distance
    return (apart, -match.shared, natural(match.id))
