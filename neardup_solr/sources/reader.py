"""The one way into a source: its documents, or its records as they are written.

A source is a list of parts (`list_parts`); each is opened as a table by the reader of its format
(`open_part`). `documents`, `records`, `pieces` and `open` are views of all parts together.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence, Sized
from dataclasses import replace
from importlib import import_module
from itertools import chain
from typing import Any, Final

from neardup_solr.errors import RecordError
from neardup_solr.files import paths_of
from neardup_solr.progress import ignore
from neardup_solr.records import Document, check_documents
from neardup_solr.sources.blocks import with_writing
from neardup_solr.sources.column import find_columns
from neardup_solr.sources.formats import PARTS, WITHOUT_COLUMNS, check_format, recognize
from neardup_solr.sources.part import (
    Piece,
    Record,
    SourcePart,
    SourceTable,
    number_records,
    one_by_one,
)
from neardup_solr.sources.parts import Notify, list_parts, log_notice, name_memory, notify_once
from neardup_solr.sources.reading import USUAL, Reading
from neardup_solr.sources.record_errors import notice_if_none, require_most, require_some
from neardup_solr.sources.source import SourceLike, shown_name

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


def documents(
    source: SourceLike,
    *,
    reading: Reading = USUAL,
    on_error: Callable[[RecordError], None] | None = None,
    on_progress: Callable[[int], None] | None = None,
    on_notice: Notify = log_notice,
) -> Iterator[Document]:
    """Read the documents of anything that is a source. "-" is standard input.

    `on_error` is called with each bad record, and reading goes on; without it the first is
    raised. `on_progress` is called now and then with the number of bytes that were read (compressed
    ones if the source is compressed; see `size_hint` for the total), but not for pipes.
    `on_notice` is called with a line about the source as a whole, such as that it holds no
    records; without it, the line is logged.

    What an iterator yields is passed on at once; of anything else the first records are read before
    any is passed on. Raises ArgumentError if it is not a source or cannot be read so,
    SourceError if it lacks the columns or cannot be read as a whole: before the first document,
    unless a file becomes unreadable later; at the end of an iterator if none of its records can be
    used.
    """
    all_records = records(source, reading=reading, on_progress=on_progress, on_notice=on_notice)
    return _deliver(all_records, on_error)


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


def records(
    source: SourceLike,
    *,
    reading: Reading = USUAL,
    on_progress: Callable[[int], None] | None = None,
    on_notice: Notify = log_notice,
) -> Iterator[Record]:
    """Read the documents of anything that is a source, with an error in place of each bad record.

    Raises as `documents` does.
    """
    return one_by_one(pieces(source, reading=reading, on_progress=on_progress, on_notice=on_notice))


def pieces(
    source: SourceLike,
    *,
    reading: Reading = USUAL,
    on_progress: Callable[[int], None] | None = None,
    on_notice: Notify = log_notice,
) -> Iterator[Piece]:
    """Read as `records` does. Documents come in runs if they can, which is far quicker.

    Raises as `documents` does.
    """
    if (paths := paths_of(source)) is not None:
        parts = list_parts(paths, reading, on_progress, on_notice)
        return _read_parts(parts, shown_name(paths))
    from neardup_solr.sources.in_memory import read_memory

    part = name_memory(source, reading, notify_once(on_notice))
    numbered = number_records(read_memory(source, part))
    require = require_most if isinstance(source, Sized) else require_some
    return require(part, numbered, IN_MEMORY)


def find(
    source: SourceLike, ids: Collection[str], *, reading: Reading,
    on_document: Callable[[int, Document], None] | None = None,
) -> tuple[dict[str, Document], dict[str | None, RecordError]]:  # fmt: skip
    """Find the records of a source that have these ids, and why others make no document.

    ID@rowN stands for the Nth record, as `duplicates` tells records that share an id apart. Each
    document goes to `on_document` with its number. Raises as `documents` does.
    """
    documents: dict[str, Document] = {}
    refused: dict[str | None, RecordError] = {}
    for number, record in enumerate(check_documents(records(source, reading=reading)), 1):
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


def open(source: SourceLike, *, reading: Reading, on_notice: Notify = ignore) -> SourceTable:
    """Open files or folders to read their records as they are written, each with all its columns.

    If parts have other columns than each other, a record has those of its part: it is a table and a
    record of that. Raises SourceError if the source cannot be read as a whole, or is a folder of a
    table and other files.
    """
    paths = paths_of(source) or []
    parts = list_parts(paths, reading, on_notice=on_notice, refuses_mixed=True)
    first = with_writing(parts[0], open_part(parts[0]))
    if len(parts) == 1:
        return replace(first, records=until_damage(first))
    parts = _with_reading(parts, first.reading)
    # Each is opened only while it is read: they may be more than a process may have open.
    layouts = [_layout(open_part(part)) for part in parts]
    again = map(open_part, parts)
    if all(layout == layouts[0] for layout in layouts):
        return replace(first, records=chain.from_iterable(map(until_damage, again)))
    twice = (names for _, _, names, _ in layouts if names and len(set(names)) < len(names))
    return replace(
        first,
        format=PARTS,
        records=(
            (number, None if record is None else (table, record))
            for table in again
            for number, record in until_damage(table)
        ),
        parse=lambda record: record[0].row(record[1]),
        is_text=False,
        names=next(twice, None),
    )


def _layout(table: SourceTable) -> tuple[str, str, Sequence[Any] | None, Any]:
    return table.format, table.delimiter, table.names and list(table.names), table.schema


def until_damage(table: SourceTable) -> Iterator[tuple[int, Any]]:
    """Yield the records up to where their source is damaged, which is None."""
    number = 0
    try:
        for number, record in table.records:
            yield number, record
    except RecordError:
        yield number + 1, None


def check_columns(parts: Sequence[SourcePart]) -> list[SourcePart]:
    """Refuse a part that lacks a column that is needed, before anything is read.

    The first part tells if all records are numbered. A notice says if the columns of the parts
    differ. Raises SourceError.
    """
    first: tuple[str, list[Any]] | None = None
    has_notice = False
    for at in range(len(parts)):
        part = parts[at]  # read as the first one, once that is open
        if part.path is None or not part.path.is_file():  # what a pipe gives cannot be read twice
            continue
        table = open_part(replace(part, on_progress=None))
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
