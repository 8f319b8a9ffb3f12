"""Sources: documents from files, streams and what is in memory, each by itself, in bounded memory.

| format | what | suffixes |
|---|---|---|
| lines | `id text`, the id up to the first white space | .txt |
| csv, tsv | a header, then rows; quoted fields may hold newlines | .csv, .tsv |
| jsonl, json | a JSON object a line, or an array of objects | .jsonl, .ndjson, .json |
| parquet | columns | .parquet |
| xlsx | the first sheet: a header, then rows | .xlsx, .xlsm |
| xls | the first sheet of an old Excel file | .xls |
| html, eml | the text of a page or an e-mail, with its title or headers as columns | .html, .eml |
| mbox, ris, bibtex | messages or references, many in a file | .mbox, .ris, .bib |
| folder | a text in each file, the id is its path within the folder | a folder |

Several files, or a folder of nothing but files of the same format with columns, are the parts of
a table. Formats made of text may be compressed (.gz, .bz2, .xz, .zst). Text is UTF-8, or UTF-16 or
UTF-32 with a byte order mark, if no other encoding is named. In memory it may be DataFrames, tables
of Arrow, mappings of columns, and iterables of dicts, pairs or Documents. A bad record is a
RecordError that says where it stands; the rest is read.
"""

from __future__ import annotations

import csv
import io
import os
import stat
import sys
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import suppress
from dataclasses import fields, replace
from functools import partial
from hashlib import blake2b
from importlib import import_module
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from neardup_solr.arguments import OneOrMore, Source, checked, describe
from neardup_solr.errors import ArgumentError, DataError, RecordError, SourceError
from neardup_solr.files import Named, read_at
from neardup_solr.files import paths_of as paths_of
from neardup_solr.progress import LOG, OnError, OnProgress, SourceProgress, ignore
from neardup_solr.records import Document, Run, as_whole, characters, check_documents, id_problem
from neardup_solr.sources import folders
from neardup_solr.sources import record as rows
from neardup_solr.sources.folders import FORMATS as FORMATS
from neardup_solr.sources.folders import Notify
from neardup_solr.sources.folders import shown_name as shown_name
from neardup_solr.sources.lines import WITH_DELIMITER, is_of_excel, recognize, with_writing
from neardup_solr.sources.record import Opened, Piece, Record, SourceTable, Unusable
from neardup_solr.sources.record import Reading as Reading
from neardup_solr.sources.record import one_by_one as one_by_one
from neardup_solr.sources.record import reading_of as reading_of
from neardup_solr.text.escape import from_csv, from_tsv
from neardup_solr.text.json_keys import has_key_twice
from neardup_solr.text.shingles import size_of

# What is read first, to see whether the source is of that format at all.
FIRST_RECORDS: Final = 1_000
FIRST_CHARACTERS: Final = 2**24
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

PARTS: Final = "parts"  # the format of parts that are not alike
BINARY: Final = ("parquet", "xlsx", "xls")

# A file or folder ("-" is standard input), a list of them, or what `frames` reads: a DataFrame of
# pandas or polars, a table of Arrow, a mapping of columns, an iterable of dicts, of (id, text) or
# of Documents.
if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from neardup_solr.solr.collection import Collection as SolrCollection

    class _Table(Protocol):
        def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...

    class _Lazy(Protocol):
        def collect_schema(self) -> object: ...

    SourceLike: TypeAlias = Source | str | os.PathLike[str] | Iterable[Any] | _Table | _Lazy
else:
    SourceLike = Any

_log: Final = partial(LOG.warning, "%s")


def is_collection(source: object) -> TypeIs[SolrCollection]:
    """Tell a Collection from other sources. What talks with Solr is not loaded for it."""
    module = sys.modules.get("neardup_solr.solr.collection")
    return module is not None and isinstance(source, module.Collection)


