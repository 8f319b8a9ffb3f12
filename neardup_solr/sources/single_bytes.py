"""Encodings of one byte a character, guessed by the letters that languages have.

Each encoding makes something of nearly all bytes. What it makes of those of another one has signs
within words, capitals behind small letters, or letters that are seldom or in no alphabet.
"""

from __future__ import annotations

import re
import unicodedata
from contextlib import suppress
from typing import Final

from neardup_solr.regex import regex

# The letters that are not in ASCII, of languages that are written with Latin letters.
_LATIN: Final = {
    ("cp1252", "mac_roman", "cp850"): (
        "äöüß éèêàâçùûîôëïœæ áéíóúñü ãõáâàéêíóôúç àèéìíòóù åäöæøé ëïéèöüóá áðéíóúýþæö àèéíïóòúüç"
    ),
    ("cp1250", "iso8859_2", "cp852"): (
        "ąćęłńóśźż áčďéěíňóřšťúůýž áäčďéíĺľňóôŕšťúýž áéíóöőúüű ăâîşţ čćžšđ äöüß"
    ),
    ("cp1254", "cp857"): "\u0131şğçöüi̇âîû",
    ("cp1257",): "ąčęėįšųūž āčēģīķļņšūž äõöüšž",
    ("cp1258",): ("àáảãạăằắẳẵặâầấẩẫậèéẻẽẹêềếểễệìíỉĩịòóỏõọôồốổỗộơờớởỡợùúủũụưừứửữựỳýỷỹỵđ"),
}
# Letters of Vietnamese that cp1258 writes as two, the second of which is a tone.
_TONED: Final = "ảạằắẳẵặầấẩẫậẻẽẹềếểễệìỉĩịòỏõọồốổỗộờớởỡợủũụừứửữựỳýỷỹỵ"
_TONES: Final = 0.15  # of the letters, at least
_ONE_LANGUAGE: Final = ("cp1254", "cp857", "cp1258")
# The usual letters of others, which are three quarters of a text.
_OTHERS: Final = {
    ("cp1251", "koi8_r", "cp866", "iso8859_5", "mac_cyrillic"): "оеаинтсрвлкмдпуіья",
    ("cp1253", "cp737"): "αοιετσνηυρπκςλάέίόήύώ",
    ("cp1255",): "יוהלאתשרמבנםעקחד",
    ("cp1256", "iso8859_6"): "اليمنروتبةعدسفه",
    ("cp874",): "านรอกเงมยลวดทสตะปบคหแจพ่้ัี",
}
_EBCDIC: Final = ("cp037", "cp273")
_FEWEST: Final = 12  # letters, by which an encoding of another script is told
_LEAST: Final = 0.5
_USUAL: Final = 0.6  # of the letters, at least, are usual ones
_ALPHABET: Final = 0.9  # of the letters, at least, are in the alphabet of a language
_ODD: Final = 0.02  # for each letter, at most
_SEVERAL: Final = 0.02  # less for several languages, as names are in
_LATER: Final = 0.03  # less for what is no encoding of Windows
_LETTERS: Final = regex(r"[^\W\d_\x00-\x7f\xaa\xb2\xb3\xb5\xb9\xba\xbc-\xbe]")
_RUN: Final = regex(r"[^\W\d_\x00-\x7f]{5,}")
# A word without letters of ASCII. A single one is a word of some languages, in cp1252.
_ALONE: Final = regex(r"(?<!\w)[^\W\d_\x00-\x7f]+(?!\w)")
# A sign within a word or at the wrong side of it, a modifier, a control.
_SIGNS: Final = regex(
    r"(?<=[^\W\d_])[^\w\s\x00-\x7f\u2019\u2013\u2014\xad\xb7\u0591-\u05c7\u064b-\u0652\u0e31-\u0e4e"
    r"\u200c\u200d](?=[^\W\d_])|(?<=[^\W\d_])[\u201a\u201e\u20ac\xa2-\xa9\xac\xb1\xb6]"
    r"|[\xa4\xa6\xac\xb1\xb6](?=[^\W\d_])"
    r"|[\x80-\x9f]|[^\w\s\x00-\x7f]{3,}|(?<=[^\W\d_])[\xb2\xb3\xb9\xbc-\xbe](?=[^\W\d_])"
    r"|[\u02d8-\u02db\u2020-\u2022\u02c6\u02dc\u0192\u2500-\u259f]"
)
_MIXED: Final = regex(r"[A-Za-z](?=[\u0370-\u0eff])|[\u0370-\u0eff](?=[A-Za-z])")


def guess_single_bytes(raw: bytes) -> str | None:
    """Guess the encoding of one byte a character, None if no language fits."""
    if raw.count(b"\x40") > len(raw) / 20 and b" " not in raw and b"\x25" in raw:
        of_west = next(iter(_LATIN.values()))
        return max(_EBCDIC, key=lambda name: _rate(raw, name, of_west))
    with suppress(UnicodeDecodeError):
        text = raw.decode("cp1252")
        if not _LETTERS.search(text) and not _SIGNS.search(text):
            return "cp1252"  # quotes, dashes, degrees and the like
    rated = {
        name: rate
        for names, letters in (*_LATIN.items(), *_OTHERS.items())
        for name in names
        if (rate := _rate(raw, name, letters) - _LATER * (name != names[0])) > 0
    }
    return max(rated, key=lambda name: rated[name]) if rated else None


def _rate(raw: bytes, encoding: str, languages: str) -> float:
    """Rate how well bytes are written in one of the languages, 0 if they are in none."""
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError:
        return 0.0
    if encoding == "cp1258":
        text = unicodedata.normalize("NFC", text)
    letters = _LETTERS.findall(text)
    is_latin = " " in languages or encoding in _ONE_LANGUAGE
    if len(letters) < (1 if is_latin else _FEWEST):
        return 0.0
    odd = len(_SIGNS.findall(text)) + _count_raised(text)
    alone = sum(len(word) for word in _ALONE.findall(text) if len(word) > (encoding == "cp1252"))
    if is_latin and 2 * alone > len(letters):
        return 0.0
    odd += len((_RUN if is_latin else _MIXED).findall(text))
    small = [letter.lower() for letter in letters]
    if encoding == "cp1258" and sum(each in _TONED for each in small) < _TONES * len(small):
        return 0.0
    shares = [sum(letter in of for letter in small) / len(letters) for of in languages.split()]
    several = sum(letter in languages for letter in small) / len(letters) - _SEVERAL
    share = max(*shares, several)
    odd += 0 if is_latin else sum(letter < "\u0370" for letter in letters)
    if odd > _ODD * len(letters) or share < (_ALPHABET if is_latin else _USUAL):
        return 0.0
    # Small letters are more than capitals.
    raised = sum(letter != each for letter, each in zip(letters, small, strict=True))
    rate = share - odd / len(letters) - raised / len(letters) / 2
    return rate if is_latin or rate > _LEAST else 0.0


def _count_raised(text: str) -> int:
    """Count capitals behind a small letter, one of which is not in ASCII."""
    return sum(
        first.islower()
        and first != "ß"
        and second.isupper()
        and not (first.isascii() and second.isascii())
        for first, second in re.findall(r"(?=([^\W\d_])([^\W\d_]))", text)
    )
