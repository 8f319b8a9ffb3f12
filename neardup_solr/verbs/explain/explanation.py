"""The explanation of a pair: a verdict, reasons, advice, and its record for programs."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from neardup_solr.answers import SAME
from neardup_solr.reports.html.invisibles import show_invisibles
from neardup_solr.reports.html_table import Markup, make_html_table
from neardup_solr.text.diff import Change
from neardup_solr.verbs.explain.advice import advise
from neardup_solr.verbs.explain.facts import APART, BEYOND, FOUND, MISSED, Facts
from neardup_solr.verbs.explain.reasons import give_reasons
from neardup_solr.verbs.explain.tables import list_tables, mark_words

SHARED = ("shared_words", "shared_shingles", "shared_bands", "differing_bands", "chance", "ways")
VERDICTS = {  # by: is it a candidate, is it within the limits
    (True, True): FOUND,
    (False, True): MISSED,
    (True, False): BEYOND,
    (False, False): APART,
}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Explanation:
    """Explanation of a pair.

    `facts`: texts, similarities and shared terms; `way`: how the pair would be found
    ("duplicates", or a value of `by`); `verdict`: "found", "missed" (near enough, but no candidate
    pair), "beyond the limits" (a candidate pair, but not near enough) or "apart" (neither);
    `reasons`: sentences; `advice`: command options that would find the pair, or "".
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
        is_compared = not (facts.is_record or facts.has_passages)
        rows = facts.rows if is_compared else []
        words = [safe(text) for row in rows for text in mark_words(row)]
        tables = "".join(
            make_html_table(heads, [[Markup(safe(cell)) for cell in row] for row in rows])
            for heads, *rows in list_tables(facts)
        )
        return f"<p><b>{ids}</b>: {self.verdict}</p>{reasons}<p>{'<br>'.join(words)}</p>{tables}"


def explain_facts(facts: Facts) -> Explanation:
    """Make the verdict on a pair, its reasons, and advice if it is not found."""
    way = next((each for each in facts.ways if each.is_there), facts.ways[0])
    is_candidate = way.is_there and way.shared > 0
    verdict = VERDICTS[is_candidate, facts.is_near]
    is_ruled = facts.answer or facts.unequal
    if is_ruled:
        verdict = FOUND if facts.answer == SAME else APART
    return Explanation(
        facts=facts,
        way=way.name,
        verdict=verdict,
        reasons=tuple(give_reasons(facts, way.name, is_candidate=is_candidate)),
        advice="" if verdict == FOUND or is_ruled else advise(facts, is_candidate=is_candidate),
    )


def make_record(explanation: Explanation, most: float = math.inf) -> dict[str, Any]:
    """Make the whole record for programs, with settings as their fingerprints.

    It has no changes if a text has more than `most` words: they hold Python's lock all the time.
    """
    facts = explanation.facts
    words, other_words = facts.first.words, facts.second.words

    def show(each: Change) -> dict[str, str]:
        texts = {"first": words.text(each.first), "second": other_words.text(each.second)}
        return {"kind": each.kind, **texts}

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
            {"id": each.id, "words": each.entry.num_words, "shingles": len(each.pieces),
             "first_word": each.entry.first_word, "md5_hash": each.entry.md5_hash,
             "stale": each.stale}
            for each in facts.both
        ],
        "measures": facts.measures,
        **({"evidence": evidence, "candidates": facts.candidates} if evidence else {}),
        "alignment": [row._asdict() for row in facts.alignment or ()],
        **{name: getattr(facts, name) for name in SHARED},
        "advice": explanation.advice or None,
        "passages": facts.passages,
        "changes": None if facts.longest > most else [*map(show, facts.changes)],
    }  # fmt: skip
