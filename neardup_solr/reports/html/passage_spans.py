"""Passages of two long texts as a page shows them: where they are, in words, and what differs."""

from __future__ import annotations

from itertools import accumulate

import numpy as np

from neardup_solr.candidates.passages import list_passages
from neardup_solr.text import diff
from neardup_solr.text.diff import LONG, MOST_COMPARED, Words

Span = tuple[int, int, int, int, list[diff.Change]]


def list_spans(first: Words, second: Words) -> list[Span]:
    """List the passages of two long texts, unless all changes of two editions say as much.

    A span has the first word and the number of words in either text, and the changes.
    """
    sides = first, second
    if min(len(side.shown) for side in sides) <= LONG:
        return []
    longest = max(len(side.shown) for side in sides)
    if longest <= MOST_COMPARED:  # a diff tells most editions, in a fiftieth of the time
        runs = diff.changes(first.forms, second.forms)
        equal = sum(run.first.stop - run.first.start for run in runs if run.kind == "equal")
        if 2 * equal >= longest:
            return []
    passages = list_passages((0, 1), [" ".join(side.shown) for side in sides])
    is_edition = bool(passages) and passages[0].relation in ("copy", "edited")
    if is_edition and longest <= MOST_COMPARED:
        return []
    places = [
        np.array([0, *accumulate(len(word) + 1 for word in side.shown)], dtype=np.int64)
        for side in sides
    ]
    spans = []
    for each in passages:
        edges = (each.start, each.end), (each.other_start, each.other_end)
        parts = [
            slice(int(np.searchsorted(at, start, side="right")) - 1, int(np.searchsorted(at, end)))
            for at, (start, end) in zip(places, edges, strict=True)
        ]
        one, other = parts
        changes = diff.changes_in_parts(first.forms[one], second.forms[other])
        spans.append((one.start, one.stop - one.start, other.start, other.stop - other.start,
                      changes))  # fmt: skip
    return spans
