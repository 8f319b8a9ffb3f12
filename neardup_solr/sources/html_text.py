"""Text of HTML: what a reader sees, without mark-up, scripts and styles."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import unescape
from html.parser import HTMLParser
from typing import Any, Final

from neardup_solr.regex import regex
from neardup_solr.sources.html_signs import ELEMENTS, SWITCHES, TAG, is_extension, is_html

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
_SECTION: Final = regex(r"<!\[CDATA\[|\]\]>")
_ENTITY: Final = regex(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|\w{2,31});")


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

    def read(self) -> str:
        """Read the text as far as it came, each block of it in a line of its own."""
        lines = (" ".join(line.split()) for line in "".join(self.parts).split("\n"))
        return "\n".join(filter(None, lines))


class _Part(_Page):
    """Collects the text of a part of a page. What is no tag of HTML is text."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a line, or take what is no tag as a text."""
        if self._is_of_html(tag, attrs):
            super().handle_starttag(tag, attrs)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a line, or take what is no tag as a text."""
        if self._is_of_html(tag, attrs):
            super().handle_startendtag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        """End a line, or take what is no tag as a text."""
        if tag in ELEMENTS or is_extension(tag):
            super().handle_endtag(tag)
        else:
            self.handle_data(f"</{tag}>")

    def _is_of_html(self, tag: str, attrs: Iterable[tuple[str, str | None]]) -> bool:
        is_named = tag in ELEMENTS or is_extension(tag)
        if is_named and all(value is not None or name in SWITCHES for name, value in attrs):
            return True
        self.handle_data(self.get_starttag_text() or "")
        return False


def parse_page(written: str) -> tuple[str, str]:
    """Take the title and the text of a page, each block of it in a line of its own."""
    page = _Page()
    page.feed(written)
    page.close()
    return " ".join("".join(page.title).split()), page.read()


def strip_html(value: Any) -> Any:
    """Take what a reader sees of a text, or of each text in a list. Other values stay.

    Mark-up that was escaped as a whole, as in a feed, is read, too.
    """
    if isinstance(value, list | tuple):
        return type(value)(map(strip_html, value))
    if type(value) is not str or ("<" not in value and "&" not in value):
        return value
    text = _SECTION.sub("", value) if "<![CDATA[" in value else value
    if "&lt;" in text and not TAG.search(text):
        once = unescape(text)
        text = once if TAG.match(once.lstrip()) and is_html(once) else text
    if TAG.search(text) and not is_html(text):
        return value
    if "<!--" not in text and not TAG.search(text):
        return _ENTITY.sub(lambda entity: unescape(entity[0]), text)
    part = _Part()
    part.feed(text)
    part.close()
    title = " ".join("".join(part.title).split())
    return "\n".join(filter(None, (title, part.read())))
