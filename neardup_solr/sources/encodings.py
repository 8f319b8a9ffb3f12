"""Encodings: told by a byte order mark, converted to UTF-8, guessed. What is no text is refused."""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain
from typing import Final

from neardup_solr.errors import RecordError
from neardup_solr.regex import regex
from neardup_solr.sources.compression import at_least, read_head
from neardup_solr.sources.file_kinds import find_kind, is_binary, is_utf8, kind_of_part
from neardup_solr.sources.magic_bytes import BEGINNING
from neardup_solr.sources.part import SourcePart
from neardup_solr.sources.single_bytes import guess_single_bytes
from neardup_solr.sources.values import CHARACTER_BYTES

# Quotes, dashes and € in cp1252; control characters, which no text has, in latin-1.
ONLY_CP1252: Final = regex(rb"[\x80-\x9f]")
# Encodings with byte order marks: that of UTF-32 begins with that of UTF-16.
MARKED: Final = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be", "utf-8")
# What cannot be decoded becomes this, which is invalid UTF-8: an error of that record only.
UNDECODABLE: Final = "\udcff"

SAMPLE = 20_000  # bytes by which an encoding is guessed
_FEWEST = 8  # bytes beyond ASCII, by which Chinese and Korean are told
_KANA = regex("[\u3040-\u30ff]")
_EASTERN = ["cp932", "euc_jp", "gb18030", "big5", "cp949"]


def find_encoding(part: SourcePart, head: bytes) -> tuple[str, bytes]:
    """Find the encoding of a source, and the byte order mark that it begins with, if any."""
    named = part.reading.encoding
    for encoding in MARKED:
        mark = "\ufeff".encode(encoding)
        if head.startswith(mark) and (named is None or named.startswith(encoding[:6])):
            return encoding, mark
    return named or "utf-8", b""


def recode(part: SourcePart, stream: Iterator[bytes]) -> Iterator[bytes]:
    """Make UTF-8 from the named encoding, or from that of a byte order mark, without the mark."""
    is_file = part.path is not None and part.path.is_file()
    least = BEGINNING if is_file else len(codecs.BOM_UTF32)
    head, stream = read_head(stream, at_least(least))
    encoding, mark = refuse_what_is_no_text(part, head)
    stream = chain([head[len(mark) :]], stream)
    return stream if encoding == "utf-8" else _from_encoding(part, encoding, stream)


def refuse_what_is_no_text(part: SourcePart, head: bytes) -> tuple[str, bytes]:
    """Raise SourceError if a file is no text, or else find its encoding as `find_encoding` does."""
    encoding, mark = find_encoding(part, head)
    _refuse_kind(part, head)
    if encoding == "utf-8" and not mark:
        _refuse_unmarked(part, head)
    elif not mark and "a".encode(encoding) != b"a":
        _refuse_utf8(part, head, encoding)
    _refuse_binary(part, head[len(mark) :], encoding)
    return encoding, mark


def _refuse_kind(part: SourcePart, head: bytes) -> None:
    """Refuse what is no text, and mark-up unless it is read as such, or that is asked for."""
    kind = kind_of_part(part, head)
    if kind is not None and not (kind.is_text and (kind.format or part.reading.source_format)):
        step = kind.next_step
        if part.path is None and step.startswith("end its name"):
            step = "save it as a file, and give its name"
        raise part.error(f"is {kind.words}, not text", step, code="file-kind")


def _refuse_unmarked(part: SourcePart, head: bytes) -> None:
    """Refuse UTF-16 and UTF-32 without a byte order mark."""
    for order in MARKED[:4] if b"\0" in head[:4] else ():
        is_likely = [*map(bool, head[:4])] == [*map(bool, "aa".encode(order)[:4])]
        if is_likely and is_written(head[:4_096].decode(order, "replace")):  # RFC 4627, 3
            reason = f"is {order[:6].upper()} without a byte order mark"
            step = f"it appears to be {order}: set `encoding` to {order}"
            raise part.error(reason, step, code="encoding")


def _refuse_utf8(part: SourcePart, head: bytes, encoding: str) -> None:
    """Refuse UTF-8 if an encoding is named for it in which no letter is one of ASCII."""
    if head and is_utf8(head) and is_written(head.decode("utf-8", "replace")):
        reason, step = f"is UTF-8, not {encoding}", "leave `encoding` out"
        raise part.error(reason, step, code="encoding")


