"""The verdict on a pair of documents: found or not, why, and what would find it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from neardup_solr.errors import counted
from neardup_solr.measures import floor
from neardup_solr.measures.aligned import ALIGNED
from neardup_solr.measures.sets import CONTAINMENT
from neardup_solr.measures.words import WORDS
from neardup_solr.minhash.plans import percent
from neardup_solr.reports.html import show_invisibles
from neardup_solr.settings import WORD_CAP, Settings
from neardup_solr.text.escape import Markup, make_html_table
from neardup_solr.verbs.explain.facts import Facts, Route

RELATED = 0.25  # below this similarity by words a pair is unrelated, unless its similarity
RELATED_ALIGNED = 0.5  # by aligned words is at least this
OF_RECORDS = ("fields", "model")  # measures whose similarity is a probability
MOST_WORDS = 5  # shared words that are named
PART = 0.5  # from this containment on, a text counts as a part of another
FOUND, MISSED, BEYOND, APART = "found", "missed", "beyond the limits", "apart"
VERDICTS = {  # by: is it a candidate, is it within the limits
    (True, True): FOUND,
    (False, True): MISSED,
    (True, False): BEYOND,
    (False, False): APART,
}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Explanation:
    """A pair of documents: the facts, whether it is found and why, and what would help.

    `verdict` is "found", "missed" (near enough, but not a candidate), "beyond the limits" (a
    candidate, but not near enough) or "apart" (neither); `way` is the way that decides, the first
    that the collection has. `reasons` are sentences. `advice` says what would find the pair, in the
    words of the command; "" if it is found, unrelated, or has to be indexed again.
    """

    facts: Facts
    way: str
    verdict: str
    reasons: tuple[str, ...]
    advice: str

    def __repr__(self) -> str:
        ids = f"{self.facts.first.id!r} and {self.facts.second.id!r}"
        return f"<Explanation: {ids}: {self.verdict}, by {self.way}>"

    def _repr_html_(self) -> str:
        facts, safe = self.facts, show_invisibles
        ids = " – ".join(safe(each.id, is_id=True) for each in (facts.first, facts.second))
        reasons = "".join(f"<p>{safe(reason)}</p>" for reason in self.reasons)
        words = []
        for change in facts.changes:
            one = safe(facts.first.words.text(change.first))
            other = safe(facts.second.words.text(change.second))
            words += [one] if change.kind == "equal" else [f"<del>{one}</del> <ins>{other}</ins>"]
        tables = "".join(
            make_html_table(heads, [[Markup(safe(cell)) for cell in row] for row in rows])
            for heads, *rows in list_tables(facts)
        )
        return f"<p><b>{ids}</b>: {self.verdict}</p>{reasons}<p>{' '.join(words)}</p>{tables}"


def explain_facts(facts: Facts) -> Explanation:
    """Make the verdict on a pair, its reasons, and advice if it is not found."""
    way = next((each for each in facts.ways if each.is_there), facts.ways[0])
    is_candidate = way.is_there and way.shared > 0
    verdict = VERDICTS[is_candidate, facts.is_near]
    return Explanation(
        facts=facts,
        way=way.name,
        verdict=verdict,
        reasons=tuple(_give_reasons(facts, way.name, is_candidate=is_candidate)),
        advice="" if verdict == FOUND else advise(facts, is_candidate=is_candidate),
    )


def make_record(explanation: Explanation) -> dict[str, Any]:
    """Make the whole record for programs, with settings as their fingerprints."""
    facts = explanation.facts
    evidence = [row._asdict() for row in facts.evidence]
    return {
        "id": facts.first.id,
        "other_id": facts.second.id,
        "verdict": explanation.verdict,
        "way": explanation.way,
        "reasons": explanation.reasons,
        "measure": facts.measure,
        "settings": facts.settings.fingerprint,
        "limits": asdict(facts.limits) | {"allowed": facts.allowed},
        "documents": [
            {
                "id": each.id,
                "words": each.entry.num_words,
                "shingles": len(each.pieces),
                "first_word": each.entry.first_word,
                "md5_hash": each.entry.md5_hash,
                "stale": each.stale,
            }
            for each in facts.both
        ],
        "measures": facts.measures,
        **({"evidence": evidence, "candidates": facts.candidates} if evidence else {}),
        "alignment": [row._asdict() for row in facts.alignment or ()],
        "shared_words": facts.shared_words,
        "shared_shingles": facts.shared_shingles,
        "shared_bands": facts.shared_bands,
        "differing_bands": facts.differing_bands,
        "chance": facts.chance,
        "ways": facts.ways,
        "advice": explanation.advice or None,
        "changes": [
            {
                "kind": each.kind,
                "first": facts.first.words.text(each.first),
                "second": facts.second.words.text(each.second),
            }
            for each in facts.changes
        ],
    }


def _give_reasons(facts: Facts, way: str, *, is_candidate: bool) -> Iterator[str]:
    for each in facts.both:
        if not each.entry.num_words:
            yield f"{each.id!r} has no words: it is similar to nothing."
    if facts.has_words:
        if facts.is_exact:
            yield "They are the same word for word, after normalization."
        if facts.difference:
            yield f"What has to be equal differs: {facts.difference}."
        if not facts.is_within:
            yield _describe_limits(facts)
            yield from _describe_floor(facts) if facts.evidence else _describe_parts(facts)
        if not is_candidate:
            yield from _explain_no_candidate(facts, way)
    for each in facts.both:
        if each.stale:
            fields = ", ".join(each.stale)
            is_stored = any(each.terms[name] for name in each.stale)
            problem = f"the stored {fields} do not match its text"
            yield f"{each.id!r}: {problem if is_stored else f'it has no {fields}'}; {each.remedy}."


def _describe_limits(facts: Facts) -> str:
    if facts.measure != "words":
        name = "same with a probability of" if facts.evidence else ""
        start = f"They are the {name}" if name else f"Their similarity by {facts.measure} is"
        return f"{start} {facts.similarity:.3f}; the limits ask for {facts.least:g} or more."
    bounds = []
    if facts.limits.max_distance is not None:
        bounds.append(f"a distance of at most {facts.limits.max_distance}")
    if facts.least > 0 or not bounds:
        bounds.append(f"a similarity of at least {facts.least:g}")
    words = counted(facts.distance, "word")
    return f"They are {words} apart; the limits allow {facts.allowed:,} ({' and '.join(bounds)})."


def _describe_floor(facts: Facts) -> Iterator[str]:
    """Say that fields cannot make a match, if the whole records differ or no field is in both."""
    from neardup_solr.measures.fields import FLOOR, MISSING_LEVEL

    evidence = facts.evidence[1:]
    if evidence and all(each.level == MISSING_LEVEL for each in evidence):
        yield "No field has a value in both of them, which is no evidence."
    elif (whole := facts.measured("aligned").similarity) < FLOOR:
        yield f"Below {FLOOR:g} by aligned words nothing is a match, and theirs is {whole:.3f}."


def _describe_parts(facts: Facts) -> Iterator[str]:
    """Say that one is a part of the other, if so, which neither edits nor Jaccard show."""
    sides = ("containment", facts.first, facts.second), ("contained", facts.second, facts.first)
    for measure, part, whole in sides:
        share = facts.measured(measure).similarity
        if share >= PART and len(part.pieces) < len(whole.pieces) / 2:
            shingles = f"{percent(share)} of the shingles of {part.id!r}"
            yield f"{shingles} are in {whole.id!r}: it is a part of it."


def _explain_no_candidate(facts: Facts, way: str) -> Iterator[str]:
    """Say why the two share no band (or nothing else, if the collection has no bands)."""
    settings, bands = facts.settings, f"{facts.settings.bands} bands of {facts.settings.rows}"
    cases = f"share one of {bands} in {percent(facts.chance)} of cases"
    if facts.by == "words":
        common = [f"{word} in {count:,}" for word, count in facts.shared_words.items()]
        words = ", ".join(common[:MOST_WORDS] + ["…"] * (len(common) > MOST_WORDS))
        none = "They share no word, even if words differ in spelling: only --by all compares them."
        few = f"They share no word that at most {WORD_CAP} documents have ({words})."
        yield few if common else none
        return
    if facts.fresh_bands:
        fresh = f"{len(facts.fresh_bands)} of {bands}"
        yield f"With signatures of their present texts they would share {fresh}."
        return
    if not facts.shared_shingles:
        yield f"They share no shingle of {describe_shingles(settings)}."
    elif way not in ("duplicates", "bands"):
        yield f"They share nothing that a search by {way} compares."
    elif facts.chance >= 0.5:
        similar = f"pairs as similar as this one ({facts.jaccard:.3f} by Jaccard)"
        yield f"Bad luck: {similar} {cases}; this one does not."
    else:
        yield f"Their Jaccard similarity of {facts.jaccard:.3f} is low: such pairs {cases}."
    if single := [repr(each.id) for each in facts.both if each.pieces == {each.entry.normal}]:
        names = " and ".join(single)
        yield f"{names}: so short that the text is a single shingle, which only equal texts share."
    elif facts.is_near and facts.chance < 0.5:
        most = max(len(each.pieces) for each in facts.both)
        shared = f"they share {facts.shared_shingles:,} of {most:,}"
        unit = settings.kind.removesuffix("s")
        yield f"Each changed {unit} changes up to {settings.shingle_size} shingles: {shared}."


def describe_shingles(settings: Settings) -> str:
    """Describe the shingles of settings: "3 words"."""
    size, kind = settings.shingle_size, settings.kind
    return f"{size} {kind if size > 1 else kind.removesuffix('s')}"


def advise(facts: Facts, *, is_candidate: bool) -> str:
    """Say in a sentence what would find a pair, or "" if it is unrelated or has to be renewed."""
    by_records = facts.measure in OF_RECORDS
    by_words = by_records or facts.measure in ("aligned", "records")
    words = facts.measured("words").similarity
    aligned = facts.measured("aligned").similarity if facts.alignment is not None else 0.0
    is_alike = words >= RELATED or max(facts.similarity, aligned) >= RELATED_ALIGNED
    if not facts.is_within and not by_words and any(_describe_parts(facts)):
        is_usual = facts.containment >= floor(CONTAINMENT.default)
        wider = "" if is_usual else _spell_least(facts.containment)
        return f"To find it as a part of the other: duplicates --measure containment{wider}."
    if facts.difference or not facts.has_words or not (facts.is_near or is_alike):
        return ""
    if facts.measure == "words" and words < WORDS.default and aligned >= floor(ALIGNED.default):
        return "To find it although words differ in spelling: duplicates --measure aligned."
    limits = "" if by_records else f" --measure {facts.measure}"
    limits += "" if facts.is_within else _widen(facts)
    if is_candidate:
        return f"To find it, widen the limits:{limits}."
    if facts.by == "words":  # a cap that lets a shared word make candidates
        cap = min(facts.shared_words.values(), default=None)
        way = "--by all" if cap is None else f"--cap {cap}"
        return f"To find it: duplicates{limits} {way}."
    if facts.fresh_bands:
        return ""
    return f"To find it: duplicates --by all{limits}, or other bands, by neardup tune."


def _widen(facts: Facts) -> str:
    """Spell the limits that just include the pair."""
    most, least = facts.limits.max_distance, facts.similarity
    wider = "" if most is None else f" --max-distance {max(most, facts.distance)}"
    if not wider or (facts.limits.min_similarity or 0) > least:
        wider += _spell_least(least)
    return wider


def _spell_least(similarity: float) -> str:
    return f" --min-similarity {math.floor(similarity * 100) / 100:g}"


def list_tables(facts: Facts) -> list[list[list[str]]]:
    """List tables under their headings: the measures, the fields if they are compared, the ways."""
    measures = [[each.measure, f"{each.similarity:.3f}", ""] for each in facts.measures]
    measures[0][2] = f"{facts.distance:,}"
    bits = sum(each.bits for each in facts.evidence)
    evidence = [[each.field or "at first", each.level, f"{each.bits:+.1f}"]
                for each in facts.evidence]  # fmt: skip
    evidence.append(["together", f"probability {facts.probability:.3f}", f"{bits:+.1f}"])
    ways = [[describe_way(way.name), describe_shared(facts, way), _describe_outcome(facts, way)]
            for way in facts.ways if way.is_there]  # fmt: skip
    return [
        [["measure", "similarity", "distance"], *measures],
        *([[["field", "agreement", "bits"], *evidence]] if facts.evidence[1:] else []),
        [["found by", "shared", ""], *ways],
    ]


def _describe_outcome(facts: Facts, way: Route) -> str:
    if way.shared:
        return FOUND if way.finds else BEYOND
    return MISSED if facts.is_near and way.name not in ("profile", "md5") else ""


def describe_way(name: str) -> str:
    """Describe a way in words of the command: "--by bands"."""
    return name if name == "duplicates" else f"--by {name}"


def describe_shared(facts: Facts, way: Route) -> str:
    """Describe the terms that a pair shares by a way: "3 of 42 bands"."""
    described = {
        "all": "every pair",
        "words": counted(way.shared, "rare word"),
        "bands": f"{way.shared} of {way.of} bands",
        "shingles": counted(way.shared, "shingle"),
        "signatures": f"{way.shared} of {way.of} values",
    }
    by = facts.by if way.name == "duplicates" else way.name
    return described.get(by) or ("the same" if way.shared else "different")
