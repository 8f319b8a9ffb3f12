"""The values of a field of records, each listed once."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast, get_args

import numpy as np
from numpy.typing import NDArray

from neardup_solr.argument_types import FieldKind as FieldKind
from neardup_solr.checks import require, require_choice
from neardup_solr.errors import DataError, counted
from neardup_solr.measures.date_parser import read_date
from neardup_solr.measures.frequencies import Frequencies
from neardup_solr.measures.word_lists import WordLists, list_words
from neardup_solr.minhash.sign import hash_texts, normal_forms
from neardup_solr.records import as_text
from neardup_solr.regex import regex
from neardup_solr.settings import NORMALIZATION
from neardup_solr.text.numbers import fold_digits, join_numbers
from neardup_solr.text.written_dates import are_day_first

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
    `parsed` (values, …) are numbers, or dates as year, month and day, 0 if it is missing.
    `problem` says what is wrong with the values of the records, if anything is. The values of a
    `sample` begin `values`; its records are not in `numbers`. If most values are addresses of
    e-mails, `are_mails` is True.
    """

    name: str
    kind: FieldKind
    values: tuple[str, ...]
    numbers: Numbers
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
        return Frequencies(int(self.counts.sum()), self.lists.count_texts(self.counts))

    @cached_property
    def lists(self) -> WordLists:
        """The words of all values."""
        return list_words(self.values)

    @cached_property
    def equal(self) -> Numbers:
        """Numbers of values, the same for texts of the same words in any order, by record."""
        if self.kind != "text":
            return self.numbers
        hashes = hash_texts(self.lists.words)[self.lists.numbers]
        sums = np.zeros(len(self.values), np.uint64)
        np.add.at(sums, self.lists.texts, hashes)
        _, firsts, places = np.unique(sums, return_index=True, return_inverse=True)
        return np.append(firsts[places], MISSING)[self.numbers]

    @property
    def share_equal(self) -> float:
        """Share of the pairs of counted records that are equal here, 0..1."""
        records = max(float(self.counts.sum()), 2.0)
        return float(self.counts @ (self.counts - 1.0)) / (records * (records - 1.0))


WIDTHS: dict[FieldKind, int] = {"text": 0, "exact": 0, "number": 1, "date": 3}
SHORTEST_CALL = 7  # digits of a telephone number, without the code of its country
_THOUSANDS = r"\d{1,3}(?:,\d\d)*(?:,\d{3})+"  # in India, groups of two before the last
_DIGITS = regex(rf"[+-]?({_THOUSANDS}|\d+)?([.,]\d+)?")
_GAPS = regex(r"(?<=\d)[ '\u2019\u00a0\u202f](?=\d{3}(?!\d))")  # of thousands
_JOINS = regex(r"(?<=\d)(?=[^\W\d])|(?<=[^\W\d])(?=\d)")  # of letters and digits
_POINTS = regex(r"[+-]?\d{1,3}(\.\d{3})+,\d+")  # of thousands, too


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
    step = "set one or more, such as name or zip:exact"
    require(bool(pairs), "`fields` is empty", step, code="argument-invalid")
    kinds: dict[str, FieldKind] = {}
    for name, kind in pairs:
        reason = "a field of `fields` has no name"
        require(bool(name), reason, "give it as name or zip:exact", code="argument-invalid")
        reason = f"the field {name!r} is given twice"
        require(name not in kinds, reason, "name it once", code="argument-invalid")
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
    texts = [as_text(value).strip() for value in values]  # a blank is no value
    of_texts = dict.fromkeys(texts, MISSING)
    numbered = {value: at for at, value in enumerate(sample.values)} if sample else {}
    parsed: list[Sequence[float]] = sample.parsed.tolist() if sample else []
    example = None
    for text, (key, meaning) in zip(of_texts, _read_values(kind, [*of_texts]), strict=True):
        if key:
            of_texts[text] = number = numbered.setdefault(key, len(numbered))
            if number == len(parsed):
                parsed.append(meaning)
        elif text and example is None:
            example = text
    numbers = list(map(of_texts.__getitem__, texts))
    unread = (
        0
        if example is None
        else sum(
            number == MISSING and bool(text) for number, text in zip(numbers, texts, strict=True)
        )
    )
    problem = ""
    if numbers and not numbered:
        problem = f"no record has a value of the field {name!r}: check its name"
    if example is not None and kind in ("number", "date"):
        such = f"such as {example[:40]!r}"
        if not numbered:
            reason = f"the field {name!r} has no {kind}, but values {such}"
            step = f"compare it as {name}:text or {name}:exact"
            raise DataError(reason, step, code="values-unfit")
        count = counted(unread, "value is", "values are")
        problem = f"in the field {name!r} {count} not a {kind}, {such}: treated as missing"
    row_numbers = np.array(numbers, dtype=np.int64)
    if kind == "exact" and (same_calls := _find_trunk_calls(of_texts, numbered)):
        sampled = len(sample.values) if sample else 0
        kept = {key: at for key, at in numbered.items() if at < sampled or at not in same_calls}
        places = np.full(len(numbered) + 1, MISSING)
        places[[*kept.values()]] = np.arange(len(kept))
        for at, other in same_calls.items():
            places[at] = places[other] if at >= sampled else places[at]
        row_numbers, numbered = places[row_numbers], dict.fromkeys(kept, 0)
        parsed = parsed[: len(kept)]
    are_mails = 2 * sum("@" in text for text in of_texts) > len(of_texts)
    counted_rows = row_numbers if sample is None else sample.numbers
    counts = np.bincount(counted_rows[counted_rows != MISSING], minlength=len(numbered))
    return FieldColumn(
        name=name,
        kind=kind,
        values=tuple(numbered),
        numbers=row_numbers,
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


def _read_values(kind: FieldKind, texts: Sequence[str]) -> Iterator[tuple[str, tuple[float, ...]]]:
    """Read values: what equal ones have in common, "" for none, and the number or date it is."""
    if kind not in ("text", "exact"):
        yield from (_read_value(kind, text) for text in texts)
        return
    joined: Sequence[str] = texts
    if kind == "text":
        is_day_first = are_day_first(texts)
        joined = [join_numbers(text, is_day_first=is_day_first) for text in texts]
    for text, form in zip(texts, normal_forms(joined, NORMALIZATION), strict=True):
        if kind == "text" and "@" in text and " " not in text:
            form = _JOINS.sub(" ", form)  # a slip in ann.lee7@web.org is in a word
        if kind == "exact":  # 310/475-9807 is 310-475-9807
            form = form.replace(" ", "").replace("-", "")
            if not form.isascii():
                form = fold_digits(form)
        is_value = form[:1].isalnum() or any(map(str.isalnum, form))
        yield (form if is_value else ""), ()  # "?" is no value


def _read_value(kind: FieldKind, text: str) -> tuple[str, tuple[float, ...]]:
    """Read a number or a date: what equal ones have in common, "" for none, and what it is."""
    if kind == "number":
        number = read_amount(text)
        return ("", ()) if number is None else (repr(number), (number,))
    date = read_date(text)
    return ("", ()) if date is None else (f"{date}", date)


def read_amount(text: str) -> float | None:
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
        has_thousands = re.fullmatch(rf"[+-]?{_THOUSANDS}(\.\d+)?", digits)
        number = float(digits.replace(",", "" if has_thousands else "."))
    return number if math.isfinite(number) else None