def documents(
    source: SourceLike,
    *,
    reading: Reading = Reading(),  # noqa: B008 - frozen
    on_error: Callable[[RecordError], None] | None = None,
    on_progress: Callable[[int], None] | None = None,
    on_notice: Notify = _log,
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
    reading: Reading = Reading(),  # noqa: B008 - frozen
    on_progress: Callable[[int], None] | None = None,
    on_notice: Notify = _log,
) -> Iterator[Record]:
    """Read the documents of anything that is a source, with an error in place of each bad record.

    Raises as `documents` does.
    """
    return one_by_one(pieces(source, reading=reading, on_progress=on_progress, on_notice=on_notice))


def pieces(
    source: SourceLike,
    *,
    reading: Reading = Reading(),  # noqa: B008 - frozen
    on_progress: Callable[[int], None] | None = None,
    on_notice: Notify = _log,
) -> Iterator[Piece]:
    """Read as `records` does. Documents come in runs if they can, which is far quicker.

    Raises as `documents` does.
    """
    if (paths := paths_of(source)) is not None:
        parts = folders.list_parts(paths, reading, on_progress, on_notice)
        return _read_parts(parts, shown_name(paths))
    from neardup_solr.sources.frames import read_memory

    name, notify = type(source).__name__, folders.notify_once(on_notice)
    opened = Opened(label=f"the {name}", name=name, path=None, reading=reading, on_notice=notify)
    numbered = rows.number_records(read_memory(source, opened))
    require = _require_most if isinstance(source, Sized) else _require_some
    return require(opened, numbered, IN_MEMORY)


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


def _read_parts(parts: Sequence[Opened], name: str) -> Iterator[Piece]:
    """Read the files of a source, which is called `name` if it has several."""
    source = parts[0] if len(parts) == 1 else replace(parts[0], label=name, name=name)
    for part in parts:
        _check_format(part)
    if len(parts) > 1:
        parts = _check_columns(parts)
    numbered = rows.number_records(chain.from_iterable(map(_read_part, parts)))
    is_prompt = source.reading.at_once and source.path is None
    require = _require_some if is_prompt else _require_most
    checked = require(source, numbered, CHECK.get(source.format or "", CHECK_ALL))
    return _notice_if_none(source, checked)


def _read_part(part: Opened) -> Iterator[Piece]:
    """Read the documents of a part, and at last the error if it ends too early."""
    try:
        yield from open_part(part).documents()
        return
    except RecordError as error:
        last = error.with_traceback(None)  # which would hold the source open
    yield last


def _check_format(source: Opened) -> None:
    """Raise ArgumentError if an option is not for the format, DataError if that was recognized."""
    reading, format = source.reading, source.format
    of = f"{source.label}: the format {format}"
    if format is None:
        return
    for option, formats, lacks in (
        ("keep", {*FORMATS} - {*folders.WITHOUT_COLUMNS}, "no further columns"),
        ("delimiter", WITH_DELIMITER, "no delimiter"),
        ("encoding", {*FORMATS} - {*BINARY}, "its own encoding"),
        ("skip_rows", (*WITH_DELIMITER, "xlsx", "xls"), "no rows above a header"),
        ("sheet", ("xlsx", "xls"), "no sheets"),
    ):
        if getattr(reading, option) and format not in formats:
            kind = ArgumentError if reading.source_format else DataError
            raise kind(f"{of} has {lacks}", f"leave `{option}` out")


_READERS: Final = {
    "lines": ("lines", "open_lines"),
    "csv": ("lines", "open_csv"),
    "tsv": ("lines", "open_csv"),
    "jsonl": ("json", "open_json"),
    "json": ("json", "open_json"),
    "parquet": ("binary", "open_parquet"),
    "xlsx": ("binary", "open_xlsx"),
    "xls": ("xls", "open_xls"),
    "html": ("marked", "open_page"),
    "eml": ("marked", "open_mail"),
    "mbox": ("marked", "open_mbox"),
    "ris": ("marked", "open_references"),
    "bibtex": ("marked", "open_references"),
    "folder": ("folders", "open_folder"),
}


