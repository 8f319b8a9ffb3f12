"""The files of a source: one, a folder of texts, or several files that are the parts of one table.

Parts are named one by one, or lie in a folder that holds nothing else. Their columns are found by
name, part by part, so their order may differ.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeAlias

from neardup_solr.errors import ArgumentError, RecordError, SourceError, counted
from neardup_solr.sources.lines import DECOMPRESSORS, blocks
from neardup_solr.sources.record import (
    ID,
    TEXT,
    Opened,
    Reading,
    Record,
    SourceTable,
    Unusable,
    as_columns,
    decode,
    record,
    too_large,
)

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
}

PARTS: Final = "parts"  # the format of parts that are not alike
WITHOUT_COLUMNS: Final = ("lines", "folder")

Named: TypeAlias = str | os.PathLike[str]


def paths_of(source: object) -> list[Named] | None:
    """List the files and folders that a source names, "-" among them, or None if it has none."""
    if isinstance(source, str | os.PathLike):
        return [source]
    if not isinstance(source, list | tuple) or not source:
        return None
    return list(source) if all(isinstance(each, str | os.PathLike) for each in source) else None


def shown_name(paths: Sequence[Named]) -> str:
    """Name files and folders together: the first of them, and the number of others."""
    more = f" and {len(paths) - 1:,} more" if len(paths) > 1 else ""
    return f"{os.fspath(paths[0])}{more}"


def suffix_format(path: Path) -> str | None:
    """Look up the format that the suffix of a file tells, or None."""
    name = path.name.lower()
    for suffix in DECOMPRESSORS:
        name = name.removesuffix(suffix)
    return SUFFIXES.get(Path(name).suffix)


def with_parts(source: Opened, *, refuses_mixed: bool = False) -> list[Opened]:
    """The source itself, or the parts of the table that a folder holds.

    A notice says in which way a folder is read, unless `source_format` does. Raises SourceError if
    there is nothing to be read, a part is a link that leaves the folder, or with `refuses_mixed` if
    a folder holds a table and other files.
    """
    asked = source.reading.source_format
    if source.path is None or asked == "folder" or not is_folder(source, source.path):
        return [source]
    found, other = _tables(source.path, asked)
    if other is not None or not found:
        if other is not None:
            source.on_notice(_as_texts(source, found, other))
        if found and other is not None and refuses_mixed:
            reason = f"{_no_part(other, found[0])}, so each file would be read as one text"
            step = "take it out, name the files of the table, or give `source_format` folder"
            raise source.error(reason, step)
        return [source]
    parts = [_part(source, path) for path in found]
    filled = [part for part in parts if part.path and size(part.path)] or parts[:1]
    if asked is None:
        files = counted(len(parts), "file is", "files are")
        source.on_notice(f"{source.name}: its {files} read as one table, part by part")
    if len(filled) < len(parts):
        empty = next(part.name for part in parts if part not in filled)
        count = counted(len(parts) - len(filled), "part is", "parts are")
        source.on_notice(f"{source.name}: {count} empty, the first being {empty}")
    return filled


def _tables(folder: Path, asked: str | None) -> tuple[list[Path], Path | None]:
    """The files of a folder that are parts of one table, and the first one that is no such part.

    Names that begin with "_" are those of notes, such as Spark's _SUCCESS.
    """
    found: list[Path] = []
    for path in walk(folder):
        if any(name.startswith("_") for name in path.relative_to(folder).parts):
            continue
        if asked is None:
            format = suffix_format(path)
            first = suffix_format(found[0]) if found else format
            if format is None or format in WITHOUT_COLUMNS or format != first:
                return found, path
        found.append(path)
    return found, None


def _as_texts(source: Opened, tables: Sequence[Path], other: Path) -> str:
    line = f"{source.name}: each of its files is read as one text"
    if not tables:
        return line
    return f"{line}, as {_no_part(other, tables[0])}; name the files of a table one by one"


def _no_part(other: Path, table: Path) -> str:
    return f"{other.name} is no part of the same table as {table.name}"


def _part(source: Opened, path: Path) -> Opened:
    assert source.path is not None
    within = os.fsencode(path.relative_to(source.path).as_posix()).decode("utf-8", "replace")
    part = replace(source, given=str(path), name=f"{source.name}/{within}", path=path)
    if path.is_symlink() and not is_within(path, source.path):
        raise part.error("a link that leaves the folder is not followed", "name the file itself")
    if not path.is_file():  # reading a pipe or a device might never end
        raise part.error("is not a file that can be read", "take it out of the folder")
    return part


def join_sources(sources: Sequence[Opened]) -> list[Opened]:
    """Several sources as parts of one, each with a name of its own, and its share of the progress.

    Raises ArgumentError if standard input is among them.
    """
    if any(source.path is None for source in sources):
        raise ArgumentError("standard input cannot be one of several sources", "give it alone")
    names = [source.name for source in sources]
    done, found = 0, []
    for source in sources:
        assert source.path is not None
        name = source.name if names.count(source.name) == 1 else source.given
        tell = source.on_progress
        found.append(replace(source, name=name, on_progress=tell and _from(done, tell)))
        done += size(source.path)
    return found


def _from(done: int, tell: Callable[[int], None]) -> Callable[[int], None]:
    return lambda count: tell(done + count)


def is_folder(source: Opened, path: Path) -> bool:
    """Tell whether a path is that of a folder, or raise SourceError if nothing can be read."""
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except FileNotFoundError as error:
        raise source.error("there is no such file or folder", _check_path(source)) from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise source.error(f"cannot be read ({reason})", _check_path(source)) from error


def _check_path(source: Opened) -> str:
    is_text = any(blank in source.given for blank in " \n")
    return "check the path" + ("; give a text itself as [(id, text)]" if is_text else "")


def walk(root: Path) -> Iterator[Path]:
    """List everything below a folder except folders and hidden names, sorted.

    Links to folders are given, not followed; folders that may not be read are given too.
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
    """The bytes of what a path names, 0 if it is gone."""
    try:
        return path.lstat().st_size
    except OSError:
        return 0


