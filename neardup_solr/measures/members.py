"""Names in two parts, such as first and last names, that tell members of a household apart.

The parts are two columns, or the two words of one. They are found by their values: they stand side
by side, and neither tells the other, as a model tells its brand. Who shares a last name and an
address or a telephone, but has another first name, is another person. Two kinds of values are
exceptions: a misspelt name, which is met nowhere else, and a short name, which is met again and
again beside the same full name.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from rapidfuzz.distance import OSA

from neardup_solr.distinct import sort_distinct, sort_distinct_rows
from neardup_solr.measures.alignment import INITIAL, compare_records, word_similarity
from neardup_solr.measures.columns import FieldColumn, Marks, Numbers
from neardup_solr.measures.frequencies import Frequencies
from neardup_solr.measures.pairs import Pairs
from neardup_solr.regex import regex
from neardup_solr.text.characters import is_unspaced

NAMES = 0.02  # of pairs of records, at most, that are equal in a field that names things
SPREAD = 1 / 8  # of pairs of records, at most, that are equal in a part of a name
WORDS = 2  # of a part of a name, at most, by the median
LOOKED_AT = 10_000  # values that tell whether a column is of such words
SPLIT = 2 / 3  # of the records, at least, whose names have two words, without initials
YEAR = 4  # signs
SIGNS = 5  # of a name without blanks, at most
APART = 0.5  # of strangers that share a part, at most, that share the other part
FEWEST = 8  # such strangers
MEMBERS = 8  # of a household that are paired with each other
NEAR = 0.5  # similarity of values from which they may be the same
TELLING = 1.7  # times as much as columns before them, that columns of names tell
MORE = 2  # times as many households differ in a part as in the other, if it is first names
DIVERSE = 1.2  # times as many pairs are equal in the part that has clearly fewer values
SELDOM = 0.05  # chance, below which it is none that two names are met beside each other so often

_DIGIT = regex(r"\d")
_HANGUL = regex("[\uac00-\ud7a3]+")


class Part(NamedTuple):
    """A part of a name: its column and that of the other part, which are `places` of the fields.

    Of the other fields, `codes` are places of those with digits, such as addresses and telephones.

    `are_slips` (values,) marks what is met once, but in no household; `aliases` are the numbers of
    two values, of which one may stand for the other. `differing` are pairs of a household,
    `agreeing` those of the same or a similar value.
    """

    column: FieldColumn
    other: FieldColumn
    are_slips: Marks
    aliases: Numbers
    differing: int
    agreeing: int
    places: tuple[int, ...] = ()
    codes: tuple[int, ...] = ()

    def mark_others(self, pairs: Pairs) -> Marks:
        """Mark the pairs of records, unlike in this part, whose names are those of two people."""
        values = self.column.numbers[pairs]
        is_alias = np.isin(_number(values, len(self.are_slips)), self.aliases)
        marks: Marks = ~(is_alias | self.are_slips[values].any(axis=1))
        others = self.other.numbers[pairs]
        for row in np.flatnonzero(marks & (others[:, 0] != others[:, 1])).tolist():
            first, second = pairs[row].tolist()
            marks[row] = not (self._is_swapped(first, second) or self._is_swapped(second, first))
        return marks

    def _is_swapped(self, first: int, second: int) -> bool:
        """Tell whether this part of a record stands in the place of the other part in another."""
        if (number := self.other.numbers[second]) < 0:
            return False
        values = self.column.values[self.column.numbers[first]], self.other.values[number]
        return word_similarity(*values) > INITIAL


def find_parts(columns: Sequence[FieldColumn]) -> list[Part]:
    """Find the parts of names that tell the members of households apart, none without such columns.

    A column that names things by itself, equal in at most `NAMES` of pairs of records, is the last
    that is looked at. If it has both parts, it is split.
    """
    most, parts = 1.0, list[Part]()
    for at, column in enumerate(columns):
        is_text = column.kind == "text" and not _has_digits(column)
        is_name = is_text and column.share_equal <= NAMES
        pairs = {(at, at + 1): columns[at : at + 2], (at,): _split(column) if is_name else ()}
        for places, both in pairs.items():
            rest = [
                each for n, each in enumerate(columns) if n not in places and each.counted.values
            ]
            if len(both) < 2 or not all(map(_is_part, both)):
                continue
            part, other = both
            share = math.prod(each.share_equal for each in both)
            if share <= most and _are_apart(part, other, rest) and _are_apart(other, part, rest):
                codes = [n for n, each in enumerate(columns) if n not in places and is_code(each)]
                parts = [_describe(part, other, rest), _describe(other, part, rest)]
                parts = [each._replace(places=places, codes=tuple(codes)) for each in parts]
                # Later columns if they tell much more, or more if the first one often changes.
                most = share / (1.0 if _is_changing(parts[0], parts) else TELLING)
        if is_name:
            break
    if not parts:
        return []
    first, second = parts
    # Where first names come second. Some last names change when people marry.
    is_first = _come_last(first.column) or _is_more_diverse(first.column, second.column)
    is_first |= not _is_changing(second, parts)
    return parts if is_first and second.differing > MORE * first.differing else [first]


def _is_changing(part: Part, parts: Sequence[Part]) -> bool:
    """Tell whether no more records differ in a part than others are the same in both."""
    return part.differing <= sum(each.agreeing for each in parts)


def _split(column: FieldColumn) -> tuple[FieldColumn, ...]:
    """Split the values of a column into two parts, none if few of them have two words."""
    words = [_split_name(value) for value in column.values]
    has_two = np.array([len(each) == 2 for each in words], np.bool_)
    if column.counts[has_two].sum() < SPLIT * column.counts.sum():
        return ()
    named: dict[str, int] = {}
    of_two = (word for each in words if len(each) == 2 for word in each)
    numbers = [named.setdefault(word, len(named)) for word in of_two]
    both = np.array(numbers, np.int64).reshape(-1, 2)
    front, back = both.T
    first, last = (np.bincount(side, column.counts[has_two], len(named)) for side in both.T)
    is_turned = first[back] + last[front] > first[front] + last[back]  # as in "Holm, Anna"
    both[is_turned] = both[is_turned, ::-1]
    parts = np.full((len(words), 2), -1)
    parts[has_two] = both
    return tuple(_map_values(column, [*named], part) for part in parts.T)


def _split_name(value: str) -> list[str]:
    """Split a name into words, without initials if there are more than two.

    Without blanks, the first sign is the last name.
    """
    words = value.split()
    is_one = value > "\u0e00" and is_unspaced(value)
    if is_one and all(before[-1] == after[0] for before, after in pairwise(words)):  # by twos
        words = ["".join([words[0], *(word[-1] for word in words[1:])])]
    if len(words) == 1 and 1 < len(words[0]) <= SIGNS and (is_one or _HANGUL.fullmatch(value)):
        words = [words[0][0], words[0][1:]]
    return words if len(words) < 3 else [word for word in words if len(word) > 1]


def _map_values(column: FieldColumn, named: Sequence[str], numbers: Numbers) -> FieldColumn:
    """Make a column in which words stand for the values of a column, by their numbers, -1 for none.

    `named` has the words. The column has those that are used, by their first use.
    """
    used, firsts = np.unique(numbers[numbers >= 0], return_index=True)
    used = used[np.argsort(firsts)]
    placed = np.full(len(named) + 1, -1)
    placed[used] = np.arange(len(used))
    places = np.append(placed[numbers], -1)
    is_kept = places[:-1] >= 0
    counts = np.bincount(places[:-1][is_kept], column.counts[is_kept], len(used))
    sample = column.sample
    return replace(
        column, values=tuple(named[number] for number in used.tolist()),
        numbers=places[column.numbers],
        sample=sample and _map_values(sample, named, numbers[: len(sample.values)]),
        counts=counts.astype(np.int64), parsed=np.empty((len(used), 0)),
    )  # fmt: skip


def _has_digits(column: FieldColumn) -> bool:
    """Tell whether more than one of twenty values has digits."""
    some = column.counted.values[:LOOKED_AT]
    return sum(_DIGIT.search(value) is not None for value in some) > 0.05 * len(some)


def is_code(column: FieldColumn) -> bool:
    """Tell whether values are codes or addresses: they have digits, and more signs than a year."""
    if column.kind not in ("exact", "text") or not _has_digits(column):
        return False
    return bool(np.median([len(value) for value in column.counted.values[:LOOKED_AT]]) > YEAR)


def _is_part(column: FieldColumn) -> bool:
    """Tell whether values are of few words, without digits, and many."""
    if column.kind != "text" or not column.counted.values or column.share_equal > SPREAD:
        return False
    words = [len(value.split()) for value in column.counted.values[:LOOKED_AT]]
    return bool(np.median(words) <= WORDS) and not _has_digits(column)


def _is_more_diverse(column: FieldColumn, other: FieldColumn) -> bool:
    """Tell whether clearly fewer pairs of records are equal in a column than in another one."""
    fewer, more = (float(each.counts @ (each.counts - 1)) / 2 for each in (column, other))
    return more > max(DIVERSE * fewer, fewer + 2.0 * math.sqrt(fewer + more))


def _come_last(column: FieldColumn) -> bool:
    """Tell whether first names come last, as in Chinese, Japanese and Korean."""
    text = "".join(column.counted.values[:LOOKED_AT])
    return is_unspaced(text) or 2 * sum(map(len, _HANGUL.findall(text))) > len(text)


def _are_apart(column: FieldColumn, other: FieldColumn, rest: Sequence[FieldColumn]) -> bool:
    """Tell whether strangers that share a part of a name seldom share the other part."""
    pairs = _pair_equal(column.counted.numbers, 4)
    for each in rest:
        first, second = each.counted.numbers[pairs].T
        pairs = pairs[(first != second) | (first < 0) | ~each.has_rare[first]]
    parts = other.counted.numbers[pairs]
    parts = parts[(parts >= 0).all(axis=1)]
    same = np.count_nonzero(parts[:, 0] == parts[:, 1])
    return bool(len(parts) >= FEWEST and same <= APART * len(parts))


def _describe(column: FieldColumn, other: FieldColumn, rest: Sequence[FieldColumn]) -> Part:
    """Find the households whose members differ in a part, and which of its values are aliases."""
    numbers, size = column.counted.numbers, len(column.values)
    kin = _pair_kin(column, other, rest)
    homes = np.arange(len(numbers))  # a household is named by its first member
    np.minimum.at(homes, kin[:, 1], kin[:, 0])
    pairs = len(kin)
    kin = kin[numbers[kin[:, 0]] != numbers[kin[:, 1]]]
    counts = _count_homes(numbers, homes, size)
    values = numbers[kin]
    _, first, each = np.unique(_number(values, size), return_index=True, return_inverse=True)
    compared = np.ascontiguousarray(values[first]).astype(np.uint32)
    is_near = compare_records(column.values, compared, Frequencies(0, {})) >= NEAR
    is_near = is_near[each.reshape(-1)]
    # Names are known that are initials, or spelt otherwise in the household, or met elsewhere.
    is_spelt = np.zeros(len(numbers), np.bool_)
    is_spelt[kin[is_near]] = True
    is_known = _count_homes(numbers[is_spelt], homes[is_spelt], size) >= counts
    is_known |= [len(value) == 1 and value.lower() != value.upper() for value in column.values]
    kin = kin[~is_near]
    members = sort_distinct(kin)
    of_kin = _count_homes(numbers[members], homes[members], size)
    is_single = (counts == 1) & ~is_known
    inner, outer = of_kin[is_single].sum(), (counts - of_kin)[is_single].sum()
    if inner * (counts - of_kin).sum() <= 2 * (outer + 1) * of_kin.sum():  # as elsewhere
        is_known |= is_single
    ends = np.concatenate([kin, kin[:, ::-1]])
    both = np.stack([numbers[ends[:, 0]], numbers[ends[:, 1]]], axis=1)
    (name, other_name), times = _count_distinct(both, homes[ends[:, 0]])
    is_only = (counts[name] <= times) & ~is_known[name]
    is_often = (2 * times >= of_kin[name]) & _mark_frequent(counts, name, other_name, times)
    alike = np.zeros(len(name))
    for row in np.flatnonzero(is_only).tolist():
        alike[row] = OSA.normalized_similarity(*(column.values[v[row]] for v in (name, other_name)))
    most = np.zeros(size)
    np.maximum.at(most, name, alike)
    is_alias = is_often | (is_only & (alike >= most[name]))
    return Part(
        column=column, other=other, are_slips=is_single & ~is_known & (of_kin == 0),
        aliases=sort_distinct(_number(np.stack([name, other_name], axis=1)[is_alias], size)),
        differing=len(kin), agreeing=pairs - len(kin),
    )  # fmt: skip


def _mark_frequent(counts: Numbers, value: Numbers, other_value: Numbers, times: Numbers) -> Marks:
    """Mark pairs of values that are met more often than by chance, by `SELDOM` of them wrongly.

    The procedure of Benjamini and Hochberg (1995), "Controlling the false discovery rate".
    """
    # Twice as many as if each name stood beside all: couples are of two sexes.
    expected = 2.0 * times.sum() * counts[value] * counts[other_value] / max(counts.sum(), 1) ** 2
    chance = times * np.log(np.maximum(expected, 1e-9)) - [math.lgamma(n + 1.0) for n in times]
    order = np.argsort(chance)
    values = len(sort_distinct(value))
    limits = np.log(SELDOM * np.arange(1, len(value) + 1) / max(values * (values - 1.0), 1.0))
    last = np.flatnonzero(chance[order] <= limits).max(initial=-1)
    marks = np.zeros(len(value), np.bool_)
    marks[order[: last + 1]] = times[order[: last + 1]] > 1
    return marks


def _count_homes(values: Numbers, homes: Numbers, size: int) -> Numbers:
    """Count the households of each value, shape (size,)."""
    is_present = values >= 0
    rows = sort_distinct_rows(np.stack([values[is_present], homes[is_present]], axis=1))
    return np.bincount(rows[:, 0], minlength=size)


def _count_distinct(values: Numbers, beside: Numbers) -> tuple[Numbers, Numbers]:
    """List different pairs of values, shape (2, pairs), with the different numbers beside each."""
    rows = sort_distinct_rows(np.column_stack([values, beside]))
    pairs, counts = np.unique(rows[:, :2], axis=0, return_counts=True)
    return pairs.T, counts


def _pair_kin(column: FieldColumn, other: FieldColumn, rest: Sequence[FieldColumn]) -> Numbers:
    """Pair the records that have this part of a name, and share the other one and a rare value."""
    parts, shared = column.counted.numbers, other.counted.numbers
    pairs = [np.empty((0, 2), np.int64)]
    for each in rest:
        numbers = each.counted.numbers
        is_whole = (parts >= 0) & (shared >= 0) & (numbers >= 0) & each.has_rare[numbers]
        keys = np.where(is_whole, numbers * len(other.values) + shared, -1)
        pairs.append(_pair_equal(keys, MEMBERS))
    return sort_distinct_rows(np.sort(np.concatenate(pairs), axis=1))


def _pair_equal(keys: Numbers, most: int) -> Numbers:
    """Pair the records of equal keys, shape (pairs, 2), each with the next ones of its key."""
    rows = np.flatnonzero(keys >= 0)
    rows = rows[np.argsort(keys[rows], kind="stable")]
    pairs = [np.empty((0, 2), np.int64)]
    for step in range(1, most):
        same = np.flatnonzero(keys[rows][step:] == keys[rows][:-step])
        pairs.append(np.stack([rows[same], rows[same + step]], axis=1))
    return np.concatenate(pairs)


def _number(values: Numbers, size: int) -> Numbers:
    """Number pairs of values, the same in either order."""
    numbers: Numbers = values.min(axis=-1) * size + values.max(axis=-1)
    return numbers
