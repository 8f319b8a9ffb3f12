"""What becomes of a pair of documents: found or not, why, and the cheapest way to catch it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from neardup_solr.arguments import MeasureName
from neardup_solr.candidates.by_word import WORD_CAP
from neardup_solr.measures import Limits, floor
from neardup_solr.measures.aligned import MEASURE as ALIGNED
from neardup_solr.measures.containment import MEASURE as CONTAINMENT
from neardup_solr.measures.words import MEASURE as WORDS
from neardup_solr.minhash import plans
from neardup_solr.minhash.families import minhash
from neardup_solr.minhash.plans import Demand, curve, percent
from neardup_solr.minhash.signature import Signature
from neardup_solr.reports.html import invisibles
from neardup_solr.settings import Settings
from neardup_solr.text.markup import html_table
from neardup_solr.text.normalize import normalize
from neardup_solr.text.shingles import shingles
from neardup_solr.verbs.explain.facts import Facts, Subject

SURE = 0.9  # advised settings find at least this share of pairs as similar as the pair
BEARABLE = 0.05  # and at most this share of pairs of unrelated texts
RELATED = 0.25  # below this similarity by words a pair is unrelated, unless its similarity
RELATED_ALIGNED = 0.5  # by aligned words is at least this

# The Jaccard similarity that 99 of 100 pairs of unrelated English texts do not reach, by shingles:
# measured on news articles, titles of papers and texts of unrelated sentences.
UNRELATED = {("words", 1): 0.15, ("words", 2): 0.05, ("words", 3): 0.03, ("chars", 5): 0.1}
MORE_HASHES = (256, 512)


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """The cheapest change that catches a pair.

    `again` has the ids of documents to index again, because their stored fields do not match their
    texts. `limits` are wider limits, if they are needed. `settings` are other settings, if the pair
    has to share a band; then `similarity` is its Jaccard similarity with them, `chance` the
    probability that such a pair shares a band, and `load` the share of unrelated pairs that do
    (`load_now`: with the present settings). Unless `needs_texts`, stored signatures are enough
    (`reband`). `by` is a way to search that finds the pair as a candidate, if no bands do.
    `measure` is a measure that finds the pair with `duplicates`, if its words differ in spelling or
    one is a part of the other, `cap` the least cap at which a word that the two share makes them
    candidates.
    """

    again: tuple[str, ...] = ()
    limits: Limits | None = None
    settings: Settings | None = None
    similarity: float = 0.0
    chance: float = 0.0
    load: float = 0.0
    load_now: float = 0.0
    needs_texts: bool = False
    by: str | None = None
    measure: MeasureName | None = None
    cap: int | None = None


def advised(found: Facts, *, is_candidate: bool) -> Advice | None:
    """The cheapest change that catches a pair, or None if it is unrelated, or if no change does.

    If it is beyond the limits, wider ones; if it is not a candidate, the first that helps of these:
    index again what has changed, other bands of the stored signatures, other shingles, a search.
    """
    if not found.is_near and found.measure != "aligned" and any(_parts(found)):
        return _by_containment(found)
    if not is_related(found):
        return None
    if is_aligned(found):
        return Advice(measure="aligned")
    limits = None if found.is_near else _wider(found)
    if is_candidate:
        return Advice(limits=limits)
    if found.by == "words":
        return replace(_by_words(found), limits=limits)
    if found.fresh_bands:
        again = tuple(each.id for each in (found.first, found.second) if each.stale)
        return Advice(again=again, limits=limits)
    advice = _by_bands(found) or _by_texts(found) or _by_search(found)
    return replace(advice, limits=limits) if advice else None


def is_related(found: Facts) -> bool:
    """Return True if a pair is similar enough to be worth catching."""
    measured = {each.measure: each.similarity for each in found.measures}
    is_alike = measured["words"] >= RELATED or measured.get("aligned", 0.0) >= RELATED_ALIGNED
    if found.measure in ("aligned", "containment"):
        is_alike = found.similarity >= RELATED_ALIGNED
    return found.has_words and (found.is_near or is_alike)


def is_aligned(found: Facts) -> bool:
    """Return True if they are near only if words may differ in spelling."""
    if found.measure != "words":
        return False
    by_words = found.measured("words").similarity >= WORDS.least(Limits())
    return not by_words and any(
        each.measure == "aligned" and each.similarity >= floor(ALIGNED.default)
        for each in found.measures
    )


def _wider(found: Facts) -> Limits:
    """Limits that just include the pair, changed as little as possible."""
    if found.measure != "words":
        return Limits(min_similarity=math.floor(found.similarity * 100) / 100)
    longest = max(found.first.entry.num_words, found.second.entry.num_words)
    most, least = found.limits.max_distance, WORDS.least(found.limits)
    if most is not None:
        most = max(most, found.distance)
    if found.distance > WORDS.allowed(longest, Limits(min_similarity=least)):
        least = math.floor(found.measured("words").similarity * 100) / 100
    return Limits(max_distance=most, min_similarity=least)


def _by_containment(found: Facts) -> Advice:
    """The measure that finds a part of a text, and its limit if the part differs too much."""
    share = max(found.measured(name).similarity for name in ("containment", "contained"))
    limits = Limits(min_similarity=math.floor(share * 100) / 100)
    is_default = share >= floor(CONTAINMENT.default)
    return Advice(measure="containment", limits=None if is_default else limits)


def _by_words(found: Facts) -> Advice:
    """A cap that lets a shared word make candidates; every pair, if they share none."""
    least = min(found.shared_words.values(), default=None)
    return Advice(by="all") if least is None else Advice(cap=least)


def _by_bands(found: Facts) -> Advice | None:
    """Other bands of the present signatures."""
    needed = frozenset({"signature", "content_bands"})
    settings = replace(found.settings, fields=found.settings.fields | needed)
    signatures = found.first.signature, found.second.signature
    needs_texts = not needed <= found.settings.fields
    return _cheapest(found, settings, signatures, found.jaccard, needs_texts=needs_texts)


def _by_texts(found: Facts) -> Advice | None:
    """Other shingles or more hashes, which need the texts again: those with the least load."""
    tried = [_anew(found, shaping) for shaping in _shapings(found.settings)]
    advised = [each for each in tried if each is not None]
    return min(advised, key=lambda a: (max(a.load, a.load_now), -a.chance), default=None)


def _by_search(found: Facts) -> Advice | None:
    candidate = (way.name for way in found.ways if way.is_there and way.shared)
    by = next(candidate, None)
    return None if by is None else Advice(by=by)


def _shapings(settings: Settings) -> Iterator[dict[str, Any]]:
    yield from ({"hashes": more} for more in MORE_HASHES if more > settings.hashes)
    for kind, size in UNRELATED:
        if (kind, size) != (settings.kind, settings.shingle_size):
            yield {"kind": kind, "shingle_size": size, "language": "english"}


def _anew(found: Facts, shaping: dict[str, Any]) -> Advice | None:
    settings = replace(found.settings, **shaping)
    forms = [normalize(each.entry.content) for each in (found.first, found.second)]
    one, other = (shingles(form, settings) for form in forms)
    shared = len(set(one) & set(other))
    similarity = shared / (len(one) + len(other) - shared)
    signatures = minhash(one, settings), minhash(other, settings)
    return _cheapest(found, settings, signatures, similarity, needs_texts=True)


def _cheapest(
    found: Facts,
    settings: Settings,
    signatures: tuple[Signature, Signature],
    similarity: float,
    *,
    needs_texts: bool,
) -> Advice | None:
    """The cheapest bands that the pair shares and that find nine in ten similar pairs."""
    now = load(found.settings)
    chosen = cheapest_bands(signatures, settings, similarity, budget=now)
    if chosen is None:
        return None
    return Advice(
        settings=chosen,
        similarity=similarity,
        chance=float(curve(similarity, chosen.bands, chosen.rows)),
        load=load(chosen),
        load_now=now,
        needs_texts=needs_texts,
    )


def cheapest_bands(
    signatures: tuple[Signature, Signature],
    settings: Settings,
    similarity: float,
    *,
    budget: float,
) -> Settings | None:
    """The bands with the least load that two signatures of this Jaccard similarity share.

    They find nine in ten such pairs. Loads within the `budget` count as equal: then the bands that
    find most are chosen. None if even the least load is too high.
    """
    if not (len(signatures[0]) and len(signatures[1])) or similarity <= unrelated(settings):
        return None
    equal = signatures[0] == signatures[1]
    demand = Demand(catch=similarity, miss=1 - SURE, avoid=unrelated(settings))
    choices = []
    for plan in plans.catching(demand, settings.hashes):
        most = settings.hashes // plan.rows
        whole = equal[: most * plan.rows].reshape(most, plan.rows).all(axis=1)
        if whole.any():
            affordable = int(math.log1p(-budget) / math.log1p(-(demand.avoid**plan.rows)))
            bands = max(plan.bands, int(whole.argmax()) + 1, min(affordable, most))
            choices.append(replace(settings, bands=bands, rows=plan.rows))

    def cost(choice: Settings) -> tuple[float, float]:
        return max(load(choice), budget), -float(curve(similarity, choice.bands, choice.rows))

    best = min(choices, key=cost, default=None)
    return best if best is not None and load(best) <= BEARABLE else None


def load(settings: Settings) -> float:
    """The share of unrelated pairs that share a band, if they are as similar as they can be."""
    return float(curve(unrelated(settings), settings.bands, settings.rows))


def unrelated(settings: Settings) -> float:
    """The Jaccard similarity that hardly any unrelated texts reach, with such shingles."""
    return UNRELATED.get((settings.kind, settings.shingle_size), Demand().avoid)


MOST_WORDS = 5  # shared words that are named
PART = 0.5  # from this containment on, a text counts as a part of another
FOUND, MISSED, BEYOND, APART = "found", "missed", "beyond the limits", "apart"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Explanation:
    """A pair of documents: the facts, whether it is found and why, and what would help.

    `verdict` is "found", "missed" (near enough, but not a candidate), "beyond the limits" (a
    candidate, but not near enough) or "apart" (neither); `way` is the way that decides, the first
    that the collection has. `reasons` are sentences. `advice` is None if the pair is unrelated, or
    if nothing would catch it.
    """

    facts: Facts
    way: str
    verdict: str
    reasons: tuple[str, ...]
    advice: Advice | None

    def __repr__(self) -> str:
        ids = f"{self.facts.first.id!r} and {self.facts.second.id!r}"
        return f"<Explanation: {ids}: {self.verdict}, by {self.way}>"

    def _repr_html_(self) -> str:
        facts, safe = self.facts, invisibles.shown
        ids = " – ".join(safe(each.id, is_id=True) for each in (facts.first, facts.second))
        reasons = "".join(f"<p>{safe(reason)}</p>" for reason in self.reasons)
        words = []
        for change in facts.changes:
            one = safe(facts.first.words.text(change.first))
            other = safe(facts.second.words.text(change.second))
            words += [one] if change.kind == "equal" else [f"<del>{one}</del> <ins>{other}</ins>"]
        measures = html_table(
            ("measure", "similarity", "distance"),
            [(one.measure, f"{one.similarity:.3f}", "" if one.distance is None else one.distance)
             for one in facts.measures],
        )  # fmt: skip
        ways = html_table(
            ("found by", "shared", "of", "found"),
            [(way.name, way.shared, way.of, "yes" if way.finds else "no")
             for way in facts.ways if way.is_there],
        )  # fmt: skip
        return (
            f"<p><b>{ids}</b>: {self.verdict}</p>{reasons}<p>{' '.join(words)}</p>{measures}{ways}"
        )


def explained(found: Facts) -> Explanation:
    """The verdict on a pair, its reasons, and advice if it is not found."""
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
                yield f"{each.id!r} has no words: it is similar to nothing."
        return
    if found.is_exact:
        yield "They are the same word for word, after normalization."
    if not found.is_near:
        yield _limits_of(found)
        yield from _parts(found)
    if verdict in (MISSED, APART):
        yield from _no_candidate(found, way)


def _limits_of(found: Facts) -> str:
    if found.measure != "words":
        ask = f"the limits ask for {found.least:g} or more"
        return f"Their similarity by {found.measure} is {found.similarity:.3f}; {ask}."
    limits, least = found.limits, WORDS.least(found.limits)
    given = [f"a distance of at most {limits.max_distance}"] * (limits.max_distance is not None)
    if least > 0 or not given:
        given.append(f"a similarity of at least {least:g}")
    words = f"{found.distance:,} word{'' if found.distance == 1 else 's'}"
    return f"They are {words} apart; the limits allow {found.allowed:,} ({' and '.join(given)})."


def _parts(found: Facts) -> Iterator[str]:
    """Return True if one is a part of the other, which neither edits nor Jaccard show."""
    names = ("containment", found.first, found.second), ("contained", found.second, found.first)
    for measure, part, whole in names:
        share = found.measured(measure).similarity
        if share >= PART and len(part.pieces) < len(whole.pieces) / 2:
            shown = f"{percent(share)} of the shingles of {part.id!r}"
            yield f"{shown} are in {whole.id!r}: it is a part of it."


def _no_candidate(found: Facts, way: str) -> Iterator[str]:
    """Why the two share no band (or nothing else, if the collection has no bands)."""
    if found.by == "words":
        yield _no_rare_word(found)
        return
    if found.fresh_bands:
        fresh = f"{len(found.fresh_bands)} of {_bands(found.settings)}"
        yield f"With signatures of their present texts they would share {fresh}."
        return
    single = [each for each in (found.first, found.second) if _is_one_shingle(each)]
    if not found.shared_shingles:
        yield f"They share no shingle of {shape(found.settings)}."
    elif way not in ("duplicates", "bands"):
        yield f"They share nothing that a search by {way} compares."
    elif found.chance >= 0.5:
        yield (
            f"Bad luck: pairs as similar as this one ({found.jaccard:.3f} by Jaccard) share one of"
            f" {_bands(found.settings)} in {percent(found.chance)} of cases; this one does not."
        )
    else:
        yield (
            f"Their Jaccard similarity of {found.jaccard:.3f} is low: such pairs share one of"
            f" {_bands(found.settings)} in {percent(found.chance)} of cases."
        )
    if single:
        names = " and ".join(repr(each.id) for each in single)
        yield f"{names}: so short that the text is a single shingle, which only equal texts share."
    elif found.is_near and found.chance < 0.5:
        yield _why_low(found)


def _no_rare_word(found: Facts) -> str:
    common = [f"{word} in {count:,}" for word, count in found.shared_words.items()]
    if not common:
        return "They share no word, even if words differ in spelling: only --by all compares them."
    shown = ", ".join(common[:MOST_WORDS]) + (", …" if len(common) > MOST_WORDS else "")
    return f"They share no word that at most {WORD_CAP} documents have ({shown})."


def _why_low(found: Facts) -> str:
    """Why texts that are similar by words are not similar by shingles."""
    size = found.settings.shingle_size
    sizes = sorted(len(each.pieces) for each in (found.first, found.second))
    if sizes[0] < sizes[1] / 2:
        return (
            f"One has {sizes[0]:,} shingles and the other {sizes[1]:,}, so it cannot exceed"
            f" {sizes[0] / sizes[1]:.2f}."
        )
    if found.settings.kind != "words":
        return f"They share {found.shared_shingles:,} of {sizes[1]:,} shingles."
    return (
        f"Each changed word changes up to {size} shingles: they share"
        f" {found.shared_shingles:,} of {sizes[1]:,}."
    )


def _of_stale(found: Facts) -> Iterator[str]:
    for each in (found.first, found.second):
        if each.stale:
            fields = ", ".join(each.stale)
            is_stored = any(each.terms[name] for name in each.stale)
            problem = f"the stored {fields} do not match its text"
            yield f"{each.id!r}: {problem if is_stored else f'it has no {fields}'}; {each.remedy}."


def _is_one_shingle(each: Subject) -> bool:
    return each.pieces == {" ".join(each.words.forms)}


def shape(settings: Settings) -> str:
    """Describe a shingle: "3 words"."""
    size, kind = settings.shingle_size, settings.kind
    return f"{size} {kind if size > 1 else kind.removesuffix('s')}"


def _bands(settings: Settings) -> str:
    return f"{settings.bands} bands of {settings.rows}"
