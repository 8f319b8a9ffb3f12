"""The values of a field of records, each listed once."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from neardup_solr.measures.frequencies import Frequencies, split_words

FieldKind = Literal["text", "exact", "number", "date"]
KINDS: tuple[FieldKind, ...] = get_args(FieldKind)
MISSING = -1
RARE = 1 / 3  # a rare value has at most records ** RARE records

Numbers = NDArray[np.int64]
Table = NDArray[np.float64]
Marks = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, eq=False)
class FieldColumn:
    """The values of a field: record r has `values[numbers[r]]`, or none if that is MISSING.

    Each value is listed once, and `counts` (values,) are the records that have it. Of records that
    come a few at a time, those of a `sample` are counted instead: a pair is then judged alike
    whatever comes with it.
    `parsed` (values, …) are numbers, or dates as year, month and day, 0 if it is missing. `equal`
    (records,) are numbers of values, the same for texts of the same words in any order.
    `problem` says what is wrong with the values of the records, if anything is. The values of a
    `sample` begin `values`; its records are not in `numbers`. If most values are addresses of
    e-mails, `are_mails` is True.
    """

    name: str
    kind: FieldKind
    values: tuple[str, ...]
    numbers: Numbers
    equal: Numbers
    counts: Numbers
    parsed: Table
    problem: str = ""
    sample: FieldColumn | None = None
    are_mails: bool = False

    @property
    def has_rare(self) -> Marks:
        """True for each value that few records have, shape (values,)."""
        rare: Marks = self.counts <= max(1.0, float(self.counts.sum()) ** RARE)
        return rare

    @property
    def counted(self) -> FieldColumn:
        """The column whose records are counted."""
        return self if self.sample is None else self.sample

    @cached_property
    def words(self) -> Frequencies:
        """Counted records that have each word, as `frequencies` of their values."""
        if self.sample is not None:
            return self.sample.words
        counts: Counter[str] = Counter()
        for value, records in zip(self.values, self.counts.tolist(), strict=True):
            for word in set(split_words(value)):
                counts[word] += records
        return Frequencies(int(self.counts.sum()), counts)

    @property
    def share_equal(self) -> float:
        """Share of the pairs of counted records that are equal here, 0..1."""
        records = max(float(self.counts.sum()), 2.0)
        return float(self.counts @ (self.counts - 1.0)) / (records * (records - 1.0))
