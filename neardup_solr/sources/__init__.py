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
from neardup_solr.sources.csv import are_enough, first_fields, recognize_format, with_ids_of_lines
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
from neardup_solr.sources.lines import begun, has_mark
from neardup_solr.sources.record import (
    Opened,
    Piece,
    Record,
    Unusable,
    choose_id,
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
    from neardup_solr.sources.raw import RawRecords

    class _Table(Protocol):
        def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...

    class _Lazy(Protocol):
        def collect_schema(self) -> object: ...

    SourceLike: TypeAlias = Source | str | os.PathLike[str] | Iterable[Any] | _Table | _Lazy
else:
    SourceLike = Any

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
    from neardup_solr.sources.frames import class_name, is_there, read_memory

    name = class_name(source)
    once = _once(on_notice)
    opened = Opened(given=f"the {name}", name=name, path=None, reading=reading, on_notice=once)
    found = number_records(read_memory(source, opened))
    return (_require_most if is_there(source) else _require_some)(opened, found, IN_MEMORY)


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
    for part, own in parts:
        if own is not None:
            _check_format(part, reading, own)
    parts = _with_ids(parts)
    if len(parts) > 1:
        from neardup_solr.sources.raw import check_columns

        check_columns([(part, own) for part, own in parts if own is not None], parts[0][0].reading)
    found = chain.from_iterable(_pieces_of_part(*part) for part in parts)
    judge = _require_some if source.reading.at_once and source.path is None else _require_most
    judged = judge(source, number_records(found), CHECK.get(format or "", CHECK_ALL))
    return _told_if_none(source, judged)


def _pieces_of_part(source: Opened, format: str | None) -> Iterator[Piece]:
    reading = source.reading
    found = reader_of(format)(source, reading) if format else _recognize(source, reading)
    return _to_the_end(found)


def reader_of(format: str) -> Callable[[Opened, Reading], Iterator[Piece]]:
    """Load the reader of a format, and no other module."""
    module, name = _READERS[format]
    reader: Callable[[Opened, Reading], Iterator[Piece]]
    reader = getattr(import_module(f"neardup_solr.sources.{module}"), name)
    return reader


_READERS: Final = {
    "lines": ("csv", "read_lines"),
    "csv": ("csv", "read_csv"),
    "tsv": ("csv", "read_tsv"),
    "jsonl": ("json", "read_json"),
    "json": ("json", "read_json"),
    "parquet": ("arrow", "read_parquet"),
    "xlsx": ("excel", "read_xlsx"),
    "folder": ("folders", "read_folder"),
}


def _with_ids(parts: list[tuple[Opened, str | None]]) -> list[tuple[Opened, str | None]]:
    """The parts of a source, whose records are all numbered if nothing looks like an id."""
    (first, format), *others = parts
    first = with_ids(first, format) if format else first
    reading = first.reading
    return [(first, format), *((replace(part, reading=reading), own) for part, own in others)]


def with_ids(source: Opened, format: str) -> Opened:
    """The source, whose records are numbered if nothing looks like an id and a guess is wanted.

    A notice says so, and whether lines begin with ids. Raises SourceError if lines do not, but
    have to.
    """
    reading = source.reading
    if reading.guess == "none" or not reading.has_ids or format == "folder":
        return source
    if format == "lines":
        return with_ids_of_lines(source)
    if reading.guess == "refuse":
        return source
    names, source = _read_names(source, format)
    if names:  # if there are none, that is said when it is read
        reading = choose_id(source, names, reading)
    return replace(source, reading=replace(reading, guess="none"))


def _read_names(source: Opened, format: str) -> tuple[list[Any], Opened]:
    """Read the names of columns, those of the first objects of JSON, none if that fails."""
    if format in BINARY:
        from neardup_solr.sources.raw import names_of

        return names_of(source, format) or [], source
    head, source = begun(source, are_enough)
    if format in WITH_DELIMITER:
        return first_fields(source, head, format), source
    from neardup_solr.sources.json import first_names

    return first_names(head), source


def _parts(
    paths: Sequence[Named],
    reading: Reading,
    on_progress: Callable[[int], None] | None = None,
    on_notice: Callable[[str], None] = ignore,
    *,
    refuses_mixed: bool = False,
) -> list[tuple[Opened, str | None]]:
    """The files of a source and their formats: None if standard input has to tell its own.

    Raises as `_format` does, and ArgumentError if standard input is one of several.
    """
    given = [_source(path, reading, on_progress, on_notice) for path in paths]
    for source in given[:1]:
        _check_known(source, reading)
    found = [part for source in given for part in with_parts(source, refuses_mixed=refuses_mixed)]
    if len(found) > 1:
        found = join_sources(found)
    return [(part, _format(part, reading)) for part in found]


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


def as_written(source: SourceLike, *, reading: Reading) -> RawRecords:
    """The records of files or folders as they are written, each with all its columns.

    Raises SourceError if it cannot be read as a whole, or is a folder of a table and other files.
    """
    from neardup_solr.sources.raw import of_parts

    parts = _with_ids(_parts(paths_of(source) or [], reading, refuses_mixed=True))
    reading = parts[0][0].reading
    return of_parts([(replace(p, begun=None), format or "lines") for p, format in parts], reading)


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
    return [] if format in (None, *WITHOUT_COLUMNS) else _read_names(part, format)[0]


def read_rows(source: SourceLike, *, reading: Reading, most: int) -> list[dict[Any, Any]]:
    """Read up to twice `most` rows with all columns, evenly from the whole, or from its beginning.

    Raises as `documents` does.
    """
    if paths_of(source) is None:
        from neardup_solr.sources.frames import rows_of

        return rows_of(source, most)
    held, step, rows = list[Any](), 1, list[dict[Any, Any]]()
    with suppress(Unusable):  # a header that cannot be read
        raw = as_written(source, reading=reading)
        for at, record in enumerate(islice(raw.records, LOOKED_AT)):
            if at % step == 0 and record is not None:
                held.append(record)
            if len(held) > 2 * most:
                held, step = held[::2], 2 * step
    for record in held:
        with suppress(ValueError, RecursionError):
            rows.append(raw.row(record))
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


def _check_format(source: Opened, reading: Reading, format: str) -> None:
    """Raise ArgumentError if something is asked for that this format does not have."""
    of = f"{source.given}: the format {format}"
    if reading.keep and format in WITHOUT_COLUMNS:
        raise ArgumentError(f"{of} has no columns to keep", "leave `keep` out")
    if reading.delimiter and format not in WITH_DELIMITER:
        raise ArgumentError(f"{of} has no delimiter", "leave `delimiter` out")
    if reading.encoding and format in BINARY:
        raise ArgumentError(f"{of} has its own encoding", "leave `encoding` out")


def _recognize(source: Opened, reading: Reading) -> Iterator[Piece]:
    """The records of standard input, in the format that its first lines show."""
    head, source = begun(source, are_enough)
    is_told = reading.delimiter is not None
    format, reading = recognize_format(source, head, reading)
    _check_format(source, reading, format)
    if format != "lines" and not is_told:
        name = {"csv": "CSV", "tsv": "TSV", "json": "JSON"}[format]
        source.on_notice(f"{source.name} looks like {name} and is read as such")
    source = with_ids(replace(source, reading=reading), format)
    yield from reader_of(format)(source, source.reading)


def _told_if_none(source: Opened, found: Iterator[Piece]) -> Iterator[Piece]:
    """Pass the records on, with a notice if there are none at all."""
    is_empty = True
    for piece in found:
        is_empty = False
        yield piece
    if is_empty:
        source.on_notice(f"{source.name} holds no records")


def _to_the_end(found: Iterator[Piece]) -> Iterator[Piece]:
    """Pass the records on, and at last the error of a source that ends too early."""
    try:
        yield from found
        return
    except RecordError as error:
        last = error.with_traceback(None)  # which would hold the source open
    yield last


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
