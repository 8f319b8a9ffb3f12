"""Columns that name things, and things of other names, which are no matches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from neardup_solr.measures.columns import MISSING, FieldColumn, Marks
from neardup_solr.measures.levels import LEVELS, Levels, compare_fields, mark_equal
from neardup_solr.measures.members import NAMES, Part, find_parts
from neardup_solr.measures.pairs import Pairs

NEARLY = 1.0  # bit: a column that tells so much less than the most telling one may name the record


@dataclass(frozen=True)
class NameColumns:
    """Columns of records that tell which things the records are of, by their names."""

    columns: Sequence[FieldColumn]

    @cached_property
    def parts(self) -> list[Part]:
        """Parts of names, such as first and last names."""
        return find_parts(self.columns)

    def mark_others(self, pairs: Pairs, levels: Levels) -> Marks:
        """Mark pairs of things of other names that have much in common, as members of a family.

        The first text of many values is the name. No other text differs, and nothing speaks for a
        slip: a value that is near, an equal date, such as a day of birth, or two rare codes that
        are equal, such as an e-mail and a telephone. For names in two parts see `members`.
        """
        columns = self.columns
        kinds = [column.kind for column in columns]
        are_texts, are_dates, are_codes = np.array(kinds) == [["text"], ["date"], ["exact"]]
        are_names = mark_names(columns)
        is_name = np.cumsum(are_names) * are_names == 1
        are_equal = mark_equal(levels, kinds)
        speak_for = (are_equal & are_dates) | ((levels > 0) & ~are_equal)
        speak_for |= (levels == 0) & are_texts & ~is_name  # as if names were swapped
        are_shared = levels == np.array([len(LEVELS[kind]) - 1 for kind in kinds])
        are_codes |= [column.are_mails for column in columns]
        is_slip = speak_for.any(axis=1) | ((are_shared & are_codes).sum(axis=1) > 1)
        marks: Marks = ((levels == 0) & is_name).any(axis=1) & ~is_slip
        are_near = are_texts & (levels > 1) & ~are_equal
        for part in self.parts:
            rest = np.delete(np.arange(len(columns)), part.places)
            is_kin = (are_shared | are_near)[:, rest].any(axis=1)
            likely = np.flatnonzero(is_kin)
            parts = compare_fields([part.column, part.other], pairs[likely])
            # People of other last names, too, at an address: a title may have other directors.
            is_mate = are_shared[likely][:, part.codes].any(axis=1)
            is_other = (parts[:, 0] == 0) & ((parts[:, 1] > 0) | is_mate)
            likely = likely[is_other]
            marks[likely] |= part.mark_others(pairs[likely])
        return marks


def mark_names(columns: Sequence[FieldColumn]) -> Marks:
    """Mark the texts of so many values that they name things, shape (fields,)."""
    counts = [column.counts.astype(np.float64) for column in columns]
    are_many = [0 < each @ each <= NAMES * each.sum() ** 2 for each in counts]
    marks: Marks = np.array(are_many) & [column.kind == "text" for column in columns]
    return marks


def choose_naming(columns: Sequence[FieldColumn]) -> int | None:
    """Choose the column that names the records, None without texts.

    It is the first of those texts that tell records apart about as well as the one that does it
    best.
    """
    telling = {at: _measure_entropy(column) for at, column in enumerate(columns)
               if column.kind == "text"}  # fmt: skip
    best = max(telling.values(), default=0.0)
    return next((at for at, bits in telling.items() if bits >= best - NEARLY), None)


def list_names(forms: Sequence[str], naming: FieldColumn | None) -> list[str]:
    """List what names each record: the value of its naming column, or else the whole record."""
    if naming is None:
        return list(forms)
    values = [*naming.values, ""]  # the last is MISSING
    return [values[number] or form for number, form in zip(naming.numbers, forms, strict=True)]


def _measure_entropy(column: FieldColumn) -> float:
    """Compute the bits that the value of a column tells of a record, less if many lack it."""
    counts = np.bincount(column.numbers[column.numbers != MISSING])
    if not counts.any():
        return 0.0
    shares = counts[counts > 0] / counts.sum()
    filled = counts.sum() / len(column.numbers)
    return float(-(shares * np.log2(shares)).sum() * min(1.0, 1.5 * filled))
