"""E-mails, each in a file (.eml) or many in a mailbox (mbox): their texts, and who sent them when.

Headers are columns; only what the message says is its text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from email.errors import HeaderParseError
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import default
from email.utils import parsedate_to_datetime
from typing import Any, Final

from neardup_solr.regex import regex
from neardup_solr.sources.blocks import lists_of_lines, read_whole
from neardup_solr.sources.html_text import parse_page
from neardup_solr.sources.objects import Numbered, name_document, open_rows
from neardup_solr.sources.part import SourcePart, SourceTable
from neardup_solr.sources.values import Unusable, too_large

HEADERS: Final = ("subject", "from", "to", "date", "message_id")
_BEGIN: Final = regex(rb"From \S+.*\d{4}")
_QUOTED: Final = regex(rb"^>(>*From )", re.MULTILINE)


def parse_mail(written: bytes) -> dict[str, Any]:
    """Parse an e-mail: its headers, and its text without mark-up and attachments."""
    mail = BytesParser(policy=default).parsebytes(written)
    assert isinstance(mail, EmailMessage)
    row: dict[str, Any] = {name: _header(mail, name.replace("_", "-")) for name in HEADERS}
    with suppress(ValueError, TypeError, IndexError):  # or else it stays as it is written
        row["date"] = parsedate_to_datetime(row["date"] or "").isoformat()
    return {**row, "text": _text(mail)}


def _header(mail: EmailMessage, name: str) -> str | None:
    try:
        value = mail.get(name)
    except (HeaderParseError, ValueError, IndexError, AttributeError, TypeError):
        return None  # which the library cannot parse
    return None if value is None else _plain(" ".join(str(value).split()))


def _text(mail: EmailMessage) -> str:
    """Take the text of a message: the plain one, or else that of its page."""
    body = mail.get_body(preferencelist=("plain", "html"))
    if body is None:
        parts = [part for part in mail.walk() if part.get_content_maintype() == "text"]
        body = parts[0] if parts else None
    if body is None:
        return ""
    try:
        content = body.get_content()
    except (LookupError, ValueError, KeyError):  # an unknown encoding
        payload = body.get_payload(decode=True)
        content = payload.decode("utf-8", "replace") if isinstance(payload, bytes) else ""
    text = content if isinstance(content, str) else ""
    if body.get_content_subtype() == "html":
        text = parse_page(text)[1]
    return _plain(text.replace("\r\n", "\n").strip())


def _plain(text: str) -> str:
    """Replace what is no character: bytes that are not in the encoding that was named."""
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text


def split_mailbox(lines: Iterable[bytes | None]) -> Iterator[bytes | None]:
    """Split the lines of a mailbox into messages, None for one with a line that is too long."""
    message: list[bytes] | None = None
    is_whole, is_blank = True, True
    for line in lines:
        if line is not None and is_blank and _BEGIN.match(line):
            if message is not None:
                yield _QUOTED.sub(rb"\1", b"\n".join(message)) if is_whole else None
            message, is_whole = [], True
            continue
        is_blank = line is not None and not line.strip()
        is_whole = is_whole and line is not None
        if message is not None and line is not None:
            message.append(line)
    if message is not None:
        yield _QUOTED.sub(rb"\1", b"\n".join(message)) if is_whole else None


def open_mail(part: SourcePart) -> SourceTable:
    """Open an e-mail: its headers, and its text."""

    def mails() -> Iterator[Numbered]:
        try:
            written = read_whole(part, part.reading.room())
        except Unusable as problem:
            yield 1, str(problem)
        else:
            yield 1, {"id": name_document(part), **parse_mail(written)}

    return open_rows(part, "eml", mails())


def open_mbox(part: SourcePart) -> SourceTable:
    """Open a mailbox: the headers and the text of each message, which is numbered."""

    def mails() -> Iterator[Numbered]:
        limit = part.reading.room()
        raws = (line for lines in lists_of_lines(part, limit) for line in lines)
        for number, written in enumerate(split_mailbox(raws), 1):
            if written is None or len(written) > 4 * limit:  # attachments are no text
                yield number, too_large(limit)
            else:
                yield number, {"id": name_document(part, number), **parse_mail(written)}

    return open_rows(part, "mbox", mails())
