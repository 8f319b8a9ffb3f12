"""Parts that have to be equal in two texts, however similar these are: numbers, or patterns.

A version, a year or an amount is a word among many, so texts that differ in it alone are near by
every measure. Normal forms have lost its separators, so the texts themselves are looked at.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field

from neardup_solr.arguments import OneOrMore, listed
from neardup_solr.errors import ArgumentError
from neardup_solr.text.normalize import words_of

NUMBERS = "numbers"
_PART = r"[^\W_]*\d[^\W_]*"  # letters and digits, with a digit
_NUMBER = re.compile(rf"(?<![^\W_])(?:(?<!\S)-(?=\d))?{_PART}(?:[.,:/'-]{_PART})*")
_HYPHENED = re.compile(r"\b([^\W\d_])-(?=\d)")  # B-52 is B52
_UNIT = re.compile(r"(?<=\d)[^\W\d_]{2,}\Z")  # behind a number: 128GB is 128 GB
_GROUPED = re.compile(r"(?<![^\W_])(?<!\d{3},)\d{1,3}(?:,\d{3})+(?![,\w])")  # thousands: 12,500
_DASHES = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2212", "-") | {"\u2019": "'"})
# "Part II" and "vol. ii"; without such a word, "XIV" counts, but no letter that stands alone.
_HEADS = (
    "act appendix article book chapter class episode grade level no number part phase season"
    " section series stage step type unit version vol volume"
    " abschnitt anhang artikel auflage band buch folge kapitel klasse nr staffel stufe teil"
    " chapitre livre niveau partie saison tome acte"
    " capitulo capítulo clase libro parte tomo volumen capitolo volume fase livello"
    " boek deel hoofdstuk часть том глава"
)
_TENS_AND_ONES = r"(?:XL|L?X{0,3})(?:IX|IV|V?I{0,3})"
_BEHIND = re.compile(
    rf"\b({'|'.join(_HEADS.split())})(\.?\s+)(?=[IVXL]+\b)({_TENS_AND_ONES})(?<=[IVXL])\b", re.I
)
_ALONE = re.compile(rf"\b(?=[IVX]{{2,}}\b){_TENS_AND_ONES}(?<=[IVX])\b(?!\.\w)")
_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50}


@dataclass(frozen=True, slots=True)
class Equality:
    """Parts of a text that near-duplicates have to have in common.

    `rules` are "numbers" or regular expressions. Two texts fit together if `key` is the same of
    both. Without rules all texts do.
    """

    rules: tuple[str, ...] = ()
    _patterns: tuple[re.Pattern[str], ...] = field(init=False, repr=False, default=())

    def __post_init__(self) -> None:
        patterns = []
        for rule in self.rules:
            try:
                patterns.append(_NUMBER if rule == NUMBERS else re.compile(rule, re.I))
            except re.error as error:
                reason = f"`equal` cannot be {rule!r}: it is no regular expression ({error})"
                raise ArgumentError(
                    reason, r"give numbers, or a pattern such as '\bnot\b'"
                ) from None
        object.__setattr__(self, "_patterns", tuple(patterns))

    def __bool__(self) -> bool:
        return bool(self.rules)

    def key(self, text: str) -> tuple[tuple[str, ...], ...]:
        """List, for each rule, what a text has of it in sorted order, whatever its place."""
        return tuple(
            tuple(sorted(list_numbers(text) if rule == NUMBERS else _find_all(pattern, text)))
            for rule, pattern in zip(self.rules, self._patterns, strict=True)
        )

    def describe(self, first: str, second: str) -> str:
        """Describe what differs in two texts by the first rule that tells them apart."""
        for rule, values, others in zip(self.rules, self.key(first), self.key(second), strict=True):
            if values != others:
                return f"{rule} {_show_rest(values, others)} and {_show_rest(others, values)}"
        return ""


ANYTHING = Equality()  # no part has to be equal


def parse_equality(rules: OneOrMore) -> Equality:
    """Make the equality of a rule, or of several. Raises ArgumentError if a rule is impossible."""
    return Equality(tuple(dict.fromkeys(listed(rules))))


def list_numbers(text: str) -> list[str]:
    """List the numbers of a text in order: words with a digit, with their separators.

    Compatible forms are equal (NFKC, digits of all scripts, dashes), letters do not differ by case,
    and commas between thousands do not count, nor does a unit of two letters or more behind a
    number ("128GB" is "128 GB"). Roman numerals count behind a word such as "part" or "chapter",
    and in capitals from two letters on: "Part II" is "part 2".
    """
    return [_UNIT.sub("", _to_ascii(number)) for number in _NUMBER.findall(_write_alike(text))]


def _write_alike(text: str) -> str:
    """Write the numbers of a text alike, in digits."""
    folded = unicodedata.normalize("NFKC", text).translate(_DASHES)
    folded = _BEHIND.sub(lambda match: f"{match[1]}{match[2]}{_read_roman(match[3])}", folded)
    folded = _ALONE.sub(lambda match: _read_roman(match[0]), folded)
    folded = _HYPHENED.sub(r"\1", folded)
    return _GROUPED.sub(lambda match: match[0].replace(",", ""), folded).casefold()


def differ_in_numbers_alone(first: str, second: str) -> bool:
    """Return True if two texts have other numbers, and otherwise the same words in their order."""
    rest = [[word for word in words_of(_write_alike(text)) if not any(map(str.isdigit, word))]
            for text in (first, second)]  # fmt: skip
    return rest[0] == rest[1] and sorted(list_numbers(first)) != sorted(list_numbers(second))


def _find_all(pattern: re.Pattern[str], text: str) -> Iterable[str]:
    return (match[0].casefold() for match in pattern.finditer(text))


def _read_roman(numeral: str) -> str:
    """Read a Roman numeral as a number in digits."""
    values = [_VALUES[letter] for letter in numeral.upper()]
    pairs = zip(values, [*values[1:], 0], strict=True)
    return str(sum(-value if value < following else value for value, following in pairs))


def _to_ascii(number: str) -> str:
    if number.isascii():
        return number
    return "".join(str(unicodedata.decimal(sign, sign)) for sign in number)


def _show_rest(values: tuple[str, ...], others: tuple[str, ...]) -> str:
    """Show the values that the others lack, or "none"."""
    left = list(values)
    for value in others:
        if value in left:
            left.remove(value)
    return ", ".join(left) or "none"
