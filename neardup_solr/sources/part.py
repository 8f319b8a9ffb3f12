"""A part of a source, which is read by itself, and the table that its reader makes of it."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, Final, TypeAlias

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

    def is_folder(self) -> bool:
        """Tell whether it is a folder, or raise SourceError if nothing can be read there."""
        if self.path is None:
            return False
        try:
            return stat.S_ISDIR(self.path.stat().st_mode)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", error)
            if isinstance(error, FileNotFoundError):
                problem, code = "there is no such file or folder", "file-missing"
            else:
                problem, code = f"cannot be read ({reason})", "file-unreadable"
            step = "check the path"
            if any(blank in self.label for blank in " \n"):
                in_memory = "pass a text as [(id, text)], and a list of texts as enumerate(texts)"
                step = f"{step}; in Python, {in_memory}"
            raise self.error(problem, step, code=code) from error

    def require(self, format: str, library: str) -> Any:
        """Import the library that a format needs, or raise SourceError."""
        try:
            return import_module(library)
        except ImportError as error:
            reason = f"{format} needs the library {library}"
            raise self.error(reason, NEEDS_FORMATS, code="package-missing") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceTable:
    """A part that is open: its columns, its documents, and its records as they are written.

    Either `documents` or `records` can be read, once. There are as many records as documents and
    errors, in the same order; each comes with its number, and is None where the source is damaged.
    `parse` gives its values, by name or in the order of `names` (None if each record has others),
    and raises ValueError if it cannot be taken apart. If `is_text`, a record is its bytes without
    the line break. `above` are the lines above the header, which is `head`; `delimiter` stands
    between the columns; the file has that `encoding` and ends lines by `newline`.
    `schema` is that of a table of Arrow, of which a record is a batch and the
    place of a row in it. `reading` has the ids that were chosen.
    """

    format: str
    reading: Reading
    documents: Callable[[], Iterator[Piece]]
    records: Iterator[tuple[int, Any]]
    parse: Callable[[Any], Sequence[Any] | dict[str, Any]]
    is_text: bool = False
    above: bytes = b""
    head: bytes = b""
    delimiter: str = ","
    encoding: str = "utf-8"
    newline: str = "\n"
    names: Sequence[Any] | None = None
    schema: Any = None

    def row(self, record: Any) -> dict[Any, Any]:
        """Take a record apart into its values by column, or raise ValueError."""
        values = self.parse(record)
        if isinstance(values, dict):
            return values
        row = dict(zip(self.names or (), values, strict=True))
        if list(self.names or ()).count("") > 1:  # which mostly are empty cells behind the header
            cells = enumerate(zip(self.names or (), values, strict=True), 1)
            row = {name or f"column {at}": value for at, (name, value) in cells if name or value}
        return row

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
