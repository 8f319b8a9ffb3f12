"""Letters of texts whose characters depend on each other, which the kernel leaves to Python."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from neardup_solr.text.characters import CONTEXT, DROPPED, MARK, SIGNS, is_mark, table, unspaced
from neardup_solr.text.normalize import pieces_of

_REMEMBERED = 1 << 14  # characters with their marks
_IGNORED = dict.fromkeys(map(ord, f"-{SIGNS}"))


def list_letters(text: str) -> tuple[NDArray[np.uint16], NDArray[np.uint32], int]:
    """List the letters of a text and their places, as `fold_texts` writes them, and count words."""
    codes: list[int] = []
    places: list[int] = []
    words, is_first = 0, True
    for place, part in _split(text):
        letters, is_word = _fold(part)
        for at, code in enumerate(letters):
            begins = not at and (is_first or is_word)
            codes.append((code ^ code >> 15) & 0x7FFF | begins << 15)
            places.append(place)
            words += begins
        if letters:
            is_first = is_word
        elif not part.translate(_IGNORED):
            continue
        else:
            is_first = True
    return np.array(codes, np.uint16), np.array(places, np.uint32), words


def _split(text: str) -> Iterator[tuple[int, str]]:
    """Yield the characters of a text with what depends on them, and their places."""
    becomes, start = table().becomes, 0
    while start < len(text):
        end = start + 1
        while end < len(text) and (becomes[ord(text[end])] == DROPPED or depends(text[end])):
            end += 1
        yield start, text[start:end]
        start = end


def depends(character: str) -> bool:
    """Tell whether a character is written at the one before, or may compose with it."""
    return table().becomes[ord(character)] in (CONTEXT, MARK) or is_mark(character)


@lru_cache(maxsize=_REMEMBERED)
def _fold(part: str) -> tuple[tuple[int, ...], bool]:
    """Fold a character to code points, and tell whether it is of a script without blanks."""
    folded = "".join(pieces_of(part)).translate(_IGNORED)
    return tuple(map(ord, folded)), unspaced().match(folded) is not None
