"""Advice: options of the command that would find a pair."""

from __future__ import annotations

import math
import shlex
from dataclasses import replace

from neardup_solr.candidates import MOST_OF_ALL
from neardup_solr.measures import BY_PROBABILITY, floor, measure_named
from neardup_solr.measures.edited_words import WORDS
from neardup_solr.measures.sets import CONTAINMENT
from neardup_solr.minhash import band_plans, make_entry, signature
from neardup_solr.records import Document
from neardup_solr.verbs.explain.facts import Facts, find_shared_bands
from neardup_solr.verbs.explain.reasons import describe_parts

MOST_HASHES = 1_024  # of bands that are advised
RELATED = 0.25  # below this similarity by words a pair is unrelated, unless its similarity
RELATED_ALIGNED = 0.5  # by aligned words is at least this
PROBABLE = 0.3  # of which a threshold finds a pair without many that are none


def advise(facts: Facts, *, is_candidate: bool) -> str:
    """Say in a sentence what would find a pair, or "" if it is unrelated or has to be renewed."""
    by_records = facts.measure in BY_PROBABILITY
    by_words = by_records or facts.measure in ("aligned", "records")
    words = facts.measured("words").similarity
    aligned = facts.measured("aligned").similarity if facts.alignment is not None else 0.0
    is_alike = words >= RELATED or max(facts.similarity, aligned) >= RELATED_ALIGNED
    if not facts.is_within and not by_words and any(describe_parts(facts)):
        is_usual = facts.containment >= floor(CONTAINMENT.default)
        wider = "" if is_usual else _spell_least(facts.containment)
        return f"To find it by containment: duplicates --measure containment{wider}."
    if facts.difference or not facts.has_words or not (facts.is_near or is_alike):
        return ""
    if (
        facts.measure == "words"
        and words < WORDS.default
        and aligned >= floor(measure_named("aligned").default)
    ):
        return "To find it despite spelling differences: duplicates --measure aligned."
    limits = "" if by_records else f" --measure {facts.measure}"
    limits += "" if facts.is_within else _widen(facts)
    is_improbable = by_records and not facts.is_within and facts.similarity < PROBABLE
    if is_improbable:  # a threshold as low would take in many others
        both = " ".join(shlex.quote(each.id) for each in facts.both)
        answer = f"neardup answer {both} same --answers FILE"
        return f"If they are the same: {answer}, then duplicates --answers FILE."
    if is_candidate:
        return f"To find it, widen the limits:{limits}."
    if facts.by == "words":  # a cap that lets a shared word make candidates
        cap = min(facts.shared_words.values(), default=0)
        if 0 < cap * cap <= 2 * MOST_OF_ALL:
            return f"To find it: duplicates{limits} --cap {cap}."
        return _advise_way(facts, limits, has_bands=False)
    return "" if facts.fresh_bands else _advise_way(facts, limits)


def _advise_way(facts: Facts, limits: str, *, has_bands: bool = True) -> str:
    """Advise to compare all pairs, if these are few enough, or bands that the pair shares."""
    pairs = facts.documents * (facts.documents - 1) // 2
    if pairs <= MOST_OF_ALL:
        count = f" ({pairs:,} pairs to compare)" if pairs else ""
        return f"To find it: duplicates{limits} --by all{count}."
    plan = _find_plan(facts, pairs) if has_bands else None
    if plan is None:
        return ""
    bands = f"--bands {plan.bands} --band-rows {plan.rows}"
    if facts.is_stored:
        return f"To find it: neardup reband with {bands}, then duplicates{limits}."
    hashes = max(plan.hashes, facts.settings.hashes)
    more = f" --hashes {hashes}" if hashes > facts.settings.hashes else ""
    return f"To find it: duplicates{limits} {bands}{more}."


def _find_plan(facts: Facts, pairs: int) -> band_plans.Plan | None:
    """Find bands that the pair shares, and few enough of so many unrelated pairs do."""
    settings, most = facts.settings, MOST_HASHES
    if facts.is_stored:
        most = settings.hashes
    demand = band_plans.Demand()
    if facts.jaccard <= demand.avoid:
        return None
    for plan in band_plans.catching(replace(demand, catch=facts.jaccard), most):
        if plan.load * pairs > MOST_OF_ALL:
            continue
        hashes = max(plan.hashes, settings.hashes)
        tried = replace(settings, bands=plan.bands, rows=plan.rows, hashes=hashes)
        texts = (Document(id=each.id, text=each.entry.content) for each in facts.both)
        first, second = (signature.decode(make_entry(each, tried).signature) for each in texts)
        if find_shared_bands(first, second, tried):
            return plan
    return None


def _widen(facts: Facts) -> str:
    """Spell the limits that just include the pair."""
    most, least = facts.limits.max_distance, facts.similarity
    wider = "" if most is None else f" --max-distance {max(most, facts.distance)}"
    if not wider or (facts.limits.min_similarity or 0) > least:
        wider += _spell_least(least)
    return wider


def _spell_least(similarity: float) -> str:
    return f" --min-similarity {math.floor(similarity * 100) / 100:g}"
