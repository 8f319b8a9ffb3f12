"""The files of a source: a file, a folder of texts, or several files that are parts of a table.

Parts are named, or lie in a folder that holds nothing else. Their columns are looked up
by name, part by part, so their order may differ.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

from neardup_solr.errors import ArgumentError, RecordError, SourceError, counted
from neardup_solr.files import Named, PathError, is_inside
from neardup_solr.progress import LOG, ignore
from neardup_solr.sources import magic
from neardup_solr.sources import record as rows
from neardup_solr.sources.lines import (
    find_delimiter,
    find_kind,
    read_beginning,
    refuse_what_is_no_text,
    suffix_of,
)
from neardup_solr.sources.record import Opened, Reading, Record, SourceTable, Unusable, record

SUFFIXES: Final = {
    ".txt": "lines",
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".parquet": "parquet",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    ".xls": "xls",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".eml": "eml",
    ".mbox": "mbox",
    ".ris": "ris",
    ".bib": "bibtex",
}
FORMATS: Final = tuple(dict.fromkeys([*SUFFIXES.values(), "folder"]))
CHOICES: Final = f"set `source_format` to one of: {', '.join(FORMATS)}"
WITHOUT_COLUMNS: Final = ("lines", "folder")

SHEETS: Final = ("xlsx", "xls")
# Formats whose files begin with mark-up or headers.
WITH_MARKUP: Final = ("html", "eml", "mbox", "ris", "bibtex")
STDIN: Final = "standard input"
LONGEST: Final = 1_000  # characters of a label: if it is a text, an error need not repeat it all

Notify: TypeAlias = Callable[[str], None]


def shown_name(paths: Sequence[Named]) -> str:
    """Name files and folders together: the first of them, and the number of others."""
    more = f" and {len(paths) - 1:,} more" if len(paths) > 1 else ""
    return f"{os.fspath(paths[0])}{more}"


def list_parts(
    paths: Sequence[Named], reading: Reading, on_progress: Callable[[int], None] | None = None,
    on_notice: Notify = ignore, *, refuses_mixed: bool = False,
) -> list[Opened]:  # fmt: skip
    """List the files of a source with their formats: None of standard input, which is recognized.

    A notice says in which way a folder is read, unless `source_format` does. Raises ArgumentError
    if the format is unknown, or standard input is among several sources; SourceError if it cannot
    be read, a part is a link that leaves the folder, or with `refuses_mixed` if a folder holds a
    table and other files.
    """
    notify = notify_once(on_notice)
    sources = [name_source(path, reading, on_progress, notify) for path in paths]
    if reading.source_format not in (None, *FORMATS):
        problem = f"unknown format {reading.source_format!r}"
        raise ArgumentError(f"{sources[0].label}: {problem}", CHOICES)
    parts = [part for source in sources for part in _list_folder(source, refuses_mixed)]
    if len(parts) > 1:
        parts = _join_parts(parts)
    return [replace(part, format=_choose_format(part)) for part in parts]


def notify_once(on_notice: Notify) -> Notify:
    """Make a function that passes each line on once, though columns may be looked for twice."""
    lines: set[str] = set()

    def notify(line: str) -> None:
        if line not in lines:
            lines.add(line)
            on_notice(line)

    return notify


def name_source(
    path: Named,
    reading: Reading,
    on_progress: Callable[[int], None] | None = None,
    on_notice: Notify = partial(LOG.warning, "%s"),  # noqa: B008 - the same for all
) -> Opened:
    """Name a file, a folder or standard input, as errors and positions do."""
    if path == "":
        raise PathError("''", "is not a valid file name", "name a file or a folder")
    is_stdin = str(path) == "-"
    label = STDIN if is_stdin else str(path)
    return Opened(
        label=label if len(label) <= LONGEST else f"{label[:LONGEST]}…",
        name=STDIN if is_stdin else Path(os.path.abspath(path)).name,
        path=None if is_stdin else Path(path), reading=reading, on_progress=on_progress,
        on_notice=on_notice,
    )  # fmt: skip


def _choose_format(source: Opened) -> str | None:
    """Choose the format asked for, or that of the suffix, or None of standard input.

    Raises SourceError if the source is not of it.
    """
    format = source.reading.source_format
    if source.path is None and format in ("folder", "parquet", *SHEETS):
        step = "give the name of a file or folder"
        raise PathError(STDIN, f"a source of the format {format} cannot be read from it", step)
    if source.path is None:
        return format
    has_files, wants_files = is_folder(source, source.path), format == "folder"
    if has_files and format is None:
        return "folder"
    if has_files != wants_files:
        kind, want = ("folder", "file") if has_files else ("file", "folder")
        raise source.error(f"is a {kind}, not a {want}", f"omit `source_format`, or name a {want}")
    if format is None:
        format = suffix_format(source.path)
        if source.reading.delimiter and format in (None, "lines"):
            return "csv"
        format = _look_inside(source, format)
        if format is None:
            raise source.error("its format is not clear from its suffix", CHOICES)
    return format


def _look_inside(source: Opened, format: str | None) -> str | None:
    """Find the format that a file begins as, if that is another than its suffix tells.

    Raises SourceError if it is known, and cannot be read.
    """
    head = read_beginning(source)
    kind = find_kind(source, head[: magic.BEGINNING])
    if kind is None:
        if format is None:
            refuse_what_is_no_text(source, head)
        if format not in (None, "lines", "csv", "tsv"):
            return format
        if is_json(head):
            words, found = "JSON", "json"
        elif format == "lines" and (delimiter := find_delimiter(source, head)):
            words = found = "tsv" if delimiter == "\t" else "csv"
            words = found.upper()
        else:
            return format
    elif kind.format and not kind.is_text and format in (None, *SHEETS) and kind.format != format:
        words, found = kind.words, kind.format
    elif kind.is_text and format in SHEETS:
        step = "save it as .xlsx, or as CSV"
        raise source.error(f"is {kind.words}, not an Excel file", step)
    elif kind.is_text and kind.format and kind.format != format:
        if format not in (None, "lines", *WITH_MARKUP):  # such as a page that tells of an error
            raise source.error(f"is {kind.words}, not {format}", kind.next_step)
        words, found = kind.words, kind.format
    elif format is None:
        raise source.error(f"is {kind.words}, not text", kind.next_step)
    else:  # which its reader refuses, if it cannot read it
        return format
    source.on_notice(f"{source.name} looks like {words} and is read as such")
    return found


def is_json(head: bytes) -> bool:
    """Tell whether a file begins with an object of JSON, or a list of them, as a table does not."""
    first = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:99]
    return re.match(rb'(?:\[\s*)?\{\s*"[^"\\]*"\s*:', first) is not None


def suffix_format(path: Path) -> str | None:
    """Look up the format that the suffix of a file tells, or None."""
    return SUFFIXES.get(suffix_of(path))


def _list_folder(source: Opened, refuses_mixed: bool) -> list[Opened]:
    """List the parts of the table that a folder holds, or the source itself."""
    format = source.reading.source_format
    if source.path is None or format == "folder" or not is_folder(source, source.path):
        return [source]
    paths, other = _find_tables(source.path, format)
    if other is not None:
        line = f"{source.name}: each of its files is read as one text"
        if paths:
            mixed = f"{other.name} is not part of the same table as {paths[0].name}"
            if refuses_mixed:
                reason = f"{mixed}, so each file would be read as one text"
                step = "remove it, list the files of the table, or set `source_format` to folder"
                raise source.error(reason, step)
            line = f"{line}, as {mixed}; name the files of a table one by one"
        source.on_notice(line)
    if other is not None or not paths:
        return [source]
    parts = [_make_part(source, path) for path in paths]
    filled = [part for part in parts if part.path and size(part.path)] or parts[:1]
    if format is None:
        files = counted(len(parts), "file is", "files are")
        source.on_notice(f"{source.name}: its {files} read as one table, part by part")
    if len(filled) < len(parts):
        empty = next(part.name for part in parts if part not in filled)
        count = counted(len(parts) - len(filled), "part is", "parts are")
        source.on_notice(f"{source.name}: {count} empty, the first being {empty}")
    return filled


def _find_tables(folder: Path, format: str | None) -> tuple[list[Path], Path | None]:
    """Find the files of a folder that are parts of a table, and the first that is no such part.

    Names that begin with "_" are those of notes, such as Spark's _SUCCESS.
    """
    paths: list[Path] = []
    for path in walk(folder):
        if any(name.startswith("_") for name in path.relative_to(folder).parts):
            continue
        if format is None:
            suffix = suffix_format(path)
            first = suffix_format(paths[0]) if paths else suffix
            if suffix is None or suffix in WITHOUT_COLUMNS or suffix != first:
                return paths, path
        paths.append(path)
    return paths, None


def _make_part(source: Opened, path: Path) -> Opened:
    assert source.path is not None
    within = os.fsencode(path.relative_to(source.path).as_posix()).decode("utf-8", "replace")
    name = f"{source.name}/{within}"
    part = replace(source, label=str(path), name=name, path=path, within=within)
    if path.is_symlink() and not is_inside(path, source.path):
        raise part.error("a link that leaves the folder is not followed", "name the file itself")
    if not path.is_file():  # reading a pipe or a device might never end
        raise part.error("is not a readable file", "move it out of the folder")
    return part


def _join_parts(sources: Sequence[Opened]) -> list[Opened]:
    """Give each part a name that no other has, and its share of the progress.

    Raises ArgumentError if standard input is among them.
    """
    names = [source.name for source in sources]
    done, parts = 0, []
    for source in sources:
        if source.path is None:
            problem = "standard input cannot be one of several sources"
            raise ArgumentError(problem, "use it alone")
        name = source.name if names.count(source.name) == 1 else source.label
        notify = source.on_progress
        shifted = notify and _shift(done, notify)
        within = source.within or name
        parts.append(replace(source, name=name, within=within, on_progress=shifted))
        done += size(source.path)
    return parts


def _shift(done: int, on_progress: Callable[[int], None]) -> Callable[[int], None]:
    return lambda count: on_progress(done + count)


def is_folder(source: Opened, path: Path) -> bool:
    """Tell whether a path is that of a folder, or raise SourceError if nothing can be read."""
    is_text = any(blank in source.label for blank in " \n")
    in_memory = "pass a text as [(id, text)], and a list of texts as enumerate(texts)"
    step = "check the path" + (f"; in Python, {in_memory}" if is_text else "")
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except FileNotFoundError as error:
        raise source.error("there is no such file or folder", step) from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise source.error(f"cannot be read ({reason})", step) from error


def walk(root: Path) -> Iterator[Path]:
    """List everything below a folder except folders and hidden names, sorted.

    Links to folders are listed, not followed, and so are folders that may not be read.
    """
    waiting = [root]
    while waiting:
        path = waiting.pop()
        if not path.is_dir() or (path.is_symlink() and path != root):
            yield path
            continue
        try:
            inside = [entry for entry in path.iterdir() if not entry.name.startswith(".")]
            waiting.extend(sorted(inside, reverse=True))
        except OSError:
            yield path


def size(path: Path) -> int:
    """Count the bytes of what a path names, 0 if it is gone."""
    try:
        return path.lstat().st_size
    except OSError:
        return 0


def open_folder(source: Opened) -> SourceTable:
    """Open the text files of a folder and its folders: the id is the path within it, with "/"."""
    records = _read_folder(source, source.reading)
    return SourceTable(
        format="folder", reading=source.reading, documents=lambda: records,
        records=enumerate(records, 1),
        parse=lambda record: [record.id, getattr(record, "text", None)], names=(rows.ID, rows.TEXT),
    )  # fmt: skip


def _read_folder(source: Opened, reading: Reading) -> Iterator[Record]:
    if source.path is None:
        raise source.error("is not a folder", "name the folder")
    read, path = 0, None
    for path in walk(source.path):
        yield from _read_file(path, source, reading)
        if source.on_progress:
            read += size(path)
            source.on_progress(read)
    if path is None:
        raise source.error("contains no files", "name the folder that the text files are in")


def _read_file(path: Path, source: Opened, reading: Reading) -> Iterator[Record]:
    """Read the document in a file, or several of a mailbox or of references."""
    from neardup_solr.sources.marked import Several

    try:
        document = _file(path, source, reading)
    except Several as several:
        yield from several.records
        return
    if document is not None:
        yield document


def _file(path: Path, source: Opened, reading: Reading) -> Record | None:
    """Read the document in a file, or None for a link to a folder that is read elsewhere.

    Raises Several if it has several.
    """
    assert source.path is not None
    id = path.relative_to(source.path).as_posix()
    position = os.fsencode(f"{source.name}/{id}").decode("utf-8", "replace")
    try:
        if path.is_symlink() and not is_inside(path, source.path):
            return RecordError(position, "a link that leaves the folder is not followed", id)
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            unreadable = RecordError(position, "a folder that cannot be read", id)
            return None if path.is_symlink() else unreadable
        if not stat.S_ISREG(mode):  # reading a pipe or a device might never end
            return RecordError(position, "not a regular file", id)
        opened = Opened(label=str(path), name=position, path=path, reading=reading, within=id)
        text = contents(opened, reading)
    except Unusable as problem:
        raw = problem.raw
        columns = None if raw is None else rows.as_columns((rows.ID, rows.TEXT), (id, raw))
        return RecordError(position, str(problem), id, record=columns)
    except OSError as error:
        return RecordError(position, f"cannot be read ({error.strerror})", id)
    except SourceError as error:
        is_kind = rows.NO_TEXT_FILE in error.reason
        reason = f"{error.reason}: {error.next_step}" if is_kind else error.reason
        return RecordError(position, reason, id)
    except RecordError as error:
        return RecordError(position, error.reason, id)
    made = record(position, id, text, reading=reading)
    if type(made) is RecordError:
        made.record = rows.as_columns((rows.ID, rows.TEXT), (id, text))
    return made


def contents(source: Opened, reading: Reading) -> str:
    """Read the whole text of a file, or raise Unusable, or as `blocks` does."""
    from neardup_solr.sources.marked import read_text

    return read_text(source, reading.max_doc_bytes)
