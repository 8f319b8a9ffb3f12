"""Symbols of a text: what carries a meaning and is no word, and so is not in the normal form.

Operators, signs of currencies, percent, degrees, arrows, emoji and question marks count. What
varies between prints of a text does not: commas, full stops, exclamation marks, quotes, brackets,
dashes, bullets, rules, the marks of quoted lines and of Markdown, and those of trade marks.
"""

from __future__ import annotations

import re
import unicodedata

from neardup_solr.regex import regex

_TIMES, _OVER, _MINUS, _NOT, _BAR, _POWER = "\u2217\u2215\u2212\u00ac\u2223^"
# Symbols of the same meaning. An inequality is written as in programs.
_ALIKE = str.maketrans(
    {"\u2264": "<=", "\u2265": ">=", "\u2260": f"{_NOT}=", "\u00d7": _TIMES, "\u22c5": _TIMES,
     "\u2248": "~", "\u00f7": _OVER, "\u2044": _OVER, "\u061f": "?", "\u066a": "%"}
)  # fmt: skip
_MARKS = f"%\u2030\u2031&@#?\u00a7{_POWER}"  # that are no symbols by their category
_MONEY = "$\u00a2-\u00a5\u20a0-\u20cf\u0e3f\u09f2\u09f3\u17db"  # which stands before or behind
_NEVER = "`|\u00a9\u00ae\u2117\ufffc\u0640"  # symbols or letters by their category
_CATEGORIES = ("Sm", "Sc", "So")
_RAISED = regex(r"(?<=\d)(?=[\u00b2\u00b3\u00b9\u2070\u2074-\u2079])")  # 10⁵ is not 105
_BULLETS = "\u2023\u25aa\u25b6\u25b8\u25ba\u25c6\u25cb\u25cf\u25e6\u2756\u27a2\u27a4"
_REWRITTEN = (
    (regex(r"^[^\S\n]*+(?:>[^\S\n]?)+(?=[^\W\d])", re.MULTILINE), ""),  # a quoted line
    (regex(rf"^[^\S\n]*+(?:[{_BULLETS}]|#+)(?=\s)", re.MULTILINE), ""),
    (regex(r"([=~+#|<>^_])\1{3,}|[\u2500-\u257f]+"), ""),  # a rule
    (regex(r"<((?:[^\s<>]*@|\w+://|www\.)[^\s<>]*)>"), r"\1"),  # around an address
    # Signs that say something only where they stand between words, or before one.
    (regex(r"(?<=[\w)\]])\*\*(?=[\w(\[])|(?<=[\w)\]] )\*\*(?= [\w(\[])"), _TIMES * 2),
    (regex(r"(?<=[\w)\]])\*(?=[\w(\[])|(?<=[\w)\]] )\*(?= [\w(\[])"), _TIMES),
    # Neither a telephone nor a month of a year.
    (
        regex(r"(?<![\d/.])(?!0\d)(\d+) ?/ ?(?!0\d|(?:19|20)\d\d\b)(\d+)(?![\d/]|\.\d)"),
        rf"\1{_OVER}\2",
    ),
    (regex(rf"([{_MONEY}])\s?(\d+(?:[., '\u2019]\d{{3}})*(?:[.,]\d+)?)"), r"\2\1"),
    (regex(r"(?<![\w)\]!?.,;:'\"])!(?=[\w(=!])"), _NOT),
    (regex(r"(?<=\S)\||\|(?=\S)"), _BAR),
    (regex(r"(?<![^\s(\[=<>])(?<!\d )[\u2012\u2013](?=\d)"), _MINUS),
    (regex(r"\?{2,}"), "?"),
    # A smiley that weeps: one that smiles says no more than an exclamation mark.
    (regex(r"(?:(?<=\s)|^)[:;=]['\u2019]?-?[(\[/|](?=[\s.,!?]|$)", re.MULTILINE), "\u2639"),
)


class _Symbols(dict[int, str]):
    """Symbols, letters and digits stay, nothing is left of other code points."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        is_symbol = unicodedata.category(character) in _CATEGORIES
        stays = is_symbol or character in _MARKS or character.isalnum()
        stays &= character not in _NEVER
        self[code] = kept = character if stays else ""
        return kept


_SYMBOLS = _Symbols()


def mark_symbols(text: str) -> str:
    """Write what a text has beside blanks and punctuation: folded letters, digits and symbols.

    If the normal forms of two texts are equal, so are these, unless their symbols differ.
    """
    folded = unicodedata.normalize("NFKC", _RAISED.sub(_POWER, text)).casefold()
    folded = unicodedata.normalize("NFKC", folded).translate(_ALIKE)
    for pattern, written in _REWRITTEN:
        folded = pattern.sub(written, folded)
    return folded.translate(_SYMBOLS)


def list_symbols(text: str) -> list[str]:
    """List the symbols of a text in order."""
    return [character for character in mark_symbols(text) if not character.isalnum()]


def write_symbols(text: str) -> str:
    """Write the symbols of a text in order, and nothing else."""
    return "".join(list_symbols(text))


def have_same_symbols(text: str, other: str) -> bool:
    """Return True if two texts of the same normal form have the same symbols, too.

    If numbers stand in them in other notations, as measures read them alike, the symbols tell.
    """
    if text == other or (marked := mark_symbols(text)) == (other_marked := mark_symbols(other)):
        return True
    letters, others = ("".join(filter(str.isalnum, each)) for each in (marked, other_marked))
    return letters != others and list_symbols(text) == list_symbols(other)