def open_part(source: Opened) -> SourceTable:
    """Open a source by the reader of its format, whose module is loaded when it is needed.

    Without a format it is recognized by its first lines.
    """
    if source.format is None:
        source = recognize(source)
        _check_format(source)
    module, name = _READERS[source.format or ""]
    reader: Callable[[Opened], SourceTable]
    reader = getattr(import_module(f"neardup_solr.sources.{module}"), name)
    return reader(source)


def open(source: SourceLike, *, reading: Reading, on_notice: Notify = ignore) -> SourceTable:
    """Open files or folders to read their records as they are written, each with all its columns.

    If parts have other columns than each other, a record has those of its part: it is a table and a
    record of that. Raises SourceError if the source cannot be read as a whole, or is a folder of a
    table and other files.
    """
    paths = paths_of(source) or []
    parts = folders.list_parts(paths, reading, on_notice=on_notice, refuses_mixed=True)
    first = with_writing(parts[0], open_part(parts[0]))
    if len(parts) == 1:
        return replace(first, records=_until_damage(first))
    parts = _with_reading(parts, first.reading)
    # Each is opened only while it is read: they may be more than a process may have open.
    layouts = [_layout(open_part(part)) for part in parts]
    again = map(open_part, parts)
    if all(layout == layouts[0] for layout in layouts):
        return replace(first, records=chain.from_iterable(map(_until_damage, again)))
    twice = (names for _, _, names, _ in layouts if names and len(set(names)) < len(names))
    return replace(
        first,
        format=PARTS,
        records=(
            (number, None if record is None else (table, record))
            for table in again
            for number, record in _until_damage(table)
        ),
        parse=lambda record: record[0].row(record[1]),
        is_text=False,
        names=next(twice, None),
    )


def _layout(table: SourceTable) -> tuple[str, str, Sequence[Any] | None, Any]:
    return table.format, table.delimiter, table.names and list(table.names), table.schema


def _until_damage(table: SourceTable) -> Iterator[tuple[int, Any]]:
    """Yield the records up to where their source is damaged, which is None."""
    number = 0
    try:
        for number, record in table.records:
            yield number, record
    except RecordError:
        yield number + 1, None


def _check_columns(parts: Sequence[Opened]) -> list[Opened]:
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
        if table.names is None or part.format in folders.WITHOUT_COLUMNS:
            continue
        names = list(table.names)
        rows.find_columns(part, names, parts[0].reading)
        if first is None:
            first = part.name, names
        elif names != first[1] and not has_notice:
            has_notice = True
            is_order = set(names) == set(first[1])
            how = "its columns in a different order" if is_order else "different columns"
            what = "" if is_order else ", and a missing column has no values"
            part.on_notice(f"{part.name} has {how} than {first[0]}: they are matched by name{what}")
    return list(parts)


def _with_reading(parts: Sequence[Opened], reading: Reading) -> list[Opened]:
    """Make all parts be read as the first, whose ids were chosen."""
    if reading.guess == "number":
        reading = replace(reading, guess="none")
    return [replace(part, reading=reading) for part in parts]


def _notice_if_none(source: Opened, pieces: Iterator[Piece]) -> Iterator[Piece]:
    """Pass the records on, with a notice if none comes at all."""
    is_empty = True
    for piece in pieces:
        is_empty = False
        yield piece
    if is_empty:
        source.on_notice(f"{source.name} contains no records")


