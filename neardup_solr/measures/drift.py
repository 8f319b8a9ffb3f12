"""Drift: signs that new records are not like those that taught the weights of their fields."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup_solr.measures.columns import MISSING, FieldColumn, Marks
from neardup_solr.measures.frequencies import split_words
from neardup_solr.measures.levels import compare_fields, mark_equal
from neardup_solr.measures.pairs import Pairs

CLEAR = 0.1  # difference of two shares that matters
ERRORS = 4.0  # standard errors, from which it is not by chance
FEWEST = 30  # records or pairs that can tell


class Proportion(NamedTuple):
    """So many of a number of cases."""

    part: int
    whole: int

    def differs(self, other: Proportion) -> bool:
        """Tell whether two shares differ clearly, and not by chance."""
        if min(self.whole, other.whole) < FEWEST:
            return False
        both = (self.part + other.part) / (self.whole + other.whole)
        error = math.sqrt(both * (1.0 - both) * (1.0 / self.whole + 1.0 / other.whole))
        apart = abs(self.part / self.whole - other.part / other.whole)
        return apart >= max(CLEAR, ERRORS * error)

    def __str__(self) -> str:
        return f"{self.part / max(self.whole, 1):.0%}".replace("%", " %")


class Traits(NamedTuple):
    """Traits of records in a field: no value, values of others, the same in pairs that match.

    Of texts, words are counted instead of values.
    """

    empty: Proportion
    known: Proportion
    equal: Proportion


# What each trait is a share of, as a sentence has it.
SENTENCES = ("is empty in {} of the new records", "has {} of its values from before",
             "is equal in {} of their pairs")  # fmt: skip


def find_traits(
    columns: Sequence[FieldColumn], rows: NDArray[np.intp], is_new: Marks, pairs: Pairs
) -> dict[str, Traits]:
    """Find the traits of the new ones of some rows, and of their `pairs`, by field.

    If all are new, a value is known if another row has it, too.
    """
    levels = compare_fields(columns, pairs)
    are_equal = mark_equal(levels, [column.kind for column in columns])
    traits = {}
    for at, column in enumerate(columns):
        numbers = column.numbers[rows[is_new]]
        values = numbers[numbers != MISSING]
        own = np.bincount(values, minlength=len(column.values))
        is_present = levels[:, at] != MISSING
        traits[column.name] = Traits(
            empty=Proportion(len(numbers) - len(values), len(numbers)),
            known=_count_known(column, own, are_all=bool(is_new.all())),
            equal=Proportion(
                int(np.count_nonzero(are_equal[is_present, at])), int(np.count_nonzero(is_present))
            ),
        )
    return traits


def _count_known(column: FieldColumn, own: NDArray[np.int64], *, are_all: bool) -> Proportion:
    """Count the values, or words, of new records, `own` (values,), that others have."""
    counts, owned = column.counts, own
    if column.kind == "text":
        words: Counter[str] = Counter()
        for at in np.flatnonzero(own).tolist():
            for word in set(split_words(column.values[at])):
                words[word] += int(own[at])
        owned = np.array([*words.values()], dtype=np.int64)
        counts = np.array([column.words.counts[word] for word in words], dtype=np.int64)
    is_known = counts > (1 if are_all else owned)
    return Proportion(int(owned[is_known].sum()), int(owned.sum()))


def describe_drift(before: Mapping[str, Traits], now: Mapping[str, Traits]) -> str:
    """Describe what is different in new records, at most three fields, or return ""."""
    told = []
    for name, traits in now.items():
        for sentence, share, then in zip(SENTENCES, traits, before[name], strict=True):
            if share.differs(then):
                told.append(f"{name} {sentence.format(share)}, not {then}")
                break
    return "; ".join(told[:3])
