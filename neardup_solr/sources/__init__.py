"""Sources: documents from files, streams and what is in memory, one at a time, in bounded memory.

| format | what | suffixes |
|---|---|---|
| lines | `id text`, the id up to the first white space | .txt |
| csv, tsv | a header, then rows; quoted fields may hold newlines | .csv, .tsv |
| jsonl, json | one JSON object a line, or an array of objects | .jsonl, .ndjson, .json |
| parquet | columns | .parquet |
| xlsx | the first sheet: a header, then rows | .xlsx, .xlsm |
| folder | one text a file, the id is its path within the folder | a folder |

Several files, or a folder of nothing but files of one format that has columns, are the parts of
one table. Formats made of text may be compressed (.gz, .zst). Text is UTF-8, or UTF-16 with a byte
order mark, if no other encoding is named. In memory there may be DataFrames, tables of Arrow,
mappings of columns, and iterables of dicts, pairs or Documents. A bad record is a RecordError that
says where it stands; the rest is read.
"""

from __future__ import annotations

import os
import stat
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import suppress
from dataclasses import replace
from functools import partial
from importlib import import_module
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from neardup_solr.arguments import Source
from neardup_solr.errors import ArgumentError, RecordError, SourceError
from neardup_solr.progress import LOG, ignore
from neardup_solr.records import Document, Run, characters
from neardup_solr.sources.folders import (
    PARTS,
    SUFFIXES,
    WITHOUT_COLUMNS,
    Named,
    contents,
    is_folder,
    join_sources,
    size,
    suffix_format,
    walk,
    with_parts,
)
from neardup_solr.sources.folders import (
    paths_of as paths_of,
)
from neardup_solr.sources.folders import (
    shown_name as shown_name,
)
from neardup_solr.sources.lines import has_mark
from neardup_solr.sources.record import (
    Opened,
    Piece,
    Record,
    SourceTable,
    Unusable,
    columns,
    number_records,
    step_for,
)
from neardup_solr.sources.record import Reading as Reading
from neardup_solr.sources.record import one_by_one as one_by_one
from neardup_solr.sources.record import reading_of as reading_of
from neardup_solr.text.packed import size_of

FORMATS: Final = tuple(dict.fromkeys([*SUFFIXES.values(), "folder"]))

# What is read first, to see whether the source is of that format at all.
FIRST_RECORDS: Final = 1_000
FIRST_CHARACTERS: Final = 2**24
LOOKED_AT: Final = 20_000  # of a file, of which some show how its columns are


# What may be wrong if most records are bad.
CHECK_ALL: Final = "check `source_format`, `encoding`, `id` and `text`"
CHECK: Final = {
    "lines": "check `source_format` and `encoding`",
    "folder": "check `encoding`",
    "parquet": "check `id` and `text`",
    "xlsx": "check `id` and `text`",
}
IN_MEMORY: Final = "give each record an id and a text, and name its columns by `id` and `text`"

# A file or folder ("-" is standard input), a list of them, or what `frames` knows: a DataFrame of
# pandas or polars, a table of Arrow, a mapping of columns, an iterable of dicts, of (id, text) or
# of Documents.
if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from neardup_solr.solr.collection import Collection

    class _Table(Protocol):
        def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...

    class _Lazy(Protocol):
        def collect_schema(self) -> object: ...

    SourceLike: TypeAlias = Source | str | os.PathLike[str] | Iterable[Any] | _Table | _Lazy
else:
    SourceLike = Any

Part: TypeAlias = tuple[Opened, str | None]  # of a source, with its format

WITH_DELIMITER: Final = ("csv", "tsv")
BINARY: Final = ("parquet", "xlsx")

_log: Final = partial(LOG.warning, "%s")


def is_collection(given: object) -> TypeIs[Collection]:
    """Tell a Collection from other sources. Without one, what talks with Solr is not loaded."""
    module = sys.modules.get("neardup_solr.solr.collection")
    return module is not None and isinstance(given, module.Collection)


def _once(on_notice: Callable[[str], None]) -> Callable[[str], None]:
    """Make a function that passes each line on once, though columns may be looked for twice."""
    told: set[str] = set()

    def tell(line: str) -> None:
        if line not in told:
            told.add(line)
            on_notice(line)

    return tell