def _require_most(source: Opened, pieces: Iterator[Piece], step: str) -> Iterator[Piece]:
    """Pass the records on, but raise SourceError if most of the first are bad."""
    first: deque[Piece] = deque()
    records = size = 0
    for piece in pieces:
        first.append(piece)
        records += len(piece) if isinstance(piece, Run) else 1
        size += _count_characters(piece)
        if records >= FIRST_RECORDS or size > FIRST_CHARACTERS:
            break
    bad = [piece for piece in first if isinstance(piece, RecordError)]
    if 2 * len(bad) > records:
        reason = f"{len(bad)} of the first {records} records cannot be used, the first being "
        step = rows.step_for(bad, step)
        raise source.error(reason + rows.describe_error(bad[0]), step)
    while first:  # each is let go at once, for they may be large
        yield first.popleft()
    yield from pieces


def _count_characters(piece: Piece) -> int:
    if isinstance(piece, RecordError):
        return characters(piece.record)
    return len(piece.text) if isinstance(piece, Document) else size_of(piece.texts)


def _require_some(source: Opened, pieces: Iterator[Piece], step: str) -> Iterator[Piece]:
    """Pass the records on, but raise SourceError at the end if none of them can be used."""
    first, count = None, 0
    for piece in pieces:
        yield piece
        if not isinstance(piece, RecordError):
            yield from pieces
            return
        first, count = first or piece, count + 1
    if first is not None:
        reason = f"none of its {count:,} records can be used, the first being "
        raise source.error(reason + rows.describe_error(first), step)


def read_text(source: str | Path, *, reading: Reading = Reading()) -> str:  # noqa: B008
    """Read a file as a text. "-" is standard input.

    Raises SourceError if it cannot be read, is not UTF-8 or is too large.
    """
    from neardup_solr.sources.marked import Several

    opened = folders.name_source(source, reading)
    try:
        return folders.contents(opened, reading)
    except Unusable as problem:
        raise opened.error(str(problem), "give a shorter text, or one in UTF-8") from problem
    except RecordError as error:
        raise opened.error(error.reason, "give a complete file") from error
    except Several:
        raise opened.error("holds several texts", "give a file with one text") from None


def column_names(source: SourceLike, *, reading: Reading) -> list[Any]:
    """Read the names of the columns of a source, none if it has no columns, or is read once.

    Raises as `documents` does.
    """
    paths = paths_of(source)
    if paths is None:
        from neardup_solr.sources.frames import names_of

        return names_of(source)
    parts = folders.list_parts(paths, reading)
    if not all(part.path is not None and part.path.is_file() for part in parts):  # but a pipe
        return []
    if parts[0].format in folders.WITHOUT_COLUMNS:
        return []
    table = open_part(parts[0])
    if table.names is not None:
        return list(table.names)
    names: dict[Any, None] = {}  # each object has others
    for _, record in islice(_until_damage(table), NAMED):
        with suppress(ValueError, RecursionError):
            names.update(dict.fromkeys(table.row(record) if record else ()))
    return list(names)


def require_columns(source: SourceLike, *, reading: Reading) -> None:
    """Refuse the parts of a table that lack a column that is needed, by SourceError."""
    parts = folders.list_parts(paths_of(source) or [], reading)
    if len(parts) > 1:
        _check_columns(parts)


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
    """Look up the format of a source: that of its files, or "parts" if they have several.

    Raises SourceError if no suffix tells it.
    """
    formats = {part.format for part in folders.list_parts(paths_of(source) or [], reading)}
    return formats.pop() or "lines" if len(formats) == 1 else PARTS


def is_for_excel(source: SourceLike, *, reading: Reading) -> bool:
    """Tell whether a source is a sheet of Excel, or has the mark by which that knows UTF-8."""
    try:
        parts = folders.list_parts(paths_of(source) or [], reading)
        return any(part.format in folders.SHEETS or is_of_excel(part) for part in parts)
    except (SourceError, OSError):  # which its reader reports
        return False


def size_hint(source: SourceLike) -> int | None:
    """Count the bytes of files and folders, or None for pipes and what is in memory."""
    paths = paths_of(source)
    try:
        return None if paths is None else sum(map(_count_bytes, map(Path, paths)))
    except (OSError, ValueError):
        return None


