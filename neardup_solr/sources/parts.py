"""The parts of a source: a file, standard input, or several files of a table.

Parts are named, or lie in a folder that holds nothing else. Their columns are looked up by name,
part by part, so their order may differ.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from neardup_solr.errors import ArgumentError, counted
from neardup_solr.files import Named, PathError, is_inside
from neardup_solr.progress import ignore
from neardup_solr.sources.formats import (
    CHOICES,
    FORMATS,
    WITHOUT_COLUMNS,
    choose_format,
    suffix_format,
)
from neardup_solr.sources.notes import log_note
from neardup_solr.sources.part import SourcePart
from neardup_solr.sources.reading import Reading
from neardup_solr.sources.source import file_size, walk

STDIN: Final = "standard input"
LONGEST: Final = 1_000  # characters of a label: if it is a text, an error need not repeat it all
Notify: TypeAlias = Callable[[str], None]


def list_parts(paths: Sequence[Named], reading: Reading) -> list[SourcePart]:
    """List the files of a source with their formats.

    Raises as `list_files` and `find_formats` do.
    """
    return find_formats(list_files(paths, reading))


def find_formats(parts: Iterable[SourcePart]) -> list[SourcePart]:
    """Find the formats of parts: None of standard input, which is recognized.

    Raises SourceError if one is not what it is read as.
    """
    return [replace(part, format=choose_format(part, is_folder(part))) for part in parts]


def list_files(
    paths: Sequence[Named], reading: Reading, on_progress: Callable[[int], None] | None = None,
    on_notice: Notify = ignore,
) -> list[SourcePart]:  # fmt: skip
    """List the files of a source, into none of which is looked.

    A notice says in which way a folder is read, unless `source_format` does. Raises ArgumentError
    if the format is unknown, or standard input is among several sources; SourceError if it cannot
    be read, or a part is a link that leaves the folder.
    """
    notify = notify_once(on_notice)
    sources = [name_source(path, reading, on_progress, notify) for path in paths]
    if reading.source_format not in (None, *FORMATS):
        problem = f"unknown format {reading.source_format!r}"
        raise ArgumentError(f"{sources[0].label}: {problem}", CHOICES, code="format-unknown")
    parts = [part for source in sources for part in _list_folder(source)]
    return parts if len(parts) == 1 else _join_parts(parts)


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
    on_notice: Notify = log_note,
) -> SourcePart:
    """Name a file, a folder or standard input, as errors and positions do."""
    if path == "":
        reason = "is not a valid file name"
        raise PathError("''", reason, "name a file or a folder", code="argument-invalid")
    is_stdin = str(path) == "-"
    label = STDIN if is_stdin else str(path)
    return SourcePart(
        label=label if len(label) <= LONGEST else f"{label[:LONGEST]}…",
        name=STDIN if is_stdin else Path(os.path.abspath(path)).name,
        path=None if is_stdin else Path(path), reading=reading, on_progress=on_progress,
        on_notice=on_notice,
    )  # fmt: skip


def name_memory(source: Any, reading: Reading, on_notice: Notify) -> SourcePart:
    """Name what is in memory, which is a single part, by its class."""
    name = type(source).__name__
    return SourcePart(
        label=f"the {name}", name=name, path=None, reading=reading, on_notice=on_notice
    )


def _join_parts(sources: Sequence[SourcePart]) -> list[SourcePart]:
    """Give each part a name that no other has, and its share of the progress.

    Raises ArgumentError if standard input is among them.
    """
    names = Counter(source.name for source in sources)
    done, parts = 0, []
    for source in sources:
        if source.path is None:
            problem = "standard input cannot be one of several sources"
            raise ArgumentError(problem, "use it alone", code="arguments-conflict")
        name = source.name if names[source.name] == 1 else source.label
        notify = source.on_progress
        shifted = notify and _shift(done, notify)
        within = source.within or name
        parts.append(replace(source, name=name, within=within, on_progress=shifted))
        done += file_size(source.path)
    return parts


def _shift(done: int, on_progress: Callable[[int], None]) -> Callable[[int], None]:
    return lambda count: on_progress(done + count)


def refuse_mixed(parts: Iterable[SourcePart]) -> None:
    """Refuse a folder that holds a table and other files, by SourceError."""
    for part in parts:
        if part.format == "folder" and part.reading.source_format is None and part.path:
            paths, other = _find_tables(part.path, None)
            if other is not None and paths:
                mixed = _describe_mixed(paths, other)
                reason = f"{mixed}, so each file would be read as one text"
                step = "remove it, list the files of the table, or set `source_format` to folder"
                raise part.error(reason, step, code="format-unknown")


def is_folder(part: SourcePart) -> bool:
    """Tell whether a part is a folder, or raise SourceError if nothing can be read there."""
    if part.path is None:
        return False
    try:
        return stat.S_ISDIR(part.path.stat().st_mode)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", error)
        if isinstance(error, FileNotFoundError):
            problem, code = "there is no such file or folder", "file-missing"
        else:
            problem, code = f"cannot be read ({reason})", "file-unreadable"
        step = "check the path"
        if any(blank in part.label for blank in " \n"):
            in_memory = "pass a text as [(id, text)], and a list of texts as enumerate(texts)"
            step = f"{step}; in Python, {in_memory}"
        raise part.error(problem, step, code=code) from error


def _list_folder(part: SourcePart) -> list[SourcePart]:
    """List the parts of the table that a folder holds, or the source itself."""
    format = part.reading.source_format
    if part.path is None or format == "folder" or not is_folder(part):
        return [part]
    paths, other = _find_tables(part.path, format)
    if other is not None:
        line = f"{part.name}: each of its files is read as one text"
        if paths:
            mixed = _describe_mixed(paths, other)
            line = f"{line}, as {mixed}; name the files of a table one by one"
        part.on_notice(line)
    if other is not None or not paths:
        return [part]
    parts = [_make_part(part, path) for path in paths]
    filled = [each for each in parts if each.path and file_size(each.path)] or parts[:1]
    if format is None:
        files = counted(len(parts), "file is", "files are")
        part.on_notice(f"{part.name}: its {files} read as one table, part by part")
    if len(filled) < len(parts):
        empty = next(each.name for each in parts if each not in filled)
        count = counted(len(parts) - len(filled), "part is", "parts are")
        part.on_notice(f"{part.name}: {count} empty, the first being {empty}")
    return filled


def _describe_mixed(paths: Sequence[Path], other: Path) -> str:
    return f"{other.name} is not part of the same table as {paths[0].name}"


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


def _make_part(folder: SourcePart, path: Path) -> SourcePart:
    assert folder.path is not None
    within = os.fsencode(path.relative_to(folder.path).as_posix()).decode("utf-8", "replace")
    name = f"{folder.name}/{within}"
    part = replace(folder, label=str(path), name=name, path=path, within=within)
    if path.is_symlink() and not is_inside(path, folder.path):
        reason = "a link that leaves the folder is not followed"
        raise part.error(reason, "name the file itself", code="file-unreadable")
    if not path.is_file():  # reading a pipe or a device might never end
        reason = "is not a readable file"
        raise part.error(reason, "move it out of the folder", code="file-unreadable")
    return part
