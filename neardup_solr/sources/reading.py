"""The options by which a source is read, and the source without its `Source`."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from neardup_solr import arguments, checks, units
from neardup_solr.argument_types import OneOrMore, OnRepeat
from neardup_solr.arguments import Source, list_text_columns
from neardup_solr.errors import ArgumentError
from neardup_solr.files import paths_of
from neardup_solr.records import Document
from neardup_solr.sources.source import is_collection

ROW: Final = ":row"  # the column of ids that numbers records
Guess: TypeAlias = Literal["none", "refuse", "number"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Options of reading a source.

    `id`, `text` and `keep` name columns; the id ":row" stands for the number of the record, from 1
    on. `guess` says what is done if nobody named the id and no column looks like it: "refuse" the
    source, or "number" its records; the text of a document is that of its `text` columns
    joined by line breaks, without those that a record lacks. `source_format` is in `FORMATS`,
    or None to go by the suffix; `delimiter` is the character between the columns of CSV and TSV;
    `encoding` is that of text as Python names it, None for UTF-8 or what a byte order mark says;
    `skip_rows` are above the header of a table; `sheet` names that of Excel, None for the first;
    `lossy` replaces what is no character by U+FFFD instead of refusing the record; `strip_html`
    leaves the mark-up of texts out; a record with
    more text than `max_doc_bytes` of UTF-8 is refused, and never held as a whole if a format allows
    that.
    With `at_once` records of standard input are passed on as they come; else the first 1,000 are
    read before, of which most have to be usable. `on_repeat` says which record counts if an id
    comes again.

    `reading_of` makes it of what users write. Raises ArgumentError if `text` names no column, or
    `skip_rows` or `max_doc_bytes` cannot be.
    """

    id: str = "id"
    text: tuple[str, ...] = ("text",)
    keep: tuple[str, ...] = ()
    guess: Guess = "none"
    source_format: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    skip_rows: int = 0
    sheet: str | None = None
    lossy: bool = False
    strip_html: bool = False
    # What is made of a text takes some fifteen times its size while it is indexed.
    max_doc_bytes: int = units.in_bytes(arguments.MAX_DOC_BYTES)
    at_once: bool = False
    on_repeat: OnRepeat | None = None

    def __post_init__(self) -> None:
        if not self.text or len(set(self.text)) < len(self.text):
            reason = "`text` must name columns, each only once"
            raise ArgumentError(reason, 'give text="title"', code="argument-invalid")
        if self.max_doc_bytes < 1:
            reason = f"`max_doc_bytes` cannot be {self.max_doc_bytes}"
            raise ArgumentError(reason, "give 1 or more", code="argument-out-of-range")
        if self.skip_rows < 0:
            reason = f"`skip_rows` cannot be {self.skip_rows}"
            raise ArgumentError(reason, "give 0 or more", code="argument-out-of-range")

    def as_record(self, document: Document) -> Mapping[str, object]:
        """Name the values of a document as its source does, joined texts by the first column."""
        return {self.id: document.id, self.text[0]: document.text, **document.kept}

    @property
    def has_ids(self) -> bool:
        """True if ids are read. If not, records are numbered."""
        return self.id != ROW

    def as_source(self, documents: Iterable[Document]) -> Source:
        """Name documents that were read so as a source, in which they may be as large."""
        return Source(documents, max_doc_bytes=self.max_doc_bytes)

    def room(self, times: int = 1, more: int = 0) -> int:
        """Count the bytes that a record may have: those of a text, or of `times` that and `more`.

        A text is written with escapes and beside other columns. A larger record is refused without
        being held, if its format allows that.
        """
        return times * self.max_doc_bytes + more

    @property
    def on_invalid(self) -> str:
        """The name that Python's decoders have for the way in which `lossy` is handled."""
        return "replace" if self.lossy else "strict"


USUAL: Final = Reading()


def reading_of(
    source: Any, guess: Guess, *, id: str | None = None, text: OneOrMore | None = None,
    keep: OneOrMore | None = None, at_once: bool = False,
) -> tuple[Any, Reading]:  # fmt: skip
    """Return a source without its `Source`, and how it is read. Texts get columns.

    The columns are those of the `Source`, or else `id` and `text`, or else the usual ones. `guess`
    counts if no id is named. Raises ArgumentError as `Reading` does, and if delimiter or encoding
    cannot be.
    """
    written = source if isinstance(source, Source) else Source(())
    id = id if written.id is None else written.id
    text = text if written.text is None else list_text_columns(written)
    reading = Reading(
        id="id" if id is None else id,
        text=("text",) if text is None else checks.listed(text),
        keep=checks.listed(keep or ()),
        guess=guess if id is None else "none",
        source_format=written.source_format,
        delimiter=None if written.delimiter is None else _parse_delimiter(written.delimiter),
        encoding=None if written.encoding is None else _find_encoding(written.encoding),
        skip_rows=written.skip_rows,
        sheet=written.sheet,
        lossy=written.lossy,
        strip_html=written.strip_html,
        max_doc_bytes=units.in_bytes(written.max_doc_bytes, "max_doc_bytes"),
        at_once=at_once,
        on_repeat=written.on_repeat,
    )
    source = written.source if source is written else source
    if paths_of(source) is None and not is_collection(source):
        from neardup_solr.sources.bare_texts import add_ids

        named = reading.id if reading.has_ids else None
        source = add_ids(source, named, reading.text[0], may_be_places=guess != "refuse")
    return source, reading


def _parse_delimiter(name: str) -> str:
    """Find the character between columns, or raise ArgumentError if it is no character."""
    delimiter = "\t" if name.lower() in ("\\t", "tab") else name  # it is hard to type in a shell
    if len(delimiter) != 1 or delimiter in '"\r\n\0\ufeff':
        step = "give one character, such as ; or a tab"
        raise ArgumentError(f"`delimiter` cannot be {name!r}", step, code="argument-invalid")
    return delimiter


def _find_encoding(label: str) -> str | None:
    """Look up an encoding under Python's name, None for UTF-8, or raise ArgumentError."""
    step = "give a text encoding that Python supports, such as cp1252, latin-1 or shift_jis"
    try:
        name = codecs.lookup(label).name
        " ".encode(name)  # refuses what does not encode text, such as zlib
    except (LookupError, ValueError) as error:
        reason = f"`encoding` cannot be {label!r}"
        raise ArgumentError(reason, step, code="argument-invalid") from error
    return None if name in ("utf-8", "utf-8-sig") else name