def _count_bytes(path: Path) -> int:
    """Count the bytes of a file or a folder, or raise OSError or ValueError if it has no size."""
    if path.is_dir():
        return sum(map(folders.size, folders.walk(path)))
    state = path.stat()
    if not stat.S_ISREG(state.st_mode):
        raise ValueError("a pipe or a device")
    return state.st_size


def make_progress(stage: str, source: SourceLike, on_progress: OnProgress) -> SourceProgress:
    """Make the progress of a work on a source, which tells its size if it can."""
    rows, size = rows_hint(source), size_hint(source)
    return SourceProgress(stage=stage, on_progress=on_progress, rows=rows, size=size)


def rows_hint(source: SourceLike) -> int | None:
    """Count the records of what is in memory as a whole, or None for files, pipes and iterators."""
    is_in_memory = paths_of(source) is None and not isinstance(source, Mapping)
    return len(source) if is_in_memory and isinstance(source, Sized) else None


END_BYTES: Final = 2**16  # that are read of a file, at each of its ends
ROWS_AT_END: Final = 100  # that are read of what is in memory, at each of its ends
DIGEST: Final = 16  # bytes


def identity(source: SourceLike, reading: Reading) -> str | None:
    """Write a line that differs if the source has changed, or is read in another way.

    Of a file, its size, its time of change and both its ends count; of a folder, the names, sizes
    and times of its files; of several sources, the identity of each; of a DataFrame, an Arrow table
    or a list, the number of records and those at both ends. Where it lies does not count. It is
    None for what cannot be read a second time, such as standard input, a pipe or an iterator, and
    for what would have to be read as a whole.

    Raises SourceError if the source cannot be read.
    """
    paths = paths_of(source)
    if paths is None:
        line = _identify_memory(source, reading)
    else:
        parts = [_identify_path(path, reading) for path in paths]
        line = None if None in parts else parts[0]
        if line and len(parts) > 1:
            line = f"{len(parts)} sources, {_digest(parts)}"
    return line and f"{line}, read as {_digest(_list_options(reading))}"


def _list_options(reading: Reading) -> Iterable[object]:
    """List the options beyond the defaults, so that a new field of `Reading` changes nothing."""
    usual = Reading()
    for field in fields(reading):
        value = getattr(reading, field.name)
        if value != getattr(usual, field.name) and field.name != "guess":
            yield field.name, value


def _identify_path(name: Named, reading: Reading) -> str | None:
    source = folders.name_source(name, reading)
    path = source.path
    if path is None:
        return None
    if folders.is_folder(source, path):
        return _identify_folder(path)
    try:
        return _identify_file(path) if path.is_file() else None
    except OSError as error:
        reason = f"cannot be read ({error.strerror})"
        raise source.error(reason, "check the path and its permissions") from error


def _identify_file(path: Path) -> str:
    with path.open("rb") as file:
        state = os.fstat(file.fileno())
        ends = [read_at(file, at, END_BYTES) for at in (0, max(0, state.st_size - END_BYTES))]
    return f"file of {state.st_size} bytes, {state.st_mtime_ns} ns, {_digest(ends)}"


def _identify_folder(root: Path) -> str:
    count = 0
    digest = blake2b(digest_size=DIGEST)
    for path in folders.walk(root):
        count += 1
        digest.update(repr((os.fsencode(path.relative_to(root)), *_find_state(path))).encode())
    return f"folder of {count} files, {digest.hexdigest()}"


def _find_state(path: Path) -> tuple[int, ...]:
    """Look up kind, size and time of what a path leads to, or of a link that leads nowhere."""
    try:
        state = path.stat()
    except OSError:
        try:
            state = path.lstat()
        except OSError:  # gone since the folder was listed
            return ()
    return stat.S_IFMT(state.st_mode), state.st_size, state.st_mtime_ns


