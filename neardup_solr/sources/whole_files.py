"""Readers of what is not one stream of lines: a folder of text files, Parquet."""

from __future__ import annotations

import math
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from neardup_solr.errors import RecordError, SourceError
from neardup_solr.records import NOTHING
from neardup_solr.sources.lines import NEEDS_FORMATS, blocks
from neardup_solr.sources.record import (
    Opened,
    Reading,
    Record,
    Unusable,
    check_columns,
    decoded,
    record,
    too_large,
)

ROWS_AT_ONCE: Final = 256


def walk(root: Path) -> Iterator[Path]:
    """Everything below a folder but folders, sorted; hidden names are left out.

    Links to folders are given, not followed; so is a folder that may not be read.
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
    """The bytes of what a path names, 0 where it is gone."""
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
        if path.is_symlink() and not _is_within(path, source.path):
            return RecordError(position, "a link that leaves the folder is not followed", id)
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            unreadable = RecordError(position, "a folder that may not be read", id)
            return None if path.is_symlink() else unreadable
        if not stat.S_ISREG(mode):  # reading a pipe or a device might never end
            return RecordError(position, "not a regular file", id)
        text = contents(Opened(given=str(path), name=position, path=path), reading)
    except Unusable as problem:
        return RecordError(position, str(problem), id)
    except OSError as error:
        return RecordError(position, f"cannot be read ({error.strerror})", id)
    except (SourceError, RecordError) as error:
        return RecordError(position, error.reason, id)
    return record(position, id, text, reading=reading)


def _is_within(path: Path, root: Path) -> bool:
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


def read_parquet(source: Opened, reading: Reading) -> Iterator[Record]:
    """The rows of a Parquet file, streamed."""
    if source.path is None:
        raise source.error("Parquet cannot be read from standard input", "give the file's name")
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise source.error("Parquet needs the library pyarrow", NEEDS_FORMATS) from error
    try:
        # Buffered: pages are read as they come, rather than row groups as a whole.
        file = pyarrow.parquet.ParquetFile(source.path, buffer_size=2**20, pre_buffer=False)
    except (pyarrow.ArrowException, OSError) as error:
        raise source.error(
            f"is not a whole Parquet file ({_first_line(error)})",
            "check it, or give `source_format`",
        ) from error
    number = 0
    with file:
        check_columns(source, file.schema_arrow.names, reading)
        try:
            for number, values in enumerate(_parquet_rows(file, source, reading), 1):
                yield _from_row(f"{source.name}, row {number}", values, reading)
        except (pyarrow.ArrowException, OSError) as error:
            position = f"{source.name}, after row {number}"
            reason = f"the file is damaged from here on ({_first_line(error)})"
            yield RecordError(position, reason)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def _parquet_rows(file: Any, source: Opened, reading: Reading) -> Iterator[tuple[Any, ...]]:
    """Tuples of id, text and kept values, batch by batch."""
    names = [reading.id, reading.text[0], *reading.keep]
    done = 0
    batches = file.iter_batches(batch_size=ROWS_AT_ONCE, columns=list(dict.fromkeys(names)))
    for batch in batches:
        yield from zip(*(_values(batch.column(name)) for name in names), strict=True)
        done += batch.num_rows
        if source.on_progress and source.path:
            source.on_progress(size(source.path) * done // file.metadata.num_rows)


def _values(column: Any) -> list[Any]:
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError:  # only the bad ones stay bytes
        return [_text_or_bytes(value) for value in column]


def _text_or_bytes(value: Any) -> Any:
    try:
        return value.as_py()
    except UnicodeDecodeError:
        return value.as_buffer().to_pybytes()


def _from_row(position: str, values: tuple[Any, ...], reading: Reading) -> Record:
    try:
        id, text, *rest = (
            decoded(value, reading) if type(value) is bytes else value for value in values
        )
    except Unusable as problem:
        return RecordError(position, str(problem))
    kept = NOTHING
    if rest:
        pairs = zip(reading.keep, map(_as_json, rest), strict=True)
        kept = {name: value for name, value in pairs if value is not None}
    return record(position, id, text, reading=reading, kept=kept)


def _as_json(value: Any) -> Any:
    """A value as JSON has it: dates in ISO form, decimals as text, NaN as nothing."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, list | tuple):  # tuples are the entries of a map
        return [_as_json(part) for part in value]
    if isinstance(value, dict):
        return {str(name): _as_json(part) for name, part in value.items()}
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
