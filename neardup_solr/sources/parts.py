"""The files of a source: one, or several that are the parts of one table.

Parts are named one by one, or lie in a folder that holds nothing else. Their columns are found by
name, part by part, so their order may differ.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from neardup_solr.errors import ArgumentError, RecordError, counted
from neardup_solr.progress import unheard
from neardup_solr.sources.columns import columns
from neardup_solr.sources.lines import DECOMPRESSORS
from neardup_solr.sources.record import Opened, Reading, Unusable
from neardup_solr.sources.text_files import is_folder, is_within, size, walk

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
    """The files and folders that a source names, "-" among them; None if it is in memory."""
    if isinstance(source, str | os.PathLike):
        return [source]
    if not isinstance(source, list | tuple) or not source:
        return None
    return list(source) if all(isinstance(each, str | os.PathLike) for each in source) else None


def shown_name(paths: Sequence[Named]) -> str:
    """What files and folders are called together: the first of them, and how many more."""
    more = f" and {len(paths) - 1:,} more" if len(paths) > 1 else ""
    return f"{os.fspath(paths[0])}{more}"


def suffix_format(path: Path) -> str | None:
    """The format that the suffix of a file tells; None if it tells none."""
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


def joined(sources: Sequence[Opened]) -> list[Opened]:
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


def check_columns(parts: Iterable[tuple[Opened, str]], reading: Reading) -> None:
    """Refuse a part that lacks a column that is needed, before anything is read.

    A notice says if the columns of the parts differ. Raises SourceError.
    """
    first: tuple[str, list[Any]] | None = None
    is_told = False
    for part, format in parts:
        if part.path is None or not part.path.is_file():  # what a pipe gives cannot be read twice
            continue
        names = _names(part, format, reading)
        if names is None:
            continue
        columns(part, names, reading)
        if first is None:
            first = part.name, names
        elif names != first[1] and not is_told:
            is_told = True
            part.on_notice(f"{part.name} {_difference(names, *first)}")


def _names(part: Opened, format: str, reading: Reading) -> list[Any] | None:
    """The names of its columns; None if its records name their own, or they cannot be read."""
    from neardup_solr.sources.raw import WRITTEN

    if format in WITHOUT_COLUMNS:
        return None
    try:
        quiet = replace(part, on_notice=unheard, on_progress=None, begun=None)
        names = WRITTEN[format](quiet, reading).names
    except (Unusable, RecordError, StopIteration):  # which is told when it is read
        return None
    return None if names is None else list(names)


def _difference(names: Sequence[Any], other: str, others: Sequence[Any]) -> str:
    if set(names) == set(others):
        return f"has its columns in another order than {other}: they are taken by name"
    return (
        f"has other columns than {other}: they are taken by name, and what a part lacks is missing"
    )