def _identify_memory(source: Any, reading: Reading) -> str | None:
    from neardup_solr.sources.frames import ends_of, read_memory

    parts = ends_of(source, ROWS_AT_END)
    if parts is None:
        return None
    name = type(source).__name__
    opened = Opened(label=f"the {name}", name=name, path=None, reading=reading)
    records = one_by_one(chain.from_iterable(read_memory(part, opened) for part in parts))
    return f"{name} of {len(source)} records, {_digest(map(bytes_of, records))}"


def bytes_of(record: Record) -> bytes:
    """Spell a record, so that two that differ are spelled otherwise, wherever they stand."""
    if isinstance(record, Document):
        kept = sorted(record.kept.items()) if record.kept else ""
        text = f"{len(record.id)},{len(record.text)},{record.id}{record.text}{kept}\n"
    else:
        text = f"{record.reason}\n"
    return text.encode("utf-8", "surrogatepass")


def _digest(values: Iterable[object]) -> str:
    digest = blake2b(digest_size=DIGEST)
    for value in values:
        digest.update(f"{value!r}\n".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


Line = tuple[int, list[Any]]  # its number in the file, and its cells
PAIR: Final = ("id", "other_id")  # the columns of two ids
PAIR_FORMATS: Final = {".csv": "csv", ".jsonl": "jsonl", ".parquet": "parquet", ".xlsx": "xlsx"}


def read_pairs(path: str | Path) -> list[tuple[str, str]]:
    """Pairs of ids from a TSV, CSV, JSONL, Parquet or Excel file, by its suffix (else TSV).

    JSONL has objects with id and other_id, texts or whole numbers. The others have them in two
    columns: those called id and other_id, else the first two. The first line, but of Parquet,
    is a header if it has those names, or two that begin with "id_" (id_left, id_right), unless ids
    below begin so as well; a header of other names is refused if it can be told from ids.

    Raises SourceError if the file cannot be read, is empty (JSONL and Parquet may have no pairs),
    or if a line is not a pair of two ids; ArgumentError if `path` is not a path.
    """
    if not isinstance(path, str | os.PathLike):
        problem = f"`path` cannot be {describe(path)}"
        raise ArgumentError(problem, "give the path of a file of pairs")
    format, names, lines = _read_lines(path, PAIR)
    path, places = Path(path), [0, 1]
    if set(PAIR) <= set(names):
        places = [names.index(name) for name in PAIR]
    elif format != "parquet":
        lines = _with_first(path, names, lines)
    return [
        _pair(path, number, [cells[at] for at in places if at < len(cells)])
        for number, cells in lines
    ]


def read_columns(path: str | Path) -> dict[str, list[Any]]:
    """Read all columns of a file of pairs, by name, if two of them are named id and other_id.

    Raises SourceError if the file cannot be read.
    """
    format, names, lines = _read_lines(path)
    missing = None if format in ("jsonl", "parquet") else ""
    columns = {
        name: [cells[at] if at < len(cells) else missing for _, cells in lines]
        for at, name in enumerate(names)
    }
    return columns if set(PAIR) <= columns.keys() else {}


def _read_lines(
    path: Named, keys: Sequence[str] | None = None
) -> tuple[str, list[str], list[Line]]:
    """Read a file: its format, the names of its columns, or its first line, and the others.

    Only these `keys` of JSON are read, else all.
    """
    format = PAIR_FORMATS.get(Path(path).suffix.lower(), "tsv")
    if format == "jsonl" and size_hint(path) == 0:
        return format, [*PAIR], []
    reading = Reading(id=PAIR[0], text=PAIR[1:], source_format=format)
    on_notice = LOG.warning if format == "xlsx" else ignore
    try:
        table = open(path, reading=reading, on_notice=on_notice)
        if format == "jsonl":
            parsed: Iterable[tuple[int, dict[str, Any]]]
            parsed = ((number, _parse(record)) for number, record in table.records)
            if keys is None:
                parsed = list(parsed)
                keys = list(dict.fromkeys(name for _, row in parsed for name in row))
            return format, [*keys], [(at, [row.get(name) for name in keys]) for at, row in parsed]
        if format == "parquet":
            lines = [(number, list(table.row(record).values())) for number, record in table.records]
            return format, list(table.names or ()), lines
        head = table.head if table.is_text else table.names
        lines = [(number, _cells(table, record)) for number, record in table.records]
        return format, _cells(table, head), lines
    except (SourceError, UnicodeDecodeError) as error:
        if isinstance(error, SourceError) and "UTF" not in error.reason:
            raise
        reason = "is not UTF-8 text, so it cannot be a file of pairs"
        step = "give a TSV, CSV, JSONL, Parquet or .xlsx file; in a spreadsheet, save CSV as UTF-8"
        if name := rows.guess_encoding(Path(path).read_bytes()[: rows.SAMPLE]):
            step = f"it appears to be {name}: save it as UTF-8"
        raise SourceError(str(path), reason, step) from None


def _parse(line: bytes) -> dict[str, Any]:
    from neardup_solr.sources.json import parse_json

    try:
        row = parse_json(line)
    except ValueError:
        row = None
    is_pair = isinstance(row, dict) and not has_key_twice(row, line)
    return row if is_pair else {}  # which is no pair


def _cells(table: SourceTable, record: Any) -> list[str]:
    """Take the cells of a line, without the marks before formulas."""
    if not table.is_text:
        cells = ("" if cell is None else str(as_whole(cell)) for cell in record or ())
        from neardup_solr.sources.binary import unescape

        return [from_csv(unescape(cell)) for cell in cells]
    text = (record or b"").decode().rstrip("\r")
    if table.format == "tsv":
        return [from_tsv(cell) for cell in text.split("\t")]
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=table.delimiter)
    return [from_csv(cell) for row in rows for cell in row]


