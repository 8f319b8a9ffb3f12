"""A file that keeps the finished parts of a long work, so that an interruption costs one part."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from neardup_solr.errors import SourceError

Part = tuple[NDArray[Any], ...]


class Checkpoint:
    """Parts of `arrays` numpy arrays each, of one piece of work, in a file beside its result.

    `work` describes the work in a line: if the file holds parts of other work, they are deleted.
    """

    def __init__(self, path: Path, work: str, *, arrays: int) -> None:
        self._path, self._arrays = path, arrays
        self._work = work.encode() + b"\n"
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Checkpoint:
        try:
            self._file = open(self._path, "a+b", opener=_private)
            self._file.seek(0)
            if self._file.readline() != self._work:
                self._cut(0)
                self._write(lambda file: file.write(self._work))
        except OSError as error:
            raise self._unwritable(error) from None
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def kept(self) -> Iterator[Part]:
        """The finished parts; one that was being written at an interruption is cut off."""
        assert self._file is not None
        self._file.seek(len(self._work))
        while True:
            whole = self._file.tell()
            try:
                part = tuple(np.load(self._file, allow_pickle=False) for _ in range(self._arrays))
            except (ValueError, EOFError, OSError):
                self._cut(whole)
                return
            yield part

    def keep(self, part: Sequence[NDArray[Any]]) -> None:
        """Add a part, on the disk before this returns.

        Raises SourceError if the disk is full.
        """

        def write(file: IO[bytes]) -> None:
            for array in part:
                np.save(file, array)

        self._write(write)

    def _write(self, write: Any) -> None:
        assert self._file is not None
        whole = self._file.seek(0, os.SEEK_END)
        try:
            write(self._file)
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            self._cut(whole)
            raise self._unwritable(error) from None

    def _cut(self, size: int) -> None:
        assert self._file is not None
        os.ftruncate(self._file.fileno(), size)
        self._file.seek(size)

    def _unwritable(self, error: OSError) -> SourceError:
        reason = f"finished parts cannot be kept ({error.strerror})"
        return SourceError(str(self._path), reason, "choose another place for the report")


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
