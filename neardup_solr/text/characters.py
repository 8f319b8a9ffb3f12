"""Normal form of each code point, by a table of Unicode 14.0.

Scripts that are written without blanks, such as Thai, Khmer, Chinese and Japanese, and optional
marks, such as the vowels of Hebrew and Arabic, are parts of the table of normalization 2.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from dataclasses import dataclass, replace
from functools import cache
from pkgutil import get_data
from typing import TYPE_CHECKING, Any

from neardup_solr.settings import NORMALIZATION

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SIGNS = "+#"  # behind a letter, by normalization 2
KEPT = 0  # itself
SPACE = -1
DROPPED = -2  # nothing: an invisible format character
CONTEXT = -3  # depends on its neighbours: it may compose with the character before
MARK = -4  # itself, a combining mark: in order of combining classes only
UNASSIGNED = -5  # itself
UNSPACED = -6  # itself, of a script without blanks: paired with its neighbours
CODES = 0x110000
# Letters and marks of the classes SA, CJ and ID of Unicode Standard Annex 14, of the Brahmic ones
# whose lines break at any syllable, and iteration marks: first and last code points.
_UNSPACED = (
    (0xE01, 0xE3A), (0xE40, 0xE4E),  # Thai
    (0xE81, 0xECD), (0xEDC, 0xEDF),  # Lao
    (0x1000, 0x103F), (0x1050, 0x108F), (0x109A, 0x109D),  # Myanmar
    (0x1780, 0x17DD),  # Khmer
    (0x1950, 0x19C9),  # Tai Le, New Tai Lue
    (0x1A00, 0x1A7F), (0x1AA7, 0x1AA7), (0x1B00, 0x1B4C), (0x1BC0, 0x1BF3),  # to Batak
    (0x3005, 0x3007), (0x3021, 0x302D), (0x3031, 0x3035), (0x303B, 0x303C),
    (0x3041, 0x312F), (0x31A0, 0x31BF), (0x31F0, 0x31FF),  # kana, Bopomofo
    (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF),  # Han
    (0xA000, 0xA48C),  # Yi
    (0xA980, 0xA9CF), (0xA9E0, 0xA9EF), (0xA9FA, 0xA9FE),  # Javanese, Myanmar
    (0xAA00, 0xAA4D), (0xAA60, 0xAADF),  # Cham, Myanmar, Tai Viet
    (0x11700, 0x1172F), (0x11740, 0x1174F),  # Ahom
    (0x16FE0, 0x18CFF), (0x18D00, 0x18D7F), (0x1AFF0, 0x1B2FF),  # Tangut, Khitan, kana, Nushu
    (0x20000, 0x3FFFD),  # Han, also what is assigned later
)  # fmt: skip
# Marks that a text of their script may go without, and what is invisible beside category Cf.
_OPTIONAL = (
    (0x34F, 0x34F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x3164, 0x3164),
    (0xFE00, 0xFE0F), (0xFFA0, 0xFFA0), (0xE0100, 0xE01EF),  # default-ignorable code points
    (0x591, 0x5BD), (0x5BF, 0x5BF), (0x5C1, 0x5C2), (0x5C4, 0x5C5), (0x5C7, 0x5C7),
    (0xFB1E, 0xFB1E),  # Hebrew
    (0x610, 0x61A), (0x640, 0x640), (0x64B, 0x652), (0x656, 0x65E), (0x670, 0x670),
    (0x6D6, 0x6DC), (0x6DF, 0x6E8), (0x6EA, 0x6ED), (0x898, 0x89F), (0x8CA, 0x8E1),
    (0x8E3, 0x8FF),  # Arabic: vowels, tatweel, marks of the Quran
    (0x711, 0x711), (0x730, 0x74A),  # Syriac
    (0x816, 0x819), (0x81B, 0x823), (0x825, 0x827), (0x829, 0x82D),  # Samaritan
)  # fmt: skip
# They become "+" or "#": the kernel does not see what is before and behind them.
_SIGN_FORMS = (0x207A, 0x208A, 0xFB29, 0xFE5F, 0xFE62, 0xFF03, 0xFF0B)


def is_mark(character: str) -> bool:
    """Return True for a character that is written at the character before."""
    return unicodedata.category(character)[0] == "M"


@cache
def unspaced() -> re.Pattern[str]:
    """Match a run of characters of scripts that are written without blanks."""
    return re.compile(f"[{''.join(f'{chr(first)}-{chr(last)}' for first, last in _UNSPACED)}]+")


def is_unspaced(text: str) -> bool:
    """Return True for a text that is mostly of scripts without blanks."""
    return 2 * sum(map(len, unspaced().findall(text))) > len("".join(text.split()))


@dataclass(frozen=True, slots=True, kw_only=True)
class CharacterTable:
    """Normal form of each code point: arrays of shape (0x110000,).

    `becomes` is a constant of this module or the number of a sequence in `sequences`, subtracted
    from UNSPACED if that is of such characters; `classes` are canonical combining classes.
    """

    becomes: NDArray[np.int16]
    classes: NDArray[np.uint8]
    sequences: tuple[str, ...]

    def character(self, code: int) -> str:
        """Normalize a folded code point: a string, often itself."""
        becomes = int(self.becomes[code])
        if becomes > 0:
            return self.sequences[becomes - 1]
        return {SPACE: " ", DROPPED: ""}.get(becomes, chr(code))


@cache
def table(normalization: int = NORMALIZATION) -> CharacterTable:
    """Read the table of normalization 1, or make that of 2 from it, once."""
    return _read_table() if normalization == 1 else _change(table(1))


def _change(first: CharacterTable) -> CharacterTable:
    import numpy as np

    becomes = first.becomes.copy()
    for low, high in _UNSPACED:
        part = becomes[low : high + 1]
        part[(part == KEPT) | (part == MARK) | (part == UNASSIGNED)] = UNSPACED
    for low, high in _OPTIONAL:
        becomes[low : high + 1] = DROPPED
    becomes[list(map(ord, SIGNS))], becomes[list(_SIGN_FORMS)] = KEPT, CONTEXT
    # The second of the only two that compose in Burmese is frequent, the first is rare.
    becomes[[0x102E, 0x1025]] = UNSPACED, CONTEXT
    changed = np.arange(len(first.sequences) + 1, dtype=np.int16)
    for number, sequence in enumerate(first.sequences, start=1):
        if match := unspaced().search(sequence):
            # The kernel has room for as many words as a text has bytes.
            is_run = match[0] == sequence and len(sequence) <= 3
            changed[number] = UNSPACED - number if is_run else CONTEXT
    (several,) = (becomes > 0).nonzero()
    becomes[several] = changed[becomes[several]]
    return replace(first, becomes=becomes)


def _read_table() -> CharacterTable:
    packed = get_data("neardup_solr.text", "unicode14.bin")
    assert packed is not None
    becomes, rest = _read_runs(zlib.decompress(packed), "<i2")
    classes, rest = _read_runs(rest, "u1")
    return CharacterTable(
        becomes=becomes, classes=classes, sequences=tuple(rest.decode().split("\0"))
    )


def _read_runs(packed: bytes, type: str) -> tuple[NDArray[Any], bytes]:
    """Read runs of equal values, first their number, then values, then lengths, and the rest."""
    import numpy as np

    count = int.from_bytes(packed[:4], "little")
    values = np.frombuffer(packed, type, count, 4)
    lengths = np.frombuffer(packed, "<u4", count, 4 + values.nbytes)
    native = values.astype(values.dtype.newbyteorder("="))
    return native.repeat(lengths), packed[4 + values.nbytes + lengths.nbytes :]