def _with_first(path: Path, first: list[str], lines: list[Line]) -> list[Line]:
    """Put the first line before the others, unless it is a header."""
    if not any(first) and not lines:
        raise SourceError(str(path), "is empty", "give a file with two columns of ids")
    above, below = first[:2], [cell for _, cells in lines for cell in cells[:2]]
    if below and all(map(_is_name, above)) and not any(map(_is_name, below)):
        return lines
    are_numbers = below and all(map(str.isdigit, below))
    if PAIR[0] in first or (are_numbers and not any(map(str.isdigit, above))):
        step = "name the two id columns id and other_id, or remove that line"
        raise SourceError(str(path), "line 1 looks like a header without id and other_id", step)
    return [(1, first), *lines]


def _is_name(cell: str) -> bool:
    return cell.startswith("id_")


def _pair(path: Path, number: int, cells: Sequence[Any]) -> tuple[str, str]:
    ids = [str(cell) for cell in map(as_whole, cells) if type(cell) in (str, int)]
    if len(ids) < 2 or any(map(id_problem, ids)):
        step = "give two ids per line, in JSON as id and other_id"
        raise SourceError(str(path), f"line {number} is not a pair of ids", step)
    if ids[0] == ids[1]:
        reason = f"line {number} pairs {ids[0]!r} with itself"
        raise SourceError(str(path), reason, "remove that line")
    return ids[0], ids[1]


@checked
def read(
    source: SourceLike, *, id: str | None = None, text: OneOrMore = "text", keep: OneOrMore = (),
    on_error: OnError | None = None,
) -> Iterator[Document]:  # fmt: skip
    """Read the documents of a source, one at a time, in bounded memory.

    Example: `[document.id for document in nd.read("listings.csv", keep="city")]`

    Several text columns are joined by line breaks.

    Raises SourceError if the source cannot be read; without `on_error`, RecordError for the first
    unusable record.
    """
    source, reading = reading_of(source, "refuse", id=id, text=text, keep=keep)
    return iter(documents(source, reading=reading, on_error=on_error))
