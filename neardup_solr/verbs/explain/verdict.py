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


def advise(found: Facts, *, is_candidate: bool) -> str:
    """Say in a sentence what would find a pair, or "" if it is unrelated or has to be renewed."""
    by_words = found.measure in ("aligned", "records", *OF_RECORDS)
    asked = "" if found.measure in OF_RECORDS else f" --measure {found.measure}"
    limits = asked if found.is_within else f"{asked}{_widen(found)}"
    if not found.is_within and not by_words and any(_describe_parts(found)):
        is_usual = found.containment >= floor(CONTAINMENT.default)
        wider = "" if is_usual else f" --min-similarity {_round_down(found.containment):g}"
        return f"To find it as a part of the other: duplicates --measure containment{wider}."
    if found.difference or not is_related(found):
        return ""
    differs = found.measure == "words" and found.measured("words").similarity < WORDS.default
    if differs and _measure_aligned(found) >= floor(ALIGNED.default):
        return "To find it although words differ in spelling: duplicates --measure aligned."
    if is_candidate:
        return f"To find it, widen the limits:{limits}."
    if found.by == "words":  # a cap that lets a shared word make candidates
        cap = min(found.shared_words.values(), default=None)
        way = "--by all" if cap is None else f"--cap {cap}"
        return f"To find it: duplicates{limits} {way}."
    if found.fresh_bands:
        return ""
    return f"To find it: duplicates --by all{limits}, or other bands, by neardup tune."


def is_related(found: Facts) -> bool:
    """Return True if a pair is similar enough to be worth catching."""
    if found.measure in OF_RECORDS:
        is_alike = found.similarity >= RELATED
    elif found.measure in ("aligned", "records", "containment"):
        is_alike = found.similarity >= RELATED_ALIGNED
    else:
        is_alike = found.measured("words").similarity >= RELATED
        is_alike = is_alike or _measure_aligned(found) >= RELATED_ALIGNED
    return found.has_words and (found.is_near or is_alike)


def _measure_aligned(found: Facts) -> float:
    """Return the similarity by aligned words, 0 if it was not measured."""
    return 0.0 if found.alignment is None else found.measured("aligned").similarity


def _widen(found: Facts) -> str:
    """Spell the limits that just include the pair."""
    most, least = found.limits.max_distance, found.similarity
    wider = "" if most is None else f" --max-distance {max(most, found.distance)}"
    if not wider or (found.limits.min_similarity or 0) > least:
        wider += f" --min-similarity {_round_down(least):g}"
    return wider


def _round_down(similarity: float) -> float:
    return math.floor(similarity * 100) / 100


MOST_WORDS = 5  # shared words that are named
MOST_STAND_INS = 2  # words for words of an alignment
PART = 0.5  # from this containment on, a text counts as a part of another
FOUND, MISSED, BEYOND, APART = "found", "missed", "beyond the limits", "apart"


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


def explain_facts(found: Facts) -> Explanation:
    """Give the verdict on a pair, its reasons, and advice if it is not found."""
    way = next((each for each in found.ways if each.is_there), found.ways[0])
    is_candidate = way.is_there and way.shared > 0
    verdict = _VERDICTS[is_candidate, found.is_near]
    return Explanation(
        facts=found,
        way=way.name,
        verdict=verdict,
        reasons=tuple(_give_reasons(found, way.name, is_candidate=is_candidate)),
        advice="" if verdict == FOUND else advise(found, is_candidate=is_candidate),
    )


_VERDICTS = {
    (True, True): FOUND,
    (False, True): MISSED,
    (True, False): BEYOND,
    (False, False): APART,
}


def make_record(found: Explanation) -> dict[str, Any]:
    """Make the whole record for programs, with settings as their fingerprints."""
    facts = found.facts
    evidence = [row._asdict() for row in facts.evidence]
    return {
        "id": facts.first.id,
        "other_id": facts.second.id,
        "verdict": found.verdict,
        "way": found.way,
        "reasons": found.reasons,
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
        "advice": found.advice or None,
        "changes": [
            {
                "kind": each.kind,
                "first": facts.first.words.text(each.first),
                "second": facts.second.words.text(each.second),
            }
            for each in facts.changes
        ],
    }