def is_written(text: str) -> bool:
    """Tell whether nearly all characters of a decoded text are what people write."""
    odd = sum(unicodedata.category(sign) in ("Cc", "Cn", "Co", "Cs") for sign in text)
    return odd - sum(map(text.count, "\t\n\r")) <= len(text) / 100


def _refuse_binary(part: SourcePart, head: bytes, encoding: str) -> None:
    """Refuse what is no text in any encoding, unless what is lost is to be replaced."""
    if part.reading.lossy:
        return
    if "\n".encode(encoding) == b"\n":
        is_odd = is_binary(head)
    else:
        try:
            text = head[:BEGINNING].decode(encoding, "replace")
        except UnicodeError:  # of a codec that replaces nothing: whoever reads on tells
            return
        is_wide = len(" ".encode(encoding)) > 1
        is_odd = is_binary(text.encode("utf-8", "replace"))
        is_odd = is_odd or (is_wide and not is_written(text))
    if is_odd:
        reason = "is not text: it has NUL bytes or other control characters"
        step = "give the text that it was made from, or leave it out"
        raise part.error(reason, step, code="file-kind")


def _from_encoding(part: SourcePart, encoding: str, stream: Iterable[bytes]) -> Iterator[bytes]:
    # A lone surrogate of UTF-16 passes through as bytes that are not UTF-8, too.
    lenient = "replace" if part.reading.lossy else "neardup_undecodable"
    on_invalid = "surrogatepass" if encoding.startswith("utf-16") else lenient
    is_first = True
    stream = _latin(part, stream) if encoding == "iso8859-1" else stream
    try:
        for text in codecs.iterdecode(stream, encoding, on_invalid):
            plain = text.removeprefix("\ufeff") if is_first else text
            yield plain.encode("utf-8", "surrogatepass")
            is_first = False
    except UnicodeError as error:
        name = (part.reading.encoding or encoding[:6]).upper()
        if is_first:
            step = "check `encoding`: files from Excel usually use cp1252"
            raise part.error(f"is not {name} ({error})", step, code="encoding") from error
        reason = f"the file ends too early (half a {name} character)"
        raise RecordError(f"{part.name}, at its end", reason, code="file-damaged") from error


def _latin(part: SourcePart, stream: Iterable[bytes]) -> Iterator[bytes]:
    """Pass blocks of latin-1 on, with a notice if they look like cp1252."""
    is_told = False
    for block in stream:
        if not is_told and ONLY_CP1252.search(block):
            is_told = True
            line = "this looks like cp1252: characters such as € would be lost"
            part.on_notice(f"{part.name}: {line}; set its encoding to cp1252")
        yield block


def _end(error: UnicodeError) -> int:
    assert isinstance(error, UnicodeDecodeError)
    return error.end


codecs.register_error("neardup_undecodable", lambda error: (UNDECODABLE, _end(error)))


def guess_encoding(raw: bytes) -> str | None:
    """Guess the encoding of bytes that are not UTF-8, None if it is none of the usual ones."""
    if b"\0" in raw:
        name = "utf-16-be" if raw[:1] == b"\0" else "utf-16-le"
        is_likely = 3 * raw.count(0) > len(raw)
        return name if is_likely and is_written(raw.decode(name, "replace")) else None
    if find_kind(raw) is not None or is_binary(raw):
        return None
    if (guessed := guess_single_bytes(raw)) is not None:
        return guessed
    for end in range(len(raw), len(raw) - CHARACTER_BYTES, -1):  # its last character may be cut off
        if (guessed := _guess_multibyte(raw[:end])) is not None:
            return guessed
    return None


def _guess_multibyte(raw: bytes) -> str | None:
    """Guess an encoding, which may be of several bytes a character, None if it is none of ours."""
    for name in ("euc_jp", "cp932"):  # no other has so many kana
        with suppress(UnicodeDecodeError):
            text = raw.decode(name)
            if len(_KANA.findall(text)) > len(text) / 8:
                return name
    if len(re.findall(rb"[\x80-\xff]", raw)) < _FEWEST:
        return None
    from charset_normalizer import from_bytes

    words = b" ".join(re.findall(rb"[^\0-\x3f]*[\x80-\xff][^\0-\x3f]*", raw))
    best = from_bytes(4 * words, cp_isolation=_EASTERN).best()  # it knows few in a short text
    return None if best is None else best.encoding
