"""A part of a source, which is read by itself, and the table that its reader makes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias, runtime_checkable

from neardup_solr.errors import RecordError, SourceError
from neardup_solr.progress import ignore
from neardup_solr.records import Document, Number, Run
from neardup_solr.sources.reading import Reading

NEEDS_FORMATS: Final = 'install it with: pip install "neardup-solr[formats]"'
# Readers yield errors as values, so that a bad record does not end the stream.
Record: TypeAlias = Document | RecordError
# What a reader yields: a record, or a run of documents.
Piece: TypeAlias = Record | Run
# Stands for an id until a record has its number: recognized by its identity, not by its letters.
NUMBERED: Final = "".join((":", "row"))
ID, TEXT = "id", "text"  # what the columns are called in a format without names


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePart:
    """A part of a source: what the user named, where it is, and who hears about it.

    It begins and ends with its file, with standard input or with what is in memory, and is read
    without any other part.
    """

    label: str  # as the user wrote it, for errors on the whole
    name: str  # short, for the positions of records
    path: Path | None  # None: standard input
    reading: Reading
    format: str | None = None  # None: standard input has to tell it
    on_progress: Callable[[int], None] | None = None
    on_notice: Callable[[str], None] = ignore
    begun: Iterator[bytes] | None = None  # its blocks, if the first ones were read already
    within: str = ""  # its path in the folder, or its name among several files

    def error(self, reason: str, next_step: str, *, code: str) -> SourceError:
        """Make the error for the part as a whole."""
        return SourceError(self.label, reason, next_step, code=code)

    def is_file(self) -> bool:
        """Tell whether it can be read again, as standard input, pipes and devices cannot."""
        return self.path is not None and self.path.is_file()

    def require(self, format: str, library: str) -> Any:
        """Import the library that a format needs, or raise SourceError."""
        try:
            return import_module(library)
        except ImportError as error:
            reason = f"{format} needs the library {library}"
            raise self.error(reason, NEEDS_FORMATS, code="package-missing") from error


class Contents(Protocol):
    """The records of a part, as the reader of its format takes them from it: once, in one way."""

    def documents(self) -> Iterator[Piece]:
        """Read the records as documents, with an error in place of each bad one."""

    def records(self) -> Iterator[tuple[int, Any]]:
        """Read the records as they are written, each with its number, or raise RecordError."""

    def parse(self, record: Any) -> Sequence[Any] | dict[str, Any]:
        """Take the values of a record by name, or by column, or raise ValueError."""


@runtime_checkable
class ListedContents(Contents, Protocol):
    """Contents of which many records are at hand at once."""

    def record_lists(self) -> Iterator[Sequence[Any]]:
        """Read as `records` does, without numbers, many records at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceTable:
    """A part that is open: its columns, its documents, and its records as they are written.

    Either `documents` or `records` can be read, once. There are as many records as documents and
    errors, in the same order. `names` are those of the columns, None if each record has others. If
    `is_text`, a record is its bytes without the line break. `above` are the lines above the header,
    which is `head`; `delimiter` stands between the columns; the file has that `encoding` and ends
    lines by `newline`. `schema` is that of a table of Arrow, of which a record is a batch and the
    place of a row in it, or the header of a sheet. `reading` has the ids that were chosen.
    """

    format: str
    reading: Reading
    contents: Contents
    is_text: bool = False
    above: bytes = b""
    head: bytes = b""
    delimiter: str = ","
    encoding: str = "utf-8"
    newline: str = "\n"
    names: Sequence[Any] | None = None
    schema: Any = None

    def documents(self) -> Iterator[Piece]:
        """Read the documents, and an error in place of each bad record."""
        return self.contents.documents()

    def records(self) -> Iterator[tuple[int, Any]]:
        """Read the records with their numbers, up to where the source is damaged, which is None."""
        number = 0
        try:
            for number, record in self.contents.records():
                yield number, record
        except RecordError:
            yield number + 1, None

    def record_lists(self) -> Iterator[Sequence[Any]]:
        """Read as `records` does, without numbers, some records at a time, None alone."""
        if not isinstance(self.contents, ListedContents):
            yield from ([record] for _, record in self.records())
            return
        try:
            yield from self.contents.record_lists()
        except RecordError:
            yield [None]

    def row(self, record: Any) -> dict[Any, Any]:
        """Take a record apart into its values by column, or raise ValueError."""
        values = self.contents.parse(record)
        if isinstance(values, dict):
            return values
        row = dict(zip(self.names or (), values, strict=True))
        if list(self.names or ()).count("") > 1:  # which mostly are empty cells behind the header
            cells = enumerate(zip(self.names or (), values, strict=True), 1)
            row = {name or f"column {at}": value for at, (name, value) in cells if name or value}
        return row

    def values(self, record: Any) -> list[Any]:
        """Take the values of a record in order, none of one that is None."""
        values = [] if record is None else self.contents.parse(record)
        return list(values.values() if isinstance(values, dict) else values)

    def is_apart(self, record: Any) -> bool:
        """Tell whether a record, which may be None, can be taken apart."""
        try:
            return record is not None and bool(self.row(record))
        except (ValueError, RecursionError):
            return False

    def text_of(self, record: Any) -> str | None:
        """Decode a record that cannot be taken apart. Bytes that are no text are escaped."""
        if isinstance(record, tuple):  # of a part
            part: SourceTable = record[0]
            return part.text_of(record[1])
        raw: bytes = record or b""
        return raw.removesuffix(b"\r").decode("utf-8", "backslashreplace") or None


def number_records(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Pass pieces on. Records that came without an id get their number instead."""
    before = 0
    for piece in pieces:
        if isinstance(piece, Run):
            last = before + len(piece)
            if not len(piece.ids):
                ids = list(map(str, range(before + 1, last + 1)))
                piece = replace(piece, ids=ids, are_numbers=True)
            before = last
        else:
            before += 1
            if piece.id is NUMBERED:
                piece = _with_id(piece, Number(before))
        yield piece


def _with_id(piece: Record, id: str) -> Record:
    if isinstance(piece, Document):
        return replace(piece, id=id)
    position, reason = piece.position, piece.reason
    return RecordError(
        position, reason, id, record=piece.record, stage=piece.stage, code=piece.code
    )


def one_by_one(pieces: Iterable[Piece]) -> Iterator[Record]:
    """Yield the records of runs, and those between them."""
    for piece in pieces:
        if isinstance(piece, Run):
            yield from piece.documents()
        else:
            yield piece
