"""Sentences that say why a pair is found or missed."""

from __future__ import annotations

from collections.abc import Iterator

from neardup_solr.answers import SAME
from neardup_solr.errors import counted
from neardup_solr.measures.equality import SYMBOLS, parse_equality
from neardup_solr.minhash import band_plans
from neardup_solr.settings import WORD_CAP
from neardup_solr.text.symbols import have_same_symbols
from neardup_solr.verbs.explain.facts import Facts

MOST_WORDS = 5  # shared words that are named
PART = 0.5  # from this containment on, a text counts as a part of another


def give_reasons(facts: Facts, way: str, *, is_candidate: bool) -> Iterator[str]:
    if facts.answer:
        yield f"By an answer they are {'the same' if facts.answer == SAME else 'different'}."
    if facts.unequal:
        names = " and ".join(facts.unequal)
        yield f"They have no equal value in {names}, so duplicates does not compare them."
    for each in facts.both:
        if not each.entry.num_words:
            yield f"{each.id!r} has no words, so it is not similar to any document."
    if facts.has_words:
        if facts.is_exact:
            yield _describe_exact(facts)
        if facts.difference:
            yield f"Parts that must be equal differ: {facts.difference}."
        if not facts.is_within:
            yield _describe_limits(facts)
            yield from _describe_floor(facts) if facts.evidence else describe_parts(facts)
        if not is_candidate:
            yield from _explain_no_candidate(facts, way)
    for each in facts.both:
        if each.stale:
            fields = ", ".join(each.stale)
            is_stored = any(each.terms[name] for name in each.stale)
            problem = f"the stored values of {fields} do not match its text"
            yield f"{each.id!r}: {problem if is_stored else f'it has no {fields}'}; {each.remedy}."


def _describe_exact(facts: Facts) -> str:
    """Say that the words are the same, and in which symbols the texts differ, if in any."""
    texts = [each.entry.content for each in facts.both]
    same = "They are the same word for word, after normalization"
    if have_same_symbols(*texts):
        return f"{same}."
    symbols = parse_equality(SYMBOLS).describe(*texts)
    return f"{same}, but differ in symbols{symbols.removeprefix(SYMBOLS)}."


def _describe_limits(facts: Facts) -> str:
    if facts.measure != "words":
        kind = "probability of a match" if facts.evidence else f"similarity ({facts.measure})"
        return f"Their {kind} is {facts.similarity:.3f}; the minimum is {facts.least:g}."
    bounds = []
    if facts.limits.max_distance is not None:
        bounds.append(f"a distance of at most {facts.limits.max_distance}")
    if facts.least > 0 or not bounds:
        bounds.append(f"a similarity of at least {facts.least:g}")
    words = counted(facts.distance, "word")
    return f"They are {words} apart; the limits allow {facts.allowed:,} ({' and '.join(bounds)})."


def _describe_floor(facts: Facts) -> Iterator[str]:
    """Say that fields cannot make a match, if the whole records differ or no field is in both."""
    from neardup_solr.measures.em import FLOOR
    from neardup_solr.measures.levels import MISSING_LEVEL

    evidence = facts.evidence[1:]
    if evidence and all(each.level == MISSING_LEVEL for each in evidence):
        yield "No field has a value in both documents, so there is no evidence."
    elif (whole := facts.measured("aligned").similarity) < FLOOR:
        yield f"Their aligned similarity is {whole:.3f}; below {FLOOR:g}, no pair is a match."


def describe_parts(facts: Facts) -> Iterator[str]:
    """Say that one is a part of the other, if so, which neither edits nor Jaccard show."""
    sides = ("containment", facts.first, facts.second), ("contained", facts.second, facts.first)
    for measure, part, whole in sides:
        share = facts.measured(measure).similarity
        if share >= PART and len(part.pieces) < len(whole.pieces) / 2:
            shingles = f"{band_plans.percent(share)} of the shingles of {part.id!r}"
            yield f"{shingles} are in {whole.id!r}: {part.id!r} is a part of it."


def _explain_no_candidate(facts: Facts, way: str) -> Iterator[str]:
    """Say why the two share no band (or nothing else, if the collection has no bands)."""
    settings, bands = facts.settings, f"{facts.settings.bands} bands of {facts.settings.rows}"
    cases = f"share one of {bands} in {band_plans.percent(facts.chance)} of cases"
    if facts.by == "words":
        common = [f"{word} in {count:,}" for word, count in facts.shared_words.items()]
        words = ", ".join(common[:MOST_WORDS] + ["…"] * (len(common) > MOST_WORDS))
        start = "They have no word in common"
        none = f"{start}, even allowing for spelling differences: only --by all compares them."
        few = f"{start} that occurs in at most {WORD_CAP} documents ({words})."
        yield few if common else none
        return
    if facts.fresh_bands:
        fresh = f"{len(facts.fresh_bands)} of {bands}"
        yield f"With signatures of their current texts, they would share {fresh}."
        return
    unit = settings.kind.removesuffix("s")
    if not facts.shared_shingles:
        size = counted(settings.shingle_size, unit)
        yield f"They share no shingle of {size}."
    elif way not in ("duplicates", "bands"):
        yield f"They have nothing in common that a search by {way} compares."
    elif facts.chance >= 0.5:
        similar = f"pairs as similar as this one (Jaccard similarity {facts.jaccard:.3f})"
        yield f"Bad luck: {similar} {cases}; this pair does not."
    else:
        yield f"Their Jaccard similarity of {facts.jaccard:.3f} is low: such pairs {cases}."
    if single := [repr(each.id) for each in facts.both if each.pieces == {each.entry.normal}]:
        names = " and ".join(single)
        yield f"{names}: the text is a single shingle, so most similar texts share none."
    elif facts.is_near and facts.chance < 0.5:
        most = max(len(each.pieces) for each in facts.both)
        shared = f"they share {facts.shared_shingles:,} of {most:,}"
        yield f"Each changed {unit} changes up to {settings.shingle_size} shingles: {shared}."
