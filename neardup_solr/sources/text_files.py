"""Whole files as texts: a folder of them, or one."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from neardup_solr.errors import RecordError, SourceError
from neardup_solr.sources.lines import blocks
from neardup_solr.sources.record import (
    Opened,
    Reading,
    Record,
    Unusable,
    as_columns,
    decoded,
    record,
    too_large,
)

ID, TEXT = "id", "text"  # what the columns are called in a format without names


def is_folder(source: Opened, path: Path) -> bool:
    """Whether a path is that of a folder; raises SourceError if there is nothing to be read."""
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
    """Everything below a folder except folders, sorted; hidden names are left out.

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


def read_folder(source: Opened, reading: Reading) -> Iterator[Record]:
    """The text files of a folder and its folders: the id is the path within it, with "/"."""
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
    """The document in one file; None for a link to a folder that is read where it is."""
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
    """The whole text of a file; raises Unusable, and what `blocks` raises."""
    parts, taken = [], 0
    for block in blocks(source):
        taken += len(block)
        if taken > reading.max_doc_bytes:
            raise Unusable(too_large(reading.max_doc_bytes))
        parts.append(block)
    return decoded(b"".join(parts), reading)