def _give_reasons(found: Facts, way: str, *, is_candidate: bool) -> Iterator[str]:
    for each in found.both:
        if not each.entry.num_words:
            yield f"{each.id!r} has no words: it is similar to nothing."
    if found.has_words:
        if found.is_exact:
            yield "They are the same word for word, after normalization."
        if found.difference:
            yield f"What has to be equal differs: {found.difference}."
        if not found.is_within:
            yield _describe_limits(found)
            yield from _describe_floor(found) if found.evidence else _describe_parts(found)
        if not is_candidate:
            yield from _explain_no_candidate(found, way)
    for each in found.both:
        if each.stale:
            fields = ", ".join(each.stale)
            is_stored = any(each.terms[name] for name in each.stale)
            problem = f"the stored {fields} do not match its text"
            yield f"{each.id!r}: {problem if is_stored else f'it has no {fields}'}; {each.remedy}."


def _describe_limits(found: Facts) -> str:
    if found.measure != "words":
        ask = f"the limits ask for {found.least:g} or more"
        if found.evidence:
            return f"They are the same with a probability of {found.similarity:.3f}; {ask}."
        return f"Their similarity by {found.measure} is {found.similarity:.3f}; {ask}."
    given = []
    if found.limits.max_distance is not None:
        given.append(f"a distance of at most {found.limits.max_distance}")
    if found.least > 0 or not given:
        given.append(f"a similarity of at least {found.least:g}")
    words = counted(found.distance, "word")
    return f"They are {words} apart; the limits allow {found.allowed:,} ({' and '.join(given)})."


def _describe_floor(found: Facts) -> Iterator[str]:
    """Say that fields cannot make a match, if the whole records differ or no field is in both."""
    from neardup_solr.measures.fields import FLOOR, MISSING_LEVEL

    told = found.evidence[1:]
    if told and all(one.level == MISSING_LEVEL for one in told):
        yield "No field has a value in both of them, which is no evidence."
    elif (whole := found.measured("aligned").similarity) < FLOOR:
        yield f"Below {FLOOR:g} by aligned words nothing is a match, and theirs is {whole:.3f}."


def _describe_parts(found: Facts) -> Iterator[str]:
    """Say that one is a part of the other, if so, which neither edits nor Jaccard show."""
    sides = ("containment", found.first, found.second), ("contained", found.second, found.first)
    for measure, part, whole in sides:
        share = found.measured(measure).similarity
        if share >= PART and len(part.pieces) < len(whole.pieces) / 2:
            shingles = f"{percent(share)} of the shingles of {part.id!r}"
            yield f"{shingles} are in {whole.id!r}: it is a part of it."


def _explain_no_candidate(found: Facts, way: str) -> Iterator[str]:
    """Say why the two share no band (or nothing else, if the collection has no bands)."""
    bands, jaccard = describe_bands(found.settings), f"{found.jaccard:.3f}"
    cases = f"share one of {bands} in {percent(found.chance)} of cases"
    if found.by == "words":
        common = [f"{word} in {count:,}" for word, count in found.shared_words.items()]
        words = ", ".join(common[:MOST_WORDS] + ["…"] * (len(common) > MOST_WORDS))
        none = "They share no word, even if words differ in spelling: only --by all compares them."
        few = f"They share no word that at most {WORD_CAP} documents have ({words})."
        yield few if common else none
        return
    if found.fresh_bands:
        fresh = f"{len(found.fresh_bands)} of {bands}"
        yield f"With signatures of their present texts they would share {fresh}."
        return
    if not found.shared_shingles:
        yield f"They share no shingle of {describe_shingles(found.settings)}."
    elif way not in ("duplicates", "bands"):
        yield f"They share nothing that a search by {way} compares."
    elif found.chance >= 0.5:
        similar = f"pairs as similar as this one ({jaccard} by Jaccard)"
        yield f"Bad luck: {similar} {cases}; this one does not."
    else:
        yield f"Their Jaccard similarity of {jaccard} is low: such pairs {cases}."
    if single := [repr(each.id) for each in found.both if each.pieces == {each.entry.normal}]:
        names = " and ".join(single)
        yield f"{names}: so short that the text is a single shingle, which only equal texts share."
    elif found.is_near and found.chance < 0.5:
        yield _explain_low_jaccard(found)


