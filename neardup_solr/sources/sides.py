"""Columns of two sources that are compared: by one name, or by two, as in title=headline."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from neardup_solr.records import as_text
from neardup_solr.text.normalize import normalize

_WORD = re.compile(r"\w+")
ALIKE = 0.1  # of the words of either column, at least, that the other has

Rows = Sequence[Mapping[str, Any]]


def name_of(name: str, side: int) -> str:
    """Name the column of a side: of title=headline, headline in the second."""
    first, sign, second = name.partition("=")
    return (first, second)[side] if first and sign and second else name


def pair_columns(first: Rows, second: Rows, wanted: Iterable[str] = ()) -> list[tuple[str, str]]:
    """Pair the columns of two sides that have one name, or whose values have most words in common.

    Each is paired once, those that are `wanted` of either side if these are named.
    """
    one, other = (_count_words(side) for side in (first, second))
    scores = sorted(
        (name != match, -min(_share(ours, theirs), _share(theirs, ours)), place, name, match)
        for place, (name, ours) in enumerate(one.items())
        for match, theirs in other.items()
    )
    only, pairs = {*wanted}, dict[str, str]()
    for _, score, _, name, match in scores:
        is_free = name not in pairs and match not in pairs.values()
        if -score >= ALIKE and is_free and (not only or {name, match} & only):
            pairs[name] = match
    return [(name, pairs[name]) for name in one if name in pairs]


def _count_words(rows: Rows) -> dict[str, Counter[str]]:
    """Count the words of each column."""
    counts: dict[str, Counter[str]] = {}
    for row in rows:
        for name, value in row.items():
            words = _WORD.findall(normalize(as_text(value)))  # the parts of a date, too
            counts.setdefault(name, Counter()).update(words)
    return counts


def _share(words: Counter[str], others: Mapping[str, int]) -> float:
    """Compute the share of words that others have, too."""
    return sum(count for word, count in words.items() if word in others) / max(words.total(), 1)
