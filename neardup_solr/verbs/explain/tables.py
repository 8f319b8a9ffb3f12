"""Tables of a pair: its measures, its fields, and the ways that find it."""

from __future__ import annotations

from collections.abc import Sequence

from neardup_solr.errors import counted
from neardup_solr.records import Passage
from neardup_solr.reports.pair import Row
from neardup_solr.verbs.explain.facts import BEYOND, FOUND, MISSED, Facts, Route

MOST_PASSAGES = 10  # in a table


def list_tables(facts: Facts) -> list[list[list[str]]]:
    """List tables under their headings: the measures, the fields if they are compared, the ways."""
    measures = [[each.measure, f"{each.similarity:.3f}", ""] for each in facts.measures]
    measures[0][2] = f"{facts.distance:,}"
    heads = ["field", facts.first.id, facts.second.id, "agreement", "bits"]
    width = 5 if facts.evidence else 3
    fields = [[row.field, *mark_words(row), row.level, f"{row.bits or 0:+z.1f}"][:width]
              for row in facts.rows if row.field] if facts.is_record else []  # fmt: skip
    ways = [[describe_way(way.name), describe_shared(facts, way), _describe_outcome(facts, way)]
            for way in facts.ways if way.is_there]  # fmt: skip
    return [
        [["measure", "similarity", "distance"], *measures],
        *([[heads[:width], *fields]] if fields else []),
        *([list_passage_rows(facts)] if facts.has_passages else []),
        [["found by", "shared", ""], *ways],
    ]


def list_passage_rows(facts: Facts) -> list[list[str]]:
    """List the longest passages, in their order, under the heading: places are characters."""
    return [
        ["passage", "words", "similarity", facts.first.id, facts.second.id],
        *(
            [each.relation, f"{each.words:,}", f"{each.similarity:.3f}",
             f"{each.start:,}–{each.end:,}", f"{each.other_start:,}–{each.other_end:,}"]
            for each in list_longest(facts.passages)
        ),
    ]  # fmt: skip


def list_longest(passages: Sequence[Passage]) -> list[Passage]:
    """List the longest of some passages, in their order."""
    longest = sorted(passages, key=lambda each: -each.words)[:MOST_PASSAGES]
    return sorted(longest, key=lambda each: each.start)


def mark_words(row: Row) -> list[str]:
    """Mark the words that differ in both values of a field, [-so-] and {+so+}."""
    sides = zip(row.values or (), ("[-{}-]", "{{+{}+}}"), strict=False)
    return [
        " ".join(
            text if change.kind in ("equal", "same") else mark.format(text)
            for change in row.runs
            if (text := words.text((change.first, change.second)[side]))
        )
        for side, (words, mark) in enumerate(sides)
    ] or ["", ""]


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
