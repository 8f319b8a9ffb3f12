"""Copies that differ in columns that are not compared."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup_solr.distinct import sort_distinct, sort_distinct_rows
from neardup_solr.guard import FEWEST_RARE, RARE, SHARE
from neardup_solr.guard.template import compute_differing
from neardup_solr.verbs.duplicates.corpus import Corpus
from neardup_solr.verbs.duplicates.graph import Grouped, RowNumbers
from neardup_solr.verbs.duplicates.plan import RunPlan

SAMPLE = 10_000  # records, by which it is told how often two differ


class Unlike(NamedTuple):
    """Documents equal to an earlier one in what was compared, but not in what was left out.

    So many `copies`; so many, `of_column`, of them differ in that `column`. They are `telling` if
    these are many more than by chance, as records seldom differ in it, and it `is_filled` if all of
    them have a value, so that it can be one of `same`.
    """

    copies: int = 0
    column: str = ""
    of_column: int = 0
    telling: bool = False
    is_filled: bool = True

    def __str__(self) -> str:
        copies = self.of_column if self.telling else self.copies
        are = "is" if copies == 1 else "are"
        such = self.column if self.of_column == copies else f"columns such as {self.column}"
        return f"{copies:,} {are} equal in what was compared, but not in {such}"


def find_unlike(plan: RunPlan, corpus: Corpus, grouped: Grouped, rows: RowNumbers) -> Unlike:
    """Count the documents, by their rows, that only columns `beside` those compared tell apart."""
    hashes, texts = corpus.sides[0].beside, grouped.graph.texts
    if hashes is None or not len(rows):
        return Unlike()
    table = hashes.table().view(np.uint64)
    values, firsts = table[rows], len(sort_distinct(texts))

    def count(columns: NDArray[np.uint64]) -> int:
        """Count the documents less the first of each text, those of equal values once."""
        both = np.column_stack([texts.astype(np.uint64), columns])
        return len(sort_distinct_rows(both)) - firsts

    counts = np.array([count(column) for column in values.T])
    sample = table[:: -(-len(table) // SAMPLE)]
    chances = np.array([compute_differing(column.tolist()) for column in sample.T])
    are_telling = counts >= np.maximum(FEWEST_RARE, RARE * chances * (len(rows) - firsts))
    are_telling &= counts >= SHARE * grouped.rows.others
    most = int(np.argmax(np.where(are_telling, counts + counts.max(), counts)))
    is_filled = bool((values[:, most] != np.uint64(hash(""))).all())
    return Unlike(count(values), [*plan.beside][most], int(counts[most]), bool(are_telling[most]),
                  is_filled)  # fmt: skip