def open_folder(source: Opened) -> SourceTable:
    """Open the text files of a folder and its folders: the id is the path within it, with "/"."""
    records = _read_folder(source, source.reading)
    return SourceTable(
        format="folder",
        reading=source.reading,
        documents=lambda: records,
        records=enumerate(records, 1),
        parse=lambda record: [record.id, getattr(record, "text", None)],
        names=(ID, TEXT),
    )


def _read_folder(source: Opened, reading: Reading) -> Iterator[Record]:
    if source.path is None:
        raise source.error("is not a folder", "name the folder")
    read, path = 0, None
    for path in walk(source.path):
        found = _file(path, source, reading)
        if found is not None:
            yield found
        if source.on_progress:
            read += size(path)
            source.on_progress(read)
    if path is None:
        raise source.error("holds no files", "name the folder that the text files are in")


def _file(path: Path, source: Opened, reading: Reading) -> Record | None:
    """Read the document in one file, or None for a link to a folder that is read elsewhere."""
    assert source.path is not None
    id = path.relative_to(source.path).as_posix()
    position = os.fsencode(f"{source.name}/{id}").decode("utf-8", "replace")
    try:
        if path.is_symlink() and not is_within(path, source.path):
            return RecordError(position, "a link that leaves the folder is not followed", id)
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            unreadable = RecordError(position, "a folder that may not be read", id)
            return None if path.is_symlink() else unreadable
        if not stat.S_ISREG(mode):  # reading a pipe or a device might never end
            return RecordError(position, "not a regular file", id)
        text = contents(Opened(given=str(path), name=position, path=path, reading=reading), reading)
    except Unusable as problem:
        as_it_is = None if problem.raw is None else as_columns((ID, TEXT), (id, problem.raw))
        return RecordError(position, str(problem), id, record=as_it_is)
    except OSError as error:
        return RecordError(position, f"cannot be read ({error.strerror})", id)
    except (SourceError, RecordError) as error:
        return RecordError(position, error.reason, id)
    made = record(position, id, text, reading=reading)
    if type(made) is RecordError:
        made.record = as_columns((ID, TEXT), (id, text))
    return made


def is_within(path: Path, root: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))


def contents(source: Opened, reading: Reading) -> str:
    """Read the whole text of a file, or raise Unusable, or as `blocks` does."""
    parts, taken = [], 0
    for block in blocks(source):
        taken += len(block)
        if taken > reading.max_doc_bytes:
            raise Unusable(too_large(reading.max_doc_bytes))
        parts.append(block)
    return decode(b"".join(parts), reading)
