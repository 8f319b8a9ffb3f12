"""Normal form of a text, its words and its terms, and a text as a cell of CSV, TSV or HTML.

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
import zlib
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from html import escape
from itertools import pairwise

from neardup_solr.settings import NORMALIZATION

# Lucene refuses longer terms ("immense term"); UTF-8 bytes.
MAX_TERM_BYTES = 32_766
SIGNS = "+#"  # behind a letter, by normalization 2
# What the tables say about ASCII, so that ASCII texts do not need them.
_ASCII = {
    normalization: {
        code: " " for code in range(128) if not (chr(code).isalnum() or chr(code) in kept)
    }
    for normalization, kept in ((1, "-"), (2, f"-{SIGNS}"))
}
# Signs that stay: behind a letter, which is no ASCII digit; a single sign if its word ends with it.
_SIGNS = re.compile(r"((?<=[a-z\x80-\U0010ffff])(?:\+\+|[+#](?![^ -])))|[+#]")
_FROZEN = unicodedata.unidata_version == "14.0.0"


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
    becomes = np.frombuffer(table(normalization).becomes, dtype=np.int16)[codes]
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


def is_mark(character: str) -> bool:
    """Return True for a character that is written at the character before."""
    return unicodedata.category(character)[0] == "M"


def _symbols_of(text: str) -> list[str]:
    """List what is visible between the blanks of a text without words."""
    becomes = table().becomes
    visible = (each for each in _fold_case(text) if becomes[ord(each)] != DROPPED)
    return "".join(visible).translate(_UNQUOTED).split()


# Blanks, and controls, halves of characters and an empty pattern of Braille, which are invisible.
# Without quotes and backslashes no term needs escaping.
_UNQUOTED = dict.fromkeys(
    (*range(0x21), *range(0x7F, 0xA0), *range(0xD800, 0xE000), 0x2800), " "
) | {ord('"'): "\u201d", ord("\\"): "\u2216"}  # fmt: skip


@cache
def unspaced() -> re.Pattern[str]:
    """Match a run of characters of scripts that are written without blanks."""
    return re.compile(f"[{''.join(f'{chr(first)}-{chr(last)}' for first, last in _UNSPACED)}]+")


def is_unspaced(text: str) -> bool:
    """Return True for a text that is mostly of scripts without blanks."""
    return 2 * sum(map(len, unspaced().findall(text))) > len("".join(text.split()))


@cache
def _later_code_points() -> re.Pattern[str]:
    """One code point that is not assigned in Unicode 14.0, as a group for `split`."""
    later = [code for code, becomes in enumerate(table(1).becomes) if becomes == UNASSIGNED]
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


@dataclass(frozen=True, slots=True, kw_only=True)
class CharacterTable:
    """Normal form of each code point: arrays of shape (0x110000,).

    `becomes` (16 bits, signed) is a constant of this module or the number of a sequence in
    `sequences`, subtracted from UNSPACED if that is of such characters; `classes` (8 bits,
    unsigned) are canonical combining classes.
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
def table(normalization: int = NORMALIZATION) -> CharacterTable:
    """Read the table of normalization 1, or make that of 2 from it, once."""
    return _read_table() if normalization == 1 else _change(table(1))


def _change(first: CharacterTable) -> CharacterTable:
    import numpy as np

    becomes = np.frombuffer(first.becomes, dtype=np.int16).copy()
    for low, high in _UNSPACED:
        part = becomes[low : high + 1]
        part[np.isin(part, (KEPT, MARK, UNASSIGNED))] = UNSPACED
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
    becomes = np.where(becomes > 0, changed[np.maximum(becomes, 0)], becomes)
    return replace(first, becomes=array("h", becomes.tobytes()))


def _read_table() -> CharacterTable:
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


# And those that NFKC turns into the first four.
_FORMULA_SIGNS = "=+\\-@\u207a\u207c\u208a\u208c\ufe62\ufe63\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20"
_SEPARATORS = ",;|\t\n\r"
# Blanks, controls, characters that nobody sees, quotes.
_PASSED_OVER = (
    "\\s\x00-\x20\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2000-\u200f"
    "\u2028-\u202f\u205f-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\"'`\u00b4\u2018-\u201f\u00ab\u00bb\u2039\u203a\u301d-\u301f\uff02\uff07"
)
_RUN = f"{_PASSED_OVER}{_SEPARATORS}"
# All that stands before a sign and may be dropped; each run is looked at once, however long.
_BEFORE = re.compile(f"(?<![{_RUN}])[{_RUN}]++(?=[{_FORMULA_SIGNS}])")
# Most texts, which are written as they are.
_PLAIN = re.compile(f"(?![{_RUN}{_FORMULA_SIGNS}])[^\\\\{_SEPARATORS}]*+\\Z")
_FIRST_IN_CSV = re.compile(f"[{_FORMULA_SIGNS}'\t\n\r]")
_FIRST_IN_TSV = re.compile(f'[{_FORMULA_SIGNS}"]')  # a quote could swallow the cells that follow
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})
_CONTROLS = {"\\t": "\t", "\\n": "\n", "\\r": "\r"}
_ESCAPED = re.compile(f'\\\\[\\\\tnr"{_FORMULA_SIGNS}]')


def to_csv(text: str) -> str:
    """Write a text as a cell of CSV, before quotes are put around it."""
    if _PLAIN.match(text):
        return text
    marked = _mark(text, "'")
    return f"'{marked}" if _FIRST_IN_CSV.match(marked) else marked


def from_csv(cell: str) -> str:
    """Read the text that `to_csv` wrote."""

    def unmark(match: re.Match[str]) -> str:
        run = match[0]
        return run[:-1] if run[-1] == "'" and _is_start(run[:-1], match.start()) else run

    return _BEFORE.sub(unmark, cell.removeprefix("'"))


def to_tsv(text: str) -> str:
    """Write a text as a cell of TSV: backslash, tab and line breaks are escaped, too."""
    if _PLAIN.match(text):
        return text
    marked = _mark(text.translate(_ESCAPES), "\\")
    return f"\\{marked}" if _FIRST_IN_TSV.match(marked) else marked


def from_tsv(cell: str) -> str:
    """Read the text that `to_tsv` wrote. A backslash before any other character stays."""
    if "\\" not in cell:
        return cell
    return _ESCAPED.sub(lambda match: _CONTROLS.get(match[0], match[0][1]), cell)


def _mark(text: str, mark: str) -> str:
    """Put a mark before each sign that could begin a cell, but for the very first."""

    def add_mark(match: re.Match[str]) -> str:
        return match[0] + mark if _is_start(match[0], match.start()) else match[0]

    return _BEFORE.sub(add_mark, text)


def _is_start(run: str, place: int) -> bool:
    """Return True if the characters after a run may be the start of a cell."""
    return (place == 0 and bool(run)) or any(char in _SEPARATORS for char in run)


def make_html_table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Make an HTML table of values. Texts of documents have to be escaped by `show_invisibles`.

    A cell that is a `Markup` stays as it is; all others are escaped.
    """
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "".join(
        f"<tr>{''.join(f'<td>{_write_cell(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


class Markup(str):
    """A text that is HTML already."""

    __slots__ = ()


def _write_cell(value: object) -> str:
    if isinstance(value, Markup):
        return value
    return escape(f"{value:,}" if isinstance(value, int) else str(value))
