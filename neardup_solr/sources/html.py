"""Pages of HTML: what a reader sees of them, without mark-up, scripts and styles."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Final

from neardup_solr.regex import regex
from neardup_solr.sources.blocks import read_whole
from neardup_solr.sources.objects import Numbered, name_document, open_rows
from neardup_solr.sources.part import SourcePart, SourceTable
from neardup_solr.sources.reading import Reading
from neardup_solr.sources.values import Unusable, decode

_UNSEEN: Final = {"script", "style", "template", "noscript", "svg", "math", "head", "iframe"}
_WITHIN_LINE: Final = {
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em",
    "font", "i", "ins", "kbd", "label", "mark", "q", "rp", "rt", "ruby", "s", "samp", "small",
    "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr", "nobr",
}  # fmt: skip
_CELLS: Final = {"td", "th"}
_VOID: Final = {
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
    "track", "wbr",
}  # fmt: skip
_CHARSET: Final = regex(rb"<meta[^>]*charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)


class _Page(HTMLParser):
    """Collects the title and the text of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title: list[str] = []
        self.parts: list[str] = []
        self._unseen: list[str] = []
        self._in_title = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a line, unless the tag is within one."""
        if tag == "body":  # which ends a head that was never closed
            self._unseen.clear()
        if tag == "title" and "svg" not in self._unseen:
            self._in_title = True
        elif tag in _UNSEEN and tag not in _VOID:
            self._unseen.append(tag)
        self._break(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a line. What is unseen has to be closed by a tag of its own in HTML."""
        self._break(tag)

    def handle_endtag(self, tag: str) -> None:
        """End a line, and what is not seen."""
        if tag == "title":
            self._in_title = False
        elif tag in self._unseen:
            while self._unseen.pop() != tag:
                pass
        self._break(tag)

    def handle_data(self, data: str) -> None:
        """Take a piece of text."""
        if self._in_title:
            self.title.append(data)
        elif not self._unseen:
            self.parts.append(re.sub(r"\s+", " ", data))

    def _break(self, tag: str) -> None:
        if tag in _CELLS:
            self.parts.append(" ")
        elif tag not in _WITHIN_LINE and not self._unseen:
            self.parts.append("\n")


def parse_page(written: str) -> tuple[str, str]:
    """Take the title and the text of a page, each block of it in a line of its own."""
    page = _Page()
    page.feed(written)
    page.close()
    lines = (" ".join(line.split()) for line in "".join(page.parts).split("\n"))
    return " ".join("".join(page.title).split()), "\n".join(filter(None, lines))


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
