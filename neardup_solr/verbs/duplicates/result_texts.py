"""Texts, kept columns and the evidence of fields that a result shows of its documents."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from neardup_solr import records
from neardup_solr.distinct import sort_distinct
from neardup_solr.records import AnyId
from neardup_solr.verbs.duplicates.comparison import Comparison
from neardup_solr.verbs.duplicates.corpus import Corpus
from neardup_solr.verbs.duplicates.graph import Grouped

if TYPE_CHECKING:
    from neardup_solr.measures.frequencies import Frequencies

FIRST = 10  # members of a cluster whose texts are shown
AT_ONCE = 5_000  # texts that are read at once
V = TypeVar("V")
# Reads the texts of ascending rows.
ReadTexts: TypeAlias = Callable[[Sequence[int]], Sequence[str | None]]


def read_kept(
    corpus: Corpus, keys: Mapping[int, AnyId], names: Sequence[str]
) -> Mapping[AnyId, Mapping[str, Any]]:
    """Read the columns to keep of each document that has a pair, by its key and its id."""
    involved = sorted(keys)
    if not names:
        return {}
    columns = corpus.values(involved, names)
    values = zip(*(columns[name] for name in names), strict=True)
    kept = {keys[row]: dict(zip(names, each, strict=True))
            for row, each in zip(involved, values, strict=True)}  # fmt: skip
    return _add_ids(kept, keys)


def read_texts(
    corpus: Corpus, grouped: Grouped, keys: Mapping[int, AnyId], wanted: bool | int
) -> Mapping[AnyId, str]:
    """Read the texts of all pairs, or of the first members of so many of the largest clusters."""
    involved = sorted(keys)
    if wanted is not True:
        members = [
            member
            for each in records.largest(grouped.clusters, wanted)
            for member in each.members[:FIRST]
        ]
        shown = {records.key_of(member.id, member.side) for member in members}
        involved = [row for row in involved if keys[row] in shown]
    return read_rows(corpus.texts, keys, involved)


def explain_pairs(
    comparison: Comparison, grouped: Grouped, keys: Mapping[int, AnyId]
) -> dict[str, Any]:
    """Explain the pairs that a page lists, or all to review, by the fields that were compared."""
    plan, matcher = comparison.plan, comparison.matcher
    if matcher is None or not (plan.request.texts is None or plan.request.texts is True):
        return {}
    from neardup_solr.reports.html import embed

    listed = embed.list_clusters(grouped.clusters, grouped.pairs)
    pairs = (
        grouped.pairs if plan.request.reach else [pair for each in listed for pair in each.pairs]
    )
    row_of = {key: row for row, key in keys.items()}
    ends = [embed.ends_of(pair) for pair in pairs]
    rows = np.array([[row_of[key] for key in both] for both in ends], dtype=np.uint32)
    explained = matcher.explain(np.sort(rows, axis=1)) if pairs else []
    shown = {row: keys[row] for row in sort_distinct(rows).tolist()}
    values = read_kept(comparison.corpus, shown, tuple(plan.fields))
    return {"fields": values, "evidence": dict(zip(ends, explained, strict=True))}


def read_rows(
    read: ReadTexts, keys: Mapping[int, AnyId], wanted: Iterable[int], most: float = math.inf
) -> Mapping[AnyId, str]:
    """Read the texts of rows, some at a time, until they have so many characters."""
    left, texts = iter(wanted), dict[AnyId, str]()
    while most > 0 and (part := sorted({*islice(left, AT_ONCE)})):
        by_row = zip(part, read(part), strict=True)
        texts |= {keys[row]: text for row, text in by_row if text is not None}
        most -= sum(len(texts.get(keys[row], "")) for row in part)
    return _add_ids(texts, keys)


def _add_ids(by_key: Mapping[AnyId, V], keys: Mapping[int, AnyId]) -> Mapping[AnyId, V]:
    """Add what is of the second side by its id alone, if no document of the first has that."""
    others = {key[1]: value for key, value in by_key.items() if isinstance(key, tuple)}
    if not others:
        return by_key
    firsts = {key for key in keys.values() if not isinstance(key, tuple)}
    return {**by_key, **{id: value for id, value in others.items() if id not in firsts}}


def select_frequencies(comparison: Comparison, rows: NDArray[Any]) -> Frequencies | None:
    """Count the documents that have each word of these rows, if the measure weighs words."""
    frequencies = comparison.comparer.frequencies
    if frequencies is None:
        return None
    words, numbers, _ = comparison.corpus.words().take(rows)
    letters = frequencies.counts.keys() & {*ascii_lowercase}  # which tell if they are sizes
    some = letters.union(words[number] for number in sort_distinct(numbers).tolist())
    return replace(frequencies, counts={word: frequencies.counts.get(word, 1) for word in some})
