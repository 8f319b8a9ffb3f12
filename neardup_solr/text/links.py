"""Links, addresses of e-mail, hashes, UUIDs and ids of computers: names, and no numbers.

They say which page or message it is, not what it says.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from neardup_solr.regex import regex

# Letters of a normal form that are in no word: between the parts of a number, and before a name.
POINT, NAME = "\u02d1", "\u02d0"
_DIGIT = regex(r"\d")
_HAS_ID = regex(r"\d[A-Za-z]")
_HAS_LINK = regex(
    r"://|@|[wW]{3}\.|\.[A-Za-z]{2,}(?::\d{2,5})?[/?]|10\.\d{4,9}/|[uU][rR][nN]:|[oO][iI]:"
)
_LINK = regex(
    r"\b(?:[a-z][a-z0-9+.-]{1,20}://|www\.|mailto:|doi:|urn:|10\.\d{4,9}/)[^\s<>\"]++"
    # example.org/page-12
    r"|(?<![\w.-])(?:[\w-]++\.)+[a-z]{2,}+(?::\d{2,5})?[/?][^\s<>\"]*+",
    re.I,
)
_HEAD = regex(r"(?:[a-z][a-z0-9+.-]*:/*)?(?:www\.)?", re.I)  # of a link, that may lack
_MAIL = regex(r"(?<![^\s<>(\"])[^\s@<>(\"]++@[\w-]++(?:\.[\w-]++)+|<[^\s@<>]++@[^\s@<>]++>")
_UUID = regex(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.I)
_HYPHENS = 4  # of a UUID
_NAMED_ID = regex(
    r"\b((?:(?:uu|gu|trace|request|session|message)[ _-]?id|id|hash|md5|sha-?\d{0,3}|checksum"
    r"|token)\b\s{0,3}[:=#]?\s{0,3})((?=[\w-]{0,64}\d)[\w-]{1,128})",
    re.I,
)
_MIXED = regex(r"\b(?=[a-z]*+\d)(?=\d*+[a-z])[a-z\d]{7,}+\b", re.I)
_HEX = regex(r"[0-9a-f]+", re.I)
_CHANGE = regex(r"(?<=\d)(?=[a-z])|(?<=[a-z])(?=\d)", re.I)
# A word of letters and digits is a hash or an id if it is so long, or changes so often.
_LONG, _LONG_WITH_CASE, _LONG_TEXT, _CHANGES = 16, 10, 20, 3
_LONG_HASH = 12  # digits of a hash in capitals, as a code of a product may have fewer
_BASE64 = regex(r"(?<![\w+/=])(?=[a-z\d+/]*\d)[a-z\d+/]{20,}+={0,2}", re.I)
_KIND = regex(r"\d+|[a-z]+|[A-Z]+|[+/]+")
_MIXTURE = 0.45  # runs of capitals, other letters and digits, for each character of such an id
Write = Callable[[str], str]


def replace_names(text: str, write: Write, write_mail: Write) -> str:
    """Write links and what a computer has named by digits, or addresses of e-mail, anew."""
    if _HAS_LINK.search(text):
        text = _LINK.sub(lambda match: write(match[0]), text)
        text = _MAIL.sub(lambda match: write_mail(match[0]), text) if "@" in text else text
    if not _DIGIT.search(text):
        return text
    if write is not write_nothing and not _HAS_ID.search(text):
        return text
    text = _NAMED_ID.sub(lambda match: _write_named(match[1], match[2], write), text)
    if text.count("-") >= _HYPHENS:
        text = _UUID.sub(lambda match: write(match[0]), text)
    is_long = max(map(len, text.split()), default=0) >= _LONG_TEXT
    for pattern in (_BASE64, _MIXED) if is_long else (_MIXED,):
        text = pattern.sub(lambda match: write(match[0]) if _is_made(match[0]) else match[0], text)
    return text


def _write_named(head: str, name: str, write: Write) -> str:
    """Write an id behind the word that names it. Only digits behind "id" may tell two things."""
    if write is write_nothing:
        return " "
    return f"{head}{name}" if name.isdigit() or head[:2].lower() == "id" else head + write(name)


def _is_made(word: str) -> bool:
    """Return True for a word of letters and digits that only a computer has made."""
    changes = len(_CHANGE.findall(word))
    mixture = (len(_KIND.findall(word)) - 1) / len(word)
    if changes < _CHANGES:
        return changes > 0 and len(word) >= _LONG_TEXT and mixture >= _MIXTURE
    if word == word.lower() or word == word.upper():
        is_hash = word == word.lower() or len(word) >= _LONG_HASH
        return (is_hash and _HEX.fullmatch(word) is not None) or len(word) >= _LONG
    return len(word) >= _LONG_WITH_CASE and mixture >= _MIXTURE


def write_nothing(_: str) -> str:
    return " "


def write_name(name: str) -> str:
    """Write a name as a word of the normal form, whatever its link begins and ends with."""
    parts = "".join(part if part.isalnum() else NAME for part in _HEAD.sub("", name, 1).casefold())
    return f" {NAME}{parts.strip(NAME)} "


def write_message_id(name: str) -> str:
    """Write the id of a message, which has many digits, but no address of a person."""
    digits = sum(map(str.isdigit, name))
    return write_name(name) if digits >= (4 if name.startswith("<") else 8) else name
