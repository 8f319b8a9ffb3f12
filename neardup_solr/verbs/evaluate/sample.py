"""A sample of pairs for people to judge, drawn by strata of similarity."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

from neardup_solr.argument_types import Per
from neardup_solr.errors import counted
from neardup_solr.records import Duplicate
from neardup_solr.reports.result_table import Table
from neardup_solr.reports.rows import ANSWER, Columns

WIDTH = 0.05  # of a stratum, in similarity


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AnswerSheet(Table):
    """Sample of pairs with an empty column named answer, for same, different or unsure.

    `write` it, fill the column, and give the file to `evaluate` with the result it was drawn from.
    """

    table: Columns
    whole_ids: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<AnswerSheet: {counted(len(self.table[ANSWER]), 'pair')} to judge>"

    def columns(self) -> Columns:
        """Return the columns id, other_id, similarity, answer, and texts and kept columns."""
        return self.table


def draw(pairs: Sequence[Duplicate], size: int, per: Per, seed: int) -> list[Duplicate]:
    """Draw pairs at random: as many of each stratum of similarity, or each with equal chance."""
    shuffled = random.Random(seed).sample(pairs, len(pairs))
    if per == "pair":
        return shuffled[:size]
    turn: dict[int, int] = {}
    turns = []
    for pair in shuffled:  # the first of each stratum, then the second of each …
        stratum = stratum_of(pair.similarity)
        turn[stratum] = turn.get(stratum, 0) + 1
        turns.append(turn[stratum])
    order = sorted(range(len(shuffled)), key=turns.__getitem__)
    return [shuffled[at] for at in sorted(order[:size])]


def stratum_of(similarity: float) -> int:
    return min(math.floor(similarity / WIDTH + 1e-9), round(1 / WIDTH) - 1)
