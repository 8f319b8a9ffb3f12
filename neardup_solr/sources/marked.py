"""Files of documents with mark-up or headers: HTML pages, e-mails, mailboxes and references.

What is written around a text becomes columns, or is left out: it is never compared as text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

from neardup_solr.errors import RecordError
from neardup_solr.sources import lines, magic
from neardup_solr.sources import record as rows
from neardup_solr.sources.json import Object, from_objects
from neardup_solr.sources.mail import parse_mail, split_mailbox
from neardup_solr.sources.markup import find_charset, parse_page
from neardup_solr.sources.record import Opened, Reading, Record, SourceTable, Unusable
from neardup_solr.sources.references import parse_bibtex, parse_ris

MOST_BYTES: Final = 2**28  # of references, which are held as a whole
# What is compared of files of several records, if others beside them are texts.
_ENTRY: Final = ("title", "author", "year", "journal", "abstract")
_SEVERAL: Final = {"mbox": ("text",), "ris": _ENTRY, "bibtex": _ENTRY}
Numbered = tuple[int, Any]  # a row, or what is wrong with it, and where it begins


def open_page(source: Opened) -> SourceTable:
    """Open a page of HTML: its title, and its text without mark-up."""

    def pages() -> Iterator[Numbered]:
        try:
            written = read_whole(source, source.reading.max_doc_bytes)
            title, text = parse_page(decode_page(written, source.reading))
        except Unusable as problem:
            yield 1, str(problem)
        else:
            yield 1, {"id": _id(source), "title": title, "text": text}

    return _open(source, "html", pages)


def open_mail(source: Opened) -> SourceTable:
    """Open an e-mail: its headers, and its text."""

    def mails() -> Iterator[Numbered]:
        try:
            written = read_whole(source, source.reading.max_doc_bytes)
        except Unusable as problem:
            yield 1, str(problem)
        else:
            yield 1, {"id": _id(source), **parse_mail(written)}

    return _open(source, "eml", mails)


def open_mbox(source: Opened) -> SourceTable:
    """Open a mailbox: the headers and the text of each message, which is numbered."""

    def mails() -> Iterator[Numbered]:
        limit = source.reading.max_doc_bytes
        raws = (line for part in lines.lists_of_lines(source, limit) for line in part)
        for number, written in enumerate(split_mailbox(raws), 1):
            if written is None or len(written) > 4 * limit:  # attachments are no text
                yield number, rows.too_large(limit)
            else:
                yield number, {"id": _id(source, number), **parse_mail(written)}

    return _open(source, "mbox", mails)


def open_references(source: Opened) -> SourceTable:
    """Open references in RIS or BibTeX: the fields of each. Without a key, they are numbered."""
    format = source.format or ""

    def entries() -> Iterator[Numbered]:
        try:
            written = rows.decode(read_whole(source, MOST_BYTES), source.reading)
        except Unusable as problem:
            reason = f"cannot be read: {problem}"
            raise source.error(reason, "split it, or set its `encoding`") from problem
        if format == "ris":
            parsed: Iterator[Numbered] = parse_ris(written.split("\n"))
        else:
            library = source.require("BibTeX", "bibtexparser")
            parsed = parse_bibtex(library, written)
        for count, (number, row) in enumerate(parsed, 1):
            if isinstance(row, dict) and not row.get("id"):
                row["id"] = _id(source, count)
            yield number, row

    return _open(source, format, entries)


class Several(Exception):
    """A file that was to be one text has several: these."""

    def __init__(self, records: Iterator[Record]) -> None:
        super().__init__()
        self.records = records


def _id(source: Opened, number: int = 0) -> str:
    """Name a document by its file, or by its number in it."""
    if not number:
        return source.within or source.name
    return f"{source.within}#{number}" if source.within else str(number)


def _open(source: Opened, format: str, read: Callable[[], Iterator[Numbered]]) -> SourceTable:
    """Open rows, each a dict with columns of its own, or a text that says what is wrong."""
    reading = source.reading
    where = f"{source.name}, {'record' if format in ('html', 'eml', 'mbox') else 'line'} "

    def objects() -> Iterator[Object]:
        for number, row in read():
            position = f"{where}{number}"
            yield position, row if isinstance(row, dict) else RecordError(position, row), b""

    return SourceTable(
        format=format, reading=reading,
        documents=lambda: from_objects(source, objects(), reading),
        records=((number, row if isinstance(row, dict) else None) for number, row in read()),
        parse=dict,
    )  # fmt: skip


def read_whole(source: Opened, most: int) -> bytes:
    """Read all bytes of a file, or raise Unusable if they are more than `most`."""
    parts, count = [], 0
    for block in lines.blocks(source):
        count += len(block)
        if count > most:
            raise Unusable(rows.too_large(most))
        parts.append(block)
    return b"".join(parts)


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
        return rows.decode(written, reading)


def read_text(source: Opened, most: int) -> str:
    """Read the text of a file: of a page or an e-mail, only what it says.

    Raises Unusable, and Several for a mailbox or references.
    """
    written = read_whole(source, most)
    kind = magic.find_kind(written)
    if kind is not None and kind.format == "html":
        return parse_page(decode_page(written, source.reading))[1]
    if kind is not None and kind.format == "eml":
        return str(parse_mail(written)["text"])
    if kind is not None and kind.format in _SEVERAL:
        reading = replace(source.reading, text=_SEVERAL[kind.format], guess="none", keep=())
        opened = replace(source, format=kind.format, reading=reading, begun=iter([written]))
        table = open_mbox(opened) if kind.format == "mbox" else open_references(opened)
        raise Several(rows.one_by_one(table.documents()))
    return rows.decode(written, source.reading)