def documents(
    source: SourceLike,
    *,
    reading: Reading = Reading(),  # noqa: B008 - frozen
    on_error: Callable[[RecordError], None] | None = None,
    on_progress: Callable[[int], None] | None = None,
    on_notice: Callable[[str], None] = _log,
) -> Iterator[Document]:
    """Read the documents of anything that is a source. "-" is standard input.

    `on_error` is called with each bad record, and reading goes on; without it the first one is
    raised. `on_progress` is called now and then with the number of bytes that were read (compressed
    ones if the source is compressed; see `size_hint` for the total), but not for pipes.
    `on_notice` is called with a line about the source as a whole, such as that it holds no
    records; without it, the line is logged.

    What an iterator gives is passed on at once; of anything else the first records are read before
    any is given. Raises ArgumentError if it is not a source or cannot be read as asked, SourceError
    if it lacks the columns or cannot be read as a whole: before the first document, unless a file
    becomes unreadable later; at the end of an iterator if none of its records can be used.
    """
    found = records(source, reading=reading, on_progress=on_progress, on_notice=on_notice)
    return _deliver(found, on_error)


def records(
    source: SourceLike,
    *,
    reading: Reading = Reading(),  # noqa: B008 - frozen
    on_progress: Callable[[int], None] | None = None,
    on_notice: Callable[[str], None] = _log,
) -> Iterator[Record]:
    """The documents of anything that is a source, and an error in place of each bad record.

    Raises as `documents` does.
    """
    return one_by_one(pieces(source, reading=reading, on_progress=on_progress, on_notice=on_notice))


def pieces(
    source: SourceLike,
    *,
    reading: Reading = Reading(),  # noqa: B008 - frozen
    on_progress: Callable[[int], None] | None = None,
    on_notice: Callable[[str], None] = _log,
) -> Iterator[Piece]:
    """The same, but documents come in runs if a reader gives them so, which is far quicker.

    Raises as `documents` does.
    """
    if (paths := paths_of(source)) is not None:
        return _pieces_of_files(paths, reading, on_progress, on_notice)
    from neardup_solr.sources.frames import read_memory

    name = type(source).__name__
    once = _once(on_notice)
    opened = Opened(given=f"the {name}", name=name, path=None, reading=reading, on_notice=once)
    found = number_records(read_memory(source, opened))
    return (_require_most if isinstance(source, Sized) else _require_some)(opened, found, IN_MEMORY)


def _pieces_of_files(
    paths: Sequence[Named],
    reading: Reading,
    on_progress: Callable[[int], None] | None,
    on_notice: Callable[[str], None],
) -> Iterator[Piece]:
    parts = _parts(paths, reading, on_progress, on_notice)
    source, format = parts[0]
    if len(parts) > 1:
        name = shown_name(paths)
        source = replace(source, given=name, name=name)
    for part, each in parts:
        if each is not None:
            _check_format(part, each)
    if len(parts) > 1:
        parts = _check_columns(parts)
    pieces = chain.from_iterable(_pieces_of_part(*part) for part in parts)
    judge = _require_some if reading.at_once and source.path is None else _require_most
    judged = judge(source, number_records(pieces), CHECK.get(format or "", CHECK_ALL))
    return _notice_if_none(source, judged)


def _pieces_of_part(source: Opened, format: str | None) -> Iterator[Piece]:
    """Read the documents of a part, and at last the error of one that ends too early."""
    try:
        yield from open_part(source, format).documents()
        return
    except RecordError as error:
        last = error.with_traceback(None)  # which would hold the source open
    yield last


def open_part(source: Opened, format: str | None) -> SourceTable:
    """Open a source of a format by its reader, which is loaded, and no other module.

    Without a format it is recognized by its first lines.
    """
    if format is None:
        from neardup_solr.sources.csv import recognize

        source, format = recognize(source)
        _check_format(source, format)
    module, name = _READERS[format]
    reader: Callable[[Opened], SourceTable]
    reader = getattr(import_module(f"neardup_solr.sources.{module}"), name)
    return reader(source)


