"""Roman numerals, as numbers in digits."""

from __future__ import annotations

import re
from collections.abc import Iterator

from neardup_solr.regex import regex

_HAS_NUMERAL = regex(r"\b[ivxlIVXL]+\b")
_HAS_NUMBER = regex(r"\d+|\b[ivxlIVXL]+\b")
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
_HEAD = regex(rf"\b(?:{'|'.join(_HEADS.split())})\.?\Z", re.I)
_LONGEST = 1 + max(map(len, _HEADS.split()))
_NUMERAL = regex(_TENS_AND_ONES, re.I)
ALONE = regex(rf"\b(?=[IVX]{{2,}}\b){_TENS_AND_ONES}(?<=[IVX])\b(?!\.\w)")
_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50}


def find_numerals(text: str) -> Iterator[re.Match[str]]:
    """Find the digits of a text, and what may be a Roman numeral in it, in their order."""
    for match in _HAS_NUMBER.finditer(text):
        if match[0].isdigit() or len(match[0]) > 1 or _stands_behind_head(text, match):
            yield match


def read_numerals(text: str) -> str:
    """Write Roman numerals behind a word such as "part" in digits.

    Numerals are few, and words that may stand before one are many: so the numerals are looked for.
    """
    written, end = list[str](), 0
    for match in _HAS_NUMERAL.finditer(text):
        if _NUMERAL.fullmatch(match[0]) and _stands_behind_head(text, match):
            written += text[end : match.start()], read_roman(match[0])
            end = match.end()
    return "".join((*written, text[end:])) if written else text


def _stands_behind_head(text: str, match: re.Match[str]) -> bool:
    """Tell whether a word such as "part" and blanks stand before a match."""
    last = match.start()
    while last and text[last - 1].isspace():
        last -= 1
    is_apart = last < match.start()
    return is_apart and _HEAD.search(text, max(0, last - _LONGEST), last) is not None


def read_roman(numeral: str) -> str:
    """Read a Roman numeral as a number in digits."""
    values = [_VALUES[letter] for letter in numeral.upper()]
    pairs = zip(values, [*values[1:], 0], strict=True)
    return str(sum(-value if value < following else value for value, following in pairs))
