"""Pages of HTML: files of one page each, in the encoding that they name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from neardup_solr.regex import regex
from neardup_solr.sources.blocks import read_whole
from neardup_solr.sources.html_text import parse_page
from neardup_solr.sources.objects import Numbered, name_document, open_rows
from neardup_solr.sources.part import SourcePart, SourceTable
from neardup_solr.sources.reading import Reading
from neardup_solr.sources.values import Unusable, decode

_CHARSET: Final = regex(rb"<meta[^>]*charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)


def find_charset(head: bytes) -> str | None:
    """Find the encoding that a page says it has, None without any."""
    charset = _CHARSET.search(head[:4_096])
    return None if charset is None else charset[1].decode("ascii", "replace")


def open_page(part: SourcePart) -> SourceTable:
    """Open a page of HTML: its title, and its text without mark-up."""

    def pages() -> Iterator[Numbered]:
        try:
            written = read_whole(part, part.reading.room())
            title, text = parse_page(decode_page(written, part.reading))
        except Unusable as problem:
            yield 1, str(problem)
        else:
            yield 1, {"id": name_document(part), "title": title, "text": text}

    return open_rows(part, "html", pages())


def decode_page(written: bytes, reading: Reading) -> str:
    """Decode a page: in UTF-8, or in the encoding that it names, or raise Unusable."""
    charset = find_charset(written) or ""
    try:
        if not charset.lower().startswith("iso-2022"):
            return written.decode()
        return written.decode(charset, "replace")
    except (UnicodeDecodeError, LookupError):
        if charset and reading.encoding is None:
            try:
                return written.decode(charset, "replace")
            except LookupError:  # an encoding that Python does not know
                pass
        return decode(written, reading)