_READERS: Final = {
    "lines": ("csv", "open_lines"),
    "csv": ("csv", "open_csv"),
    "tsv": ("csv", "open_tsv"),
    "jsonl": ("json", "open_json"),
    "json": ("json", "open_json"),
    "parquet": ("arrow", "open_parquet"),
    "xlsx": ("excel", "open_xlsx"),
    "folder": ("folders", "open_folder"),
}


def open(
    source: SourceLike, *, reading: Reading, on_notice: Callable[[str], None] = ignore
) -> SourceTable:
    """Open files or folders to read their records as they are written, each with all its columns.

    If parts have other columns than each other, a record has those of its own part: it is a table
    and a record of that. Raises SourceError if the source cannot be read as a whole, or is a folder
    of a table and other files.
    """
    paths = paths_of(source) or []
    parts = _parts(paths, reading, on_notice=on_notice, refuses_mixed=True)
    first = open_part(*parts[0])
    if len(parts) == 1:
        return replace(first, records=_until_damage(first.records))
    parts = _with_reading(parts, first.reading)
    # Each is opened only while it is read: there may be more than a process may have open.
    tables = [replace(open_part(*part), records=iter(())) for part in parts]
    again = (open_part(*part) for part in parts)
    if all(_layout(table) == _layout(first) for table in tables):
        records = chain.from_iterable(_until_damage(table.records) for table in again)
        return replace(first, records=records)
    listed = (list(table.names or ()) for table in tables)
    return replace(
        first,
        format=PARTS,
        records=(
            (number, None if record is None else (table, record))
            for table in again
            for number, record in _until_damage(table.records)
        ),
        parse=lambda record: record[0].row(record[1]),
        raw=None,
        names=next((names for names in listed if len(set(names)) < len(names)), None),
    )


def _layout(table: SourceTable) -> tuple[object, ...]:
    return table.format, table.delimiter, table.names and list(table.names), table.schema


