"""Estimates about the pairs of `duplicates`, by samples: what was missed, what numbers separate."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rapidfuzz.distance import Postfix, Prefix

from neardup_solr.candidates import Candidates
from neardup_solr.distinct import mark_among, sort_distinct
from neardup_solr.measures import floor
from neardup_solr.measures.equality import NUMBERS, parse_equality
from neardup_solr.measures.pairs import Pairs, number_pairs
from neardup_solr.measures.wedges import count_open_wedges
from neardup_solr.records import BORDER, Borderline, as_text
from neardup_solr.settings import CAP
from neardup_solr.text.numbers import differ_in_numbers_alone
from neardup_solr.verbs.duplicates.candidate_pairs import make_joining
from neardup_solr.verbs.duplicates.comparison import Comparison
from neardup_solr.verbs.duplicates.copies import read_whole
from neardup_solr.verbs.duplicates.verified import Verified

SAMPLE, MOST_CHARACTERS = 200, 1 << 21  # pairs whose numbers are compared, and in all their texts
MARGIN = 100  # characters next to a difference, in which a number, date or name may go on


def count_beyond(comparison: Comparison, candidates: Candidates) -> tuple[int, int]:
    """Count about how many near-duplicates share only words beyond the cap, by a sample.

    Returns the cap that finds them, too.

    A pair is met once for each of its documents that is in the sample.
    """
    copies, sample = candidates.copies, candidates.sample
    if not len(candidates.beyond) or copies is None:
        return 0, candidates.enough
    near = comparison.verify(candidates.beyond.copy()).pairs
    is_near = mark_among(number_pairs(candidates.beyond), number_pairs(near))
    drawn = np.bincount(copies.firsts[sample], minlength=len(comparison.corpus))
    shares = drawn[near] / copies.sizes[near] / 2
    most = max(make_joining(comparison.plan, comparison.corpus).cap, CAP)  # as of a higher cap
    met = (copies.count_pairs(near, most)[:, None] * shares).sum()
    count = round(float(met) * len(comparison.corpus) / len(sample))
    return count, int(candidates.caps[is_near].max(initial=0))


def count_numeric(comparison: Comparison, verified: Verified) -> int:
    """Count, about, the pairs whose texts differ in numbers alone, by a sample of the pairs."""
    is_other, copies = verified.similarities < 1.0, comparison.copies
    if copies is not None and not comparison.columns:  # -5 is not +5, though they are as similar
        keys = copies.keys[verified.pairs]
        is_other |= keys[:, 0] != keys[:, 1]
    pairs = verified.pairs[is_other]
    are_equal = NUMBERS in comparison.plan.equal.rules
    if not len(pairs) or are_equal or not comparison.corpus.measure.needs_texts:
        return 0
    sample = pairs[:: -(-len(pairs) // SAMPLE)]
    texts = _read_differences(comparison, sample)
    numeric = sum(differ_in_numbers_alone(*select_differing(*pair)) for pair in texts)
    return round(numeric / len(sample) * len(pairs))


def count_separated(comparison: Comparison, verified: Verified, rule: str) -> int:
    """Count, about, the pairs that a rule of `equal` would separate, by a sample of them."""
    pairs, equality = verified.pairs, parse_equality(rule)
    sample = pairs[:: -(-len(pairs) // SAMPLE) or 1]
    rows = sort_distinct(sample).tolist()
    texts = dict(zip(rows, read_whole(comparison.corpus, rows, comparison.columns), strict=True))
    separated = compared = characters = 0
    for left, right in sample.tolist():
        characters += len(texts[left]) + len(texts[right])
        if compared and characters > MOST_CHARACTERS:
            break
        first, second = select_differing(texts[left], texts[right])
        separated += equality.key(first) != equality.key(second)
        compared += 1
    return round(separated / max(compared, 1) * len(pairs))


def select_differing(first: str, second: str) -> tuple[str, str]:
    """Leave out what two texts begin and end with, but for some words next to what differs.

    Most of similar texts is equal, and what is written alike in both need not be looked at.
    """
    begin = Prefix.similarity(first, second)
    end = min(Postfix.similarity(first, second), min(len(first), len(second)) - begin)
    start = first.rfind(" ", 0, max(begin - MARGIN, 0)) + 1
    stop = first.find(" ", len(first) - max(end - MARGIN, 0))
    behind = 0 if stop < 0 else len(first) - stop
    return first[start : len(first) - behind], second[start : len(second) - behind]


def read_wordings(comparison: Comparison, rows: Sequence[int]) -> list[tuple[str, ...]]:
    """Read what of ascending rows is compared by words: their texts, or fields of text."""
    names = [column.name for column in comparison.columns if column.kind == "text"]
    if not comparison.columns:
        return [(text or "",) for text in comparison.corpus.texts(rows)]
    values = comparison.corpus.values(rows, names)
    return [tuple(as_text(values[name][at]) for name in names) for at in range(len(rows))]


def _read_differences(comparison: Comparison, pairs: Pairs) -> list[tuple[str, str]]:
    """Read the texts of pairs: of records, only what is in fields that both have and differ."""
    rows, columns = sort_distinct(pairs).tolist(), comparison.columns
    if not columns:
        texts = dict(zip(rows, comparison.corpus.texts(rows), strict=True))
        return [(texts[left] or "", texts[right] or "") for left, right in pairs.tolist()]
    values = comparison.corpus.values(rows, [column.name for column in columns])
    places = {row: at for at, row in enumerate(rows)}
    differences = []
    for pair in pairs.tolist():
        differing = [
            values[column.name]
            for column in columns
            if len({-1, *column.numbers[pair].tolist()}) == 3  # neither is missing
        ]
        left, right = ("\n".join(as_text(column[places[row]]) for column in differing)
                       for row in pair)  # fmt: skip
        differences.append((left, right))
    return differences


def find_borderline(
    comparison: Comparison, candidates: Pairs, verified: Verified
) -> Borderline | None:
    """Count what depends on the threshold, or return None if more than it counts."""
    corpus, comparer = comparison.corpus, comparison.comparer
    if comparer.limits.max_distance is not None or comparison.plan.equal:
        return None
    near, least, count = verified.pairs, comparer.least, len(corpus)
    is_higher = verified.similarities >= floor(min(least + BORDER, 1.0))
    # Documents of one side are not compared across, and a pair may be left out for a better one.
    matcher = comparison.matcher
    is_once = matcher is not None and bool(matcher.border)
    # Of records, an earlier run has compared most of the candidates.
    is_partial = matcher is not None and verified.below is None
    has_wedges = not (corpus.is_across or is_once or is_partial)
    wedges = (
        count_open_wedges(candidates, pairs, count) if has_wedges else None
        for pairs in (near, near[is_higher])
    )
    return Borderline(
        min_similarity=least,
        pairs=len(near),
        above=int(np.count_nonzero(~is_higher)),
        below=verified.below,
        open=next(wedges),
        open_higher=next(wedges),
        unsure="" if matcher is None else matcher.unsure,
    )
