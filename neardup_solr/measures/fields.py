"""Match probability of records by their fields, with weights that need no answers.

Each field of two records agrees up to a level: not at all, nearly, wholly. A model of the records
that may be the same tells how often each level is met among matches (m) and among others (u); a
level weighs log2(m / u) bits (Fellegi and Sunter 1969, "A theory for record linkage"). The model
is a mixture that the EM algorithm fits to the levels of the candidates (Winkler 1988). It has three
classes, as two different things that have much in common, such as two papers of an author, agree
in other ways than strangers do (Larsen and Rubin 2001, "Iterative automated record linkage using
mixture models"): strangers, lookalikes and matches.

EM alone can find other classes than those that are meant. Five things hold it: the similarity of
the whole records, as `aligned` computes it, says where the classes begin, and below `FLOOR` nothing
is a match; candidates of little similarity, which are most of them, count for no more than those
near the threshold; records that are equal in all their fields are matches, from the first round to
the end, in whatever notation, as are those that are nearly equal in all that both have, if they are
more than the equal ones; the records of a class are matches only if they agree in most of what
their fields can tell; and a level weighs no less than a level of less agreement (order restricted
rates; Dykstra, Kochar and Robertson 1995, "Inference for likelihood ratio ordering in the
two-sample problem").

A value that is missing is no evidence. A rare value that both have says more than a common value,
so it is another level (frequency-based matching, Winkler 2000). Fields depend on each
other: that journal, volume and year are equal says little more than that the volume is. So where
records that agree in the same values differ among themselves in what a pair differs in, as the
notices of a journal do in their pages, that agreement is no evidence (see `weigh_pairs`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from neardup_solr.arguments import require, require_choice
from neardup_solr.errors import DataError, counted
from neardup_solr.measures import Similarities
from neardup_solr.measures.aligned import ALIGNED, compare_records
from neardup_solr.measures.columns import (
    KINDS,
    MISSING,
    FieldColumn,
    FieldKind,
    Marks,
    Numbers,
    Table,
)
from neardup_solr.measures.dates import read_date
from neardup_solr.measures.frequencies import split_words
from neardup_solr.measures.pairs import Pairs, number_pairs, pairs_of, take_evenly
from neardup_solr.records import as_text
from neardup_solr.text.normalize import normalize
from neardup_solr.text.numbers import join_numbers

MISSING_LEVEL = "missing"  # the level of a pair that lacks a value
# The levels of each kind, with how far the two values agree, 0..1. The last two are equal values.
LEVELS: dict[FieldKind, tuple[tuple[str, float], ...]] = {
    "text": (
        ("different", 0.0), ("related", 0.6), ("similar", 0.8), ("nearly equal", 0.95),
        ("equal", 1.0), ("equal and rare", 1.0),
    ),
    "exact": (("different", 0.0), ("equal", 1.0), ("equal and rare", 1.0)),
    "number": (
        ("different", 0.0), ("within 10 %", 0.6), ("within 1 %", 0.8),
        ("equal", 1.0), ("equal and rare", 1.0),
    ),
    "date": (("different", 0.0), ("near", 0.6), ("equal", 1.0), ("equal and rare", 1.0)),
}  # fmt: skip
WIDTHS: dict[FieldKind, int] = {"text": 0, "exact": 0, "number": 1, "date": 3}
MOST_LEVELS = max(map(len, LEVELS.values()))
NEARLY = 3  # level of texts that are nearly equal
TEXT_STEPS = (0.5, 0.75, 0.9)  # similarities by `aligned` from which texts are related, similar, …
NUMBER_STEPS = (0.1, 0.01)  # differences, as a share of the larger number
SHORTEST_CALL = 7  # digits of a telephone number, without the code of its country
DAYS = 31  # that dates are apart and still near

FLOOR = 0.4  # of whole records, below which no pair is a match
LEAST_PROBABILITY = 0.5  # more likely than not
STRANGERS, LOOKALIKES, MATCHES = range(3)
BEGIN = (0.3, 0.75)  # similarities from which a pair begins among lookalikes, among matches
SURE = 0.9  # that it is among these, when it begins
STRATUM = 0.1  # of similarity, in which pairs count alike
FEWEST = 20  # pairs that a stratum counts for at most, if fewer than those begin as matches
DRAWN = 50_000  # pairs of strangers
RARELY = 0.05  # pairs of these, for which a level counts that none of them has
FEWEST_OTHERS = 2  # that agree as a pair does, from which they count against it
NAMES = 0.02  # of pairs of records, at most, that are equal in a field that names things
OTHER_NAMES = -12.0  # log2 odds of things of other names, at most: no question need be put
EQUAL_ODDS = 10.0  # log2 odds of records that are equal in all their fields, at least
SAMPLE = 100_000  # pairs below the floor that are looked at
GUESSES = 5.0  # pairs that the first guess of a class counts for
AGREEING = 0.5  # of what fields can tell, from which the most similar class is of matches
LOOKALIKES_AGREEING = 0.65  # and the lookalikes
CLOSED_AGREEING, OPEN = 0.58, 1.0  # if they leave few open wedges: for each pair of them
FEW_AGREEING = 0.45  # and lookalikes that could be copies, as they have few others:
FEW, MOSTLY_FEW = 2, 0.6  # that either record is like, at most; of the lookalikes
MOST_BITS = 10.0  # that a field can tell, when classes are judged
MOST_ROUNDS, SETTLED = 200, 1e-4

_DIGITS = re.compile(r"[+-]?(\d{1,3}(,\d{3})+|\d+)?([.,]\d+)?")
_GAPS = re.compile(r"(?<=\d)[ '\u2019\u00a0\u202f](?=\d{3}(?!\d))")  # of thousands
_JOINS = re.compile(r"(?<=\d)(?=[^\W\d])|(?<=[^\W\d])(?=\d)")  # of letters and digits
_POINTS = re.compile(r"[+-]?\d{1,3}(\.\d{3})+,\d+")  # of thousands, too

_ODD = np.uint64(0x9E3779B97F4A7C15)

Levels = NDArray[np.int8]
Classes = NDArray[np.signedinteger]


class Evidence(NamedTuple):
    """Weight that a field adds to a match, as the logarithm of the odds to base 2."""

    field: str
    level: str
    bits: float


class Weight(NamedTuple):
    """Weight of a field's level in bits, by its rates among matches (m) and all other pairs (u)."""

    field: str
    level: str
    m: float
    u: float
    bits: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Weights of fields, estimated from all candidate pairs as a mixture of three classes.

    `shares` (3,) are those of strangers, lookalikes and matches, `rates` (3, fields, MOST_LEVELS)
    how often each level occurs in a class. `are_matches` (3,) is True for classes of matches.
    `bounds` are the highest log2 odds of pairs that are in some states, see `_bound_states`.
    Records that differ in one of the fields at `telling` are no matches. So many `lookalikes` could
    be copies, as they have few others. If records are compared `as_wholes`, by `pretrained`, these
    weights only explain it.
    """

    names: tuple[str, ...]
    kinds: tuple[FieldKind, ...]
    shares: Table
    rates: Table
    are_matches: Marks
    bounds: Mapping[int, float] = field(default_factory=dict)
    telling: tuple[int, ...] = ()
    lookalikes: int = 0
    as_wholes: bool = False

    def weigh(self, levels: NDArray[np.int8]) -> Table:
        """Compute the log2 odds of a match for pairs of these levels, shape (pairs,)."""
        return self._odds(self._classes(levels).sum(axis=1))

    def explain(self, levels: Levels) -> list[list[Evidence]]:
        """List what each field adds to the odds of pairs of these levels, after the fields before.

        The first is what speaks for a match before any field is compared. The sum is that of
        `weigh`.
        """
        steps = self._odds(self._classes(levels).cumsum(axis=1))
        bits = np.diff(steps, prepend=0.0, axis=1).tolist()
        return [
            list(map(Evidence, ("", *self.names), ("", *self.label(row)), of_pair))
            for row, of_pair in zip(levels.tolist(), bits, strict=True)
        ]

    def label(self, levels: Sequence[int]) -> list[str]:
        """Name the levels of a pair."""
        return [
            MISSING_LEVEL if level == MISSING else LEVELS[kind][level][0]
            for kind, level in zip(self.kinds, levels, strict=True)
        ]

    def table(self) -> list[Weight]:
        """List the weights of all levels, each as if it were the only field."""
        weights = []
        m, u = (self._mean_rates(side) for side in (self.are_matches, ~self.are_matches))
        for at, (name, kind) in enumerate(zip(self.names, self.kinds, strict=True)):
            for level, (label, _) in enumerate(LEVELS[kind]):
                both = float(m[at, level]), float(u[at, level])
                weights.append(Weight(name, label, *both, math.log2(both[0] / both[1])))
        return weights

    def measure_levels(self) -> Table:
        """Compute the bits of each level as `table` lists them, the last for missing."""
        m, u = (_log(self._mean_rates(side)) for side in (self.are_matches, ~self.are_matches))
        return np.pad((m - u) / math.log(2), ((0, 0), (0, 1)))

    def _mean_rates(self, side: Marks) -> Table:
        # If no class is of matches, what the most similar class would say.
        chosen = side if side.any() else np.arange(3) == MATCHES
        return np.average(self.rates[chosen], axis=0, weights=self.shares[chosen])

    def _classes(self, levels: NDArray[np.int8]) -> Table:
        """Compute the logarithms of each class: its share, then each level, (pairs, 1 + fields, 3).

        A level that is missing says the same of each class.
        """
        logs = _log(self.rates)
        summands = np.zeros((len(levels), 1 + len(self.names), 3))
        summands[:, 0] = _log(self.shares)
        for at in range(len(self.names)):
            is_present = levels[:, at] != MISSING
            summands[is_present, 1 + at] = logs[:, at, levels[is_present, at]].T
        return summands

    def _odds(self, logs: Table) -> Table:
        """Compute the log2 odds of a match by the logarithms of the classes in the last axis."""
        if not self.are_matches.any():
            return np.full(logs.shape[:-1], -MOST_BITS)
        of_matches = np.logaddexp.reduce(logs[..., self.are_matches], axis=-1)
        of_others = np.logaddexp.reduce(logs[..., ~self.are_matches], axis=-1)
        odds: Table = (of_matches - of_others) / math.log(2)
        return odds


class FieldMatches(NamedTuple):
    """Match probabilities of pairs, of shape (pairs,), and the weights that they come from."""

    probabilities: Similarities
    weights: Weights


def parse_fields(fields: Mapping[str, str] | Iterable[str]) -> dict[str, FieldKind]:
    """Read fields with their kinds: {"name": "text", "zip": "exact"}, or "name", "zip:exact".

    Raises ArgumentError if a kind is unknown, a field comes twice, or without any.
    """
    if isinstance(fields, str):
        fields = [fields]
    if isinstance(fields, Mapping):
        pairs = list(fields.items())
    else:
        parted = [field.rpartition(":") for field in fields]
        pairs = [(name, kind) if colon else (kind, "text") for name, colon, kind in parted]
    require(bool(pairs), "`fields` is empty", "set one or more, such as name or zip:exact")
    kinds: dict[str, FieldKind] = {}
    for name, kind in pairs:
        require(bool(name), "a field of `fields` has no name", "give it as name or zip:exact")
        require(name not in kinds, f"the field {name!r} is given twice", "name it once")
        require_choice(f"fields[{name!r}]", kind, KINDS)
        kinds[name] = cast(FieldKind, kind)
    return kinds


def make_column(
    name: str, kind: FieldKind, values: Iterable[object], sample: FieldColumn | None = None
) -> FieldColumn:
    """Make the column of a field from the values of all records, None or "" for no value.

    How rare a value is, the records of a `sample` tell if there is one.

    Raises DataError if none of its values is a number, or a date, and it should be.
    """
    numbered = {value: at for at, value in enumerate(sample.values)} if sample else {}
    of_texts: dict[str, int] = {}
    parsed: list[Sequence[float]] = sample.parsed.tolist() if sample else []
    numbers, example, unread = [], None, 0
    for value in values:
        text = as_text(value).strip()  # a blank is no value
        if (number := of_texts.get(text)) is None:
            key, meaning = _read_value(kind, text)
            example = text if text and not key and example is None else example
            number = numbered.setdefault(key, len(numbered)) if key else MISSING
            if number == len(parsed):
                parsed.append(meaning)
            of_texts[text] = number
        numbers.append(number)
        unread += number == MISSING and bool(text)
    problem = ""
    if numbers and not numbered:
        problem = f"no record has a value of the field {name!r}: check its name"
    if example is not None and kind in ("number", "date"):
        such = f"such as {example[:40]!r}"
        if not numbered:
            reason = f"the field {name!r} has no {kind}, but values {such}"
            raise DataError(reason, f"compare it as {name}:text or {name}:exact")
        count = counted(unread, "value is", "values are")
        problem = f"in the field {name!r} {count} not a {kind}, {such}: treated as missing"
    row_numbers = np.array(numbers, dtype=np.int64)
    if kind == "exact" and (same_calls := _find_trunk_calls(of_texts, numbered)):
        known = len(sample.values) if sample else 0
        kept = {key: at for key, at in numbered.items() if at < known or at not in same_calls}
        places = np.full(len(numbered) + 1, MISSING)
        places[[*kept.values()]] = np.arange(len(kept))
        for at, other in same_calls.items():
            places[at] = places[other] if at >= known else places[at]
        row_numbers, numbered = places[row_numbers], dict.fromkeys(kept, 0)
        parsed = parsed[: len(kept)]
    equal = row_numbers
    if kind == "text":
        of_words: dict[tuple[str, ...], int] = {}
        same = [of_words.setdefault(tuple(sorted(split_words(value))), at)
                for at, value in enumerate(numbered)]  # fmt: skip
        equal = np.array([*same, MISSING], dtype=np.int64)[row_numbers]
    are_mails = 2 * sum("@" in text for text in of_texts) > len(of_texts)
    counted_rows = row_numbers if sample is None else sample.numbers
    counts = np.bincount(counted_rows[counted_rows != MISSING], minlength=len(numbered))
    return FieldColumn(
        name=name,
        kind=kind,
        values=tuple(numbered),
        numbers=row_numbers,
        equal=equal,
        counts=counts,
        parsed=np.array(parsed, dtype=np.float64).reshape(len(parsed), WIDTHS[kind]),
        problem=problem,
        sample=sample,
        are_mails=are_mails if sample is None else sample.are_mails,
    )


def _find_trunk_calls(of_texts: Mapping[str, int], numbered: Mapping[str, int]) -> dict[int, int]:
    """Find telephone numbers with a country's code that others have without it, by their numbers.

    +49 (0)30 1234567 and 0049 30 1234567 are 030 1234567, and +1 212 555 0123 is 212 555 0123.
    """
    calls: dict[int, int] = {}
    international = {"".join(filter(str.isdecimal, text)): number
                     for text, number in of_texts.items() if text.startswith("+")}  # fmt: skip
    for text, number in of_texts.items():
        if not text.startswith(("+", "00")) or len(text) < SHORTEST_CALL:
            continue
        digits = "".join(filter(str.isdecimal, text)).removeprefix("00")
        same = [international.get(digits)]  # as +49 is 0049
        for code in range(1, 4):
            rest = digits[code:].removeprefix("0")
            if len(rest) >= SHORTEST_CALL:
                same += [numbered.get(f"0{rest}"), numbered.get(rest) if text[0] == "+" else None]
        for at in same:
            if at is not None and at != number:
                calls[number] = at
    return calls


def _read_value(kind: FieldKind, text: str) -> tuple[str, tuple[float, ...]]:
    """Read a value: what equal ones have in common, "" for none, and the number or date it is."""
    if kind in ("text", "exact"):
        form = normalize(join_numbers(text) if kind == "text" else text)
        if kind == "text" and "@" in text and " " not in text:
            form = _JOINS.sub(" ", form)  # a slip in ann.lee7@web.org is in a word
        if kind == "exact":  # 310/475-9807 is 310-475-9807
            form = form.replace(" ", "").replace("-", "")
        return form if any(map(str.isalnum, form)) else "", ()  # "?" is no value
    if kind == "number":
        number = _read_number(text)
        return ("", ()) if number is None else (repr(number), (number,))
    date = read_date(text)
    return ("", ()) if date is None else (f"{date}", date)


def _read_number(text: str) -> float | None:
    """Read a number, with what stands around it, as in "$1,299.00". Return None if it is none."""
    try:
        number = float(text)  # 1e-05, too
    except ValueError:
        text = _GAPS.sub("", text)
        if (pointed := _POINTS.search(text)) is not None:
            text = pointed[0].replace(".", "")
        numbers = (match[0] for match in _DIGITS.finditer(text) if any(map(str.isdigit, match[0])))
        if (digits := next(numbers, None)) is None:
            return None
        has_thousands = re.fullmatch(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?", digits)
        number = float(digits.replace(",", "" if has_thousands else "."))
    return number if math.isfinite(number) else None


def compare_fields(columns: Sequence[FieldColumn], pairs: Pairs, *, threads: int = 1) -> Levels:
    """Find the level up to which each field of each pair agrees, shape (pairs, fields)."""
    levels = np.full((len(pairs), len(columns)), MISSING, dtype=np.int8)
    for at, column in enumerate(columns):
        numbers = column.numbers[pairs]
        present = np.flatnonzero((numbers != MISSING).all(axis=1))
        levels[present, at] = _compare_values(column, numbers[present], threads)
    return levels


def _compare_values(column: FieldColumn, pairs: Numbers, threads: int) -> Levels:
    """Find the levels of pairs of values, comparing each two values once."""
    steps = len(LEVELS[column.kind])
    numbered = number_pairs(np.sort(pairs, axis=1).astype(np.uint32))
    each, places = np.unique(numbered, return_inverse=True)
    values = pairs_of(each)
    levels = np.zeros(len(each), dtype=np.int8)
    is_equal = values[:, 0] == values[:, 1]
    if column.kind == "text":
        others, counts = np.flatnonzero(~is_equal), column.words
        similarities = compare_records(column.values, values[others], counts, threads=threads)
        levels[others] = np.digitize(similarities, TEXT_STEPS)
        is_equal[others[similarities >= 1.0]] = True
    elif column.kind == "number":
        first, second = column.parsed[values, 0].T
        largest = np.maximum(np.abs(first), np.abs(second))
        apart = np.abs(first - second) / np.maximum(largest, 1e-300)
        levels += sum((apart <= step).astype(np.int8) for step in NUMBER_STEPS)
    elif column.kind == "date":
        levels += _are_near(column.parsed[values])
    is_rare = column.has_rare[values[:, 0]] | column.has_rare[values[:, 1]]
    levels[is_equal] = steps - 2 + is_rare[is_equal]
    return levels[places.reshape(-1)]


def _are_near(dates: Table) -> Marks:
    """Mark pairs of dates, shape (pairs, 2, 3), that may be the same but for a slip.

    Two of their parts are equal, or day and month are swapped, or they are at most a month apart,
    or years alone at most one year. A part that either lacks may be as in the other.
    """
    first, second = dates[:, 0], dates[:, 1]
    is_given = (first > 0) & (second > 0)
    same = (first == second) & is_given
    swapped = same[:, 0] & (first[:, 1] == second[:, 2]) & (first[:, 2] == second[:, 1])
    days = np.abs((first - second) @ (365.25, 30.44, 1.0))
    are_whole = is_given.all(axis=1)
    part = np.where(is_given[:, 1], same[:, :2].all(axis=1), np.abs(first - second)[:, 0] <= 1)
    whole = (same.sum(axis=1) >= 2) | swapped | (days <= DAYS)
    near: Marks = np.where(are_whole, whole, part)
    return near


def match_fields(
    columns: Sequence[FieldColumn],
    pairs: Pairs,
    similarities: Similarities,
    *,
    weights: Weights | None = None,
    threads: int = 1,
) -> FieldMatches:
    """Compute the probability that the records of each pair are the same, by their fields.

    `pairs` (pairs × 2) are candidates, `similarities` (pairs,) those of their whole records by
    `aligned`. Without `weights` these are learnt from all of them. A pair below `FLOOR`
    has probability 0.
    """
    from neardup_solr.measures.variants import find_telling  # for records alone

    above, below = (np.flatnonzero(side) for side in (similarities >= FLOOR, similarities < FLOOR))
    most = SAMPLE if weights is None else 0
    some = take_evenly(below, most)
    compared = np.concatenate([above, some])
    levels = compare_fields(columns, pairs[compared], threads=threads)
    if weights is None:
        fields = {column.name: column.kind for column in columns}
        sampled = len(below) / max(len(some), 1)
        learnt = ~mark_other_names(columns, pairs[compared], levels)
        begins = similarities[compared] >= BEGIN[1]
        # Families are left out if they are most of what begins: matches are not like them.
        if np.count_nonzero(begins & learnt) >= np.count_nonzero(begins) / 2:
            learnt[:] = True
        telling = list[int]()
        while True:
            rows = compared[learnt]
            weights = learn_weights(
                fields, levels[learnt], similarities[rows], sampled=sampled, pairs=pairs[rows]
            )
            likely = levels[: len(above)][learnt[: len(above)]]
            likely = likely[weights.weigh(likely) >= 0.0]
            at = find_telling(columns, likely == 0, mark_equal(likely, weights.kinds))
            if at is None:
                break
            telling.append(at)
            learnt &= levels[:, at] != 0
        bounds = _bound_states(columns, pairs[above], levels[: len(above)], weights, threads)
        weights = replace(weights, bounds=bounds, telling=tuple(telling))
    levels = levels[: len(above)]
    probabilities = np.zeros(len(pairs))
    bits = np.clip(weigh_pairs(columns, pairs[above], levels, weights), -60.0, 60.0)
    says_nothing = (levels == MISSING).all(axis=1)
    probabilities[above] = np.where(says_nothing, 0.0, to_probabilities(bits))
    return FieldMatches(probabilities=probabilities, weights=weights)


def to_probabilities(odds: Table) -> Similarities:
    """Convert log2 odds to probabilities, shape (pairs,)."""
    probabilities: Similarities = 1.0 / (1.0 + 2.0**-odds)
    return probabilities


def weigh_pairs(
    columns: Sequence[FieldColumn], pairs: Pairs, levels: Levels, weights: Weights
) -> Table:
    """Compute the log2 odds of a match for pairs of these levels, shape (pairs,).

    They are those of `Weights.weigh` but for four kinds of pairs. Records that are equal in all
    fields have `EQUAL_ODDS` or better. Things of other names have at most `OTHER_NAMES`, and so
    have records that differ in a telling field. And if other records have the values in which a
    pair is equal, but differ from each other where the pair does, the odds are at most that of any
    of them to be right, with what the other fields say against it. They are at most the bounds of
    `weights`, too.
    """
    bits = weights.weigh(levels)
    is_equal = mark_equal(levels, weights.kinds).all(axis=1) | mark_same(columns, pairs)
    have_other_names = mark_other_names(columns, pairs, levels)
    have_other_names |= (levels[:, list(weights.telling)] == 0).any(axis=1)
    bits[have_other_names] = np.minimum(bits[have_other_names], OTHER_NAMES)
    likely = np.flatnonzero((bits >= 0.0) & ~is_equal)
    if len(likely):
        most = _bound_odds(columns, pairs[likely], levels[likely], weights)
        bits[likely] = np.minimum(bits[likely], most)
        states, places = np.unique(_hash_levels(levels[likely]), return_inverse=True)
        most = np.array([weights.bounds.get(state, np.inf) for state in states.tolist()])
        bits[likely] = np.minimum(bits[likely], most[places.reshape(-1)])
    bits[is_equal] = np.maximum(bits[is_equal], EQUAL_ODDS)
    return bits


def mark_same(columns: Sequence[FieldColumn], pairs: Pairs) -> Marks:
    """Mark the pairs of records that have the same values, at least one, and lack the same."""
    are_same, have_value = np.ones(len(pairs), np.bool_), np.zeros(len(pairs), np.bool_)
    for column in columns:
        first, second = column.equal[pairs].T
        are_same &= first == second
        have_value |= first != MISSING
    return are_same & have_value


def mark_codes(columns: Sequence[FieldColumn], pairs: Pairs) -> Marks:
    """Mark the pairs of records that share a rare code, in whatever notation."""
    from neardup_solr.measures.members import is_code  # for records alone

    marks = np.zeros(len(pairs), np.bool_)
    for column in columns:
        if column.kind == "exact" and is_code(column):
            first, second = column.numbers[pairs].T
            marks |= (first == second) & (first != MISSING) & column.has_rare[first]
    return marks


def mark_other_names(columns: Sequence[FieldColumn], pairs: Pairs, levels: Levels) -> Marks:
    """Mark pairs of things of other names that have much in common, as members of a family.

    The first text of many values is the name. No other text differs, and nothing speaks for a slip:
    a value that is near, an equal date, such as a day of birth, or two rare codes that are equal,
    such as an e-mail and a telephone. For names in two parts see `members`.
    """
    from neardup_solr.measures.members import find_parts

    kinds = [column.kind for column in columns]
    are_texts, are_dates, are_codes = np.array(kinds) == [["text"], ["date"], ["exact"]]
    are_names = _mark_names(columns)
    is_name = np.cumsum(are_names) * are_names == 1
    are_equal = mark_equal(levels, kinds)
    speak_for = (are_equal & are_dates) | ((levels > 0) & ~are_equal)
    speak_for |= (levels == 0) & are_texts & ~is_name  # as if names were swapped
    are_shared = levels == np.array([len(LEVELS[kind]) - 1 for kind in kinds])
    are_codes |= [column.are_mails for column in columns]
    is_slip = speak_for.any(axis=1) | ((are_shared & are_codes).sum(axis=1) > 1)
    marks: Marks = ((levels == 0) & is_name).any(axis=1) & ~is_slip
    are_near = are_texts & (levels > 1) & ~are_equal
    for part in find_parts(tuple(columns), NAMES):
        rest = np.delete(np.arange(len(columns)), part.places)
        is_kin = (are_shared | are_near)[:, rest].any(axis=1)
        likely = np.flatnonzero(is_kin)
        parts = compare_fields([part.column, part.other], pairs[likely])
        # People of other last names, too, at the same address: a title may have other directors.
        is_mate = are_shared[likely][:, part.codes].any(axis=1)
        is_other = (parts[:, 0] == 0) & ((parts[:, 1] > 0) | is_mate)
        likely = likely[is_other]
        marks[likely] |= part.mark_others(pairs[likely])
    return marks


def _mark_names(columns: Sequence[FieldColumn]) -> Marks:
    """Mark the texts of so many values that they name things, shape (fields,)."""
    counts = [column.counts.astype(np.float64) for column in columns]
    are_many = [0 < each @ each <= NAMES * each.sum() ** 2 for each in counts]
    marks: Marks = np.array(are_many) & [column.kind == "text" for column in columns]
    return marks


def _bound_odds(
    columns: Sequence[FieldColumn], pairs: Pairs, levels: Levels, weights: Weights
) -> Table:
    """Compute the most log2 odds that pairs may have by the records that agree as they do.

    How many of these differ from each other is the inverse of the share of two that do not (the
    inverse index of Simpson 1949), in the field where they differ least: the copies of a record,
    and few slips in them, count once.
    """
    is_same = mark_equal(levels, weights.kinds)
    is_unlike: Marks = levels == 0
    is_unlike |= ~is_same & (levels != MISSING) & ~is_unlike.any(axis=1, keepdims=True)
    bits = weights.measure_levels()[np.arange(len(columns)), levels]
    others_say = np.where(is_same, 0.0, bits).sum(axis=1)
    own = np.stack([column.numbers for column in columns], axis=1)
    numbers = np.stack([column.counted.numbers for column in columns], axis=1)
    is_beside = columns[0].sample is not None  # which the pairs belong to as well
    hashes, own_hashes = _hash_fields(numbers), _hash_fields(own)
    most = np.full(len(pairs), np.inf)
    patterns, of_pattern = np.unique(np.hstack([is_same, is_unlike]), axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        same, unlike = pattern[: len(columns)], pattern[len(columns) :]
        at = np.flatnonzero((of_pattern.reshape(-1) == number) & (others_say <= 0.0))
        if not (len(at) and same.any() and unlike.any()):
            continue
        is_complete = (numbers[:, unlike] != MISSING).all(axis=1)
        shared = hashes[is_complete][:, same].sum(axis=1)
        of_pairs = own_hashes[:, same].sum(axis=1)[pairs[at]]
        differ: Table = np.full(of_pairs.shape, np.inf)
        for column in np.flatnonzero(unlike).tolist():
            both = _hash(shared * _ODD + hashes[is_complete, column])
            each, first, counts = np.unique(both, return_index=True, return_counts=True)
            groups, places = np.unique(shared[first], return_inverse=True)
            sizes, squares = (
                _look_up(groups, np.bincount(places, counts**power), of_pairs)
                for power in (1.0, 2.0)
            )
            if is_beside:
                for side in (0, 1):
                    values = own_hashes[pairs[at, side], column][:, np.newaxis]
                    squares += 1.0 + 2.0 * _look_up(each, counts, _hash(of_pairs * _ODD + values))
                sizes += 2.0
            differ = np.minimum(differ, sizes**2 / squares)
        others = differ.max(axis=1) - 2.0
        counting = others >= FEWEST_OTHERS - 0.01
        bound = others_say[at] - 1.0 - np.log2(np.maximum(others, 1.0))
        most[at] = np.where(counting, bound, np.inf)
    return most


def _look_up(keys: NDArray[np.uint64], sums: NDArray[Any], sought: NDArray[np.uint64]) -> Table:
    """Look up the sum of each key that is sought among rising keys, 0.0 if it is not there."""
    places = np.searchsorted(keys, sought)
    padded = np.append(keys, np.uint64(0)), np.append(sums, 0.0)
    known: Table = np.where(padded[0][places] == sought, padded[1][places], 0.0)
    return known


def _bound_states(
    columns: Sequence[FieldColumn], pairs: Pairs, levels: Levels, weights: Weights, threads: int
) -> dict[int, float]:
    """Compute the most log2 odds that pairs in a state may have, by their number.

    If all records were of different things and their fields independent, as many pairs of different
    records as the rates of the levels say would agree as far in the same fields. The odds are those
    of what is more, by two standard deviations. A text that is nearly equal in a match by `weights`
    is no chance, and so does not count for the rates, nor does a rare code that is equal in one. A
    name without any other value has no such bound: nothing else could agree.
    """
    from neardup_solr.measures.members import is_code

    values = np.stack([column.numbers for column in columns], axis=1)
    _, distinct, records = np.unique(values, axis=0, return_index=True, return_inverse=True)
    if not len(pairs) or len(distinct) < 2:
        return {}
    ends = np.sort(records.reshape(-1)[pairs], axis=1).astype(np.uint32)
    once = levels[np.unique(number_pairs(ends), return_index=True)[1]]
    odds = weights.weigh(once)
    keys, firsts, counts = np.unique(_hash_levels(once), return_index=True, return_counts=True)
    states = once[firsts]
    are_texts = [column.kind == "text" for column in columns]
    drawn = np.random.default_rng(0).integers(0, len(distinct), (DRAWN, 2))
    strangers = distinct[drawn[drawn[:, 0] != drawn[:, 1]]].astype(np.uint32)
    sample = compare_fields(columns, strangers, threads=threads)
    near = np.flatnonzero(((sample == NEARLY) & are_texts).any(axis=1))
    sample = np.delete(sample, near[weights.weigh(sample[near]) >= 0.0], axis=0)
    expected = np.full(len(keys), len(distinct) * (len(distinct) - 1) / 2)
    for at, column in enumerate(columns):
        rates = _rate_levels(column, distinct, sample[:, at])
        if column.kind == "exact" and is_code(column):  # equal by chance in others alone
            top = len(LEVELS["exact"]) - 1
            of_others = odds[once[:, at] == top] < 0.0
            rates[top] *= max(float(of_others.mean()), RARELY) if len(of_others) else 1.0
        expected *= rates[states[:, at]]
    more = counts - expected - 2.0 * np.sqrt(expected)
    most = np.log2(np.maximum(more, 1e-3) / np.maximum(expected, 1e-9))
    are_present = states != MISSING
    is_alone = (are_present.sum(axis=1) == 1) & (are_present & _mark_names(columns)).any(axis=1)
    few = np.flatnonzero((most < MOST_BITS) & ~is_alone)
    return dict(zip(keys[few].tolist(), most[few].round(6).tolist(), strict=True))


def _rate_levels(column: FieldColumn, distinct: Numbers, sample: Levels) -> Table:
    """Compute how often the levels of a field are met, the last for missing, shape (levels + 1,).

    Equal values are counted in all `distinct` records, as a `sample` of pairs has few of them.
    """
    rates = np.bincount(sample - MISSING, minlength=MOST_LEVELS + 1) + RARELY
    rates /= max(len(sample), 1)
    numbers = column.numbers[distinct]
    counts = np.bincount(numbers[numbers != MISSING], minlength=len(column.values))
    pairs = len(distinct) * (len(distinct) - 1) / 2
    top = len(LEVELS[column.kind]) - 1
    for level, values in ((top - 1, ~column.has_rare), (top, column.has_rare)):
        equal = (counts[values] * (counts[values] - 1.0)).sum() / 2
        rates[level - MISSING] = max(equal, RARELY) / pairs
    return np.roll(rates, MISSING)


def _hash_levels(levels: Levels) -> NDArray[np.uint64]:
    """Hash the levels of pairs, shape (pairs,)."""
    hashes: NDArray[np.uint64] = _hash_fields(levels.astype(np.int64) - MISSING).sum(axis=1)
    return hashes


def _hash_fields(numbers: Numbers) -> NDArray[np.uint64]:
    """Hash the numbers of fields, shape (rows, fields), each field by itself."""
    return _hash(numbers.astype(np.uint64) + np.arange(numbers.shape[1], dtype=np.uint64) * _ODD)


def _hash(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix the bits of numbers, as the finaliser of splitmix64 does."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        numbers = (numbers ^ numbers >> np.uint64(shift)) * np.uint64(factor)
    return numbers ^ numbers >> np.uint64(31)


def explain_pairs(
    columns: Sequence[FieldColumn], pairs: Pairs, weights: Weights, odds: Table | None = None
) -> list[list[Evidence]]:
    """List what each field adds to the odds of each pair.

    The last is what `weigh_pairs` makes of it, or what makes up the log2 `odds` of whole records,
    (pairs,), if that is not their sum.
    """
    levels = compare_fields(columns, pairs)
    explained = weights.explain(levels)
    all_odds = weigh_pairs(columns, pairs, levels, weights) if odds is None else odds
    rest = all_odds - weights.weigh(levels)
    have_other_names = mark_other_names(columns, pairs, levels)
    for at in np.flatnonzero(np.abs(rest) > 1e-9).tolist():
        reason = ("all fields", "equal") if rest[at] > 0 else ("others", "as similar, but differ")
        if odds is not None:
            reason = ("whole record", "more alike" if rest[at] > 0 else "less alike")
        if have_other_names[at]:
            reason = ("name", "different name")
        explained[at].append(Evidence(*reason, float(rest[at])))
    return explained


def learn_weights(
    fields: Mapping[str, FieldKind],
    levels: Levels,
    similarities: Similarities,
    *,
    sampled: float = 1.0,
    pairs: Pairs | None = None,
) -> Weights:
    """Learn the weights of fields from the levels of candidate pairs, shape (pairs, fields).

    `similarities` (pairs,) are those of the whole records. Each pair below `FLOOR` stands for
    `sampled` pairs. The `pairs` (pairs, 2) tell how many lookalikes a record has.
    """
    kinds = tuple(fields.values())
    guesses = _guess_rates(kinds)
    patterns, can_match, begins, counts, numbers = _count_patterns(levels, similarities, sampled)
    _begin_matches(patterns, kinds, can_match, begins, counts)
    met = _mark_levels(patterns)
    are_equal, are_missing = mark_equal(patterns, kinds), patterns == MISSING
    are_near = (patterns == NEARLY) & [kind == "text" for kind in kinds]
    is_copy = can_match & are_equal.all(axis=1)
    agree = can_match & (are_equal | are_near | are_missing).all(axis=1)
    is_slip = agree & are_near.any(axis=1)
    if counts[is_slip].sum() > counts[agree & ~is_slip].sum():
        is_copy |= is_slip
    chances = np.full((len(patterns), 3), (1.0 - SURE) / 2)
    chances[np.arange(len(patterns)), begins] = SURE

    def hold_known() -> None:
        chances[~can_match, MATCHES] = 0.0
        chances[is_copy] = np.arange(3) == MATCHES
        chances[:] /= chances.sum(axis=1, keepdims=True)

    for _ in range(MOST_ROUNDS):
        hold_known()
        shares, rates = _estimate_rates(met, counts[:, np.newaxis] * chances, guesses)
        logs = met @ _log(rates).reshape(3, -1).T + _log(shares)
        before, chances = chances, np.exp(logs - np.logaddexp.reduce(logs, axis=1)[:, np.newaxis])
        hold_known()
        if np.abs(chances - before).max(initial=0.0) < SETTLED:
            break
    agreed = _measure_agreed(kinds, rates)
    are_matches = _judge_classes(agreed)
    weights = _make_weights(fields, shares, rates, are_matches)
    if pairs is None or not are_matches[MATCHES] or are_matches[LOOKALIKES]:
        return weights
    classes = np.where(similarities >= FLOOR, chances.argmax(axis=1)[numbers], STRANGERS)
    if agreed[LOOKALIKES] >= CLOSED_AGREEING and _are_closed(pairs, classes):
        return _make_weights(fields, shares, rates, np.arange(3) != STRANGERS)
    if _measure_agreed(kinds, weights.rates)[LOOKALIKES] < FEW_AGREEING:  # with rates in order
        return weights
    return replace(weights, lookalikes=_count_lookalikes(pairs, classes))


def estimate_weights(
    fields: Mapping[str, FieldKind], levels: Levels, are_same: Marks, *, sampled: float = 1.0
) -> Weights:
    """Estimate the weights of fields from pairs that are known to be the same or not, (pairs,).

    `levels` has shape (pairs, fields). Each pair that is not the same stands for `sampled` pairs.
    They explain what decided about the pairs.
    """
    guesses = _guess_rates(tuple(fields.values()))
    counted = np.where(are_same, [[0.0], [0.0], [1.0]], [[sampled], [0.0], [0.0]]).T
    shares, rates = _estimate_rates(_mark_levels(levels), counted, guesses)
    weights = _make_weights(fields, shares, rates, np.arange(3) == MATCHES)
    return replace(weights, as_wholes=True)


def _make_weights(
    fields: Mapping[str, FieldKind], shares: Table, rates: Table, are_matches: Marks
) -> Weights:
    """Make weights of what was estimated, with the rates in order."""
    kinds = tuple(fields.values())
    return Weights(
        names=tuple(fields),
        kinds=kinds,
        shares=shares,
        rates=_order_rates(rates, shares, kinds, are_matches),
        are_matches=are_matches,
    )


def _mark_levels(levels: Levels) -> Table:
    """Mark the level of each field of pairs, shape (pairs, fields × MOST_LEVELS)."""
    marks = np.zeros((*levels.shape, MOST_LEVELS))
    for at, of_field in enumerate(levels.T):
        present = np.flatnonzero(of_field != MISSING)
        marks[present, at, of_field[present]] = 1.0
    return marks.reshape(len(levels), levels.shape[1] * MOST_LEVELS)


def _estimate_rates(met: Table, counted: Table, guesses: Table) -> tuple[Table, Table]:
    """Estimate the shares of the classes and the rates of levels in each.

    `met` are marks of levels, `counted` (pairs, 3) how many pairs each stands for in each class.
    """
    rates = (counted.T @ met).reshape(guesses.shape) + GUESSES * guesses
    rates /= rates.sum(axis=2, keepdims=True)
    return (counted.sum(axis=0) + 1.0) / (counted.sum() + 3.0), rates


def mark_equal(levels: Levels, kinds: Sequence[FieldKind]) -> Marks:
    """Mark the fields that are equal in each pair, shape (pairs, fields)."""
    marks: Marks = levels >= np.array([len(LEVELS[kind]) - 2 for kind in kinds])
    return marks


def _order_rates(
    rates: Table, shares: Table, kinds: Sequence[FieldKind], are_matches: Marks
) -> Table:
    """Change the rates of others so that each level weighs no less than a level of less agreement.

    And "equal" no less than nothing. The ratios to the rates of matches become isotonic, by the
    formula of the largest least mean (Robertson, Wright and Dykstra 1988, "Order Restricted
    Statistical Inference", section 1.4), so that the rates of a field still sum to 1.
    """
    sides = np.array(are_matches if are_matches.any() else [False, False, True])
    base = np.average(rates[sides], axis=0, weights=shares[sides])
    ordered = rates.copy()
    for of in np.flatnonzero(~sides):
        # From the highest level down, as the ratio of others to matches rises that way.
        ends = [
            np.pad(side[:, ::-1].cumsum(axis=1), ((0, 0), (1, 0))) for side in (rates[of], base)
        ]
        some, others = (end[:, np.newaxis, 1:] - end[:, :-1, np.newaxis] for end in ends)
        means = np.divide(some, others, out=np.ones_like(some), where=others > 1e-12)
        least = np.minimum.accumulate(means[:, :, ::-1], axis=2)[:, :, ::-1]
        ratios = np.maximum.accumulate(least, axis=1).diagonal(axis1=1, axis2=2)[:, ::-1]
        ordered[of] = base * ratios
        for at, kind in enumerate(kinds):
            equal = len(LEVELS[kind]) - 2
            if ratios[at, equal] > 1.0:
                both = slice(equal, equal + 2)
                whole = ordered[of, at, both].sum()
                ordered[of, at, both] = base[at, both] * whole / base[at, both].sum()
    return ordered


def _guess_rates(kinds: Sequence[FieldKind]) -> Table:
    """Guess how often the levels of each field are met in each class, before any is learnt."""
    rates = np.zeros((3, len(kinds), MOST_LEVELS))
    for at, kind in enumerate(kinds):
        between = len(LEVELS[kind]) - 3
        # Different, what is between, and equal: strangers agree in common values for the most part.
        matches = [0.05, *[0.35 / max(between, 1)] * between, 0.3, 0.3]
        strangers = [0.5, *[0.4 / max(between, 1)] * between, 0.075, 0.025]
        for of_class, shape in ((STRANGERS, strangers), (MATCHES, matches)):
            rates[of_class, at, : len(shape)] = np.array(shape) / sum(shape)
    rates[LOOKALIKES] = (rates[STRANGERS] + rates[MATCHES]) / 2
    return rates


def _count_patterns(
    levels: Levels, similarities: Similarities, sampled: float
) -> tuple[Levels, Marks, Classes, Table, Numbers]:
    """Count pairs of the same levels: these, whether they can match, their first class, how many.

    No stratum of similarity counts for more than the pairs that begin as matches. The last is the
    number of the pattern of each pair.
    """
    can_match = similarities >= FLOOR
    begins: Classes = np.digitize(similarities, BEGIN)
    strata = (similarities / STRATUM + 1e-9).astype(np.int64)
    strata[begins == MATCHES] = strata.max(initial=0) + 1
    each = np.where(can_match, 1.0, sampled)
    most = max(FEWEST, np.count_nonzero(begins == MATCHES))
    each = each * np.minimum(1.0, most / np.maximum(np.bincount(strata, each), 1.0))[strata]
    keys = begins * 2 + can_match
    for column in levels.T:  # so few that they fit into a number again
        keys = keys * (MOST_LEVELS + 1) + column - MISSING
        keys = np.unique(keys, return_inverse=True)[1].reshape(-1)
    _, first = np.unique(keys, return_index=True)
    counts = np.bincount(keys, each).astype(np.float64)
    return levels[first], can_match[first], begins[first], counts, keys


def _begin_matches(
    patterns: Levels, kinds: Sequence[FieldKind], can_match: Marks, begins: Classes, counts: Table
) -> None:
    """Let pairs that agree in all fields but one begin as matches, if most of them do not.

    A field that changes, such as a stock, keeps the whole records apart. What agrees is most of
    what the fields can tell, and nearly equal in a field at least: records that are equal but for
    one field may as well be variants.
    """
    agreements = _list_agreements(kinds)[np.arange(len(kinds)), patterns]
    is_known = patterns != MISSING
    of_strangers = np.where(begins == STRANGERS, counts, 0.0)
    agreed, present = of_strangers @ (agreements >= TEXT_STEPS[1]), of_strangers @ is_known
    bits = np.minimum(-np.log2((agreed + 1.0) / (present + 2.0)), MOST_BITS) * is_known
    shared = agreements * bits
    rows, unlike = np.arange(len(patterns)), (bits - shared).argmax(axis=1)
    whole = bits.sum(axis=1)
    least = np.maximum(BEGIN[1] * (whole - bits[rows, unlike]), AGREEING * whole)
    unequal = is_known & ~mark_equal(patterns, kinds)
    are_alike = can_match & (is_known.sum(axis=1) > 2) & (unequal.sum(axis=1) > 1)
    are_alike &= shared.sum(axis=1) - shared[rows, unlike] >= least
    if counts[are_alike & (begins == MATCHES)].sum() < counts[are_alike].sum() / 2:
        begins[are_alike] = MATCHES


def measure_agreements(kinds: Sequence[FieldKind], rates: Table) -> Table:
    """Measure how far the pairs of each class agree in each field, 0..1, shape (3, fields)."""
    agreements: Table = (rates * _list_agreements(kinds)[:, :MOST_LEVELS]).sum(axis=2)
    return agreements


def _list_agreements(kinds: Sequence[FieldKind]) -> Table:
    """List how far values agree by field and level, the last for missing."""
    agreements = np.zeros((len(kinds), MOST_LEVELS + 1))
    for at, kind in enumerate(kinds):
        agreements[at, : len(LEVELS[kind])] = [agreement for _, agreement in LEVELS[kind]]
    return agreements


def _judge_classes(agreed: Table) -> Marks:
    """Tell which classes are of matches, by the share of what fields can tell that they agree in.

    `agreed` (3,) are these shares.
    """
    are_matches: Marks = agreed >= np.array([np.inf, LOOKALIKES_AGREEING, AGREEING])
    are_matches[LOOKALIKES] &= are_matches[MATCHES]
    return are_matches


def _measure_agreed(kinds: Sequence[FieldKind], rates: Table) -> Table:
    """Measure the share of what the fields can tell that the classes agree in, shape (3,).

    A field can tell as many bits as strangers seldom agree in it.
    """
    agrees = _list_agreements(kinds)[:, :MOST_LEVELS] >= TEXT_STEPS[1]
    by_chance = (rates[STRANGERS] * agrees).sum(axis=1)
    bits = np.minimum(-np.log2(np.maximum(by_chance, 1e-9)), MOST_BITS)
    agreed: Table = measure_agreements(kinds, rates) @ bits / max(bits.sum(), 1e-9)
    return agreed


def _are_closed(pairs: Pairs, classes: Classes) -> bool:
    """Tell whether lookalikes, added to the matches, leave few open wedges, as copies do.

    A wedge is open if two records are alike to a third, but not to each other.
    """
    matches, all_alike = (pairs[side] for side in (classes == MATCHES, classes != STRANGERS))
    added = len(all_alike) - len(matches)
    return added > 0 and _count_open(all_alike) - _count_open(matches) < OPEN * added


def _count_open(pairs: Pairs) -> int:
    """Count the open wedges of pairs."""
    others: dict[int, set[int]] = {}
    for first, second in pairs.tolist():
        others.setdefault(first, set()).add(second)
        others.setdefault(second, set()).add(first)
    wedges = sum(len(each) * (len(each) - 1) // 2 for each in others.values())
    return wedges - sum(len(others[first] & others[second]) for first, second in pairs.tolist())


def _count_lookalikes(pairs: Pairs, classes: Classes) -> int:
    """Count the lookalikes if they could be copies, and 0 if they could not.

    Members of a family, such as the songs of an album, have many others; copies have few. `classes`
    (pairs,) are those of `pairs` (pairs, 2).
    """
    counts = np.bincount(pairs[classes != STRANGERS].reshape(-1).astype(np.int64))
    others = counts[pairs[classes == LOOKALIKES]].max(axis=1, initial=0)
    are_few = len(others) > 0 and np.count_nonzero(others <= FEW) >= MOSTLY_FEW * len(others)
    return len(others) if are_few else 0


def _log(rates: Table) -> Table:
    """Compute logarithms, 0 for levels that a kind does not have."""
    logs: Table = np.log(np.where(rates > 0.0, rates, 1.0))
    return logs


# Whole records are prepared and compared as `aligned` does; whoever has their fields goes on.
FIELDS = replace(ALIGNED, name="fields", default=LEAST_PROBABILITY, joins_numbers=False)
