"""Numbers of a text, written alike: what is the same value in another notation is equal.

Dates in any order or with the name of their month, times, telephones, prices, decimals and
thousands lose what only separates their digits. A link, an address of e-mail, a hash, a UUID and an
id of a computer are no numbers but names: they say which page or message it is, not what it says.

`list_numbers` lists the numbers of a text; `join_numbers` writes a text whose normal form has each
number as one word, and each name.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from neardup_solr.regex import regex
from neardup_solr.text.links import (
    NAME,
    POINT,
    replace_names,
    write_message_id,
    write_name,
    write_nothing,
)
from neardup_solr.text.normalize import words_of
from neardup_solr.text.roman import ALONE, find_numerals, read_numerals, read_roman
from neardup_solr.text.written_amounts import (
    FRACTION,
    GROUPS,
    MONEY,
    PARTS,
    join_fraction,
    join_parts,
    write_fraction,
    write_groups,
    write_money,
    write_whole,
)
from neardup_solr.text.written_dates import (
    DATE,
    DAY_FIRST,
    MONTH_FIRST,
    TIME,
    show_date,
    write_date,
    write_date_day_first,
    write_day_first,
    write_month_first,
    write_named_day,
    write_named_month,
    write_time,
)

NEAR = 48  # characters beside digits, in which a notation has its words and signs
FEW = 3  # words beside names, up to which a text consists of these
CODE, FEWEST_DIGITS = 4, 6  # digits of the code of a country at most, of a telephone at least
YEAR = 4  # digits
_PART = r"[^\W_]*\d[^\W_]*"  # letters and digits, with a digit
_NUMBER = regex(rf"(?<![^\W_])(?:(?<!\S)-(?=\d))?{_PART}(?:[.,:/'-]{_PART})*")
_HYPHENED = regex(r"\b([^\W\d_])-(?=\d)")  # B-52 is B52
_UNIT = regex(r"(?<=\d)[^\W\d_]{2,}\Z")  # behind a number: 128GB is 128 GB
_ALIKE = str.maketrans(
    dict.fromkeys("\u2010\u2011\u2012\u2013\u2212", "-")
    | {"\u2019": "'", "\u2044": "/", "\u066b": ".", "\u066c": ","}
)
_MIXED_FRACTION = regex(r"(?<=\d)(?=[\u00bc-\u00be\u2150-\u215e])")
_OTHER_DIGIT = regex(r"(?![0-9])\d")
_DIGITS = regex(r"\d+")
_LONG_BLANK = regex(r"\s{9}")
_SIZE = regex("x{1,4}[sl]")
# Most texts have none of these, which is soon seen, so that what takes long is not looked for.
_HAS_PARTS = regex(
    r"\d(?:[.:,'\u2019]\d| 000\b|\s?[apAP]\.?[mM]\b|/\d\d?(?!\d)|-\d\d?-\d"
    r"|\S{0,2}[\s-]\D{1,14}\d{4}|,?\s\d{4}\b)|\s[.-][$€£¥]?\d|\A[.-][$€£¥]?\d"
    r"|[^\x00-\x7f](?:(?<=\d)|(?<=[\u00bc-\u00be\u2150-\u215e\u2212]))"
)
_PLAIN = regex(r"[A-Za-z]+(?: [A-Za-z]+)*(?: [0-9]{1,9})?")  # no notation has this, but numerals
# Codes that are written in groups: an IBAN, an ISBN, a number of a card.
_CODE = regex(
    r"\b(?:[A-Z]{2}\d\d(?: [A-Z\d]{2,4}){3,8}|97[89](?:[ -]?\d){10}|[3-6]\d{3}(?:[ -]\d{4}){3})\b"
)
_BETWEEN_GROUPS = regex("[ -]")
_VERSION = regex(r"(?<![^\W_])v\.?\s?(?=\d+\.\d)")  # v3.1 is 3.1
_BARE = regex(r"(?<![\w.,:/)])\.(?=\d)")  # .5 is 0.5
_ZEROS = regex(r"(?<![\w.,:/-])(\d+)\.0+(?![.:/-]?\d)")  # 5.0 is 5
_NEGATIVE = regex(
    r"(?<![^\s(])-(?=[$€£¥]?\d[\d\u02d1]*\s?[°%$€£¥]|[$€£¥]\s?\d)|(?<=[$€£¥])\s?-(?=\d)"
)
_BETWEEN = regex(r"(?<=\d) ([:/-]) (?=\d)")  # 3 - 5 is 3-5
_WITHIN = regex(r"(?<=\w)[-/](?=\w)")  # of a number or a code
# Between parts of a result, a time or measures: 2-1 is 2:1, 5h30 is 5:30, 3x4 is 3 x 4.
_SEPARATOR = regex(r"[:/]|(?<=\d)[hx](?=\d)")
_THOUSANDS = regex(r"(?<![\w.,])(\d+)k(?!\w)")
_HASH = regex(r"(?=[a-z]*\d)(?=\d*[a-z])(?:[0-9a-f]{7,}|[0-9a-z]{14,})")
_OPEN_DATE = regex(r"\b[01]?\d/ ?[01]?\d/ ?\d{4}\b")  # whose order is not known
_SHOWN_DATE = regex(r"\d{4}-\d\d-\d\d")
_NOTATIONS: tuple[tuple[re.Pattern[str], Any], ...] = (
    (_VERSION, ""),
    (_BARE, "0."),
    (DATE, write_date),
    (DAY_FIRST, write_day_first),
    (MONTH_FIRST, write_month_first),
    (TIME, write_time),
    (GROUPS, write_groups),
    (MONEY, write_money),
    (_BETWEEN, r"\1"),
    (_ZEROS, r"\1"),
    (FRACTION, write_fraction),
)
_JOINED = {
    DAY_FIRST: write_named_day,
    MONTH_FIRST: write_named_month,
    GROUPS: write_whole,
    FRACTION: join_fraction,
}
_WHOLE_NOTATIONS = (
    *((pattern, _JOINED.get(pattern, write)) for pattern, write in _NOTATIONS),
    (PARTS, join_parts),
    (_NEGATIVE, POINT),
)
_DAY_FIRST_NOTATIONS = tuple(
    (pattern, write_date_day_first if pattern is DATE else write)
    for pattern, write in _WHOLE_NOTATIONS
)


def list_numbers(text: str) -> list[str]:
    """List the numbers of a text in order: words with a digit, with their separators.

    Compatible forms are equal (NFKC, digits of all scripts, dashes), letters do not differ by case,
    and a unit of two letters or more behind a number does not count ("128GB" is "128 GB"). Dates,
    times, telephones, prices, decimals and thousands are the same in any usual notation. Roman
    numerals count behind a word such as "part" or "chapter", and in capitals from two letters on:
    "Part II" is "part 2". Links, e-mail addresses, hashes, UUIDs and ids are left out.
    """
    return [number for part in _select_near_numbers(text) for number in _list_near(part)]


@lru_cache(maxsize=1 << 12)  # near-duplicates have most of these in common
def _list_near(text: str) -> tuple[str, ...]:
    """List the numbers of a part of a text, from which no notation reaches into another part."""
    written = _write_notations(" ".join(_select_near_digits(_write_digits(text))))
    return tuple(show_date(_UNIT.sub("", number)) for number in _NUMBER.findall(written))


def differ_in_numbers_alone(first: str, second: str) -> bool:
    """Return True if two texts have other numbers, and otherwise the same words in their order.

    Numbers that have the same digits, with other hyphens, slashes or blanks within, are the same,
    and so are 2-1 and 2:1, 5h30 and 5:30, 3x4 and 3 x 4, 12k and 12000, dates if only the order of
    day and month differs, which slashes of one leave open, or one has no century, and telephones
    if one has no code of a country. A short hash, such as that of a commit, is known from the other
    one: they have other letters.
    """
    words, others = Counter(words_of(first)), Counter(words_of(second))
    for word in (words - others) | (others - words):  # seen soonest, and of most pairs
        if len(word) > 1 and word.strip("ivxl") and not any(map(str.isdigit, word)):
            return False
    if _list_hash_letters(words - others) != _list_hash_letters(others - words):
        return False
    rest = [[word for word in words_of(_write_alike(text)) if not any(map(str.isdigit, word))]
            for text in (first, second)]  # fmt: skip
    if rest[0] != rest[1]:
        return False
    numbers, other_numbers = list_numbers(first), list_numbers(second)
    if (_OPEN_DATE.search(first) is None) != (_OPEN_DATE.search(second) is None):
        numbers, other_numbers = map(_sort_dates, (numbers, other_numbers))
    counts, other_counts = Counter(numbers), Counter(other_numbers)
    alone = [*(counts - other_counts).elements()], [*(other_counts - counts).elements()]
    return any(alone) and not _are_written_otherwise(*alone)


def _list_hash_letters(words: Iterable[str]) -> list[str]:
    """List the letters of words that may be short hashes, or longer codes."""
    codes = (word for word in words if _HASH.fullmatch(word))
    return sorted("".join(filter(str.isalpha, code)) for code in codes)


def _are_written_otherwise(some: Sequence[str], others: Sequence[str]) -> bool:
    """Return True if the numbers of two texts are the same, but for how they are grouped or cut."""
    some, others = ([_THOUSANDS.sub(r"\g<1>000", number) for number in each]
                    for each in (some, others))  # fmt: skip
    if len({_SEPARATOR.sub("-", "-".join(each)) for each in (some, others)}) == 1:
        return True
    short, long = sorted((_WITHIN.sub("", "".join(each)).lstrip("0") for each in (some, others)),
                         key=len)  # fmt: skip
    is_phone = long.isdecimal() and len(long) - len(short) <= CODE and len(short) >= FEWEST_DIGITS
    if short == long or (is_phone and long.endswith(short)):
        return True
    return len(some) == len(others) and all(map(_are_one_date, some, others))


def _are_one_date(number: str, other: str) -> bool:
    """Return True if two numbers have the same month of a year, or day if one has no century."""
    short, long = sorted((_DIGITS.findall(number), _DIGITS.findall(other)),
                         key=lambda parts: max(map(len, parts), default=0))  # fmt: skip
    if max(map(len, short), default=0) == YEAR:
        return len(short) == 2 and [*map(int, short)] == [*map(int, long)]
    days = [int(part) % 100 for part in long[::-1]]  # written as 2020-11-22
    return len(short) == 3 and len(long[0]) == YEAR and [*map(int, short)] == days


def _sort_dates(numbers: Iterable[str]) -> list[str]:
    """Write day and month of each date in the order of their size."""
    return [
        f"{number[:5]}{'-'.join(sorted(number[5:].split('-')))}"
        if _SHOWN_DATE.fullmatch(number)
        else number
        for number in numbers
    ]


def join_numbers(text: str, *, is_day_first: bool = False) -> str:
    """Write a text whose normal form has each number as one word: `0.5` is not `0` and `5`.

    Dates with a year, times, prices, decimals, thousands and versions are joined by `POINT`, in the
    notation of `list_numbers`; telephones, ranges and other lists keep their parts. Links, hashes,
    UUIDs and ids become names, if the text has more than `FEW` other words. Of a date with slashes
    whose order is open, the month is first, or the day, see `are_day_first`.
    """
    if _PLAIN.fullmatch(text):
        return read_numerals(text)
    named = replace_names(text, write_name, write_message_id)
    if named != text:
        parts = [part for part in named.split() if not part.startswith(NAME)]
        # Parts may be signs, and scripts without blanks have few, but many are words.
        if len(parts) <= 3 * FEW and len(words_of(" ".join(parts))) <= FEW:
            named = text
    if not _HAS_PARTS.search(named):
        return read_numerals(named)
    folded = _fold(named).casefold()
    for pattern, write in _DAY_FIRST_NOTATIONS if is_day_first else _WHOLE_NOTATIONS:
        folded = pattern.sub(write, folded)
    return folded


def fold_digits(text: str) -> str:
    """Write the decimal digits of all scripts as those of ASCII."""
    return _OTHER_DIGIT.sub(lambda digit: str(unicodedata.decimal(digit[0])), text)


def is_number(word: str) -> bool:
    """Return True for a word of a normal form that has digits, or is a size such as "xl"."""
    return has_digit(word) or (word.startswith("x") and _SIZE.fullmatch(word) is not None)


def has_digit(word: str) -> bool:
    """Return True for a word of a normal form that has digits, unless it is a name."""
    return any(map(str.isdecimal, word)) and not word.startswith(NAME)


def show_word(word: str) -> str:
    """Show a word of what `join_numbers` wrote."""
    shown = word.lstrip(NAME).replace(NAME, ".").replace(POINT * 2, "/").replace(POINT, ".")
    return show_date(shown)


def _write_alike(text: str) -> str:
    """Write the numbers of a text alike, in digits, without links and ids."""
    return _write_notations(_write_digits(text))


def _write_digits(text: str) -> str:
    """Write all numbers in digits, without links and ids."""
    folded = _fold(replace_names(text, write_nothing, write_nothing))
    return ALONE.sub(lambda match: read_roman(match[0]), folded)


def _write_notations(text: str) -> str:
    """Write numbers in digits alike, whatever notation they have."""
    folded = _HYPHENED.sub(r"\1", text).casefold()
    for pattern, write in _NOTATIONS:
        folded = pattern.sub(write, folded)
    return folded


def _select_near_numbers(text: str) -> list[str]:
    """Take the parts of a text near digits and Roman numerals: no notation and no name has others.

    A text is taken as it is if other forms of its characters may be digits.
    """
    if not unicodedata.is_normalized("NFKC", text):
        return [text]
    return _select_near(text, (match.span() for match in find_numerals(text)))


def _select_near_digits(text: str) -> list[str]:
    """Take the parts of a text near digits: no notation has others. Most texts have few."""
    return _select_near(text, (match.span() for match in _DIGITS.finditer(text)))


def _select_near(text: str, spans: Iterable[tuple[int, int]]) -> list[str]:
    """Take the words near some places of a text, which follow each other, those near both at once.

    Long blanks are words apart that notations join, so a text with such is taken as it is.
    """
    if _LONG_BLANK.search(text):
        return [text]
    joined: list[tuple[int, int]] = []
    for first, last in spans:
        if joined and first - joined[-1][1] <= 2 * NEAR:
            first = joined.pop()[0]
        joined.append((first, last))
    windows: list[tuple[int, int]] = []
    for first, last in joined:
        first, last = _begin_near(text, first), _end_near(text, last)
        if windows and first <= windows[-1][1]:
            first = windows.pop()[0]
        windows.append((first, last))
    return [text[first:last] for first, last in windows]


def _begin_near(text: str, at: int) -> int:
    """Find where the words before the word at a place begin."""
    return _begin_word(text, max(_begin_word(text, at) - NEAR, 0))


def _begin_word(text: str, at: int) -> int:
    while at and not text[at - 1].isspace():
        at -= 1
    return at


def _end_near(text: str, at: int) -> int:
    """Find where the words behind the word at a place end."""
    return _end_word(text, min(_end_word(text, at) + NEAR, len(text)))


def _end_word(text: str, at: int) -> int:
    while at < len(text) and not text[at].isspace():
        at += 1
    return at


def _fold(text: str) -> str:
    """Write digits, signs, numerals behind a word such as "part", and accounts alike."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", _MIXED_FRACTION.sub(" ", text)).translate(_ALIKE)
        text = fold_digits(text)
    return _CODE.sub(lambda match: _BETWEEN_GROUPS.sub("", match[0]), read_numerals(text))
