"""The kinds of sources, their names in messages, their files and sizes.

A file or folder ("-" is standard input), a list of them, or what `in_memory` reads: a DataFrame of
pandas or polars, a table of Arrow, a mapping of columns, an iterable of dicts, of (id, text) or of
Documents.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from neardup_solr.arguments import Source
from neardup_solr.errors import RecordError, SourceError
from neardup_solr.files import Named, paths_of
from neardup_solr.progress import OnProgress, SourceProgress

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


def shown_name(paths: Sequence[Named]) -> str:
    """Name files and folders together: the first of them, and the number of others."""
    more = f" and {len(paths) - 1:,} more" if len(paths) > 1 else ""
    return f"{os.fspath(paths[0])}{more}"


def is_collection(source: object) -> TypeIs[SolrCollection]:
    """Tell a Collection from other sources. What talks with Solr is not loaded for it."""
    module = sys.modules.get("neardup_solr.solr.collection")
    return module is not None and isinstance(source, module.Collection)


def lacking(
    source: Any, id: str, refused: Mapping[str | None, RecordError], what: str = "record"
) -> RecordError | SourceError:
    """Make the error that a source has no record of an id, or that its record was refused."""
    paths = paths_of(source)
    name = "the documents" if paths is None else shown_name(paths)
    missing = SourceError(
        name, f"there is no {what} with the id {id!r}", "check the id", code="id-unknown"
    )
    return refused.get(id, missing)


def walk(root: Path) -> Iterator[Path]:
    """List everything below a folder except folders and hidden names, sorted.

    Links to folders are listed, not followed, and so are folders that may not be read.
    """
    waiting = [(root, root.is_dir())]
    while waiting:
        path, is_folder = waiting.pop()
        if not is_folder:
            yield path
            continue
        try:
            with os.scandir(path) as entries:
                inside = [
                    (entry.name, entry.is_dir(follow_symlinks=False))
                    for entry in entries
                    if not entry.name.startswith(".")
                ]
        except OSError:
            yield path
            continue
        inside.sort(reverse=True)
        waiting.extend((path / name, is_folder) for name, is_folder in inside)


def file_size(path: Path) -> int:
    """Count the bytes of what a path names, 0 if it is gone."""
    try:
        return path.lstat().st_size
    except OSError:
        return 0


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
