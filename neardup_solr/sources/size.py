"""Size of a source: its bytes, or its records, and the progress of reading it."""

from __future__ import annotations

import stat
from collections.abc import Mapping, Sized
from pathlib import Path

from neardup_solr.files import paths_of
from neardup_solr.progress import OnProgress, SourceProgress
from neardup_solr.sources.folders import file_size, walk
from neardup_solr.sources.source import SourceLike


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
        return sum(map(file_size, walk(path)))
    state = path.stat()
    if not stat.S_ISREG(state.st_mode):
        raise ValueError("a pipe or a device")
    return state.st_size


def make_progress(stage: str, source: SourceLike, on_progress: OnProgress) -> SourceProgress:
    """Make the progress of a work on a source: by its bytes, or its records in memory, if known."""
    is_counted = paths_of(source) is None and not isinstance(source, Mapping)
    rows = len(source) if is_counted and isinstance(source, Sized) else None
    return SourceProgress(stage=stage, on_progress=on_progress, rows=rows, size=size_hint(source))
