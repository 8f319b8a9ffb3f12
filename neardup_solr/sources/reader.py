"""The one way into a source: `open_source` gives its documents, its records, its columns, its rows.

A source is a list of parts (`list_files`); each is opened as a table by the reader of its format
(`open_part`), without any other part. A `SourceReader` joins what the parts give.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence, Sized
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from itertools import chain, islice
from typing import Any, Final

from neardup_solr.errors import RecordError, SourceError
from neardup_solr.files import Named, paths_of
from neardup_solr.progress import ignore
from neardup_solr.records import Document, check_documents
from neardup_solr.sources.blocks import is_of_excel, with_writing
from neardup_solr.sources.column import find_columns
from neardup_solr.sources.document import notice_if_none, require_most, require_some
from neardup_solr.sources.formats import PARTS, SHEETS, WITHOUT_COLUMNS, check_format, recognize
from neardup_solr.sources.html_signs import notice_html
from neardup_solr.sources.notes import log_note
from neardup_solr.sources.part import (
    Contents,
    Piece,
    Record,
    SourcePart,
    SourceTable,
    number_records,
    one_by_one,
)
from neardup_solr.sources.parts import (
    Notify,
    find_formats,
    list_files,
    name_memory,
    name_source,
    notify_once,
    refuse_mixed,
)
from neardup_solr.sources.reading import USUAL, Reading
from neardup_solr.sources.source import SourceLike, shown_name
from neardup_solr.sources.values import Unusable

NAMED: Final = 100  # objects that are looked at for their names
LOOKED_AT: Final = 20_000  # records of a file, of which some show how its columns are
# What may be wrong if most records are bad.
CHECK_ALL: Final = "check `source_format`, `encoding`, `id` and `text`"
CHECK: Final = {
    "lines": "check `source_format` and `encoding`",
    "folder": "check `encoding`",
    "parquet": "check `id` and `text`",
    "xlsx": "check `id` and `text`",
    "xls": "check `id` and `text`",
}
IN_MEMORY: Final = "give each record an id and a text, and name its columns with `id` and `text`"
WITHOUT_MARKUP: Final = {"html", "eml", "mbox"}  # formats whose mark-up is left out
AS_WRITTEN: Final = {"lines", "folder"}  # formats that are named to compare mark-up
READERS: Final = {
    "lines": ("lines", "open_lines"),
    "csv": ("csv", "open_csv"),
    "tsv": ("csv", "open_csv"),
    "jsonl": ("json", "open_json"),
    "json": ("json", "open_json"),
    "parquet": ("arrow", "open_parquet"),
    "xlsx": ("excel", "open_xlsx"),
    "xls": ("excel", "open_xls"),
    "html": ("html", "open_page"),
    "eml": ("mail", "open_mail"),
    "mbox": ("mail", "open_mbox"),
    "ris": ("references", "open_references"),
    "bibtex": ("references", "open_references"),
    "folder": ("text_files", "open_folder"),
}


def open_source(
    source: SourceLike,
    reading: Reading = USUAL,
    *,
    on_progress: Callable[[int], None] | None = None,
    on_notice: Notify = log_note,
) -> SourceReader:
    """Open anything that is a source, "-" for standard input. Nothing is read before it is needed.

    `on_progress` is called now and then with the number of bytes that were read (compressed ones if
    the source is compressed; see `size_hint` for the total), but not for pipes. `on_notice` is
    called with a line about the source as a whole, such as that it holds no records; without it,
    the line is logged.
    """
    return SourceReader(source, paths_of(source), reading, on_progress, on_notice)


@dataclass(frozen=True)
class SourceReader:
    """A source that can be read: `paths` names its files and folders, None what is in memory.

    What it gives raises ArgumentError if it is not a source or cannot be read so, SourceError if it
    lacks the columns or cannot be read as a whole: before the first document, unless a file becomes
    unreadable later; at the end of an iterator if none of its records can be used.
    """

    source: SourceLike
    paths: list[Named] | None
    reading: Reading
    on_progress: Callable[[int], None] | None = None
    on_notice: Notify = ignore

    @property
    def label(self) -> str:
        """Its name in messages: that of its files, or of its class."""
        return type(self.source).__name__ if self.paths is None else shown_name(self.paths)

    @cached_property
    def parts(self) -> list[SourcePart]:
        """The files of the source, each with its format."""
        return find_formats(self._files)

    @cached_property
    def _files(self) -> list[SourcePart]:
        return list_files(self.paths or [], self.reading, self.on_progress, self.on_notice)

    @property
    def format(self) -> str:
        """The format of the files, or "parts" if they have several."""
        formats = {part.format for part in self.parts}
        return formats.pop() or "lines" if len(formats) == 1 else PARTS

    @property
    def is_for_excel(self) -> bool:
        """True for a sheet of Excel, or if a file has the mark by which that knows UTF-8."""
        try:
            return any(part.format in SHEETS or is_of_excel(part) for part in self.parts)
        except (SourceError, OSError):  # which reading reports
            return False

    def documents(
        self, on_error: Callable[[RecordError], None] | None = None
    ) -> Iterator[Document]:
        """Read the documents.

        `on_error` is called with each bad record, and reading goes on; without it the first is
        raised. What an iterator yields is passed on at once; of anything else the first records are
        read before any is passed on.
        """
        return _deliver(self.records(), on_error)

    def records(self) -> Iterator[Record]:
        """Read the documents, with an error in place of each bad record."""
        return one_by_one(self.pieces())

    def pieces(self) -> Iterator[Piece]:
        """Read as `records` does. Documents come in runs if they can, which is far quicker."""
        if self.paths is not None:
            pieces = _read_parts(self.parts, shown_name(self.paths))
            if any(part.format in WITHOUT_MARKUP for part in self.parts):
                return pieces
        else:
            from neardup_solr.sources.in_memory import read_memory

            part = name_memory(self.source, self.reading, notify_once(self.on_notice))
            numbered = number_records(read_memory(self.source, part))
            require = require_most if isinstance(self.source, Sized) else require_some
            pieces = require(part, numbered, IN_MEMORY)
        reading = self.reading
        if reading.strip_html or reading.source_format in AS_WRITTEN or self.on_notice is ignore:
            return pieces
        return notice_html(self.label, self.on_notice, pieces)

    def find(
        self, ids: Collection[str], on_document: Callable[[int, Document], None] | None = None
    ) -> tuple[dict[str, Document], dict[str | None, RecordError]]:
        """Find the records that have these ids, and why others make no document.

        ID@rowN stands for the Nth record, as `duplicates` tells records that share an id apart.
        Each document goes to `on_document` with its number.
        """
        documents: dict[str, Document] = {}
        refused: dict[str | None, RecordError] = {}
        for number, record in enumerate(check_documents(self.records()), 1):
            if isinstance(record, RecordError):
                refused[record.id] = record
                continue
            if on_document is not None:
                on_document(number, record)
            for id in (record.id, f"{record.id}@row{number}"):
                if id in ids:
                    documents[id] = replace(record, id=id)
                    break
        return documents, refused

    def table(self) -> SourceTable:
        """Open files or folders to read their records as they are written, with all columns.

        If parts have other columns than each other, a record has those of its part: it is a table
        and a record of that. Raises SourceError, too, for a folder of a table and other files.
        """
        refuse_mixed(self.parts)
        first = with_writing(self.parts[0], open_part(self.parts[0]))
        if len(self.parts) == 1:
            return first
        parts = _with_reading(self.parts, first.reading)
        # Each is opened only while it is read: they may be more than a process may have open.
        layouts = [_layout(open_part(part)) for part in parts]
        if all(layout == layouts[0] for layout in layouts):
            return replace(first, contents=JoinedParts(parts, first.contents))
        twice = (names for _, _, names, _ in layouts if names and len(set(names)) < len(names))
        contents, names = JoinedParts(parts, None), next(twice, None)
        return replace(first, format=PARTS, contents=contents, is_text=False, names=names)

    def column_names(self) -> list[Any]:
        """Read the names of the columns, none if there are no columns, or it is read once."""
        if self.paths is None:
            from neardup_solr.sources.in_memory import names_of

            return names_of(self.source)
        if not all(part.is_file() for part in self._files):  # but a pipe
            return []
        first = find_formats(self._files[:1])[0]
        if first.format in WITHOUT_COLUMNS:
            return []
        table = open_part(first)
        if table.names is not None:
            return list(table.names)
        names: dict[Any, None] = {}  # each object has others
        for _, record in islice(table.records(), NAMED):
            with suppress(ValueError, RecursionError):
                names.update(dict.fromkeys(table.row(record) if record else ()))
        return list(names)

    def rows(self, most: int) -> list[dict[Any, Any]]:
        """Read up to twice `most` rows with all columns, evenly from the whole, or the beginning.

        Raises as `table` does.
        """
        if self.paths is None:
            from neardup_solr.sources.in_memory import rows_of

            return rows_of(self.source, most)
        records, step, rows = list[Any](), 1, list[dict[Any, Any]]()
        table = self.table()
        for at, (_, record) in enumerate(islice(table.records(), LOOKED_AT)):
            if at % step == 0 and record is not None:
                records.append(record)
            if len(records) > 2 * most:
                records, step = records[::2], 2 * step
        for record in records:
            with suppress(ValueError, RecursionError):
                rows.append(table.row(record))
        return rows

    def text(self) -> str:
        """Read a single file as a text.

        Raises SourceError if it cannot be read, is not UTF-8 or is too large.
        """
        from neardup_solr.sources.text_files import Several, read_contents

        assert self.paths is not None
        part = name_source(self.paths[0], self.reading)
        try:
            return read_contents(part)
        except Unusable as problem:
            step = "give a shorter text, or one in UTF-8"
            raise part.error(str(problem), step, code=problem.code) from problem
        except RecordError as error:
            raise part.error(error.reason, "give a complete file", code=error.code) from error
        except Several:
            step = "give a file with one text"
            raise part.error("holds several texts", step, code="value-invalid") from None


@dataclass(frozen=True, slots=True)
class JoinedParts:
    """The records of several parts. If all are alike, the `first` tells how they are taken apart.

    Else each record comes with the table of its part.
    """

    parts: Sequence[SourcePart]
    first: Contents | None

    def documents(self) -> Iterator[Piece]:
        """Read the documents of all parts."""
        return chain.from_iterable(open_part(part).documents() for part in self.parts)

    def records(self) -> Iterator[tuple[int, Any]]:
        """Read the records of all parts."""
        for table in map(open_part, self.parts):
            for number, record in table.records():
                is_alone = self.first is not None or record is None
                yield number, record if is_alone else (table, record)

    def record_lists(self) -> Iterator[Sequence[Any]]:
        """Read the records of all parts, some at a time."""
        for table in map(open_part, self.parts):
            for records in table.record_lists():
                is_alone = self.first is not None or records[:1] == [None]
                yield records if is_alone else [(table, record) for record in records]

    def parse(self, record: Any) -> Sequence[Any] | dict[str, Any]:
        """Take the values of a record."""
        if self.first is not None:
            return self.first.parse(record)
        table, written = record
        values: dict[Any, Any] = table.row(written)
        return values


def _layout(table: SourceTable) -> tuple[str, str, Sequence[Any] | None, Any]:
    return table.format, table.delimiter, table.names and list(table.names), table.schema


def open_part(part: SourcePart) -> SourceTable:
    """Open a part by the reader of its format, whose module is loaded when it is needed.

    Without a format it is recognized by its first lines.
    """
    if part.format is None:
        part = recognize(part)
        check_format(part)
    module, name = READERS[part.format or ""]
    reader: Callable[[SourcePart], SourceTable]
    reader = getattr(import_module(f"neardup_solr.sources.{module}"), name)
    return reader(part)


def _deliver(
    records: Iterator[Record], on_error: Callable[[RecordError], None] | None
) -> Iterator[Document]:
    for record in records:
        if isinstance(record, Document):
            yield record
        elif on_error is None:
            raise record
        else:
            on_error(record)


def _read_parts(parts: Sequence[SourcePart], name: str) -> Iterator[Piece]:
    """Read the files of a source, which is called `name` if it has several."""
    source = parts[0] if len(parts) == 1 else replace(parts[0], label=name, name=name)
    for part in parts:
        check_format(part)
    if len(parts) > 1:
        parts = check_columns(parts)
    numbered = number_records(chain.from_iterable(map(_read_part, parts)))
    is_prompt = source.reading.at_once and source.path is None
    require = require_some if is_prompt else require_most
    checked = require(source, numbered, CHECK.get(source.format or "", CHECK_ALL))
    return notice_if_none(source, checked)


def _read_part(part: SourcePart) -> Iterator[Piece]:
    """Read the documents of a part, and at last the error if it ends too early.

    A part is read by itself, from its first byte, with an encoding and a header of its own, to its
    last; its positions count from there. It needs nothing of another part but the `Reading` that
    `check_columns` takes from the first, so several may be read at once. Records without an id are
    numbered over all parts afterwards, by `number_records`.
    """
    try:
        yield from open_part(part).documents()
        return
    except RecordError as error:
        last = error.with_traceback(None)  # which would hold the source open
    yield last


def check_columns(parts: Sequence[SourcePart]) -> list[SourcePart]:
    """Refuse a part that lacks a column that is needed, before anything is read.

    The first part tells if all records are numbered. A notice says if the columns of the parts
    differ. Raises SourceError.
    """
    first: tuple[str, list[Any]] | None = None
    has_notice = False
    for at in range(len(parts)):
        part = parts[at]  # read as the first one, once that is open
        if not part.is_file():  # what a pipe gives cannot be read twice
            continue
        try:
            table = open_part(replace(part, on_progress=None))
        except RecordError:  # damaged from the beginning, which reading tells
            continue
        if at == 0:
            parts = _with_reading(parts, table.reading)
        if table.names is None or part.format in WITHOUT_COLUMNS:
            continue
        names = list(table.names)
        find_columns(part, names, parts[0].reading)
        if first is None:
            first = part.name, names
        elif names != first[1] and not has_notice:
            has_notice = True
            is_order = set(names) == set(first[1])
            how = "its columns in a different order" if is_order else "different columns"
            what = "" if is_order else ", and a missing column has no values"
            part.on_notice(f"{part.name} has {how} than {first[0]}: they are matched by name{what}")
    return list(parts)


def _with_reading(parts: Sequence[SourcePart], reading: Reading) -> list[SourcePart]:
    """Make all parts be read as the first, whose ids were chosen."""
    if reading.guess == "number":
        reading = replace(reading, guess="none")
    return [replace(part, reading=reading) for part in parts]
