"""The re-ranking of one document's hits, by any of the measures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from neardup_solr.measures import Pairs, aligned
from neardup_solr.measures.aligned import record_similarity
from neardup_solr.measures.overlap import Overlaps
from neardup_solr.measures.verification import MEASURES, Comparing, estimated
from neardup_solr.measures.words import similarity, word_distance
from neardup_solr.minhash import signature
from neardup_solr.records import Entry, Hit, Match, natural
from neardup_solr.text import normalize
from neardup_solr.text.shingles import shingles

_ROUNDING = 1e-9

Found = tuple[int | None, float] | None  # distance and similarity; None beyond the limits


def may_be_near(entry: Entry, hit: Hit, comparing: Comparing) -> bool:
    """Whether a hit can be within the limits at all, to judge without its text.

    By words, texts are at least as far apart as their numbers of words differ.
    """
    if comparing.measure != "words" or hit.num_words is None or hit.md5_hash == entry.md5_hash:
        return True
    apart = abs(entry.num_words - hit.num_words)
    return apart <= comparing.limits.allowed(max(entry.num_words, hit.num_words))


def rerank(
    entry: Entry,
    hits: Iterable[Hit],
    known: Mapping[str, str],
    *,
    comparing: Comparing,
    many: bool = False,
) -> list[Match]:
    """Hits within the limits, most similar first, then by more shared terms, then by id.

    `known` holds by id what is compared: the hits' texts, or for the estimate their encoded
    signatures (matches then have no content); a hit that is not there (deleted meanwhile) is no
    match. By words, the distance says which is the most similar, and a hit of equal MD5 has
    distance 0 without a comparison. Where `many` documents have hits to re-rank, compiled code is
    worth its loading.

    Raises SettingsError where a signature is not one of these settings.
    """
    there = [hit for hit in hits if hit.id in known]
    if not there:
        return []
    compare = (_OF_MANY if many else _OF_ONE)[comparing.measure]
    found = compare(entry, there, [known[hit.id] for hit in there], comparing)
    has_texts = MEASURES[comparing.measure].has_texts
    matches = [
        Match(
            id=hit.id,
            distance=one[0],
            similarity=one[1],
            shared=hit.shared,
            content=known[hit.id] if has_texts else "",
        )
        for hit, one in zip(there, found, strict=True)
        if one is not None
    ]
    return sorted(matches, key=_order)


def _order(match: Match) -> tuple[float, int, tuple[int, int, str]]:
    apart = -match.similarity if match.distance is None else match.distance
    return (apart, -match.shared, natural(match.id))


def _by_words(
    entry: Entry, hits: Sequence[Hit], contents: Sequence[str], comparing: Comparing
) -> list[Found]:
    own = normalize.words(entry.normal)

    def one(hit: Hit, content: str) -> Found:
        if hit.md5_hash == entry.md5_hash:
            return 0, 1.0
        words = normalize.words_of(content)
        longest = max(len(own), len(words))
        most = comparing.limits.allowed(longest)
        distance = word_distance(own, words, at_most=most)
        return None if distance is None else (distance, similarity(distance, longest))

    return [one(hit, content) for hit, content in zip(hits, contents, strict=True)]


def _by_jaccard(
    entry: Entry, hits: Sequence[Hit], contents: Sequence[str], comparing: Comparing
) -> list[Found]:
    return _within(_overlaps(entry, contents, comparing).jaccard(), comparing)


def _by_containment(
    entry: Entry, hits: Sequence[Hit], contents: Sequence[str], comparing: Comparing
) -> list[Found]:
    return _within(_overlaps(entry, contents, comparing).containment(), comparing)


def _by_alignment(
    entry: Entry, hits: Sequence[Hit], contents: Sequence[str], comparing: Comparing
) -> list[Found]:
    own, *others = forms = _forms(entry, contents)
    known = comparing.frequencies or aligned.frequencies(forms)
    # Not `alignment.aligned`: nobody should wait for a compiler for one search.
    found = [record_similarity(aligned.alignment(own, other, known)) for other in others]
    return _within(np.array(found), comparing)


def _by_compiled_alignment(
    entry: Entry, hits: Sequence[Hit], contents: Sequence[str], comparing: Comparing
) -> list[Found]:
    forms = _forms(entry, contents)
    known = comparing.frequencies or aligned.frequencies(forms)
    return _within(aligned.aligned(forms, _with_first(len(contents)), known), comparing)


def _by_signatures(
    entry: Entry, hits: Sequence[Hit], encoded: Sequence[str], comparing: Comparing
) -> list[Found]:
    signatures = signature.decode_all([entry.signature, *encoded], comparing.settings)
    return _within(estimated(signatures, _with_first(len(encoded))), comparing)


_Compare = Callable[[Entry, Sequence[Hit], Sequence[str], Comparing], list[Found]]
_OF_ONE: Mapping[str, _Compare] = {
    "words": _by_words,
    "jaccard": _by_jaccard,
    "containment": _by_containment,
    "aligned": _by_alignment,
    "estimate": _by_signatures,
}
# The others take less than it takes Solr to find the hits.
_OF_MANY: Mapping[str, _Compare] = {**_OF_ONE, "aligned": _by_compiled_alignment}


def _within(similarities: NDArray[np.float64], comparing: Comparing) -> list[Found]:
    least = comparing.least - _ROUNDING
    return [(None, found) if found >= least else None for found in similarities.tolist()]


def _forms(entry: Entry, contents: Sequence[str]) -> list[str]:
    return [entry.normal, *map(normalize.normalize, contents)]


def _overlaps(entry: Entry, contents: Sequence[str], comparing: Comparing) -> Overlaps:
    own, *others = [set(shingles(form, comparing.settings)) for form in _forms(entry, contents)]
    return Overlaps(
        common=np.array([len(own & other) for other in others], dtype=np.int64),
        first=np.full(len(others), len(own), dtype=np.int64),
        second=np.array([len(other) for other in others], dtype=np.int64),
    )


def _with_first(others: int) -> Pairs:
    """Pairs of the first row with each of so many others."""
    numbers = np.arange(1, others + 1, dtype=np.uint32)
    return np.stack([np.zeros_like(numbers), numbers], axis=1)
