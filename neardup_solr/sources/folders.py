"""Folders and the files in them."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

from neardup_solr.sources.part import SourcePart


def is_folder(part: SourcePart, path: Path) -> bool:
    """Tell whether a path is that of a folder, or raise SourceError if nothing can be read."""
    is_text = any(blank in part.label for blank in " \n")
    in_memory = "pass a text as [(id, text)], and a list of texts as enumerate(texts)"
    step = "check the path" + (f"; in Python, {in_memory}" if is_text else "")
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except FileNotFoundError as error:
        raise part.error("there is no such file or folder", step) from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise part.error(f"cannot be read ({reason})", step) from error


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


def file_size(path: Path) -> int:
    """Count the bytes of what a path names, 0 if it is gone."""
    try:
        return path.lstat().st_size
    except OSError:
        return 0
