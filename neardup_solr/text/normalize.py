"""Normal form of a text, its words and its terms.

The restaurant example lower-cases, turns punctuation other than "-" into spaces and collapses
spaces. Normalization 1 is that rule over Unicode: NFKC, full case folding, NFKC again (so that
composed and decomposed, full-width and upper-case spellings agree); letters, marks, numbers and
"-" stay, invisible format characters (soft hyphen, zero-width joiner, byte-order mark) vanish,
everything else is a space. The result is frozen with the signatures that are made from it.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
import zlib
from array import array
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

# Lucene refuses longer terms ("immense term"); UTF-8 bytes.
MAX_TERM_BYTES = 32_766
# What the table says about ASCII, so that ASCII texts do not need it.
_ASCII = {code: " " for code in range(128) if not (chr(code).isalnum() or chr(code) == "-")}
_FROZEN = unicodedata.unidata_version == "14.0.0"


class _Translation(dict[int, str]):
    """Normal form of each folded code point, looked up when it is first met."""

    def __missing__(self, code: int) -> str:
        self[code] = becomes = table().character(code)
        return becomes


_TRANSLATION = _Translation()


def normalize(text: str) -> str:
    """Make the normal form of a text: words of folded letters, numbers and "-", one space between.

    Lone surrogates become spaces. Equal for NFC and NFD of the same text, and idempotent; the same
    in every version of Python. Unicode Standard Annex 15 (NFKC) and section 5.18 (case folding).
    """
    return " ".join(words_of(text))


def words_of(text: str) -> list[str]:
    """List the words of a text's normal form, in order."""
    if text.isascii():
        return text.lower().translate(_ASCII).split()
    if _FROZEN:
        return _fold(text).split()
    # Code points that Unicode 14.0 did not have stay as they are; the text is cut at them.
    parts = _later_code_points().split(text)
    return "".join(map(_unless_later, parts)).split()


def _fold(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    kept = _translate(unicodedata.normalize("NFKC", folded))
    # If an invisible character vanished, its neighbours may now compose.
    return unicodedata.normalize("NFKC", kept)


def _translate(folded: str) -> str:
    """As by `_TRANSLATION`, which is used if a character becomes several or none."""
    import numpy as np  # takes longer to load than most texts take to normalize

    codes = np.frombuffer(folded.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    becomes = np.frombuffer(table().becomes, dtype=np.int16)[codes]
    if becomes.max(initial=0) > 0 or DROPPED in becomes:
        return folded.translate(_TRANSLATION)
    return np.where(becomes == SPACE, ord(" "), codes).astype("<u4").tobytes().decode("utf-32-le")


def _unless_later(part: str) -> str:
    return part if _later_code_points().fullmatch(part) else _fold(part)


@cache
def _later_code_points() -> re.Pattern[str]:
    """One code point that is not assigned in Unicode 14.0, as a group for `split`."""
    later = [code for code, becomes in enumerate(table().becomes) if becomes == UNASSIGNED]
    ends = [at for at, (one, other) in enumerate(pairwise(later), start=1) if other != one + 1]
    runs = pairwise([0, *ends, len(later)])
    ranges = (f"\\U{later[first]:08x}-\\U{later[end - 1]:08x}" for first, end in runs)
    return re.compile(f"([{''.join(ranges)}])")


def words(normal: str) -> list[str]:
    """List the words of a normalised text, in order."""
    return normal.split()


def first_word(normal: str) -> str:
    """Take the first word of a normalised text as it can be indexed, "" if there is none."""
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


KEPT = 0  # itself
SPACE = -1
DROPPED = -2  # nothing: an invisible format character
CONTEXT = -3  # depends on its neighbours: it may compose with the one before
MARK = -4  # itself, a combining mark: in order of combining classes only
UNASSIGNED = -5  # itself

CODES = 0x110000


@dataclass(frozen=True, slots=True, kw_only=True)
class CharacterTable:
    """Normal form of each code point: arrays of shape (0x110000,).

    `becomes` (16 bits, signed) is one of the constants of this module or the number of one of
    `sequences`; `classes` (8 bits, unsigned) are canonical combining classes.
    """

    becomes: array[int]
    classes: bytes
    sequences: tuple[str, ...]

    def character(self, code: int) -> str:
        """Normalize a folded code point: a string, often itself."""
        becomes = self.becomes[code]
        if becomes > 0:
            return self.sequences[becomes - 1]
        return {SPACE: " ", DROPPED: ""}.get(becomes, chr(code))


@cache
def table() -> CharacterTable:
    """Read the table of normalization 1, once."""
    from importlib.resources import files

    packed = files("neardup_solr.text").joinpath("unicode14.bin").read_bytes()
    unpacked = zlib.decompress(packed)
    becomes = array("h", unpacked[: 2 * CODES])
    if array("h", [1]).tobytes() == b"\0\1":  # the file has the other byte order
        becomes.byteswap()
    return CharacterTable(
        becomes=becomes,
        classes=unpacked[2 * CODES : 3 * CODES],
        sequences=tuple(unpacked[3 * CODES :].decode().split("\0")),
    )