def _explain_low_jaccard(found: Facts) -> str:
    """Say why texts that are similar by words are not similar by shingles."""
    less, more = sorted(len(each.pieces) for each in found.both)
    if less < more / 2:
        few = f"One has {less:,} shingles and the other {more:,}"
        return f"{few}, so it cannot exceed {less / more:.2f}."
    share = f"hey share {found.shared_shingles:,} of {more:,} shingles."
    if found.settings.kind != "words":
        return f"T{share}"
    return f"Each changed word changes up to {found.settings.shingle_size} shingles: t{share}"


def describe_shingles(settings: Settings) -> str:
    """Describe the shingles of settings: "3 words"."""
    size, kind = settings.shingle_size, settings.kind
    return f"{size} {kind if size > 1 else kind.removesuffix('s')}"


def describe_bands(settings: Settings) -> str:
    """Describe the bands of settings: "42 bands of 3"."""
    return f"{settings.bands} bands of {settings.rows}"


def list_tables(facts: Facts) -> list[list[list[str]]]:
    """List the tables of a pair: its measures, what its fields say if they are compared, ways."""
    evidence = [list_evidence(facts)] if facts.evidence[1:] else []
    return [list_measures(facts), *evidence, list_ways(facts)]


def list_measures(facts: Facts) -> list[list[str]]:
    """List the pair by every measure under a heading, with a note on each."""
    shared, (one, other) = facts.shared_shingles, (len(each.pieces) for each in facts.both)
    estimate = facts.measured("estimate")
    notes = {
        "jaccard": f"{shared:,} of {one + other - shared:,} shingles are in both",
        "containment": f"{shared:,} of {one:,} shingles of the first",
        "contained": f"{shared:,} of {other:,} shingles of the second",
        "estimate": f"jaccard by signatures: {estimate.low:.2f}–{estimate.high:.2f} (95 %)",
        "aligned": _describe_alignment(facts),
        "records": "as aligned, halved if most numbers differ",
        "fields": f"by weights that {counted(facts.candidates, 'pair')} taught",
        "model": "by what answers taught",
    }
    limits = f"the limits ask for {facts.least:g}; {notes.get(facts.measure, '')}"
    if facts.measure == "words":
        limits = f"the limits allow a distance of {facts.allowed:,}"
    notes[facts.measure] = limits
    rows = [["measure", "similarity", "distance", ""]]
    for each in facts.measures:
        distance = "" if each.distance is None else f"{each.distance:,}"
        rows.append([each.measure, f"{each.similarity:.3f}", distance, notes.get(each.measure, "")])
    return rows


def _describe_alignment(facts: Facts) -> str:
    """Name the first words that correspond to other ones, and count the others."""
    both = [row for row in facts.alignment or () if row.first and row.second]
    other = [f"{row.first} ≈ {row.second}" for row in both if row.first != row.second]
    more = f" and {len(other) - MOST_STAND_INS} more" if len(other) > MOST_STAND_INS else ""
    words = f"{', '.join(other[:MOST_STAND_INS])}{more}"
    return words or f"{counted(len(both), 'word')} aligned, rare ones weigh more"


def list_evidence(facts: Facts) -> list[list[str]]:
    """List what each field adds to the odds under a heading, and all of them together."""
    rows = [["field", "agreement", "bits"]]
    rows += [[one.field or "at first", one.level, f"{one.bits:+.1f}"] for one in facts.evidence]
    bits = sum(one.bits for one in facts.evidence)
    return [*rows, ["together", f"probability {facts.probability:.3f}", f"{bits:+.1f}"]]


def list_ways(facts: Facts) -> list[list[str]]:
    """List the ways to find the pair under a heading, and what becomes of it by each."""
    rows = [["found by", "shared", "chance", ""]]
    for way in facts.ways:
        cells = ["", "", "not indexed"]
        if way.is_there:
            is_missed = facts.is_near and way.name not in ("profile", "md5")
            outcome = MISSED if is_missed else ""
            if way.shared:
                outcome = FOUND if way.finds else BEYOND
            chance = "" if way.chance is None else percent(way.chance)
            cells = [describe_shared(facts, way), chance, outcome]
        rows.append([describe_way(way.name), *cells])
    return rows


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
