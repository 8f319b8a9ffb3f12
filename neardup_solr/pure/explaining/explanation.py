"""What becomes of a pair of documents: found or not, why, and what would help."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from neardup_solr.pure.config import Settings
from neardup_solr.pure.explaining.advice import Advice, advised
from neardup_solr.pure.explaining.facts import Facts
from neardup_solr.pure.explaining.subject import Subject
from neardup_solr.pure.signatures.tuning import percent

PART = 0.5  # containment from which one text is said to be a part of another
FOUND, MISSED, BEYOND, APART = "found", "missed", "beyond the limits", "apart"


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A pair of documents: what holds of it, what becomes of it and why, and what would help.

    `verdict` is "found", "missed" (near enough, but no candidate), "beyond the limits" (a
    candidate, not near enough) or "apart" (neither); `way` is the way that decides, the first
    that the collection has. `reasons` are sentences. `advice` is None where nothing is to be
    caught, or nothing would catch it.
    """

    facts: Facts
    way: str
    verdict: str
    reasons: tuple[str, ...]
    advice: Advice | None


def explained(found: Facts) -> Explanation:
    """The verdict on a pair, its reasons, and the advice where it is not found."""
    way = next((each for each in found.ways if each.is_there), found.ways[0])
    is_candidate = way.is_there and way.shared > 0
    verdict = _VERDICTS[is_candidate, found.is_near]
    reasons = (*_because(found, verdict, way.name), *_of_stale(found))
    advice = None if verdict == FOUND else advised(found, is_candidate=is_candidate)
    return Explanation(facts=found, way=way.name, verdict=verdict, reasons=reasons, advice=advice)


_VERDICTS = {
    (True, True): FOUND,
    (False, True): MISSED,
    (True, False): BEYOND,
    (False, False): APART,
}


def _because(found: Facts, verdict: str, way: str) -> Iterator[str]:
    if not found.has_words:
        for each in (found.first, found.second):
            if not each.entry.num_words:
                yield f"{each.id!r} has no word: it resembles nothing."
        return
    if found.is_exact:
        yield "They are the same word by word, after normalisation."
    if not found.is_near:
        yield _limits_of(found)
        yield from _parts(found)
    if verdict in (MISSED, APART):
        yield from _no_candidate(found, way)


def _limits_of(found: Facts) -> str:
    limits = found.limits
    given = [f"a distance of at most {limits.max_distance}"] * (limits.max_distance is not None)
    if limits.least_similarity() > 0 or not given:
        given.append(f"a similarity of at least {limits.least_similarity():g}")
    words = f"{found.distance:,} word{'' if found.distance == 1 else 's'}"
    return (
        f"They are {words} apart, where the limits allow {found.allowed:,} ({' and '.join(given)})."
    )


def _parts(found: Facts) -> Iterator[str]:
    """Whether one is much of a part of the other, which neither edits nor Jaccard tell."""
    names = ("containment", found.first, found.second), ("contained", found.second, found.first)
    for measure, part, whole in names:
        share = found.measured(measure).similarity
        if share >= PART and len(part.pieces) < len(whole.pieces) / 2:
            shown = f"{percent(share)} of the shingles of {part.id!r}"
            yield f"{shown} are in {whole.id!r}: it is a part of that."


def _no_candidate(found: Facts, way: str) -> Iterator[str]:
    """Why the two share no band (or none of what a collection without bands has)."""
    if found.fresh_bands:
        fresh = f"{len(found.fresh_bands)} of {_bands(found.settings)}"
        yield f"By signatures of their texts as they are now they would share {fresh}."
        return
    single = [each for each in (found.first, found.second) if _is_one_shingle(each)]
    if not found.shared_shingles:
        yield f"They share no shingle of {shape(found.settings)}."
    elif way not in ("duplicates", "bands"):
        yield f"They share none of what --by {way} compares."
    elif found.chance >= 0.5:
        yield (
            f"Bad luck: pairs as alike as these ({found.jaccard:.3f} by Jaccard) share one of"
            f" {_bands(found.settings)} in {percent(found.chance)} of cases; this one does not."
        )
    else:
        yield (
            f"Their Jaccard similarity of {found.jaccard:.3f} is low: pairs of it share one of"
            f" {_bands(found.settings)} in {percent(found.chance)} of cases."
        )
    if single:
        names = " and ".join(repr(each.id) for each in single)
        yield f"{names}: so short as to be a single shingle, which only equal texts share."
    elif found.is_near and found.chance < 0.5:
        yield _why_low(found)


def _why_low(found: Facts) -> str:
    """Why texts that are alike by words are not by shingles."""
    size = found.settings.shingle_size
    sizes = sorted(len(each.pieces) for each in (found.first, found.second))
    if sizes[0] < sizes[1] / 2:
        return (
            f"One has {sizes[0]:,} shingles and the other {sizes[1]:,}, so that it cannot exceed"
            f" {sizes[0] / sizes[1]:.2f}."
        )
    if found.settings.kind != "words":
        return f"Of {sizes[1]:,} shingles they share {found.shared_shingles:,}."
    return (
        f"Each changed word changes up to {size} shingles: of {sizes[1]:,} there are"
        f" {found.shared_shingles:,} left."
    )


def _of_stale(found: Facts) -> Iterator[str]:
    for each in (found.first, found.second):
        if each.stale:
            fields = ", ".join(each.stale)
            yield f"{each.id!r}: the stored {fields} are not those of its text; index it again."


def _is_one_shingle(each: Subject) -> bool:
    return each.pieces == {" ".join(each.words.forms)}


def shape(settings: Settings) -> str:
    """What a shingle is made of: "3 words"."""
    size, kind = settings.shingle_size, settings.kind
    return f"{size} {kind if size > 1 else kind.removesuffix('s')}"


def _bands(settings: Settings) -> str:
    return f"{settings.bands} bands of {settings.rows}"