def _until_damage(records: Iterator[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
    """Pass records on up to where their source is damaged, and None there."""
    number = 0
    try:
        for number, record in records:
            yield number, record
    except RecordError:
        yield number + 1, None


def _check_columns(parts: Sequence[Part]) -> list[Part]:
    """Refuse a part that lacks a column that is needed, before anything is read.

    The first part tells if all records are numbered. A notice says if the columns of the parts
    differ. Raises SourceError.
    """
    first: tuple[str, list[Any]] | None = None
    has_notice = False
    for part, format in parts:
        if part.path is None or not part.path.is_file():  # what a pipe gives cannot be read twice
            continue
        table = open_part(replace(part, on_progress=None), format)
        if part is parts[0][0]:
            parts = _with_reading(parts, table.reading)
        if table.names is None or format in WITHOUT_COLUMNS:
            continue
        names = list(table.names)
        columns(part, names, parts[0][0].reading)
        if first is None:
            first = part.name, names
        elif names != first[1] and not has_notice:
            has_notice = True
            part.on_notice(f"{part.name} {_difference(names, *first)}")
    return list(parts)


def _with_reading(parts: Sequence[Part], reading: Reading) -> list[Part]:
    """Make all parts be read as the first one, whose ids were chosen."""
    if reading.guess == "number":
        reading = replace(reading, guess="none")
    return [(replace(part, reading=reading), format) for part, format in parts]


def _difference(names: Sequence[Any], other: str, others: Sequence[Any]) -> str:
    if set(names) == set(others):
        return f"has its columns in another order than {other}: they are taken by name"
    return (
        f"has other columns than {other}: they are taken by name, and what a part lacks is missing"
    )


def _parts(
    paths: Sequence[Named],
    reading: Reading,
    on_progress: Callable[[int], None] | None = None,
    on_notice: Callable[[str], None] = ignore,
    *,
    refuses_mixed: bool = False,
) -> list[Part]:
    """List the files of a source and their formats: None if standard input has to tell its own.

    Raises as `_format` does, and ArgumentError if standard input is one of several.
    """
    once = _once(on_notice)
    sources = [_source(path, reading, on_progress, once) for path in paths]
    for source in sources[:1]:
        _check_known(source, reading)
    parts = [part for each in sources for part in with_parts(each, refuses_mixed=refuses_mixed)]
    if len(parts) > 1:
        parts = join_sources(parts)
    return [(part, _format(part, reading)) for part in parts]


def read_text(source: str | Path, *, reading: Reading = Reading()) -> str:  # noqa: B008
    """Read a file as one text. "-" is standard input.

    Raises SourceError if it cannot be read, is not UTF-8 or is too large.
    """
    opened = _source(source, reading)
    try:
        return contents(opened, reading)
    except Unusable as problem:
        raise opened.error(str(problem), "give a text file in UTF-8") from problem
    except RecordError as error:
        raise opened.error(error.reason, "give a whole file") from error


def column_names(source: SourceLike, *, reading: Reading) -> list[Any]:
    """Read the names of the columns of a source, none if it has no columns, or is read once.

    Raises as `documents` does.
    """
    paths = paths_of(source)
    if paths is None:
        from neardup_solr.sources.frames import names_of

        return names_of(source)
    parts = _parts(paths, reading)
    if not all(part.path is not None and part.path.is_file() for part, _ in parts):  # but a pipe
        return []
    part, format = parts[0]
    if format in (None, *WITHOUT_COLUMNS):
        return []
    table = open_part(part, format)
    if table.names is not None:
        return list(table.names)
    from neardup_solr.sources.json import first_names

    return list(first_names(part)[0])


def read_rows(source: SourceLike, *, reading: Reading, most: int) -> list[dict[Any, Any]]:
    """Read up to twice `most` rows with all columns, evenly from the whole, or from its beginning.

    Raises as `documents` does.
    """
    if paths_of(source) is None:
        from neardup_solr.sources.frames import rows_of

        return rows_of(source, most)
    records, step, rows = list[Any](), 1, list[dict[Any, Any]]()
    table = open(source, reading=reading)
    for at, (_, record) in enumerate(islice(table.records, LOOKED_AT)):
        if at % step == 0 and record is not None:
            records.append(record)
        if len(records) > 2 * most:
            records, step = records[::2], 2 * step
    for record in records:
        with suppress(ValueError, RecursionError):
            rows.append(table.row(record))
    return rows


def lacking(
    source: Any, id: str, refused: Mapping[str | None, RecordError], what: str = "record"
) -> RecordError | SourceError:
    """Make the error that a source has no record of an id, or that its record was refused."""
    paths = paths_of(source)
    name = "the documents" if paths is None else shown_name(paths)
    missing = SourceError(name, f"there is no {what} with the id {id!r}", "check the id")
    return refused.get(id, missing)


def format_of(source: SourceLike, *, reading: Reading) -> str:
    """The format of a source: that of its files, or "parts" if they have several.

    Raises SourceError if it is not known.
    """
    formats = {format for _, format in _parts(paths_of(source) or [], reading)}
    return formats.pop() or "lines" if len(formats) == 1 else PARTS


def is_for_excel(source: SourceLike, *, reading: Reading) -> bool:
    """Tell whether a source is a sheet of Excel, or has the mark by which that knows UTF-8."""
    try:
        parts = _parts(paths_of(source) or [], reading)
        return any(format == "xlsx" or has_mark(part) for part, format in parts)
    except (SourceError, OSError):  # which is told by who reads it
        return False


def size_hint(source: SourceLike) -> int | None:
    """Count the bytes of files and folders, or None for pipes and what is in memory."""
    sizes = [_size(Path(path)) for path in paths_of(source) or ()]
    return sum(size or 0 for size in sizes) if sizes and None not in sizes else None


def _size(path: Path) -> int | None:
    try:
        if path.is_dir():
            return sum(map(size, walk(path)))
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None


def rows_hint(source: SourceLike) -> int | None:
    """Count the records of what is in memory as a whole, or None for files, pipes and iterators."""
    is_in_memory = paths_of(source) is None and not isinstance(source, Mapping)
    if not is_in_memory or not isinstance(source, Sized):
        return None
    return len(source)


def _source(
    source: Named,
    reading: Reading,
    on_progress: Callable[[int], None] | None = None,
    on_notice: Callable[[str], None] = _log,
) -> Opened:
    if source == "":
        raise SourceError("''", "is no name of a file", "name a file or a folder")
    is_stdin = str(source) == "-"
    given = STDIN if is_stdin else str(source)
    return Opened(
        given=given if len(given) <= LONGEST_SHOWN else f"{given[:LONGEST_SHOWN]}…",
        name=STDIN if is_stdin else Path(os.path.abspath(source)).name,
        path=None if is_stdin else Path(source),
        reading=reading,
        on_progress=on_progress,
        on_notice=on_notice,
    )


STDIN: Final = "standard input"
LONGEST_SHOWN: Final = (
    1_000  # characters: if someone gives a text as a path, the error need not repeat it all
)


def _format(source: Opened, reading: Reading) -> str | None:
    """Choose the format asked for, or that of the suffix, or None if standard input has to tell.

    Raises SourceError if the source is not of it.
    """
    if source.path is None:
        return reading.source_format
    found_folder = is_folder(source, source.path)
    wants_folder = reading.source_format == "folder"
    if found_folder != wants_folder and (found_folder or wants_folder):
        if reading.source_format is None:
            return "folder"
        what = "a folder, not a file" if found_folder else "a file, not a folder"
        raise source.error(f"is {what}", "leave `source_format` out, or name the other")
    if reading.source_format:
        return reading.source_format
    found = suffix_format(source.path)
    if reading.delimiter and found in (None, "lines"):
        return "csv"
    if found is None:
        raise source.error("its suffix does not tell its format", KNOWN)
    return found


KNOWN: Final = f"give `source_format` as one of: {', '.join(FORMATS)}"


def _check_known(source: Opened, reading: Reading) -> None:
    """Raise ArgumentError if there is no format of the name that is asked for."""
    if reading.source_format not in (None, *FORMATS):
        raise ArgumentError(f"{source.given}: there is no format {reading.source_format!r}", KNOWN)


def _check_format(source: Opened, format: str) -> None:
    """Raise ArgumentError if something is asked for that this format does not have."""
    reading = source.reading
    of = f"{source.given}: the format {format}"
    if reading.keep and format in WITHOUT_COLUMNS:
        raise ArgumentError(f"{of} has no columns to keep", "leave `keep` out")
    if reading.delimiter and format not in WITH_DELIMITER:
        raise ArgumentError(f"{of} has no delimiter", "leave `delimiter` out")
    if reading.encoding and format in BINARY:
        raise ArgumentError(f"{of} has its own encoding", "leave `encoding` out")


def _notice_if_none(source: Opened, found: Iterator[Piece]) -> Iterator[Piece]:
    """Pass the records on, with a notice if none comes at all."""
    is_empty = True
    for piece in found:
        is_empty = False
        yield piece
    if is_empty:
        source.on_notice(f"{source.name} holds no records")


def _require_most(source: Opened, found: Iterator[Piece], step: str) -> Iterator[Piece]:
    """Pass the records on, but raise SourceError if most of the first are bad."""
    first: deque[Piece] = deque()
    records = taken = 0
    for piece in found:
        first.append(piece)
        records += len(piece) if isinstance(piece, Run) else 1
        taken += _characters(piece)
        if records >= FIRST_RECORDS or taken > FIRST_CHARACTERS:
            break
    bad = [piece for piece in first if isinstance(piece, RecordError)]
    if 2 * len(bad) > records:
        raise source.error(
            f"{len(bad)} of the first {records} records cannot be used, the first being {bad[0]}",
            step_for((piece.reason for piece in bad), step),
        )
    while first:  # which are let go one by one, for they may be large
        yield first.popleft()
    yield from found


def _characters(piece: Piece) -> int:
    if isinstance(piece, RecordError):
        return characters(piece.record)
    return len(piece.text) if isinstance(piece, Document) else size_of(piece.texts)


def _require_some(source: Opened, found: Iterator[Piece], step: str) -> Iterator[Piece]:
    """Pass the records on, but raise SourceError at the end if none of them can be used."""
    first, count = None, 0
    for piece in found:
        yield piece
        if not isinstance(piece, RecordError):
            yield from found
            return
        first, count = first or piece, count + 1
    if count:
        reason = f"none of its {count:,} records can be used, the first being {first}"
        raise source.error(reason, step)


def _deliver(
    records: Iterator[Record], on_error: Callable[[RecordError], None] | None
) -> Iterator[Document]:
    for found in records:
        if isinstance(found, Document):
            yield found
        elif on_error is None:
            raise found
        else:
            on_error(found)
