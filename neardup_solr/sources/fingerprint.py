"""Fingerprint of a source, which differs if it has changed or is read in another way."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from dataclasses import fields
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Any, Final

from neardup_solr.files import Named, paths_of, read_at
from neardup_solr.progress import ignore
from neardup_solr.records import Document, Run
from neardup_solr.sources.part import Piece, one_by_one
from neardup_solr.sources.parts import is_folder, name_memory, name_source
from neardup_solr.sources.reading import USUAL, Reading
from neardup_solr.sources.source import SourceLike, walk

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
    for field in fields(reading):
        value = getattr(reading, field.name)
        if value != getattr(USUAL, field.name) and field.name != "guess":
            yield field.name, value


def _identify_path(name: Named, reading: Reading) -> str | None:
    source = name_source(name, reading)
    path = source.path
    if path is None:
        return None
    if is_folder(source):
        return _identify_folder(path)
    try:
        return _identify_file(path) if path.is_file() else None
    except OSError as error:
        reason = f"cannot be read ({error.strerror})"
        step = "check the path and its permissions"
        raise source.error(reason, step, code="file-unreadable") from error


def _identify_file(path: Path) -> str:
    with path.open("rb") as file:
        state = os.fstat(file.fileno())
        ends = [read_at(file, at, END_BYTES) for at in (0, max(0, state.st_size - END_BYTES))]
    return f"file of {state.st_size} bytes, {state.st_mtime_ns} ns, {_digest(ends)}"


def _identify_folder(root: Path) -> str:
    count = 0
    digest = blake2b(digest_size=DIGEST)
    for path in walk(root):
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
    from neardup_solr.sources.in_memory import ends_of, read_memory

    ends = ends_of(source, ROWS_AT_END)
    if ends is None:
        return None
    part = name_memory(source, reading, ignore)
    records = one_by_one(chain.from_iterable(read_memory(rows, part) for rows in ends))
    return f"{part.name} of {len(source)} records, {_digest(map(bytes_of, records))}"


def bytes_of(record: Piece) -> bytes:
    """Spell a record, or several, so that two that differ are spelled otherwise, anywhere."""
    if isinstance(record, Run) and record.kept:
        return b"".join(map(bytes_of, record.documents()))
    if isinstance(record, Run):
        pairs = zip(record.ids, record.texts, strict=True)
        text = "".join([f"{len(id)},{len(text)},{id}{text}\n" for id, text in pairs])
    elif isinstance(record, Document):
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
