"""Keys of the values of merged records, which are equal for values that say the same."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Final

import orjson

from neardup_solr.measures.columns import read_amount
from neardup_solr.measures.date_parser import read_date
from neardup_solr.measures.moments import read_moments
from neardup_solr.regex import regex
from neardup_solr.sources.values import plain, spell

# What stands for a value that is not known, beside nothing.
_MISSING: Final = frozenset(
    ("", "n/a", "#n/a", "null", "none", "nan", "<na>", "unknown", "-", "--", "–", "—", "?")
)
MOST: Final = 0.9  # of the different values of a column, which has dates, amounts or calls
SAMPLE: Final = 200  # of these, which are read before all are
_AMOUNT: Final = regex(r"\D{0,4}?[-+]?(?!0\d)\d[\d.,'\u2019 \u00a0\u202f]*\D{0,4}")
_DECIMAL: Final = regex(r"\d[.,]\d{1,2}(?!\d)")
_CALL: Final = regex(r"\+?[\d\s()/-]*")
_GAPS: Final = regex(r"[\s()/-]+")
_FEWEST_DIGITS: Final = 6  # of a telephone number or another code, in which gaps say nothing


def make_key(value: Any) -> Hashable:
    """Make a key of a value, equal but for case and blanks, or None if it is empty."""
    value = value if type(value) is str else plain(value)
    if isinstance(value, list):
        return tuple(map(make_key, value)) or None
    if isinstance(value, dict):
        return orjson.dumps(value, default=str) if value else None
    text = value if type(value) is str else str(spell(value))
    text = " ".join(text.split()).lower()
    return None if value is None or text in _MISSING else text


def make_keys(values: Sequence[Any]) -> list[Hashable]:
    """Make the keys of the values of a column: of dates, amounts and calls in any notation.

    A column has such values if nearly all of its texts are read as them.
    """
    keys = [*map(make_key, values)]
    texts = [*dict.fromkeys(value for value, key in zip(values, keys, strict=True)
                            if type(value) is str and key is not None)]  # fmt: skip
    if not texts:
        return keys
    some = texts[:: -(-len(texts) // SAMPLE)]
    for read in (_read_dates, _read_amounts, _read_calls):
        if sum(meaning is not None for meaning in read(some)) < MOST * len(some):
            continue
        meanings = {text: meaning for text, meaning in zip(texts, read(texts), strict=True)
                    if meaning is not None}  # fmt: skip
        if len(meanings) >= MOST * len(texts):
            return [meanings.get(value, key) if type(value) is str else key
                    for value, key in zip(values, keys, strict=True)]  # fmt: skip
    return keys


def _read_dates(texts: Sequence[str]) -> Iterable[Hashable]:
    """Read days, with a time or without. A year alone is no day in it."""
    for text, moment in zip(texts, read_moments(texts), strict=True):
        day = read_date(text)
        yield None if moment is None or day is None or not all(day) else ("day", moment)


def _read_amounts(texts: Sequence[str]) -> Iterable[Hashable]:
    """Read numbers if some have decimals. Others may be codes, or years."""
    if not any(map(_DECIMAL.search, texts)):
        return [None] * len(texts)
    numbers = (read_amount(text) if _AMOUNT.fullmatch(text.strip()) else None for text in texts)
    return [None if number is None else ("amount", number) for number in numbers]


def _read_calls(texts: Sequence[str]) -> Iterable[Hashable]:
    """Read telephone numbers and other codes of digits, in which gaps say nothing."""
    for text in texts:
        digits = _GAPS.sub("", text)
        is_call = _CALL.fullmatch(text) is not None and len(digits) >= _FEWEST_DIGITS
        yield ("call", digits) if is_call else None
