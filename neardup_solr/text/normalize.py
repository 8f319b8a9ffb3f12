"""Normal form of a text, its words and its terms.

The restaurant example lower-cases, turns punctuation other than "-" into spaces and collapses
spaces. Normalization 1 is that rule over Unicode: NFKC, full case folding, NFKC again (so that
composed and decomposed, full-width and upper-case spellings agree); letters, marks, numbers and
"-" stay, invisible format characters (soft hyphen, zero-width joiner, byte-order mark) vanish,
everything else is a space. The result is frozen with the signatures that are made from it.

Normalization 2 gives the same for most texts. Beyond it, scripts without blanks become overlapping
pairs of characters, as by Lucene's CJKBigramFilter; "+" and "#" stay at the end of a word that ends
in a letter, and "++" behind one anywhere; optional marks vanish; and a text without words becomes
its symbols.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable
from functools import cache
from itertools import pairwise

from neardup_solr.regex import regex
from neardup_solr.settings import NORMALIZATION
from neardup_solr.text.characters import DROPPED, SIGNS, SPACE, UNASSIGNED, is_mark, table, unspaced

# Lucene refuses longer terms ("immense term"); UTF-8 bytes.
MAX_TERM_BYTES = 32_766
# What the tables say about ASCII, so that ASCII texts do not need them.
_ASCII = {
    normalization: {
        code: " " for code in range(128) if not (chr(code).isalnum() or chr(code) in kept)
    }
    for normalization, kept in ((1, "-"), (2, f"-{SIGNS}"))
}
# Signs that stay: behind a letter, which is no ASCII digit; a single sign if its word ends with it.
# What is no letter is named, as Python takes 2 ms to compile a class of all letters.
_SIGNS = regex(r"((?<=[^\0-`{-\x7f])(?:\+\+|[+#](?![^ -])))|[+#]")
_FROZEN = unicodedata.unidata_version == "14.0.0"
# Blanks, and controls, halves of characters and an empty pattern of Braille, which are invisible.
# Without quotes and backslashes no term needs escaping.
_UNQUOTED = dict.fromkeys(
    (*range(0x21), *range(0x7F, 0xA0), *range(0xD800, 0xE000), 0x2800), " "
) | {ord('"'): "\u201d", ord("\\"): "\u2216"}  # fmt: skip


class _Translation(dict[int, str]):
    """Normal form of each folded code point, looked up when it is first met."""

    def __init__(self, normalization: int) -> None:
        self._normalization = normalization

    def __missing__(self, code: int) -> str:
        self[code] = becomes = table(self._normalization).character(code)
        return becomes


_TRANSLATIONS = {normalization: _Translation(normalization) for normalization in _ASCII}


def normalize(text: str, normalization: int = NORMALIZATION) -> str:
    """Make the normal form of a text: words of folded letters, numbers and "-", a space between.

    Lone surrogates become spaces. Equal for NFC and NFD of the same text, and idempotent; the same
    in every version of Python. Unicode Standard Annex 15 (NFKC) and section 5.18 (case folding).
    """
    return " ".join(words_of(text, normalization))


def words_of(text: str, normalization: int = NORMALIZATION) -> list[str]:
    """List the words of a text's normal form, in order."""
    if normalization == 1:
        return _read(text, 1).split()
    return _cut_runs(_read(text, 2), _pair).split() or _symbols_of(text)


def pieces_of(text: str) -> list[str]:
    """List the words of a text as they are shown: characters with their marks in place of pairs."""
    return _cut_runs(_read(text, 2), _list_characters).split()


def _read(text: str, normalization: int) -> str:
    """Fold a text and put spaces between its words."""
    if text.isascii():
        return text.lower().translate(_ASCII[normalization])
    if _FROZEN:
        return _fold(text, normalization)
    # Code points that Unicode 14.0 did not have stay as they are; the text is cut at them.
    later = _later_code_points()
    parts = later.split(text)
    return "".join(part if later.fullmatch(part) else _fold(part, normalization) for part in parts)


def _fold(text: str, normalization: int) -> str:
    kept = _translate(_fold_case(text), normalization)
    # If an invisible character vanished, its neighbours may now compose.
    return unicodedata.normalize("NFKC", kept)


def _fold_case(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return unicodedata.normalize("NFKC", folded)


def _translate(folded: str, normalization: int) -> str:
    """As by `_TRANSLATIONS`, which are used if a character becomes several or none."""
    import numpy as np  # takes longer to load than most texts take to normalize

    codes = np.frombuffer(folded.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    becomes = table(normalization).becomes[codes]
    if becomes.max(initial=0) > 0 or DROPPED in becomes:
        return folded.translate(_TRANSLATIONS[normalization])
    return np.where(becomes == SPACE, ord(" "), codes).astype("<u4").tobytes().decode("utf-32-le")


def _cut_runs(kept: str, cut: Callable[[str], list[str]]) -> str:
    """Cut runs of scripts without blanks, and leave signs behind letters only."""
    if not kept.isascii():
        kept = unspaced().sub(lambda run: f" {' '.join(cut(run[0]))} ", kept)
    if any(sign in kept for sign in SIGNS):
        kept = _SIGNS.sub(lambda sign: sign[1] or " ", kept)
    return kept


def _pair(run: str) -> list[str]:
    """List the overlapping pairs of characters of a run, or its only character."""
    return list(map(str.__add__, run, run[1:])) or [run]


def _list_characters(run: str) -> list[str]:
    listed = list[str]()
    for character in run:
        if listed and is_mark(character):
            listed[-1] += character
        else:
            listed.append(character)
    return listed


def _symbols_of(text: str) -> list[str]:
    """List what is visible between the blanks of a text without words."""
    becomes = table().becomes
    visible = (each for each in _fold_case(text) if becomes[ord(each)] != DROPPED)
    return "".join(visible).translate(_UNQUOTED).split()


@cache
def _later_code_points() -> re.Pattern[str]:
    """One code point that is not assigned in Unicode 14.0, as a group for `split`."""
    later: list[int] = (table(1).becomes == UNASSIGNED).nonzero()[0].tolist()
    ends = [at for at, (code, after) in enumerate(pairwise(later), start=1) if after != code + 1]
    runs = pairwise([0, *ends, len(later)])
    ranges = (f"\\U{later[first]:08x}-\\U{later[end - 1]:08x}" for first, end in runs)
    return re.compile(f"([{''.join(ranges)}])")


def first_word(normal: str) -> str:
    """Take the first word of a normalised text as it can be indexed, or "" without any."""
    return indexable(normal.partition(" ")[0])


def indexable(term: str) -> str:
    """Make a term that can be indexed: itself, or "md5:" and its MD5 if it exceeds Lucene's limit.

    A normalised term has no colon, so the two cannot be confused. The limit is 32,766 bytes of
    UTF-8.
    """
    if len(term) * 4 <= MAX_TERM_BYTES or len(term.encode()) <= MAX_TERM_BYTES:
        return term
    return f"md5:{md5(term)}"


def md5(normal: str) -> str:
    """Hash a normalised text by MD5 to 32 hexadecimal digits (RFC 1321), over its UTF-8 bytes."""
    return hashlib.md5(normal.encode(), usedforsecurity=False).hexdigest()
