"""Normal form of a text, its words and its word shingles.

The restaurant example lower-cases, turns punctuation other than "-" into spaces and collapses
spaces. Normalization 1 is that rule over Unicode: NFKC, full case folding, NFKC again (so that
composed and decomposed, full-width and upper-case spellings agree); letters, marks, numbers and
"-" stay, invisible format characters (soft hyphen, zero-width joiner, byte-order mark) vanish,
everything else is a space. The result is frozen with the signatures that are made from it.
"""

from __future__ import annotations

import hashlib
import unicodedata

# Lucene refuses longer terms ("immense term"); UTF-8 bytes.
MAX_TERM_BYTES = 32_766


class _Translation(dict[int, str | None]):
    """What each code point becomes, worked out when it is first met."""

    def __missing__(self, code: int) -> str | None:
        category = unicodedata.category(chr(code))
        if category[0] in "LMN" or code == ord("-"):
            becomes: str | None = chr(code)
        elif code == 0x2010:  # the typographic hyphen; U+2011 becomes it under NFKC
            becomes = "-"
        else:
            becomes = None if category == "Cf" else " "
        self[code] = becomes
        return becomes


_TRANSLATION = _Translation()


def normalize(text: str) -> str:
    """The normal form of a text: words of folded letters, numbers and "-", one space between.

    Lone surrogates become spaces. Equal for NFC and NFD of the same text, and idempotent.
    Unicode Standard Annex 15 (NFKC) and section 5.18 (case folding).
    """
    if text.isascii():
        return " ".join(text.lower().translate(_TRANSLATION).split())
    folded = unicodedata.normalize("NFKC", text).casefold()
    kept = unicodedata.normalize("NFKC", folded).translate(_TRANSLATION)
    # Where an invisible character vanished, its neighbours may now compose.
    return " ".join(unicodedata.normalize("NFKC", kept).split())


def words(normal: str) -> list[str]:
    """The words of a normalised text, in order."""
    return normal.split()


def word_shingles(normal: str, size: int) -> list[str]:
    """The set of word shingles of a normalised text, in order of first appearance.

    A shingle is `size` consecutive words with a space between; a text of fewer words is its own
    only shingle, a text without words has none. Broder, "On the resemblance and containment of
    documents" (1997).
    """
    listed = words(normal)
    if len(listed) <= size:
        return [" ".join(listed)] if listed else []
    shingles = (" ".join(listed[at : at + size]) for at in range(len(listed) - size + 1))
    return list(dict.fromkeys(shingles))


def indexable(term: str) -> str:
    """A term as it can be indexed: itself, or "md5:" and its MD5 where it exceeds Lucene's limit.

    A normalised term has no colon, so the two never meet. The limit is 32,766 bytes of UTF-8.
    """
    if len(term) * 4 <= MAX_TERM_BYTES or len(term.encode()) <= MAX_TERM_BYTES:
        return term
    return f"md5:{md5(term)}"


def md5(normal: str) -> str:
    """MD5 of a normalised text as 32 hexadecimal digits (RFC 1321), over its UTF-8 bytes."""
    return hashlib.md5(normal.encode(), usedforsecurity=False).hexdigest()
