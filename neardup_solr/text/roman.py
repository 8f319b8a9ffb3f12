"""Roman numerals, as numbers in digits."""

from __future__ import annotations

import re

_HAS_NUMERAL = re.compile(r"\b[ivxlIVXL]+\b")
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
ALONE = re.compile(rf"\b(?=[IVX]{{2,}}\b){_TENS_AND_ONES}(?<=[IVX])\b(?!\.\w)")
_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50}


def read_numerals(text: str) -> str:
    """Write Roman numerals behind a word such as "part" in digits."""
    if not _HAS_NUMERAL.search(text):
        return text
    return _BEHIND.sub(lambda match: f"{match[1]}{match[2]}{read_roman(match[3])}", text)


def read_roman(numeral: str) -> str:
    """Read a Roman numeral as a number in digits."""
    values = [_VALUES[letter] for letter in numeral.upper()]
    pairs = zip(values, [*values[1:], 0], strict=True)
    return str(sum(-value if value < following else value for value, following in pairs))
